#include "solve/cholesky_panel.hpp"

#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "solve/device_cholesky.hpp"
#include "solve/row_chunks.hpp"
#include "solve/schedule.hpp"
#include <heddle/transpose/transpose.hpp>

#include <cmath>

namespace heddle::impl {
namespace {

// Rows [begin, end) of columns [first, last), whose pivots stand on the diagonal above.
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

}  // namespace

template <Scalar T>
CholeskyPanel<T>::CholeskyPanel(const ExecutionSpace& space, Index width)
    : turned_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::turned"),
              static_cast<std::size_t>(width > leaf_width<T> ? width * width : 0)) {}

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
  if (end - begin <= leaf_width<T>) {
    if constexpr (on_host) {
      factor_leaf_on_host(subtract.space(), begin, end);
    } else {
      device_cholesky_leaf<T>(subtract.space(), panel_, begin, end, info_);
    }
    return;
  }
  const Index half = begin + half_in_blocks(end - begin, leaf_width<T>);
  factor(subtract, begin, half);
  const MatrixView<T> upper = matrix_view(turned_.data(), half - begin, end - half, half - begin);
  transpose(subtract.space(), T(1), block_of(panel_, half, end, begin, half), Operation::conjugate_transpose, upper);
  subtract(block_of<const T>(panel_, half, rows, begin, half), upper, block_of(panel_, half, rows, half, end));
  factor(subtract, half, end);
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

#define HEDDLE_INSTANTIATE(T) template class CholeskyPanel<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
