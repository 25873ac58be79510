// Eigenvalues and eigenvectors of many matrices at once.
#pragma once

#include <heddle/eigen/jacobi.hpp>

#include <iosfwd>

namespace heddle::eigen {

struct JacobiBatchedOptions {
  JacobiAccuracy accuracy = JacobiAccuracy::automatic;  ///< Which elements off the diagonal of a matrix may be left.
  bool upper = false;                                   ///< Whether upper triangles are read, and not lower ones.
  double tolerance = 0;                                 ///< As JacobiOptions::tolerance; 0 stands for 2 sqrt(n) u.
  int sweeps = 40;                                      ///< No matrix takes more sweeps, converged or not.
  bool reproducible = false;                            ///< Bits as promised below, on NVIDIA GPUs too.
};

struct JacobiBatchedReport {
  /// How many matrices failed: their sweeps were not enough, they hold a NaN or an infinity, or they are not positive
  /// definite and the accuracy `relative` was asked for.
  Index not_converged = 0;
  Index first_failed = -1;  ///< The number of the first matrix that failed; -1 where none did.
  int sweeps = 0;           ///< The most sweeps that a matrix took.
  Index rotations = 0;      ///< Rotations of all matrices.
  /// Whether no matrix failed.
  [[nodiscard]] bool converged() const { return not_converged == 0; }
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const JacobiBatchedReport& report);

namespace compiled {

/// `history`: report of a batch's only matrix, with off_norms. `method`: automatic, or round_robin to allow no other
/// rotations.
template <Scalar T>
JacobiBatchedReport jacobi_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                   const StridedMatrix<Real<T>>& w, const StridedBatch<T>* V,
                                   const JacobiBatchedOptions& options, JacobiReport* history = nullptr,
                                   JacobiMethod method = JacobiMethod::automatic);

}  // namespace compiled

/// A_b V_b = V_b diag(w_b) for each matrix A_b = A(:, :, b) of a batch, of any n, as jacobi() does it: w_b = w(:, b)
/// ascending, V_b = V(:, :, b) orthonormal. One-sided rotations, of the columns of the Cholesky factor where A_b is
/// positive definite and of A_b + shift I otherwise.
///
/// Up to n = 64 in one launch: on GPUs two columns a thread, in registers; on CPUs as many real matrices at a time as a
/// vector holds, complex ones (two-sided) a thread each. Larger matrices advance together as block columns in memory, a
/// group of them after another; those that are not positive definite, or of which accuracy `norm` is asked for, begin
/// at the vectors that a tridiagonalisation with implicit QL finds, and take one or two sweeps. On NVIDIA GPUs, where
/// bits need not be reproducible, these begin at the library's vectors (XsyevBatched), in float for double, which steps
/// of Ogita and Aishima's refinement make orthonormal and accurate; clusters of close eigenvalues that these leave are
/// rotated, and the tridiagonalisation is used if the library fails. The same holds there for positive definite
/// matrices whose diagonal spans less than a factor of 16, which the errors of accuracy `relative` allow.
///
/// Any strides; A must not overlap V. Throws Error(argument) for shapes that don't fit. Matrices that did not converge
/// are counted in the report; w and V of these hold their last state (from n = 65 on NaNs, for matrices that hold any).
/// Errors as for jacobi(). Positive definite matrices whose diagonal spans more than 2^400 (2^24 of float; from n = 65
/// on 2^800 and 2^80) are solved as jacobi() says, one after another when the rest is done: accurate, but slow. Blocks.
/// Bits: reproducible for any number of threads, and a matrix's do not depend on its neighbours; on NVIDIA GPUs none
/// from n = 65 on, or the same with the option `reproducible`, which takes 1.5 (n = 96) to 8 times (n = 512) as long.
/// Cost: 6 n^3 flops a sweep, 6 to 11 sweeps; 15 n^3 in all of large matrices that begin at vectors, 8 n^3 a step of
/// the refinement, two to five steps (four times that for complex T). Memory from n = 65 on: three to six matrices for
/// each of a group, which takes up to 512 MiB on CPUs and a quarter of the free memory, the library's included, on
/// GPUs.
template <class ViewA, class ViewW, class ViewV>
  requires Scalar<typename ViewV::non_const_value_type>
[[nodiscard]] JacobiBatchedReport jacobi_batched(const ExecutionSpace& space, const ViewA& A, const ViewW& w,
                                                 const ViewV& V, const JacobiBatchedOptions& options = {}) {
  using T = typename ViewV::non_const_value_type;
  const StridedBatch<T> vectors = strided(V);
  return compiled::jacobi_batched<T>(space, strided(typename ViewA::const_type(A)), strided(w), &vectors, options);
}
/// The eigenvalues w of jacobi_batched(), without the eigenvectors.
template <class ViewA, class ViewW>
  requires Scalar<typename ViewA::non_const_value_type>
[[nodiscard]] JacobiBatchedReport jacobi_batched_values(const ExecutionSpace& space, const ViewA& A, const ViewW& w,
                                                        const JacobiBatchedOptions& options = {}) {
  using T = typename ViewA::non_const_value_type;
  return compiled::jacobi_batched<T>(space, strided(typename ViewA::const_type(A)), strided(w), nullptr, options);
}

}  // namespace heddle::eigen
