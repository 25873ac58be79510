// Jacobi rotations of many small matrices: the state of a matrix, the end of its iteration and its eigenvalues, shared
// by all engines. Engines supply the arithmetic: a team of threads and its registers, or a lane of a vector.
#pragma once

#include "eigen/dense/convergence.hpp"
#include "eigen/dense/scaling.hpp"
#include "eigen/pencils/graded.hpp"

namespace heddle::eigen::impl {

/// Ends of a matrix that was not solved: it holds NaN or infinity, or its diagonal spans more than the engine can take.
inline constexpr int end_not_finite = -1;
inline constexpr int end_too_graded = -2;

/// Result of one matrix.
struct Outcome {
  int sweeps = 0;
  int end = static_cast<int>(JacobiEnd::sweep_limit);  ///< JacobiEnd, or one of the ends above.
  int relative = 0;                                    ///< Whether small eigenvalues have digits of their own.
  Index rotations = 0;
};

/// All matrices of a batch, and the options.
template <Scalar T> struct Batch {
  using R = Real<T>;
  StridedBatch<const T> A;
  StridedMatrix<R> w;
  StridedBatch<T> V;
  bool vectors;
  bool upper;
  bool reproducible;
  JacobiAccuracy accuracy;
  Criterion<R> limits;
  int most_sweeps;
  int most_spread;  ///< Powers of two that a diagonal may span.
  Kokkos::View<Outcome*, MemorySpace> outcomes;
  Kokkos::View<R*, MemorySpace> history;  ///< One number a sweep for a batch of one matrix; empty otherwise.

  [[nodiscard]] KOKKOS_INLINE_FUNCTION int rows() const { return static_cast<int>(A.extent(0)); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index count() const { return static_cast<Index>(A.extent(2)); }
};

/// Sizes of the elements of a matrix, found before it is scaled.
template <class R> struct Extremes {
  R largest = 0;          ///< Largest real or imaginary part of all elements; infinity or NaN if one is not finite.
  R least = 0;            ///< Smallest element of the diagonal.
  bool diagonal = false;  ///< Whether all elements off the diagonal are zero.
};

/// Whether columns are taken by the diagonal's elements, the largest first, before they are factored; see
/// sorted_spread.
template <class R> KOKKOS_INLINE_FUNCTION bool takes_largest_first(JacobiAccuracy accuracy, R most, R least) {
  return accuracy != JacobiAccuracy::norm && least > 0 && exponent_above(most) - exponent_above(least) > sorted_spread;
}

/// Whether a matrix is out of range for the kernels, but for one that is diagonal; see small_spread and large_spread.
template <class R>
KOKKOS_INLINE_FUNCTION bool spans_too_much(JacobiAccuracy accuracy, R largest, R least, int most_spread) {
  return accuracy != JacobiAccuracy::norm && least > 0 && exponent_above(largest) - exponent_above(least) > most_spread;
}

/// State of one matrix. A is scaled by 2^-exponent. If the outcome is `relative`, rotations act on the columns of its
/// Cholesky factor, and their lengths are the roots of the eigenvalues; otherwise they act on A + shift I, and the
/// lengths are the eigenvalues plus shift.
template <class R> struct Progress {
  int exponent = 0;
  R shift = 0;
  Outcome outcome;

  KOKKOS_INLINE_FUNCTION void begin(const Extremes<R>& found, JacobiAccuracy accuracy, int most_spread) {
    const bool finite = Kokkos::isfinite(found.largest);
    exponent = found.largest > 0 && finite ? exponent_above(found.largest) : 0;
    if (!finite) {
      outcome.end = end_not_finite;
    } else if (found.diagonal) {
      outcome.end = static_cast<int>(JacobiEnd::diagonal);
    } else if (spans_too_much(accuracy, found.largest, found.least, most_spread)) {
      outcome.end = end_too_graded;
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool done() const {
    return outcome.end != static_cast<int>(JacobiEnd::sweep_limit);
  }
  /// Diagonal matrices are returned as given: scaling might underflow their smallest element.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_diagonal() const {
    return outcome.end == static_cast<int>(JacobiEnd::diagonal);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool relative() const { return outcome.relative != 0; }
  /// Factors of elements before the rotations (down) and of eigenvalues after them (up).
  [[nodiscard]] KOKKOS_INLINE_FUNCTION PowerOfTwo<R> down() const { return PowerOfTwo<R>(-exponent); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION PowerOfTwo<R> up() const { return PowerOfTwo<R>(is_diagonal() ? 0 : exponent); }
  /// The eigenvalue, scaled, of a column that has become orthogonal to all others.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R value(R length) const { return relative() ? length * length : length - shift; }
  /// Count a sweep; `nothing`: it found no pair above the tolerance.
  KOKKOS_INLINE_FUNCTION void end_sweep(const SweepCounts<R>& counts, bool nothing, R tolerance, Index n) {
    ++outcome.sweeps;
    outcome.rotations += counts.rotations;
    outcome.end = static_cast<int>(end_after(counts, nothing, tolerance, n, relative()));
  }
};

/// Solves the matrices that an engine has at hand. It must offer
///   each(body)          body(slot, progress) for each of them,
///   look(slot)          the Extremes of one,
///   prepare()           to scale all, and to factor or shift them,
///   unfinished()        whether any is not done,
///   sweep()             to rotate every pair of columns of those once,
///   counts(slot)        what that did to one, and
///   found_nothing(slot) whether no pair was above the tolerance,
///   note(slot)          to enter the sweep in the history,
///   finish()            to store eigenvalues, vectors and outcomes.
#ifdef __NVCC__
#pragma nv_exec_check_disable  // One engine runs on the host.
#endif
template <class Engine, Scalar T> KOKKOS_FORCEINLINE_FUNCTION void solve_by(Engine& engine, const Batch<T>& batch) {
  using R = Real<T>;
  engine.each(
      [&](int slot, Progress<R>& progress) { progress.begin(engine.look(slot), batch.accuracy, batch.most_spread); });
  engine.prepare();
  for (int sweep = 0; sweep < batch.most_sweeps && engine.unfinished(); ++sweep) {
    engine.sweep();
    engine.each([&](int slot, Progress<R>& progress) {
      if (!progress.done()) {
        progress.end_sweep(engine.counts(slot), engine.found_nothing(slot), batch.limits.tolerance, batch.rows());
        engine.note(slot);
      }
    });
  }
  engine.finish();
}

/// Real matrices on a CPU, a vector of them at a time; does not block where kernels do not. A matrix's bits do not
/// depend on its neighbours.
template <RealScalar R> void solve_lanes(const ExecutionSpace& space, const Batch<R>& batch);

/// Matrices of any size, as block columns in memory that advance together, a group of them after another; blocks. A
/// matrix's bits do not depend on its neighbours.
template <Scalar T> void solve_blocks(const ExecutionSpace& space, const Batch<T>& batch);

/// Whether solve_lanes() begins matrices of n rows that are not positive definite at the eigenvectors of a
/// tridiagonalisation: those of few rows are found by rotations as soon.
inline constexpr bool lanes_begin_ahead(Index n) {
  return n > 6;
}

}  // namespace heddle::eigen::impl
