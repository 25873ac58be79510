// Singular values and vectors by LAPACK's names: what they promise, and their bits.
#include "interpose/dense.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace heddle::test::singular_test {
namespace {

template <class T> struct Decomposition {
  Dense<T> U;
  std::vector<Real<T>> s;
  Dense<T> V;  // V^H.
  Dense<T> A;  // Contents of A after the call.
  int info;
};

template <class T> class Singular : public testing::Test {
 protected:
  Dense<T> random(int m, int n, int more = 0) {
    Dense<T> A(m, n, more);
    A.all = random_numbers<T>(engine_, static_cast<Index>(A.all.size()));
    return A;
  }
  static std::string name(const std::string& stem) { return letter<T> + stem + "_"; }
  static double unit() { return static_cast<double>(unit_roundoff<T>); }

  // By gesdd, or by gesvd with a second letter.
  static Decomposition<T> decompose(const Dense<T>& A, const char* left, const char* right = nullptr) {
    const int m = A.rows;
    const int n = A.columns;
    const int less = std::min(m, n);
    Decomposition<T> all{Dense<T>(m, m, 1), std::vector<Real<T>>(static_cast<std::size_t>(less), Real<T>(-1)),
                         Dense<T>(n, n, 2), A, 77};
    std::vector<Real<T>> reals(static_cast<std::size_t>(5 * less * less + 7 * less + 5));
    std::vector<int> integers(static_cast<std::size_t>(8 * less + 1));
    const auto ask = [&](T* work, const int* length) {
      Arguments arguments = {left};
      if (right != nullptr) arguments.push_back(right);
      arguments.insert(arguments.end(), {&m, &n, all.A.all.data(), &all.A.leading, all.s.data(), all.U.all.data(),
                                         &all.U.leading, all.V.all.data(), &all.V.leading, work, length});
      if (is_complex<T>) arguments.push_back(reals.data());
      if (right == nullptr) arguments.push_back(integers.data());
      arguments.push_back(&all.info);
      call(blas_function<Routine>(name(right == nullptr ? "gesdd" : "gesvd")), arguments);
    };
    T wanted{};
    const int asked = -1;
    ask(&wanted, &asked);
    EXPECT_EQ(all.info, 0);
    const auto length = static_cast<int>(real_of<double>(wanted));
    EXPECT_GE(length, 1);
    std::vector<T> work(static_cast<std::size_t>(length));
    ask(work.data(), &length);
    return all;
  }

  // Whether A = U diag(s) V^H with orthonormal columns, all of U's and V's or the first ones of them.
  static void check(const Dense<T>& A, const Decomposition<T>& of, int columns_of_u, int columns_of_v) {
    ASSERT_EQ(of.info, 0);
    const int less = std::min(A.rows, A.columns);
    const Real<T> largest = less > 0 ? of.s[0] : Real<T>(0);
    EXPECT_TRUE(std::is_sorted(of.s.rbegin(), of.s.rend()));
    EXPECT_TRUE(std::all_of(of.s.begin(), of.s.end(), [](Real<T> s) { return s >= Real<T>(0); }));
    // Scaled, so that the check itself neither overflows nor loses what it looks for.
    const int exponent = largest > Real<T>(0) ? std::ilogb(largest) : 0;
    Dense<T> scaled_a = scaled_matrix(A, -exponent);
    Dense<T> left(A.rows, less);
    Dense<T> right(less, A.columns);
    for (int j = 0; j < less; ++j) {
      const Real<T> value = std::scalbn(of.s[static_cast<std::size_t>(j)], -exponent);
      for (int i = 0; i < A.rows; ++i) left(i, j) = of.U(i, j) * value;
      for (int i = 0; i < A.columns; ++i) right(j, i) = of.V(j, i);
    }
    const double bound = 8.0 * std::max(A.rows, A.columns) * unit();
    // Values that are denormal have fewer digits.
    const double lost = less * std::ldexp(static_cast<double>(std::numeric_limits<Real<T>>::denorm_min()), -exponent);
    EXPECT_LE(residual(scaled_a, left, false, right), bound * std::max(1.0, norm(scaled_a)) + lost);
    const Dense<T> U = first_columns(of.U, columns_of_u);
    EXPECT_LE(residual(identity<T>(columns_of_u), U, true, U), bound * std::sqrt(columns_of_u));
    Dense<T> V(A.columns, columns_of_v);
    for (int j = 0; j < columns_of_v; ++j) {
      for (int i = 0; i < A.columns; ++i) V(i, j) = conjugate(of.V(j, i));
    }
    EXPECT_LE(residual(identity<T>(columns_of_v), V, true, V), bound * std::sqrt(columns_of_v));
  }

  std::mt19937 engine_{29};
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Singular, Types);

constexpr std::pair<int, int> shapes[] = {{1, 1},   {1, 5},   {5, 1},   {2, 2},   {3, 2},   {2, 3},
                                          {17, 16}, {16, 17}, {33, 33}, {70, 40}, {40, 70}, {130, 7}};

TYPED_TEST(Singular, OfAnyShapeAndJob) {
  using T = TypeParam;
  for (const auto& [m, n] : shapes) {
    SCOPED_TRACE(testing::Message() << m << " x " << n);
    const int less = std::min(m, n);
    const Dense<T> A = this->random(m, n, 2);
    const auto all = this->decompose(A, "A");
    this->check(A, all, m, n);
    const auto some = this->decompose(A, "s");
    this->check(A, some, less, less);
    const auto none = this->decompose(A, "N");
    // Values do not depend on what else is wanted, nor do vectors.
    EXPECT_EQ(none.s, all.s);
    EXPECT_EQ(some.s, all.s);
    EXPECT_TRUE(same_bits(first_columns(some.U, less), first_columns(all.U, less)));
    // U or V^H over A.
    const auto over = this->decompose(A, "O");
    if (m >= n) {
      EXPECT_TRUE(same_bits(first_columns(over.A, n), first_columns(all.U, n)));
      EXPECT_TRUE(same_bits(first_columns(over.V, n), first_columns(all.V, n)));
    } else {
      EXPECT_TRUE(same_bits(first_columns(over.U, m), first_columns(all.U, m)));
      EXPECT_TRUE(same_bits(first_rows(over.A, m), first_rows(all.V, m)));
    }
    // gesvd, whose letters are of U and V^H, has the same bits.
    for (const char* const left : {"A", "S", "O", "N"}) {
      for (const char* const right : {"A", "S", "O", "N"}) {
        if (*left == 'O' && *right == 'O') continue;
        const auto by_other = this->decompose(A, left, right);
        ASSERT_EQ(by_other.info, 0);
        EXPECT_EQ(by_other.s, all.s);
        const int of_u = *left == 'A' ? m : *left == 'N' ? 0 : less;
        const int of_v = *right == 'A' ? n : *right == 'N' ? 0 : less;
        EXPECT_TRUE(same_bits(first_columns(*left == 'O' ? by_other.A : by_other.U, of_u), first_columns(all.U, of_u)));
        EXPECT_TRUE(same_bits(first_rows(*right == 'O' ? by_other.A : by_other.V, of_v), first_rows(all.V, of_v)));
      }
    }
  }
}

TYPED_TEST(Singular, OfHardMatrices) {
  using T = TypeParam;
  using R = Real<T>;
  const auto unit = static_cast<double>(unit_roundoff<T>);
  for (const auto& [m, n] : {std::pair{24, 24}, {40, 24}, {24, 40}}) {
    const int less = std::min(m, n);
    const Dense<T> A = this->random(m, n);
    std::vector<Dense<T>> all;
    all.emplace_back(m, n);  // Zeros.
    Dense<T> ones(m, n);
    std::fill(ones.all.begin(), ones.all.end(), T{1});
    all.push_back(ones);
    Dense<T> shifted(m, n);  // Nilpotent.
    for (int i = 0; i + 1 < less; ++i) shifted(i, i + 1) = T{1};
    all.push_back(shifted);
    for (const int exponent : {std::numeric_limits<R>::max_exponent - 10, std::numeric_limits<R>::min_exponent + 10,
                               std::numeric_limits<R>::min_exponent - 15}) {
      all.push_back(scaled_matrix(A, exponent));
    }
    for (const bool up : {false, true}) {
      Dense<T> graded = A;
      Dense<T> columns = A;
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
          graded(i, j) *= std::ldexp(R(1), up ? i + j - m - n : -(i + j));
          columns(i, j) *= std::ldexp(R(1), up ? j - n : -j);
        }
      }
      all.push_back(graded);
      all.push_back(columns);
    }
    // Matrix of rank 3, with many singular values near the round-off.
    Dense<T> low(m, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        for (int k = 0; k < 3; ++k) low(i, j) = low(i, j) + A(i, k) * A(k, j);
      }
    }
    all.push_back(low);
    for (const Dense<T>& one : all) {
      SCOPED_TRACE(testing::Message() << "matrix " << &one - all.data() << " of " << m << " x " << n);
      const auto of = this->decompose(one, "A");
      this->check(one, of, m, n);
      if (&one == &all[0]) {
        EXPECT_EQ(of.s, std::vector<R>(static_cast<std::size_t>(less), R(0)));
      }
      if (&one == &all[1]) {
        EXPECT_NEAR(static_cast<double>(of.s[0]), std::sqrt(double{1} * m * n), 20.0 * unit * less);
      }
      if (&one == &all[2]) {
        EXPECT_EQ(of.s[static_cast<std::size_t>(less) - 2], R(1));
        EXPECT_EQ(of.s[static_cast<std::size_t>(less) - 1], R(0));
      }
      if (&one == &all.back()) {
        EXPECT_LE(static_cast<double>(of.s[3]), 100.0 * unit * static_cast<double>(of.s[0]));
      }
    }
  }
}

// Values of an upper bidiagonal matrix are found to some round-offs of their own, however small they are. These of
// 1 on the diagonal and -1 beside it are 2 cos(k pi / (2n + 1)) (k = 1 ... n), or sines of what is left to pi / 2.
TYPED_TEST(Singular, SmallValuesHaveTheirDigits) {
  using T = TypeParam;
  using R = Real<T>;
  const int n = 60;
  const auto unit = static_cast<double>(unit_roundoff<T>);
  Dense<T> A(n, n);
  for (int i = 0; i < n; ++i) {
    A(i, i) = T{1};
    if (i + 1 < n) A(i, i + 1) = T{-1};
  }
  const auto of = this->decompose(A, "N");
  for (int k = 1; k <= n; ++k) {
    const double exact = 2.0 * std::sin((2 * (n - k) + 1) * std::acos(-1.0) / (4 * n + 2));
    EXPECT_NEAR(static_cast<double>(of.s[static_cast<std::size_t>(k) - 1]) / exact, 1.0, 64.0 * unit) << k;
  }
  // Diagonal blocks [1 1; 0 2^-24] have sqrt(2) and 2^-24 / sqrt(2), nearly, and scaled ones have these times their
  // scale.
  Dense<T> B(n, n);
  for (int i = 0; i < n; i += 2) {
    const R scale = std::ldexp(R(1), -i);
    B(i, i) = B(i, i + 1) = T(scale);
    B(i + 1, i + 1) = T(std::ldexp(scale, -24));
  }
  const auto blocks = this->decompose(B, "N");
  std::vector<double> exact;
  for (int i = 0; i < n; i += 2) {
    const double a = 2.0 + std::ldexp(1.0, -48);
    const double large = std::sqrt((a + std::sqrt(a * a - std::ldexp(4.0, -48))) / 2.0);
    exact.push_back(std::ldexp(large, -i));
    exact.push_back(std::ldexp(std::ldexp(1.0, -24) / large, -i));
  }
  std::sort(exact.rbegin(), exact.rend());
  for (std::size_t k = 0; k < exact.size(); ++k) {
    EXPECT_NEAR(static_cast<double>(blocks.s[k]) / exact[k], 1.0, 64.0 * unit) << k;
  }
}

TYPED_TEST(Singular, WhatIsNoNumberIsRefused) {
  using T = TypeParam;
  using R = Real<T>;
  Dense<T> A = this->random(5, 4);
  A(2, 1) = T(std::numeric_limits<R>::quiet_NaN());
  EXPECT_EQ(this->decompose(A, "A").info, -4);
  EXPECT_GT(this->decompose(A, "A", "A").info, 0);
  A(2, 1) = T(std::numeric_limits<R>::infinity());
  EXPECT_GT(this->decompose(A, "A").info, 0);
  EXPECT_GT(this->decompose(A, "N", "N").info, 0);
}

// Nothing is read or written of matrices without rows or columns.
TYPED_TEST(Singular, OfNothing) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{0, 0}, {0, 3}, {3, 0}}) {
    EXPECT_EQ(this->decompose(Dense<T>(m, n, 1), "A").info, 0);
    EXPECT_EQ(this->decompose(Dense<T>(m, n, 1), "S", "N").info, 0);
  }
}

// The positions that LAPACK's own tests of its errors expect.
TYPED_TEST(Singular, WrongArgumentsAreRefused) {
  using T = TypeParam;
  T a[4]{};
  Real<T> reals[100];
  T work[100];
  int integers[40];
  int info = 0;
  const auto by = [&](bool divide, const char* left, const char* right, int m, int n, int leading, int of_u, int of_v,
                      int length) {
    Arguments arguments = {left};
    if (!divide) arguments.push_back(right);
    arguments.insert(arguments.end(), {&m, &n, a, &leading, reals, a, &of_u, a, &of_v, work, &length});
    if (is_complex<T>) arguments.push_back(reals);
    if (divide) arguments.push_back(integers);
    arguments.push_back(&info);
    call(blas_function<Routine>(this->name(divide ? "gesdd" : "gesvd")), arguments);
    if (info < 0) {
      EXPECT_EQ(last_refusal.position, -info);
      EXPECT_EQ(last_refusal.routine,
                std::string(1, static_cast<char>(letter<T> - 'a' + 'A')) + (divide ? "GESDD" : "GESVD"));
    }
    return info;
  };
  EXPECT_EQ(by(false, "X", "N", 0, 0, 1, 1, 1, 50), -1);
  EXPECT_EQ(by(false, "N", "X", 0, 0, 1, 1, 1, 50), -2);
  EXPECT_EQ(by(false, "O", "O", 0, 0, 1, 1, 1, 50), -2);
  EXPECT_EQ(by(false, "N", "N", -1, 0, 1, 1, 1, 50), -3);
  EXPECT_EQ(by(false, "N", "N", 0, -1, 1, 1, 1, 50), -4);
  EXPECT_EQ(by(false, "N", "N", 2, 1, 1, 1, 1, 50), -6);
  EXPECT_EQ(by(false, "A", "N", 2, 1, 2, 1, 1, 50), -9);
  EXPECT_EQ(by(false, "N", "A", 1, 2, 1, 1, 1, 50), -11);
  EXPECT_EQ(by(false, "N", "N", 2, 2, 2, 1, 1, 1), -13);
  EXPECT_EQ(by(true, "X", nullptr, 0, 0, 1, 1, 1, 50), -1);
  EXPECT_EQ(by(true, "N", nullptr, -1, 0, 1, 1, 1, 50), -2);
  EXPECT_EQ(by(true, "N", nullptr, 0, -1, 1, 1, 1, 50), -3);
  EXPECT_EQ(by(true, "N", nullptr, 2, 1, 1, 1, 1, 50), -5);
  EXPECT_EQ(by(true, "A", nullptr, 2, 1, 2, 1, 1, 50), -8);
  EXPECT_EQ(by(true, "A", nullptr, 1, 2, 1, 1, 1, 50), -10);
  EXPECT_EQ(by(true, "O", nullptr, 1, 2, 1, 1, 1, 50), 0);
  EXPECT_EQ(by(true, "O", nullptr, 2, 1, 2, 1, 1, 50), 0);
  EXPECT_EQ(by(true, "S", nullptr, 2, 2, 2, 2, 2, 1), -12);
}

// The bits that every machine has, with any number of threads: CTest runs this with one and with three, which take
// parts of columns, rows and vectors.
TYPED_TEST(Singular, BitsAreThoseOfAnyMachine) {
  using T = TypeParam;
  std::uint64_t hash = hash_of(std::vector<T>{});
  for (const auto& [m, n] : {std::pair{520, 520}, {700, 300}, {9, 40}}) {
    const Dense<T> A = fixed_matrix<T>(m, n);
    const auto of = this->decompose(A, "S");
    const int less = std::min(m, n);
    if (less < 100) this->check(A, of, less, less);
    hash = hash_of(of.s, hash);
    hash = hash_of(first_columns(of.U, less).all, hash);
    hash = hash_of(first_rows(of.V, less).all, hash);
  }
  const std::map<char, std::uint64_t> expected = {
      {'s', 0x8ce3939d9a609980U}, {'d', 0xcd9d834ff2ffa072U}, {'c', 0x583e2c96d445d311U}, {'z', 0xa80ee2484c98f7c5U}};
  EXPECT_EQ(hash, expected.at(letter<T>)) << std::hex << hash;
}

}  // namespace
}  // namespace heddle::test::singular_test
