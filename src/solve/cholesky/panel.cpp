// Recursive Cholesky factorization of one rank's panel.
#include "solve/cholesky/panel.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "solve/cholesky/device_leaf.hpp"
#include "solve/grid/rank_grid.hpp"
#include "solve/grid/row_chunks.hpp"
#include "solve/lu/schedule.hpp"
#include <heddle/transpose/transpose.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::impl {
namespace {

// Divide and update rows [begin, end) of columns [first, last), whose pivots are on the diagonal above.
template <Scalar T> void solve_rows(const Elements<T>& P, Index first, Index last, Index begin, Index end) {
  for (Index j = first; j < last; ++j) {
    const Real<T> root = real_of<Real<T>>(P(j, j));
    T* const l = &P(0, j);
    HEDDLE_SIMD
    for (Index i = begin; i < end; ++i) l[i] = divided(l[i], root);
    for (Index c = j + 1; c < last; ++c) {
      const T minus = -conjugate(P(c, j));
      T* const x = &P(0, c);
      HEDDLE_SIMD
      for (Index i = begin; i < end; ++i) x[i] = multiply_add(l[i], minus, x[i]);
    }
  }
}

// Copy the diagonal blocks of columns [begin, end) into the panel.
template <Scalar T>
void place_diagonals(const ExecutionSpace& space, const MatrixView<T>& diagonals, Index begin, Index end,
                     const MatrixView<T>& panel) {
  const Elements<T> from(diagonals);
  const Elements<T> to(panel);
  for_each_element(
      space, "heddle::solve::place_diagonals", leaf_width<T>, end - begin, KOKKOS_LAMBDA(Index i, Index c) {
        const Index row = begin + c / leaf_width<T> * leaf_width<T> + i;
        if (row >= begin + c && row < end) to(row, begin + c) = from(i, begin + c);
      });
}

}  // namespace

template <Scalar T>
CholeskyPanel<T>::CholeskyPanel(const ExecutionSpace& space, Index width)
    : turned_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::turned"),
              static_cast<std::size_t>(width > leaf_width<T> ? width * width : 0)),
      diagonals_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::diagonals"),
                 static_cast<std::size_t>(on_host ? 0 : leaf_width<T> * width)) {}

template <Scalar T>
void CholeskyPanel<T>::operator()(Subtraction<T>& subtract, const MatrixView<T>& P,
                                  const Kokkos::View<Index*, MemorySpace>& info) {
  panel_ = P;
  info_ = info;
  Kokkos::deep_copy(subtract.space(), info, Index{0});
  factor(subtract, 0, static_cast<Index>(P.extent(1)));
  panel_ = {};
  info_ = {};
}

template <Scalar T> void CholeskyPanel<T>::factor(Subtraction<T>& subtract, Index begin, Index end) {
  const auto rows = static_cast<Index>(panel_.extent(0));
  constexpr Index least = on_host ? leaf_width<T> : device_run_width;
  if (end - begin <= least) {
    if constexpr (on_host) {
      factor_leaf_on_host(subtract.space(), begin, end);
    } else {
      factor_leaves_on_device(subtract.space(), begin, end);
    }
    return;
  }
  const Index half = begin + half_in_blocks(end - begin, least);
  factor(subtract, begin, half);
  const MatrixView<T> upper = matrix_view(turned_.data(), half - begin, end - half, half - begin);
  transpose(subtract.space(), T(1), block_of(panel_, half, end, begin, half), Operation::conjugate_transpose, upper);
  subtract(block_of<const T>(panel_, half, rows, begin, half), upper, block_of(panel_, half, rows, half, end));
  factor(subtract, half, end);
}

// Factor one leaf after the other, each of which is applied to the columns behind it at once.
template <Scalar T>
void CholeskyPanel<T>::factor_leaves_on_device(const ExecutionSpace& space, Index begin, Index end) {
  if constexpr (!on_host) {
    const auto rows = static_cast<Index>(panel_.extent(0));
    const MatrixView<T> diagonals =
        matrix_view(diagonals_.data(), leaf_width<T>, static_cast<Index>(panel_.extent(1)), leaf_width<T>);
    for (Index first = begin; first < end; first += leaf_width<T>) {
      const Index next = std::min(end, first + leaf_width<T>);
      const MatrixView<T> upper = matrix_view(turned_.data(), next - first, end - next, next - first);
      device_cholesky_leaf<T>(space, panel_, first, next, info_, diagonals, upper, end);
      chain_subtract<T>(space, block_of<const T>(panel_, next, rows, first, next), upper,
                        block_of(panel_, next, rows, next, end));
    }
    place_diagonals<T>(space, diagonals, begin, end, panel_);
  }
}

template <Scalar T> void CholeskyPanel<T>::factor_leaf_on_host(const ExecutionSpace& space, Index begin, Index end) {
  const Elements<T> P(panel_);
  const auto rows = static_cast<Index>(panel_.extent(0));
  for (Index j = begin; j < end; ++j) {
    const Real<T> pivot = real_of<Real<T>>(P(j, j));
    if (!(pivot > 0) && info_(0) == 0) info_(0) = j + 1;
    const Real<T> root = std::sqrt(pivot);
    P(j, j) = T(root);
    for (Index i = j + 1; i < end; ++i) P(i, j) = divided(P(i, j), root);
    for (Index c = j + 1; c < end; ++c) {
      const T minus = -conjugate(P(c, j));
      for (Index i = c; i < end; ++i) P(i, c) = multiply_add(P(i, j), minus, P(i, c));
    }
  }
  for_row_chunks(space, "heddle::solve::cholesky_rows", end, rows, end - begin,
                 [=](Index first, Index last) { solve_rows<T>(P, begin, end, first, last); });
}

template <Scalar T> double CholeskyPanel<T>::bytes(Index width) {
  const double turned = width > leaf_width<T> ? size_of_matrix(width, width) : 0.0;
  return sizeof(T) * (turned + (on_host ? 0.0 : size_of_matrix(leaf_width<T>, width)));
}

#define HEDDLE_INSTANTIATE(T) template class CholeskyPanel<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
