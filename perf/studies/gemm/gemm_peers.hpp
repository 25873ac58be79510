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

/// Return cublasxt, cublasmp, scalapack and cosma.
[[nodiscard]] std::vector<std::string> gemm_peers();

/// Return in one line why this build or job lacks the peer, or why the peer does not multiply matrices of its
/// placement; empty if it does. The same on all ranks; collective.
[[nodiscard]] std::string trouble_with_peer(const Communicator& comm, const std::string& peer);

/// A library's product C = A B of square matrices.
template <Scalar T> class GemmPeer {
 public:
  GemmPeer() = default;
  virtual ~GemmPeer() = default;
  GemmPeer(const GemmPeer&) = delete;
  GemmPeer& operator=(const GemmPeer&) = delete;

  /// Return the placement of its matrices, in the table's words.
  [[nodiscard]] virtual std::string placement() const = 0;
  /// Return the blocks to try with matrices of n rows; the fastest is marked.
  [[nodiscard]] virtual std::vector<Index> blocks(Index n) const = 0;
  /// Return the placement of A, B and C for a block, as --place-a names it.
  [[nodiscard]] virtual std::string place(Index block) const = 0;
  /// Return a product of matrices in this placement, to be called repeatedly; empty if the library does not take them.
  /// Collective, as is the returned function.
  [[nodiscard]] virtual std::function<void()> product(Index block, const DistributedMatrix<T>& A,
                                                      const DistributedMatrix<T>& B, const DistributedMatrix<T>& C) = 0;
};

/// Return the peer of this name, for which trouble_with_peer() is empty. Collective.
template <Scalar T>
[[nodiscard]] std::unique_ptr<GemmPeer<T>> gemm_peer(const Communicator& comm, const std::string& peer);

}  // namespace heddle::driver
