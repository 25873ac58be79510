// Recursive Householder QR of one rank's panel, and its block reflector.
#include "solve/qr/panel.hpp"

#include "core/instantiate.hpp"
#include "solve/grid/rank_grid.hpp"
#include "solve/lu/schedule.hpp"

#include <algorithm>
#include <string>

namespace heddle::impl {
namespace {

// Smallest number of rows or columns of V^H C for which a BLAS call costs less than sums in RowSums' order.
constexpr Index least_native_sums = 32;

template <Scalar T> void qr_clear(const ExecutionSpace& space, const MatrixView<T>& M) {
  const Elements<T> m(M);
  for_each_element(
      space, "heddle::solve::qr_clear", static_cast<Index>(M.extent(0)), static_cast<Index>(M.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { m(i, j) = T(0); });
}

// Extract V of columns from `first` on of a factored panel P.
template <Scalar T>
void take_vectors(const ExecutionSpace& space, const MatrixView<const T>& P, Index first, const MatrixView<T>& V) {
  const Elements<const T> p(P);
  const Elements<T> v(V);
  for_each_element(
      space, "heddle::solve::qr_vectors", static_cast<Index>(V.extent(0)), static_cast<Index>(V.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) {
        const Index diagonal = first + j;
        v(i, j) = i > diagonal ? p(i, j) : i == diagonal ? T(1) : T(0);
      });
}

// Compute L below its diagonal from G = -V^H V, one thread per column: l_ik is conj(tau_i) times the chain of g_ip l_pk
// for p = k to i - 1.
template <Scalar T>
void leaf_triangle(const ExecutionSpace& space, const MatrixView<const T>& G, const MatrixView<T>& L) {
  const Elements<const T> g(G);
  const Elements<T> l(L);
  const auto width = static_cast<Index>(L.extent(0));
  Kokkos::parallel_for(
      "heddle::solve::qr_triangle", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, width),
      KOKKOS_LAMBDA(Index k) {
        for (Index i = k + 1; i < width; ++i) {
          T sum(0);
          for (Index p = k; p < i; ++p) sum = multiply_add(g(i, p), l(p, k), sum);
          l(i, k) = multiply_add(l(i, i), sum, T(0));
        }
      });
}

}  // namespace

template <Scalar T>
QrPanel<T>::QrPanel(const ExecutionSpace& space, Arithmetic arithmetic, Index rows, Index width)
    : context_(space),
      arithmetic_(arithmetic),
      leaf_(space, rows),
      sums_(space, rows, std::max(qr_leaf_width * qr_leaf_width, width * width / 4)) {
  const auto memory = [&](const std::string& label) {
    return Kokkos::View<T*, MemorySpace>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
        static_cast<std::size_t>(std::max(qr_leaf_width * qr_leaf_width, width * width / 4)));
  };
  inner_ = memory("heddle::solve::qr_inner");
  product_ = memory("heddle::solve::qr_product");
}

template <Scalar T> MatrixView<T> QrPanel<T>::columns_of_v(Index begin, Index end) const {
  return block_of(reflector_.V, 0, static_cast<Index>(reflector_.V.extent(0)), begin, end);
}
template <Scalar T>
MatrixView<T> QrPanel<T>::block_of_l(Index row, Index row_end, Index column, Index column_end) const {
  return block_of(reflector_.L, row, row_end, column, column_end);
}

template <Scalar T>
void QrPanel<T>::minus_inner(const ExecutionSpace& space, const MatrixView<const T>& X, const MatrixView<const T>& Y,
                             Index begin, const MatrixView<T>& S) {
  const bool is_small = std::min(S.extent(0), S.extent(1)) < static_cast<std::size_t>(least_native_sums);
  if (arithmetic_ == Arithmetic::emulated || is_small) {
    sums_(space, X, Y, begin, S);
    return;
  }
  const auto below = [&](const MatrixView<const T>& M) {
    return block_of(M, begin, static_cast<Index>(M.extent(0)), 0, static_cast<Index>(M.extent(1)));
  };
  blas::gemm<T>(context_, Operation::conjugate_transpose, Operation::none, T(-1), below(X), below(Y), T(0), S);
}

template <Scalar T>
void QrPanel<T>::factor(Subtraction<T>& subtract, const MatrixView<T>& P, const BlockReflector<T>& reflector) {
  panel_ = P;
  source_ = P;
  reflector_ = reflector;
  qr_clear<T>(subtract.space(), reflector.L);
  factor(subtract, 0, static_cast<Index>(P.extent(1)));
  panel_ = {};
  source_ = {};
  reflector_ = {};
}

template <Scalar T>
void QrPanel<T>::gather(Subtraction<T>& subtract, const MatrixView<const T>& P,
                        const Kokkos::View<const T*, MemorySpace>& tau, const BlockReflector<T>& reflector) {
  source_ = P;
  reflector_ = reflector;
  const ExecutionSpace& space = subtract.space();
  qr_clear<T>(space, reflector.L);
  const Elements<T> l(reflector.L);
  Kokkos::parallel_for(
      "heddle::solve::qr_tau", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, P.extent(1)),
      KOKKOS_LAMBDA(Index k) { l(k, k) = conjugate(tau(k)); });
  gather(subtract, 0, static_cast<Index>(P.extent(1)));
  source_ = {};
  reflector_ = {};
}

template <Scalar T> void QrPanel<T>::factor(Subtraction<T>& subtract, Index begin, Index end) {
  const auto rows = static_cast<Index>(panel_.extent(0));
  const ExecutionSpace& space = subtract.space();
  if (end - begin <= qr_leaf_width) {
    leaf_.factor(space, panel_, begin, end, reflector_.L);
    finish_leaf(space, begin, end);
    return;
  }
  const Index half = begin + half_in_blocks(end - begin, qr_leaf_width);
  factor(subtract, begin, half);
  const MatrixView<T> inner = matrix_view(inner_.data(), half - begin, end - half, half - begin);
  const MatrixView<T> product = matrix_view(product_.data(), half - begin, end - half, half - begin);
  minus_inner(space, columns_of_v(begin, half), block_of(panel_, 0, rows, half, end), begin, inner);
  qr_clear<T>(space, product);
  subtract(block_of_l(begin, half, begin, half), inner, product);
  subtract(block_of(reflector_.V, begin, rows, begin, half), product, block_of(panel_, begin, rows, half, end));
  factor(subtract, half, end);
  join(subtract, begin, half, end);
}

template <Scalar T> void QrPanel<T>::gather(Subtraction<T>& subtract, Index begin, Index end) {
  if (end - begin <= qr_leaf_width) {
    finish_leaf(subtract.space(), begin, end);
    return;
  }
  const Index half = begin + half_in_blocks(end - begin, qr_leaf_width);
  gather(subtract, begin, half);
  gather(subtract, half, end);
  join(subtract, begin, half, end);
}

template <Scalar T> void QrPanel<T>::finish_leaf(const ExecutionSpace& space, Index begin, Index end) {
  const auto rows = static_cast<Index>(source_.extent(0));
  const MatrixView<T> v = columns_of_v(begin, end);
  take_vectors<T>(space, block_of(source_, 0, rows, begin, end), begin, v);
  const Index width = end - begin;
  const MatrixView<T> inner = matrix_view(inner_.data(), width, width, width);
  minus_inner(space, v, v, begin, inner);
  leaf_triangle<T>(space, inner, block_of_l(begin, end, begin, end));
}

template <Scalar T> void QrPanel<T>::join(Subtraction<T>& subtract, Index begin, Index half, Index end) {
  const ExecutionSpace& space = subtract.space();
  const MatrixView<T> inner = matrix_view(inner_.data(), end - half, half - begin, end - half);
  const MatrixView<T> product = matrix_view(product_.data(), end - half, half - begin, end - half);
  minus_inner(space, columns_of_v(half, end), columns_of_v(begin, half), half, inner);
  qr_clear<T>(space, product);
  subtract(inner, block_of_l(begin, half, begin, half), product);
  subtract(block_of_l(half, end, half, end), product, block_of_l(half, end, begin, half));
}

template <Scalar T> double QrPanel<T>::bytes(Index rows, Index width) {
  // Sums over runs of rows, and their operands.
  const Index within = std::max(qr_leaf_width * qr_leaf_width, width * width / 4);
  return sizeof(T) * (size_of_matrix(runs_of(0, rows), within + qr_leaf_width) + 2.0 * static_cast<double>(within));
}

#define HEDDLE_INSTANTIATE(T) template class QrPanel<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
