// Least squares by LAPACK's names: the shortest of the solutions, what is left, ranks, and their bits.
#include "interpose/dense.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace heddle::test::least_squares_test {
namespace {

template <class T> struct Solution {
  Dense<T> X;
  std::vector<Real<T>> s;
  Dense<T> A;  // What was left of it.
  int rank;
  int info;
};

template <class T> class LeastSquares : public testing::Test {
 protected:
  Dense<T> random(int m, int n, int more = 0) {
    Dense<T> A(m, n, more);
    A.all = random_numbers<T>(engine_, static_cast<Index>(A.all.size()));
    return A;
  }
  static std::string name(const std::string& stem) { return letter<T> + stem + "_"; }
  static double unit() { return static_cast<double>(unit_roundoff<T>); }
  static Dense<T> product(const Dense<T>& A, bool adjoint, const Dense<T>& B, int columns) {
    const int rows = adjoint ? A.columns : A.rows;
    const int inner = adjoint ? A.rows : A.columns;
    Dense<T> C(rows, columns);
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < inner; ++k) {
          C(i, j) = C(i, j) + (adjoint ? conjugate(A(k, i)) : A(i, k)) * B(k, j);
        }
      }
    }
    return C;
  }
  // Matrix of rank r: the product of two random matrices.
  Dense<T> of_rank(int m, int n, int r, int more = 0) {
    const Dense<T> all = product(random(m, r), false, random(r, n), n);
    Dense<T> A(m, n, more);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) A(i, j) = all(i, j);
    }
    return A;
  }

  // By gelsd or gelss.
  static Solution<T> solve(const std::string& stem, const Dense<T>& A, const Dense<T>& B, Real<T> relative) {
    const int m = A.rows;
    const int n = A.columns;
    const int less = std::min(m, n);
    Solution<T> all{Dense<T>(std::max(m, n), B.columns, 1), std::vector<Real<T>>(static_cast<std::size_t>(less)), A, -7,
                    77};
    for (int j = 0; j < B.columns; ++j) {
      for (int i = 0; i < B.rows; ++i) all.X(i, j) = B(i, j);
    }
    // LAPACK reads no matrix and no tolerance where it is asked for the workspace, so callers may have none by then.
    const auto ask = [&](T* work, const int* length, Real<T>* reals, int* integers) {
      const bool question = *length == -1;
      Arguments arguments = {&m,
                             &n,
                             &B.columns,
                             question ? nullptr : all.A.all.data(),
                             &all.A.leading,
                             question ? nullptr : all.X.all.data(),
                             &all.X.leading,
                             question ? nullptr : all.s.data(),
                             question ? nullptr : &relative,
                             question ? nullptr : &all.rank,
                             work,
                             length};
      if (is_complex<T>) arguments.push_back(reals);
      if (stem == "gelsd") arguments.push_back(integers);
      arguments.push_back(&all.info);
      call(blas_function<Routine>(name(stem)), arguments);
    };
    const int asked = -1;
    T wanted{};
    Real<T> reals_wanted{};
    int integers_wanted = 0;
    ask(&wanted, &asked, &reals_wanted, &integers_wanted);
    EXPECT_EQ(all.info, 0);
    const auto length = static_cast<int>(real_of<double>(wanted));
    std::vector<T> work(static_cast<std::size_t>(length));
    std::vector<Real<T>> reals(static_cast<std::size_t>(std::max(static_cast<int>(reals_wanted), 5 * less + 1)));
    std::vector<int> integers(static_cast<std::size_t>(std::max(integers_wanted, 1)));
    ask(work.data(), &length, reals.data(), integers.data());
    return all;
  }

  // The residual is orthogonal to A's columns, and x to what A does not see: it is A^H y for some y, which is found
  // by the same x = A^H (A A^H)^+ A x. Here by its own least squares from A^H, of other shape.
  void check(const Dense<T>& A, const Dense<T>& B, const Dense<T>& X, double condition) {
    const double bound = 64.0 * std::max(A.rows, A.columns) * unit();
    Dense<T> rest = product(A, false, X, B.columns);
    for (int j = 0; j < B.columns; ++j) {
      for (int i = 0; i < A.rows; ++i) rest(i, j) = B(i, j) - rest(i, j);
    }
    const Dense<T> x = first_rows(X, A.columns);
    EXPECT_LE(norm(product(A, true, rest, B.columns)), bound * norm(A) * (norm(A) * norm(x) + norm(B)));
    Dense<T> flipped(A.columns, A.rows);
    for (int j = 0; j < A.columns; ++j) {
      for (int i = 0; i < A.rows; ++i) flipped(j, i) = conjugate(A(i, j));
    }
    const auto y = solve("gelsd", flipped, x, static_cast<Real<T>>(1e3 * unit()));
    const Dense<T> again = product(flipped, false, y.X, B.columns);
    double gap = 0.0;
    for (int j = 0; j < B.columns; ++j) {
      for (int i = 0; i < A.columns; ++i) gap = std::hypot(gap, size(T(again(i, j) - x(i, j))));
    }
    EXPECT_LE(gap, bound * condition * norm(x));
  }

  std::mt19937 engine_{31};
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(LeastSquares, Types);

TYPED_TEST(LeastSquares, OfAnyShapeAndRank) {
  using T = TypeParam;
  using R = Real<T>;
  const auto relative = static_cast<R>(1e3 * this->unit());
  for (const auto& [m, n, r] : {std::tuple{1, 1, 1},
                                {6, 1, 1},
                                {1, 6, 1},
                                {8, 5, 5},
                                {5, 8, 5},
                                {20, 20, 20},
                                {60, 20, 20},
                                {20, 60, 20},
                                {30, 20, 7},
                                {20, 30, 7},
                                {25, 25, 4}}) {
    for (const int columns : {1, 3}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << " of rank " << r << ", " << columns << " columns");
      const Dense<T> A = r < std::min(m, n) ? this->of_rank(m, n, r, 2) : this->random(m, n, 2);
      const Dense<T> B = this->random(m, columns);
      const auto of = this->solve("gelsd", A, B, relative);
      ASSERT_EQ(of.info, 0);
      EXPECT_EQ(of.rank, r);
      const double condition =
          static_cast<double>(of.s[0]) / static_cast<double>(of.s[static_cast<std::size_t>(r) - 1]);
      this->check(A, B, of.X, condition);
      // gelss, which has the same bits, leaves V^H in A.
      const auto by_other = this->solve("gelss", A, B, relative);
      EXPECT_EQ(by_other.rank, r);
      EXPECT_EQ(by_other.s, of.s);
      EXPECT_TRUE(same_bits(by_other.X, of.X));
      const int less = std::min(m, n);
      Dense<T> V(n, less);
      for (int j = 0; j < less; ++j) {
        for (int i = 0; i < n; ++i) V(i, j) = conjugate(by_other.A(j, i));
      }
      EXPECT_LE(residual(identity<T>(less), V, true, V), 8.0 * n * this->unit() * std::sqrt(less));
      // A V has the length of the values.
      const Dense<T> AV = this->product(A, false, V, less);
      for (int j = 0; j < less; ++j) {
        double length = 0.0;
        for (int i = 0; i < m; ++i) length = std::hypot(length, size(AV(i, j)));
        EXPECT_NEAR(length, static_cast<double>(of.s[static_cast<std::size_t>(j)]),
                    32.0 * std::max(m, n) * this->unit() * static_cast<double>(of.s[0]));
      }
      if (m > n && r == n) {
        for (int j = 0; j < columns; ++j) {
          double below = 0.0;
          double rest = 0.0;
          const Dense<T> AX = this->product(A, false, of.X, columns);
          for (int i = n; i < m; ++i) below = std::hypot(below, size(of.X(i, j)));
          for (int i = 0; i < m; ++i) rest = std::hypot(rest, size(T(B(i, j) - AX(i, j))));
          EXPECT_NEAR(below, rest, 64.0 * m * this->unit() * condition * rest);
        }
      }
    }
  }
}

// By QR, of A and of its adjoint: as by singular values.
TYPED_TEST(LeastSquares, OfFullRankByQr) {
  using T = TypeParam;
  const char* const adjoint = is_complex<T> ? "C" : "T";
  for (const auto& [m, n] : {std::pair{1, 1}, {7, 4}, {4, 7}, {20, 20}, {60, 33}, {33, 60}}) {
    for (const bool flipped : {false, true}) {
      SCOPED_TRACE(testing::Message() << m << " x " << n << (flipped ? ", adjoint" : ""));
      const int columns = 2;
      const Dense<T> A = this->random(m, n, 1);
      Dense<T> M(flipped ? n : m, flipped ? m : n);
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
          if (flipped) {
            M(j, i) = conjugate(A(i, j));
          } else {
            M(i, j) = A(i, j);
          }
        }
      }
      const Dense<T> B = this->random(M.rows, columns);
      Dense<T> X(std::max(m, n), columns);
      for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < M.rows; ++i) X(i, j) = B(i, j);
      }
      Dense<T> factors = A;
      std::vector<T> work(200);
      const int length = 200;
      int info = 77;
      call(blas_function<Routine>(this->name("gels")),
           {flipped ? adjoint : "N", &m, &n, &columns, factors.all.data(), &factors.leading, X.all.data(), &X.leading,
            work.data(), &length, &info});
      ASSERT_EQ(info, 0);
      const auto of = this->solve("gelsd", M, B, Real<T>(-1));
      const double condition = static_cast<double>(of.s.front()) / static_cast<double>(of.s.back());
      const double bound = 64.0 * std::max(m, n) * this->unit();
      for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < M.columns; ++i) {
          EXPECT_LE(size(T(X(i, j) - of.X(i, j))), bound * condition * condition * norm(of.X));
        }
      }
      this->check(M, B, X, condition);
      // R has the length of A's first column, or row.
      double first = 0.0;
      for (int k = 0; k < std::max(m, n); ++k) first = std::hypot(first, size(m >= n ? A(k, 0) : A(0, k)));
      EXPECT_NEAR(size(factors(0, 0)), first, bound * first);
    }
  }
  // A column of zeros.
  const int m = 3;
  const int n = 2;
  Dense<T> A = this->random(m, n);
  for (int i = 0; i < m; ++i) A(i, 1) = T{0};
  Dense<T> B = this->random(m, 1);
  const int columns = 1;
  std::vector<T> work(50);
  const int length = 50;
  int info = 77;
  call(blas_function<Routine>(this->name("gels")),
       {"N", &m, &n, &columns, A.all.data(), &m, B.all.data(), &m, work.data(), &length, &info});
  EXPECT_EQ(info, 2);
}

// A and columns of B of any size.
TYPED_TEST(LeastSquares, OfHugeAndTinyNumbers) {
  using T = TypeParam;
  using R = Real<T>;
  const int top = std::numeric_limits<R>::max_exponent;
  const Dense<T> A = this->random(9, 5);
  const Dense<T> B = this->random(9, 2);
  const auto plain = this->solve("gelsd", A, B, R(-1));
  for (const int of_a : {-top + 12, top - 12}) {
    // Only powers of two differ.
    const auto of = this->solve("gelsd", scaled_matrix(A, of_a), scaled_matrix(B, of_a), R(-1));
    EXPECT_EQ(of.rank, 5);
    EXPECT_TRUE(same_bits(first_rows(of.X, 5), first_rows(plain.X, 5)));
    for (std::size_t k = 0; k < of.s.size(); ++k) EXPECT_EQ(of.s[k], std::scalbn(plain.s[k], of_a));
    Dense<T> mixed = B;
    for (int i = 0; i < 9; ++i) mixed(i, 1) = scaled_matrix(B, of_a)(i, 1);
    const auto beside = this->solve("gelsd", A, mixed, R(-1));
    for (int i = 0; i < 5; ++i)
      EXPECT_LE(size(T(beside.X(i, 0) - plain.X(i, 0))), 100.0 * this->unit() * norm(plain.X));
  }
  // Zeros: of rank 0, with solution 0.
  for (const std::string stem : {"gelsd", "gelss"}) {
    const auto of = this->solve(stem, Dense<T>(4, 3), first_rows(B, 4), R(-1));
    EXPECT_EQ(of.rank, 0);
    EXPECT_EQ(of.info, 0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(size(of.X(i, 0)), 0.0);
    EXPECT_EQ(this->solve(stem, this->random(4, 0), first_rows(B, 4), R(-1)).info, 0);
  }
  Dense<T> broken = A;
  broken(3, 2) = T(std::numeric_limits<R>::quiet_NaN());
  EXPECT_GT(this->solve("gelsd", broken, B, R(-1)).info, 0);
}

// The positions that LAPACK's own tests of its errors expect.
TYPED_TEST(LeastSquares, WrongArgumentsAreRefused) {
  using T = TypeParam;
  T a[4]{};
  T b[4]{};
  Real<T> reals[2000];
  T work[10];
  int integers[200];
  int info = 0;
  int rank = 0;
  const Real<T> relative(-1);
  for (const std::string stem : {"gelsd", "gelss"}) {
    const auto by = [&](int m, int n, int columns, int leading, int leading_b, int length) {
      Arguments arguments = {&m, &n, &columns, a, &leading, b, &leading_b, reals, &relative, &rank, work, &length};
      if (is_complex<T>) arguments.push_back(reals);
      if (stem == "gelsd") arguments.push_back(integers);
      arguments.push_back(&info);
      call(blas_function<Routine>(this->name(stem)), arguments);
      return info;
    };
    EXPECT_EQ(by(-1, 0, 0, 1, 1, 10), -1);
    EXPECT_EQ(by(0, -1, 0, 1, 1, 10), -2);
    EXPECT_EQ(by(0, 0, -1, 1, 1, 10), -3);
    EXPECT_EQ(by(2, 0, 0, 1, 2, 10), -5);
    EXPECT_EQ(by(2, 0, 0, 2, 1, 10), -7);
    EXPECT_EQ(by(2, 2, 1, 2, 2, 1), -12);
    EXPECT_EQ(by(0, 0, 0, 1, 1, 10), 0);
  }
  const auto by = [&](const char* op, int m, int n, int columns, int leading, int leading_b, int length) {
    call(blas_function<Routine>(this->name("gels")),
         {op, &m, &n, &columns, a, &leading, b, &leading_b, work, &length, &info});
    return info;
  };
  EXPECT_EQ(by("/", 0, 0, 0, 1, 1, 1), -1);
  EXPECT_EQ(by(is_complex<T> ? "T" : "C", 0, 0, 0, 1, 1, 1), -1);
  EXPECT_EQ(by("N", -1, 0, 0, 1, 1, 1), -2);
  EXPECT_EQ(by("N", 0, -1, 0, 1, 1, 1), -3);
  EXPECT_EQ(by("N", 0, 0, -1, 1, 1, 1), -4);
  EXPECT_EQ(by("N", 2, 0, 0, 1, 2, 2), -6);
  EXPECT_EQ(by("N", 2, 0, 0, 2, 1, 2), -8);
  EXPECT_EQ(by("N", 1, 1, 0, 1, 1, 1), -10);
}

// The bits that every machine has, with any number of threads.
TYPED_TEST(LeastSquares, BitsAreThoseOfAnyMachine) {
  using T = TypeParam;
  std::uint64_t hash = hash_of(std::vector<T>{});
  for (const auto& [m, n] : {std::pair{200, 120}, {30, 90}}) {
    const auto of = this->solve("gelsd", fixed_matrix<T>(m, n), fixed_matrix<T>(m, 3), Real<T>(-1));
    hash = hash_of(of.s, hash);
    hash = hash_of(first_rows(of.X, n).all, hash);
  }
  const std::map<char, std::uint64_t> expected = {
      {'s', 0x84f9ceeab447ce9U}, {'d', 0x2ab3eb884a7e64d2U}, {'c', 0x2961c5c2b2f43006U}, {'z', 0x5a644710df356cafU}};
  EXPECT_EQ(hash, expected.at(letter<T>)) << std::hex << hash;
}

}  // namespace
}  // namespace heddle::test::least_squares_test
