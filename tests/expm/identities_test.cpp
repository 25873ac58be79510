// Identities of any exponential, at sizes too large for a reference in 256 bits.
#include "expm/arithmetic/complex_arithmetic.hpp"
#include "support/matrices.hpp"
#include <heddle/expm/expm.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

namespace heddle::identities_test {
namespace {

constexpr Index n = 96;

ExpmOptions options_of(int complex_products = 3) {
  ExpmOptions options;
  options.gemm.tile = 32;
  options.complex_products = complex_products;
  return options;
}

template <Scalar T>
DistributedMatrix<T> exponential_of(const Communicator& comm, const DistributedMatrix<T>& A, T factor) {
  const DistributedMatrix<T> scaled(comm, A.placement());
  DistributedMatrix<T> E(comm, A.placement());
  copy(A, scaled);
  scale(factor, scaled);
  expm(comm, scaled, E, options_of());
  return E;
}

template <class T> class Identities : public ::testing::Test {
 protected:
  Communicator comm = test::world();
};
TYPED_TEST_SUITE(Identities, test::AllScalars);

TYPED_TEST(Identities, ExpAExpMinusAIsI) {
  using T = TypeParam;
  const auto A = test::random_matrix<T>(this->comm, Placement::row_bands(n, n, this->comm.size()), 1);
  scale(T(static_cast<Real<T>>(0.125)), A);
  const auto plus = exponential_of(this->comm, A, T(1));
  const auto minus = exponential_of(this->comm, A, T(-1));
  const DistributedMatrix<T> product(this->comm, A.placement());
  gemm<T>(this->comm, Operation::none, Operation::none, T(1), plus, minus, T(0), product, {.tile = 32});
  add_identity(T(-1), product);
  const double bound = 8.0 * n * unit_roundoff<T> * norm(plus, Norm::one) * norm(minus, Norm::one);
  EXPECT_LE(norm(product, Norm::one), bound);
  EXPECT_GT(norm(plus, Norm::one), 1.5);
}

TYPED_TEST(Identities, UnitaryForSkewHermitian) {
  using T = TypeParam;
  const auto G = test::random_matrix<T>(this->comm, Placement::row_bands(n, n, this->comm.size()), 2);
  // A = G - G^H, exactly skew-Hermitian if both orders of subtraction round alike.
  const DistributedMatrix<T> I(this->comm, G.placement());
  fill(I, T(0));
  add_identity(T(1), I);
  const DistributedMatrix<T> A(this->comm, G.placement());
  copy(G, A);
  gemm<T>(this->comm, Operation::conjugate_transpose, Operation::none, T(-1), G, I, T(1), A, {.tile = 32});
  const auto U = exponential_of(this->comm, A, T(static_cast<Real<T>>(0.25)));
  const DistributedMatrix<T> product(this->comm, G.placement());
  gemm<T>(this->comm, Operation::conjugate_transpose, Operation::none, T(1), U, U, T(0), product, {.tile = 32});
  add_identity(T(-1), product);
  // Squarings double the error of the scaled exponential: u ||A||, and n u a product.
  const double bound = 8.0 * n * unit_roundoff<T> * std::max(1.0, 0.25 * static_cast<double>(norm(A, Norm::one)));
  EXPECT_LE(norm(product, Norm::maximum), bound);
}

// Determinant by Gaussian elimination with partial pivoting, on rank 0.
std::complex<double> log_determinant(const HostMatrix<Kokkos::complex<double>>& matrix) {
  const std::size_t size = matrix.extent(0);
  std::vector<std::complex<double>> a(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      a[i * size + j] = {matrix(i, j).real(), matrix(i, j).imag()};
    }
  }
  std::complex<double> log = 0.0;
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < size; ++i) {
      pivot = std::abs(a[i * size + k]) > std::abs(a[pivot * size + k]) ? i : pivot;
    }
    if (pivot != k) {
      for (std::size_t j = 0; j < size; ++j) {
        std::swap(a[k * size + j], a[pivot * size + j]);
      }
      log += std::complex<double>(0.0, M_PI);
    }
    log += std::log(a[k * size + k]);
    for (std::size_t i = k + 1; i < size; ++i) {
      const auto factor = a[i * size + k] / a[k * size + k];
      for (std::size_t j = k; j < size; ++j) {
        a[i * size + j] -= factor * a[k * size + j];
      }
    }
  }
  return log;
}

TEST(IdentitiesOfComplex, DeterminantIsTheExponentialOfTheTrace) {
  using T = Kokkos::complex<double>;
  const Communicator comm = test::world();
  const auto A = test::random_matrix<T>(comm, Placement::column_bands(n, n, comm.size()), 4);
  scale(T(0.25), A);
  const T sum = trace(A);
  const auto E = gather(exponential_of(comm, A, T(1)), 0);
  if (comm.rank() == 0) {
    const auto log = log_determinant(E);
    EXPECT_NEAR(log.real(), sum.real(), 1e-9);
    // Equal up to whole turns.
    const double turns = (log.imag() - sum.imag()) / (2.0 * M_PI);
    EXPECT_NEAR(turns, std::round(turns), 1e-9);
  }
}

TEST(IdentitiesOfComplex, ResidualIsSmall) {
  using T = Kokkos::complex<double>;
  const Communicator comm = test::world();
  const auto A = test::random_matrix<T>(comm, Placement::row_bands(n, n, comm.size()), 4);
  const DistributedMatrix<T> E(comm, A.placement());
  ExpmOptions options = options_of();
  EXPECT_FALSE(expm(comm, A, E, options).residual.has_value());
  options.residual = true;
  const ExpmReport report = expm(comm, A, E, options);
  ASSERT_TRUE(report.residual.has_value());
  EXPECT_LE(*report.residual, 8.0 * n * 0x1p-53 * report.norm1);
  EXPECT_GT(report.squarings, 0);
  EXPECT_GT(*report.residual, 0.0) << "the same steps twice agree with themselves";
  options.method = ExpmMethod::taylor;
  options.degree = 4;
  EXPECT_GT(*expm(comm, A, E, options).residual, 1e-3) << "a series far too short is not found out";
}

// Three products lose an imaginary part far smaller than the real one, which four keep. The error of Im(XY) is bounded
// by the size of its factors' parts with four products, and by the size of the whole product with three (Higham 1992).
TEST(ComplexProducts, ThreeLoseRelativeAccuracyOfASmallImaginaryPart) {
  const Communicator comm = test::world();
  const Placement bands = Placement::row_bands(n, n, comm.size());
  const double small = 0x1p-30;
  const auto with_small_imaginary = [&](int seed) {
    const DistributedMatrix<double> real = test::random_matrix<double>(comm, bands, seed);
    const DistributedMatrix<double> imaginary = test::random_matrix<double>(comm, bands, seed + 1);
    scale(small, imaginary);
    return impl::Parts<double>{real, imaginary};
  };
  const auto X = with_small_imaginary(1);
  const auto Y = with_small_imaginary(3);
  impl::ComplexArithmetic<double> three(comm, n, 3, {.tile = 32});
  impl::ComplexArithmetic<double> four(comm, n, 4, {.tile = 32});
  impl::WorkParts<double> Z3 = three.multiply(1.0, X, three.right_factor(Y));
  const impl::Parts<double> Z4 = four.multiply(1.0, X, four.right_factor(Y));
  EXPECT_EQ(three.products(), 3);
  EXPECT_EQ(four.products(), 4);
  // Reference: the imaginary part scaled up, where both are accurate.
  const auto scaled_up = [&](const impl::Parts<double>& Z) {
    const DistributedMatrix<double> imaginary(comm, bands);
    copy(*Z.imaginary, imaginary);
    scale(1.0 / small, imaginary);
    return impl::Parts<double>{Z.real, imaginary};
  };
  impl::Parts<double> reference;
  {
    const impl::Parts<double> x{X.real, nullptr};
    const impl::Parts<double> y{Y.real, nullptr};
    const impl::Parts<double> xi{scaled_up(X).imaginary, nullptr};
    const impl::Parts<double> yi{scaled_up(Y).imaginary, nullptr};
    reference = four.multiply_add(1.0, xi, four.right_factor(y), four.multiply(1.0, x, four.right_factor(yi)));
  }
  const auto error_of = [&](const impl::Parts<double>& Z) {
    const auto found = scaled_up(Z);
    add(-1.0, *reference.real, *found.imaginary);
    return norm(*found.imaginary, Norm::maximum) / norm(*reference.real, Norm::maximum);
  };
  const double error4 = error_of(Z4);
  const double error3 = error_of(Z3.read());
  EXPECT_LE(error4, n * 0x1p-53);
  EXPECT_GT(error3, 1e4 * 0x1p-53);
  EXPECT_LE(error3, 8.0 * n * 0x1p-53 / small);
  // Both are accurate relative to the whole complex matrix.
  add(-1.0, *Z4.real, Z3.real.write());
  EXPECT_LE(norm(*Z3.real.read(), Norm::maximum), 8.0 * n * 0x1p-53 * norm(*Z4.real, Norm::maximum));
}

}  // namespace
}  // namespace heddle::identities_test
