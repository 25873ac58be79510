// Small hard matrices of the literature against 256 bits, in all scalars, to the bar of perf/expm/accuracy.py; and what
// other codes were found to let through: NaN, norms near the end of the range.
#include "support/matrices.hpp"
#include "support/multiprecision.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace heddle {
namespace {

using test::Complex;
using test::narrow;
using test::widen;

struct HardMatrix {
  std::string name;
  double condition;  // Of the exponential, relative, in the Frobenius norm: by perf/expm/reference.py.
  std::size_t n;
  std::vector<Complex> entries;  // By rows.
};

// Sources: perf/expm/matrices.py.
std::vector<HardMatrix> hard_matrices() {
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

template <class T> class HardMatrices : public ::testing::Test {
 protected:
  // The exponential of n x n entries, by rows, rounded to T; on rank 0.
  HostMatrix<T> exponential(std::size_t n, const std::vector<Complex>& entries) {
    const HostMatrix<T> whole("heddle::test::whole", comm.rank() == 0 ? n : 0, comm.rank() == 0 ? n : 0);
    for (std::size_t k = 0; k < whole.size(); ++k) {
      whole(k / n, k % n) = narrow<T>(entries[k]);
    }
    const auto order = static_cast<Index>(n);
    const DistributedMatrix<T> A(comm, Placement::row_bands(order, order, comm.size()));
    const DistributedMatrix<T> E(comm, A.placement());
    scatter(whole, 0, A);
    expm(comm, A, E);
    return gather(E, 0);
  }
  // What is thrown, on every rank; nothing where a result is given.
  std::optional<ErrorKind> refusal(std::size_t n, const std::vector<Complex>& entries) {
    try {
      static_cast<void>(exponential(n, entries));
    } catch (const Error& error) {
      return error.kind();
    }
    return std::nullopt;
  }

  Communicator comm = test::world();
};
TYPED_TEST_SUITE(HardMatrices, test::AllScalars);

// ||found - exp(A)||_F / ||exp(A)||_F, A as it is in T.
template <Scalar T> double relative_error(const HostMatrix<T>& found, const HardMatrix& matrix) {
  test::WideMatrix wide(matrix.n);
  for (std::size_t k = 0; k < matrix.entries.size(); ++k) {
    wide.set(k / matrix.n, k % matrix.n, widen(narrow<T>(matrix.entries[k])));
  }
  const test::WideMatrix expected = test::wide_exponential(std::move(wide));
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

TYPED_TEST(HardMatrices, ErrorsAreWithinTheCondition) {
  using T = TypeParam;
  for (const HardMatrix& matrix : hard_matrices()) {
    const bool real =
        std::all_of(matrix.entries.begin(), matrix.entries.end(), [](Complex z) { return z.imag() == 0; });
    if (!real && !is_complex<T>) {
      continue;
    }
    const auto found = this->exponential(matrix.n, matrix.entries);
    if (this->comm.rank() == 0) {
      const double error = relative_error(found, matrix);
      const double bound = static_cast<double>(matrix.n) * unit_roundoff<T> * matrix.condition;
      // Beyond 1 there is no digit to ask for, but a number all the same.
      if (bound < 1.0) {
        EXPECT_LE(error, bound) << matrix.name;
      } else {
        EXPECT_TRUE(std::isfinite(error)) << matrix.name;
      }
    }
  }
}

TYPED_TEST(HardMatrices, NotANumberAndInfinityAreRefusedWhereverTheyAre) {
  using T = TypeParam;
  const std::size_t n = 5;
  for (const double poison : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    for (const std::size_t where : {0UL, 8UL, 21UL}) {
      std::vector<Complex> entries(n * n, 0.0);
      entries[where] = poison;
      EXPECT_EQ(this->refusal(n, entries), ErrorKind::computation) << poison << " at " << where;
      if (is_complex<T>) {
        entries[where] = Complex(0.0, poison);
        EXPECT_EQ(this->refusal(n, entries), ErrorKind::computation) << poison << " i at " << where;
      }
    }
  }
}

TYPED_TEST(HardMatrices, RangeOfTheNumbers) {
  using T = TypeParam;
  const double largest = std::log(static_cast<double>(std::numeric_limits<Real<T>>::max()));
  EXPECT_EQ(this->refusal(2, {1.1 * largest, 0, 0, 1}), ErrorKind::computation) << "overflows";
  EXPECT_EQ(this->refusal(2, {1e30, 1e30, 1e30, 1e30}), ErrorKind::computation) << "overflows by far";
  EXPECT_EQ(this->refusal(1, {1e30}), ErrorKind::computation) << "one by one";
  // Nearly as large as can be, beside nearly as small.
  const auto wide = this->exponential(2, {0.95 * largest, 0, 0, -0.95 * largest});
  // Nilpotent: I + A, however large.
  const auto nilpotent = this->exponential(3, {0, 1e30, 0, 0, 0, 0, 0, 0, 0});
  // Decays to nothing.
  const auto nothing = this->exponential(2, {-1e30, 0, 0, -1e20});
  if (this->comm.rank() == 0) {
    const double exact = std::exp(static_cast<double>(static_cast<Real<T>>(0.95 * largest)));
    EXPECT_NEAR(widen(wide(0, 0)).real() / exact, 1.0, 2 * 0.95 * largest * unit_roundoff<T>);
    EXPECT_EQ(widen(wide(0, 1)), 0.0);
    for (std::size_t k = 0; k < 9; ++k) {
      const double expected = k == 1 ? static_cast<double>(static_cast<Real<T>>(1e30)) : k % 4 == 0 ? 1.0 : 0.0;
      EXPECT_EQ(widen(nilpotent(k / 3, k % 3)), expected) << k;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(widen(nothing(k / 2, k % 2)), 0.0) << k;
    }
  }
}

}  // namespace
}  // namespace heddle
