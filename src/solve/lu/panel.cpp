// Recursive LU factorization with partial pivoting of one rank's panel.
#include "solve/lu/panel.hpp"

#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "solve/grid/row_chunks.hpp"
#include "solve/lu/pivot.hpp"
#include "solve/lu/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {
namespace {

// Return the size by which a pivot is chosen if this value decides alone; negative for a NaN.
template <Scalar T> Real<T> simple_size(const T& x) {
  if constexpr (is_complex<T>) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else {
    return std::abs(x);
  }
}

// Return the first of the largest of count > 0 elements.
template <Scalar T> Index first_largest(const T* x, Index count) {
  using R = Real<T>;
  R most = -1;
  HEDDLE_SIMD_MOST
  for (Index i = 0; i < count; ++i) {
    const R size = simple_size(x[i]);
    most = size > most ? size : most;
  }
  // Sums that overflow need an exact comparison.
  if (is_complex<T> && !(most <= std::numeric_limits<R>::max())) {
    return exact::impl::first_of_largest(0, count, [&](Index i) { return x[i]; });
  }
  Index i = 0;
  while (i < count && !(simple_size(x[i]) == most)) ++i;
  return i < count ? i : 0;  // All are NaNs if i == count.
}

// Subtract multiples of row `pivot` from rows [begin, end) of columns (j, last) of a leaf; its column j becomes that of
// L.
template <Scalar T>
void eliminate_rows(const Elements<T>& P, Index pivot, Index j, Index last, Index begin, Index end,
                    const PivotDivisor<T>& divide, bool divides) {
  T* const l = &P(0, j);
  if (divides) {
    HEDDLE_SIMD
    for (Index i = begin; i < end; ++i) l[i] = divide(l[i]);
  }
  for (Index c = j + 1; c < last; ++c) {
    const T minus = -P(pivot, c);
    T* const x = &P(0, c);
    HEDDLE_SIMD
    for (Index i = begin; i < end; ++i) x[i] = multiply_add(l[i], minus, x[i]);
  }
}

}  // namespace

template <Scalar T>
PanelFactor<T>::PanelFactor(const ExecutionSpace& space, Index rows, Index width)
    : leaf_moves_(space, 2 * std::min(leaf_width<T>, width)) {
  if constexpr (on_host) {
    host_order_.resize(static_cast<std::size_t>(rows));
    for (Index r = 0; r < rows; ++r) host_order_[static_cast<std::size_t>(r)] = r;
  } else {
    order_ = Kokkos::View<Index*, MemorySpace>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::order"), static_cast<std::size_t>(rows));
    leaves_ = DeviceLeaves<T>(space, rows);
  }
}

template <Scalar T>
void PanelFactor<T>::operator()(Subtraction<T>& subtract, const MatrixView<T>& P, const PanelResult& result) {
  panel_ = P;
  result_ = result;
  const ExecutionSpace& space = subtract.space();
  const auto rows = static_cast<Index>(P.extent(0));
  const Index steps = std::min(rows, static_cast<Index>(P.extent(1)));
  Kokkos::deep_copy(space, result.info(), Index{0});
  if constexpr (!on_host) {
    const auto order = order_;
    Kokkos::parallel_for(
        "heddle::solve::begin_order", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows),
        KOKKOS_LAMBDA(Index r) { order(r) = r; });
  }
  factor(subtract, 0, steps);
  if constexpr (on_host) {
    moves_of_pivots(result.pivots().data(), 0, steps, host_order_, result.moves());
  } else {
    find_moves(space, Kokkos::subview(order_, Kokkos::pair<Index, Index>(0, rows)), 0, result.moves());
  }
  panel_ = {};
  result_ = {};
}

template <Scalar T> void PanelFactor<T>::factor(Subtraction<T>& subtract, Index begin, Index end) {
  const auto rows = static_cast<Index>(panel_.extent(0));
  constexpr Index least = on_host ? leaf_width<T> : device_run_width;
  if (end - begin <= least) {
    if constexpr (on_host) {
      factor_leaf_on_host(subtract.space(), begin, end);
      moves_of_pivots(result_.pivots().data(), begin, end, host_order_, leaf_moves_);
      move_rows<T>(subtract.space(), leaf_moves_, panel_, {begin, end});
    } else {
      factor_leaves_on_device(subtract.space(), begin, end);
    }
    return;
  }
  const Index half = begin + half_in_blocks(end - begin, least);
  factor(subtract, begin, half);
  const MatrixView<T> upper = block_of(panel_, begin, half, half, end);
  subtract.solve(Triangle::lower, Diagonal::unit, block_of<const T>(panel_, begin, half, begin, half), upper);
  subtract(block_of<const T>(panel_, half, rows, begin, half), upper, block_of(panel_, half, rows, half, end));
  factor(subtract, half, end);
}

// Factor one leaf after the other, each of which is applied to the columns behind it at once: three kernels per leaf.
template <Scalar T> void PanelFactor<T>::factor_leaves_on_device(const ExecutionSpace& space, Index begin, Index end) {
  if constexpr (!on_host) {
    const auto rows = static_cast<Index>(panel_.extent(0));
    while (begin < end) {
      const Index next = std::min(end, begin + leaves_.width(rows - begin));
      leaves_.factor(space, panel_, begin, next, result_.pivots(), result_.info(), leaf_moves_);
      move_rows<T>(space, leaf_moves_, panel_, {begin, next}, order_, {next, end});
      chain_subtract<T>(space, block_of<const T>(panel_, next, rows, begin, next),
                        block_of<const T>(panel_, begin, next, next, end), block_of(panel_, next, rows, next, end));
      begin = next;
    }
  }
}

template <Scalar T> void PanelFactor<T>::factor_leaf_on_host(const ExecutionSpace& space, Index begin, Index end) {
  const Elements<T> P(panel_);
  const auto rows = static_cast<Index>(panel_.extent(0));
  for (Index j = begin; j < end; ++j) {
    const Index pivot = j + first_largest<T>(&P(j, j), rows - j);
    result_.pivots()(j) = pivot;
    for (Index c = begin; c < end && pivot != j; ++c) std::swap(P(j, c), P(pivot, c));
    const bool divides = P(j, j) != T(0);
    if (exact::impl::pivot_rank(P(j, j)) == exact::impl::pivot_rank_of_zero && result_.info()(0) == 0) {
      result_.info()(0) = j + 1;
    }
    const PivotDivisor<T> divide(P(j, j));
    for_row_chunks(space, "heddle::solve::eliminate", j + 1, rows, end - j,
                   [=](Index first, Index last) { eliminate_rows<T>(P, j, j, end, first, last, divide, divides); });
  }
}

#define HEDDLE_INSTANTIATE(T) template class PanelFactor<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
