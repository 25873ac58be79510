// Rows of op(A) or columns of op(B) as the integers that an emulated product stands for, on the calling threads.
#pragma once

#include "emulation/planes.hpp"
#include "interpose/blas/threads.hpp"

#include <cstdint>
#include <vector>

namespace heddle::impl::interpose {

__extension__ using Int128 = __int128;

template <Scalar T> constexpr int parts = is_complex<T> ? 2 : 1;

// Rows of op(A) or columns of op(B), one after the other.
template <Scalar T> class DirectVectors {
 public:
  [[gnu::noinline]] void take(Operation op, const T* data, Index leading, bool left, Index count, Index inner,
                              int threads) {
    threads_ = threads;
    count_ = count;
    inner_ = inner;
    const bool by_rows = (op == Operation::none) == left;
    const Index vector = by_rows ? 1 : leading;
    const Index element = by_rows ? leading : 1;
    elements.resize(static_cast<std::size_t>(count * inner));
    for_each_vector([&](Index v) {
      T* const target = elements.data() + v * inner;
      const T* const source = data + v * vector;
      for (Index k = 0; k < inner; ++k) {
        target[k] = op == Operation::conjugate_transpose ? conjugate(source[k * element]) : source[k * element];
      }
    });
  }
  [[nodiscard]] const T* vector(Index v) const { return elements.data() + v * inner_; }

  // Statistics and leading bits, as QuantisedVectors::measure() and take_leading() find them.
  [[gnu::noinline]] void measure(int width) {
    const auto all = static_cast<std::size_t>(count_);
    squares.resize(all);
    exponents.resize(all);
    largest_exponents.resize(all);
    near.resize(elements.size());
    for_each_vector([&](Index v) {
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
    });
  }
  // Measure the rest that a probe needs if leading bits alone leave elements in doubt.
  void measure_far(int width) {
    far.resize(elements.size());
    present.resize(elements.size());
    const auto most = (std::uint64_t{1} << width) - 1;
    for_each_vector([&](Index v) {
      const bool special = exponents[static_cast<std::size_t>(v)] == QuantisedVectors<T>::special;
      for (Index k = 0; k < inner_; ++k) {
        const std::uint64_t bits = special ? 0 : magnitude_bits(vector(v)[k]);
        const std::uint64_t raised =
            special ? 0 : leading_bits(bits, exponents[static_cast<std::size_t>(v)], width + far_bits);
        const auto at = static_cast<std::size_t>(v * inner_ + k);
        far[at] = static_cast<std::int16_t>(std::min(raised, most));
        present[at] = bits != 0 ? 1 : 0;
      }
    });
  }
  // The integers; of complex numbers the real parts of a vector, then the imaginary ones.
  template <class Integer> void quantise(double square_of_reach, std::vector<Integer>& integers) {
    integers.resize(elements.size() * parts<T>);
    for_each_vector([&](Index v) {
      const auto at = static_cast<std::size_t>(v);
      Integer* const target = integers.data() + v * inner_ * parts<T>;
      if (exponents[at] == QuantisedVectors<T>::special) {
        std::fill_n(target, inner_ * parts<T>, Integer{0});
        return;
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
    });
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
  std::vector<Int128> widest;

 private:
  template <class Body> void for_each_vector(const Body& body) const {
    in_parts(count_, threads_, [&](Index begin, Index end) {
      for (Index v = begin; v < end; ++v) body(v);
    });
  }
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

  int threads_ = 1;
  Index count_ = 0;
  Index inner_ = 0;
};

}  // namespace heddle::impl::interpose
