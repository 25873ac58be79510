// Matrices of many kinds of numbers, and exact sums of scalars of any type.
#pragma once

#include "reference.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>

#include <array>
#include <cmath>
#include <random>
#include <string>

namespace heddle::exact {

// Kinds of test numbers.
enum class Data { tame, spread, cancelling, any, denormal, huge };

template <class R> R real_number(std::mt19937_64& random, Data data) {
  if (data == Data::any) {
    return any_number<R>(random);
  }
  const R fraction = std::ldexp(static_cast<R>(random() >> 40), -24) - R(0.5);
  if (data == Data::denormal || data == Data::huge) {
    constexpr int denormal_power = sizeof(R) == 8 ? -1040 : -130;
    constexpr int huge_power = sizeof(R) == 8 ? 1024 : 128;
    return static_cast<R>(std::ldexp(static_cast<double>(fraction), data == Data::huge ? huge_power : denormal_power));
  }
  const int range = data == Data::tame ? 0 : sizeof(R) == 8 ? 100 : 20;
  return range == 0 ? fraction
                    : std::ldexp(fraction, static_cast<int>(random() % static_cast<unsigned>(range)) - range / 2);
}
template <class T> T number(std::mt19937_64& random, Data data) {
  if constexpr (is_complex<T>) {
    const auto re = real_number<Real<T>>(random, data);
    return T(re, real_number<Real<T>>(random, data));
  } else {
    return real_number<T>(random, data);
  }
}
template <class T> T taken(Operation op, const T& x) {
  return op == Operation::conjugate_transpose ? conjugate(x) : x;
}

// A scalar's exact sum of products of two or three factors.
template <class T> class Expected {
 public:
  void add(const T& x, const T& y, const T& z = T(1)) {
    if constexpr (is_complex<T>) {
      using R = Real<T>;
      const R factors[3][2] = {{x.real(), x.imag()}, {y.real(), y.imag()}, {z.real(), z.imag()}};
      for (unsigned choice = 0; choice < 8; ++choice) {
        const unsigned i = choice & 1U;
        const unsigned j = choice >> 1 & 1U;
        const unsigned k = choice >> 2;
        const unsigned imaginary = i + j + k;
        part_[imaginary % 2].add_product(imaginary >= 2 ? -factors[0][i] : factors[0][i], factors[1][j], factors[2][k]);
      }
    } else {
      part_[0].add_product(x, y, z);
    }
  }
  [[nodiscard]] T value() const {
    if constexpr (is_complex<T>) {
      return T(part_[0].template value<Real<T>>(), part_[1].template value<Real<T>>());
    } else {
      return part_[0].template value<T>();
    }
  }
  // Zeros of either sign compare equal, as in text_of().
  [[nodiscard]] std::string text() const {
    const Real<T> zero = 0;
    return shown(part_[0].template value<Real<T>>() + zero) +
           (is_complex<T> ? ' ' + shown(part_[1].template value<Real<T>>() + zero) : "");
  }

 private:
  std::array<Reference, 2> part_;
};
template <class T> std::string text_of(const T& x) {
  if constexpr (is_complex<T>) {
    return shown(x.real() + Real<T>(0)) + ' ' + shown(x.imag() + Real<T>(0));
  } else {
    return shown(x + T(0));
  }
}

// Returns x / y of complex numbers: the two parts rounded once, zeros of either sign alike.
template <class R> std::string expected_quotient(const Kokkos::complex<R>& x, const Kokkos::complex<R>& y) {
  Reference re;
  Reference im;
  Reference size;
  re.add_product(x.real(), y.real());
  re.add_product(x.imag(), y.imag());
  im.add_product(x.imag(), y.real());
  im.add_product(-x.real(), y.imag());
  size.add_product(y.real(), y.real());
  size.add_product(y.imag(), y.imag());
  re.divide_by(size);
  im.divide_by(size);
  return shown(re.value<R>() + R(0)) + ' ' + shown(im.value<R>() + R(0));
}

// A matrix in its own memory, on host and device.
template <class T, class Layout = Kokkos::LayoutLeft> struct Matrix {
  Kokkos::View<T**, Layout, MemorySpace> device;
  Kokkos::View<T**, Layout, Kokkos::HostSpace> host;
  Matrix(std::size_t rows, std::size_t columns)
      : device("heddle::test::matrix", rows, columns), host("heddle::test::mirror", rows, columns) {}
  void fill(std::mt19937_64& random, Data data) {
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      for (std::size_t j = 0; j < host.extent(1); ++j) {
        host(i, j) = number<T>(random, data);
        if (data == Data::cancelling && j % 2 == 1) {
          host(i, j) = host(i, j - 1);
        }
      }
    }
    Kokkos::deep_copy(device, host);
  }
  void read() { Kokkos::deep_copy(host, device); }
};

}  // namespace heddle::exact
