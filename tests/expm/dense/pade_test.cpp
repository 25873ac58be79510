// Pade approximants: their error bound against Higham's table and the scalar series, the approximants of matrices
// against exponentials by another method in higher precision, and their cost.
#include "expm/dense/pade.hpp"

#include "support/errors.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace heddle::pade_test {
namespace {

using impl::ComplexArithmetic;
using impl::pade;
using impl::pade_backward_error;
using impl::Parts;
using impl::PartsSolver;
using impl::SharedMatrix;

// Largest theta whose bound is the tolerance.
double theta_of(int degree, double tolerance) {
  double low = 0.0;
  double high = 5.371920351148152;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (pade_backward_error(degree, middle) > tolerance ? high : low) = middle;
  }
  return low;
}

TEST(PadeBackwardError, GivesHighamsThetas) {
  const std::array<double, 5> higham = {1.495585217958292e-2, 2.539398330063230e-1, 9.504178996162932e-1,
                                        2.097847961257068, 5.371920351148152};
  for (std::size_t k = 0; k < higham.size(); ++k) {
    EXPECT_NEAR(theta_of(impl::pade_degrees[k], 0x1p-53), higham[k], 0.01 * higham[k]);
  }
  EXPECT_NEAR(theta_of(3, 0x1p-24), 4.258730016922831e-1, 0.01 * 0.43);
  EXPECT_NEAR(theta_of(5, 0x1p-24), 1.880152677804762, 0.01 * 1.88);
  EXPECT_NEAR(theta_of(7, 0x1p-24), 3.925724783138660, 0.01 * 3.93);
}

TEST(PadeBackwardError, RisesAndEnds) {
  for (const int degree : impl::pade_degrees) {
    EXPECT_EQ(pade_backward_error(degree, 0.0), 0.0);
    for (double theta = 0.01; theta < 4.5; theta *= 1.1) {
      EXPECT_LT(pade_backward_error(degree, theta), pade_backward_error(degree, 1.1 * theta));
    }
    EXPECT_EQ(pade_backward_error(degree, 5.38), std::numeric_limits<double>::infinity());
    EXPECT_EQ(pade_backward_error(degree, std::nan("")), std::numeric_limits<double>::infinity());
  }
  EXPECT_EQ(pade_backward_error(3, 4.65), std::numeric_limits<double>::infinity());
  test::expect_refusal(ErrorKind::argument, "Pade degree 4; expected 3, 5, 7, 9 or 13",
                       [&] { static_cast<void>(pade_backward_error(4, 1.0)); });
}

// |log(exp(-x) r_m(x))| / |x| of complex numbers, where it is well above the errors of long double.
TEST(PadeBackwardError, IsABoundForNumbers) {
  using Wide = std::complex<long double>;
  for (const int degree : impl::pade_degrees) {
    for (const double tolerance : {1e-12, 1e-9, 1e-6, 1e-3}) {
      const double theta = theta_of(degree, tolerance);
      double largest = 0.0;
      for (int direction = 0; direction < 64; ++direction) {
        const Wide x = std::polar<long double>(theta, direction * 0.0981747704246810387L);
        Wide up = 0.0L;
        Wide down = 0.0L;
        long double coefficient = 1.0L;
        Wide power = 1.0L;
        for (int k = 0; k <= degree; ++k) {
          up += coefficient * power;
          down += (k % 2 == 0 ? 1.0L : -1.0L) * coefficient * power;
          power *= x;
          coefficient *= static_cast<long double>(degree - k) / ((2 * degree - k) * (k + 1.0L));
        }
        largest = std::max(largest, static_cast<double>(std::abs(std::log(std::exp(-x) * up / down)) / theta));
      }
      const double bound = pade_backward_error(degree, theta);
      EXPECT_LE(largest, bound * (1 + 1e-4)) << degree << ", " << theta;
      EXPECT_GE(largest, bound / 2) << degree << ", " << theta;
    }
  }
}

// exp by 12 terms of A / 2^8 and squarings, column-major, in long double.
using Long = std::complex<long double>;
std::vector<Long> long_product(std::size_t n, const std::vector<Long>& X, const std::vector<Long>& Y) {
  std::vector<Long> Z(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) {
      const Long factor = Y[k + n * j];
      for (std::size_t i = 0; i < n; ++i) Z[i + n * j] += X[i + n * k] * factor;
    }
  }
  return Z;
}
std::vector<Long> long_exponential(std::size_t n, std::vector<Long> A) {
  for (Long& element : A) element *= 0x1p-8L;
  std::vector<Long> E(n * n);
  for (int k = 12; k >= 0; --k) {
    if (k < 12) E = long_product(n, A, E);
    for (Long& element : E) element /= static_cast<long double>(k + 1);
    for (std::size_t i = 0; i < n; ++i) E[i + n * i] += 1.0L;
  }
  for (int k = 0; k < 8; ++k) E = long_product(n, E, E);
  return E;
}

template <class T> class Pade : public ::testing::Test {
 protected:
  Communicator comm = test::world();

  static GemmOptions tiled() {
    GemmOptions options;
    options.tile = 32;
    return options;
  }
  // Random, with 1-norm about `size`.
  Parts<T> random(const Communicator& ranks, Index n, double size, bool real, bool imaginary) const {
    const auto part = [&](int seed) -> SharedMatrix<T> {
      const Placement bands = Placement::row_bands(n, n, ranks.size());
      const DistributedMatrix<T> matrix = test::random_matrix<T>(ranks, bands, seed);
      const auto norm_one = static_cast<double>(norm(matrix, Norm::one)) * (real && imaginary ? 2.0 : 1.0);
      // A power of two, so that the result does not depend on the order of the norm's sums.
      scale(static_cast<T>(std::exp2(std::floor(std::log2(size / norm_one)))), matrix);
      return matrix;
    };
    return {real ? part(1) : SharedMatrix<T>(), imaginary ? part(2) : SharedMatrix<T>()};
  }
  // On rank 0.
  static std::vector<Long> gathered(const Parts<T>& A, Index n) {
    const HostMatrix<T> real = A.real ? gather(*A.real, 0) : HostMatrix<T>();
    const HostMatrix<T> imaginary = A.imaginary ? gather(*A.imaginary, 0) : HostMatrix<T>();
    std::vector<Long> whole(std::max(real.size(), imaginary.size()));
    for (std::size_t k = 0; k < whole.size(); ++k) {
      const auto i = k % static_cast<std::size_t>(n);
      const auto j = k / static_cast<std::size_t>(n);
      whole[k] = {real.size() > 0 ? real(i, j) : T{0}, imaginary.size() > 0 ? imaginary(i, j) : T{0}};
    }
    return whole;
  }
  // ||found - exp(A / 2^squarings)||_1 relative to u and its norm, or to u if the norm is below 1: 1 + 2 y cancels; on
  // rank 0.
  static double error(const Parts<T>& A, const Parts<T>& found, Index n, int squarings) {
    const std::vector<Long> x = gathered(found, n);
    std::vector<Long> a = gathered(A, n);
    if (x.empty()) {
      return 0.0;
    }
    for (Long& element : a) element = element * std::ldexp(1.0L, -squarings);
    const auto size = static_cast<std::size_t>(n);
    const std::vector<Long> e = long_exponential(size, a);
    double difference = 0.0;
    double whole = 1.0;
    for (std::size_t j = 0; j < size; ++j) {
      double of_difference = 0.0;
      double of_whole = 0.0;
      for (std::size_t i = 0; i < size; ++i) {
        of_difference += static_cast<double>(std::abs(x[i + size * j] - e[i + size * j]));
        of_whole += static_cast<double>(std::abs(e[i + size * j]));
      }
      difference = std::max(difference, of_difference);
      whole = std::max(whole, of_whole);
    }
    return difference / (whole * static_cast<double>(unit_roundoff<T>));
  }
};
using RealScalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Pade, RealScalars);

TYPED_TEST(Pade, IsTheExponential) {
  using T = TypeParam;
  for (const Index n : {1, 2, 3, 10, 37, 100}) {
    ComplexArithmetic<T> arithmetic(this->comm, n, 3, this->tiled());
    PartsSolver<T> solver(this->comm, n);
    for (const int degree : impl::pade_degrees) {
      if (n == 100 && degree < 13) continue;  // the reference is slow
      const double theta = theta_of(degree, static_cast<double>(unit_roundoff<T>));
      for (const auto& [real, imaginary] : {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
        for (const int squarings : {0, 3}) {
          const Parts<T> A = this->random(this->comm, n, theta * (1 << squarings), real, imaginary);
          const Parts<T> X = pade(arithmetic, solver, std::span<const Parts<T>>(&A, 1), degree, squarings);
          EXPECT_EQ(!X.imaginary, !imaginary);
          // Backward error u theta, plus rounding.
          EXPECT_LE(this->error(A, X, n, squarings), 10.0 + 2.0 * theta + std::sqrt(static_cast<double>(n)))
              << "n = " << n << ", degree " << degree << (real ? ", real" : "") << (imaginary ? ", imaginary" : "");
        }
      }
    }
  }
}

TYPED_TEST(Pade, CostsWhatItSaysAndTakesThePowersThatAreThere) {
  using T = TypeParam;
  const Index n = 20;
  ComplexArithmetic<T> arithmetic(this->comm, n, 3, this->tiled());
  PartsSolver<T> solver(this->comm, n);
  std::vector<Parts<T>> powers = {this->random(this->comm, n, 2.0, true, false)};
  const auto factor = arithmetic.right_factor(powers[0]);
  while (powers.size() < 8) powers.push_back(arithmetic.multiply(T{1}, powers.back(), factor));
  const std::array<int, 5> from_nothing = {2, 3, 4, 5, 6};
  for (std::size_t k = 0; k < from_nothing.size(); ++k) {
    const int degree = impl::pade_degrees[k];
    EXPECT_EQ(impl::pade_products(degree, 1), from_nothing[k]);
    for (int known = 1; known <= 8; ++known) {
      arithmetic.reset_counts();
      const Parts<T> X = pade(arithmetic, solver, std::span<const Parts<T>>(powers).first(known), degree, 1);
      EXPECT_EQ(arithmetic.products(), impl::pade_products(degree, known)) << degree << ", " << known;
      const double tolerance = pade_backward_error(degree, 1.0) / static_cast<double>(unit_roundoff<T>);
      EXPECT_LE(this->error(powers[0], X, n, 1), 20.0 + 2.0 * tolerance) << degree << ", " << known;
    }
  }
}

// A functor, since nvcc accepts no KOKKOS_LAMBDA in the body of a test.
template <RealScalar T> struct Diagonal {
  Index n;
  double size;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    return i == j ? static_cast<T>(size * (2.0 * static_cast<double>(i) / static_cast<double>(n) - 1.0)) : T{0};
  }
};
template <RealScalar T> struct Rotations {
  double angle;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    return i / 2 != j / 2 || i == j ? T{0} : static_cast<T>(i < j ? -angle : angle);
  }
};

TYPED_TEST(Pade, OfADiagonalIsTheScalarExponential) {
  using T = TypeParam;
  const Index n = 50;
  ComplexArithmetic<T> arithmetic(this->comm, n, 3, this->tiled());
  PartsSolver<T> solver(this->comm, n);
  for (const int degree : impl::pade_degrees) {
    const double theta = theta_of(degree, static_cast<double>(unit_roundoff<T>));
    const DistributedMatrix<T> matrix(this->comm, arithmetic.placement());
    fill(matrix, Diagonal<T>{n, theta});
    for (const bool imaginary : {false, true}) {
      const Parts<T> A = imaginary ? Parts<T>{nullptr, matrix} : Parts<T>{matrix, nullptr};
      const Parts<T> X = pade(arithmetic, solver, std::span<const Parts<T>>(&A, 1), degree, 0);
      const std::vector<Long> x = this->gathered(X, n);
      for (Index k = 0; k < static_cast<Index>(x.size()); ++k) {
        const Index i = k % n;
        const Index j = k / n;
        const auto a = static_cast<long double>(Diagonal<T>{n, theta}(i, i));
        const Long expected = i != j ? Long(0.0L) : imaginary ? std::polar(1.0L, a) : Long(std::exp(a));
        // V - U is about e^-|a| times V, and 1 + 2 y cancels if the exponential is small.
        const double factor = i != j ? 0.0 : 10.0 + 3.0 * static_cast<double>(std::exp(std::abs(a)));
        const double allowed = factor * static_cast<double>(unit_roundoff<T>);
        EXPECT_LE(static_cast<double>(std::abs(x[static_cast<std::size_t>(k)] - expected)),
                  allowed * std::max(1.0, static_cast<double>(std::abs(expected))))
            << i << ", " << j << ", degree " << degree;
      }
    }
  }
}

TYPED_TEST(Pade, OfPlaneRotations) {
  using T = TypeParam;
  const Index n = 2 * this->comm.size() + 4;
  ComplexArithmetic<T> arithmetic(this->comm, n, 3, this->tiled());
  PartsSolver<T> solver(this->comm, n);
  for (const double angle : {1e-3, 0.9, 5.0}) {
    const DistributedMatrix<T> matrix(this->comm, arithmetic.placement());
    fill(matrix, Rotations<T>{angle});
    const Parts<T> A{matrix, nullptr};
    const Parts<T> X = pade(arithmetic, solver, std::span<const Parts<T>>(&A, 1), 13, 0);
    EXPECT_FALSE(X.imaginary);
    const HostMatrix<T> x = gather(*X.real, 0);
    const auto t = static_cast<double>(static_cast<T>(angle));
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      for (std::size_t j = 0; j < x.extent(1); ++j) {
        const double expected = i == j ? std::cos(t) : i / 2 != j / 2 ? 0.0 : (i < j ? -std::sin(t) : std::sin(t));
        EXPECT_NEAR(x(i, j), expected, 20 * unit_roundoff<T>) << i << ", " << j << ", angle " << angle;
      }
    }
  }
}

TYPED_TEST(Pade, BitsAreThoseOfOneRank) {
  using T = TypeParam;
  const Communicator alone(MPI_COMM_SELF);
  const Index n = 90;
  for (const auto& [real, imaginary] : {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
    const auto result = [&, r = real, i = imaginary](const Communicator& ranks) {
      ComplexArithmetic<T> arithmetic(ranks, n, 3, this->tiled());
      PartsSolver<T> solver(ranks, n);
      const Parts<T> A = this->random(ranks, n, 4.0, r, i);
      const Parts<T> X = pade(arithmetic, solver, std::span<const Parts<T>>(&A, 1), 13, 0);
      std::vector<HostMatrix<T>> parts = {gather(*X.real, 0)};
      if (X.imaginary) parts.push_back(gather(*X.imaginary, 0));
      return parts;
    };
    const auto found = result(this->comm);
    const auto expected = result(alone);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size() && this->comm.rank() == 0; ++k) {
      EXPECT_TRUE(test::same_bits(found[k], expected[k])) << k;
    }
  }
}

}  // namespace
}  // namespace heddle::pade_test
