// Sums of BLAS 1 and 2, and those within 64 columns of LU, substitution and Cholesky, beside exact sums rounded once.
#include "interpose/hard_numbers.hpp"

#include <algorithm>

namespace heddle::test::exact_sums_test {
namespace {

template <class T> class ExactSums : public testing::Test {
 protected:
  static std::string name(const std::string& stem) { return letter<T> + stem; }
  static T dot(const std::vector<T>& x, int step_x, const std::vector<T>& y, int step_y, int n) {
    return blas_function<T(const int*, const T*, const int*, const T*, const int*)>(name("dot_"))(&n, x.data(), &step_x,
                                                                                                  y.data(), &step_y);
  }
  static std::string said(Hard kind, Index n) {
    return "kind " + std::to_string(static_cast<int>(kind)) + ", n = " + std::to_string(n);
  }
  HardNumbers<T> draw{17};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactSums, Types);

TYPED_TEST(ExactSums, DotOfHardNumbers) {
  using T = TypeParam;
  for (const Hard kind : every_kind) {
    for (int number = 0; number < 1500; ++number) {
      const int n = number < 300 ? number : number % 5 == 0 ? this->draw.pick(4000, 9000) : this->draw.pick(0, 300);
      std::vector<T> x;
      std::vector<T> y;
      this->draw.pair(kind, n, x, y);
      if (number >= 600 && number % 5 == 0 && number % 50 != 0) continue;
      const auto a = [&](Index k) { return x[static_cast<std::size_t>(k)]; };
      const auto b = [&](Index k) { return y[static_cast<std::size_t>(k)]; };
      const T expected = n == 0 ? T{0} : exact_sum<T>(n, a, b);
      const T found = this->dot(x, 1, y, 1, n);
      ASSERT_TRUE(same_bits(found, expected)) << this->said(kind, n) << ": " << found << ", not " << expected;
    }
  }
}

TYPED_TEST(ExactSums, DotWithSteps) {
  using T = TypeParam;
  for (const Hard kind : every_kind) {
    for (int number = 0; number < 200; ++number) {
      const int n = this->draw.pick(1, 150);
      const int steps[] = {1, 2, -1, -3, 0};
      const int step_x = steps[this->draw.pick(0, 4)];
      const int step_y = steps[this->draw.pick(0, 4)];
      const std::vector<T> x = this->draw.numbers(kind, 3 * n);
      const std::vector<T> y = this->draw.numbers(kind, 3 * n);
      const auto at = [n](const std::vector<T>& all, int step, Index k) {
        return all[static_cast<std::size_t>(step < 0 ? (k + 1 - n) * step : k * step)];
      };
      const T expected = exact_sum<T>(
          n, [&](Index k) { return at(x, step_x, k); }, [&](Index k) { return at(y, step_y, k); });
      ASSERT_TRUE(same_bits(this->dot(x, step_x, y, step_y, n), expected)) << this->said(kind, n);
    }
  }
}

TYPED_TEST(ExactSums, LongDotIsSharedByThreads) {
  using T = TypeParam;
  for (const Hard kind : {Hard::benign, Hard::cancelling, Hard::graded}) {
    const int n = 1234567;
    std::vector<T> x;
    std::vector<T> y;
    this->draw.pair(kind, n, x, y);
    const T expected = exact_sum<T>(
        n, [&](Index k) { return x[static_cast<std::size_t>(k)]; },
        [&](Index k) { return y[static_cast<std::size_t>(k)]; });
    ASSERT_TRUE(same_bits(this->dot(x, 1, y, 1, n), expected)) << this->said(kind, n);
  }
}

TYPED_TEST(ExactSums, ProductsOfMatrixAndVector) {
  using T = TypeParam;
  const auto gemv = blas_function<void(const char*, const int*, const int*, const T*, const T*, const int*, const T*,
                                       const int*, const T*, T*, const int*)>(this->name("gemv_"));
  for (const Hard kind : every_kind) {
    for (int number = 0; number < 60; ++number) {
      const bool large = number % 20 == 0;
      const int m = large ? this->draw.pick(500, 700) : this->draw.pick(1, 60);
      const int n = large ? this->draw.pick(500, 700) : number % 7 == 0 ? 4200 : this->draw.pick(1, 150);
      const bool transposed = number % 2 != 0;
      const int leading = m + this->draw.pick(0, 3);
      std::vector<T> A = this->draw.numbers(kind, Index{leading} * n);
      const int columns = transposed ? m : n;
      const int rows = transposed ? n : m;
      // Rows of op(A) with the same x.
      std::vector<T> x = this->draw.numbers(kind, columns);
      const auto element = [&](Index i, Index k) -> T& {
        return A[static_cast<std::size_t>(transposed ? k + i * leading : i + k * leading)];
      };
      if (kind == Hard::cancelling || kind == Hard::ties) {
        std::vector<T> row;
        this->draw.pair(kind, columns, x, row);
        for (Index i = 0; i < rows; ++i) {
          for (Index k = 0; k < columns; ++k) element(i, k) = row[static_cast<std::size_t>(k)];
        }
      }
      if (kind == Hard::sparse && number % 4 < 2) {
        for (Index i = 0; i < rows; ++i) {
          for (Index k = 0; k < std::min<Index>(i, columns); ++k) element(i, k) = T{0};
        }
      }
      std::vector<T> y(static_cast<std::size_t>(rows), std::numeric_limits<T>::quiet_NaN());
      const T one{1};
      const T zero{0};
      const int step = 1;
      gemv(transposed ? "T" : "N", &m, &n, &one, A.data(), &leading, x.data(), &step, &zero, y.data(), &step);
      for (Index i = 0; i < rows; ++i) {
        const T expected = exact_sum<T>(
            columns, [&](Index k) { return element(i, k); }, [&](Index k) { return x[static_cast<std::size_t>(k)]; });
        const T found = y[static_cast<std::size_t>(i)];
        ASSERT_TRUE(same_bits(found, expected)) << this->said(kind, columns) << (transposed ? " T" : " N") << " of "
                                                << rows << ", row " << i << ": " << found << ", not " << expected;
      }
    }
  }
}

// L and U one element after the other.
template <class T> void factor(Index m, Index n, std::vector<T>& A, std::vector<int>& pivots) {
  const auto at = [&](Index i, Index j) -> T& { return A[static_cast<std::size_t>(i + j * m)]; };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 1; i < m; ++i) {
      const Index count = std::min(i, j);
      const T start = at(i, j);
      if (count == 0) continue;
      at(i, j) = exact_sum<T>(
          count, [&](Index k) { return at(i, k); }, [&](Index k) { return at(k, j); }, &start, true);
    }
    Index largest = j;
    for (Index i = j; i < m; ++i) {
      if (std::abs(at(i, j)) > std::abs(at(largest, j))) largest = i;
    }
    pivots.push_back(static_cast<int>(largest + 1));
    for (Index k = 0; k < n; ++k) std::swap(at(j, k), at(largest, k));
    if (at(j, j) == T{0}) continue;
    for (Index i = j + 1; i < m; ++i) at(i, j) = at(i, j) / at(j, j);
  }
}

TYPED_TEST(ExactSums, PanelsOfLU) {
  using T = TypeParam;
  const auto getrf = blas_function<void(const int*, const int*, T*, const int*, int*, int*)>(this->name("getrf_"));
  for (const Hard kind : every_kind) {
    for (int number = 0; number < 40; ++number) {
      const int n = number == 0 ? 64 : this->draw.pick(1, 64);
      const int m = n + (number % 3 == 0 ? 0 : this->draw.pick(0, 100));
      std::vector<T> A = this->draw.numbers(kind, Index{m} * n);
      if (kind == Hard::cancelling) {
        // Columns that are nearly those before.
        for (Index e = m; e + m <= Index{m} * n; e += 2 * m) std::copy_n(A.begin() + e - m, m, A.begin() + e);
      }
      std::vector<T> expected = A;
      std::vector<int> expected_pivots;
      factor<T>(m, n, expected, expected_pivots);
      std::vector<int> pivots(static_cast<std::size_t>(n));
      int info = 0;
      getrf(&m, &n, A.data(), &m, pivots.data(), &info);
      ASSERT_EQ(pivots, expected_pivots) << this->said(kind, n) << ", m = " << m;
      for (std::size_t e = 0; e < A.size(); ++e) {
        ASSERT_TRUE(same_bits(A[e], expected[e]))
            << this->said(kind, n) << ", m = " << m << ", element " << e << ": " << A[e] << ", not " << expected[e];
      }
    }
  }
}

TYPED_TEST(ExactSums, Substitution) {
  using T = TypeParam;
  const auto trsm = blas_function<void(const char*, const char*, const char*, const char*, const int*, const int*,
                                       const T*, const T*, const int*, T*, const int*)>(this->name("trsm_"));
  for (const Hard kind : every_kind) {
    for (int number = 0; number < 48; ++number) {
      const bool left = number % 2 == 0;
      const bool lower = number / 2 % 2 == 0;
      const bool transposed = number / 4 % 2 == 0;
      const bool unit = number / 8 % 2 == 0;
      const int order = number < 4 ? 64 : this->draw.pick(1, 64);
      const int others = number % 10 == 0 ? 300 : this->draw.pick(1, 40);
      const int m = left ? order : others;
      const int n = left ? others : order;
      const std::vector<T> A = this->draw.numbers(kind, Index{order} * order);
      std::vector<T> B = this->draw.numbers(kind, Index{m} * n);
      std::vector<T> expected = B;
      // op(A) X = B or, of transposes, op(A)^T X^T = B^T.
      const auto a = [&](Index i, Index k) {
        return transposed == left ? A[static_cast<std::size_t>(k + i * order)]
                                  : A[static_cast<std::size_t>(i + k * order)];
      };
      const bool forward = (lower != transposed) == left;
      for (Index j = 0; j < others; ++j) {
        const auto x = [&](Index k) -> T& { return expected[static_cast<std::size_t>(left ? k + j * m : j + k * m)]; };
        for (Index step = 0; step < order; ++step) {
          const Index i = forward ? step : order - 1 - step;
          const Index first = forward ? 0 : i + 1;
          const T start = x(i);
          if (step > 0) {
            x(i) = exact_sum<T>(
                step, [&](Index k) { return a(i, first + k); }, [&](Index k) { return x(first + k); }, &start, true);
          }
          if (!unit) x(i) = x(i) / a(i, i);
        }
      }
      const T one{1};
      trsm(left ? "L" : "R", lower ? "L" : "U", transposed ? "T" : "N", unit ? "U" : "N", &m, &n, &one, A.data(),
           &order, B.data(), &m);
      for (std::size_t e = 0; e < B.size(); ++e) {
        ASSERT_TRUE(same_bits(B[e], expected[e]))
            << this->said(kind, order) << ", case " << number << ", element " << e;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::test::exact_sums_test
