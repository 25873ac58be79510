// Many small Hermitian eigenproblems, a team of threads each: two-sided rotations in scratch memory.
#pragma once

#include "eigen/batched/batch.hpp"
#include "eigen/dense/small.hpp"

namespace heddle::eigen::impl {

using BatchTeams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;

/// One matrix b of the batch, by one team. Small elements off the diagonal are rotated as far as to the criterion's
/// `least`, and a diagonal is what a sweep has found nothing to rotate in.
template <Scalar T, int fixed_pairs> class TeamEngine {
 public:
  using R = Real<T>;
  using Team = typename BatchTeams::member_type;

  KOKKOS_INLINE_FUNCTION TeamEngine(const Team& team, const Batch<T>& batch)
      : team_(team),
        batch_(batch),
        b_(team.league_rank()),
        n_(batch.rows()),
        pairs_((n_ + 1) / 2),
        problem_(SmallProblem<T>::in(team.team_scratch(1).get_shmem(static_cast<int>(SmallProblem<T>::bytes(pairs_))),
                                     pairs_)),
        criterion_(batch.limits) {}

  template <class Body> KOKKOS_INLINE_FUNCTION void each(const Body& body) { body(0, progress_); }

  KOKKOS_INLINE_FUNCTION Extremes<R> look(int /*slot*/) {
    const int m = positions();
    problem_.begin(team_);
    Extremes<R> found;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team_, m * m),
        [&](int at, R& most) {
          const int i = at % m;
          const int j = at / m;
          if (i > j) {
            return;
          }
          T value = T(0);
          if (j < n_) {
            value = i == j         ? T(real_part(batch_.A(i, i, b_)))
                    : batch_.upper ? batch_.A(i, j, b_)
                                   : conjugate(batch_.A(j, i, b_));
          }
          problem_.set(i, j, value);
          most = Kokkos::fmax(most, largest_part(value));
        },
        Kokkos::Max<R>(found.largest));
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team_, n_),
        [&](int i, R& lowest) { lowest = Kokkos::fmin(lowest, problem_.diagonal(i)); }, Kokkos::Min<R>(found.least));
    team_.team_barrier();
    // A diagonal that spans much is not out of range where there is nothing beside it.
    if (Kokkos::isfinite(found.largest) &&
        spans_too_much(batch_.accuracy, found.largest, found.least, batch_.most_spread) && !(off_diagonal() > 0)) {
      found.least = 0;
    }
    return found;
  }

  KOKKOS_INLINE_FUNCTION void prepare() {
    const int m = positions();
    const PowerOfTwo<R> down = progress_.down();
    R square = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team_, m * m),
        [&](int at, R& sum) {
          const int i = at % m;
          const int j = at / m;
          if (i > j) {
            return;
          }
          const T value = down.times(problem_.get(i, j));
          problem_.set(i, j, value);
          const R size = magnitude(value);
          sum += (i == j ? 1 : 2) * size * size;
        },
        square);
    team_.team_barrier();
    criterion_.norm = Kokkos::sqrt(square);
    criterion_.relative = batch_.accuracy != JacobiAccuracy::norm;
    note(0);
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool unfinished() const { return !progress_.done(); }

  KOKKOS_INLINE_FUNCTION void sweep() {
    if (criterion_.relative && batch_.accuracy == JacobiAccuracy::automatic && !positive()) {
      criterion_.relative = false;
    }
    progress_.outcome.relative = criterion_.relative ? 1 : 0;
    // Local copies let the compiler assume that nothing aliases them.
    SmallProblem<T> problem = problem_;
    const Criterion<R> criterion = criterion_;
    counts_ = problem.template sweep<fixed_pairs>(team_, criterion);
    problem_ = problem;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION const SweepCounts<R>& counts(int /*slot*/) const { return counts_; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool found_nothing(int /*slot*/) const {
    return !(counts_.largest > criterion_.tolerance);
  }

  // The norm of what is off the diagonal over that of all, for the history.
  KOKKOS_INLINE_FUNCTION void note(int /*slot*/) const {
    if (batch_.history.extent(0) == 0) {
      return;
    }
    const int m = positions();
    R off = 0;
    R diagonal = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team_, m * m),
        [&](int at, R& sum) {
          const R size = at % m < at / m ? magnitude(problem_.get(at % m, at / m)) : R(0);
          sum += 2 * size * size;
        },
        off);
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team_, m), [&](int p, R& sum) { sum += problem_.diagonal(p) * problem_.diagonal(p); },
        diagonal);
    team_.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team_), [&] {
      batch_.history(progress_.outcome.sweeps) = off > 0 ? Kokkos::sqrt(off / (off + diagonal)) : R(0);
    });
  }

  KOKKOS_INLINE_FUNCTION void finish() {
    const int m = positions();
    Outcome& outcome = progress_.outcome;
    outcome.relative = criterion_.relative && positive() ? 1 : 0;
    if (outcome.end == static_cast<int>(JacobiEnd::tolerance) && outcome.rotations == 0) {
      outcome.end = static_cast<int>(JacobiEnd::diagonal);
    }
    // Ranks by counting; equal ones in the order of their labels.
    const bool as_given = progress_.is_diagonal();
    const PowerOfTwo<R> up = progress_.up();
    const auto value_of = [&](int p) {
      const int label = problem_.label[p];
      return as_given ? real_part(batch_.A(label, label, b_)) : problem_.diagonal(p);
    };
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team_, m), [&](int p) {
      const int label = problem_.label[p];
      if (label >= n_) {
        return;
      }
      const R value = value_of(p);
      int rank = 0;
      for (int q = 0; q < m; ++q) {
        const int other = problem_.label[q];
        const R beside = other < n_ ? value_of(q) : R(0);
        rank += other < n_ && (beside < value || (beside == value && other < label)) ? 1 : 0;
      }
      Kokkos::single(Kokkos::PerThread(team_), [&] { batch_.w(rank, b_) = up.times(value); });
      if (batch_.vectors) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team_, n_),
                             [&](int i) { batch_.V(i, rank, b_) = problem_.Q[i + label * m]; });
      }
    });
    Kokkos::single(Kokkos::PerTeam(team_), [&] { batch_.outcomes(b_) = outcome; });
  }

 private:
  // Positions, which are n or one more: known when this is compiled, or found.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int positions() const { return 2 * (fixed_pairs > 0 ? fixed_pairs : pairs_); }

  // The largest part of an element off the diagonal.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R off_diagonal() const {
    const int m = positions();
    R off = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team_, m * m),
        [&](int at, R& most) {
          most = at % m < at / m ? Kokkos::fmax(most, largest_part(problem_.get(at % m, at / m))) : most;
        },
        Kokkos::Max<R>(off));
    team_.team_barrier();
    return off;
  }
  // Whether all of the diagonal is positive.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool positive() const {
    const int m = positions();
    int wrong = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team_, m),
        [&](int p, int& count) { count += problem_.label[p] < n_ && !(problem_.diagonal(p) > 0) ? 1 : 0; }, wrong);
    team_.team_barrier();
    return wrong == 0;
  }

  const Team& team_;
  const Batch<T>& batch_;
  Index b_;
  int n_;
  int pairs_;
  SmallProblem<T> problem_;
  Criterion<R> criterion_;
  SweepCounts<R> counts_;
  Progress<R> progress_;
};

template <Scalar T, int fixed_pairs> struct TeamMatrices {
  Batch<T> batch;
  KOKKOS_INLINE_FUNCTION void operator()(const typename BatchTeams::member_type& team) const {
    TeamEngine<T, fixed_pairs> engine(team, batch);
    solve_by(engine, batch);
  }
};

}  // namespace heddle::eigen::impl
