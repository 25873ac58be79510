// Small hard matrices of the literature, with the condition numbers of their exponentials.
#pragma once

#include "support/matrices.hpp"
#include "support/multiprecision.hpp"

#include <cmath>
#include <complex>
#include <string>
#include <vector>

namespace heddle::test {

struct HardMatrix {
  std::string name;
  double condition;  // Relative condition number of the exponential in the Frobenius norm, from perf/expm/reference.py.
  std::size_t n;
  std::vector<Complex> entries;  // Row-major.
};

/// Sources: perf/expm/matrices.py.
inline std::vector<HardMatrix> hard_matrices() {
  const Complex i(0.0, 1.0);
  return {
      {"Moler, Van Loan", 441, 2, {-49, 24, -64, 31}},
      {"Ward 1", 7.5, 3, {4, 2, 0, 1, 4, 1, 1, 1, 4}},
      {"Ward 2",
       53.9,
       3,
       {29.87942128909879, .7815750847907159, -2.289519314033932,  //
        .7815750847907159, 25.72656945571064, 8.680737820540137,   //
        -2.289519314033932, 8.680737820540137, 34.39400925519054}},
      {"Ward 3", 1.53e4, 3, {-131, 19, 18, -390, 56, 54, -387, 57, 52}},
      {"Kenney, Laub: defective", 1.67e11, 2, {0.1, 1e6, 0, 0.1}},
      {"Kenney, Laub: stiff", 2.0e7, 2, {-1, 1e7, 0, -1e7}},
      {"Kenney, Laub: bidiagonal", 5.57e7, 5, {0,     3.8e3, 0, 0, 0, 0,      -3.8e3, 1, 0, 0, 0, 0,     -1,
                                               5.5e6, 0,     0, 0, 0, -5.5e6, 2.7e7,  0, 0, 0, 0, -2.7e7}},
      {"Kenney, Laub 1989", 3.3e3, 4, {48, -49, 50, 49, 0, -2, 100, 0, 0, -1, -2, 1, -50, 50, 50, -52}},
      {"Pang I", 2.04e3, 6, {0, 30, 1,   1, 1, 1, -100, 0, 1, 1, 1, 1,   0, 0, 0, -6, 1,   1,
                             0, 0,  500, 0, 1, 1, 0,    0, 0, 0, 0, 200, 0, 0, 0, 0,  -15, 0}},
      {"overscaled", 1.57e3, 2, {1, 1e2, 0, -1}},
      {"overscaled more", 1.57e9, 2, {1, 1e5, 0, -1}},
      {"overscaled, no triangle", 6.36e6, 4, {-49, 50, 1e3, 1e3, -50, 51, 1e3, 1e3, 0, 0, 49, -50, 0, 0, 50, -51}},
      {"rotation by 1000", 1e3, 2, {0, 1e3, -1e3, 0}},
      {"companion of x^4 + 16", 43.6, 4, {0, 0, 0, -16, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}},
      {"rates", 1.91e3, 3, {-1000, 0.5, 0, 1000, -1, 2, 0, 0.5, -2}},
      {"shift 80", 129, 3, {80, 0.125, 0.25, 0.375, 80, 0.5, 0.625, 0.75, 80}},
      {"shift 200 i", 296, 3, {200.0 * i, 0.125, 0.25 * i, 0.375, 200.0 * i, 0.5, 0.625, 0.75 * i, 200.0 * i}},
      // -10 i H.
      {"skew-Hermitian",
       58.3,
       4,
       {-20.0 * i, Complex(-10, -10), 0, 30, Complex(10, -10), 0, -40.0 * i, 0, 0, -40.0 * i, -50.0 * i,
        Complex(20, -20), -30, 0, Complex(-20, -20), 60.0 * i}},
      {"complex Jordan block",
       50.5,
       4,
       {Complex(0.5, 3), 10, 0, 0, 0, Complex(0.5, 3), 10, 0, 0, 0, Complex(0.5, 3), 10, 0, 0, 0, Complex(0.5, 3)}},
  };
}

/// ||found - exp(A)||_F / ||exp(A)||_F, with A rounded to T.
template <Scalar T, class Found> double relative_error(const Found& found, const HardMatrix& matrix) {
  WideMatrix wide(matrix.n);
  for (std::size_t k = 0; k < matrix.entries.size(); ++k) {
    wide.set(k / matrix.n, k % matrix.n, widen(narrow<T>(matrix.entries[k])));
  }
  const WideMatrix expected = wide_exponential(std::move(wide));
  double differences = 0.0;
  double squares = 0.0;
  for (std::size_t k = 0; k < matrix.entries.size(); ++k) {
    const std::size_t row = k / matrix.n;
    const std::size_t column = k % matrix.n;
    differences += std::norm(widen(found(row, column)) - expected.get(row, column));
    squares += std::norm(expected.get(row, column));
  }
  return std::sqrt(differences / squares);
}

}  // namespace heddle::test
