// A few columns of a Cholesky factorization on a GPU by one kernel.
#pragma once

#include "core/simd.hpp"
#include "dist/elementwise.hpp"
#include "solve/leaf.hpp"
#include "solve/root_divisor.hpp"

#include <algorithm>

namespace heddle::impl {

/// Columns [first, first + width) of a panel. Every team factors the block on the diagonal for itself, which takes less
/// time than waiting for another kernel's, and then takes as many rows below as it has threads. What stood in the block
/// on the diagonal is still read by other teams, so its factor goes to `diagonal`; and rows of L above row `turned_end`
/// go to `turned` also, conjugated and turned into columns: the factor on the right of the product that comes next.
template <Scalar T> struct DeviceCholeskyLeaf {
  static constexpr int most = static_cast<int>(device_leaf_width<T>);
  static constexpr int threads = 128;
  static constexpr int groups = threads / most;  // Threads of a row of the block on the diagonal, which take
  static constexpr int each = most / groups;     // columns g, g + groups, ... of it.
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Fast = typename ExecutionSpace::scratch_memory_space;
  // Column after column of the block's factor, and the roots on its diagonal.
  using Shared = Kokkos::View<T[most][most], Kokkos::LayoutRight, Fast, Kokkos::MemoryUnmanaged>;
  using Roots = Kokkos::View<RootDivisor<T>*, Fast, Kokkos::MemoryUnmanaged>;

  Elements<T> P;
  Index first;
  Index rows;
  int width;
  Index* info;
  Elements<T> diagonal;  // Of which the first row is that of the block, and columns are those of the panel.
  Elements<T> turned;
  Index turned_end;

  // What a thread has of the block on the diagonal: elements of its row, and elements on the diagonal in its columns,
  // which it follows by itself, so that one barrier a column does. The columns that are done leave at the front.
  struct Part {
    T a[each];
    T pivots[each];
  };
  // Column j, by the threads whose first it is.
  KOKKOS_INLINE_FUNCTION void find_column(const Team& team, const Shared& factor, const Roots& roots, const Part& part,
                                          int i, int j) const {
    const Real<T> pivot = real_of<Real<T>>(part.pivots[0]);
    const RootDivisor<T> by = root_divisor<T>(pivot);
    factor(j, i) = i == j ? T(by.root) : by.quotient(part.a[0]);
    if (i == j) {
      roots(j) = by;
      if (team.league_rank() == 0 && !(pivot > 0) && *info == 0) *info = first + j + 1;
    }
  }
  // Column j off those behind it, of which a thread has `begin` + groups m: for from <= m < to.
  template <int from, int to>
  KOKKOS_INLINE_FUNCTION void subtract_column(const Shared& factor, Part& part, int i, int j, int begin) const {
    const T mine = factor(j, i);
    T other[to - from];
    HEDDLE_UNROLL
    for (int m = from; m < to; ++m) other[m - from] = factor(j, (begin + groups * m) % most);
    HEDDLE_UNROLL
    for (int m = from; m < to; ++m) {
      const int c = begin + groups * m;
      const bool behind = c > j && c < width;
      const T minus = -conjugate(other[m - from]);
      const T a = multiply_add(mine, minus, part.a[m]);
      const T pivot = multiply_add(other[m - from], minus, part.pivots[m]);
      part.a[m] = behind && i >= c && i < width ? a : part.a[m];
      part.pivots[m] = behind ? pivot : part.pivots[m];
    }
  }
  // A column is taken off the next one first, which is found then, while the others follow: a column waits for the
  // root, the quotients and one difference of the column before, and for a barrier.
  KOKKOS_INLINE_FUNCTION void factor_block(const Team& team, const Shared& factor, const Roots& roots) const {
    const int i = team.team_rank() % most;
    const int g = team.team_rank() / most;
    Part part;
    HEDDLE_UNROLL
    for (int m = 0; m < each; ++m) {
      const int c = g + groups * m;
      part.a[m] = c <= i && i < width ? P(first + i, first + c) : T(0);
      part.pivots[m] = c < width ? P(first + c, first + c) : T(0);
    }
    if (g == 0 && i < width) find_column(team, factor, roots, part, i, 0);
    team.team_barrier();
    for (int j = 0; j + 1 < width; ++j) {
      if ((j + 1) % groups == 0) {
        HEDDLE_UNROLL
        for (int m = 0; m + 1 < each; ++m) {
          part.a[m] = part.a[m + 1];
          part.pivots[m] = part.pivots[m + 1];
        }
      }
      const int begin = (j + 1) / groups * groups + g;
      const bool finds = g == (j + 1) % groups;
      subtract_column<0, 1>(factor, part, i, j, begin);
      if (!finds) {
        subtract_column<1, each>(factor, part, i, j, begin);
      } else if (i > j && i < width) {
        find_column(team, factor, roots, part, i, j + 1);
      }
      team.team_barrier();
      if (finds) subtract_column<1, each>(factor, part, i, j, begin);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Shared factor(team.team_scratch(0));
    const Roots roots(team.team_scratch(0), most);
    const Index r = first + width + Index{team.league_rank()} * threads + team.team_rank();
    T x[most];
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) x[c] = c < width && r < rows ? P(r, first + c) : T(0);
    factor_block(team, factor, roots);
    if (team.league_rank() == 0) {
      for (int e = team.team_rank(); e < width * width; e += threads) {
        if (e % width >= e / width) diagonal(e % width, first + e / width) = factor(e / width, e % width);
      }
    }
    if (r >= rows) return;
    HEDDLE_UNROLL
    for (int k = 0; k < most; ++k) {
      if (k < width) {
        x[k] = roots(k).quotient(x[k]);
        HEDDLE_UNROLL
        for (int c = k + 1; c < most; ++c) x[c] = multiply_add(x[k], -conjugate(factor(k, c)), x[c]);
      }
    }
    HEDDLE_UNROLL
    for (int c = 0; c < most; ++c) {
      if (c < width) {
        P(r, first + c) = x[c];
        if (r < turned_end) turned(c, r - first - width) = conjugate(x[c]);
      }
    }
  }
};

/// Factors columns [begin, end) of a panel; the block on the diagonal goes to columns [begin, end) of `diagonal`, and
/// rows [end, turned_end) of L, turned, to `turned`. Ordered on `space`, does not block.
template <Scalar T>
void device_cholesky_leaf(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
                          const Kokkos::View<Index*, MemorySpace>& info, const MatrixView<T>& diagonal,
                          const MatrixView<T>& turned, Index turned_end) {
  using Leaf = DeviceCholeskyLeaf<T>;
  const auto rows = static_cast<Index>(panel.extent(0));
  const Index teams = std::max<Index>(1, (rows - end + Leaf::threads - 1) / Leaf::threads);
  Kokkos::TeamPolicy<ExecutionSpace> policy(space, static_cast<int>(teams), Leaf::threads);
  policy.set_scratch_size(
      0, Kokkos::PerTeam(static_cast<int>(Leaf::Shared::shmem_size() + Leaf::Roots::shmem_size(Leaf::most))));
  Kokkos::parallel_for("heddle::solve::cholesky_leaf", policy,
                       Leaf{Elements<T>(panel), begin, rows, static_cast<int>(end - begin), info.data(),
                            Elements<T>(diagonal), Elements<T>(turned), turned_end});
}

}  // namespace heddle::impl
