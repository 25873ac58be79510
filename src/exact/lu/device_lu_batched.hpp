// LU factorizations of many small matrices on a GPU, a team for each; larger ones find their pivots the same way.
#pragma once

#include "exact/lu/host_lu.hpp"
#include "exact/products/device.hpp"

namespace heddle::exact::impl {

/// A candidate for a pivot, by pivot_rank().
struct Pivot {
  std::uint64_t rank;
  Index row;
  /// Returns true if `other` is larger, or equal and in an earlier row.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool gives_way_to(const Pivot& other) const {
    return other.rank > rank || (other.rank == rank && other.row < row);
  }
};
struct LargestPivot {
  using reducer = LargestPivot;
  using value_type = Pivot;
  using result_view_type = Kokkos::View<Pivot, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  Pivot* result;
  KOKKOS_INLINE_FUNCTION void join(Pivot& to, const Pivot& from) const {
    if (to.gives_way_to(from)) {
      to = from;
    }
  }
  KOKKOS_INLINE_FUNCTION void init(Pivot& value) const { value = {0, Index{1} << 62}; }
  KOKKOS_INLINE_FUNCTION Pivot& reference() const { return *result; }
  [[nodiscard]] result_view_type view() const { return result_view_type(result); }
};

/// Matrices of one shape, any strides, with the sums of their elements: the operands of the factorization's kernels.
template <Scalar T> struct DeviceLu {
  T* data;
  Index m;
  Index n;
  Index row_stride;
  Index column_stride;
  Index batch_stride;
  InnerSum<T>* sums;  ///< m x n, column-major, for each matrix.
  Index* pivots;      ///< min(m, n) for each matrix, then its info.

  KOKKOS_INLINE_FUNCTION T& at(Index b, Index i, Index j) const {
    return data[b * batch_stride + i * row_stride + j * column_stride];
  }
  KOKKOS_INLINE_FUNCTION InnerSum<T>& sum(Index b, Index i, Index j) const { return sums[(b * n + j) * m + i]; }
  KOKKOS_INLINE_FUNCTION Index steps() const { return m < n ? m : n; }
  KOKKOS_INLINE_FUNCTION Index& pivot(Index b, Index j) const { return pivots[b * (steps() + 1) + j]; }

  KOKKOS_INLINE_FUNCTION void begin(Index b, Index i, Index j) const {
    sum(b, i, j) = InnerSum<T>();
    sum(b, i, j).add(at(b, i, j));
  }
  KOKKOS_INLINE_FUNCTION T finished(Index b, Index i, Index j, Index known) const {
    T value;
    if (!sum(b, i, j).rounds_to(known, value)) {
      ExactSum<T> exact;
      exact.add(at(b, i, j));
      for (Index k = 0; k < known; ++k) {
        exact.add_product(at(b, i, k), -at(b, k, j));
      }
      value = exact.value();
    }
    return value;
  }
  /// Finishes rows [j, m) of column j and finds their pivot.
  KOKKOS_INLINE_FUNCTION void choose(const DeviceTeam& team, Index b, Index j) const {
    Pivot best;
    const LargestPivot reducer{&best};
    reducer.init(best);
    for (Index i = j + team.team_rank(); i < m; i += team.team_size()) {
      const T value = finished(b, i, j, j);
      at(b, i, j) = value;
      reducer.join(best, {pivot_rank(value), i});
    }
    team.team_reduce(reducer);
    if (team.team_rank() == 0) {
      pivot(b, j) = best.row;
      Index& info = pivot(b, steps());
      if (best.rank == pivot_rank_of_zero && info == 0) {
        info = j + 1;
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void swap(Index b, Index j, Index column) const {
    const Index other = pivot(b, j);
    if (other != j) {
      const T value = at(b, j, column);
      at(b, j, column) = at(b, other, column);
      at(b, other, column) = value;
      if (column > j) {
        const InnerSum<T> held = sum(b, j, column);
        sum(b, j, column) = sum(b, other, column);
        sum(b, other, column) = held;
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void divide(Index b, Index i, Index j) const {
    if (at(b, j, j) != T(0)) {
      at(b, i, j) = quotient(at(b, i, j), at(b, j, j));
    }
  }
};

template <Scalar T> struct FactorByTeam {
  DeviceLu<T> lu;

  KOKKOS_INLINE_FUNCTION void operator()(const DeviceTeam& team) const {
    const Index b = team.league_rank();
    const Index threads = team.team_size();
    const Index rank = team.team_rank();
    for (Index at = rank; at < lu.m * lu.n; at += threads) {
      lu.begin(b, at % lu.m, at / lu.m);
    }
    team.team_barrier();
    for (Index j = 0; j < lu.steps(); ++j) {
      lu.choose(team, b, j);
      team.team_barrier();
      for (Index c = rank; c < lu.n; c += threads) {
        lu.swap(b, j, c);
      }
      team.team_barrier();
      for (Index i = j + 1 + rank; i < lu.m; i += threads) {
        lu.divide(b, i, j);
      }
      for (Index c = j + 1 + rank; c < lu.n; c += threads) {
        lu.at(b, j, c) = lu.finished(b, j, c, j);
      }
      team.team_barrier();
      const Index height = lu.m - j - 1;
      for (Index at = rank; at < height * (lu.n - j - 1); at += threads) {
        const Index i = j + 1 + at % height;
        const Index c = j + 1 + at / height;
        lu.sum(b, i, c).add_product(lu.at(b, i, j), -lu.at(b, j, c));
      }
      team.team_barrier();
    }
  }
};
/// Whole factorizations, each by one team.
template <Scalar T> void device_factor_each(const ExecutionSpace& space, const DeviceLu<T>& lu, Index count) {
  Kokkos::parallel_for("heddle::exact::lu", DeviceTeams(space, static_cast<int>(count), threads_of_device_team),
                       FactorByTeam<T>{lu});
}

template <Scalar T> std::vector<LuResult> device_lu_batched(const ExecutionSpace& space, const StridedBatch<T>& A) {
  const auto count = static_cast<Index>(A.extent(0));
  const auto m = static_cast<Index>(A.extent(1));
  const auto n = static_cast<Index>(A.extent(2));
  const Index steps = std::min(m, n);
  const Kokkos::View<InnerSum<T>*, MemorySpace> sums(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::sums"),
      static_cast<std::size_t>(count * m * n));
  const Kokkos::View<Index*, MemorySpace> pivots(Kokkos::view_alloc(space, "heddle::exact::pivots"),
                                                 static_cast<std::size_t>(count * (steps + 1)));
  const DeviceLu<T> lu{A.data(),
                       m,
                       n,
                       static_cast<Index>(A.stride(1)),
                       static_cast<Index>(A.stride(2)),
                       static_cast<Index>(A.stride(0)),
                       sums.data(),
                       pivots.data()};
  device_factor_each(space, lu, count);
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace{}, pivots);
  Kokkos::deep_copy(space, host, pivots);
  space.fence("heddle::exact::lu");
  std::vector<LuResult> results(static_cast<std::size_t>(count));
  for (std::size_t b = 0; b < results.size(); ++b) {
    const Index* const from = host.data() + static_cast<Index>(b) * (steps + 1);
    results[b].pivots.assign(from, from + steps);
    results[b].info = from[steps];
  }
  return results;
}

}  // namespace heddle::exact::impl
