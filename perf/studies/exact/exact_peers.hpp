// The operations of `heddle study exact` by other libraries, where they are found.
#pragma once

#include <heddle/core/scalar.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::driver {

/// The libraries' names: reproblas, for reproducible sums on one thread, where the build found it (REPROBLAS_ROOT), and
/// mkl, in the mode that gives the same bits on any processor (conditional numerical reproducibility), where
/// libmkl_rt.so is among the system's libraries or in LD_LIBRARY_PATH.
[[nodiscard]] const std::vector<std::string>& exact_peers();
/// Return true if the library is found.
[[nodiscard]] bool has_exact_peer(std::string_view peer);
/// How to install a peer that is not found, in one line.
[[nodiscard]] std::string_view how_to_install(std::string_view peer);

/// Operands of an operation, on the host: matrices by columns, without gaps.
template <Scalar T> struct ExactOperands {
  Index rows = 0;     ///< Rows of the result; the length of vectors if there is no matrix.
  Index inner = 0;    ///< Number of terms of a sum.
  Index columns = 1;  ///< Columns of the result.
  const T* A = nullptr;
  const T* B = nullptr;
  T* C = nullptr;  ///< The result; the right-hand side before trsv, the matrix before lu.
};

/// Return the operation by a library; empty if it has none or was not found.
template <Scalar T>
[[nodiscard]] std::function<void()> by_peer(std::string_view peer, std::string_view operation,
                                            const ExactOperands<T>& operands);

}  // namespace heddle::driver
