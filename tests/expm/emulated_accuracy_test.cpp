// Exponentials by emulated products are as accurate as native ones for any scaling of a matrix, and both return every
// result that is in range.
#include "expm/hard_matrices.hpp"
#include "support/errors.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::emulated_accuracy_test {
namespace {

using test::Complex;
using test::narrow;
using test::widen;

struct Case {
  std::string name;
  std::size_t n;
  std::vector<Complex> entries;  // Row-major.
};

Case made(const std::string& name, std::size_t n, const auto& entry) {
  Case result{name, n, {}};
  for (std::size_t k = 0; k < n * n; ++k) result.entries.push_back(entry(k / n, k % n));
  return result;
}

// Matrices whose rows and columns have very different sizes, with elements up to `large`.
std::vector<Case> badly_scaled(double large) {
  const auto random = [](std::size_t i, std::size_t j) {
    return test::random_number(static_cast<Index>(i), static_cast<Index>(j), 21);
  };
  std::vector<Case> cases;
  for (const double x : {1e2, std::sqrt(large), large}) {
    cases.push_back({"hyperbolic " + std::to_string(x), 2, {0, x, 1 / x, 0}});
    cases.push_back({"nilpotent " + std::to_string(x), 2, {0, x, 0, 0}});
    cases.push_back({"hidden by a row " + std::to_string(x), 3, {0, x, 0, 1 / x, 0, 0, x, x, 1}});
  }
  cases.push_back(made("chain", 10, [](std::size_t i, std::size_t j) {
    return Complex(i == j ? -0.1 * static_cast<double>(i) : j == i + 1 ? 1e3 : 0.0);
  }));
  cases.push_back(made("companion", 8, [](std::size_t i, std::size_t j) {
    constexpr double last[] = {-0.25, 250.0, -5e3, 2.5e4, 75.0, -2.5, 1.25, 0.5};
    return Complex(i == 7 ? last[j] : j == i + 1 ? 0.25 : 0.0);
  }));
  cases.push_back(made("Forsythe", 8, [](std::size_t i, std::size_t j) {
    return Complex(j == i + 1 ? 5.0 : i == 7 && j == 0 ? 5e-7 : 0.0);
  }));
  cases.push_back(made("graded", 7, [&](std::size_t i, std::size_t j) {
    return random(i, j) * Complex(std::pow(10.0, 2.0 * (static_cast<double>(i) - static_cast<double>(j))));
  }));
  cases.push_back(made("a large row", 6,
                       [&](std::size_t i, std::size_t j) { return Complex(i == 0 && j > 0 ? 1e4 : random(i, j)); }));
  cases.push_back(made("weakly joined", 3, [](std::size_t i, std::size_t j) {
    return Complex(i == j ? static_cast<double>(i) : i < j ? 1e-15 : 0.0);
  }));
  return cases;
}

template <class T> class EmulatedAccuracy : public ::testing::Test {
 protected:
  HostMatrix<T> exponential(const Case& one, const ExpmOptions& options) {
    const auto order = static_cast<Index>(one.n);
    const HostMatrix<T> whole("heddle::test::whole", comm.rank() == 0 ? one.n : 0, comm.rank() == 0 ? one.n : 0);
    for (std::size_t k = 0; k < whole.size(); ++k) whole(k / one.n, k % one.n) = narrow<T>(one.entries[k]);
    const DistributedMatrix<T> A(comm, Placement::row_bands(order, order, comm.size()));
    const DistributedMatrix<T> E(comm, A.placement());
    scatter(whole, 0, A);
    report = expm(comm, A, E, options);
    return gather(E, 0);
  }
  ExpmOptions emulated() const {
    ExpmOptions options;
    options.gemm.arithmetic = Arithmetic::emulated;
    return options;
  }

  Communicator comm = test::world();
  ExpmReport report;
};
TYPED_TEST_SUITE(EmulatedAccuracy, test::AllScalars);

// Relative errors of the whole in the 1-norm, and of the worst element.
struct Errors {
  double of_norm = 0.0;
  double of_elements = 0.0;
};
template <Scalar T> Errors errors_of(const HostMatrix<T>& found, const Case& one) {
  test::WideMatrix wide(one.n);
  for (std::size_t k = 0; k < one.entries.size(); ++k) {
    wide.set(k / one.n, k % one.n, widen(narrow<T>(one.entries[k])));
  }
  const test::WideMatrix expected = test::wide_exponential(std::move(wide));
  Errors errors;
  for (std::size_t j = 0; j < one.n; ++j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < one.n; ++i) {
      const double difference = std::abs(widen(found(i, j)) - expected.get(i, j));
      sum += difference;
      const double size = std::abs(expected.get(i, j));
      errors.of_elements = std::max(errors.of_elements, size > 0.0 ? difference / size : difference > 0.0 ? 1.0 : 0.0);
    }
    errors.of_norm = std::max(errors.of_norm, sum / expected.norm1());
  }
  return errors;
}

// The same matrix with its rows and columns moved cyclically: sums of products begin elsewhere.
Case shifted(const Case& one, std::size_t shift) {
  return made(one.name, one.n, [&](std::size_t i, std::size_t j) {
    return one.entries[(i + shift) % one.n * one.n + (j + shift) % one.n];
  });
}

TYPED_TEST(EmulatedAccuracy, IsThatOfNativeProductsHoweverTheMatrixIsScaled) {
  using T = TypeParam;
  const bool single = std::is_same_v<Real<T>, float>;
  for (Case one : badly_scaled(single ? 1e8 : 1e18)) {
    for (const bool turned : {false, true}) {
      // Complex matrices: a unitary diagonal similarity of the same, which moves no digits between elements.
      if (turned && !is_complex<T>) continue;
      for (std::size_t k = 0; turned && k < one.entries.size(); ++k) {
        one.entries[k] *= std::polar(1.0, 0.7 * (static_cast<double>(k / one.n) - static_cast<double>(k % one.n)));
      }
      const auto emulated = this->exponential(one, this->emulated());
      const int probes = this->report.probes;
      // The error of native products depends on the order of their sums: by 27 for "a large row" in float.
      Errors theirs;
      for (std::size_t shift = 0; shift < one.n; ++shift) {
        const Case other = shifted(one, shift);
        const auto native = this->exponential(other, {});
        if (this->comm.rank() != 0) continue;
        const Errors errors = errors_of<T>(native, other);
        theirs = {std::max(theirs.of_norm, errors.of_norm), std::max(theirs.of_elements, errors.of_elements)};
      }
      if (this->comm.rank() != 0) continue;
      const Errors ours = errors_of<T>(emulated, one);
      const double least = 2.0 * static_cast<double>(one.n) * static_cast<double>(unit_roundoff<T>);
      EXPECT_LE(ours.of_norm, std::max(2.0 * theirs.of_norm, least)) << one.name << ", turned " << turned;
      EXPECT_LE(ours.of_elements, std::max(4.0 * theirs.of_elements, least)) << one.name << ", turned " << turned;
      EXPECT_TRUE(probes > 0 || this->report.products == 0) << one.name;
    }
  }
}

TYPED_TEST(EmulatedAccuracy, HardMatricesAreWithinTheCondition) {
  using T = TypeParam;
  for (const test::HardMatrix& matrix : test::hard_matrices()) {
    const bool real =
        std::all_of(matrix.entries.begin(), matrix.entries.end(), [](Complex z) { return z.imag() == 0; });
    const double bound = static_cast<double>(matrix.n) * unit_roundoff<T> * matrix.condition;
    if ((!real && !is_complex<T>) || bound >= 1.0) continue;
    const auto found = this->exponential({matrix.name, matrix.n, matrix.entries}, this->emulated());
    if (this->comm.rank() == 0) {
      EXPECT_LE(test::relative_error<T>(found, matrix), bound) << matrix.name;
    }
  }
}

// Only matrices that need a probe get one.
TYPED_TEST(EmulatedAccuracy, EvenlyScaledMatricesAreNotLookedAt) {
  using T = TypeParam;
  const std::size_t n = 70;
  const auto random = [](std::size_t i, std::size_t j, int seed) {
    return test::random_number(static_cast<Index>(i), static_cast<Index>(j), seed);
  };
  const auto dense = made("random", n, [&](std::size_t i, std::size_t j) {
    return 0.3 * Complex(random(i, j, 1), is_complex<T> ? random(i, j, 2) : 0.0);
  });
  const auto symmetric = made("graded, but symmetric", n, [&](std::size_t i, std::size_t j) {
    return Complex(random(std::min(i, j), std::max(i, j), 3) * std::pow(0.5, static_cast<double>(i + j)));
  });
  for (const Case& one : {dense, symmetric}) {
    static_cast<void>(this->exponential(one, this->emulated()));
    EXPECT_EQ(this->report.probes, 0) << one.name;
    EXPECT_GT(this->report.products, 0) << one.name;
  }
}

// Intermediate sums and squares of exp(A), and its 1-norm, may be out of range although its elements are not.
TYPED_TEST(EmulatedAccuracy, WhatIsInRangeIsReturned) {
  using T = TypeParam;
  const double x = std::is_same_v<Real<T>, float> ? 88.0 : 709.0;
  std::vector<Case> cases = {{"symmetric", 2, {x, 1, 1, x}},
                             {"general", 2, {x, 1, 0.5, x}},
                             {"far apart", 3, {x, 0.25, 0, 0.25, -x, 1, 0, 2, 1}},
                             {"triangular", 2, {x, 1, 0, x}}};
  if constexpr (is_complex<T>) {
    cases.push_back({"complex", 2, {Complex(x + 0.5, 1), 0.1, 0.2, 3}});
    cases.push_back(
        {"complex, shifted", 2, {Complex(x + 0.7, 0.3), Complex(0, 0.78), Complex(0, 0.78), Complex(x + 0.7, 0.3)}});
  }
  for (const Case& one : cases) {
    for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
      for (const int products : {3, 4}) {
        ExpmOptions options;
        options.gemm.arithmetic = arithmetic;
        options.complex_products = products;
        const auto found = this->exponential(one, options);
        if (this->comm.rank() != 0) continue;
        // The 1-norm leaves the range of double: compare one element at a time.
        test::WideMatrix wide(one.n);
        for (std::size_t k = 0; k < one.entries.size(); ++k) {
          wide.set(k / one.n, k % one.n, widen(narrow<T>(one.entries[k])));
        }
        const test::WideMatrix expected = test::wide_exponential(std::move(wide));
        double largest = 0.0;
        for (std::size_t k = 0; k < one.entries.size(); ++k) {
          const Complex value = expected.get(k / one.n, k % one.n);
          largest = std::max({largest, std::abs(value.real()), std::abs(value.imag())});
        }
        for (std::size_t k = 0; k < one.entries.size(); ++k) {
          const Complex value = expected.get(k / one.n, k % one.n);
          const Complex given = widen(found(k / one.n, k % one.n));
          const double tolerance = 20.0 * x * static_cast<double>(unit_roundoff<T>) * largest;
          EXPECT_LE(std::abs(given.real() - value.real()), tolerance) << one.name << ' ' << k;
          EXPECT_LE(std::abs(given.imag() - value.imag()), tolerance) << one.name << ' ' << k;
        }
      }
    }
  }
  EXPECT_EQ(test::kind_of([&] {
              this->exponential({"too large", 2, {1.02 * x, 1, 1, 1.02 * x}}, {});
            }),
            static_cast<int>(ErrorKind::computation));
}

}  // namespace
}  // namespace heddle::emulated_accuracy_test
