// QR with pivoting and least squares by it, by LAPACK's names.
#include "interpose/dense.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace heddle::test::pivoted_qr_test {
namespace {

template <class T> struct Factors {
  Dense<T> A;
  std::vector<int> pivots;
  std::vector<T> tau;
};

template <class T> class PivotedQr : public testing::Test {
 protected:
  Dense<T> random(int m, int n, int more = 0) {
    Dense<T> A(m, n, more);
    A.all = random_numbers<T>(engine_, static_cast<Index>(A.all.size()));
    return A;
  }
  static std::string name(const std::string& stem) { return letter<T> + stem + "_"; }
  static double unit() { return static_cast<double>(unit_roundoff<T>); }

  static Factors<T> factor(const Dense<T>& A, std::vector<int> pivots = {}) {
    const int m = A.rows;
    const int n = A.columns;
    pivots.resize(static_cast<std::size_t>(n), 0);
    Factors<T> all{A, pivots, std::vector<T>(static_cast<std::size_t>(std::min(m, n)))};
    const int length = 3 * n + 1;
    std::vector<T> work(static_cast<std::size_t>(length));
    std::vector<Real<T>> reals(static_cast<std::size_t>(2 * n + 1));
    int info = 77;
    Arguments arguments = {&m,          &n,     all.A.all.data(), &all.A.leading, all.pivots.data(), all.tau.data(),
                           work.data(), &length};
    if (is_complex<T>) arguments.push_back(reals.data());
    arguments.push_back(&info);
    call(blas_function<Routine>(name("geqp3")), arguments);
    EXPECT_EQ(info, 0);
    return all;
  }
  // A P = Q R, Q's columns orthonormal; and no column of what is left is longer than the one that was taken.
  static void check(const Dense<T>& A, const Factors<T>& of, int fixed = 0) {
    const int m = A.rows;
    const int n = A.columns;
    const int order = std::min(m, n);
    std::vector<int> sorted = of.pivots;
    std::sort(sorted.begin(), sorted.end());
    for (int j = 0; j < n; ++j) ASSERT_EQ(sorted[static_cast<std::size_t>(j)], j + 1);
    Dense<T> Q = first_columns(of.A, order);
    std::vector<T> work(static_cast<std::size_t>(std::max(1, order)));
    int info = 77;
    call(blas_function<Routine>(name(is_complex<T> ? "ungqr" : "orgqr")),
         {&m, &order, &order, Q.all.data(), &Q.leading, of.tau.data(), work.data(), &order, &info});
    ASSERT_EQ(info, 0);
    Dense<T> R(order, n);
    Dense<T> turned(m, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < std::min(j + 1, order); ++i) R(i, j) = of.A(i, j);
      for (int i = 0; i < m; ++i) turned(i, j) = A(i, of.pivots[static_cast<std::size_t>(j)] - 1);
    }
    const double bound = 8.0 * std::max(m, n) * unit();
    EXPECT_LE(residual(turned, Q, false, R), bound * norm(A));
    EXPECT_LE(residual(identity<T>(order), Q, true, Q), bound * std::sqrt(order));
    for (int k = fixed; k < order; ++k) {
      for (int j = k + 1; j < n; ++j) {
        double below = 0.0;
        for (int i = k; i < order; ++i) below = std::hypot(below, size(R(i, j)));
        EXPECT_LE(below, size(R(k, k)) * 1.001 + bound * norm(A)) << k << ", " << j;
      }
    }
  }

  std::mt19937 engine_{37};
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(PivotedQr, Types);

TYPED_TEST(PivotedQr, OfAnyShape) {
  using T = TypeParam;
  using R = Real<T>;
  for (const auto& [m, n] : {std::pair{1, 1}, {1, 6}, {6, 1}, {9, 5}, {5, 9}, {40, 40}, {70, 33}, {33, 70}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    const Dense<T> A = this->random(m, n, 1);
    this->check(A, this->factor(A));
    // Columns of falling length, the longest last, whose lengths have to be counted again; equal ones; zeros.
    Dense<T> graded = A;
    Dense<T> ones(m, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        graded(i, j) *= std::ldexp(R(1), std::max(j - n, -60));
        ones(i, j) = T{1};
      }
    }
    this->check(graded, this->factor(graded));
    const auto of_ones = this->factor(ones);
    this->check(ones, of_ones);
    EXPECT_EQ(of_ones.pivots[0], 1);
    const auto of_zeros = this->factor(Dense<T>(m, n));
    for (int j = 0; j < n; ++j) EXPECT_EQ(of_zeros.pivots[static_cast<std::size_t>(j)], j + 1);
    // Columns that stay in front.
    if (n < 5) continue;
    std::vector<int> pivots(static_cast<std::size_t>(n), 0);
    pivots[2] = pivots[4] = 1;
    const auto of = this->factor(A, pivots);
    EXPECT_EQ(of.pivots[0], 3);
    EXPECT_EQ(of.pivots[1], 5);
    this->check(A, of, 2);
  }
}

// As by singular values, whose own tests say what those are.
TYPED_TEST(PivotedQr, SolvesLeastSquaresOfAnyRank) {
  using T = TypeParam;
  using R = Real<T>;
  const auto relative = static_cast<R>(1e3 * this->unit());
  for (const auto& [m, n, r] : {std::tuple{1, 1, 1},
                                {6, 1, 1},
                                {1, 6, 1},
                                {20, 20, 20},
                                {40, 20, 20},
                                {20, 40, 20},
                                {30, 20, 7},
                                {20, 30, 7},
                                {25, 25, 0}}) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " of rank " << r);
    const Dense<T> one = this->random(m, r);
    const Dense<T> other = this->random(r, n);
    Dense<T> A(m, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        for (int k = 0; k < r; ++k) A(i, j) = A(i, j) + one(i, k) * other(k, j);
      }
    }
    const int columns = 3;
    const int height = std::max(m, n);
    const Dense<T> B = this->random(height, columns);
    Dense<T> left = A;
    const auto solve = [&](const std::string& stem, Dense<T>& X) {
      Dense<T> copy = A;
      std::vector<R> s(static_cast<std::size_t>(height));
      std::vector<T> work(20000);
      std::vector<R> reals(20000);
      std::vector<int> integers(2000);
      std::vector<int> pivots(static_cast<std::size_t>(n), 0);
      const int length = 20000;
      int rank = -7;
      int info = 77;
      Arguments arguments = {&m, &n, &columns, copy.all.data(), &m, X.all.data(), &height};
      if (stem == "gelsy") {
        arguments.push_back(pivots.data());
      } else {
        arguments.push_back(s.data());
      }
      arguments.insert(arguments.end(), {&relative, &rank, work.data(), &length});
      if (is_complex<T>) arguments.push_back(reals.data());
      if (stem == "gelsd") arguments.push_back(integers.data());
      arguments.push_back(&info);
      call(blas_function<Routine>(this->name(stem)), arguments);
      EXPECT_EQ(info, 0);
      EXPECT_EQ(rank, r);
      left = copy;
      return r > 0 && stem == "gelsd"
                 ? static_cast<double>(s[0]) / static_cast<double>(s[static_cast<std::size_t>(r) - 1])
                 : 1.0;
    };
    Dense<T> X = B;
    Dense<T> Y = B;
    const double condition = solve("gelsd", Y);
    solve("gelsy", X);
    // The triangle that is left of A has its size: it is A between orthonormal columns.
    Dense<T> triangle(r, r);
    for (int j = 0; j < r; ++j) {
      for (int i = 0; i <= j; ++i) triangle(i, j) = left(i, j);
    }
    EXPECT_NEAR(norm(triangle), norm(A), 64.0 * height * this->unit() * norm(A));
    const Dense<T> y = first_rows(Y, n);
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < n; ++i) {
        EXPECT_LE(size(T(X(i, j) - Y(i, j))), 64.0 * height * this->unit() * condition * condition * norm(y));
      }
    }
  }
  // A NaN stays a NaN.
  Dense<T> A = this->random(3, 2);
  A(1, 1) = T(std::numeric_limits<R>::quiet_NaN());
  Dense<T> B = this->random(3, 1);
  const int m = 3;
  const int n = 2;
  const int columns = 1;
  int pivots[2] = {0, 0};
  T work[50];
  R reals[50];
  const int length = 50;
  int rank = 0;
  int info = 77;
  // A question for the workspace reads no array and no tolerance.
  const int question = -1;
  Arguments arguments = {&m, &n, &columns, nullptr, &m, nullptr, &m, nullptr, nullptr, nullptr, work, &question};
  if (is_complex<T>) arguments.push_back(nullptr);
  arguments.push_back(&info);
  call(blas_function<Routine>(this->name("gelsy")), arguments);
  EXPECT_EQ(info, 0);
  arguments = {&m, &n, &columns, A.all.data(), &m, B.all.data(), &m, pivots, &relative, &rank, work, &length};
  if (is_complex<T>) arguments.push_back(reals);
  arguments.push_back(&info);
  call(blas_function<Routine>(this->name("gelsy")), arguments);
  EXPECT_TRUE(std::isnan(real_of<double>(B(0, 0))) || std::isnan(imaginary_of<double>(B(0, 0))));
}

// The positions that LAPACK's own tests of its errors expect.
TYPED_TEST(PivotedQr, WrongArgumentsAreRefused) {
  using T = TypeParam;
  T a[4]{};
  T b[4]{};
  T work[20];
  Real<T> reals[20];
  int pivots[4] = {0, 0, 0, 0};
  int info = 0;
  int rank = 0;
  const Real<T> relative(0);
  const auto factor = [&](int m, int n, int leading, int length) {
    Arguments arguments = {&m, &n, a, &leading, pivots, b, work, &length};
    if (is_complex<T>) arguments.push_back(reals);
    arguments.push_back(&info);
    call(blas_function<Routine>(this->name("geqp3")), arguments);
    return info;
  };
  EXPECT_EQ(factor(-1, 0, 1, 20), -1);
  EXPECT_EQ(factor(1, -1, 1, 20), -2);
  EXPECT_EQ(factor(2, 3, 1, 20), -4);
  EXPECT_EQ(factor(2, 2, 2, 2), -8);
  EXPECT_EQ(factor(2, 2, 2, -1), 0);
  EXPECT_GE(real_of<double>(work[0]), is_complex<T> ? 3.0 : 7.0);
  const auto solve = [&](int m, int n, int columns, int leading, int leading_b, int length) {
    Arguments arguments = {&m, &n, &columns, a, &leading, b, &leading_b, pivots, &relative, &rank, work, &length};
    if (is_complex<T>) arguments.push_back(reals);
    arguments.push_back(&info);
    call(blas_function<Routine>(this->name("gelsy")), arguments);
    return info;
  };
  EXPECT_EQ(solve(-1, 0, 0, 1, 1, 10), -1);
  EXPECT_EQ(solve(0, -1, 0, 1, 1, 10), -2);
  EXPECT_EQ(solve(0, 0, -1, 1, 1, 10), -3);
  EXPECT_EQ(solve(2, 0, 0, 1, 2, 10), -5);
  EXPECT_EQ(solve(2, 0, 0, 2, 1, 10), -7);
  EXPECT_EQ(solve(2, 2, 1, 2, 2, 1), -12);
  EXPECT_EQ(solve(0, 3, 0, 1, 3, 1), is_complex<T> ? -12 : 0);
}

// The bits that every machine has, with any number of threads.
TYPED_TEST(PivotedQr, BitsAreThoseOfAnyMachine) {
  using T = TypeParam;
  std::uint64_t hash = hash_of(std::vector<T>{});
  for (const auto& [m, n] : {std::pair{520, 300}, {30, 90}}) {
    const auto of = this->factor(fixed_matrix<T>(m, n));
    hash = hash_of(of.A.all, hash);
    hash = hash_of(of.pivots, hash);
  }
  const std::map<char, std::uint64_t> expected = {
      {'s', 0x967c51ac9f74270fU}, {'d', 0x17df2ebc6f0cd830U}, {'c', 0xf37b45045ccf81eeU}, {'z', 0x513c4ddc58ca3fccU}};
  EXPECT_EQ(hash, expected.at(letter<T>)) << std::hex << hash;
}

}  // namespace
}  // namespace heddle::test::pivoted_qr_test
