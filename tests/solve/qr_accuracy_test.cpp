// Accuracy of QR factors: A - Q R by columns, and the distance of Q from unitary, for matrices of all kinds, with
// reflections applied in more than double precision.
#include "over_ranks.hpp"
#include "wide.hpp"
#include <heddle/solve/qr.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::qr_accuracy_test {
namespace {

using test::conjugate_of;
using test::norm_of;
using test::wide;
using test::Wide;

// x = Q x from the factors.
template <Scalar T> void reflect(const HostMatrix<T>& QR, const std::vector<T>& tau, std::vector<Wide<T>>& x) {
  const std::size_t rows = QR.extent(0);
  for (std::size_t k = tau.size(); k-- > 0;) {
    Wide<T> sum = x[k];
    for (std::size_t i = k + 1; i < rows; ++i) sum += conjugate_of(wide(QR(i, k))) * x[i];
    sum *= wide(tau[k]);
    x[k] -= sum;
    for (std::size_t i = k + 1; i < rows; ++i) x[i] -= wide(QR(i, k)) * sum;
  }
}

// The largest |a - Q r|_2 / (u |a|_2 + m times the smallest number) over columns.
template <Scalar T> double residual(const HostMatrix<T>& A, const HostMatrix<T>& QR, const std::vector<T>& tau) {
  const std::size_t rows = A.extent(0);
  long double worst = 0;
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    std::vector<Wide<T>> x(rows, Wide<T>(0));
    std::vector<Wide<T>> a(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      a[i] = wide(A(i, j));
      if (i <= j) x[i] = wide(QR(i, j));
    }
    reflect<T>(QR, tau, x);
    for (std::size_t i = 0; i < rows; ++i) x[i] -= a[i];
    const long double bound = static_cast<long double>(unit_roundoff<T>) * norm_of(a) +
                              static_cast<long double>(rows) * std::numeric_limits<Real<T>>::denorm_min();
    worst = std::max(worst, norm_of(x) / bound);
  }
  return static_cast<double>(worst);
}

// The largest |(Q^H Q - I)_ij| / u for given columns.
template <Scalar T> double off_unitary(const std::vector<std::vector<Wide<T>>>& Q) {
  long double worst = 0;
  for (std::size_t i = 0; i < Q.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      Wide<T> sum = i == j ? Wide<T>(-1) : Wide<T>(0);
      for (std::size_t r = 0; r < Q[i].size(); ++r) sum += conjugate_of(Q[i][r]) * Q[j][r];
      worst = std::max(worst, std::abs(sum));
    }
  }
  return static_cast<double>(worst / static_cast<long double>(unit_roundoff<T>));
}

template <Scalar T> T number(double value, Index i, Index j) {
  if constexpr (is_complex<T>) {
    // Each element has another phase.
    const double angle = static_cast<double>((3 * i + 5 * j) % 7);
    return T(static_cast<Real<T>>(value * std::cos(angle)), static_cast<Real<T>>(value * std::sin(angle)));
  } else {
    return static_cast<T>(value);
  }
}

struct Kind {
  std::string name;
  Index rows;
  Index columns;
  double (*entry)(Index i, Index j, int reach);
};
double noise(Index i, Index j) {
  return test::random_number(i, j, 21);
}
// `reach`: exponents by which rows and columns are graded.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"random", 70, 70, [](Index i, Index j, int) { return noise(i, j); }},
      {"tall", 1100, 9, [](Index i, Index j, int) { return noise(i, j); }},
      {"wide", 20, 75, [](Index i, Index j, int) { return noise(i, j); }},
      {"one row", 1, 5, [](Index i, Index j, int) { return noise(i, j); }},
      {"one column", 40, 1, [](Index i, Index j, int) { return noise(i, j); }},
      {"hilbert", 40, 40, [](Index i, Index j, int) { return 1.0 / static_cast<double>(i + j + 1); }},
      {"vandermonde", 60, 30,
       [](Index i, Index j, int) { return std::pow(static_cast<double>(i + 1) / 60.0, static_cast<double>(j)); }},
      {"graded columns", 50, 50,
       [](Index i, Index j, int reach) { return std::ldexp(noise(i, j), static_cast<int>(j % 9 - 4) * reach / 4); }},
      {"graded rows, falling", 50, 50,
       [](Index i, Index j, int reach) { return std::ldexp(noise(i, j), reach - static_cast<int>(i) * reach / 25); }},
      {"graded rows, rising", 50, 50,
       [](Index i, Index j, int reach) { return std::ldexp(noise(i, j), static_cast<int>(i) * reach / 25 - reach); }},
      {"graded both", 50, 40,
       [](Index i, Index j, int reach) {
         return std::ldexp(noise(i, j), (static_cast<int>(i % 5) - 2 + static_cast<int>(j % 5) - 2) * reach / 4);
       }},
      {"triangular, falling", 45, 45,
       [](Index i, Index j, int reach) {
         return i > j ? 0.0 : std::ldexp(1.0 + noise(i, j), -static_cast<int>(i) * reach / 22);
       }},
      {"denormal", 30, 30,
       [](Index i, Index j, int reach) { return std::ldexp(noise(i, j), reach > 100 ? -1066 : -141); }},
      {"largest", 30, 30,
       [](Index i, Index j, int reach) { return std::ldexp(noise(i, j), reach > 100 ? 1020 : 124); }},
      {"zero columns", 40, 30, [](Index i, Index j, int) { return j % 4 == 1 ? 0.0 : noise(i, j); }},
      {"zeros", 30, 20, [](Index, Index, int) { return 0.0; }},
      {"rank one", 40, 40, [](Index i, Index j, int) { return noise(i, 0) * (1.0 + static_cast<double>(j % 3)); }},
      {"equal columns", 60, 50, [](Index i, Index j, int) { return noise(i, j / 5); }},
      {"identity", 40, 40, [](Index i, Index j, int) { return i == j ? 1.0 : 0.0; }}};
  return all;
}

template <class T> class QrAccuracy : public test::OverRanks<T> {
 protected:
  static constexpr int reach = sizeof(Real<T>) == 8 ? 300 : 40;
};
TYPED_TEST_SUITE(QrAccuracy, test::AllScalars);

TYPED_TEST(QrAccuracy, ErrorsAreWithinTheirBounds) {
  using T = TypeParam;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    for (const Kind& kind : kinds()) {
      SCOPED_TRACE(message_of(kind.name, ", ", to_string(arithmetic)));
      const HostMatrix<T> A = test::host_matrix<T>(
          kind.rows, kind.columns, [&](Index i, Index j) { return number<T>(kind.entry(i, j, this->reach), i, j); });
      const DistributedMatrix<T> distributed = this->spread(A);
      const QrReport<T> report = qr(this->comm, distributed, {.arithmetic = arithmetic, .block = 16});
      const HostMatrix<T> factors = this->everywhere(distributed);
      // Measured: 2 to 12. Random errors grow with the square root of the number of terms and of steps.
      const double size = 16.0 + static_cast<double>(std::min(kind.rows, kind.columns)) / 10.0;
      EXPECT_LE(residual<T>(A, factors, report.tau), size);
      const Index columns = kind.rows > 200 ? kind.columns : kind.rows;
      std::vector<std::vector<Wide<T>>> Q;
      for (Index j = 0; j < columns; ++j) {
        Q.emplace_back(static_cast<std::size_t>(kind.rows), Wide<T>(0));
        Q.back()[static_cast<std::size_t>(j)] = 1;
        reflect<T>(factors, report.tau, Q.back());
      }
      EXPECT_LE(off_unitary<T>(Q), size);
      // qr_form must return the same Q.
      const DistributedMatrix<T> formed(this->comm, Placement::column_bands(kind.rows, columns, this->comm.size()),
                                        "Q");
      qr_form(this->comm, distributed, report.tau, formed, {.arithmetic = arithmetic, .block = 24});
      const HostMatrix<T> found = this->everywhere(formed);
      long double off = 0;
      for (std::size_t j = 0; j < Q.size(); ++j) {
        for (std::size_t i = 0; i < Q[j].size(); ++i) off = std::max(off, std::abs(wide(found(i, j)) - Q[j][i]));
      }
      EXPECT_LE(static_cast<double>(off), size * static_cast<double>(unit_roundoff<T>));
    }
  }
}

TYPED_TEST(QrAccuracy, ProductsWithQAndItsAdjointUndoEachOther) {
  using T = TypeParam;
  const Index rows = 130;
  const Index columns = 70;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const QrOptions options{.arithmetic = arithmetic, .block = 32};
    const HostMatrix<T> A = test::host_random<T>(rows, columns, 6);
    const DistributedMatrix<T> QR = this->spread(A);
    const QrReport<T> report = qr(this->comm, QR, options);
    // Q^H A is R.
    const DistributedMatrix<T> C = this->spread(A);
    qr_multiply(this->comm, Operation::conjugate_transpose, QR, report.tau, C, options);
    const HostMatrix<T> R = this->everywhere(C);
    const HostMatrix<T> factors = this->everywhere(QR);
    const double bound = 400.0 * static_cast<double>(unit_roundoff<T>);
    for (std::size_t j = 0; j < R.extent(1); ++j) {
      for (std::size_t i = 0; i < R.extent(0); ++i) {
        ASSERT_LE(Kokkos::abs(R(i, j) - (i <= j ? factors(i, j) : T(0))), bound * 10.0);
      }
    }
    qr_multiply(this->comm, Operation::none, QR, report.tau, C, options);
    const HostMatrix<T> again = this->everywhere(C);
    for (std::size_t j = 0; j < R.extent(1); ++j) {
      for (std::size_t i = 0; i < R.extent(0); ++i) ASSERT_LE(Kokkos::abs(again(i, j) - A(i, j)), bound);
    }
  }
}

TYPED_TEST(QrAccuracy, InfoIsTheFirstStepWithoutADiagonal) {
  using T = TypeParam;
  using R = Real<T>;
  const Index n = 50;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const auto info_of = [&](const HostMatrix<T>& A) {
      const DistributedMatrix<T> distributed = this->spread(A);
      const QrReport<T> report = qr(this->comm, distributed, {.arithmetic = arithmetic, .block = 8});
      EXPECT_EQ(report.tau.size(), std::min(A.extent(0), A.extent(1)));
      const HostMatrix<T> factors = this->everywhere(distributed);
      for (std::size_t k = 0; k < report.tau.size() && report.info == 0; ++k) {
        EXPECT_EQ(imaginary_of<R>(factors(k, k)), R(0));
      }
      return report.info;
    };
    EXPECT_EQ(info_of(test::host_random<T>(n, n, 3)), 0);
    EXPECT_EQ(info_of(HostMatrix<T>("zero", n, n)), 1);
    EXPECT_EQ(info_of(test::host_matrix<T>(
                  n, n, [](Index i, Index j) { return j == 33 || j == 40 ? T(0) : T(i == j ? 2 : 0); })),
              34);
    const R nan = std::numeric_limits<R>::quiet_NaN();
    const R infinity = std::numeric_limits<R>::infinity();
    for (const R bad : {nan, infinity}) {
      const HostMatrix<T> A = test::host_random<T>(n + 20, n, 3);
      A(5, 20) = T(bad);
      EXPECT_EQ(info_of(A), 21);
      const HostMatrix<T> first = test::host_random<T>(n, n + 9, 3);
      first(n - 1, 0) = T(bad);
      EXPECT_EQ(info_of(first), 1);
      // In columns beyond the last step.
      const HostMatrix<T> beyond = test::host_random<T>(n, n + 9, 3);
      beyond(7, n + 3) = T(bad);
      EXPECT_EQ(info_of(beyond), 0);
    }
    // A column whose norm overflows.
    const HostMatrix<T> large = test::host_random<T>(n, n, 3);
    for (Index i = 0; i < n; ++i) large(i, 30) = T(std::numeric_limits<R>::max());
    EXPECT_EQ(info_of(large), 31);
  }
}

}  // namespace
}  // namespace heddle::qr_accuracy_test
