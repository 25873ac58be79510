// The value of an emulated product, element by element, from the integers that it stands for.
#include "core/instantiate.hpp"
#include "gemm/emulation/assemble.hpp"
#include "gemm/emulation/planes.hpp"
#include "gemm/emulation/probe.hpp"
#include "interpose/product.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace heddle::impl::interpose {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// Integers and sums of a product: of floats mostly 32 and 64 bits are enough.
template <class Number, class Total> struct Words {
  using Integer = Number;
  using Sum = Total;
};

template <Scalar T> constexpr int parts = is_complex<T> ? 2 : 1;

// Rows of op(A) or columns of op(B), one after the other.
template <Scalar T> class Vectors {
 public:
  using R = Real<T>;

  void take(Operation op, const T* data, Index leading, bool left, Index count, Index inner) {
    count_ = count;
    inner_ = inner;
    const bool by_rows = (op == Operation::none) == left;
    const Index vector = by_rows ? 1 : leading;
    const Index element = by_rows ? leading : 1;
    elements.resize(static_cast<std::size_t>(count * inner));
    for (Index v = 0; v < count; ++v) {
      T* const target = elements.data() + v * inner;
      const T* const source = data + v * vector;
      for (Index k = 0; k < inner; ++k) {
        target[k] = op == Operation::conjugate_transpose ? conjugate(source[k * element]) : source[k * element];
      }
    }
  }
  [[nodiscard]] const T* vector(Index v) const { return elements.data() + v * inner_; }

  // Statistics and leading bits, as QuantisedVectors::measure() and take_leading() find them.
  void measure(int width) {
    const auto all = static_cast<std::size_t>(count_);
    squares.resize(all);
    exponents.resize(all);
    largest_exponents.resize(all);
    near.resize(elements.size());
    for (Index v = 0; v < count_; ++v) {
      const auto at = static_cast<std::size_t>(v);
      const T* const x = vector(v);
      std::uint64_t most = 0;
      for (Index k = 0; k < inner_; ++k) most = std::max(most, magnitude_bits(x[k]));
      largest_exponents[at] = exponent_of(most);
      const bool special = most >= Format<double>::exponent_mask;
      exponents[at] = special ? QuantisedVectors<T>::special : largest_exponents[at];
      std::int16_t* const target = near.data() + v * inner_;
      if (special) {
        squares[at] = 0;
        std::fill_n(target, inner_, std::int16_t{0});
      } else if (most < Format<double>::fraction_mask + 1) {
        squares[at] = measure_denormal(x, largest_exponents[at], width, target);
      } else {
        squares[at] = measure_normal(x, most, width, target);
      }
    }
  }
  // What else a probe asks for where leading bits alone leave elements in doubt.
  void measure_far(int width) {
    far.resize(elements.size());
    present.resize(elements.size());
    const auto most = (std::uint64_t{1} << width) - 1;
    for (Index v = 0; v < count_; ++v) {
      const bool special = exponents[static_cast<std::size_t>(v)] == QuantisedVectors<T>::special;
      for (Index k = 0; k < inner_; ++k) {
        const std::uint64_t bits = special ? 0 : magnitude_bits(vector(v)[k]);
        const std::uint64_t raised =
            special ? 0 : leading_bits(bits, exponents[static_cast<std::size_t>(v)], width + far_bits);
        const auto at = static_cast<std::size_t>(v * inner_ + k);
        far[at] = static_cast<std::int16_t>(std::min(raised, most));
        present[at] = bits != 0 ? 1 : 0;
      }
    }
  }
  // The integers; of complex numbers the real parts of a vector, then the imaginary ones.
  template <class Integer> void quantise(double square_of_reach, std::vector<Integer>& integers) {
    integers.resize(elements.size() * parts<T>);
    for (Index v = 0; v < count_; ++v) {
      const auto at = static_cast<std::size_t>(v);
      Integer* const target = integers.data() + v * inner_ * parts<T>;
      if (exponents[at] == QuantisedVectors<T>::special) {
        std::fill_n(target, inner_ * parts<T>, Integer{0});
        continue;
      }
      exponents[at] = scale_of(squares[at], largest_exponents[at], square_of_reach);
      const PowerOfTwo power(exponents[at]);
      const T* const x = vector(v);
      for (Index k = 0; k < inner_; ++k) {
        target[k] = static_cast<Integer>(rounded(power(real_of<double>(x[k]))));
        if constexpr (is_complex<T>) {
          target[inner_ + k] = static_cast<Integer>(rounded(power(static_cast<double>(x[k].imag()))));
        }
      }
    }
  }

  std::vector<T> elements;
  std::vector<std::uint64_t> squares;
  std::vector<int> exponents;
  std::vector<int> largest_exponents;
  std::vector<std::int16_t> near;
  std::vector<std::int16_t> far;
  std::vector<std::int16_t> present;
  std::vector<std::int32_t> narrow;
  std::vector<std::int64_t> wide;

 private:
  // The sum of the coarse squares; leading bits to `target`.
  std::uint64_t measure_denormal(const T* x, int exponent, int width, std::int16_t* target) const {
    std::uint64_t sum = 0;
    for (Index k = 0; k < inner_; ++k) {
      sum += coarse_square(x[k], exponent);
      target[k] = static_cast<std::int16_t>(leading_bits(magnitude_bits(x[k]), exponent, width));
    }
    return sum;
  }
  // The same where the largest magnitude is a normal number, without a branch: leading_bits() of norm_bits bits, from
  // which fewer follow.
  std::uint64_t measure_normal(const T* x, std::uint64_t most, int width, std::int16_t* target) const {
    using F = Format<double>;
    constexpr std::uint64_t one = F::fraction_mask + 1;
    const std::uint64_t largest_field = most >> F::fraction;
    const auto leading = [&](std::uint64_t bits) {
      const std::uint64_t field = bits >> F::fraction;
      const std::uint64_t mantissa = (bits & F::fraction_mask) | (field != 0 ? one : 0);
      const std::uint64_t shift = F::fraction + 1 - norm_bits + largest_field - (field != 0 ? field : 1);
      return mantissa >> (shift < 63 ? shift : 63);
    };
    const auto square = [](std::uint64_t bits, std::uint64_t leading_ones) {
      const std::uint64_t q = leading_ones + (bits != 0 ? 1 : 0);
      return q * q;
    };
    const int less = norm_bits - width;
    std::uint64_t sum = 0;
    for (Index k = 0; k < inner_; ++k) {
      if constexpr (is_complex<T>) {
        const std::uint64_t re = magnitude_bits(x[k].real());
        const std::uint64_t im = magnitude_bits(x[k].imag());
        const std::uint64_t leading_re = leading(re);
        const std::uint64_t leading_im = leading(im);
        sum += square(re, leading_re) + square(im, leading_im);
        target[k] = static_cast<std::int16_t>(std::max(leading_re, leading_im) >> less);
      } else {
        const std::uint64_t bits = magnitude_bits(x[k]);
        const std::uint64_t leading_ones = leading(bits);
        sum += square(bits, leading_ones);
        target[k] = static_cast<std::int16_t>(leading_ones >> less);
      }
    }
    return sum;
  }

  Index count_ = 0;
  Index inner_ = 0;
};

// Kept from call to call.
template <Scalar T> struct Workspace {
  Vectors<T> left;
  Vectors<T> right;
  std::vector<std::int32_t> sums;
  Index inner = -1;  // That `moduli` are for.
  int moduli = 0;
};
template <Scalar T> Workspace<T>& workspace() {
  thread_local Workspace<T> the;
  return the;
}

void multiply_leading(const std::vector<std::int16_t>& left, const std::vector<std::int16_t>& right, Index m, Index n,
                      Index inner, std::int32_t* sums) {
  for (Index j = 0; j < n; ++j) {
    const std::int16_t* const b = right.data() + j * inner;
    for (Index i = 0; i < m; ++i) {
      const std::int16_t* const a = left.data() + i * inner;
      std::int32_t sum = 0;
      for (Index k = 0; k < inner; ++k) sum += std::int32_t{a[k]} * std::int32_t{b[k]};
      sums[i + j * m] = sum;
    }
  }
}

// EmulatedProduct::probe().
template <Scalar T> Spread probe(const Product<T>& product, Workspace<T>& work) {
  const Index m = product.m;
  const Index n = product.n;
  const Index inner = product.k;
  const int width = leading_width(inner);
  work.left.measure(width);
  work.right.measure(width);
  const std::size_t plane = static_cast<std::size_t>(m * n);
  work.sums.resize(plane * overlap_count);
  std::int32_t* const sums = work.sums.data();
  multiply_leading(work.left.near, work.right.near, m, n, inner, sums);
  // The elements as they were gathered: op(A) by rows, op(B) by columns.
  using Matrix = MatrixView<const T>;
  const auto extents = [&](Index count) {
    return Kokkos::LayoutStride(static_cast<std::size_t>(inner), 1, static_cast<std::size_t>(count),
                                static_cast<std::size_t>(inner));
  };
  Overlaps<T> overlaps{sums,
                       m,
                       m * n,
                       1,
                       work.left.squares.data(),
                       work.right.squares.data(),
                       work.left.exponents.data(),
                       work.right.exponents.data(),
                       std::ldexp(1.0, 4 * (width - norm_bits)),
                       Operand<T>(Matrix(work.left.elements.data(), extents(m)), Operation::transpose),
                       Operand<T>(Matrix(work.right.elements.data(), extents(n)), Operation::none),
                       inner};
  const auto all = [&] {
    Probed seen;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) probe_element(overlaps, i, j, seen);
    }
    return seen;
  };
  Probed seen = all();
  if (seen.undecided > 0) {
    work.left.measure_far(width);
    work.right.measure_far(width);
    multiply_leading(work.left.near, work.right.far, m, n, inner, sums + near_far * plane);
    multiply_leading(work.left.far, work.right.near, m, n, inner, sums + far_near * plane);
    multiply_leading(work.left.far, work.right.far, m, n, inner, sums + far_far * plane);
    multiply_leading(work.left.present, work.right.present, m, n, inner, sums + present * plane);
    overlaps.count = overlap_count;
    seen = all();
  }
  Spread spread{std::sqrt(seen.square), seen.undecided};
  if (seen.undecided > 0 && seen.undecided <= worth_deciding(m * n)) {
    int excess = 0;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) {
        if (overlaps.counts(i, j) && overlaps.least(i, j) == 0.0) excess = std::max(excess, overlaps.excess(i, j));
      }
    }
    spread.ratio = std::max(spread.ratio, std::ldexp(1.0, excess));
  }
  return spread;
}

// The T nearest to sum 2^exponent.
template <RealScalar T, class Sum> T nearest_to(Sum sum, int exponent) {
  if (sum == 0) return T{0};
  const bool negative = sum < 0;
  const auto size = negative ? -static_cast<UnsignedWide>(sum) : static_cast<UnsignedWide>(sum);
  // 64 leading bits, the last of which stands for all below: they round as the number does.
  int above = exponent;
  auto leading = static_cast<std::uint64_t>(size);
  if (const auto high = static_cast<std::uint64_t>(size >> 64); high != 0) {
    const int shift = 64 - __builtin_clzll(high);
    leading = static_cast<std::uint64_t>(size >> shift);
    leading |= (size & ((UnsignedWide{1} << shift) - 1)) != 0 ? 1 : 0;
    above += shift;
  }
  using F = Format<T>;
  const T rounded = static_cast<T>(leading);
  const auto bits = F::to_bits(rounded);
  const int field = static_cast<int>(bits >> F::fraction) + above;
  if (field > 0 && field < static_cast<int>(F::largest_exponent)) {
    const T result =
        F::from_bits(static_cast<typename F::Bits>(bits + (static_cast<typename F::Bits>(above) << F::fraction)));
    return negative ? -result : result;
  }
  std::uint32_t digits[4][1];
  for (int d = 0; d < 4; ++d) digits[d][0] = static_cast<std::uint32_t>(size >> (32 * d));
  const std::uint32_t sign[1] = {negative ? 1U : 0U};
  const int at[1] = {exponent};
  T result[1];
  nearest(digits, sign, at, result);
  return result[0];
}

// Inner products of the vectors of a block. By itself, where sums have all registers.
template <class W, int parts, int rows, int columns>
[[gnu::noinline]] void inner_products(const typename W::Integer* a, const typename W::Integer* b, Index inner,
                                      typename W::Sum (&re)[rows][columns], typename W::Sum (&im)[rows][columns]) {
  using Sum = typename W::Sum;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) re[r][c] = im[r][c] = 0;
  }
  for (Index k = 0; k < inner; ++k) {
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        const Sum x = a[r * parts * inner + k];
        const Sum y = b[c * parts * inner + k];
        re[r][c] += x * y;
        if constexpr (parts == 2) {
          const Sum u = a[(r * parts + 1) * inner + k];
          const Sum v = b[(c * parts + 1) * inner + k];
          re[r][c] -= u * v;
          im[r][c] += x * v + u * y;
        }
      }
    }
  }
}

// Elements of C.
template <Scalar T, class W> class Elementwise {
 public:
  using Integer = typename W::Integer;
  using Sum = typename W::Sum;

  Elementwise(const Product<T>& product, const Workspace<T>& work, const Integer* left, const Integer* right)
      : product_(product), work_(work), left_(left), right_(right) {}

  void all() const {
    constexpr int block = is_complex<T> ? 1 : 2;
    Index j = 0;
    for (; j + block <= product_.n; j += block) column<block>(j);
    for (; j < product_.n; ++j) column<1>(j);
  }

 private:
  template <int columns> void column(Index j) const {
    constexpr int block = is_complex<T> ? 1 : 2;
    Index i = 0;
    for (; i + block <= product_.m; i += block) put<block, columns>(i, j);
    for (; i < product_.m; ++i) put<1, columns>(i, j);
  }
  template <int rows, int columns> void put(Index i, Index j) const {
    const Index length = product_.k * parts<T>;
    Sum re[rows][columns];
    Sum im[rows][columns];
    inner_products<W, parts<T>>(left_ + i * length, right_ + j * length, product_.k, re, im);
    for (int c = 0; c < columns; ++c) {
      for (int r = 0; r < rows; ++r) finish(i + r, j + c, re[r][c], im[r][c]);
    }
  }
  // As Target has it.
  void finish(Index i, Index j, Sum re, [[maybe_unused]] Sum im) const {
    using R = Real<T>;
    const int row = work_.left.exponents[static_cast<std::size_t>(i)];
    const int column = work_.right.exponents[static_cast<std::size_t>(j)];
    T value{0};
    if (row == QuantisedVectors<T>::special || column == QuantisedVectors<T>::special) {
      const T* const a = work_.left.vector(i);
      const T* const b = work_.right.vector(j);
      for (Index k = 0; k < product_.k; ++k) value = multiply_add(a[k], b[k], value);
    } else if constexpr (is_complex<T>) {
      value = T(nearest_to<R>(re, -(row + column)), nearest_to<R>(im, -(row + column)));
    } else {
      value = nearest_to<R>(re, -(row + column));
    }
    T& c = product_.C[i + j * product_.leading_c];
    const T scaled = product_.alpha == T{1} ? value : multiply_add(product_.alpha, value, T{0});
    c = product_.beta == T{0} ? scaled : multiply_add(product_.beta, c, scaled);
  }

  const Product<T>& product_;
  const Workspace<T>& work_;
  const Integer* left_;
  const Integer* right_;
};

}  // namespace

template <Scalar T> bool multiply_directly(const Product<T>& product) {
  Workspace<T>& work = workspace<T>();
  work.left.take(product.op_a, product.A, product.leading_a, true, product.m, product.k);
  work.right.take(product.op_b, product.B, product.leading_b, false, product.n, product.k);
  const Spread spread = probe(product, work);
  if (work.inner != product.k) {
    work.moduli = emulation_moduli<T>(product.k);
    work.inner = product.k;
  }
  int moduli = work.moduli;
  if (spread.undecided > 0 || spread.ratio > usual_spread) {
    const EmulationReport report = choose_emulation<T>(product.k, product.m * product.n, spread, {});
    if (report.fallback) return false;
    moduli = report.moduli;
  }
  const ResidueSystem& system = residue_system(field_of<T>, moduli);
  const double square_of_reach = square_of_reach_for(system, product.k);
  // Integers are below the root of half of P, sums of their products below half of P.
  if (system.log2_product < 62.0) {
    work.left.quantise(square_of_reach, work.left.narrow);
    work.right.quantise(square_of_reach, work.right.narrow);
    Elementwise<T, Words<std::int32_t, std::int64_t>>(product, work, work.left.narrow.data(), work.right.narrow.data())
        .all();
  } else if (system.log2_product < 126.0) {
    work.left.quantise(square_of_reach, work.left.wide);
    work.right.quantise(square_of_reach, work.right.wide);
    Elementwise<T, Words<std::int64_t, Wide>>(product, work, work.left.wide.data(), work.right.wide.data()).all();
  } else {
    return false;
  }
  return true;
}

#define HEDDLE_INSTANTIATE(T) template bool multiply_directly<T>(const Product<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
