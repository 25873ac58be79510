// Bytes that a thread writes of op(A) and op(B) for products of integers: residues, slices, or leading bits.
#pragma once

#include "emulation/quantised.hpp"

#include <cmath>

namespace heddle::impl {

using exact::bits::Format;

/// |x| 2^(width - e), rounded down: below 2^width.
KOKKOS_INLINE_FUNCTION std::uint64_t leading_bits(std::uint64_t bits, int exponent, int width) {
  using F = Format<double>;
  const auto field = static_cast<int>(bits >> F::fraction);
  const std::uint64_t mantissa = (bits & F::fraction_mask) | (field > 0 ? F::fraction_mask + 1 : 0);
  const int last = field > 0 ? field - 1075 : -1074;
  const int shift = exponent - width - last;
  return shift >= 64 ? 0 : shift >= 0 ? mantissa >> shift : mantissa << -shift;
}

/// |x| 2^(14 - e), rounded up: at most 2^14.
KOKKOS_INLINE_FUNCTION std::uint64_t coarse(std::uint64_t bits, int exponent) {
  return leading_bits(bits, exponent, norm_bits) + (bits != 0 ? 1 : 0);
}
template <Scalar T> KOKKOS_INLINE_FUNCTION std::uint64_t coarse_square(const T& x, int exponent) {
  if constexpr (is_complex<T>) {
    return coarse_square(x.real(), exponent) + coarse_square(x.imag(), exponent);
  } else {
    const std::uint64_t q = coarse(magnitude_bits(x), exponent);
    return q * q;
  }
}

/// Square of the norm that a vector of `inner` elements may have before it is rounded to integers: the reach less what
/// rounding adds.
inline double square_of_reach_for(const ResidueSystem& system, Index inner) {
  const double parts = static_cast<double>(inner) * (system.field == Field::complex ? 2.0 : 1.0);
  const double reach = system.reach - 0.5 * std::sqrt(parts);
  return reach * reach * (1.0 - 0x1p-40);
}
/// Largest s with 2^s |x|_2 <= reach, from the sum of the coarse squares.
KOKKOS_INLINE_FUNCTION int scale_of(std::uint64_t squares, int exponent, double square_of_reach) {
  if (squares == 0) {
    return 0;
  }
  // A sum beyond 2^53 rounds; reach has room for that.
  const double ratio = square_of_reach / static_cast<double>(squares);
  const int bits = static_cast<int>(Format<double>::to_bits(ratio) >> Format<double>::fraction) - 1023;
  const int half = bits >= 0 ? bits / 2 : -((1 - bits) / 2);
  return half + norm_bits - exponent;
}

/// Scaling by 2^s in two steps, each within the range of doubles.
struct PowerOfTwo {
  double first;
  double second;
  KOKKOS_INLINE_FUNCTION explicit PowerOfTwo(int s) {
    const int half = s / 2;
    first = power(half);
    second = power(s - half);
  }
  static KOKKOS_INLINE_FUNCTION double power(int e) {
    return Format<double>::from_bits(static_cast<std::uint64_t>(e + 1023) << Format<double>::fraction);
  }
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return x * first * second; }
};

inline constexpr double rounder = 0x1.8p52;

/// Round to the nearest integer, ties to even. (Kokkos::rint() needs release 5.)
KOKKOS_INLINE_FUNCTION double rounded(double x) {
  const double shift = x < 0.0 ? -0x1p52 : 0x1p52;
  return Kokkos::abs(x) < 0x1p52 ? (x + shift) - shift : x;
}

/// x mod p, nearest to zero but for p / 24. For |x| below 2^55.1, p from 101 on; each pass takes 51 bits off a longer
/// x.
template <int passes> KOKKOS_INLINE_FUNCTION std::int32_t near_residue_of(double x, double p, double inverse) {
  for (int pass = 0; pass < passes; ++pass) {
    x = Kokkos::fma(-rounded(x * inverse), p, x);
  }
  const double quotient = Kokkos::fma(x, inverse, rounder) - rounder;
  const double rest = Kokkos::fma(-quotient, p, x);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(Format<double>::to_bits(rest + rounder)));
}

/// x mod p, of 8 bits.
template <int passes> KOKKOS_INLINE_FUNCTION std::int8_t residue_of(double x, double p, double inverse) {
  std::int32_t r = near_residue_of<passes>(x, p, inverse);
  // The quotient is off by 1/64 at most (the integers of 14 real moduli are below 2^54.6, and complex numbers get
  // passes if they need them). Only the largest moduli have no room for that, and 256 wraps by itself.
  if (p > 247.0) {
    const auto modulus = static_cast<std::int32_t>(p);
    r -= r > 127 ? modulus : 0;
    r += r < -128 ? modulus : 0;
  }
  return static_cast<std::int8_t>(r);
}

/// x mod p, nearest to zero, p odd. For |x| below 2^14: x / p, off by 2^-15 at most, is never that near to a half, and
/// all else is exact, fused or not.
KOKKOS_INLINE_FUNCTION std::int8_t small_residue(float x, float p, float inverse) {
  constexpr float shift = 0x1.8p23F;
  const float quotient = (x * inverse + shift) - shift;
  const float rest = x - quotient * p;
  return static_cast<std::int8_t>(Format<float>::to_bits(rest + shift));
}

/// Elements of op(X) as vectors: element k of vector v.
template <Scalar T> struct VectorsOf {
  const T* data;
  Index vector_stride;
  Index element_stride;
  VectorsOf(const MatrixView<const T>& X, bool contiguous)
      : data(X.data()),
        vector_stride(contiguous ? static_cast<Index>(X.stride(1)) : 1),
        element_stride(contiguous ? 1 : static_cast<Index>(X.stride(1))) {}
  KOKKOS_INLINE_FUNCTION const T& operator()(Index v, Index k) const {
    return data[v * vector_stride + k * element_stride];
  }
};

/// Neighbouring elements of a vector that one thread turns into residues, and stores at once.
inline constexpr Index run_length = on_host ? 64 : 4;
struct alignas(4) ByteRun {
  std::int8_t value[run_length];
};

template <int passes>
KOKKOS_INLINE_FUNCTION void residues_of(const double (&x)[run_length], double p, double inverse, ByteRun& run) {
  for (Index k = 0; k < run_length; ++k) run.value[k] = residue_of<passes>(x[k], p, inverse);
}

/// A run's residues in every plane; target is the run's place in the first.
template <int passes, RealScalar T>
KOKKOS_INLINE_FUNCTION void reduce_run(const T (&x)[run_length], const PowerOfTwo& scale, bool /*conjugated*/,
                                       const ResidueSystem& system, std::int8_t* target, Index stride) {
  double scaled[run_length];
  for (Index k = 0; k < run_length; ++k) scaled[k] = rounded(scale(static_cast<double>(x[k])));
  for (int l = 0; l < system.count; ++l) {
    ByteRun run;
    residues_of<passes>(scaled, system.divisor[l], system.inverse[l], run);
    *reinterpret_cast<ByteRun*>(target + l * stride) = run;
  }
}
template <int passes, RealScalar T>
KOKKOS_INLINE_FUNCTION void reduce_run(const Kokkos::complex<T> (&x)[run_length], const PowerOfTwo& scale,
                                       bool conjugated, const ResidueSystem& system, std::int8_t* target,
                                       Index stride) {
  double re[run_length];
  double im[run_length];
  for (Index k = 0; k < run_length; ++k) {
    re[k] = rounded(scale(static_cast<double>(x[k].real())));
    im[k] = rounded(scale(static_cast<double>(conjugated ? -x[k].imag() : x[k].imag())));
  }
  for (int l = 0; l < system.split; ++l, target += 2 * stride) {
    ByteRun plus;
    ByteRun minus;
    for (Index k = 0; k < run_length; ++k) {
      const auto a = static_cast<float>(near_residue_of<passes>(re[k], system.divisor[l], system.inverse[l]));
      const auto b = static_cast<float>(near_residue_of<passes>(im[k], system.divisor[l], system.inverse[l]));
      const float turned = system.root[l] * b;
      plus.value[k] = small_residue(a + turned, system.small_divisor[l], system.small_inverse[l]);
      minus.value[k] = small_residue(a - turned, system.small_divisor[l], system.small_inverse[l]);
    }
    *reinterpret_cast<ByteRun*>(target) = plus;
    *reinterpret_cast<ByteRun*>(target + stride) = minus;
  }
  for (int l = system.split; l < system.count; ++l, target += 3 * stride) {
    const auto modulus = static_cast<std::int32_t>(system.modulus[l]);
    ByteRun real;
    ByteRun imaginary;
    ByteRun sum;
    residues_of<passes>(re, system.divisor[l], system.inverse[l], real);
    residues_of<passes>(im, system.divisor[l], system.inverse[l], imaginary);
    for (Index k = 0; k < run_length; ++k) {
      std::int32_t both = std::int32_t{real.value[k]} + std::int32_t{imaginary.value[k]};
      both -= both > 127 ? modulus : 0;
      both += both < -128 ? modulus : 0;
      sum.value[k] = static_cast<std::int8_t>(both);
    }
    *reinterpret_cast<ByteRun*>(target) = real;
    *reinterpret_cast<ByteRun*>(target + stride) = imaginary;
    *reinterpret_cast<ByteRun*>(target + 2 * stride) = sum;
  }
}

/// Code shared by the kernels that turn vectors into planes of bytes.
template <Scalar T> struct Planes {
  using Element = T;
  VectorsOf<T> x;
  Index vectors;
  Index inner;
  Index leading;
  Index padded;
  std::int8_t* bytes;
  const int* exponents;

  /// s of a vector; `special` for padding, whose bytes are zeros too.
  KOKKOS_INLINE_FUNCTION int exponent(Index v) const {
    return v < vectors ? exponents[v] : QuantisedVectors<T>::special;
  }
  KOKKOS_INLINE_FUNCTION T element(Index v, Index k, int s) const {
    return s != QuantisedVectors<T>::special && k < inner ? x(v, k) : T{0};
  }
};

template <Scalar T, int passes> struct Residues : Planes<T> {
  bool conjugated;
  ResidueSystem system;

  KOKKOS_INLINE_FUNCTION void store(const T (&run)[run_length], Index v, Index begin, int s) const {
    reduce_run<passes>(run, PowerOfTwo(s == QuantisedVectors<T>::special ? 0 : s), conjugated, system,
                       this->bytes + v * this->leading + begin, this->leading * this->padded);
  }
};

/// Slices of 8 bits of the integers nearest to the scaled x, the lowest first.
template <Scalar T> struct Slices : Planes<T> {
  bool conjugated;
  int count;

  KOKKOS_INLINE_FUNCTION void store(const T (&run)[run_length], Index v, Index begin, int s) const {
    const PowerOfTwo scale(s == QuantisedVectors<T>::special ? 0 : s);
    double part[run_length];
    if constexpr (is_complex<T>) {
      for (Index k = 0; k < run_length; ++k) part[k] = static_cast<double>(run[k].real());
      cut(part, scale, v, begin, 0);
      for (Index k = 0; k < run_length; ++k) part[k] = static_cast<double>(conjugated ? -run[k].imag() : run[k].imag());
      cut(part, scale, v, begin, count);
    } else {
      for (Index k = 0; k < run_length; ++k) part[k] = static_cast<double>(run[k]);
      cut(part, scale, v, begin, 0);
    }
  }

  KOKKOS_INLINE_FUNCTION void cut(double (&part)[run_length], const PowerOfTwo& scale, Index v, Index begin,
                                  int plane) const {
    for (double& one : part) one = rounded(scale(one));
    for (int l = 0; l < count; ++l) {
      ByteRun slice;
      for (Index k = 0; k < run_length; ++k) {
        double above = rounded(part[k] * 0x1p-8);
        double rest = Kokkos::fma(-256.0, above, part[k]);
        if (rest == 128.0) {
          above += 1.0;
          rest = -128.0;
        }
        slice.value[k] = static_cast<std::int8_t>(rest);
        part[k] = above;
      }
      *reinterpret_cast<ByteRun*>(this->bytes + (plane + l) * this->leading * this->padded + v * this->leading +
                                  begin) = slice;
    }
  }
};

/// Leading bits of magnitudes, the same raised by far_bits, and whether x is not zero; the exponents are those of the
/// vectors' largest magnitudes.
template <Scalar T> struct LeadingBits : Planes<T> {
  int width;

  KOKKOS_INLINE_FUNCTION void store(const T (&run)[run_length], Index v, Index begin, int s) const {
    const auto most = (std::uint64_t{1} << width) - 1;
    ByteRun close;
    ByteRun distant;
    ByteRun present;
    for (Index k = 0; k < run_length; ++k) {
      const std::uint64_t bits = magnitude_bits(run[k]);
      const std::uint64_t raised = leading_bits(bits, s, width + far_bits);
      close.value[k] = static_cast<std::int8_t>(raised >> far_bits);
      distant.value[k] = static_cast<std::int8_t>(raised < most ? raised : most);
      present.value[k] = bits != 0 ? 1 : 0;
    }
    std::int8_t* const target = this->bytes + v * this->leading + begin;
    const Index stride = this->leading * this->padded;
    *reinterpret_cast<ByteRun*>(target) = close;
    *reinterpret_cast<ByteRun*>(target + stride) = distant;
    *reinterpret_cast<ByteRun*>(target + 2 * stride) = present;
  }
};

}  // namespace heddle::impl
