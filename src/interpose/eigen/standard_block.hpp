// Real matrices of two rows and columns: their eigenvalues, and the standard forms of a Schur form's blocks.
#pragma once

#include "interpose/eigen/fixed_order.hpp"

#include <limits>

namespace heddle::impl::interpose {

/// Two shifts: the eigenvalues of (a b; c d) where they are a conjugate pair, else twice the one nearer to d.
template <RealScalar R> struct Shifts {
  R re[2] = {};
  R im[2] = {};
  Shifts(R a, R b, R c, R d) {
    const R size = std::abs(a) + std::abs(b) + std::abs(c) + std::abs(d);
    if (!(size > R{0})) return;
    a /= size;
    b /= size;
    c /= size;
    d /= size;
    const R middle = (a + d) / 2;
    const R determinant = (a - middle) * (d - middle) - b * c;
    const R root = std::sqrt(std::abs(determinant));
    if (determinant >= R{0}) {
      re[0] = re[1] = middle * size;
      im[0] = root * size;
      im[1] = -im[0];
      return;
    }
    const R one = middle + root;
    const R other = middle - root;
    re[0] = re[1] = (std::abs(one - d) <= std::abs(other - d) ? one : other) * size;
  }
};

/// (a b; c d) = (cosine -sine; sine cosine) S (cosine sine; -sine cosine): S has c = 0, or a = d, and b and c of
/// different signs, for the eigenvalues a +- i imaginary; after Z. Bai and J. Demmel, Linear Algebra Appl. 186, 1993.
template <RealScalar R> struct StandardBlock {
  R a;
  R b;
  R c;
  R d;
  R cosine{1};
  R sine{0};
  R imaginary{0};

  StandardBlock(R given_a, R given_b, R given_c, R given_d) : a(given_a), b(given_b), c(given_c), d(given_d) {
    if (c != R{0}) {
      if (b == R{0}) {
        turn_over();
      } else if (a != d || std::signbit(b) == std::signbit(c)) {
        reduce();
      }
    }
    if (c != R{0}) imaginary = std::sqrt(std::abs(b)) * std::sqrt(std::abs(c));
  }

 private:
  void turn_over() {
    std::swap(a, d);
    b = -c;
    c = R{0};
    const R turned = cosine;
    cosine = -sine;
    sine = turned;
  }
  void reduce() {
    constexpr R little = 8 * unit_roundoff<R>;
    const R half = (a - d) / 2;
    const R larger = std::max(std::abs(b), std::abs(c));
    const R smaller = std::copysign(std::min(std::abs(b), std::abs(c)), std::signbit(c) ? -b : b);
    const R scale = std::max(std::abs(half), larger);
    const R discriminant = half / scale * half + larger / scale * smaller;
    if (discriminant >= little) {
      // Real and apart.
      const R far = half + std::copysign(std::sqrt(scale) * std::sqrt(discriminant), half);
      a = d + far;
      d -= larger / far * smaller;
      const Direction<R> direction(far, c);
      cosine = direction.of_x;
      sine = direction.of_y;
      b -= c;
      c = R{0};
      return;
    }
    make_diagonal_even();
    if (c == R{0}) return;
    if (b == R{0}) {
      turn_over();
    } else if (std::signbit(b) == std::signbit(c)) {
      separate();
    }
  }
  // Conjugate, or nearly equal: the same element twice on the diagonal.
  void make_diagonal_even() {
    const R sum = b + c;
    const R difference = a - d;
    const Direction<R> direction(sum, difference);
    cosine = std::sqrt((R{1} + std::abs(direction.of_x)) / 2);
    sine = -(direction.of_y / (2 * cosine)) * std::copysign(R{1}, sum);
    const R first = a * cosine + b * sine;
    const R second = b * cosine - a * sine;
    const R third = c * cosine + d * sine;
    const R fourth = d * cosine - c * sine;
    a = first * cosine + third * sine;
    b = second * cosine + fourth * sine;
    c = third * cosine - first * sine;
    d = fourth * cosine - second * sine;
    a = d = (a + d) / 2;
  }
  // Real after all.
  void separate() {
    const R root_b = std::sqrt(std::abs(b));
    const R root_c = std::sqrt(std::abs(c));
    const R apart = std::copysign(root_b * root_c, c);
    const R size = std::sqrt(std::abs(b + c));
    const R middle = a;
    a = middle + apart;
    d = middle - apart;
    b -= c;
    c = R{0};
    const R more_cosine = root_b / size;
    const R more_sine = root_c / size;
    const R turned = cosine * more_cosine - sine * more_sine;
    sine = cosine * more_sine + sine * more_cosine;
    cosine = turned;
  }
};

}  // namespace heddle::impl::interpose
