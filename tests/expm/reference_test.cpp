// Small hard matrices of the literature against 256 bits, in all scalars, within the limits of perf/expm/accuracy.py;
// and inputs that other codes mishandle: NaN, norms near the end of the range.
#include "expm/hard_matrices.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace heddle::reference_test {
namespace {

using test::Complex;
using test::hard_matrices;
using test::HardMatrix;
using test::narrow;
using test::widen;

template <class T> class HardMatrices : public ::testing::Test {
 protected:
  // The exponential of n x n entries, row-major, rounded to T; on rank 0.
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
  // The kind of the error thrown, on every rank; empty if a result is returned.
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
      const double error = test::relative_error<T>(found, matrix);
      const double bound = static_cast<double>(matrix.n) * unit_roundoff<T> * matrix.condition;
      // Beyond 1 no digit can be expected, but a number can.
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
  // Nearly the largest element, and nearly the smallest.
  const auto wide = this->exponential(2, {0.95 * largest, 0, 0, -0.95 * largest});
  // Nilpotent: I + A, for any size.
  const auto nilpotent = this->exponential(3, {0, 1e30, 0, 0, 0, 0, 0, 0, 0});
  // Decays to zero.
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
}  // namespace heddle::reference_test
