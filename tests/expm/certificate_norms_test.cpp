// The norms used by certificates of exponentials, against exact sums.
#include "expm/certificate/fixed_point.hpp"
#include "support/matrices.hpp"
#include "support/multiprecision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace heddle::certificate_norms_test {
namespace {

using test::Number;

// Entries of a matrix with a given scale and seed.
struct ScaledEntries {
  int seed;
  double scale;
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const { return scale * test::random_number(i, j, seed); }
};

// The bound of the Hermitian part's eigenvalues is that of Gershgorin's circles, rounded up: never below the exact
// sums.
TEST(LogarithmicNorms, AreNeverBelowTheExactCircles) {
  const Communicator comm = test::world();
  for (int seed = 0; seed < 40; ++seed) {
    for (const Index n : {1, 2, 3, 17, 60}) {
      const double scale = std::ldexp(1.0, seed % 2 == 0 ? 0 : 40 * (seed % 5) - 80);
      const DistributedMatrix<double> A(comm, Placement::row_bands(n, n, comm.size()));
      fill(A, ScaledEntries{seed, scale});
      const impl::LogarithmicNorm found = impl::logarithmic_norm(comm, {A, {}});
      const auto whole = gather(A, 0);
      if (comm.rank() != 0) continue;
      Number largest;
      for (Index i = 0; i < n; ++i) {
        Number sum;
        for (Index j = 0; j < n; ++j) {
          const auto r = static_cast<std::size_t>(i);
          const auto c = static_cast<std::size_t>(j);
          Number twice(whole(r, c));
          twice += Number(whole(c, r));
          if (i == j || twice.sign() > 0) {
            sum += twice;
          } else {
            sum -= twice;
          }
        }
        if (i == 0 || (Number(sum) -= largest).sign() > 0) largest = sum;
      }
      largest.scale_by_power_of_two(-1);
      Number excess(found.bound);
      excess -= largest;
      EXPECT_GE(excess.sign(), 0) << n << ' ' << seed;
      EXPECT_LE(excess.to_double(), 1e-12 * static_cast<double>(n) * scale) << n << ' ' << seed;
    }
  }
}

// Complex matrices: elements of the Hermitian part count by their absolute values.
TEST(LogarithmicNorms, OfComplexMatrices) {
  const Communicator comm = test::world();
  for (int seed = 0; seed < 20; ++seed) {
    for (const Index n : {2, 5, 30}) {
      const DistributedMatrix<double> real(comm, Placement::row_bands(n, n, comm.size()));
      const DistributedMatrix<double> imaginary(comm, Placement::row_bands(n, n, comm.size()));
      fill(real, ScaledEntries{seed, 1.0});
      fill(imaginary, ScaledEntries{seed + 100, seed % 2 == 0 ? 1.0 : 16.0});
      const impl::LogarithmicNorm found = impl::logarithmic_norm(comm, {real, imaginary});
      const auto re = gather(real, 0);
      const auto im = gather(imaginary, 0);
      if (comm.rank() != 0) continue;
      double largest = -HUGE_VAL;
      for (std::size_t i = 0; i < re.extent(0); ++i) {
        double sum = re(i, i);
        for (std::size_t j = 0; j < re.extent(0); ++j) {
          if (j != i) sum += 0.5 * std::hypot(re(i, j) + re(j, i), im(i, j) - im(j, i));
        }
        largest = std::max(largest, sum);
      }
      EXPECT_NEAR(found.bound, largest, 1e-12 * std::abs(largest)) << n << ' ' << seed;
    }
  }
}

// A product's exponent is the smallest that holds its largest element, which is then at most one half.
TEST(FixedPointProducts, HaveTheSmallestExponentThatHoldsThem) {
  const Communicator comm = test::world();
  for (const Index n : {1, 4, 9}) {
    for (int seed = 0; seed < 20; ++seed) {
      const int scale = 11 * (seed % 5) - 22;
      const DistributedMatrix<double> A(comm, Placement::row_bands(n, n, comm.size()));
      fill(A, ScaledEntries{seed, std::ldexp(1.0, scale)});
      impl::FixedPointArithmetic arithmetic(comm, n, 4);
      arithmetic.set_limbs(6);
      const impl::FixedPoint X = arithmetic.quantised({A, {}}, 0, scale + 1);
      const int exponent = arithmetic.multiply(X, X).exponent;
      const auto whole = gather(A, 0);
      if (comm.rank() != 0) continue;
      long double largest = 0.0L;
      for (std::size_t i = 0; i < whole.extent(0); ++i) {
        for (std::size_t j = 0; j < whole.extent(0); ++j) {
          long double sum = 0.0L;
          for (std::size_t k = 0; k < whole.extent(0); ++k) {
            sum += static_cast<long double>(whole(i, k)) * static_cast<long double>(whole(k, j));
          }
          largest = std::max(largest, std::abs(sum));
        }
      }
      EXPECT_LE(largest, std::ldexp(1.0L, exponent - 1)) << n << ' ' << seed;
      EXPECT_GT(largest, std::ldexp(1.0L, exponent - 2) * (1.0L - 0x1p-30L)) << n << ' ' << seed;
    }
  }
}

}  // namespace
}  // namespace heddle::certificate_norms_test
