// A few columns of a Cholesky factorization on a GPU by one kernel.
#pragma once

#include "core/elementwise.hpp"
#include "core/simd.hpp"
#include "exact/products/divisor.hpp"
#include "solve/lu/leaf.hpp"
#include "solve/lu/pivot.hpp"

#include <algorithm>

namespace heddle::impl {

/// Divides by the root of a pivot, on the critical path of all rows: correctly rounded quotients, as divided().
template <Scalar T> struct RootDivisor {
  Real<T> root;
  Real<T> inverse;  // 1 / root, rounded.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Real<T> part(Real<T> x) const {
    if constexpr (sizeof(Real<T>) == 8) {
      const exact::impl::Divisor by(root, inverse);
      return by.is_right(x) ? by.quotient(x) : x / root;
    } else {
      return x / root;
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T quotient(const T& x) const {
    if constexpr (is_complex<T>) {
      return T(part(x.real()), part(x.imag()));
    } else {
      return part(x);
    }
  }
};

/// Factors columns [first, first + width) of a panel. Every team factors the diagonal block for itself, which takes
/// less time than waiting for another kernel, and then takes as many rows below as it has threads. Other teams still
/// read the diagonal block in the panel, so its factor is written to `diagonal`. Rows of L above row `turned_end` are
/// also written to `turned`, conjugated and transposed: the right factor of the next product.
template <Scalar T> struct DeviceCholeskyLeaf {
  static constexpr int most = static_cast<int>(device_leaf_width<T>);
  static constexpr int threads = 128;
  static constexpr int groups = threads / most;  // Threads of a row of the diagonal block, which take
  static constexpr int each = most / groups;     // columns g, g + groups, ... of it.
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Fast = typename ExecutionSpace::scratch_memory_space;
  // The columns of the block's factor, and the roots on its diagonal.
  using Shared = Kokkos::View<T[most][most], Kokkos::LayoutRight, Fast, Kokkos::MemoryUnmanaged>;
  using Roots = Kokkos::View<RootDivisor<T>*, Fast, Kokkos::MemoryUnmanaged>;

  Elements<T> P;
  Index first;
  Index rows;
  int width;
  Index* info;
  Elements<T> diagonal;  // Its first row is the block's first row; its columns are those of the panel.
  Elements<T> turned;
  Index turned_end;

  // A thread's part of the diagonal block: elements of its row, and the diagonal elements of its columns, which it
  // updates by itself, so that one barrier per column is enough. Finished columns leave at the front.
  struct Part {
    T a[each];
    T pivots[each];
  };
  // Compute column j, by the threads whose first column it is.
  KOKKOS_INLINE_FUNCTION void find_column(const Team& team, const Shared& factor, const Roots& roots, const Part& part,
                                          int i, int j) const {
    const Real<T> pivot = real_of<Real<T>>(part.pivots[0]);
    const Real<T> root = Kokkos::sqrt(pivot);
    // One quotient in every thread: two branches of a warp would run one after the other.
    const T quotient = divided(i == j ? T(1) : part.a[0], root);
    factor(j, i) = i == j ? T(root) : quotient;
    if (i == j) {
      roots(j) = {root, real_of<Real<T>>(quotient)};
      if (team.league_rank() == 0 && !(pivot > 0) && *info == 0) *info = first + j + 1;
    }
  }
  // Subtract column j from the columns behind it; a thread has columns `begin`, begin + groups, ...
  KOKKOS_INLINE_FUNCTION void subtract_from_block(const Shared& factor, Part& part, int i, int j, int begin) const {
    const T mine = i > j && i < width ? factor(j, i) : T(0);
    HEDDLE_UNROLL
    for (int m = 0; m < each; ++m) {
      const int c = begin + groups * m;
      if (c > j && c < width) {
        const T other = -conjugate(factor(j, c));
        if (i >= c) part.a[m] = multiply_add(mine, other, part.a[m]);
        part.pivots[m] = multiply_add(factor(j, c), other, part.pivots[m]);
      }
    }
  }
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
    for (int begin = 0; begin < width; begin += groups) {
      for (int j = begin; j < begin + groups && j < width; ++j) {
        if (g == j - begin && i >= j && i < width) find_column(team, factor, roots, part, i, j);
        team.team_barrier();
        subtract_from_block(factor, part, i, j, begin + g);
      }
      HEDDLE_UNROLL
      for (int m = 0; m + 1 < each; ++m) {
        part.a[m] = part.a[m + 1];
        part.pivots[m] = part.pivots[m + 1];
      }
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

/// Factors columns [begin, end) of a panel; the diagonal block goes to columns [begin, end) of `diagonal`, and rows
/// [end, turned_end) of L, conjugated and transposed, to `turned`. Ordered on `space`, does not block.
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
