// Graded matrices: triangular systems, factors and spectra.
#include "interpose/every_routine.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::test::graded_test {
namespace {

template <class T> class Graded : public RoutinesOf<T> {
 protected:
  // The info of syev or heev, with vectors in place of A.
  int spectrum(const char* triangle, int n, std::vector<T>& A, std::vector<Real<T>>& w) const {
    w.resize(static_cast<std::size_t>(n));
    std::vector<T> work(static_cast<std::size_t>(40 * n));
    std::vector<Real<T>> reals(static_cast<std::size_t>(3 * n));
    const int length = 40 * n;
    int info = -1;
    if constexpr (is_complex<T>) {
      call(this->mine("heev_"), {"V", triangle, &n, A.data(), &n, w.data(), work.data(), &length, reals.data(), &info});
    } else {
      call(this->mine("syev_"), {"V", triangle, &n, A.data(), &n, w.data(), work.data(), &length, &info});
    }
    return info;
  }
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Graded, Types);

// D1 L D2 X = B whose elements are powers of two and small integers, so that every step is exact.
TYPED_TEST(Graded, TrianglesOfAnyGradingAreSolvedExactly) {
  using T = TypeParam;
  using R = Real<T>;
  const int far = TestFixture::largest / 6;
  for (const int n : {9, 65, 150}) {
    for (const char* const side : {"L", "R"}) {
      for (const char* const triangle : {"L", "U"}) {
        for (const char* const op : {"N", "T", "C"}) {
          std::vector<int> of_rows(static_cast<std::size_t>(n));
          std::vector<int> of_columns(static_cast<std::size_t>(n));
          for (int& e : of_rows) e = this->between(-far, far);
          for (int& e : of_columns) e = this->between(-far, far);
          const auto row = [&](int i) { return of_rows[static_cast<std::size_t>(i)]; };
          const auto column = [&](int i) { return of_columns[static_cast<std::size_t>(i)]; };
          const bool transposed = *op != 'N';
          std::vector<T> A(static_cast<std::size_t>(n * n), T(R(0)));
          std::vector<int> L(A.size(), 0);
          const bool left = *side == 'L';
          // op(A) on the left; on the right op(A)^T.
          const auto integer = [&](int i, int j) -> int& { return L[at(i, j, n)]; };
          for (int j = 0; j < n; ++j) {
            for (int i = 0; i < n; ++i) {
              const bool stored = *triangle == 'L' ? i >= j : i <= j;
              if (!stored || (i != j && this->between(0, 9) > 2)) continue;
              const int k = i == j ? 1 : this->between(-3, 3);
              const bool turned = transposed == left;
              integer(turned ? j : i, turned ? i : j) = k;
              const int exponent = turned ? row(j) + column(i) : row(i) + column(j);
              A[at(i, j, n)] = T(std::ldexp(static_cast<R>(k), exponent));
            }
          }
          // Unknowns are integers times 2^-column, right sides times 2^row.
          const int columns = 3;
          const int m = left ? n : columns;
          const int others = left ? columns : n;
          std::vector<T> B(static_cast<std::size_t>(m * others));
          std::vector<T> X(B.size());
          for (int s = 0; s < columns; ++s) {
            std::vector<int> unknown(static_cast<std::size_t>(n));
            for (int& u : unknown) u = this->between(-3, 3);
            for (int i = 0; i < n; ++i) {
              long sum = 0;
              for (int k = 0; k < n; ++k) sum += long{integer(i, k)} * unknown[static_cast<std::size_t>(k)];
              const std::size_t place = left ? at(i, s, m) : at(s, i, m);
              B[place] = T(std::ldexp(static_cast<R>(sum), row(i)));
              X[place] = T(std::ldexp(static_cast<R>(unknown[static_cast<std::size_t>(i)]), -column(i)));
            }
          }
          const T one(R(1));
          call(this->mine("trsm_"), {side, triangle, op, "N", &m, &others, &one, A.data(), &n, B.data(), &m});
          for (std::size_t e = 0; e < B.size(); ++e) ASSERT_EQ(B[e], X[e]) << side << triangle << op << n << " " << e;
        }
      }
    }
  }
}

TYPED_TEST(Graded, LastUnknownOfAnIdentityWithOneLargeElement) {
  using T = TypeParam;
  using R = Real<T>;
  const int far = TestFixture::largest * 200 / 1024;
  const int n = 65;
  std::vector<T> A(static_cast<std::size_t>(n * n), T(R(0)));
  for (int i = 0; i < n; ++i) A[at(i, i, n)] = T(R(1));
  A[at(64, 0, n)] = T(std::ldexp(R(1), far));
  A[at(64, 1, n)] = T(R(1));
  std::vector<T> b(static_cast<std::size_t>(n), T(R(1)));
  b[0] = T(std::ldexp(R(1), -far));
  b[64] = T(R(3));
  const int one = 1;
  const T alpha(R(1));
  call(this->mine("trsm_"), {"L", "L", "N", "N", &n, &one, &alpha, A.data(), &n, b.data(), &n});
  ASSERT_EQ(b[64], T(R(1)));
}

// |P A - L U| <= 4 n u |L| |U| and |A - L L^H| alike, element by element.
TYPED_TEST(Graded, FactorsOfGradedMatricesMultiplyToThem) {
  using T = TypeParam;
  using R = Real<T>;
  const int far = TestFixture::largest / 8;
  for (const int n : {65, 150}) {
    std::vector<int> of_rows(static_cast<std::size_t>(n));
    std::vector<int> of_columns(static_cast<std::size_t>(n));
    for (int& e : of_rows) e = this->between(-far, far);
    for (int& e : of_columns) e = this->between(-far, far);
    std::vector<T> A = random_numbers<T>(this->engine_, n * n);
    const std::vector<T> S = A;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        A[at(i, j, n)] *=
            std::ldexp(R(1), of_rows[static_cast<std::size_t>(i)] + of_columns[static_cast<std::size_t>(j)]);
      }
    }
    const auto expect_near = [&](const T& sum, long double size, const T& a, const std::string& what) {
      const long double bound = 4.0L * n * static_cast<long double>(unit_roundoff<T>) * size;
      ASSERT_LE(static_cast<long double>(this->size(sum - a)), bound) << what;
    };
    using Wide = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
    const auto wide = [](const T& x) {
      if constexpr (is_complex<T>) {
        return Wide(x.real(), x.imag());
      } else {
        return static_cast<double>(x);
      }
    };
    const auto narrow = [](const Wide& x) {
      if constexpr (is_complex<T>) {
        return T(static_cast<R>(x.real()), static_cast<R>(x.imag()));
      } else {
        return static_cast<R>(x);
      }
    };
    std::vector<T> LU = A;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    int info = -1;
    call(this->mine("getrf_"), {&n, &n, LU.data(), &n, pivots.data(), &info});
    ASSERT_EQ(info, 0);
    std::vector<T> PA = A;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) std::swap(PA[at(i, j, n)], PA[at(pivots[static_cast<std::size_t>(i)] - 1, j, n)]);
    }
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        Wide sum(0.0);
        long double size = 0;
        for (int k = 0; k <= std::min(i, j); ++k) {
          const T l = k == i ? T(R(1)) : LU[at(i, k, n)];
          sum += wide(l) * wide(LU[at(k, j, n)]);
          size += static_cast<long double>(this->size(l)) * static_cast<long double>(this->size(LU[at(k, j, n)]));
        }
        expect_near(narrow(sum), size, PA[at(i, j, n)], std::to_string(i) + ", " + std::to_string(j));
      }
    }
    // D (S S^H + n) D.
    std::vector<T> M(A.size());
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        Wide sum(i == j ? static_cast<double>(n) : 0.0);
        for (int k = 0; k < n; ++k) sum += wide(S[at(i, k, n)]) * conjugate(wide(S[at(j, k, n)]));
        M[at(i, j, n)] =
            narrow(sum) * std::ldexp(R(1), of_rows[static_cast<std::size_t>(i)] + of_rows[static_cast<std::size_t>(j)]);
      }
    }
    for (const char* const triangle : {"L", "U"}) {
      std::vector<T> F = M;
      call(this->mine("potrf_"), {triangle, &n, F.data(), &n, &info});
      ASSERT_EQ(info, 0);
      const auto factor = [&](int i, int k) { return *triangle == 'L' ? F[at(i, k, n)] : conjugate(F[at(k, i, n)]); };
      for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
          Wide sum(0.0);
          long double size = 0;
          for (int k = 0; k <= j; ++k) {
            sum += wide(factor(i, k)) * conjugate(wide(factor(j, k)));
            size +=
                static_cast<long double>(this->size(factor(i, k))) * static_cast<long double>(this->size(factor(j, k)));
          }
          const T a = *triangle == 'L' ? M[at(i, j, n)] : conjugate(M[at(j, i, n)]);
          expect_near(narrow(sum), size, a, triangle);
        }
      }
    }
  }
}

// The spectra of D (1 1^T + 2) D, whose determinant is known: D_i = 2^-step i, from either end.
TYPED_TEST(Graded, SpectraOfGradedMatricesHaveTheirDigits) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int step : {1, 6}) {
    for (const int n : {2, 9, 10}) {
      for (const bool turned : {false, true}) {
        for (const char* const triangle : {"L", "U"}) {
          std::vector<T> A(static_cast<std::size_t>(n * n));
          const auto power = [&](int i) { return -step * (turned ? n - 1 - i : i); };
          for (int j = 0; j < n; ++j) {
            for (int i = 0; i < n; ++i) A[at(i, j, n)] = T(std::ldexp(R(i == j ? 3 : 1), power(i) + power(j)));
          }
          std::vector<R> w;
          ASSERT_EQ(this->spectrum(triangle, n, A, w), 0) << n;
          double determinant = 0.0;
          for (const R& value : w) determinant += std::log(static_cast<double>(value));
          double expected = std::log(static_cast<double>(n + 2)) + (n - 1) * std::log(2.0);
          for (int i = 0; i < n; ++i) expected += 2.0 * power(i) * std::log(2.0);
          ASSERT_NEAR(determinant, expected, 1e3 * n * static_cast<double>(unit_roundoff<T>)) << n << turned << step;
        }
      }
    }
  }
}

// Eigenvalues far apart, with large elements in the last row and column.
TYPED_TEST(Graded, SpectraOfArrowsAreFound) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int n : {30, 100}) {
    std::vector<T> A(static_cast<std::size_t>(n * n));
    double norm = 0.0;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        const R a = std::ldexp(R(1), -std::min(n - 1 - i, n - 1 - j));
        A[at(i, j, n)] = T(a);
        norm += static_cast<double>(a) * static_cast<double>(a);
      }
    }
    std::vector<T> V = A;
    std::vector<R> w;
    ASSERT_EQ(this->spectrum("L", n, V, w), 0) << n;
    const double bound = 10.0 * n * std::sqrt(norm) * static_cast<double>(unit_roundoff<T>);
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < n; ++i) {
        T sum(R(0));
        for (int j = 0; j < n; ++j) sum += A[at(i, j, n)] * V[at(j, k, n)];
        ASSERT_LE(static_cast<double>(this->size(sum - V[at(i, k, n)] * w[static_cast<std::size_t>(k)])), bound);
      }
    }
  }
}

// D X D with random elements or zeros in X, and sizes in D in any order: large at both ends, or between small ones.
TYPED_TEST(Graded, SpectraOfGradingsInAnyOrderAreFound) {
  using T = TypeParam;
  using R = Real<T>;
  const int widest = std::numeric_limits<R>::max_exponent / 2;
  std::mt19937 engine(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const int n = 2 + trial % 9;
    const auto draw = [&] { return random_number<R>(engine); };
    std::vector<int> power;
    for (int i = 0; i < n; ++i) {
      const int drawn = -static_cast<int>(std::abs(draw()) * R(widest / (1 << (trial % 3))));
      power.push_back(trial % 2 == 0 && draw() < 0 ? 0 : drawn);
    }
    const bool tridiagonal = trial % 5 == 0;
    const bool hollow = trial % 7 == 0;
    std::vector<T> A(static_cast<std::size_t>(n * n), T(0));
    double largest = 0.0;
    for (int j = 0; j < n; ++j) {
      for (int i = j; i < n; ++i) {
        if ((tridiagonal && i > j + 1) || (hollow && i == j) || (trial % 3 == 0 && draw() < 0)) continue;
        const R a = std::ldexp(draw(), power[static_cast<std::size_t>(i)] + power[static_cast<std::size_t>(j)]);
        A[at(i, j, n)] = A[at(j, i, n)] = T(a);
        largest = std::max(largest, std::abs(static_cast<double>(a)));
      }
    }
    std::vector<T> V = A;
    std::vector<R> w;
    ASSERT_EQ(this->spectrum("L", n, V, w), 0) << trial;
    const double bound = 10.0 * n * largest * static_cast<double>(unit_roundoff<T>);
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < n; ++i) {
        T sum(R(0));
        for (int j = 0; j < n; ++j) sum += A[at(i, j, n)] * V[at(j, k, n)];
        ASSERT_LE(static_cast<double>(this->size(sum - V[at(i, k, n)] * w[static_cast<std::size_t>(k)])), bound)
            << trial;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::test::graded_test
