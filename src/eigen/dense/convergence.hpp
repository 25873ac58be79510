// Thresholds for rotations and the end of an iteration, shared by all rotations, of one matrix or many, on one rank or
// over all.
#pragma once

#include <heddle/core/scalar.hpp>
#include <heddle/eigen/jacobi.hpp>

namespace heddle::eigen::impl {

/// The most rows of a matrix that is solved whole in a team's registers, its scratch memory or lanes of vectors. Larger
/// ones are block columns in memory.
inline constexpr Index largest_small = 64;

inline constexpr const char* not_definite =
    "eigen::jacobi: A is not positive definite; accuracy \"relative\" needs that";

/// Criterion for an element to count as zero: |a_pq| <= tolerance * scale, with sqrt(a_pp a_qq) or the norm of the
/// matrix for the scale. Rotations are left out below `least`, and sweeps end below `tolerance`.
template <class R> struct Criterion {
  R least;
  R tolerance;
  R norm;
  bool relative;
  R smallest = 0;  ///< Elements of at most this size are zero.

  /// |a_pq| over the scale.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R share(R size, R a, R d) const {
    const R scale = relative ? Kokkos::sqrt(Kokkos::abs(a)) * Kokkos::sqrt(Kokkos::abs(d)) : norm;
    return size <= smallest ? R(0) : size / scale;
  }
};

/// Counts of a sweep.
template <class R> struct SweepCounts {
  R largest = 0;  ///< Share of the largest element met.
  R sine = 0;     ///< Sine of the largest angle.
  Index rotations = 0;

  /// Both together; Kokkos joins the parts of a reduction by it.
  KOKKOS_INLINE_FUNCTION SweepCounts& operator+=(const SweepCounts& other) {
    largest = Kokkos::fmax(largest, other.largest);
    sine = Kokkos::fmax(sine, other.sine);
    rotations += other.rotations;
    return *this;
  }
  /// Whether what the sweep left is below the tolerance: rotations by at most `sine` of the 2 n elements in the row and
  /// column of one that is zero bring back no more than this. Convergence is quadratic by then.
  ///
  /// With `relative` shares the angle that counts is that between the columns scaled to one length, sine sqrt(d / a)
  /// for diagonal elements a < d: however small the angle itself is, it adds so much of d's column to a's. From |sine|
  /// <= |b| / (d - a) it is at most 4/3 of the pair's share where 4 a < d, and it is at most 2 sine otherwise.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool leaves_less_than(R tolerance, Index n, bool relative) const {
    const R angle = relative ? Kokkos::fmax(2 * sine, R(4) / R(3) * largest) : sine;
    return angle < R(0.1) && static_cast<R>(2 * n) * largest * angle <= tolerance;
  }
};

/// Criterion for a tolerance that the caller gave, or 0; norm and kind are not set. Rotations go on to u if that takes
/// no more sweeps: that much of the Frobenius norm in every element is still n u of it in all.
template <Scalar T> Criterion<Real<T>> criterion_for(double tolerance, Index n) {
  using R = Real<T>;
  const R chosen = tolerance > 0 ? static_cast<R>(tolerance) : 2 * Kokkos::sqrt(static_cast<R>(n)) * unit_roundoff<T>;
  return {tolerance > 0 ? chosen : unit_roundoff<T>, chosen, R(0), false};
}

/// State of the iteration after a sweep: `tolerance` if it found nothing above the tolerance, `quadratic` if the
/// elements it left are bounded by the tolerance, and `sweep_limit` if it has to go on.
template <class R>
KOKKOS_INLINE_FUNCTION JacobiEnd end_after(const SweepCounts<R>& sweep, bool nothing, R tolerance, Index n,
                                           bool relative) {
  return nothing                                          ? JacobiEnd::tolerance
         : sweep.leaves_less_than(tolerance, n, relative) ? JacobiEnd::quadratic
                                                          : JacobiEnd::sweep_limit;
}

/// Sweep until one is the last, or the options' limit of sweeps or rotations is reached, as the report then says. The
/// report's accuracy selects the criterion.
template <class R, class Sweep>
void iterate(const Sweep& sweep, R tolerance, Index n, const JacobiOptions& options, JacobiReport& report) {
  const bool relative = report.accuracy == JacobiAccuracy::relative;
  report.converged = false;
  report.end = JacobiEnd::sweep_limit;
  while (report.sweeps < options.sweeps && !report.converged) {
    const SweepCounts<R> counts = sweep();
    ++report.sweeps;
    report.rotations += counts.rotations;
    if (options.rotations > 0 && report.rotations >= options.rotations) {
      report.end = JacobiEnd::rotation_limit;
      return;
    }
    const JacobiEnd end = end_after(counts, !(counts.largest > tolerance), tolerance, n, relative);
    report.converged = end != JacobiEnd::sweep_limit;
    report.end = end == JacobiEnd::tolerance && report.rotations == 0 ? JacobiEnd::diagonal : end;
  }
}

/// Throw for options that every eigensolver refuses.
inline void require_options(const JacobiOptions& options) {
  require(options.sweeps > 0, "eigen::jacobi: ", options.sweeps, " sweeps; expected at least 1");
  require(options.tolerance >= 0, "eigen::jacobi: a tolerance of ", options.tolerance, "; expected at least 0");
  require(options.block >= 0, "eigen::jacobi: blocks of ", options.block, " columns; expected at least 0");
}
/// Throw for shapes of A and w that every eigensolver refuses.
inline void require_shapes(Index rows, Index columns, Index values) {
  require(rows == columns, "eigen::jacobi: A is ", rows, " x ", columns, "; expected a square matrix");
  require(values == rows, "eigen::jacobi: w has ", values, " elements; expected ", rows);
}
/// Throw if V is not n x n.
inline void require_vectors(Index rows, Index columns, Index n) {
  require(rows == n && columns == n, "eigen::jacobi: V is ", rows, " x ", columns, "; expected ", n, " x ", n);
}

}  // namespace heddle::eigen::impl
