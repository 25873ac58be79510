// QR factorizations with column pivoting of many matrices at once, and orthonormal bases completed.
#pragma once

#include "eigen/batched/reflectors.hpp"
#include "eigen/dense/scaling.hpp"

namespace heddle::eigen::impl {

/// Workspace for the factorization of a group of m x n matrices, m >= n.
template <Scalar T> struct PivotedQr {
  using R = Real<T>;
  int m;
  int n;
  Matrices<T> W;        ///< The matrices; then R above the diagonal, and the reflections' v from it on.
  Vectors<R> diagonal;  ///< Diagonal of R; zeros from the rank on.
  Vectors<T> tau;       ///< n x count
  Vectors<int> labels;  ///< Column j of R is that of column labels(j) of the matrix.
  Values<int> cut;      ///< Whether elements that count as zero were not zero.

  /// Least squared length of a column of a matrix whose largest element is about 1: rotations form squares of numbers
  /// that are smaller than that by the unit roundoff.
  static constexpr R least = std::numeric_limits<R>::digits > 24 ? R(0x1p-800) : R(0x1p-72);

  PivotedQr(const ExecutionSpace& space, int rows, int columns, int count) : m(rows), n(columns) {
    const auto with = [&](const char* label) {
      return Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label));
    };
    W = Matrices<T>(with("heddle::eigen::reflections"), m, n, count);
    diagonal = Vectors<R>(with("heddle::eigen::diagonals"), n, count);
    tau = Vectors<T>(with("heddle::eigen::tau"), n, count);
    labels = Vectors<int>(with("heddle::eigen::labels"), n, count);
    cut = Values<int>(with("heddle::eigen::cut"), count);
  }
};

/// Return the first column from k on with the largest number, to all threads of the team.
template <class R, class Team>
KOKKOS_INLINE_FUNCTION int first_largest(const Team& team, const R* numbers, int k, int n) {
  R largest = 0;
  Kokkos::parallel_reduce(
      Kokkos::TeamVectorRange(team, k, n), [&](int j, R& most) { most = Kokkos::fmax(most, numbers[j]); },
      Kokkos::Max<R>(largest));
  int first = k;
  Kokkos::parallel_reduce(
      Kokkos::TeamVectorRange(team, k, n),
      [&](int j, int& least) { least = numbers[j] == largest && j < least ? j : least; }, Kokkos::Min<int>(first));
  return first < n ? first : k;
}

/// Swap columns k and j of a matrix, their labels and their lengths.
template <Scalar T, class Team>
KOKKOS_INLINE_FUNCTION void exchange_columns(const Team& team, const PivotedQr<T>& work, int slot, Real<T>* squares,
                                             int k, int j) {
  T* const x = &work.W(0, k, slot);
  T* const y = &work.W(0, j, slot);
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, work.m), [&](int i) {
    const T kept = x[i];
    x[i] = y[i];
    y[i] = kept;
  });
  Kokkos::single(Kokkos::PerTeam(team), [&] {
    const int label = work.labels(k, slot);
    work.labels(k, slot) = work.labels(j, slot);
    work.labels(j, slot) = label;
    const Real<T> square = squares[k];
    squares[k] = squares[j];
    squares[j] = square;
  });
  team.team_barrier();
}

/// A P = Q R (G. Golub, 1965). A column's remaining length is summed anew in every step, as its update passes, so that
/// nothing is lost to cancellation.
template <Scalar T> void factor(const ExecutionSpace& space, const PivotedQr<T>& work, const Values<int>& chosen) {
  using R = Real<T>;
  const int m = work.m;
  const int n = work.n;
  const int bytes = n * static_cast<int>(sizeof(R)) + 64;
  const int level = bytes <= MatrixTeams::scratch_size_max(0) ? 0 : 1;
  Kokkos::parallel_for(
      "heddle::eigen::pivoted_qr",
      matrix_teams(space, static_cast<int>(chosen.extent(0))).set_scratch_size(level, Kokkos::PerTeam(bytes)),
      KOKKOS_LAMBDA(const MatrixTeam& team) {
        const int slot = chosen(team.league_rank());
        const auto column = [&](int j) { return &work.W(0, j, slot); };
        R* const squares = static_cast<R*>(team.team_scratch(level).get_shmem(n * static_cast<int>(sizeof(R))));
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int j) {
          const T* const a = column(j);
          const R square = vector_sum<R>(team, 0, m, [&](int i) { return square_of_size(a[i]); });
          Kokkos::single(Kokkos::PerThread(team), [&] {
            squares[j] = square;
            work.labels(j, slot) = j;
            work.diagonal(j, slot) = 0;
            work.tau(j, slot) = T(0);
          });
        });
        team.team_barrier();
        int rank = 0;
        for (; rank < n; ++rank) {
          const int k = rank;
          const int pivot = first_largest(team, squares, k, n);
          if (!(squares[pivot] > PivotedQr<T>::least)) {
            break;
          }
          team.team_barrier();
          T* const x = column(k);
          if (pivot != k) {
            exchange_columns<T>(team, work, slot, squares, k, pivot);
          }
          const Reflector<T> reflector = reflector_of<T>(x[k], squares[k]);
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k, m),
                               [&](int i) { x[i] = i == k ? T(1) : x[i] * reflector.inverse; });
          Kokkos::single(Kokkos::PerTeam(team), [&] {
            work.diagonal(k, slot) = reflector.beta;
            work.tau(k, slot) = reflector.tau;
          });
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k + 1, n), [&](int j) {
            T* const a = column(j);
            const T by =
                -conjugate(reflector.tau) * vector_sum<T>(team, k, m, [&](int i) { return conjugate(x[i]) * a[i]; });
            const R square = vector_sum<R>(team, k, m, [&](int i) {
              a[i] = multiply_add<T>(by, x[i], a[i]);
              return i > k ? square_of_size(a[i]) : R(0);
            });
            Kokkos::single(Kokkos::PerThread(team), [&] { squares[j] = square; });
          });
          team.team_barrier();
        }
        // Elements beyond the rank count as zero; `cut` records whether any of them is not.
        R largest = 0;
        const int left = m - rank;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, left * (n - rank)),
            [&](int at, R& most) {
              most = Kokkos::fmax(most, largest_part(work.W(rank + at % left, rank + at / left, slot)));
            },
            Kokkos::Max<R>(largest));
        Kokkos::single(Kokkos::PerTeam(team), [&] { work.cut(slot) = rank < n && largest > 0 ? 1 : 0; });
      });
}

/// Complete the n x n X of each chosen matrix, whose columns are orthogonal with the squared lengths `squares`: columns
/// are scaled to length 1, and those of length zero replaced by vectors orthonormal to the others. Each of these begins
/// at the unit vector with the largest component orthogonal to the others, and is orthogonalised twice (L. Giraud, J.
/// Langou, M. Rozloznik, 2005: that is enough).
template <Scalar T>
void complete_columns(const ExecutionSpace& space, const Matrices<T>& X, const Vectors<double>& squares, int n,
                      const Values<int>& chosen) {
  using R = Real<T>;
  const int bytes = n * static_cast<int>(sizeof(T) + sizeof(R) + sizeof(int)) + 128;
  const int level = bytes <= MatrixTeams::scratch_size_max(0) ? 0 : 1;
  Kokkos::parallel_for(
      "heddle::eigen::complete_columns",
      matrix_teams(space, static_cast<int>(chosen.extent(0))).set_scratch_size(level, Kokkos::PerTeam(bytes)),
      KOKKOS_LAMBDA(const MatrixTeam& team) {
        const int slot = chosen(team.league_rank());
        const auto& scratch = team.team_scratch(level);
        T* const parts = static_cast<T*>(scratch.get_shmem(n * static_cast<int>(sizeof(T))));
        R* const shares = static_cast<R*>(scratch.get_shmem(n * static_cast<int>(sizeof(R))));
        int* const there = static_cast<int*>(scratch.get_shmem(n * static_cast<int>(sizeof(int))));
        const auto column = [&](int j) { return &X(0, j, slot); };
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int j) {
          const double square = squares(j, slot);
          const R factor = square > 0 ? static_cast<R>(1 / Kokkos::sqrt(square)) : R(0);
          T* const x = column(j);
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int i) { x[i] = x[i] * factor; });
          Kokkos::single(Kokkos::PerThread(team), [&] { there[j] = square > 0 ? 1 : 0; });
        });
        team.team_barrier();
        for (int j = 0; j < n; ++j) {
          if (there[j] != 0) {
            continue;
          }
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
            R left = 1;
            for (int k = 0; k < n; ++k) {
              left -= there[k] != 0 ? square_of_size(X(i, k, slot)) : R(0);
            }
            shares[i] = left;
          });
          team.team_barrier();
          const int begin = first_largest(team, shares, 0, n);
          T* const x = column(j);
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) { x[i] = T(i == begin ? 1 : 0); });
          team.team_barrier();
          for (int pass = 0; pass < 2; ++pass) {
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int k) {
              const T* const y = column(k);
              const T part =
                  there[k] != 0 ? vector_sum<T>(team, 0, n, [&](int i) { return conjugate(y[i]) * x[i]; }) : T(0);
              Kokkos::single(Kokkos::PerThread(team), [&] { parts[k] = -part; });
            });
            team.team_barrier();
            R square = 0;
            Kokkos::parallel_reduce(
                Kokkos::TeamVectorRange(team, n),
                [&](int i, R& sum) {
                  T value = x[i];
                  for (int k = 0; k < n; ++k) {
                    value = there[k] != 0 ? multiply_add<T>(parts[k], X(i, k, slot), value) : value;
                  }
                  x[i] = value;
                  sum += square_of_size(value);
                },
                square);
            team.team_barrier();
            const R factor = 1 / Kokkos::sqrt(square);
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) { x[i] = x[i] * factor; });
            team.team_barrier();
          }
          Kokkos::single(Kokkos::PerTeam(team), [&] { there[j] = 1; });
          team.team_barrier();
        }
      });
}

}  // namespace heddle::eigen::impl
