// The products of `heddle study gemm` by other libraries.
#pragma once

#include "drivers/support/context.hpp"
#include <heddle/core/scalar.hpp>
#include <heddle/dist/matrix.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::driver {

/// cublasxt, cublasmp, scalapack and cosma.
[[nodiscard]] std::vector<std::string> gemm_peers();

/// Why this build or job has no such peer, or it does not multiply matrices that lie as it has them, in one line; empty
/// where it does. The same on all ranks; collective.
[[nodiscard]] std::string trouble_with_peer(const Communicator& comm, const std::string& peer);

/// A library's product C = A B of square matrices.
template <Scalar T> class GemmPeer {
 public:
  GemmPeer() = default;
  virtual ~GemmPeer() = default;
  GemmPeer(const GemmPeer&) = delete;
  GemmPeer& operator=(const GemmPeer&) = delete;

  /// Where its matrices lie, in the table's words.
  [[nodiscard]] virtual std::string placement() const = 0;
  /// Blocks worth a try with matrices of n rows, of which its fastest is marked.
  [[nodiscard]] virtual std::vector<Index> blocks(Index n) const = 0;
  /// Where A, B and C lie for such a block, as --place-a names it.
  [[nodiscard]] virtual std::string place(Index block) const = 0;
  /// A product of matrices that lie so, to be called repeatedly; empty where the library does not take them.
  /// Collective, and so is what it gives.
  [[nodiscard]] virtual std::function<void()> product(Index block, const DistributedMatrix<T>& A,
                                                      const DistributedMatrix<T>& B, const DistributedMatrix<T>& C) = 0;
};

/// The peer of this name, with which there is no trouble. Collective.
template <Scalar T>
[[nodiscard]] std::unique_ptr<GemmPeer<T>> gemm_peer(const Communicator& comm, const std::string& peer);

}  // namespace heddle::driver
