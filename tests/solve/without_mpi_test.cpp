// Functions of one rank's Views in a program that never initialises MPI, where any MPI call would abort it.
#include "support/matrices.hpp"
#include <heddle/solve/solve.hpp>
#include <heddle/solve/syrk.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace heddle::without_mpi_test {
namespace {

// A = 4 n I + small numbers, Hermitian.
template <Scalar T> HostMatrix<T> positive(Index n) {
  return test::host_matrix<T>(n, n, [&](Index i, Index j) {
    return i == j ? T(static_cast<Real<T>>(4 * n))
                  : test::RandomEntries<T>{5}(i, j) + conjugate(test::RandomEntries<T>{5}(j, i));
  });
}
// The largest part of an element of A X - B.
template <Scalar T> double residual(const HostMatrix<T>& A, const MatrixView<T>& X, const HostMatrix<T>& B) {
  const HostMatrix<T> x = test::to_host<T>(X);
  double most = 0;
  for (std::size_t j = 0; j < B.extent(1); ++j) {
    for (std::size_t i = 0; i < B.extent(0); ++i) {
      T sum = -B(i, j);
      for (std::size_t k = 0; k < A.extent(1); ++k) sum += A(i, k) * x(k, j);
      most = std::fmax(most, std::fmax(std::abs(real_of<double>(sum)), std::abs(imaginary_of<double>(sum))));
    }
  }
  return most;
}

template <class T> class WithoutMpi : public ::testing::Test {};
TYPED_TEST_SUITE(WithoutMpi, test::AllScalars);

TYPED_TEST(WithoutMpi, SystemsAreSolved) {
  using T = TypeParam;
  const ExecutionSpace space;
  const Index n = 70;
  const double few = 100 * static_cast<double>(n) * static_cast<double>(unit_roundoff<T>);
  const HostMatrix<T> A = positive<T>(n);
  const HostMatrix<T> B = test::host_random<T>(n, 4, 2);
  const auto view = [](const HostMatrix<T>& host) { return test::padded_on_device<T>(host); };
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const FactorOptions options{.arithmetic = arithmetic, .block = 16, .group = 2};
    for (const SolveMethod method : {SolveMethod::lu, SolveMethod::cholesky}) {
      const auto X = view(B);
      const SolveReport report =
          solve(space, view(A), view(B), X, {.method = method, .factorization = options, .certificate = true});
      EXPECT_LE(residual<T>(A, X, B), few);
      EXPECT_LE(report.componentwise_error, 4 * static_cast<double>(unit_roundoff<T>));
      EXPECT_LE(report.error_bound, few);
    }
    const auto LU = view(A);
    const LuReport factors = lu(space, LU, options);
    const auto by_lu = view(B);
    lu_solve(space, Operation::none, LU, factors, by_lu, options);
    EXPECT_LE(residual<T>(A, by_lu, B), few);
    EXPECT_LE(condition(space, LU, factors, 6.0 * static_cast<double>(n), options), 20.0);
    EXPECT_GT(determinant(space, LU, factors).exponent, n);
    const auto L = view(A);
    ASSERT_EQ(cholesky(space, L, options).info, 0);
    // A - L L^H is zero.
    const auto rest = view(A);
    herk(space, Triangle::lower, Operation::none, Real<T>(-1), L, Real<T>(1), rest,
         {.arithmetic = arithmetic, .block = 16});
    const HostMatrix<T> left = test::to_host<T>(rest);
    for (std::size_t j = 0; j < left.extent(1); ++j) {
      for (std::size_t i = j; i < left.extent(0); ++i) {
        EXPECT_LE(std::abs(real_of<double>(left(i, j))), few * static_cast<double>(n));
      }
    }
    const auto by_cholesky = view(B);
    cholesky_solve(space, L, by_cholesky, options);
    EXPECT_LE(residual<T>(A, by_cholesky, B), few);
    const auto by_triangles = view(B);
    trsm(space, Triangle::lower, Operation::none, Diagonal::stored, L, by_triangles, options);
    trsm(space, Triangle::lower, Operation::conjugate_transpose, Diagonal::stored, L, by_triangles, options);
    EXPECT_LE(residual<T>(A, by_triangles, B), few);
    const auto inverted = view(A);
    ASSERT_EQ(inverse(space, inverted, options).info, 0);
    const HostMatrix<T> identity = test::host_matrix<T>(n, n, [](Index i, Index j) { return i == j ? T(1) : T(0); });
    EXPECT_LE(residual<T>(A, inverted, identity), few);
  }
}

}  // namespace
}  // namespace heddle::without_mpi_test

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const int failed = RUN_ALL_TESTS();
  int started = 0;
  MPI_Initialized(&started);
  return failed != 0 || started != 0 ? 1 : 0;
}
