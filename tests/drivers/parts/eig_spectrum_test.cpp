// The checks of eigenvalues alone: right ones pass, wrong ones don't.
#include "drivers/eig/spectrum.hpp"
#include "eigen/problems.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace heddle::driver::eig_spectrum_test {
namespace {

using Kokkos::complex;

template <class T> class EigSpectrum : public ::testing::Test {};
using Types = ::testing::Types<float, double, complex<float>, complex<double>>;
TYPED_TEST_SUITE(EigSpectrum, Types);

bool passes(const SpectrumErrors& errors) {
  const auto within = [](const Compared& compared) { return compared.value <= compared.bound; };
  return within(errors.trace) && within(errors.frobenius) && (!errors.determinant || within(*errors.determinant));
}

// a_ij = s_ij d_i d_j, s_ii = 1, off the diagonal 0.4 and less; d_i^2 from 1 down to 2^low, powers of two.
template <Scalar T> HostMatrix<T> graded(Index n, int low) {
  const HostMatrix<T> A = eigen::host_matrix<T>(n);
  const HostMatrix<T> E = eigen::random_hermitian<T>(n, 3);
  const auto exponent = [&](Index i) { return static_cast<int>(low / 2 * i / std::max<Index>(1, n - 1)); };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const auto d = static_cast<Real<T>>(std::ldexp(1.0, exponent(i) + exponent(j)));
      A(i, j) = i == j ? T(d) : E(i, j) * static_cast<Real<T>>(0.8 / static_cast<double>(n)) * d;
    }
  }
  return A;
}

TYPED_TEST(EigSpectrum, FindsAnEigenvalueThatIsWrong) {
  using R = Real<TypeParam>;
  constexpr bool wide = std::is_same_v<R, double>;
  for (const Index n : {1, 2, 3, 8, 20}) {
    for (const int low : wide ? std::vector<int>{0, -20, -400, -1000} : std::vector<int>{0, -20, -60, -110}) {
      SCOPED_TRACE("n = " + std::to_string(n) + ", low " + std::to_string(low));
      const HostMatrix<TypeParam> A = graded<TypeParam>(n, low);
      std::vector<double> w;
      for (const double value : eigen::wide_eigenvalues<TypeParam>(A)) {
        w.push_back(static_cast<double>(static_cast<R>(value)));
      }
      const SpectrumErrors right = spectrum_errors<TypeParam>(A, w, true);
      EXPECT_TRUE(passes(right));
      ASSERT_TRUE(right.determinant);
      // With float's 20 rows the promised bound exceeds a thousandth.
      EXPECT_LT(right.determinant->bound, wide ? 1e-10 : n < 20 ? 1e-3 : 1e-2);
      const double wrong = wide || n < 8 ? 1e-3 : 3e-2;
      for (std::size_t at = 0; at < w.size(); ++at) {
        std::vector<double> changed = w;
        changed[at] *= 1 + wrong;
        EXPECT_FALSE(passes(spectrum_errors<TypeParam>(A, changed, true))) << at;
        for (const double other : {0.0, -w[at], std::numeric_limits<double>::quiet_NaN()}) {
          changed[at] = other;
          EXPECT_FALSE(passes(spectrum_errors<TypeParam>(A, changed, true))) << at << ": " << other;
        }
      }
      // An error in the largest eigenvalue shows without the determinant.
      std::vector<double> changed = w;
      changed.back() *= 1 + wrong;
      EXPECT_FALSE(passes(spectrum_errors<TypeParam>(A, changed, false)));
      EXPECT_FALSE(spectrum_errors<TypeParam>(A, w, false).determinant);
    }
  }
}

TYPED_TEST(EigSpectrum, TakesIndefiniteAndEmptyMatrices) {
  const HostMatrix<TypeParam> A = eigen::random_hermitian<TypeParam>(30, 5);
  std::vector<double> w = eigen::wide_eigenvalues<TypeParam>(A);
  const SpectrumErrors right = spectrum_errors<TypeParam>(A, w, true);
  EXPECT_TRUE(passes(right));
  EXPECT_FALSE(right.determinant);
  // The trace alone does not show these errors.
  w[3] += 0.01;
  w[20] -= 0.01;
  EXPECT_FALSE(passes(spectrum_errors<TypeParam>(A, w, false)));
  EXPECT_TRUE(passes(spectrum_errors<TypeParam>(eigen::host_matrix<TypeParam>(0), {}, true)));
  const HostMatrix<TypeParam> zeros = eigen::host_matrix<TypeParam>(2);
  EXPECT_TRUE(passes(spectrum_errors<TypeParam>(zeros, {0, 0}, true)));
  EXPECT_FALSE(passes(spectrum_errors<TypeParam>(zeros, {0, 1e-300}, true)));
}

}  // namespace
}  // namespace heddle::driver::eig_spectrum_test
