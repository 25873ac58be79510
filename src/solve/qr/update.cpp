// Application of block reflections to trailing columns, natively or by emulated products.
#include "core/instantiate.hpp"
#include "solve/qr/panel.hpp"
#include <heddle/transpose/transpose.hpp>

#include <algorithm>
#include <string>

namespace heddle::impl {

template <Scalar T>
QrUpdate<T>::QrUpdate(const ExecutionSpace& space, Arithmetic arithmetic, Index width, Index piece, Index rows,
                      Index columns)
    : context_(space),
      arithmetic_(arithmetic),
      width_(width),
      piece_(piece),
      columns_(columns),
      subtract_(space, arithmetic, width, piece, rows, columns, width) {
  // More moduli than one product's round-off needs, as in Subtraction, because the errors of all panels add up.
  if (arithmetic == Arithmetic::emulated) moduli_ = emulation_moduli<T>(std::max<Index>(rows, 1)) + factor_moduli_more;
  const auto memory = [&](const std::string& label, Index count) {
    return Kokkos::View<T*, MemorySpace>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
                                         static_cast<std::size_t>(count));
  };
  inner_ = memory("heddle::solve::qr_inner", width * columns);
  product_ = memory("heddle::solve::qr_product", width * columns);
  turned_ = memory("heddle::solve::qr_turned", width * width);
}

template <Scalar T>
void QrUpdate<T>::operator()(const BlockReflector<T>& reflector, bool adjoint, const MatrixView<T>& C, Index first) {
  const auto columns = static_cast<Index>(C.extent(1));
  const auto width = static_cast<Index>(reflector.V.extent(1));
  if (columns == 0 || width == 0) return;
  const ExecutionSpace& space = context_.space();
  const MatrixView<T> inner = matrix_view(inner_.data(), width, columns, width);
  const MatrixView<T> product = matrix_view(product_.data(), width, columns, width);
  MatrixView<T> factor = reflector.L;
  if (!adjoint) {
    factor = matrix_view(turned_.data(), width, width, width);
    transpose(space, T(1), reflector.L, Operation::conjugate_transpose, factor);
  }
  minus_inner(reflector.V, C, inner, first);
  const Elements<T> zero(product);
  for_each_element(
      space, "heddle::solve::qr_clear", width, columns, KOKKOS_LAMBDA(Index i, Index j) { zero(i, j) = T(0); });
  subtract_(factor, inner, product, first);
  subtract_(reflector.V, product, C, first);
}

template <Scalar T>
void QrUpdate<T>::minus_inner(const MatrixView<const T>& V, const MatrixView<T>& C, const MatrixView<T>& W,
                              Index first) {
  if (arithmetic_ == Arithmetic::emulated) {
    minus_emulated(V, C, W);
    return;
  }
  const auto rows = static_cast<Index>(C.extent(0));
  const auto columns = static_cast<Index>(C.extent(1));
  const auto width = static_cast<Index>(V.extent(1));
  for (Index begin = 0; begin < columns;) {
    const Index end = std::min(columns, (first + begin) / piece_ * piece_ + piece_ - first);
    blas::gemm<T>(context_, Operation::conjugate_transpose, Operation::none, T(-1), V, block_of(C, 0, rows, begin, end),
                  T(0), block_of(W, 0, width, begin, end));
    begin = end;
  }
}

template <Scalar T>
void QrUpdate<T>::minus_emulated(const MatrixView<const T>& V, const MatrixView<T>& C, const MatrixView<T>& W) {
  const ExecutionSpace& space = context_.space();
  const auto rows = static_cast<Index>(V.extent(0));
  if (!emulated_) emulated_ = std::make_unique<EmulatedProduct<T>>(space, width_, columns_, moduli_, 0);
  // Vectors are padded with zeros to their capacity; a much larger capacity would waste work.
  const Index fits = padded(rows, QuantisedVectors<T>::inner_padding);
  if (!left_ || fits > left_->leading() || 4 * fits <= 3 * left_->leading()) {
    left_.reset();
    right_.reset();
    left_ = std::make_unique<QuantisedVectors<T>>(space, Factor::left, width_, rows);
    right_ = std::make_unique<QuantisedVectors<T>>(space, Factor::right, columns_, rows);
    left_->reserve(space, moduli_);
    right_->reserve(space, moduli_);
  }
  const MatrixView<const T> right = C;
  left_->measure(space, Operation::conjugate_transpose, V);
  left_->take(space, emulated_->system(), EmulationScheme::residues, Operation::conjugate_transpose, V);
  right_->measure(space, Operation::none, right);
  right_->take(space, emulated_->system(), EmulationScheme::residues, Operation::none, right);
  (*emulated_)(context_, T(-1), {Operation::conjugate_transpose, Operation::none, V, right, left_.get(), right_.get()},
               T(0), W);
}

template <Scalar T> double QrUpdate<T>::bytes(Arithmetic arithmetic, Index width, Index rows, Index columns) {
  const double bytes =
      sizeof(T) * (2.0 * size_of_matrix(width, columns) + size_of_matrix(width, width) + static_cast<double>(columns));
  // V^H C has the inner dimension of C's rows.
  return columns == 0 ? bytes : bytes + Subtraction<T>::bytes(arithmetic, 0, width, columns, columns, rows, {rows});
}

#define HEDDLE_INSTANTIATE(T) template class QrUpdate<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
