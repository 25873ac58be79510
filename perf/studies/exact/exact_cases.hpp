// The operations that `heddle study exact` times.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/exact/algorithm.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::driver {

/// The operations' names: sum and dot of vectors; gemv of square matrices, of n x 256 (gemv-tall) and of 256 x n
/// (gemv-wide); trsv, lu, lu-unblocked, lu-batched (64 matrices) and gemm of square ones.
[[nodiscard]] const std::vector<std::string>& exact_operations();
/// Return true if n is the length of a vector, not the order of a matrix.
[[nodiscard]] bool is_of_vectors(std::string_view operation);
/// Return true if the study has the operation at n: batches, of 64 matrices, have n <= 512.
[[nodiscard]] bool is_studied(std::string_view operation, Index n);
/// Return true if this algorithm has the operation on this backend.
[[nodiscard]] bool has_algorithm(std::string_view operation, exact::Algorithm algorithm);

/// One operation on random numbers.
struct ExactCase {
  std::function<void()> prepare;               ///< Restore what run() overwrites; needed before each run.
  std::function<void(exact::Algorithm)> run;   ///< Blocks.
  std::function<std::vector<double>()> found;  ///< Return all parts of the last run's result, one after the other.
  /// Return the operation by one of exact_peers(), in place of run(); empty if the peer lacks it.
  std::function<std::function<void()>(std::string_view peer)> by_peer;
};

/// `range`: powers of two over which the sizes of the numbers are spread; 0: all have one size.
template <Scalar T>
[[nodiscard]] ExactCase exact_case(const Communicator& comm, std::string_view operation, Index n, int range);

}  // namespace heddle::driver
