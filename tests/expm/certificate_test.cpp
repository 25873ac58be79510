// Certificates of exponentials against errors computed in 256 bits: never below them, not far above, and none for wrong
// results.
#include "expm/certificate/certificate.hpp"

#include "support/matrices.hpp"
#include "support/multiprecision.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::certificate_test {
namespace {

using test::Complex;
using test::narrow;
using test::Number;
using test::widen;
using Entries = std::function<Complex(std::size_t, std::size_t)>;

struct Case {
  std::string name;
  std::size_t n;
  Entries entries;
  bool complex = false;
  bool proven = true;  // Whether the bound is within the default tolerance, since the exponential is well conditioned.
};

Complex random_entry(std::size_t i, std::size_t j, int seed) {
  return {test::random_number(static_cast<Index>(i), static_cast<Index>(j), seed),
          test::random_number(static_cast<Index>(i), static_cast<Index>(j), seed + 77)};
}

Entries random_entries(double scale, int seed) {
  return [=](std::size_t i, std::size_t j) { return scale * random_entry(i, j, seed); };
}

// Hermitian for sign 1, real symmetric if only the real part is taken; skew-Hermitian for sign -1.
Entries hermitian_entries(double scale, int seed, double sign) {
  return [=](std::size_t i, std::size_t j) -> Complex {
    const Complex entry = scale * random_entry(std::min(i, j), std::max(i, j), seed);
    if (i == j) return sign > 0 ? Complex(entry.real(), 0.0) : Complex(0.0, entry.imag());
    return i < j ? entry : sign * std::conj(entry);
  };
}

Entries listed(std::size_t n, std::vector<Complex> by_rows) {
  return [n, by_rows = std::move(by_rows)](std::size_t i, std::size_t j) { return by_rows[i * n + j]; };
}

Entries where(const std::function<bool(std::size_t, std::size_t)>& inside, const Entries& entries) {
  return [=](std::size_t i, std::size_t j) { return inside(i, j) ? entries(i, j) : Complex(0.0); };
}

Entries normal_entries(double frequency) {
  constexpr std::size_t n = 12;
  return [=](std::size_t i, std::size_t j) -> Complex {
    double squares = 0.0;
    const auto component = [](std::size_t k) { return random_entry(k, 1, 60).real(); };
    for (std::size_t k = 0; k < n; ++k) squares += component(k) * component(k);
    const auto reflection = [&](std::size_t k, std::size_t l) {
      return (k == l ? 1.0 : 0.0) - 2.0 * component(k) * component(l) / squares;
    };
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      const double decay = -0.5 * static_cast<double>(k / 2);
      const double turn = (k % 2 == 0 ? 1.0 : -1.0) * frequency * (1.0 + random_entry(k / 2, 2, 61).real()) / 2.0;
      sum += reflection(i, k) * (decay * reflection(k, j) + turn * reflection(k ^ 1U, j));
    }
    return sum;
  };
}

Entries generator_entries(double rate) {
  return [=](std::size_t i, std::size_t j) -> Complex {
    const auto flow = [&](std::size_t to) { return rate * std::abs(random_entry(to, j, 62).real()); };
    if (i != j) return flow(i);
    double sum = 0.0;
    for (std::size_t k = 0; k < 12; ++k) sum += k == j ? 0.0 : flow(k);
    return -sum;
  };
}

std::vector<Case> cases() {
  const Complex i(0.0, 1.0);
  const auto upper = [](std::size_t row, std::size_t column) { return row <= column; };
  const auto diagonal = [](std::size_t row, std::size_t column) { return row == column; };
  std::vector<Case> all;
  for (const double scale : {0.1, 1.0, 10.0}) {
    // About the 1-norm: 10 scale.
    all.push_back({"random of norm " + std::to_string(10 * scale), 20, random_entries(scale, 3)});
    all.push_back({"complex random of norm " + std::to_string(10 * scale), 12, random_entries(scale, 4), true});
  }
  for (const double scale : {1.0, 30.0, 100.0}) {
    all.push_back({"symmetric times " + std::to_string(scale), 15, hermitian_entries(scale, 5, 1.0)});
    all.push_back({"Hermitian times " + std::to_string(scale), 10, hermitian_entries(scale, 6, 1.0), true});
  }
  for (const double scale : {0.1, 1.0, 1e3, 1e5}) {
    all.push_back({"skew-Hermitian times " + std::to_string(scale), 11, hermitian_entries(scale, 7, -1.0), true});
    all.push_back({"-i times symmetric times " + std::to_string(scale), 11,
                   [scale, i](std::size_t row, std::size_t column) {
                     return -i * hermitian_entries(scale, 8, 1.0)(row, column).real();
                   },
                   true});
    all.push_back({"skew-symmetric times " + std::to_string(scale), 9,
                   [scale](std::size_t row, std::size_t column) -> Complex {
                     return row == column ? 0.0 : hermitian_entries(scale, 9, -1.0)(row, column).real();
                   },
                   false});
  }
  all.push_back({"upper triangular", 13, where(upper, random_entries(2.0, 10))});
  all.push_back({"zero", 5, [](std::size_t, std::size_t) { return Complex(0.0); }});
  all.push_back({"tiny", 5, random_entries(1e-300, 11)});
  all.push_back({"small", 5, random_entries(1e-9, 11)});
  all.push_back({"one element", 1, listed(1, {3.0})});
  all.push_back({"one complex element", 1, listed(1, {Complex(-2.0, 40.0)}), true});
  all.push_back({"diagonal", 6, where(diagonal, random_entries(500.0, 12))});
  all.push_back({"nilpotent", 3, listed(3, {0, 1, 2, 0, 0, 3, 0, 0, 0})});
  all.push_back({"nilpotent, large", 3, listed(3, {0, 1e5, 2, 0, 0, 1e5, 0, 0, 0}), false, false});
  all.push_back({"two scales", 2, listed(2, {0, 1e20, 1e-20, 0})});
  all.push_back({"spread of 1e100", 3, listed(3, {1, 1e-3, 1e50, 0, 2, 1, 1e-53, 0, -1}), false, false});
  all.push_back({"at the end of the range", 2, listed(2, {Complex(709.5, 1), .1, .2, 3}), true, false});
  all.push_back({"norm beyond the range", 2, listed(2, {708, 1, 1, 708}), false, false});
  all.push_back(
      {"the least", 4, listed(4, {-700, 1, 0, 0, 0, -701, 0, 1, 1, 0, -702, 0, 0, 0, 0, -700}), false, false});
  all.push_back({"vanishing", 2, listed(2, {-800, 0, 0, -800}), false, false});
  all.push_back({"nearly vanishing", 2, listed(2, {-740, 0.5, 0, -741}), false, false});
  // Superdiagonals far above their neighbours.
  all.push_back({"chain", 10,
                 [](std::size_t row, std::size_t column) -> Complex {
                   if (row == column) return -static_cast<double>(row + 1) / 10.0;
                   return column == row + 1 ? 1e3 : 0.0;
                 },
                 false, false});
  all.push_back({"complex chain", 10,
                 [](std::size_t row, std::size_t column) -> Complex {
                   if (row == column) return Complex(0.0, -static_cast<double>(row) / 10.0);
                   return column == row + 1 ? 1e3 : 0.0;
                 },
                 true, false});
  // Normal, but not to the bit: Q B Q with a reflection Q and blocks [a, b; -b, a].
  for (const double frequency : {10.0, 1e3, 1e4}) {
    all.push_back({"normal, of frequency " + std::to_string(frequency), 12, normal_entries(frequency)});
  }
  // Columns add up to zero: exp(A) has the 1-norm 1 for any rates.
  for (const double rate : {1.0, 1e4}) {
    all.push_back({"generator of a Markov chain, rate " + std::to_string(rate), 12, generator_entries(rate)});
  }
  all.push_back({"all equal", 12, [](std::size_t, std::size_t) { return Complex(50.0); }});
  all.push_back({"overscaled", 2, listed(2, {1, 1e5, 0, -1}), false, false});
  all.push_back({"Moler, Van Loan", 2, listed(2, {-49, 24, -64, 31})});
  all.push_back({"companion", 4, listed(4, {0, 0, 0, -16, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0})});
  all.push_back({"Forsythe", 8, [](std::size_t row, std::size_t column) -> Complex {
                   if (row == column) return 0.5;
                   if (column == row + 1) return 1.0;
                   return row == 7 && column == 0 ? 1e-8 : 0.0;
                 }});
  all.push_back({"Edwards", 6, listed(6, {0, 30, 1,   1, 1, 1, -100, 0, 1, 1, 1, 1,   0, 0, 0, -6, 1,   1,
                                          0, 0,  500, 0, 1, 1, 0,    0, 0, 0, 0, 200, 0, 0, 0, 0,  -15, 0}),
                 false, false});
  all.push_back({"rates", 3, listed(3, {-1000, 0.5, 0, 1000, -1, 2, 0, 0.5, -2})});
  return all;
}

template <class T> class ExpmCertificate : public ::testing::Test {
 protected:
  Communicator comm = test::world();

  DistributedMatrix<T> scattered(const HostMatrix<T>& whole, std::size_t n) {
    const auto order = static_cast<Index>(n);
    const DistributedMatrix<T> A(comm, Placement::row_bands(order, order, comm.size()));
    const auto none = HostMatrix<T>("heddle::test::none", 0, 0);
    scatter(comm.rank() == 0 ? whole : none, 0, A);
    return A;
  }
  HostMatrix<T> host_of(const Case& of) {
    return test::host_matrix<T>(static_cast<Index>(of.n), static_cast<Index>(of.n), [&](Index i, Index j) {
      return narrow<T>(of.entries(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
    });
  }
  // The certificate of certify() for whole matrices.
  impl::Certificate certified(const HostMatrix<T>& A, const HostMatrix<T>& E, Index alone = 256) {
    const auto n = static_cast<std::size_t>(A.extent(0));
    const auto parts = [&](const HostMatrix<T>& X) -> SplitMatrix<Real<T>> {
      if constexpr (is_complex<T>) {
        return split(scattered(X, n));
      } else {
        return {scattered(X, n), std::nullopt};
      }
    };
    return impl::certify<Real<T>>(comm, parts(A), parts(E), static_cast<double>(unit_roundoff<T>), 0, alone);
  }
};
TYPED_TEST_SUITE(ExpmCertificate, test::AllScalars);

test::WideMatrix wide_of(const std::size_t n, const std::function<Complex(std::size_t, std::size_t)>& element) {
  test::WideMatrix wide(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) wide.set(i, j, element(i, j));
  }
  return wide;
}

// ||found - expected||_1 / ||expected||_1, for numbers that may be out of range.
template <Scalar T> double relative_error(const HostMatrix<T>& found, const test::WideMatrix& expected) {
  double most = 0.0;
  double whole = 0.0;
  const std::size_t n = expected.size();
  // Scale so that the norm is about 1.
  long power = -1000000;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      power = std::max({power, expected.real(i, j).exponent(), expected.imaginary(i, j).exponent()});
    }
  }
  const auto size_of = [&](Number re, Number im) {
    re.scale_by_power_of_two(-power);
    im.scale_by_power_of_two(-power);
    return std::hypot(re.to_double(), im.to_double());
  };
  for (std::size_t j = 0; j < n; ++j) {
    double differences = 0.0;
    double sizes = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const Complex value = widen(found(i, j));
      Number re(value.real());
      Number im(value.imag());
      re -= expected.real(i, j);
      im -= expected.imaginary(i, j);
      differences += size_of(re, im);
      sizes += size_of(expected.real(i, j), expected.imaginary(i, j));
    }
    most = std::max(most, differences);
    whole = std::max(whole, sizes);
  }
  return most / whole;
}

TYPED_TEST(ExpmCertificate, IsAboveTheErrorAndNotFarAbove) {
  using T = TypeParam;
  for (const Case& of : cases()) {
    if (of.complex && !is_complex<T>) continue;
    SCOPED_TRACE(of.name);
    const HostMatrix<T> whole = this->host_of(of);
    const auto A = this->scattered(whole, of.n);
    const DistributedMatrix<T> E(this->comm, A.placement());
    ExpmReport report;
    try {
      report = expm(this->comm, A, E, {.certificate = true});
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::computation);
      continue;  // Beyond the range of T, or of expm.
    }
    ASSERT_TRUE(report.certificate);
    // In float, errors are near 1e-2 for norms of 1e5.
    if (of.proven && (std::is_same_v<Real<T>, double> || report.norm1 <= 3e3)) {
      const double tolerance = expm_certificate_tolerance<Real<T>>(A.rows(), report.norm1);
      EXPECT_LE(*report.certificate, tolerance);
    }
    const HostMatrix<T> found = gather(E, 0);
    if (this->comm.rank() != 0) continue;
    const auto exact = test::wide_exponential(wide_of(of.n, [&](auto i, auto j) { return widen(whole(i, j)); }));
    const double error = relative_error(found, exact);
    EXPECT_GE(*report.certificate, error);
    EXPECT_LE(*report.certificate,
              2.0 * error + 8.0 * static_cast<double>(of.n) * static_cast<double>(unit_roundoff<T>));
  }
}

// exp(A) to 256 bits, rounded to T.
template <Scalar T> HostMatrix<T> rounded(const test::WideMatrix& wide) {
  const auto n = static_cast<Index>(wide.size());
  return test::host_matrix<T>(n, n, [&](Index i, Index j) {
    const auto row = static_cast<std::size_t>(i);
    const auto column = static_cast<std::size_t>(j);
    if constexpr (is_complex<T>) {
      return T(wide.real(row, column).template rounded<Real<T>>(),
               wide.imaginary(row, column).template rounded<Real<T>>());
    } else {
      return wide.real(row, column).template rounded<T>();
    }
  });
}

TYPED_TEST(ExpmCertificate, SeesWhatIsWrongInOneElement) {
  using T = TypeParam;
  const double unit = static_cast<double>(unit_roundoff<T>);
  for (const Case& of :
       {Case{"random", 14, random_entries(1.0, 20)}, Case{"symmetric", 14, hermitian_entries(8.0, 21, 1.0)},
        Case{"skew-symmetric", 14,
             [](std::size_t i, std::size_t j) -> Complex {
               return i == j ? 0.0 : hermitian_entries(50.0, 22, -1.0)(i, j).real();
             }},
        // The last column is 1e-6 times the others.
        Case{"a small column", 14,
             [](std::size_t i, std::size_t j) { return (j == 13 ? 1e-6 : 1.0) * random_entry(i, j, 23); }}}) {
    SCOPED_TRACE(of.name);
    const HostMatrix<T> A = this->host_of(of);
    const auto exact = test::wide_exponential(wide_of(of.n, [&](auto i, auto j) { return widen(A(i, j)); }));
    const HostMatrix<T> E = rounded<T>(exact);
    const double right = this->certified(A, E).bound;
    EXPECT_GE(right, relative_error(E, exact));
    EXPECT_LE(right, 8.0 * static_cast<double>(of.n) * unit);
    for (const double relative : {1e4 * unit, 1e-2, 1.0, 1e6}) {
      for (const std::size_t column : {std::size_t{3}, of.n - 1}) {
        HostMatrix<T> wrong("heddle::test::wrong", of.n, of.n);
        Kokkos::deep_copy(wrong, E);
        wrong(5, column) += static_cast<Real<T>>(relative * exact.norm1());
        const double error = relative_error(wrong, exact);
        const double bound = this->certified(A, wrong).bound;
        EXPECT_GE(bound, error) << relative << ", column " << column;
        EXPECT_LE(bound, 1.5 * error) << relative << ", column " << column;
      }
    }
    HostMatrix<T> zero("heddle::test::zero", of.n, of.n);
    EXPECT_GE(this->certified(A, zero).bound, 1.0);
    EXPECT_LE(this->certified(A, zero).bound, 1.1);
    // A wrong result: exp(0).
    HostMatrix<T> identity("heddle::test::identity", of.n, of.n);
    for (std::size_t i = 0; i < of.n; ++i) identity(i, i) = T(1);
    EXPECT_GE(this->certified(A, identity).bound, relative_error(identity, exact));
  }
}

TYPED_TEST(ExpmCertificate, OfALooseToleranceIsNearItsError) {
  using T = TypeParam;
  const Case of{"random", 16, random_entries(2.0, 30)};
  const HostMatrix<T> whole = this->host_of(of);
  const auto A = this->scattered(whole, of.n);
  const DistributedMatrix<T> E(this->comm, A.placement());
  for (const double tolerance : {1e-1, 1e-2, 1e-4}) {
    const ExpmReport report = expm(this->comm, A, E, {.tolerance = tolerance, .certificate = true});
    const HostMatrix<T> found = gather(E, 0);
    if (this->comm.rank() != 0) continue;
    const auto exact = test::wide_exponential(wide_of(of.n, [&](auto i, auto j) { return widen(whole(i, j)); }));
    const double error = relative_error(found, exact);
    EXPECT_GE(*report.certificate, error);
    EXPECT_LE(*report.certificate, 2.0 * error + 8.0 * 16.0 * static_cast<double>(unit_roundoff<T>));
  }
}

TYPED_TEST(ExpmCertificate, HasTheSameBitsOnAnyNumberOfRanks) {
  using T = TypeParam;
  for (const Case& of :
       {Case{"random", 17, random_entries(2.0, 40)}, Case{"skew-Hermitian", 17, hermitian_entries(30.0, 41, -1.0)},
        Case{"spread", 3, listed(3, {1, 1e-3, 1e18, 0, 2, 1, 1e-18, 0, -1})}}) {
    SCOPED_TRACE(of.name);
    const HostMatrix<T> A = this->host_of(of);
    const HostMatrix<T> E =
        rounded<T>(test::wide_exponential(wide_of(of.n, [&](auto i, auto j) { return widen(A(i, j)); })));
    const impl::Certificate together = this->certified(A, E, 0);
    const impl::Certificate on_one = this->certified(A, E);
    const Communicator everyone = this->comm;
    this->comm = Communicator(MPI_COMM_SELF);
    const impl::Certificate alone = this->certified(A, E);
    this->comm = everyone;
    EXPECT_EQ(together.bound, alone.bound);
    EXPECT_EQ(on_one.bound, alone.bound);
    EXPECT_LT(alone.bound, 1e-4);
    EXPECT_EQ(together.limbs, alone.limbs);
  }
}

// Matrices certified by products over all ranks, as large ones are.
TYPED_TEST(ExpmCertificate, OfMatricesThatStayOnAllRanks) {
  using T = TypeParam;
  for (const Case& of : {Case{"random", 9, random_entries(5.0, 70)}, Case{"generator", 12, generator_entries(10.0)},
                         Case{"one element", 1, listed(1, {3.0})}}) {
    SCOPED_TRACE(of.name);
    const HostMatrix<T> A = this->host_of(of);
    const auto exact = test::wide_exponential(wide_of(of.n, [&](auto i, auto j) { return widen(A(i, j)); }));
    HostMatrix<T> E = rounded<T>(exact);
    for (const double wrong : {0.0, 1e-3}) {
      E(0, of.n - 1) += static_cast<Real<T>>(wrong * exact.norm1());
      const double error = relative_error(E, exact);
      const double bound = this->certified(A, E, 0).bound;
      EXPECT_GE(bound, error);
      EXPECT_LE(bound, 2.0 * error + 8.0 * static_cast<double>(of.n) * static_cast<double>(unit_roundoff<T>));
    }
  }
}

TYPED_TEST(ExpmCertificate, OfAnEmptyMatrixIsZero) {
  using T = TypeParam;
  const DistributedMatrix<T> A(this->comm, Placement::row_bands(0, 0, this->comm.size()));
  const DistributedMatrix<T> E(this->comm, A.placement());
  EXPECT_EQ(*expm(this->comm, A, E, {.certificate = true}).certificate, 0.0);
}

// Larger matrices, with long sums and narrow limbs.
TYPED_TEST(ExpmCertificate, OfLargerMatrices) {
  using T = TypeParam;
  if (this->comm.size() == 3) return;
  for (const double scale : {0.05, 2.0}) {
    const Case of{"random", 50, random_entries(scale, 50)};
    const HostMatrix<T> whole = this->host_of(of);
    const auto A = this->scattered(whole, of.n);
    const DistributedMatrix<T> E(this->comm, Placement::block_cyclic(50, 50, 8, 8, 1, this->comm.size()));
    const ExpmReport report = expm(this->comm, A, E, {.certificate = true});
    EXPECT_LE(*report.certificate, expm_certificate_tolerance<Real<T>>(50, report.norm1));
    const HostMatrix<T> found = gather(E, 0);
    if (this->comm.rank() != 0) continue;
    const auto exact = test::wide_exponential(wide_of(of.n, [&](auto i, auto j) { return widen(whole(i, j)); }));
    const double error = relative_error(found, exact);
    EXPECT_GE(*report.certificate, error);
    EXPECT_LE(*report.certificate, 2.0 * error + 8.0 * 50.0 * static_cast<double>(unit_roundoff<T>));
  }
}

TEST(ExpmCertificateTolerance, GrowsWithTheNormToWhatIsNeverPassed) {
  EXPECT_EQ(expm_certificate_tolerance<double>(10, 0.5), 1e4 * 0x1p-53);
  EXPECT_EQ(expm_certificate_tolerance<double>(10, 4.0), 4e4 * 0x1p-53);
  EXPECT_EQ(expm_certificate_tolerance<double>(10, std::numeric_limits<double>::infinity()), 1e-6);
  EXPECT_EQ(expm_certificate_tolerance<float>(1, 2.0), 2e3 * 0x1p-24);
  EXPECT_EQ(expm_certificate_tolerance<float>(1000, 2.0), 1e-2);
}

}  // namespace
}  // namespace heddle::certificate_test
