// A group of a batch's large matrices, and the kernels that bring them to block columns and back.
#pragma once

#include "eigen/batched/batch.hpp"
#include "eigen/batched/reflectors.hpp"

namespace heddle::eigen::impl {

/// Treatment of a matrix; it decides how the eigenvalues follow from the columns.
enum class Way : int { none, not_finite, diagonal, factored, shifted, refined };

/// State of one matrix of a group.
template <class R> struct Member {
  Way way = Way::none;
  int sorted = 0;  ///< Whether rows and columns are taken by the diagonal's elements, the largest first.
  int exponent = 0;
  R shift = 0;
};

/// A group of the batch's matrices: those from `first` on.
template <Scalar T> struct Group {
  using R = Real<T>;
  Batch<T> batch;
  Index first;
  Matrices<T> columns;
  Kokkos::View<Member<R>*, MemorySpace> members;
  Kokkos::View<int**, Kokkos::LayoutLeft, MemorySpace> labels;  ///< Row of the matrix in each place.

  [[nodiscard]] KOKKOS_INLINE_FUNCTION int rows() const { return batch.rows(); }
  /// Element (i, j) of a matrix as it was given, both triangles.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T given(int i, int j, int slot) const {
    const Index b = first + slot;
    if (i == j) {
      return T(real_part(batch.A(i, i, b)));
    }
    return (i < j) == batch.upper ? batch.A(i, j, b) : conjugate(batch.A(j, i, b));
  }
};

/// Find the extremes of each matrix.
template <Scalar T> Values<Extremes<Real<T>>> looked(const Scratch& scratch, const Group<T>& group, int count) {
  using R = Real<T>;
  const int n = group.rows();
  const Values<Extremes<R>> found =
      scratch.values<Extremes<R>>("heddle::eigen::extremes", static_cast<std::size_t>(count));
  Kokkos::parallel_for(
      "heddle::eigen::batched_look", matrix_teams(scratch.space(), count), KOKKOS_LAMBDA(const MatrixTeam& team) {
        const int slot = team.league_rank();
        R largest = 0;
        R off = 0;
        R least = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, n * n),
            [&](int at, R& most, R& beside, R& lowest) {
              const int i = at % n;
              const int j = at / n;
              if (i < j) {
                return;
              }
              const T value = group.given(i, j, slot);
              const R size = largest_part(value);
              most = Kokkos::fmax(most, size);
              if (i == j) {
                lowest = Kokkos::fmin(lowest, real_part(value));
              } else {
                beside = Kokkos::fmax(beside, size);
              }
            },
            Kokkos::Max<R>(largest), Kokkos::Max<R>(off), Kokkos::Min<R>(least));
        Kokkos::single(Kokkos::PerTeam(team), [&] { found(slot) = {Kokkos::fmax(largest, R(0)), least, !(off > 0)}; });
      });
  return found;
}

/// Label the places with rows and columns: in descending order of the diagonal, or in the given order.
template <Scalar T> void label_rows(const ExecutionSpace& space, const Group<T>& group, int count) {
  using R = Real<T>;
  const int n = group.rows();
  Kokkos::parallel_for(
      "heddle::eigen::batched_labels", matrix_teams(space, count), KOKKOS_LAMBDA(const MatrixTeam& team) {
        const int slot = team.league_rank();
        const bool sorted = group.members(slot).sorted != 0;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
          const R value = real_part(group.given(i, i, slot));
          int place = sorted ? 0 : i;
          for (int k = 0; sorted && k < n; ++k) {
            const R other = real_part(group.given(k, k, slot));
            place += other > value || (other == value && k < i) ? 1 : 0;
          }
          group.labels(place, slot) = i;
        });
      });
}

/// The chosen matrices, scaled, their rows and columns in the order of the labels.
template <Scalar T>
void fill_columns(const ExecutionSpace& space, const Group<T>& group, const Values<int>& chosen,
                  const Matrices<T>& to) {
  using R = Real<T>;
  const int n = group.rows();
  for_each_column(
      space, "heddle::eigen::batched_columns", static_cast<int>(chosen.extent(0)), n,
      KOKKOS_LAMBDA(const MatrixTeam& team, int at, int j) {
        const int slot = chosen(at);
        const Member<R> member = group.members(slot);
        const PowerOfTwo<R> down(-member.exponent);
        const int column = group.labels(j, slot);
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int i) {
          to(i, j, slot) = down.times(group.given(group.labels(i, slot), column, slot));
        });
      });
}

/// to = from, n x n of each chosen matrix.
template <Scalar T>
void copy_columns(const ExecutionSpace& space, const Matrices<T>& from, const Matrices<T>& to,
                  const Values<int>& chosen) {
  const auto n = static_cast<int>(from.extent(0));
  for_each_column(
      space, "heddle::eigen::copy_columns", static_cast<int>(chosen.extent(0)), n,
      KOKKOS_LAMBDA(const MatrixTeam& team, int at, int j) {
        const int slot = chosen(at);
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int i) { to(i, j, slot) = from(i, j, slot); });
      });
}

/// Replace A by L, A = L L^H, for each chosen matrix; the result is 1 if it is positive definite.
template <Scalar T>
Values<int> factor_columns(const Scratch& scratch, const Matrices<T>& columns, int n, const Values<int>& chosen) {
  using R = Real<T>;
  constexpr int panel = 8;
  const Values<int> positive = scratch.values<int>("heddle::eigen::positive", chosen.extent(0));
  Kokkos::parallel_for(
      "heddle::eigen::batched_cholesky", matrix_teams(scratch.space(), static_cast<int>(chosen.extent(0))),
      KOKKOS_LAMBDA(const MatrixTeam& team) {
        const auto A = Kokkos::subview(columns, Kokkos::ALL, Kokkos::ALL, chosen(team.league_rank()));
        for (int begin = 0; begin < n; begin += panel) {
          const int end = begin + panel < n ? begin + panel : n;
          for (int j = begin; j < end; ++j) {
            const R pivot = real_part(A(j, j));
            team.team_barrier();
            if (!(pivot > 0)) {
              Kokkos::single(Kokkos::PerTeam(team), [&] { positive(team.league_rank()) = 0; });
              return;
            }
            const R root = Kokkos::sqrt(pivot);
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, j, n),
                                 [&](int i) { A(i, j) = i == j ? T(root) : A(i, j) / root; });
            team.team_barrier();
            for (int k = j + 1; k < end; ++k) {
              const T by = -conjugate(A(k, j));
              Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k, n),
                                   [&](int i) { A(i, k) = multiply_add<T>(A(i, j), by, A(i, k)); });
            }
            team.team_barrier();
          }
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, end, n), [&](int k) {
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, k, n), [&](int i) {
              T sum = A(i, k);
              for (int at = begin; at < end; ++at) {
                sum = multiply_add<T>(A(i, at), -conjugate(A(k, at)), sum);
              }
              A(i, k) = sum;
            });
          });
          team.team_barrier();
        }
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 1, n), [&](int j) {
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, j), [&](int i) { A(i, j) = T(0); });
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] { positive(team.league_rank()) = 1; });
      });
  return positive;
}

/// Eigenvalues in order, and columns of length 1 in the places of their vectors. refined: eigenvalues of those that
/// were, whose columns have length 1; where all were, nobody asks for lengths.
template <Scalar T>
void store_columns(const Scratch& scratch, const Group<T>& group, int count, const Vectors<Real<T>>& refined,
                   bool all_refined) {
  using R = Real<T>;
  using Numbers = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;
  const ExecutionSpace& space = scratch.space();
  const int n = group.rows();
  const Numbers squares = all_refined ? Numbers() : squared_lengths<T>(space, group.columns, n, n, count);
  const auto values = scratch.shaped<Numbers>("heddle::eigen::values", n, count);
  Kokkos::parallel_for(
      "heddle::eigen::batched_values", Kokkos::RangePolicy<ExecutionSpace>(space, 0, count * n), KOKKOS_LAMBDA(int at) {
        const int slot = at / n;
        const int j = at % n;
        const Member<R> member = group.members(slot);
        // Diagonal matrices are returned as given: scaling might underflow their smallest element.
        values(j, slot) = member.way == Way::diagonal   ? static_cast<double>(real_part(group.given(j, j, slot)))
                          : member.way == Way::refined  ? static_cast<double>(refined(j, slot))
                          : member.way == Way::factored ? squares(j, slot)
                          : member.way == Way::shifted
                              ? Kokkos::sqrt(squares(j, slot)) - static_cast<double>(member.shift)
                              : 0.0;
      });
  for_each_column(
      space, "heddle::eigen::batched_vectors", count, n, KOKKOS_LAMBDA(const MatrixTeam& team, int slot, int j) {
        const Index b = group.first + slot;
        const Member<R> member = group.members(slot);
        if (member.way == Way::none) {
          return;
        }
        if (member.way == Way::not_finite) {
          const R nothing = Kokkos::Experimental::quiet_NaN_v<R>;
          Kokkos::single(Kokkos::PerThread(team), [&] { group.batch.w(j, b) = nothing; });
          if (group.batch.vectors) {
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n),
                                 [&](int i) { group.batch.V(i, j, b) = T(nothing); });
          }
          return;
        }
        const double value = values(j, slot);
        int place = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, n),
            [&](int k, int& before) {
              const double other = values(k, slot);
              before += other < value || (other == value && k < j) ? 1 : 0;
            },
            place);
        const bool diagonal = member.way == Way::diagonal;
        const PowerOfTwo<double> up(diagonal ? 0 : member.exponent);
        Kokkos::single(Kokkos::PerThread(team), [&] { group.batch.w(place, b) = static_cast<R>(up.times(value)); });
        if (group.batch.vectors) {
          const bool has_length = member.way == Way::factored || member.way == Way::shifted;
          const double square = has_length ? squares(j, slot) : 1;
          const R factor = square > 0 ? static_cast<R>(1 / Kokkos::sqrt(square)) : R(0);
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int i) {
            const T element = diagonal ? (i == j ? T(1) : T(0)) : group.columns(i, j, slot) * factor;
            group.batch.V(diagonal ? i : group.labels(i, slot), place, b) = element;
          });
        }
      });
}

}  // namespace heddle::eigen::impl
