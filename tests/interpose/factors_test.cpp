// LAPACK's factorizations: beside another LAPACK, and by what their factors multiply to.
#include "interpose/library.hpp"
#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace heddle::test::factors_test {
namespace {

Routine* other_lapack(const std::string& name) {
  return routine_of("liblapack.so.3", name);
}
template <class T> class Factors : public testing::Test {
 protected:
  using R = Real<T>;
  std::vector<T> numbers(Index count) { return random_numbers<T>(engine_, count); }
  // Hermitian and positive definite.
  std::vector<T> definite(int n, int leading) {
    std::vector<T> A = numbers(Index{n} * leading);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i <= j; ++i) {
        T& a = A[static_cast<std::size_t>(i + j * leading)];
        a *= R{0.1};
        if (i == j) a = T(real_of<R>(a) + static_cast<R>(n));
        A[static_cast<std::size_t>(j + i * leading)] = conjugate(a);
      }
    }
    return A;
  }
  void expect_near(const std::vector<T>& x, const std::vector<T>& y, double factor, const std::string& what) {
    double largest = 1.0;
    for (const T& one : y) largest = std::max<double>(largest, std::abs(real_of<double>(one)));
    const double bound = factor * largest * static_cast<double>(unit_roundoff<T>);
    for (std::size_t e = 0; e < x.size(); ++e) {
      ASSERT_NEAR(real_of<double>(x[e]), real_of<double>(y[e]), bound) << what << ", element " << e;
      ASSERT_NEAR(imaginary_of<double>(x[e]), imaginary_of<double>(y[e]), bound) << what << ", element " << e;
    }
  }
  Routine* mine(const std::string& stem) const { return blas_function<Routine>(letter<T> + stem); }
  Routine* others(const std::string& stem) const { return other_lapack(letter<T> + stem); }
  std::mt19937 engine_{13};
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Factors, Types);

TYPED_TEST(Factors, OfAnyShapeMultiplyToTheMatrix) {
  using T = TypeParam;
  for (const auto& [m, n] : std::vector<std::pair<int, int>>{
           {0, 3}, {3, 0}, {1, 1}, {5, 9}, {9, 5}, {64, 64}, {65, 65}, {130, 70}, {70, 150}}) {
    const int leading = m + 3;
    const std::vector<T> A = this->numbers(Index{leading} * n);
    std::vector<T> LU = A;
    std::vector<int> pivots(static_cast<std::size_t>(std::min(m, n)), -1);
    int info = -1;
    call(this->mine("getrf_"), {&m, &n, LU.data(), &leading, pivots.data(), &info});
    ASSERT_EQ(info, 0);
    std::vector<T> PA = A;
    for (std::size_t i = 0; i < pivots.size(); ++i) {
      ASSERT_GE(pivots[i], static_cast<int>(i) + 1);
      ASSERT_LE(pivots[i], m);
      for (int j = 0; j < n; ++j) {
        std::swap(PA[i + static_cast<std::size_t>(j * leading)],
                  PA[static_cast<std::size_t>(pivots[i] - 1 + j * leading)]);
      }
    }
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        T sum{0};
        for (int k = 0; k <= std::min({i, j, m - 1, n - 1}); ++k) {
          const T l = k == i ? T{1} : LU[static_cast<std::size_t>(i + k * leading)];
          sum += l * LU[static_cast<std::size_t>(k + j * leading)];
        }
        const T rest = sum - PA[static_cast<std::size_t>(i + j * leading)];
        const double bound = 30.0 * std::min(m, n) * static_cast<double>(unit_roundoff<T>);
        ASSERT_LT(std::abs(real_of<double>(rest)) + std::abs(imaginary_of<double>(rest)), bound) << i << ", " << j;
      }
    }
  }
}

TYPED_TEST(Factors, SolveSystems) {
  using T = TypeParam;
  for (const int n : {0, 1, 2, 40, 64, 65, 129}) {
    const int columns = 3;
    const int leading = n + 2;
    std::vector<T> A = this->numbers(Index{leading} * n);
    for (int i = 0; i < n; ++i) A[static_cast<std::size_t>(i + (n - 1 - i) * leading)] += T(static_cast<Real<T>>(n));
    const std::vector<T> B = this->numbers(Index{leading} * columns);
    std::vector<T> LU[2] = {A, A};
    std::vector<T> X[2] = {B, B};
    std::vector<int> pivots[2] = {std::vector<int>(static_cast<std::size_t>(n)),
                                  std::vector<int>(static_cast<std::size_t>(n))};
    for (int which = 0; which < 2; ++which) {
      int info = -1;
      call(which == 0 ? this->mine("gesv_") : this->others("gesv_"),
           {&n, &columns, LU[which].data(), &leading, pivots[which].data(), X[which].data(), &leading, &info});
      ASSERT_EQ(info, 0);
    }
    EXPECT_EQ(pivots[0], pivots[1]);
    this->expect_near(X[0], X[1], 500.0, "gesv");
    for (const char* op : {"N", "T", "C"}) {
      for (int which = 0; which < 2; ++which) {
        int info = -1;
        X[which] = B;
        call(which == 0 ? this->mine("getrs_") : this->others("getrs_"),
             {op, &n, &columns, LU[1].data(), &leading, pivots[1].data(), X[which].data(), &leading, &info});
        ASSERT_EQ(info, 0);
      }
      this->expect_near(X[0], X[1], 500.0, std::string("getrs ") + op);
    }
    const int length = 64 * n + 1;
    std::vector<T> work(static_cast<std::size_t>(length));
    for (int which = 0; which < 2; ++which) {
      int info = -1;
      call(which == 0 ? this->mine("getri_") : this->others("getri_"),
           {&n, LU[which].data(), &leading, pivots[which].data(), work.data(), &length, &info});
      ASSERT_EQ(info, 0);
    }
    this->expect_near(LU[0], LU[1], 500.0, "getri");
  }
}

TYPED_TEST(Factors, OfDefiniteMatrices) {
  using T = TypeParam;
  for (const int n : {0, 1, 2, 40, 64, 65, 150}) {
    for (const char* part : {"L", "U"}) {
      const int columns = 2;
      const int leading = n + 1;
      const std::vector<T> A = this->definite(n, leading);
      const std::vector<T> B = this->numbers(Index{leading} * columns);
      std::vector<T> factors[2] = {A, A};
      std::vector<T> X[2] = {B, B};
      for (int which = 0; which < 2; ++which) {
        int info = -1;
        call(which == 0 ? this->mine("posv_") : this->others("posv_"),
             {part, &n, &columns, factors[which].data(), &leading, X[which].data(), &leading, &info});
        ASSERT_EQ(info, 0);
      }
      // The other triangle is left alone.
      this->expect_near(factors[0], factors[1], 100.0, "posv, factors");
      this->expect_near(X[0], X[1], 100.0, "posv");
      for (int which = 0; which < 2; ++which) {
        int info = -1;
        call(which == 0 ? this->mine("trtri_") : this->others("trtri_"),
             {part, "N", &n, factors[which].data(), &leading, &info});
        ASSERT_EQ(info, 0);
      }
      this->expect_near(factors[0], factors[1], 100.0, "trtri");
    }
  }
}

TYPED_TEST(Factors, SayWhereThereAreNone) {
  using T = TypeParam;
  const int n = 3;
  int pivots[3];
  int info = -1;
  std::vector<T> singular = {T{4}, T{2}, T{1}, T{8}, T{4}, T{2}, T{1}, T{0}, T{1}};
  call(this->mine("getrf_"), {&n, &n, singular.data(), &n, pivots, &info});
  EXPECT_EQ(info, 2);
  std::vector<T> indefinite = {T{1}, T{0}, T{0}, T{0}, T{-1}, T{0}, T{0}, T{0}, T{1}};
  call(this->mine("potrf_"), {"L", &n, indefinite.data(), &n, &info});
  EXPECT_EQ(info, 2);
  std::vector<T> triangle = {T{1}, T{0}, T{0}, T{0}, T{1}, T{0}, T{0}, T{0}, T{0}};
  call(this->mine("trtri_"), {"L", "N", &n, triangle.data(), &n, &info});
  EXPECT_EQ(info, 3);
  const int wrong = -1;
  call(this->mine("getrf_"), {&n, &wrong, singular.data(), &n, pivots, &info});
  EXPECT_EQ(info, -2);
}

}  // namespace
}  // namespace heddle::test::factors_test
