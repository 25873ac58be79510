// Norms from products with thin blocks: of powers, against the powers themselves, and the spectral norm.
#include "expm/dense/norm_estimate.hpp"

#include "expm/thin/spectral_bound.hpp"
#include "support/matrices.hpp"
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace heddle::norm_estimate_test {
namespace {

using impl::Parts;
using impl::PowerNormEstimate;
using impl::SharedMatrix;

// Kinds of entries (i, j), for matrices whose powers have different norms.
enum class Kind { random, positive, triangular, nilpotent, graded, constant };

struct Entries {
  Kind kind;
  int seed;
  Index n;
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const {
    const double random = test::random_number(i, j, seed);
    switch (kind) {
      case Kind::random:
        return random;
      case Kind::positive:
        return Kokkos::abs(random);
      case Kind::triangular:
        return i == j ? 0.25 * random : i < j ? 100.0 * random : 0.0;
      case Kind::nilpotent:
        return j == i + 1 ? 3.0 + random : 0.0;
      case Kind::graded:
        return random * Kokkos::pow(10.0, -8.0 * static_cast<double>(i) / static_cast<double>(n));
      case Kind::constant:
        return 0.5;
    }
    return 0.0;
  }
};

template <RealScalar T> SharedMatrix<T> part(const Communicator& comm, Index n, Kind kind, int seed) {
  const DistributedMatrix<T> matrix(comm, Placement::row_bands(n, n, comm.size()));
  const Entries entries{kind, seed, n};
  fill(
      matrix, KOKKOS_LAMBDA(Index i, Index j) { return static_cast<T>(entries(i, j)); });
  return matrix;
}

// ||A^k||_1 for the same entries, as rounded to T, on the host.
template <RealScalar T> std::vector<double> norms_of_powers(const Parts<T>& A, int count) {
  using Complex = std::complex<double>;
  HostMatrix<T> real, imaginary;
  if (A.real) real = gather(*A.real, 0);
  if (A.imaginary) imaginary = gather(*A.imaginary, 0);
  const std::size_t n = std::max(real.extent(0), imaginary.extent(0));
  std::vector<Complex> a(n * n), power, next(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      a[i + n * j] = Complex(real.size() > 0 ? real(i, j) : 0.0, imaginary.size() > 0 ? imaginary(i, j) : 0.0);
    }
  }
  power = a;
  std::vector<double> norms;
  for (int k = 1; k <= count; ++k) {
    double largest = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (std::size_t i = 0; i < n; ++i) sum += std::abs(power[i + n * j]);
      largest = std::max(largest, sum);
    }
    norms.push_back(largest);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) next[i + n * j] = 0.0;
      for (std::size_t m = 0; m < n; ++m) {
        const Complex factor = power[m + n * j];
        for (std::size_t i = 0; i < n; ++i) next[i + n * j] += a[i + n * m] * factor;
      }
    }
    std::swap(power, next);
  }
  return norms;
}

template <class T> class NormEstimate : public ::testing::Test {
 protected:
  Communicator comm = test::world();

  void compare(const Parts<T>& A, const char* name) {
    constexpr int powers = 6;
    PowerNormEstimate<T> estimate(comm, A);
    EXPECT_TRUE(estimate.finite());
    std::vector<double> roots;
    for (int k = 1; k <= powers; ++k) {
      roots.push_back(estimate.root(k));
      EXPECT_NEAR(estimate.norm(k), std::pow(roots.back(), k), 1e-12 * estimate.norm(k));
    }
    const std::vector<double> norms = norms_of_powers(A, powers);
    if (comm.rank() != 0) {
      return;
    }
    for (int k = 1; k <= powers; ++k) {
      SCOPED_TRACE(std::string(name) + ", power " + std::to_string(k));
      const auto at = static_cast<std::size_t>(k - 1);
      const double root = std::pow(norms[at], 1.0 / k);
      EXPECT_LE(roots[at], root * (1 + 1e-12));
      EXPECT_GE(std::pow(roots[at], k), norms[at] / 3 * (1 - 1e-12));
    }
  }
};
using RealTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(NormEstimate, RealTypes);

TYPED_TEST(NormEstimate, OfPowersIsALowerBoundWithinAThird) {
  for (const Index n : {1, 2, 4, 5, 17, 60}) {
    for (const Kind kind :
         {Kind::random, Kind::positive, Kind::triangular, Kind::nilpotent, Kind::graded, Kind::constant}) {
      const auto real = part<TypeParam>(this->comm, n, kind, 3);
      this->compare({real, nullptr}, "real");
      this->compare({nullptr, real}, "imaginary");
      this->compare({real, part<TypeParam>(this->comm, n, Kind::random, 4)}, "complex");
    }
  }
}

TYPED_TEST(NormEstimate, SurvivesTheEndsOfTheRange) {
  const Index n = 12;
  const auto tiny_norm = std::numeric_limits<TypeParam>::min() * TypeParam(4);
  const auto large_norm = std::numeric_limits<TypeParam>::max() / TypeParam(64);
  for (const TypeParam size : {tiny_norm, large_norm}) {
    const auto A = part<TypeParam>(this->comm, n, Kind::random, 5);
    PowerNormEstimate<TypeParam> plain(this->comm, {A, nullptr});
    const double expected = plain.root(5);
    scale(size, *A);
    PowerNormEstimate<TypeParam> scaled(this->comm, {A, nullptr});
    EXPECT_NEAR(scaled.root(5), expected * static_cast<double>(size), 1e-6 * expected * static_cast<double>(size));
  }
  const auto zero = part<TypeParam>(this->comm, n, Kind::random, 5);
  fill(*zero, TypeParam(0));
  PowerNormEstimate<TypeParam> none(this->comm, {zero, nullptr});
  EXPECT_EQ(none.root(3), 0.0);
  for (const auto poison : {std::numeric_limits<TypeParam>::quiet_NaN(), std::numeric_limits<TypeParam>::infinity()}) {
    test::fill_ones_but(*zero, 3, n - 1, poison);
    EXPECT_FALSE(PowerNormEstimate<TypeParam>(this->comm, {zero, nullptr}).finite());
  }
}

// The estimate of the whole matrix on one rank is the same for any number of ranks.
TYPED_TEST(NormEstimate, HasTheSameBitsOnAnyNumberOfRanks) {
  using T = TypeParam;
  const Index n = 151;
  const Communicator alone(MPI_COMM_SELF);
  for (const bool both : {false, true}) {
    const auto of = [&](const Communicator& ranks) {
      const Parts<T> A{part<T>(ranks, n, Kind::graded, 6), both ? part<T>(ranks, n, Kind::random, 7) : nullptr};
      PowerNormEstimate<T> estimate(ranks, A);
      return std::array{estimate.root(1), estimate.root(2), estimate.root(5)};
    };
    EXPECT_EQ(of(this->comm), of(alone));
  }
}

// Q diag(d) Q^H, Q = P (I - 2 v v^T) with phases P: all eigenvalues and vectors are known.
template <RealScalar T> Parts<T> with_eigenvalues(const Communicator& comm, const std::vector<double>& d, bool both) {
  const auto n = static_cast<Index>(d.size());
  std::vector<double> v;
  for (Index i = 0; i < n; ++i) v.push_back(1.0 + test::random_number(i, 0, 11));
  const double size = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
  double middle = 0.0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] /= size;
    middle += d[i] * v[i] * v[i];
  }
  const auto whole = [&](bool real) {
    const bool root = comm.rank() == 0;
    const HostMatrix<T> matrix("heddle::test::whole", root ? n : 0, root ? n : 0);
    for (std::size_t j = 0; j < matrix.extent(1); ++j) {
      for (std::size_t i = 0; i < matrix.extent(0); ++i) {
        const double entry = (i == j ? d[i] : 0.0) - 2.0 * v[i] * v[j] * (d[i] + d[j] - 2.0 * middle);
        const double phase = both ? 0.1 * (static_cast<double>(i) - static_cast<double>(j)) : 0.0;
        matrix(i, j) = static_cast<T>(entry * (real ? std::cos(phase) : std::sin(phase)));
      }
    }
    const DistributedMatrix<T> part(comm, Placement::row_bands(n, n, comm.size()));
    scatter(matrix, 0, part);
    return SharedMatrix<T>(part);
  };
  return {whole(true), both ? whole(false) : nullptr};
}

TYPED_TEST(NormEstimate, TheSpectralBoundHoldsAndIsNear) {
  using T = TypeParam;
  const Communicator alone(MPI_COMM_SELF);
  const std::vector<std::function<double(Index, Index)>> spectra = {
      [](Index i, Index n) { return static_cast<double>(i) / static_cast<double>(n); },
      [](Index i, Index) { return i == 0 ? -1.0 : 0.01 * static_cast<double>(i % 7); },
      [](Index i, Index) { return i < 2 ? 1.0 - 0.02 * static_cast<double>(i) : 0.9; },
      [](Index i, Index n) { return std::pow(static_cast<double>(i + 1) / static_cast<double>(n), 4); },
      [](Index, Index) { return -3.0; },
  };
  for (const Index n : {3, 60, 300}) {
    for (const auto& spectrum : spectra) {
      std::vector<double> d;
      for (Index i = 0; i < n; ++i) d.push_back(0x1p20 * spectrum(i, n));
      double radius = 0.0;
      for (const double value : d) radius = std::max(radius, std::abs(value));
      for (const bool both : {false, true}) {
        const double bound = impl::spectral_bound(this->comm, with_eigenvalues<T>(this->comm, d, both));
        EXPECT_GE(bound, radius) << n;
        EXPECT_LE(bound, 1.2 * radius) << n;
        EXPECT_EQ(bound, impl::spectral_bound(alone, with_eigenvalues<T>(alone, d, both))) << n;
      }
    }
  }
}

// The products themselves, at all remainders of the width.
TEST(ThinProducts, AreThoseOfTheMatrix) {
  using T = Kokkos::complex<double>;
  const Communicator comm = test::world();
  const Index n = 143;
  const auto A = test::random_matrix<T>(comm, Placement::row_bands(n, n, comm.size()), 8);
  impl::ThinProducts<T, T> products(comm, A);
  for (const Index columns : {1, 2, 3, 4, 7, 9}) {
    const auto X = test::random_matrix<T>(Communicator(MPI_COMM_SELF), Placement::on_rank(n, columns, 0), 9);
    const LocalMatrix<T> Y("heddle::Y", n, columns);
    for (const bool adjoint : {false, true}) {
      if (adjoint) {
        products.multiply_adjoint(2.0, X.local(), Y);
      } else {
        products.multiply(2.0, X.local(), Y);
      }
      const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Y);
      const test::RandomEntries<T> a{8}, x{9};
      for (Index i = 0; i < n; i += 7) {
        for (Index c = 0; c < columns; ++c) {
          T sum = 0;
          for (Index k = 0; k < n; ++k) sum += (adjoint ? conjugate(a(k, i)) : a(i, k)) * x(k, c);
          EXPECT_LE(Kokkos::abs(found(i, c) - 2.0 * sum), adjoint ? n * 0x1p-36 : n * 1e-14) << i << ", " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::norm_estimate_test
