// A few columns of a Cholesky factorization on a GPU: the block on the diagonal by one team, then the rows below.
#pragma once

#include "core/simd.hpp"
#include "dist/elementwise.hpp"
#include "solve/device_leaf.hpp"
#include "solve/pivot.hpp"

namespace heddle::impl {

/// The block on the diagonal of columns [first, first + width). A thread keeps a row in registers.
template <Scalar T> struct DeviceCholeskyDiagonal {
  static constexpr int most = static_cast<int>(device_leaf_width<T>);
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Shared =
      Kokkos::View<T[most][most + 1], typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  Elements<T> P;
  Index first;
  int width;
  Index* info;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Shared factor(team.team_scratch(0));
    const int i = team.team_rank();
    const bool here = i < width;
    T a[most];
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) a[c] = here && c <= i ? P(first + i, first + c) : T(0);
    HEDDLE_UNROLL
    for (int j = 0; j < most; ++j) {
      if (j < width) {
        if (i == j) {
          const Real<T> pivot = real_of<Real<T>>(a[j]);
          if (!(pivot > 0) && *info == 0) *info = first + j + 1;
          a[j] = T(Kokkos::sqrt(pivot));
          factor(j, j) = a[j];
        }
        team.team_barrier();
        if (here && i > j) {
          a[j] = divided(a[j], real_of<Real<T>>(factor(j, j)));
          factor(i, j) = a[j];
        }
        team.team_barrier();
        HEDDLE_UNROLL
        for (int c = 0; c < most; ++c) {
          if (here && c > j && c <= i) a[c] = multiply_add(a[j], -conjugate(factor(c, j)), a[c]);
        }
      }
    }
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) {
      if (here && c <= i) P(first + i, first + c) = a[c];
    }
  }
};

/// The rows below that block, one a thread.
template <Scalar T> struct DeviceCholeskyRows {
  static constexpr int most = static_cast<int>(device_leaf_width<T>);
  static constexpr int threads = 128;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Shared = Kokkos::View<T[most][most], typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  Elements<T> P;
  Index first;
  Index rows;
  int width;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Shared factor(team.team_scratch(0));
    for (int e = team.team_rank(); e < most * most; e += threads) {
      const int i = e % most;
      const int k = e / most;
      factor(k, i) = i < width && k <= i ? P(first + i, first + k) : T(1);
    }
    team.team_barrier();
    const Index r = first + width + Index{team.league_rank()} * threads + team.team_rank();
    if (r >= rows) return;
    T x[most];
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) x[c] = c < width ? P(r, first + c) : T(0);
    HEDDLE_UNROLL
    for (int k = 0; k < most; ++k) {
      x[k] = divided(x[k], real_of<Real<T>>(factor(k, k)));
      HEDDLE_UNROLL
      for (int c = 0; c < most; ++c) {
        if (c > k) x[c] = multiply_add(x[k], -conjugate(factor(k, c)), x[c]);
      }
    }
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) {
      if (c < width) P(r, first + c) = x[c];
    }
  }
};

/// Factors columns [begin, end) of a panel. Ordered on `space`, does not block.
template <Scalar T>
void device_cholesky_leaf(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
                          const Kokkos::View<Index*, MemorySpace>& info) {
  using Diagonal = DeviceCholeskyDiagonal<T>;
  using Rows = DeviceCholeskyRows<T>;
  const auto width = static_cast<int>(end - begin);
  Kokkos::TeamPolicy<ExecutionSpace> one(space, 1, Diagonal::most);
  one.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Diagonal::Shared::shmem_size())));
  Kokkos::parallel_for("heddle::solve::cholesky_diagonal", one,
                       Diagonal{Elements<T>(panel), begin, width, info.data()});
  const auto rows = static_cast<Index>(panel.extent(0));
  if (rows == end) return;
  Kokkos::TeamPolicy<ExecutionSpace> policy(space, static_cast<int>((rows - end + Rows::threads - 1) / Rows::threads),
                                            Rows::threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Rows::Shared::shmem_size())));
  Kokkos::parallel_for("heddle::solve::cholesky_rows", policy, Rows{Elements<T>(panel), begin, rows, width});
}

}  // namespace heddle::impl
