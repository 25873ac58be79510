// Scalars that bring back what would overflow, numbers far apart, and numbers that are not to be read.
#include "interpose/every_routine.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::test::extremes_test {
namespace {

template <class T> class Extremes : public RoutinesOf<T> {};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Extremes, Types);

TYPED_TEST(Extremes, RotationsOfNumbersFarApart) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int e : {-60, TestFixture::largest / -2 - 4, -TestFixture::largest + 3}) {
    const R small = std::ldexp(R(1), e);
    T a(small);
    T b(R(1));
    R cosine{};
    T sine{};
    call(this->mine("rotg_"), {&a, &b, &cosine, &sine});
    ASSERT_EQ(cosine, small) << e;
    ASSERT_EQ(sine, T(R(1))) << e;
    ASSERT_EQ(a, T(R(1))) << e;
    a = T(R(1));
    b = T(small);
    call(this->mine("rotg_"), {&a, &b, &cosine, &sine});
    ASSERT_EQ(cosine, R(1)) << e;
    ASSERT_EQ(sine, T(small)) << e;
    ASSERT_EQ(a, T(R(1))) << e;
  }
}

// A 2^p, B 2^p and alpha 2^-2p give what A, B and alpha give.
TYPED_TEST(Extremes, ScalarsBringBackWhatOverflowsOrUnderflows) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int n : {1, 5, 20, 66}) {
    for (const R& beta : {R(0), R(0.5)}) {
      if (n == 66 && beta == R(0)) continue;
      for (const int p : {TestFixture::largest / 2 + 6, -TestFixture::largest / 2 + 8}) {
        const std::vector<T> numbers = random_numbers<T>(this->engine_, 5 * n * (n + 2));
        const auto number = [&](int exponent) {
          return [&numbers, exponent, next = std::size_t{0}](Index) mutable {
            return numbers[next++] * std::ldexp(R(1), exponent);
          };
        };
        EveryRoutine<T> plain(n, number(0));
        EveryRoutine<T> scaled(n, number(p));
        for (EveryRoutine<T>* const every : {&plain, &scaled}) {
          every->beta = T(beta);
          every->real_beta = beta;
        }
        scaled.real_alpha = std::ldexp(R(1), -2 * p);
        scaled.alpha = T(scaled.real_alpha);
        // C and y are added, and come out, without a scale; A is where it is updated.
        const EveryRoutine<T> first = plain;
        const EveryRoutine<T> second = scaled;
        const auto of_plain = plain.all();
        const auto of_scaled = scaled.all();
        for (std::size_t r = 0; r < of_plain.size(); ++r) {
          const std::string stem = of_plain[r].name.substr(1);
          const bool takes_c = stem == "gemm" || stem == "symm" || stem == "hemm" || stem == "syrk" ||
                               stem == "syr2k" || stem == "herk" || stem == "her2k";
          const bool takes_y = stem == "gemv" || stem == "gbmv" || stem == "symv" || stem == "hemv" || stem == "sbmv" ||
                               stem == "hbmv" || stem == "spmv" || stem == "hpmv";
          const bool takes_a = stem == "ger" || stem == "geru" || stem == "gerc" || stem == "syr" || stem == "her" ||
                               stem == "spr" || stem == "hpr" || stem == "syr2" || stem == "her2" || stem == "spr2" ||
                               stem == "hpr2";
          const bool takes_b = stem == "trmm" && !of_plain[r].unit;
          if (!takes_c && !takes_y && !takes_a && !takes_b) continue;
          plain.A = first.A;
          plain.B = first.B;
          plain.C = scaled.C = first.C;
          plain.x = first.x;
          plain.y = first.y;
          scaled.A = takes_a ? first.A : second.A;
          scaled.B = second.B;
          scaled.x = second.x;
          scaled.y = takes_y ? first.y : second.y;
          of_plain[r].call();
          of_scaled[r].call();
          const std::vector<T>& expected = takes_c ? plain.C : takes_y ? plain.y : takes_a ? plain.A : plain.B;
          const std::vector<T>& found = takes_c ? scaled.C : takes_y ? scaled.y : takes_a ? scaled.A : scaled.B;
          for (int j = 0; j < (takes_y ? 1 : n); ++j) {
            for (int i = 0; i < n; ++i) {
              const std::size_t e = at(i, j, n + 2);
              // Bound for sums of at most n terms; exact sums are rounded once.
              const R bound = static_cast<R>(8 * n) * static_cast<R>(unit_roundoff<T>);
              ASSERT_LE(this->size(found[e] - expected[e]), bound)
                  << of_plain[r].name << " n " << n << " p " << p << " (" << i << ", " << j << ")";
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(Extremes, RightSidesThatWouldOverflowAreScaled) {
  using T = TypeParam;
  using R = Real<T>;
  const int n = 70;
  for (const int p : {TestFixture::largest / 2 + 6, -TestFixture::largest / 2 - 6}) {
    for (const char* const side : {"L", "R"}) {
      std::vector<T> A(static_cast<std::size_t>(n * n), T(R(0)));
      for (int i = 0; i < n; ++i) A[at(i, i, n)] = T(std::ldexp(R(1), p));
      std::vector<T> B(A.size(), T(std::ldexp(R(3), p)));
      const T alpha(std::ldexp(R(1), p));
      call(this->mine("trsm_"), {side, "L", "N", "N", &n, &n, &alpha, A.data(), &n, B.data(), &n});
      for (const T& b : B) ASSERT_EQ(b, T(std::ldexp(R(3), p)));
    }
  }
}

// Imaginary parts of Hermitian matrices' diagonals are not read, not even where they are NaN.
TYPED_TEST(Extremes, DiagonalsOfHermitianMatricesAreReal) {
  using T = TypeParam;
  if constexpr (is_complex<T>) {
    using R = Real<T>;
    for (const int n : {1, 5, 70}) {
      EveryRoutine<T> every(n, [&](Index) { return random_number<T>(this->engine_); });
      every.beta = T(R(0.5), R(0.25));
      every.real_beta = R(0.5);
      const EveryRoutine<T> before = every;
      for (const auto& routine : every.all()) {
        if (routine.name.substr(1, 2) != "he" && routine.name.substr(1, 2) != "hp") continue;
        const bool packed = routine.name[2] == 'p';
        std::vector<T> results[2];
        for (const bool bad : {false, true}) {
          every.A = before.A;
          every.B = before.B;
          every.C = before.C;
          every.x = before.x;
          every.y = before.y;
          const R imaginary = bad ? std::numeric_limits<R>::quiet_NaN() : R(0);
          const bool rank_k = routine.name.back() == 'k';
          if (packed) continue;
          for (int i = 0; i < n; ++i) {
            T& a = (rank_k ? every.C : every.A)[at(i, i, n + 2)];
            a = T(a.real(), imaginary);
          }
          std::feclearexcept(FE_ALL_EXCEPT);
          routine.call();
          ASSERT_EQ(std::fetestexcept(FE_INVALID | FE_OVERFLOW), 0) << routine.name;
          std::vector<T>& all = results[bad ? 1 : 0];
          const bool updates = routine.name.substr(1) == "her" || routine.name.substr(1) == "her2";
          all = every.C;
          all.insert(all.end(), every.y.begin(), every.y.end());
          if (updates) all.insert(all.end(), every.A.begin(), every.A.end());
        }
        if (packed) continue;
        ASSERT_EQ(std::memcmp(results[0].data(), results[1].data(), results[0].size() * sizeof(T)), 0) << routine.name;
      }
    }
    const int n = 100;
    std::vector<T> A(static_cast<std::size_t>(n * n), T(R(0.25), R(0)));
    for (int i = 0; i < n; ++i) A[at(i, i, n)] = T(R(1), std::numeric_limits<R>::quiet_NaN());
    for (const char* const triangle : {"L", "U"}) {
      std::vector<T> F = A;
      int info = -1;
      call(this->mine("potrf_"), {triangle, &n, F.data(), &n, &info});
      ASSERT_EQ(info, 0);
      for (int i = 0; i < n; ++i) ASSERT_EQ(F[at(i, i, n)].imag(), R(0));
    }
  }
}

TYPED_TEST(Extremes, QuotientsOfDenormalNumbers) {
  using T = TypeParam;
  using R = Real<T>;
  const R least = std::numeric_limits<R>::denorm_min();
  const int one = 1;
  T a(R(1) / R(1024));
  T x(R(3) * least);
  if constexpr (is_complex<T>) {
    a = T(R(0.6) / R(1024), R(0.8) / R(1024));
    x = T(R(3) * least, R(5) * least);
  }
  const T b = x;
  call(this->mine("trsv_"), {"L", "N", "N", &one, &a, &one, &x, &one});
  // (3 + 5 i) (0.6 - 0.8 i) 1024 = (5.8 + 0.6 i) 1024.
  const double re = is_complex<T> ? 5.8 * 1024 : 3.0 * 1024;
  ASSERT_NEAR(real_of<double>(x) / static_cast<double>(least), re, 1.0) << real_of<double>(b);
  if (is_complex<T>) {
    ASSERT_NEAR(imaginary_of<double>(x) / static_cast<double>(least), 0.6 * 1024, 1.0);
  }
}

// Rank-1 updates whose products are nothing beside any number take a shorter way, unless x has a large number: the same
// bits, signs of zeros and exceptions.
TYPED_TEST(Extremes, UpdatesByNothingAreThoseBesideALargeNumber) {
  using T = TypeParam;
  using R = Real<T>;
  const R least = std::numeric_limits<R>::denorm_min();
  const R small = std::numeric_limits<R>::min();
  const std::vector<R> tiny = {R(0), -R(0), least, -least, R(5) * least, -R(7) * least, small, -R(3) * small};
  const std::vector<R> before = {R(0),         -R(0),  least, -least,
                                 R(9) * least, -small, R(1),  -std::numeric_limits<R>::max()};
  const auto numbers = [](const std::vector<R>& parts) {
    std::vector<T> all;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if constexpr (is_complex<T>) {
        for (const R& other : parts) all.push_back(T(parts[k], other));
      } else {
        all.push_back(parts[k]);
      }
    }
    return all;
  };
  const std::vector<T> x = numbers(tiny);
  const int m = static_cast<int>(x.size());
  const int with_one = m + 1;
  const int n = m;
  std::vector<T> x_and_one = x;
  x_and_one.emplace_back(R(1));
  const int one = 1;
  for (const char* const stem : is_complex<T> ? std::vector<const char*>{"geru_", "gerc_"} : std::vector{"ger_"}) {
    for (const R& size : {R(0.5), R(-0.75), std::ldexp(R(3), -30), R(1), R(64)}) {
      T alpha(size);
      if constexpr (is_complex<T>) alpha = T(size, -size);
      const std::vector<T> values = numbers(before);
      std::vector<T> found;
      std::vector<T> expected;
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
          found.push_back(values[static_cast<std::size_t>(i * 7 + j) % values.size()]);
          expected.push_back(found.back());
        }
        expected.emplace_back(R(2));
      }
      const auto flags_of = [&](std::vector<T>& A, int rows, const std::vector<T>& factors) {
        std::feclearexcept(FE_ALL_EXCEPT);
        call(this->mine(stem), {&rows, &n, &alpha, factors.data(), &one, x.data(), &one, A.data(), &rows});
        return std::fetestexcept(FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_DIVBYZERO);
      };
      const int raised = flags_of(found, m, x);
      ASSERT_EQ(raised, flags_of(expected, with_one, x_and_one)) << stem << " " << size;
      for (int j = 0; j < n; ++j) {
        const std::size_t column = static_cast<std::size_t>(j) * x.size();
        ASSERT_EQ(std::memcmp(&found[column], &expected[column + static_cast<std::size_t>(j)], x.size() * sizeof(T)), 0)
            << stem << " alpha " << size << " column " << j;
      }
    }
  }
}

TEST(Steps, OfZeroTakeTheFirstElementEveryTime) {
  const int n = 4;
  const int step = 0;
  const double x = 3.0;
  const auto nrm2 = blas_function<double(const int*, const double*, const int*)>("dnrm2_");
  EXPECT_EQ(nrm2(&n, &x, &step), 6.0);
}

TYPED_TEST(Extremes, LeastSquaresWithoutRightSidesDoNothing) {
  using T = TypeParam;
  using R = Real<T>;
  const int m = 4;
  const int n = 3;
  const int columns = 0;
  const int length = 100;
  std::vector<T> A = random_numbers<T>(this->engine_, m * n);
  const std::vector<T> before = A;
  std::vector<T> work(static_cast<std::size_t>(length));
  T b(R(7));
  int info = -1;
  call(this->mine("gels_"), {"N", &m, &n, &columns, A.data(), &m, &b, &m, work.data(), &length, &info});
  ASSERT_EQ(info, 0);
  ASSERT_EQ(std::memcmp(A.data(), before.data(), A.size() * sizeof(T)), 0);
  ASSERT_EQ(b, T(R(7)));
}

}  // namespace
}  // namespace heddle::test::extremes_test
