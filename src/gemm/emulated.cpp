#include "gemm/emulated.hpp"

#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "dist/elementwise.hpp"
#include "gemm/assemble.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>

namespace heddle {
namespace impl {
namespace {

// Products of residues up to 2^14, and a residue that was there before, stay within 32 bits.
constexpr Index longest_sum = ((Index{1} << 17) - 64);

// x mod p but for a multiple of p, below 2 p, of x + 2^31.
KOKKOS_INLINE_FUNCTION std::uint32_t lifted_residue(std::int32_t x, std::uint32_t p, std::uint32_t reciprocal) {
  const std::uint32_t lifted = static_cast<std::uint32_t>(x) ^ 0x80000000U;
  const auto quotient = static_cast<std::uint32_t>((std::uint64_t{lifted} * reciprocal) >> 32);
  return lifted - quotient * p;
}

// op(X) element by element.
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
  [[nodiscard]] Operand from_column(Index j) const {
    Operand moved = *this;
    moved.data += j * column_stride;
    return moved;
  }
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    const T& x = data[i * row_stride + j * column_stride];
    return conjugated ? conjugate(x) : x;
  }
};

// What the kernel that puts C together reads.
template <Scalar T> struct Assembly {
  ResidueSystem system;
  const std::int32_t* sums;
  Index leading;
  Index stride;
  const int* row_exponents;
  const int* column_exponents;  // of the first column of this chunk
  T alpha;
  T beta;
  Elements<T> C;
  Operand<T> A;
  Operand<T> B;  // from the first column of this chunk
  Index inner;

  /// An element whose row or column holds NaN or infinity.
  KOKKOS_INLINE_FUNCTION void sum_plainly(Index i, Index j) const {
    T sum{0};
    for (Index k = 0; k < inner; ++k) sum = multiply_add(A(i, k), B(k, j), sum);
    finish(sum, i, j);
  }

  template <int digits> KOKKOS_INLINE_FUNCTION void put(Index i, Index j) const {
    const int of_row = row_exponents[i];
    const int of_column = column_exponents[j];
    if (of_row == QuantisedVectors<T>::special || of_column == QuantisedVectors<T>::special) {
      sum_plainly(i, j);
      return;
    }
    const int exponent = -(of_row + of_column);
    const std::int32_t* const at = sums + i + j * leading;
    constexpr std::int64_t lift = std::int64_t{1} << 31;
    T product;
    if constexpr (is_complex<T>) {
      using R = Real<T>;
      ResidueSum<digits> real;
      ResidueSum<digits> imaginary;
      for (int l = 0; l < system.count; ++l) {
        const std::uint32_t p = system.modulus[l];
        const std::int32_t* const plane = at + 3 * l * stride;
        const std::uint32_t rr = lifted_residue(plane[0], p, system.reciprocal[l]);
        const std::uint32_t ii = lifted_residue(plane[stride], p, system.reciprocal[l]);
        const std::uint32_t all = lifted_residue(plane[2 * stride], p, system.reciprocal[l]);
        real.add(rr + 2 * p - ii, system.weight[l]);
        imaginary.add(all + 4 * p - rr - ii, system.weight[l]);
      }
      product = T(real.template value<R>(system, 0, exponent), imaginary.template value<R>(system, -lift, exponent));
    } else {
      ResidueSum<digits> sum;
      for (int l = 0; l < system.count; ++l) {
        sum.add(lifted_residue(at[l * stride], system.modulus[l], system.reciprocal[l]), system.weight[l]);
      }
      product = sum.template value<T>(system, lift, exponent);
    }
    finish(product, i, j);
  }

  KOKKOS_INLINE_FUNCTION void finish(const T& product, Index i, Index j) const {
    T& c = C(i, j);
    const T scaled = alpha == T{1} ? product : multiply_add(alpha, product, T{0});
    c = beta == T{0} ? scaled : multiply_add(beta, c, scaled);
  }
};

template <Scalar T, int digits>
void assemble(const ExecutionSpace& space, const Assembly<T>& assembly, Index rows, Index columns) {
  for_each_element(
      space, "heddle::gemm::assemble", rows, columns,
      KOKKOS_LAMBDA(Index i, Index j) { assembly.template put<digits>(i, j); });
}

template <Scalar T> void assemble(const ExecutionSpace& space, const Assembly<T>& assembly, Index rows, Index columns) {
  switch (assembly.system.digits) {
    case 3:
      return assemble<T, 3>(space, assembly, rows, columns);
    case 4:
      return assemble<T, 4>(space, assembly, rows, columns);
    case 5:
      return assemble<T, 5>(space, assembly, rows, columns);
    case 6:
      return assemble<T, 6>(space, assembly, rows, columns);
    default:
      return assemble<T, 8>(space, assembly, rows, columns);
  }
}

// What tells sum_k |a_k b_k| from |a| |b|, for a chunk of columns.
template <Scalar T> struct Overlaps {
  const std::int32_t* leading_sums;  // Of products of leading bits,
  const std::int32_t* present_sums;  // and of their number.
  Index leading;
  const std::uint64_t* row_squares;
  const std::uint64_t* column_squares;
  const int* row_exponents;
  const int* column_exponents;
  int shift;  // |a|^2 |b|^2 is at most the product of the squares, times 2^(2 shift) in units of leading bits.
  Operand<T> A;
  Operand<T> B;
  Index inner;

  /// Whether bits or numbers matter here: what is special is summed plainly, and zeros are exact.
  KOKKOS_INLINE_FUNCTION bool counts(Index i, Index j) const {
    return row_exponents[i] != QuantisedVectors<T>::special && column_exponents[j] != QuantisedVectors<T>::special &&
           present_sums[i + j * leading] != 0;
  }
  /// |a|^2 |b|^2.
  KOKKOS_INLINE_FUNCTION double squares(Index i, Index j) const {
    return static_cast<double>(row_squares[i]) * static_cast<double>(column_squares[j]);
  }
  /// log2 |a| |b| / sum |a_k b_k|, at most, from the largest of the products' exponents.
  KOKKOS_INLINE_FUNCTION int excess(Index i, Index j) const {
    int largest = -100000;
    for (Index k = 0; k < inner; ++k) {
      const std::uint64_t a = magnitude_bits(A(i, k));
      const std::uint64_t b = magnitude_bits(B(k, j));
      const int sum = exponent_of(a) + exponent_of(b);
      largest = a != 0 && b != 0 && sum > largest ? sum : largest;
    }
    const int norms =
        (exponent_of(magnitude_bits(squares(i, j))) + 1) / 2 + row_exponents[i] + column_exponents[j] - 2 * norm_bits;
    return norms - (largest - 2);
  }
};

template <Scalar T>
Spread look_at(const ExecutionSpace& space, const Overlaps<T>& overlaps, Index rows, Index columns) {
  double square = 0.0;
  Spread spread;
  const double unit = std::ldexp(1.0, 2 * overlaps.shift);
  Kokkos::parallel_reduce(
      "heddle::gemm::look", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
      KOKKOS_LAMBDA(Index e, double& largest, Index& undecided) {
        const Index i = e % rows;
        const Index j = e / rows;
        if (overlaps.counts(i, j)) {
          const auto sum = static_cast<double>(overlaps.leading_sums[i + j * overlaps.leading]);
          if (sum > 0.0) {
            const double ratio = overlaps.squares(i, j) * unit / (sum * sum);
            largest = ratio > largest ? ratio : largest;
          } else {
            ++undecided;
          }
        }
      },
      Kokkos::Max<double>(square), spread.undecided);
  spread.ratio = std::sqrt(square);
  return spread;
}

// The ratio where leading bits don't tell it, by a pass over rows and columns for each such element.
template <Scalar T> double decide(const ExecutionSpace& space, const Overlaps<T>& overlaps, Index rows, Index columns) {
  int excess = 0;
  Kokkos::parallel_reduce(
      "heddle::gemm::decide", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
      KOKKOS_LAMBDA(Index e, int& largest) {
        const Index i = e % rows;
        const Index j = e / rows;
        if (overlaps.counts(i, j) && overlaps.leading_sums[i + j * overlaps.leading] == 0) {
          const int here = overlaps.excess(i, j);
          largest = here > largest ? here : largest;
        }
      },
      Kokkos::Max<int>(excess));
  return std::ldexp(1.0, excess);
}

// Sums mod p, for more to be added: in (-p, p).
void reduce_sums(const ExecutionSpace& space, const ResidueSystem& system, int parts, Index elements,
                 std::int32_t* sums, Index stride) {
  for_each_element(
      space, "heddle::gemm::reduce_sums", elements, system.count * parts, KOKKOS_LAMBDA(Index i, Index plane) {
        std::int32_t& sum = sums[i + plane * stride];
        sum %= static_cast<std::int32_t>(system.modulus[plane / parts]);
      });
}

template <class T> Index leading_of(const MatrixView<T>& matrix) {
  return std::max<Index>(static_cast<Index>(matrix.stride(1)), static_cast<Index>(matrix.extent(0)));
}

}  // namespace

int leading_width(Index inner) {
  int width = 7;
  while (width > 1 && ((1 << width) - 1) * ((1 << width) - 1) * inner >= Index{1} << 31) --width;
  return width;
}

template <Scalar T> Index EmulatedProduct<T>::sums_for(Index m, Index n, int moduli, std::size_t workspace_bytes) {
  constexpr std::size_t usual = on_host ? std::size_t{64} << 20 : std::size_t{4} << 30;
  constexpr Index padding = QuantisedVectors<T>::vector_padding;
  const Index column = padded(m, padding) * moduli * parts;
  const auto wanted = static_cast<Index>((workspace_bytes == 0 ? usual : workspace_bytes) / sizeof(std::int32_t));
  const Index all = column * padded(n, padding);
  return std::min(std::max(wanted, column * padding), all);
}

template <Scalar T>
EmulatedProduct<T>::EmulatedProduct(const ExecutionSpace& space, Index m, Index n, int moduli,
                                    std::size_t workspace_bytes)
    : rows_(m), columns_(n), workspace_bytes_(workspace_bytes), system_(moduli) {
  set_moduli(space, moduli);
}

template <Scalar T> void EmulatedProduct<T>::set_moduli(const ExecutionSpace& space, int moduli) {
  if (moduli != system_.count) {
    system_ = ResidueSystem(moduli);
  }
  const auto needed = static_cast<std::size_t>(sums_for(rows_, columns_, moduli, workspace_bytes_));
  if (sums_.extent(0) < needed) {
    sums_ = {};
    sums_ = Kokkos::View<std::int32_t*, MemorySpace>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::gemm::integer_sums"), needed);
  }
}

template <Scalar T>
template <class Body>
void EmulatedProduct<T>::for_each_piece(const blas::Context& context, const Operands& operands, Index rows,
                                        Index columns, int planes, bool reduced, const Body& body) {
  const QuantisedVectors<T>& left = *operands.left;
  const QuantisedVectors<T>& right = *operands.right;
  constexpr Index padding = QuantisedVectors<T>::vector_padding;
  const Index padded_rows = padded(rows, padding);
  const Index fits = static_cast<Index>(sums_.extent(0)) / (padded_rows * planes);
  // All at once, or pieces of equal width, of as many columns as integer units take together.
  const Index all = padded(columns, padding);
  const Index pieces = (all + fits - 1) / fits;
  const Index unit = fits >= 256 ? 256 : padding;
  const Index step = pieces == 1 ? all : std::min(padded((all + pieces - 1) / pieces, unit), fits / unit * unit);
  for (Index first = 0; first < columns; first += step) {
    const Index width = std::min(step, columns - first);
    const Index padded_width = padded(width, padding);
    const Index stride = padded_rows * padded_width;
    for (Index begin = 0; begin < left.leading(); begin += longest_sum) {
      if (begin > 0 && reduced) {
        reduce_sums(context.space(), system_, parts, stride, sums_.data(), stride);
      }
      integer_gemm(context, {.m = padded_rows,
                             .n = padded_width,
                             .k = std::min(longest_sum, left.leading() - begin),
                             .count = planes,
                             .A = left.plane(0) + begin,
                             .leading_a = left.leading(),
                             .stride_a = left.stride(),
                             .B = right.plane(0) + first * right.leading() + begin,
                             .leading_b = right.leading(),
                             .stride_b = right.stride(),
                             .C = sums_.data(),
                             .leading_c = padded_rows,
                             .stride_c = stride,
                             .add = begin > 0});
    }
    body(first, width, stride);
  }
}

template <Scalar T>
void EmulatedProduct<T>::operator()(const blas::Context& context, T alpha, const Operands& operands, T beta,
                                    const MatrixView<T>& C) {
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm::emulated");
  const auto rows = static_cast<Index>(C.extent(0));
  const auto columns = static_cast<Index>(C.extent(1));
  const QuantisedVectors<T>& left = *operands.left;
  for_each_piece(
      context, operands, rows, columns, system_.count * parts, true, [&](Index first, Index width, Index stride) {
        const MatrixView<T> piece = matrix_view(C.data() + first * leading_of(C), rows, width, leading_of(C));
        const Assembly<T> assembly{system_,
                                   sums_.data(),
                                   padded(rows, QuantisedVectors<T>::vector_padding),
                                   stride,
                                   left.exponents().data(),
                                   operands.right->exponents().data() + first,
                                   alpha,
                                   beta,
                                   Elements<T>(piece),
                                   Operand<T>(operands.A, operands.op_a),
                                   Operand<T>(operands.B, operands.op_b).from_column(first),
                                   left.inner()};
        assemble(context.space(), assembly, rows, width);
      });
}

template <Scalar T>
Spread EmulatedProduct<T>::look(const blas::Context& context, const Operands& operands, Index rows, Index columns,
                                Index decided) {
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm::look");
  const QuantisedVectors<T>& left = *operands.left;
  Spread spread;
  for_each_piece(context, operands, rows, columns, 2, false, [&](Index first, Index width, Index stride) {
    const Overlaps<T> overlaps{sums_.data(),
                               sums_.data() + stride,
                               padded(rows, QuantisedVectors<T>::vector_padding),
                               left.squares().data(),
                               operands.right->squares().data() + first,
                               left.exponents().data(),
                               operands.right->exponents().data() + first,
                               2 * (leading_width(left.inner()) - norm_bits),
                               Operand<T>(operands.A, operands.op_a),
                               Operand<T>(operands.B, operands.op_b).from_column(first),
                               left.inner()};
    const Spread found = look_at(context.space(), overlaps, rows, width);
    spread.ratio = std::max(spread.ratio, found.ratio);
    spread.undecided += found.undecided;
    if (found.undecided > 0 && spread.undecided <= decided) {
      spread.ratio = std::max(spread.ratio, decide(context.space(), overlaps, rows, width));
    }
  });
  return spread;
}

#define HEDDLE_INSTANTIATE(T) template class EmulatedProduct<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace impl

}  // namespace heddle
