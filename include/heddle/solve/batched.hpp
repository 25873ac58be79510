// Many small systems of linear equations at once on one rank, with the bits of solve(), and their determinants and
// inverses.
//
//   Kokkos::View<double***, heddle::MemorySpace> A("A", 4, 4, 1000), B("B", 4, 1, 1000), X("X", 4, 1, 1000);
//   const heddle::SolveBatchedReport report = heddle::solve_batched(space, A, B, X);
//   for (const heddle::BatchedSystem& one : report.remarkable) { ... one.matrix, one.info ... }
//
// Shapes: matrix b of a batch is A(:, :, b); Views have any strides, and those of inputs may be 0, so that one matrix
// serves all right-hand sides or one right-hand side all matrices.
// Bits: those of the function for one matrix with the same options, whatever the rest of the batch and the number of
// threads.
// Blocking: every function blocks.
// Cost: that of the function for one matrix. On CPUs matrices of up to largest_small_system rows are dealt out to the
// threads, each in the memory of one; larger ones, those whose numbers are near the ends of the range or not finite,
// and those near singular, are handed to the function for one matrix, one after the other. On GPUs all are.
#pragma once

#include <heddle/core/strided.hpp>
#include <heddle/solve/solve.hpp>

#include <iosfwd>
#include <limits>
#include <vector>

namespace heddle {

/// The largest number of rows of systems that are solved in the memory of one thread.
inline constexpr Index largest_small_system = 64;

/// Outcome for one matrix of a batch.
struct BatchedSystem {
  Index matrix = 0;  ///< Its number in the batch.
  /// As FactorizationReport::info: if it is not 0, the matrix is singular, or not positive definite, and its result is
  /// not written.
  Index info = 0;
  bool ill_conditioned = false;                                        ///< As SolveReport::ill_conditioned.
  double scaled_condition = std::numeric_limits<double>::quiet_NaN();  ///< As SolveReport's, if it is ill-conditioned.
  Index overflow = 0;                                                  ///< As SolveReport::overflow.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const BatchedSystem& system);

/// Report of the solution of a batch.
struct SolveBatchedReport {
  /// The matrices that are singular, not positive definite or ill-conditioned, or whose solutions overflow, in order.
  std::vector<BatchedSystem> remarkable;
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const SolveBatchedReport& report);

namespace compiled {

template <Scalar T>
SolveBatchedReport solve_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                 const StridedBatch<const T>& B, const StridedBatch<T>& X, const SolveOptions& options);
template <Scalar T>
SolveBatchedReport inverse_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                   const StridedBatch<T>& X, const FactorOptions& options);
template <Scalar T>
std::vector<Determinant<T>> determinant_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                                const FactorOptions& options);

}  // namespace compiled

/// Computes X_b = A_b^-1 B_b for each matrix of a batch, with A_b n x n and B_b n x k, as solve() does. X may be A or B
/// itself, but must not overlap them otherwise. Errors and certificates are not measured: SolveOptions::measure has no
/// effect. A matrix that is singular fails by itself. SolveOptions::factorization.progress is called
/// with the share of matrices done.
///
/// Errors: throws Error(argument) for shapes that don't fit, for X that shares storage in another way, for the options
/// that solve() refuses, for SolveOptions::certificate, and for Rounding::correct.
template <class ViewA, class ViewB, class ViewX>
SolveBatchedReport solve_batched(const ExecutionSpace& space, const ViewA& A, const ViewB& B, const ViewX& X,
                                 const SolveOptions& options = {}) {
  return compiled::solve_batched<typename ViewX::non_const_value_type>(space, strided(A), strided(B), strided(X),
                                                                       options);
}

/// Computes X_b = A_b^-1 for each matrix of a batch, as inverse() does; X may be A itself, but must not overlap it
/// otherwise. Errors: throws Error(argument) for shapes that don't fit, for X that shares storage in another way, and
/// for the options that inverse() refuses.
template <class ViewA, class ViewX>
SolveBatchedReport inverse_batched(const ExecutionSpace& space, const ViewA& A, const ViewX& X,
                                   const FactorOptions& options = {}) {
  return compiled::inverse_batched<typename ViewX::non_const_value_type>(space, strided(A), strided(X), options);
}

/// Return the determinant of each matrix of a batch, as determinant() does. Errors: throws Error(argument) for matrices
/// that are not square and for the options that determinant() refuses.
template <class ViewA>
[[nodiscard]] std::vector<Determinant<typename ViewA::non_const_value_type>> determinant_batched(
    const ExecutionSpace& space, const ViewA& A, const FactorOptions& options = {}) {
  return compiled::determinant_batched<typename ViewA::non_const_value_type>(space, strided(A), options);
}

}  // namespace heddle
