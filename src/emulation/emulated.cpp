// Product of quantised bands, and its assembly from 32-bit sums.
#include "emulation/emulated.hpp"

#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "emulation/assemble.hpp"
#include "emulation/probe.hpp"
#include "emulation/slices.hpp"
#include "emulation/target.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace heddle {
namespace impl {
namespace {

// Return (x + 2^31) mod p, or p more than that.
KOKKOS_INLINE_FUNCTION std::uint32_t lifted_residue(std::int32_t x, std::uint32_t p, std::uint32_t reciprocal) {
  const std::uint32_t lifted = static_cast<std::uint32_t>(x) ^ 0x80000000U;
  const auto quotient = static_cast<std::uint32_t>((std::uint64_t{lifted} * reciprocal) >> 32);
  return lifted - quotient * p;
}
// Residue left by integer_residues(), which is not lifted.
KOKKOS_INLINE_FUNCTION std::uint32_t lifted_residue(std::uint8_t x, std::uint32_t /*p*/, std::uint32_t /*reciprocal*/) {
  return x;
}

// Number of elements that are assembled together: on CPUs enough for SIMD; on GPUs a few, so that a weight is read once
// for all of them.
template <Scalar T> constexpr int abreast = on_host ? 16 : is_complex<T> ? 2 : 4;
static_assert(QuantisedVectors<double>::vector_padding % abreast<double> == 0);

// True if they are neighbours in a column: on CPUs for SIMD, on GPUs so that a thread reads residues of four real
// elements as a word. Otherwise they are neighbours in a row, so that adjacent threads of a GPU access adjacent memory.
template <Scalar T, class Sum> constexpr bool down_columns = on_host || (sizeof(Sum) == 1 && !is_complex<T>);

// Input of the kernel that puts C together from 32-bit sums, or from their residues.
template <Scalar T, class Sum> struct Assembly {
  ResidueSystem system;
  const Sum* sums;
  Index leading;
  Index stride;
  Target<T> target;

  static constexpr int width = abreast<T>;
  static constexpr bool down = down_columns<T, Sum>;
  using Residues = std::uint32_t[width];
  KOKKOS_INLINE_FUNCTION void residues_of(const Sum* plane, int l, Residues& residues) const {
    HEDDLE_SIMD
    for (int e = 0; e < width; ++e) {
      residues[e] = lifted_residue(plane[down ? e : e * leading], system.modulus[l], system.reciprocal[l]);
    }
  }

  /// Row and column of element e from (i, j) on.
  static KOKKOS_INLINE_FUNCTION Index row(Index i, int e) { return down ? i + e : i; }
  static KOKKOS_INLINE_FUNCTION Index column(Index j, int e) { return down ? j : j + e; }

  KOKKOS_INLINE_FUNCTION void find_exponents(Index i, Index j, Index count, int (&exponent)[width]) const {
    for (int e = 0; e < width; ++e) exponent[e] = e < count ? target.exponent(row(i, e), column(j, e)) : 0;
  }

  /// Assemble `count` <= `width` elements from (i, j) on; the sums are padded to `width`.
  template <int digits> KOKKOS_INLINE_FUNCTION void put(Index i, Index j, Index count) const {
    const Sum* const at = sums + i + j * leading;
    int exponent[width] = {};
    if constexpr (is_complex<T>) {
      using R = Real<T>;
      ResidueSums<digits, width> real(system.start);
      ResidueSums<digits, width> imaginary(system.imaginary_start);
      const Sum* plane = at;
      for (int l = 0; l < system.split; ++l, plane += 2 * stride) {
        Residues sum;
        Residues difference;
        residues_of(plane, l, sum);
        residues_of(plane + stride, l, difference);
        HEDDLE_SIMD
        for (int e = 0; e < width; ++e) {
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
        for (int e = 0; e < width; ++e) {
          all[e] = all[e] + 4 * p - rr[e] - ii[e];
          rr[e] = rr[e] + 2 * p - ii[e];
        }
        real.add(rr, system.weight[l]);
        imaginary.add(all, system.weight[l]);
      }
      find_exponents(i, j, count, exponent);
      R re[width];
      R im[width];
      real.values(system, exponent, re);
      imaginary.values(system, exponent, im);
      put_all([&](int e) { return T(re[e], im[e]); }, i, j, count);
    } else {
      ResidueSums<digits, width> sum(system.start);
      if constexpr (!on_host && down) {
        add_words(at, sum);
      } else {
        for (int l = 0; l < system.count; ++l) {
          Residues residues;
          residues_of(at + l * stride, l, residues);
          sum.add(residues, system.weight[l]);
        }
      }
      find_exponents(i, j, count, exponent);
      T products[width];
      sum.values(system, exponent, products);
      put_all([&](int e) { return products[e]; }, i, j, count);
    }
  }
  // Add residues of four elements at a time as words; a batch of words is loaded while the previous one is added.
  template <class ResidueSums> KOKKOS_INLINE_FUNCTION void add_words(const Sum* at, ResidueSums& sum) const {
    constexpr int batch = 8;
    std::uint32_t next[batch];
    const auto load = [&](int first) {
      for (int q = 0; q < batch; ++q) {
        next[q] = first + q < system.count ? *reinterpret_cast<const std::uint32_t*>(at + (first + q) * stride) : 0;
      }
    };
    load(0);
    for (int first = 0; first < system.count; first += batch) {
      std::uint32_t words[batch];
      for (int q = 0; q < batch; ++q) words[q] = next[q];
      load(first + batch);
      for (int q = 0; q < batch; ++q) {
        if (first + q < system.count) {
          const std::uint32_t word = words[q];
          const Residues residues = {word & 255U, word >> 8 & 255U, word >> 16 & 255U, word >> 24};
          sum.add(residues, system.weight[first + q]);
        }
      }
    }
  }
  template <class Product>
  KOKKOS_INLINE_FUNCTION void put_all(const Product& product, Index i, Index j, Index count) const {
    for (int e = 0; e < width; ++e) {
      if (e < count) put(product(e), row(i, e), column(j, e));
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
  constexpr Index width = abreast<T>;
  const std::string label = "heddle::gemm::assemble";
  if constexpr (on_host) {
    for_each_run(
        space, label, rows, columns, KOKKOS_LAMBDA(Index j, Index begin, Index end) {
          for (Index i = begin; i < end; i += width) {
            assembly.template put<digits>(i, j, end - i < width ? end - i : width);
          }
        });
  } else if constexpr (down_columns<T, Sum>) {
    for_each_element(
        space, label, (rows + width - 1) / width, columns, KOKKOS_LAMBDA(Index group, Index j) {
          const Index i = group * width;
          assembly.template put<digits>(i, j, rows - i < width ? rows - i : width);
        });
  } else {
    for_each_element(
        space, label, rows, (columns + width - 1) / width, KOKKOS_LAMBDA(Index i, Index group) {
          const Index j = group * width;
          assembly.template put<digits>(i, j, columns - j < width ? columns - j : width);
        });
  }
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

// Reduce sums modulo p into (-p, p), so that more can be added.
void reduce_sums(const ExecutionSpace& space, const ResidueSystem& system, Index elements, std::int32_t* sums,
                 Index stride) {
  for_each_element(
      space, "heddle::gemm::reduce_sums", elements, system.planes(), KOKKOS_LAMBDA(Index i, Index plane) {
        std::int32_t& sum = sums[i + plane * stride];
        sum %= static_cast<std::int32_t>(system.modulus[system.modulus_of(static_cast<int>(plane))]);
      });
}

// Number of 32-bit sums of an element that need room at once; a probe never needs more.
template <Scalar T> Index sums_of_element(int moduli) {
  const Index planes = ResidueSystem::planes(field_of<T>, moduli);
  return has_integer_residues() ? std::max<Index>((planes + 3) / 4, overlap_count) : planes;
}

}  // namespace

template <Scalar T> Index columns_at_once(Index m, Index n, Index inner, const EmulationOptions& options) {
  constexpr Index padding = QuantisedVectors<T>::vector_padding;
  if (options.scheme == EmulationScheme::slices || m == 0 || n == 0) return n;
  const int moduli = moduli_of<T>(inner, options);
  const Index column = padded(m, padding) * sums_of_element<T>(moduli);
  const Index fits = EmulatedProduct<T>::sums_for(m, n, moduli, options.workspace_bytes) / column;
  Index pieces = (padded(n, padding) + fits - 1) / fits;
  // Multiprocessors compute tiles of 192 columns; if tiles are few, a fourth of them leaves multiprocessors idle.
  constexpr Index tile = 192;
  constexpr double much = 0x1p30;
  if (!on_host && QuantisedVectors<T>::bytes(n, inner, moduli) > much) pieces = std::max<Index>(pieces, 4);
  if (pieces == 1) return n;
  const Index unit = fits >= 256 ? (on_host ? Index{256} : tile) : padding;
  return std::min(padded((n + pieces - 1) / pieces, unit), fits / unit * unit);
}

template <Scalar T>
double bytes_of_right(Index n, Index at_once, Index inner, int moduli, const EmulationOptions& options) {
  using Vectors = QuantisedVectors<T>;
  const double leading_bits = Vectors::bytes(n, inner, 1) / ResidueSystem::planes(field_of<T>, 1);
  return std::max(Vectors::bytes(std::min(n, at_once), inner, moduli),
                  wants_probe(options) ? Vectors::leading_planes * leading_bits : 0.0);
}

template <Scalar T> Index EmulatedProduct<T>::sums_for(Index m, Index n, int moduli, std::size_t workspace_bytes) {
  constexpr Index padding = QuantisedVectors<T>::vector_padding;
  const Index column = padded(m, padding) * sums_of_element<T>(moduli);
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
  if (has_integer_residues()) {
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
void EmulatedProduct<T>::by_panels(const blas::Context& context, T alpha, const Operands& operands,
                                   QuantisedVectors<T>& right, Index at_once, EmulationScheme scheme, T beta,
                                   const MatrixView<T>& C) {
  const auto rows = static_cast<Index>(C.extent(0));
  const auto columns = static_cast<Index>(C.extent(1));
  for (Index first = 0; first < columns; first += at_once) {
    const Index end = std::min(columns, first + at_once);
    Operands part = operands;
    const auto inner = static_cast<Index>(operands.B.extent(operands.op_b == Operation::none ? 0 : 1));
    part.B = operands.op_b == Operation::none ? block_of(operands.B, 0, inner, first, end)
                                              : block_of(operands.B, first, end, 0, inner);
    right.take(context.space(), system_, scheme, operands.op_b, part.B, first);
    part.right = &right;
    (*this)(context, alpha, part, beta, block_of(C, 0, rows, first, end));
  }
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
      // Two planes of both factors: `far`, and the one that marks nonzero elements.
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

#define HEDDLE_INSTANTIATE(T)                                                           \
  template Index columns_at_once<T>(Index, Index, Index, const EmulationOptions&);      \
  template double bytes_of_right<T>(Index, Index, Index, int, const EmulationOptions&); \
  template class EmulatedProduct<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace impl

}  // namespace heddle
