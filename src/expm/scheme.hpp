// Which polynomial of which scaled matrix: the choices of expm, free of matrices.
#pragma once

#include <vector>

namespace heddle::impl {

/// Taylor polynomial of degree m = powers * blocks of A / 2^squarings, evaluated with powers - 1 products for A^2 ...
/// A^powers and blocks - 1 for Horner's rule in A^powers.
struct Scheme {
  int degree = 1;
  int powers = 1;
  int blocks = 1;
  int squarings = 0;
};

/// Real products that a product costs, by what is multiplied.
struct ProductCosts {
  int power = 1;   ///< A^i by A^j.
  int horner = 1;  ///< A general polynomial by a power.
  int square = 1;  ///< A general matrix by itself.
};

/// Upper bound of the relative backward error of the Taylor polynomial of a degree at a norm theta: T_m(X) = exp(X +
/// E),
/// ||E|| <= bound ||X|| for ||X|| <= theta; infinity where the bound's series does not hold.
///
/// exp(-x) T_m(x) = 1 - int_0^x exp(-t) t^m / m! dt, so E = log(I - G(X)) with ||G(X)|| <= g = int_0^theta exp(t) t^m /
/// m! dt, and ||E|| <= -log(1 - g).
[[nodiscard]] double backward_error(int degree, double theta);

/// Cheapest scheme whose backward error is at most `tolerance` at ||A|| = norm; of equals the one with fewest
/// squarings.
[[nodiscard]] Scheme choose_scheme(double norm, double tolerance, const ProductCosts& costs);

/// Real products of a scheme.
[[nodiscard]] int products_of(const Scheme& scheme, const ProductCosts& costs);

}  // namespace heddle::impl
