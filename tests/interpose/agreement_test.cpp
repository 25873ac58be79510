// BLAS 1 to 3 beside another BLAS, by Fortran's names: what is computed, where it goes and what is left alone.
#include "interpose/library.hpp"
#include <heddle/core/scalar.hpp>
#include <heddle/exact/accumulator.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <vector>

namespace heddle::test::agreement_test {
namespace {

Routine* other_blas(const std::string& name) {
  return routine_of("libblas.so.3", name);
}

template <class T> class Agreement : public testing::Test {
 protected:
  using R = Real<T>;
  T number() { return random_number<T>(engine_); }
  std::vector<T> numbers(Index count) { return random_numbers<T>(engine_, count); }
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  const char* letter_of(const char* letters) { return letters + pick(0, static_cast<int>(std::strlen(letters)) - 1); }
  int step() {
    const int steps[] = {1, 1, 2, -1, -3};
    return steps[pick(0, 4)];
  }
  // Calls both with copies of `output`, whose place among the arguments `build` fills.
  template <class Build> void compare(const std::string& routine, const std::vector<T>& output, const Build& build) {
    std::vector<T> mine = output;
    std::vector<T> others = output;
    call(blas_function<Routine>(routine), build(mine.data()));
    Routine* const reference = other_blas(routine);
    ASSERT_NE(reference, nullptr) << routine;
    call(reference, build(others.data()));
    double largest = 1.0;
    for (const T& x : others) largest = std::max<double>(largest, std::abs(real_of<double>(x)));
    for (std::size_t e = 0; e < mine.size(); ++e) {
      const double bound = 400.0 * largest * static_cast<double>(unit_roundoff<T>);
      ASSERT_NEAR(real_of<double>(mine[e]), real_of<double>(others[e]), bound) << routine << ", element " << e;
      ASSERT_NEAR(imaginary_of<double>(mine[e]), imaginary_of<double>(others[e]), bound)
          << routine << ", element " << e;
    }
  }
  std::string name(const std::string& stem) const { return letter<T> + stem; }
  // Triangles are well conditioned.
  std::vector<T> triangle(int order, int leading) {
    std::vector<T> A = numbers(Index{order} * leading);
    for (T& a : A) a *= R{0.1};
    for (int i = 0; i < order; ++i) A[static_cast<std::size_t>(i + i * leading)] += R{2};
    return A;
  }
  T factor() {
    const int choice = pick(0, 3);
    return choice == 0 ? T{0} : choice == 1 ? T{1} : number();
  }

  std::mt19937 engine_{11};
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Agreement, Types);

TYPED_TEST(Agreement, OfSymmetricProducts) {
  using T = TypeParam;
  for (int number = 0; number < 200; ++number) {
    const bool hermitian = is_complex<T> && number % 2 == 1;
    const int m = this->pick(0, 20);
    const int n = this->pick(0, 20);
    const char* const side = this->letter_of("LRlr");
    const char* const part = this->letter_of("LUlu");
    const int order = *side == 'L' || *side == 'l' ? m : n;
    const int lda = order + 1;
    const int ldb = m + 2;
    const T alpha = this->factor();
    const T beta = this->factor();
    const auto A = this->numbers(lda * (order + 1));
    const auto B = this->numbers(ldb * (n + 1));
    this->compare(this->name(hermitian ? "hemm_" : "symm_"), this->numbers(ldb * (n + 1)), [&](T* C) {
      return Arguments{side, part, &m, &n, &alpha, A.data(), &lda, B.data(), &ldb, &beta, C, &ldb};
    });
  }
}

TYPED_TEST(Agreement, OfUpdates) {
  using T = TypeParam;
  for (int number = 0; number < 200; ++number) {
    const bool hermitian = is_complex<T> && number % 2 == 1;
    const int n = this->pick(0, 20);
    const int k = this->pick(0, 20);
    const char* const part = this->letter_of("LU");
    const char* const op = this->letter_of(hermitian ? "NC" : is_complex<T> ? "NT" : "NTC");
    const int lda = (*op == 'N' ? n : k) + 1;
    const int ldc = n + 2;
    const T alpha = this->factor();
    const T beta = hermitian ? T(real_of<Real<T>>(this->factor())) : this->factor();
    const Real<T> real_alpha = real_of<Real<T>>(alpha);
    const auto A = this->numbers(lda * (n + k + 1));
    const auto B = this->numbers(lda * (n + k + 1));
    this->compare(this->name(hermitian ? "herk_" : "syrk_"), this->numbers(ldc * (n + 1)), [&](T* C) {
      const void* const scale = hermitian ? static_cast<const void*>(&real_alpha) : &alpha;
      return Arguments{part, op, &n, &k, scale, A.data(), &lda, &beta, C, &ldc};
    });
    this->compare(this->name(hermitian ? "her2k_" : "syr2k_"), this->numbers(ldc * (n + 1)), [&](T* C) {
      return Arguments{part, op, &n, &k, &alpha, A.data(), &lda, B.data(), &lda, &beta, C, &ldc};
    });
  }
}

TYPED_TEST(Agreement, OfTriangles) {
  using T = TypeParam;
  for (int number = 0; number < 200; ++number) {
    const int m = this->pick(0, number < 150 ? 20 : 150);
    const int n = this->pick(0, number < 150 ? 20 : 150);
    const char* const side = this->letter_of("LR");
    const char* const part = this->letter_of("LU");
    const char* const op = this->letter_of("NTC");
    const char* const diagonal = this->letter_of("NU");
    const int order = *side == 'L' ? m : n;
    const int lda = order + 1;
    const int ldb = m + 2;
    const T alpha = this->factor();
    // Those of unit diagonals grow with the order.
    auto A = this->triangle(order, lda);
    if (order > 20) {
      for (int j = 0; j < order; ++j) {
        for (int i = 0; i < order; ++i) {
          if (i != j) A[static_cast<std::size_t>(i + j * lda)] *= Real<T>(0.05);
        }
      }
    }
    for (const char* stem : {"trmm_", "trsm_"}) {
      this->compare(this->name(stem), this->numbers(ldb * (n + 1)),
                    [&](T* B) { return Arguments{side, part, op, diagonal, &m, &n, &alpha, A.data(), &lda, B, &ldb}; });
    }
  }
}

TYPED_TEST(Agreement, OfMatricesAndVectors) {
  using T = TypeParam;
  for (int number = 0; number < 200; ++number) {
    const int m = this->pick(0, 70);
    const int n = this->pick(0, 70);
    const int lda = std::max(m, n) + 2;
    const char* const op = this->letter_of("NTCntc");
    const char* const part = this->letter_of("LU");
    const char* const diagonal = this->letter_of("NU");
    const int x_step = this->step();
    const int y_step = this->step();
    const T alpha = this->factor();
    const T beta = this->factor();
    const Real<T> real_alpha = real_of<Real<T>>(alpha);
    const Index longest = 3 * std::max(m, n) + 3;
    const auto A = this->numbers(lda * (n + m + 1));
    const auto x = this->numbers(longest);
    this->compare(this->name("gemv_"), this->numbers(longest), [&](T* y) {
      return Arguments{op, &m, &n, &alpha, A.data(), &lda, x.data(), &x_step, &beta, y, &y_step};
    });
    this->compare(this->name(is_complex<T> ? "hemv_" : "symv_"), this->numbers(longest), [&](T* y) {
      return Arguments{part, &n, &alpha, A.data(), &lda, x.data(), &x_step, &beta, y, &y_step};
    });
    const auto y = this->numbers(longest);
    for (const char* stem : is_complex<T> ? std::vector<const char*>{"geru_", "gerc_"} : std::vector{"ger_"}) {
      this->compare(this->name(stem), A, [&](T* result) {
        return Arguments{&m, &n, &alpha, x.data(), &x_step, y.data(), &y_step, result, &lda};
      });
    }
    this->compare(this->name(is_complex<T> ? "her_" : "syr_"), A,
                  [&](T* result) { return Arguments{part, &n, &real_alpha, x.data(), &x_step, result, &lda}; });
    auto L = this->triangle(n, lda);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (i != j) L[static_cast<std::size_t>(i + j * lda)] *= Real<T>(0.1);
      }
    }
    for (const char* stem : {"trmv_", "trsv_"}) {
      this->compare(this->name(stem), x,
                    [&](T* result) { return Arguments{part, op, diagonal, &n, L.data(), &lda, result, &x_step}; });
    }
    this->compare(this->name("axpy_"), y,
                  [&](T* result) { return Arguments{&n, &alpha, x.data(), &x_step, result, &y_step}; });
    this->compare(this->name("scal_"), x, [&](T* result) { return Arguments{&n, &alpha, result, &y_step}; });
  }
}

TEST(Sums, AreRoundedOnce) {
  const auto dot = blas_function<double(const int*, const double*, const int*, const double*, const int*)>("ddot_");
  const auto norm = blas_function<double(const int*, const double*, const int*)>("dnrm2_");
  const auto size = blas_function<double(const int*, const double*, const int*)>("dasum_");
  std::mt19937 engine(3);
  const int one = 1;
  const int back = -1;
  for (int n : {0, 1, 2, 7, 8, 9, 100, 511, 512, 513, 3000}) {
    std::vector<double> x(static_cast<std::size_t>(n));
    std::vector<double> y(x.size());
    exact::Accumulator<double> sum;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const int exponent = std::uniform_int_distribution<int>(-200, 200)(engine);
      x[k] = std::ldexp(std::uniform_real_distribution<double>(-1.0, 1.0)(engine), exponent);
      y[k] = std::ldexp(std::uniform_real_distribution<double>(-1.0, 1.0)(engine), -exponent);
      if (k % 3 == 2) {
        x[k] = -x[k - 1];
        y[k] = y[k - 1];
      }
      sum.add_product(x[k], y[k]);
    }
    EXPECT_EQ(dot(&n, x.data(), &one, y.data(), &one), sum.value()) << n;
    EXPECT_EQ(dot(&n, x.data(), &back, y.data(), &back), sum.value()) << n;
  }
  const std::vector<double> large = {3e300, -4e300};
  const std::vector<double> small = {3e-310, 4e-310};
  const int two = 2;
  EXPECT_EQ(norm(&two, large.data(), &one), 5e300);
  EXPECT_NEAR(norm(&two, small.data(), &one), 5e-310, 1e-323);
  EXPECT_EQ(size(&two, large.data(), &one), 7e300);
}

TEST(Sums, OfComplexNumbersAreReturned) {
  using Z = std::complex<double>;
  const auto dotc = blas_function<Z(const int*, const Z*, const int*, const Z*, const int*)>("zdotc_");
  const auto dotu = blas_function<Z(const int*, const Z*, const int*, const Z*, const int*)>("zdotu_");
  const std::vector<Z> x = {{1, 2}, {3, 4}};
  const std::vector<Z> y = {{5, 6}, {7, 8}};
  const int two = 2;
  const int one = 1;
  EXPECT_EQ(dotc(&two, x.data(), &one, y.data(), &one), Z(70, -8));
  EXPECT_EQ(dotu(&two, x.data(), &one, y.data(), &one), Z(-18, 68));
}

// As C and Fortran have them.
template <class T>
std::vector<T> shifted(const std::vector<T>& numbers, const std::string& routine,
                       const std::function<Arguments(const void*, void*)>& build) {
  // Half a number off what a whole one would be aligned to.
  std::vector<Real<T>> from(2 * numbers.size() + 1);
  std::vector<Real<T>> to(from.size());
  std::memcpy(from.data() + 1, numbers.data(), numbers.size() * sizeof(T));
  std::memcpy(to.data() + 1, numbers.data(), numbers.size() * sizeof(T));
  call(blas_function<Routine>(routine), build(from.data() + 1, to.data() + 1));
  std::vector<T> result(numbers.size());
  std::memcpy(static_cast<void*>(result.data()), to.data() + 1, numbers.size() * sizeof(T));
  return result;
}
TEST(ComplexNumbers, AreAlignedAsTheirPartsAre) {
  using T = Kokkos::complex<double>;
  std::mt19937 engine(8);
  for (const int n : {3, 90}) {
    const std::vector<T> A = random_numbers<T>(engine, Index{n} * n);
    const T alpha = random_number<T>(engine);
    const int one = 1;
    const int count = n * n;
    int info = 0;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    const auto same = [&](const std::string& routine, const std::function<Arguments(const void*, void*)>& build) {
      std::vector<T> expected = A;
      call(blas_function<Routine>(routine), build(A.data(), expected.data()));
      EXPECT_EQ(shifted(A, routine, build), expected) << routine << ", " << n;
    };
    same("zgemm_",
         [&](const void* x, void* y) { return Arguments{"N", "C", &n, &n, &n, &alpha, x, &n, x, &n, &alpha, y, &n}; });
    same("zaxpy_", [&](const void* x, void* y) { return Arguments{&count, &alpha, x, &one, y, &one}; });
    same("zgemv_",
         [&](const void* x, void* y) { return Arguments{"C", &n, &n, &alpha, x, &n, x, &one, &alpha, y, &one}; });
    same("ztrsm_", [&](const void* x, void* y) { return Arguments{"L", "L", "N", "U", &n, &n, &alpha, x, &n, y, &n}; });
    same("zgetrf_", [&](const void*, void* y) { return Arguments{&n, &n, y, &n, pivots.data(), &info}; });
  }
}

TEST(WrongArguments, AreRefusedByXerbla) {
  const int n = 2;
  const int wrong = 1;
  const int zero = 0;
  const int negative = -1;
  const double one = 1.0;
  std::vector<double> A(4, 1.0);
  const double* a = A.data();
  const auto position = [&](const std::string& name, const Arguments& arguments) {
    last_refusal.position = 0;
    call(blas_function<Routine>(name), arguments);
    return last_refusal.position;
  };
  EXPECT_EQ(position("dgemm_", {"X", "N", &n, &n, &n, &one, a, &n, a, &n, &one, a, &n}), 1);
  EXPECT_EQ(last_refusal.routine, "DGEMM ");
  EXPECT_EQ(position("dgemm_", {"N", "N", &negative, &n, &n, &one, a, &n, a, &n, &one, a, &n}), 3);
  EXPECT_EQ(position("dgemm_", {"N", "N", &n, &n, &n, &one, a, &wrong, a, &n, &one, a, &n}), 8);
  EXPECT_EQ(position("dgemm_", {"N", "N", &n, &n, &n, &one, a, &n, a, &n, &one, a, &wrong}), 13);
  EXPECT_EQ(position("dtrsm_", {"L", "L", "N", "X", &n, &n, &one, a, &n, a, &n}), 4);
  EXPECT_EQ(position("dsyrk_", {"L", "N", &n, &n, &one, a, &n, &one, a, &wrong}), 10);
  EXPECT_EQ(position("dgemv_", {"N", &n, &n, &one, a, &n, a, &zero, &one, a, &n}), 8);
  EXPECT_EQ(position("dtrsv_", {"L", "N", "N", &n, a, &wrong, a, &n}), 6);
  EXPECT_EQ(last_refusal.routine, "DTRSV ");
  EXPECT_EQ(A, std::vector<double>(4, 1.0));
}

TEST(WrongArguments, AreRefusedByXerblaOfCblas) {
  std::vector<double> A(4, 1.0);
  const auto syr2k = blas_function<void(int, int, int, int, int, double, const double*, int, const double*, int, double,
                                        double*, int)>("cblas_dsyr2k");
  const auto gemv =
      blas_function<void(int, int, int, int, double, const double*, int, const double*, int, double, double*, int)>(
          "cblas_dgemv");
  syr2k(101, 121, 111, 2, 2, 1.0, A.data(), 1, A.data(), 2, 1.0, A.data(), 2);
  EXPECT_EQ(last_refusal.routine, "cblas_dsyr2k");
  EXPECT_EQ(last_refusal.position, 8);
  // Positions are those of the call, by rows too.
  gemv(101, 111, -1, 2, 1.0, A.data(), 2, A.data(), 1, 1.0, A.data(), 1);
  EXPECT_EQ(last_refusal.routine, "cblas_dgemv");
  EXPECT_EQ(last_refusal.position, 3);
  gemv(99, 111, 2, 2, 1.0, A.data(), 2, A.data(), 1, 1.0, A.data(), 1);
  EXPECT_EQ(last_refusal.position, 1);
  EXPECT_EQ(A, std::vector<double>(4, 1.0));
}

}  // namespace
}  // namespace heddle::test::agreement_test
