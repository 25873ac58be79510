// Products of integers cut into slices of 8 bits, the reference for products by residues.
#include "emulation/slices.hpp"

#include "core/instantiate.hpp"
#include "emulation/assemble.hpp"
#include "emulation/integer.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace heddle::impl {
namespace {

// Number of 32-bit digits that hold a sum of products of the longest slices, and its sign.
constexpr int sum_digits = (2 * most_slices + 6) / 4;

// sum_k 256^k at[k stride] 2^exponent, rounded once.
template <RealScalar T>
KOKKOS_INLINE_FUNCTION T value_of(const std::int64_t* at, Index stride, int count, int exponent) {
  std::int64_t digit[sum_digits] = {};
  for (int k = 0; k < count; ++k) {
    const std::int64_t sum = at[k * stride];
    const std::int64_t unit = std::int64_t{1} << (k % 4 * 8);
    digit[k / 4] += static_cast<std::int64_t>(static_cast<std::uint32_t>(sum)) * unit;
    digit[k / 4 + 1] += (sum >> 32) * unit;
  }
  std::uint32_t magnitude[sum_digits][1];
  const auto carry = [&] {
    std::int64_t carried = 0;
    for (int k = 0; k < sum_digits; ++k) {
      carried += digit[k];
      magnitude[k][0] = static_cast<std::uint32_t>(carried);
      carried >>= 32;
    }
    return carried < 0;
  };
  const bool negative = carry();
  if (negative) {
    for (std::int64_t& one : digit) one = -one;
    carry();
  }
  T result[1];
  nearest(magnitude, {negative ? 1U : 0U}, {exponent}, result);
  return result[0];
}

// Input of the kernel that puts C together from sums of slices.
template <Scalar T> struct SliceAssembly {
  const std::int64_t* sums;
  Index leading;
  Index stride;
  int count;
  Target<T> target;

  KOKKOS_INLINE_FUNCTION void put(Index i, Index j) const {
    if (target.special(i, j)) {
      target.sum_plainly(i, j);
      return;
    }
    const int exponent = target.exponent(i, j);
    const std::int64_t* const at = sums + i + j * leading;
    if constexpr (is_complex<T>) {
      target.finish(T(value_of<Real<T>>(at, stride, count, exponent),
                      value_of<Real<T>>(at + count * stride, stride, count, exponent)),
                    i, j);
    } else {
      target.finish(value_of<T>(at, stride, count, exponent), i, j);
    }
  }
};

// sums[l stride + e] += sign products[l stride + e].
void accumulate(const ExecutionSpace& space, Index elements, int count, int sign, const std::int32_t* products,
                std::int64_t* sums, Index stride) {
  for_each_element(
      space, "heddle::gemm::add_slices", elements, count, KOKKOS_LAMBDA(Index e, Index l) {
        sums[e + l * stride] += sign * static_cast<std::int64_t>(products[e + l * stride]);
      });
}

template <Scalar T>
void assemble(const ExecutionSpace& space, const SliceAssembly<T>& assembly, Index rows, Index columns) {
  for_each_element(
      space, "heddle::gemm::assemble_slices", rows, columns, KOKKOS_LAMBDA(Index i, Index j) { assembly.put(i, j); });
}

}  // namespace

template <Scalar T>
void SlicedProduct<T>::add(const blas::Context& context, int slices, const QuantisedOperands<T>& operands,
                           const ProductPiece& piece, const Pair& pair) {
  const QuantisedVectors<T>& left = *operands.left;
  const QuantisedVectors<T>& right = *operands.right;
  for (Index begin = 0; begin < left.leading(); begin += longest_sum) {
    for (int i = 0; i < slices; ++i) {
      integer_gemm(context,
                   {.m = piece.padded_rows,
                    .n = piece.padded_width,
                    .k = std::min(longest_sum, left.leading() - begin),
                    .count = slices,
                    .A = left.plane(pair.left * slices + i) + operands.row * left.leading() + begin,
                    .leading_a = left.leading(),
                    .stride_a = 0,
                    .B = right.plane(pair.right * slices) + (operands.column + piece.first) * right.leading() + begin,
                    .leading_b = right.leading(),
                    .stride_b = right.stride(),
                    .C = products_.data(),
                    .leading_c = piece.padded_rows,
                    .stride_c = piece.stride(),
                    .add = false});
      accumulate(context.space(), piece.stride(), slices, pair.sign, products_.data(),
                 sums_.data() + (pair.to * (2 * slices - 1) + i) * piece.stride(), piece.stride());
    }
  }
}

template <Scalar T>
void SlicedProduct<T>::operator()(const blas::Context& context, int slices, T alpha,
                                  const QuantisedOperands<T>& operands, T beta, const MatrixView<T>& C) {
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm::sliced");
  constexpr Index padding = QuantisedVectors<T>::vector_padding;
  const auto rows = static_cast<Index>(C.extent(0));
  const auto columns = static_cast<Index>(C.extent(1));
  const int powers = 2 * slices - 1;
  const Index column =
      padded(rows, padding) * static_cast<Index>(slices * sizeof(std::int32_t) + powers * parts * sizeof(std::int64_t));
  const Index fits = std::min(padded(columns, padding),
                              std::max(padding, static_cast<Index>(bytes_for_sums(workspace_bytes_)) / column));
  const Index elements = padded(rows, padding) * fits;
  grow(context.space(), "heddle::gemm::slice_products", elements * slices, products_);
  grow(context.space(), "heddle::gemm::slice_sums", elements * powers * parts, sums_);
  const std::vector<Pair> pairs = is_complex<T>
                                      ? std::vector<Pair>{{0, 0, 0, 1}, {1, 1, 0, -1}, {0, 1, 1, 1}, {1, 0, 1, 1}}
                                      : std::vector<Pair>{{0, 0, 0, 1}};
  for_each_product_piece(rows, columns, fits, [&](const ProductPiece& piece) {
    Kokkos::deep_copy(context.space(), sums_, std::int64_t{0});
    for (const Pair& pair : pairs) add(context, slices, operands, piece, pair);
    assemble(context.space(),
             SliceAssembly<T>{sums_.data(), piece.padded_rows, piece.stride(), powers,
                              Target<T>(operands, piece, alpha, beta, C)},
             rows, piece.width);
  });
}

#define HEDDLE_INSTANTIATE(T) template class SlicedProduct<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
