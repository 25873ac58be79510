// Destination of the elements of an emulated product, and the work left on each.
#pragma once

#include "core/elementwise.hpp"
#include "emulation/quantised.hpp"

#include <algorithm>

namespace heddle::impl {

/// op(X) element by element.
template <Scalar T> struct Operand {
  const T* data;
  Index row_stride;
  Index column_stride;
  bool conjugated;
  Operand(const MatrixView<const T>& X, Operation op)
      : data(X.data()),
        row_stride(op == Operation::none ? 1 : static_cast<Index>(X.stride(1))),
        column_stride(op == Operation::none ? static_cast<Index>(X.stride(1)) : 1),
        conjugated(op == Operation::conjugate_transpose) {}
  [[nodiscard]] Operand from(Index i, Index j) const {
    Operand moved = *this;
    moved.data += i * row_stride + j * column_stride;
    return moved;
  }
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    const T& x = data[i * row_stride + j * column_stride];
    return conjugated ? conjugate(x) : x;
  }
};

/// Longest sum of products of residues or slices, up to 2^14 each, and a residue, that stays within 32 bits.
inline constexpr Index longest_sum = (Index{1} << 17) - 64;

/// Bytes of sums held at once: `workspace_bytes`, or if that is 0, 16 MiB on CPUs and 4 GiB on GPUs.
[[nodiscard]] inline std::size_t bytes_for_sums(std::size_t workspace_bytes) {
  constexpr std::size_t usual = on_host ? std::size_t{16} << 20 : std::size_t{4} << 30;
  return workspace_bytes == 0 ? usual : workspace_bytes;
}

/// Factors of a product: rows of op(A) from `row` on, and columns of op(B) from `column` on, both multiples of
/// QuantisedVectors<T>::vector_padding.
template <Scalar T> struct QuantisedOperands {
  Operation op_a;
  Operation op_b;
  MatrixView<const T> A;
  MatrixView<const T> B;
  const QuantisedVectors<T>* left;
  const QuantisedVectors<T>* right;
  Index row = 0;
  Index column = 0;
};

/// Columns of C that are computed at once, padded as integer units want them.
struct ProductPiece {
  Index first;
  Index width;
  Index padded_rows;
  Index padded_width;
  [[nodiscard]] Index stride() const { return padded_rows * padded_width; }
};

/// body(ProductPiece) for all columns at once, or in pieces of equal width, of as many columns as integer units take
/// together; `fits`: padded columns there is room for, `vector_padding` at least.
template <class Body> void for_each_product_piece(Index rows, Index columns, Index fits, const Body& body) {
  constexpr Index padding = QuantisedVectors<double>::vector_padding;
  const Index all = padded(columns, padding);
  const Index pieces = (all + fits - 1) / fits;
  const Index unit = fits >= 256 ? 256 : padding;
  const Index step = pieces == 1 ? all : std::min(padded((all + pieces - 1) / pieces, unit), fits / unit * unit);
  for (Index first = 0; first < columns; first += step) {
    const Index width = std::min(step, columns - first);
    body(ProductPiece{first, width, padded(rows, padding), padded(width, padding)});
  }
}

/// C = alpha product + beta C for a piece of C, element by element.
template <Scalar T> struct Target {
  const int* row_exponents;
  const int* column_exponents;
  T alpha;
  T beta;
  Elements<T> C;
  Operand<T> A;
  Operand<T> B;
  Index inner;

  Target(const QuantisedOperands<T>& operands, const ProductPiece& piece, T factor, T of_C, const MatrixView<T>& all)
      : row_exponents(operands.left->exponents().data() + operands.row),
        column_exponents(operands.right->exponents().data() + operands.column + piece.first),
        alpha(factor),
        beta(of_C),
        C(all),
        A(Operand<T>(operands.A, operands.op_a).from(operands.row, 0)),
        B(Operand<T>(operands.B, operands.op_b).from(0, operands.column + piece.first)),
        inner(operands.left->inner()) {
    C.data += piece.first * C.leading;
  }

  /// Whether the element's row or column holds NaN or infinity.
  KOKKOS_INLINE_FUNCTION bool special(Index i, Index j) const {
    return row_exponents[i] == QuantisedVectors<T>::special || column_exponents[j] == QuantisedVectors<T>::special;
  }
  /// The power of two that an integer of the product counts for.
  KOKKOS_INLINE_FUNCTION int exponent(Index i, Index j) const { return -(row_exponents[i] + column_exponents[j]); }

  KOKKOS_INLINE_FUNCTION void sum_plainly(Index i, Index j) const {
    T sum{0};
    for (Index k = 0; k < inner; ++k) sum = multiply_add(A(i, k), B(k, j), sum);
    finish(sum, i, j);
  }

  KOKKOS_INLINE_FUNCTION void finish(const T& product, Index i, Index j) const {
    T& c = C(i, j);
    const T scaled = alpha == T{1} ? product : multiply_add(alpha, product, T{0});
    c = beta == T{0} ? scaled : multiply_add(beta, c, scaled);
  }
};

}  // namespace heddle::impl
