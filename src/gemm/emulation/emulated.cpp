#include "gemm/emulation/emulated.hpp"

#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "gemm/emulation/assemble.hpp"
#include "gemm/emulation/slices.hpp"
#include "gemm/emulation/target.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace heddle {
namespace impl {
namespace {

// (x + 2^31) mod p, or p more.
KOKKOS_INLINE_FUNCTION std::uint32_t lifted_residue(std::int32_t x, std::uint32_t p, std::uint32_t reciprocal) {
  const std::uint32_t lifted = static_cast<std::uint32_t>(x) ^ 0x80000000U;
  const auto quotient = static_cast<std::uint32_t>((std::uint64_t{lifted} * reciprocal) >> 32);
  return lifted - quotient * p;
}
// What integer_residues() left, which is not lifted.
KOKKOS_INLINE_FUNCTION std::uint32_t lifted_residue(std::uint8_t x, std::uint32_t /*p*/, std::uint32_t /*reciprocal*/) {
  return x;
}

// Elements of a column that are put together at once: as many as vectors on CPUs like.
constexpr int abreast = on_host ? 16 : 1;
static_assert(QuantisedVectors<double>::vector_padding % abreast == 0);

// What the kernel that puts C together from 32-bit sums, or from their residues, reads.
template <Scalar T, class Sum> struct Assembly {
  ResidueSystem system;
  const Sum* sums;
  Index leading;
  Index stride;
  Target<T> target;

  using Residues = std::uint32_t[abreast];
  KOKKOS_INLINE_FUNCTION void residues_of(const Sum* plane, int l, Residues& residues) const {
    HEDDLE_SIMD
    for (int e = 0; e < abreast; ++e) residues[e] = lifted_residue(plane[e], system.modulus[l], system.reciprocal[l]);
  }

  KOKKOS_INLINE_FUNCTION void find_exponents(Index i, Index j, Index count, int (&exponent)[abreast]) const {
    for (int e = 0; e < count; ++e) exponent[e] = target.exponent(i + e, j);
  }

  /// Elements i ... i + count of column j, at most `abreast`; the sums are padded to as many.
  template <int digits> KOKKOS_INLINE_FUNCTION void put(Index i, Index j, Index count) const {
    const Sum* const at = sums + i + j * leading;
    int exponent[abreast] = {};
    if constexpr (is_complex<T>) {
      using R = Real<T>;
      ResidueSums<digits, abreast> real(system.start);
      ResidueSums<digits, abreast> imaginary(system.imaginary_start);
      const Sum* plane = at;
      for (int l = 0; l < system.split; ++l, plane += 2 * stride) {
        Residues sum;
        Residues difference;
        residues_of(plane, l, sum);
        residues_of(plane + stride, l, difference);
        HEDDLE_SIMD
        for (int e = 0; e < abreast; ++e) {
          const std::uint32_t minus = difference[e];
          difference[e] = sum[e] + 2 * system.modulus[l] - minus;
          sum[e] += minus;
        }
        real.add(sum, system.weight[l]);
        imaginary.add(difference, system.imaginary_weight[l]);
      }
      for (int l = system.split; l < system.count; ++l, plane += 3 * stride) {
        const std::uint32_t p = system.modulus[l];
        Residues rr;
        Residues ii;
        Residues all;
        residues_of(plane, l, rr);
        residues_of(plane + stride, l, ii);
        residues_of(plane + 2 * stride, l, all);
        HEDDLE_SIMD
        for (int e = 0; e < abreast; ++e) {
          all[e] = all[e] + 4 * p - rr[e] - ii[e];
          rr[e] = rr[e] + 2 * p - ii[e];
        }
        real.add(rr, system.weight[l]);
        imaginary.add(all, system.weight[l]);
      }
      find_exponents(i, j, count, exponent);
      R re[abreast];
      R im[abreast];
      real.values(system, exponent, re);
      imaginary.values(system, exponent, im);
      for (int e = 0; e < count; ++e) put(T(re[e], im[e]), i + e, j);
    } else {
      ResidueSums<digits, abreast> sum(system.start);
      for (int l = 0; l < system.count; ++l) {
        Residues residues;
        residues_of(at + l * stride, l, residues);
        sum.add(residues, system.weight[l]);
      }
      find_exponents(i, j, count, exponent);
      T products[abreast];
      sum.values(system, exponent, products);
      for (int e = 0; e < count; ++e) put(products[e], i + e, j);
    }
  }
  KOKKOS_INLINE_FUNCTION void put(const T& product, Index i, Index j) const {
    if (target.special(i, j)) {
      target.sum_plainly(i, j);
    } else {
      target.finish(product, i, j);
    }
  }
};

template <Scalar T, int digits, class Sum>
void assemble(const ExecutionSpace& space, const Assembly<T, Sum>& assembly, Index rows, Index columns) {
  for_each_run(
      space, "heddle::gemm::assemble", rows, columns, KOKKOS_LAMBDA(Index j, Index begin, Index end) {
        for (Index i = begin; i < end; i += abreast) {
          assembly.template put<digits>(i, j, end - i < abreast ? end - i : Index{abreast});
        }
      });
}

template <Scalar T, class Sum>
void assemble(const ExecutionSpace& space, const Assembly<T, Sum>& assembly, Index rows, Index columns) {
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

// Sums of products of two planes of leading bits, in the order of their worth.
enum Overlap : int { near_near, near_far, far_near, far_far, present, overlap_count };

// What tells sum_k |a_k b_k| from |a| |b|, for a chunk of columns.
template <Scalar T> struct Overlaps {
  const std::int32_t* sums;
  Index leading;
  Index stride;
  int count;  // near_near alone, or all.
  const std::uint64_t* row_squares;
  const std::uint64_t* column_squares;
  const int* row_exponents;
  const int* column_exponents;
  double unit;  // |a|^2 |b|^2 is at most the product of the squares times this, in units of leading bits.
  Operand<T> A;
  Operand<T> B;
  Index inner;

  KOKKOS_INLINE_FUNCTION double sum(Index i, Index j, int which) const {
    return static_cast<double>(sums[i + j * leading + which * stride]);
  }
  /// A lower bound of sum_k |a_k b_k|, the element's own: the others count only where the first is nothing, whatever
  /// piece of C it is in.
  KOKKOS_INLINE_FUNCTION double least(Index i, Index j) const {
    const double first = sum(i, j, near_near);
    if (first > 0.0 || count == 1) {
      return first;
    }
    constexpr double far = 1.0 / (1 << far_bits);
    const double second = far * Kokkos::fmax(sum(i, j, near_far), sum(i, j, far_near));
    return Kokkos::fmax(second, far * far * sum(i, j, far_far));
  }
  /// Whether bits matter here: what is special is summed plainly, and zeros are exact.
  KOKKOS_INLINE_FUNCTION bool counts(Index i, Index j) const {
    return row_exponents[i] != QuantisedVectors<T>::special && column_exponents[j] != QuantisedVectors<T>::special &&
           (count > 1 ? sum(i, j, present) != 0.0 : row_squares[i] != 0 && column_squares[j] != 0);
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
      const int exponent = exponent_of(a) + exponent_of(b);
      largest = a != 0 && b != 0 && exponent > largest ? exponent : largest;
    }
    const int norms =
        (exponent_of(magnitude_bits(squares(i, j))) + 1) / 2 + row_exponents[i] + column_exponents[j] - 2 * norm_bits;
    return norms - (largest - 2);
  }
};

// Row and column of an element by its number, by 32 bits where these do.
struct Elementwise {
  Index rows;
  bool narrow;
  Elementwise(Index high, Index wide) : rows(high), narrow(high * wide <= Index{0xffffffff}) {}
  KOKKOS_INLINE_FUNCTION Index column(Index e) const {
    return narrow ? static_cast<Index>(static_cast<std::uint32_t>(e) / static_cast<std::uint32_t>(rows)) : e / rows;
  }
};

// The largest square of a ratio, and elements whose ratio leading bits don't tell; `+=` joins parts of a reduction.
struct Probed {
  double square = 0.0;
  Index undecided = 0;
  KOKKOS_INLINE_FUNCTION Probed& operator+=(const Probed& other) {
    square = other.square > square ? other.square : square;
    undecided += other.undecided;
    return *this;
  }
};

template <Scalar T>
Spread probe_elements(const ExecutionSpace& space, const Overlaps<T>& overlaps, Index rows, Index columns) {
  Probed found;
  const Elementwise elements(rows, columns);
  Kokkos::parallel_reduce(
      "heddle::gemm::probe", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
      KOKKOS_LAMBDA(Index e, Probed & seen) {
        const Index j = elements.column(e);
        const Index i = e - j * rows;
        if (overlaps.counts(i, j)) {
          const double sum = overlaps.least(i, j);
          if (sum > 0.0) {
            seen += {overlaps.squares(i, j) * overlaps.unit / (sum * sum), 0};
          } else {
            ++seen.undecided;
          }
        }
      },
      found);
  return {std::sqrt(found.square), found.undecided};
}

// The ratio where leading bits don't tell it, by a pass over rows and columns for each such element.
template <Scalar T> double decide(const ExecutionSpace& space, const Overlaps<T>& overlaps, Index rows, Index columns) {
  int excess = 0;
  const Elementwise elements(rows, columns);
  Kokkos::parallel_reduce(
      "heddle::gemm::decide", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
      KOKKOS_LAMBDA(Index e, int& largest) {
        const Index j = elements.column(e);
        const Index i = e - j * rows;
        if (overlaps.counts(i, j) && overlaps.least(i, j) == 0.0) {
          const int here = overlaps.excess(i, j);
          largest = here > largest ? here : largest;
        }
      },
      Kokkos::Max<int>(excess));
  return std::ldexp(1.0, excess);
}

// Sums mod p, for more to be added: in (-p, p).
void reduce_sums(const ExecutionSpace& space, const ResidueSystem& system, Index elements, std::int32_t* sums,
                 Index stride) {
  for_each_element(
      space, "heddle::gemm::reduce_sums", elements, system.planes(), KOKKOS_LAMBDA(Index i, Index plane) {
        std::int32_t& sum = sums[i + plane * stride];
        sum %= static_cast<std::int32_t>(system.modulus[system.modulus_of(static_cast<int>(plane))]);
      });
}

}  // namespace

int leading_width(Index inner) {
  int width = 7;
  while (width > 1 && ((1 << width) - 1) * ((1 << width) - 1) * inner >= Index{1} << 31) --width;
  return width;
}

template <Scalar T> Index EmulatedProduct<T>::sums_for(Index m, Index n, int moduli, std::size_t workspace_bytes) {
  constexpr Index padding = QuantisedVectors<T>::vector_padding;
  const Index column = padded(m, padding) * ResidueSystem::planes(field_of<T>, moduli);
  const auto wanted = static_cast<Index>(bytes_for_sums(workspace_bytes) / sizeof(std::int32_t));
  const Index all = column * padded(n, padding);
  return std::min(std::max(wanted, column * padding), all);
}

template <Scalar T>
EmulatedProduct<T>::EmulatedProduct(const ExecutionSpace& space, Index m, Index n, int moduli,
                                    std::size_t workspace_bytes)
    : rows_(m), columns_(n), workspace_bytes_(workspace_bytes), system_(field_of<T>, moduli) {
  set_moduli(space, moduli);
}

template <Scalar T> void EmulatedProduct<T>::set_moduli(const ExecutionSpace& space, int moduli) {
  if (moduli != system_.count) {
    system_ = ResidueSystem(field_of<T>, moduli);
  }
  grow(space, "heddle::gemm::integer_sums", sums_for(rows_, columns_, moduli, workspace_bytes_), sums_);
}

template <Scalar T>
template <class Body>
void EmulatedProduct<T>::for_each_piece(Index rows, Index columns, int planes, const Body& body) const {
  const Index column = padded(rows, QuantisedVectors<T>::vector_padding) * planes;
  for_each_product_piece(rows, columns, static_cast<Index>(sums_.extent(0)) / column, body);
}

template <Scalar T>
IntegerProducts EmulatedProduct<T>::products_of(const Operands& operands, const ProductPiece& piece,
                                                const Planes& planes, Index begin) const {
  const QuantisedVectors<T>& left = *operands.left;
  const QuantisedVectors<T>& right = *operands.right;
  return {.m = piece.padded_rows,
          .n = piece.padded_width,
          .k = std::min(longest_sum, left.leading() - begin),
          .count = planes.count,
          .A = left.plane(planes.left) + operands.row * left.leading() + begin,
          .leading_a = left.leading(),
          .stride_a = left.stride(),
          .B = right.plane(planes.right) + (operands.column + piece.first) * right.leading() + begin,
          .leading_b = right.leading(),
          .stride_b = right.stride(),
          .C = sums_.data() + planes.sums * piece.stride(),
          .leading_c = piece.padded_rows,
          .stride_c = piece.stride(),
          .add = begin > 0};
}

template <Scalar T>
void EmulatedProduct<T>::multiply(const blas::Context& context, const Operands& operands, const ProductPiece& piece,
                                  const Planes& planes, bool reduced) const {
  for (Index begin = 0; begin < operands.left->leading(); begin += longest_sum) {
    if (begin > 0 && reduced) {
      reduce_sums(context.space(), system_, piece.stride(), sums_.data(), piece.stride());
    }
    integer_gemm(context, products_of(operands, piece, planes, begin));
  }
}

template <Scalar T>
void EmulatedProduct<T>::assemble_residues(const blas::Context& context, T alpha, const Operands& operands, T beta,
                                           const MatrixView<T>& C) const {
  const auto rows = static_cast<Index>(C.extent(0));
  const int planes = system_.planes();
  std::array<std::uint32_t, 3 * most_moduli> moduli{};
  for (int plane = 0; plane < planes; ++plane) {
    moduli[static_cast<std::size_t>(plane)] = system_.modulus[system_.modulus_of(plane)];
  }
  ResidueSystem not_lifted = system_;
  std::fill(std::begin(not_lifted.start), std::end(not_lifted.start), 0U);
  std::fill(std::begin(not_lifted.imaginary_start), std::end(not_lifted.imaginary_start), 0U);
  auto* const residues = reinterpret_cast<std::uint8_t*>(sums_.data());
  const Index column = padded(rows, QuantisedVectors<T>::vector_padding) * planes;
  const Index fits = static_cast<Index>(sums_.extent(0) * sizeof(std::int32_t)) / column;
  for_each_product_piece(rows, static_cast<Index>(C.extent(1)), fits, [&](const ProductPiece& piece) {
    for (Index begin = 0; begin < operands.left->leading(); begin += longest_sum) {
      integer_residues(context, products_of(operands, piece, {0, 0, 0, planes}, begin), moduli.data(), residues);
    }
    const Assembly<T, std::uint8_t> assembly{not_lifted, residues, piece.padded_rows, piece.stride(),
                                             Target<T>(operands, piece, alpha, beta, C)};
    assemble(context.space(), assembly, rows, piece.width);
  });
}

template <Scalar T>
void EmulatedProduct<T>::operator()(const blas::Context& context, T alpha, const Operands& operands, T beta,
                                    const MatrixView<T>& C) {
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm::emulated");
  const auto rows = static_cast<Index>(C.extent(0));
  const auto columns = static_cast<Index>(C.extent(1));
  if (operands.left->scheme() == EmulationScheme::slices) {
    if (!sliced_) sliced_ = std::make_unique<SlicedProduct<T>>(workspace_bytes_);
    (*sliced_)(context, slices_for(system_.reach), alpha, operands, beta, C);
    return;
  }
  if (operands.left->leading() <= longest_for_residues && has_integer_residues()) {
    assemble_residues(context, alpha, operands, beta, C);
    return;
  }
  const int planes = system_.planes();
  for_each_piece(rows, columns, planes, [&](const ProductPiece& piece) {
    multiply(context, operands, piece, {0, 0, 0, planes}, true);
    const Assembly<T, std::int32_t> assembly{system_, sums_.data(), piece.padded_rows, piece.stride(),
                                             Target<T>(operands, piece, alpha, beta, C)};
    assemble(context.space(), assembly, rows, piece.width);
  });
}

template <Scalar T>
Spread EmulatedProduct<T>::probe(const blas::Context& context, const Operands& operands, Index rows, Index columns,
                                 Index decided) {
  using Vectors = QuantisedVectors<T>;
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm::probe");
  const QuantisedVectors<T>& left = *operands.left;
  Spread spread;
  for_each_piece(rows, columns, overlap_count, [&](const ProductPiece& piece) {
    multiply(context, operands, piece, {Vectors::near, Vectors::near, near_near, 1}, false);
    const Index column = operands.column + piece.first;
    Overlaps<T> overlaps{sums_.data(),
                         piece.padded_rows,
                         piece.stride(),
                         1,
                         left.squares().data() + operands.row,
                         operands.right->squares().data() + column,
                         left.exponents().data() + operands.row,
                         operands.right->exponents().data() + column,
                         std::ldexp(1.0, 4 * (leading_width(left.inner()) - norm_bits)),
                         Operand<T>(operands.A, operands.op_a).from(operands.row, 0),
                         Operand<T>(operands.B, operands.op_b).from(0, column),
                         left.inner()};
    Spread found = probe_elements(context.space(), overlaps, rows, piece.width);
    if (found.undecided > 0) {
      multiply(context, operands, piece, {Vectors::near, Vectors::far, near_far, 1}, false);
      multiply(context, operands, piece, {Vectors::far, Vectors::near, far_near, 1}, false);
      // The same planes of both: far, and whether there is anything.
      multiply(context, operands, piece, {Vectors::far, Vectors::far, far_far, 2}, false);
      overlaps.count = overlap_count;
      found = probe_elements(context.space(), overlaps, rows, piece.width);
    }
    spread.ratio = std::max(spread.ratio, found.ratio);
    spread.undecided += found.undecided;
    if (found.undecided > 0 && spread.undecided <= decided) {
      spread.ratio = std::max(spread.ratio, decide(context.space(), overlaps, rows, piece.width));
    }
  });
  return spread;
}

#define HEDDLE_INSTANTIATE(T) template class EmulatedProduct<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace impl

}  // namespace heddle
