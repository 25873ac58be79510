// Eigenproblems of general matrices by LAPACK's names.
#include "interpose/dense.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace heddle::test::general_test {
namespace {

template <class T> class General : public testing::Test {
 protected:
  using Z = Kokkos::complex<double>;

  static double unit() { return static_cast<double>(unit_roundoff<T>); }
  static Z wide(const T& x) { return Z(real_of<double>(x), imaginary_of<double>(x)); }

  Dense<T> random(int n) {
    Dense<T> A(n, n, 2);
    A.all = random_numbers<T>(engine_, static_cast<Index>(A.all.size()));
    return A;
  }

  struct Spectrum {
    int info = 77;
    std::vector<Kokkos::complex<Real<T>>> w;
    Dense<T> left;
    Dense<T> right;
  };
  Spectrum solve(const Dense<T>& given, bool left = true, bool right = true) {
    Dense<T> A = given;
    const int n = A.columns;
    Spectrum all{77, std::vector<Kokkos::complex<Real<T>>>(static_cast<std::size_t>(n)), Dense<T>(n, n, 1),
                 Dense<T>(n, n)};
    std::vector<Real<T>> re(static_cast<std::size_t>(n));
    std::vector<Real<T>> im(re.size());
    std::vector<T> work(1);
    std::vector<Real<T>> reals(static_cast<std::size_t>(2 * n + 1));
    for (int length : {-1, 0}) {
      if (length == 0) {
        length = static_cast<int>(real_of<double>(work[0]));
        work.resize(static_cast<std::size_t>(length));
      }
      Arguments arguments = {left ? "V" : "N", right ? "V" : "N", &n, A.all.data(), &A.leading};
      if (is_complex<T>) {
        arguments.push_back(all.w.data());
      } else {
        arguments.insert(arguments.end(), {re.data(), im.data()});
      }
      arguments.insert(arguments.end(), {all.left.all.data(), &all.left.leading, all.right.all.data(),
                                         &all.right.leading, work.data(), &length});
      if (is_complex<T>) arguments.push_back(reals.data());
      arguments.push_back(&all.info);
      call(blas_function<Routine>(std::string{letter<T>} + "geev_"), arguments);
    }
    if (!is_complex<T>) {
      for (std::size_t i = 0; i < re.size(); ++i) all.w[i] = Kokkos::complex<Real<T>>(re[i], im[i]);
    }
    return all;
  }

  // Column j as a vector of complex numbers.
  static std::vector<Z> vector(const Dense<T>& V, const std::vector<Kokkos::complex<Real<T>>>& w, int j) {
    const int n = V.columns;
    std::vector<Z> x(static_cast<std::size_t>(n));
    const double im = is_complex<T> ? 0.0 : w[static_cast<std::size_t>(j)].imag();
    const int first = im < 0.0 ? j - 1 : j;
    for (int i = 0; i < n; ++i) {
      Z& value = x[static_cast<std::size_t>(i)];
      value = wide(V(i, first));
      if (im != 0.0) value = Z(value.real(), (im < 0.0 ? -1.0 : 1.0) * real_of<double>(V(i, first + 1)));
    }
    return x;
  }
  // max_j |D^-1 (A - w_j) x_j| / (|D^-1 A D| |D^-1 x_j|), D of powers of two, or of left vectors by D.
  static double departure(const Dense<T>& A, const Spectrum& all, bool left, const std::vector<int>& D) {
    const int n = A.columns;
    const auto factor = [&](int i) { return D.empty() ? 1.0 : std::ldexp(1.0, D[static_cast<std::size_t>(i)]); };
    double whole = 0.0;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) whole += std::pow(size(A(i, j)) * factor(j) / factor(i), 2);
    }
    whole = std::sqrt(whole);
    double most = 0.0;
    for (int j = 0; j < n; ++j) {
      const std::vector<Z> x = vector(left ? all.left : all.right, all.w, j);
      const auto own = all.w[static_cast<std::size_t>(j)];
      const Z w(own.real(), left ? -static_cast<double>(own.imag()) : static_cast<double>(own.imag()));
      double rest = 0.0;
      double length = 0.0;
      for (int i = 0; i < n; ++i) {
        Z sum = -w * x[static_cast<std::size_t>(i)];
        for (int k = 0; k < n; ++k) {
          sum += (left ? Kokkos::conj(wide(A(k, i))) : wide(A(i, k))) * x[static_cast<std::size_t>(k)];
        }
        const double by = left ? factor(i) : 1.0 / factor(i);
        rest += std::pow(size(sum) * by, 2);
        length += std::pow(size(x[static_cast<std::size_t>(i)]) * by, 2);
      }
      if (!(length > 0.0)) return std::numeric_limits<double>::infinity();
      if (whole > 0.0) most = std::max(most, std::sqrt(rest) / (whole * std::sqrt(length)));
    }
    return most;
  }

  void check(const Dense<T>& A, const std::string& what, const std::vector<int>& D = {}) {
    const int n = A.columns;
    const Spectrum all = solve(A);
    ASSERT_EQ(all.info, 0) << what;
    const double bound = 6.0 * (n + 4) * unit();
    EXPECT_LE(departure(A, all, false, D), bound) << what << ", n = " << n;
    EXPECT_LE(departure(A, all, true, D), bound) << what << ", n = " << n << ", left";
    // All of them: their sum, and that of their squares.
    Z sum(0.0), squares(0.0), trace(0.0), of_square(0.0);
    for (int j = 0; j < n; ++j) {
      const Z w(all.w[static_cast<std::size_t>(j)].real(), all.w[static_cast<std::size_t>(j)].imag());
      sum += w;
      squares += w * w;
      trace += wide(A(j, j));
      for (int i = 0; i < n; ++i) of_square += wide(A(i, j)) * wide(A(j, i));
    }
    if (D.empty()) {
      EXPECT_LE(size(sum - trace), bound * std::sqrt(n) * norm(A)) << what;
      EXPECT_LE(size(squares - of_square), 2.0 * bound * std::sqrt(n) * norm(A) * norm(A)) << what;
    }
    // Conjugate pairs and lengths.
    for (int j = 0; j < n; ++j) {
      const auto w = all.w[static_cast<std::size_t>(j)];
      if (!is_complex<T> && w.imag() > 0) {
        ASSERT_LT(j + 1, n);
        EXPECT_EQ(all.w[static_cast<std::size_t>(j + 1)], Kokkos::conj(w)) << what;
      }
      for (const Dense<T>* const V : {&all.left, &all.right}) {
        const std::vector<Z> x = vector(*V, all.w, j);
        double length = 0.0;
        bool real = false;
        double most = 0.0;
        for (const Z& one : x) most = std::max(most, size(one));
        for (const Z& one : x) {
          length += size(one) * size(one);
          real = real || (one.imag() == 0.0 && size(one) >= most * (1.0 - 8.0 * unit()));
        }
        EXPECT_NEAR(length, 1.0, 16.0 * n * unit()) << what;
        EXPECT_TRUE(real) << what;
      }
    }
    // The same bits whatever is wanted.
    EXPECT_EQ(solve(A, false, false).w, all.w) << what;
    EXPECT_TRUE(same_bits(solve(A, false, true).right, all.right)) << what;
    EXPECT_TRUE(same_bits(solve(A, true, false).left, all.left)) << what;
  }

  std::mt19937 engine_{41};
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(General, Types);

TYPED_TEST(General, RandomMatrices) {
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 10, 33, 64, 65, 120}) {
    for (int number = 0; number < (n < 12 ? 40 : 2); ++number) this->check(this->random(n), "random");
  }
}

TYPED_TEST(General, SmallIntegers) {
  using T = TypeParam;
  // Blocks of all kinds: zeros, alike eigenvalues, defective ones.
  for (int number = 0; number < 400; ++number) {
    const int n = 2 + number % 5;
    Dense<T> A(n, n);
    for (T& a : A.all) {
      const auto part = [&] { return static_cast<Real<T>>(static_cast<int>(this->engine_() % 3) - 1); };
      const Real<T> re = part();
      if constexpr (is_complex<T>) {
        a = T(re, part());
      } else {
        a = re;
      }
    }
    this->check(A, "integers " + std::to_string(number));
  }
}

TYPED_TEST(General, HardMatrices) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int n : {2, 3, 8, 40}) {
    Dense<T> A(n, n);
    this->check(A, "zero");
    this->check(identity<T>(n), "identity");
    for (int i = 0; i < n; ++i) A((i + 1) % n, i) = T{1};
    this->check(A, "cycle");
    A(0, n - 1) = T{0};
    this->check(A, "nilpotent");
    for (int i = 0; i < n; ++i) A(i, i) = T{3};
    this->check(A, "Jordan");
    A = this->random(n);
    for (int j = 0; j < n; ++j) {
      for (int i = j + 1; i < n; ++i) A(i, j) = T{0};
    }
    this->check(A, "triangular");
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n / 2; ++i) std::swap(A(i, j), A(n - 1 - i, j));
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n / 2; ++j) std::swap(A(i, j), A(i, n - 1 - j));
    }
    this->check(A, "triangular the other way");
    // Toeplitz matrices far from normal ones (J. F. Grcar, 1989).
    A = Dense<T>(n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) A(i, j) = T(R(i == j + 1 ? -1 : i <= j && j <= i + 3 ? 1 : 0));
    }
    this->check(A, "Grcar");
    // Symmetric: all real.
    A = this->random(n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i <= j; ++i) A(i, j) = i == j ? T(real_of<R>(A(i, i))) : conjugate(A(j, i));
    }
    this->check(A, "Hermitian");
    for (const auto& w : this->solve(A).w) EXPECT_LE(std::abs(w.imag()), 8.0 * n * this->unit() * norm(A));
    // One column and row of zeros in the middle, and blocks that are not connected.
    A = this->random(n);
    for (int i = 0; i < n; ++i) A(i, n / 2) = A(n / 2, i) = T{0};
    this->check(A, "row and column of zeros");
    A = this->random(n);
    for (int j = 0; j < n / 2; ++j) {
      for (int i = n / 2; i < n; ++i) A(i, j) = A(j, i) = T{0};
    }
    this->check(A, "two blocks");
    A = this->random(n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) A(i, j) = A(i, j) * static_cast<R>(std::ldexp(1.0, -i - j));
    }
    this->check(A, "graded");
  }
}

TYPED_TEST(General, BadlyScaledMatricesAreBalanced) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int n : {5, 50}) {
    Dense<T> A = this->random(n);
    std::vector<int> D(static_cast<std::size_t>(n));
    for (int& d : D) d = static_cast<int>(this->engine_() % 30) - 15;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        A(i, j) =
            A(i, j) * static_cast<R>(std::ldexp(1.0, D[static_cast<std::size_t>(i)] - D[static_cast<std::size_t>(j)]));
      }
    }
    this->check(A, "badly scaled", D);
  }
}

TYPED_TEST(General, ScaleIsOfNoConsequence) {
  using T = TypeParam;
  using R = Real<T>;
  const Dense<T> A = this->random(30);
  const auto all = this->solve(A);
  constexpr int most = std::numeric_limits<R>::max_exponent;
  for (const int exponent : {most - 9, 12 - most, 40, -40}) {
    const auto other = this->solve(scaled_matrix(A, exponent));
    ASSERT_EQ(other.info, 0);
    EXPECT_TRUE(same_bits(other.right, all.right)) << exponent;
    for (std::size_t i = 0; i < all.w.size(); ++i) {
      EXPECT_EQ(other.w[i].real(), std::scalbn(all.w[i].real(), exponent));
      EXPECT_EQ(other.w[i].imag(), std::scalbn(all.w[i].imag(), exponent));
    }
  }
}

TYPED_TEST(General, WhatIsNoNumberEndsAtOnce) {
  using T = TypeParam;
  using R = Real<T>;
  for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
    Dense<T> A = this->random(150);
    A(77, 3) = T(bad);
    const auto all = this->solve(A);
    EXPECT_EQ(all.info, 150);
    EXPECT_TRUE(std::isnan(all.w[0].real()));
    EXPECT_TRUE(std::isnan(real_of<double>(all.right(5, 5))));
  }
}

TYPED_TEST(General, HessenbergFormsBelongToTheMatrix) {
  using T = TypeParam;
  const std::string prefix{letter<T>};
  for (const auto& [n, low, high] : {std::tuple{1, 1, 1}, {6, 1, 6}, {70, 1, 70}, {40, 5, 33}, {8, 4, 4}}) {
    Dense<T> A = this->random(n);
    for (int j = 0; j < n; ++j) {
      for (int i = j + 1; i < n; ++i) {
        if (j < low - 1 || i >= high) A(i, j) = T{0};
      }
    }
    Dense<T> H = A;
    std::vector<T> tau(static_cast<std::size_t>(n));
    std::vector<T> work(static_cast<std::size_t>(n));
    int info = 77;
    call(blas_function<Routine>(prefix + "gehrd_"),
         {&n, &low, &high, H.all.data(), &H.leading, tau.data(), work.data(), &n, &info});
    ASSERT_EQ(info, 0);
    Dense<T> Q = H;
    call(blas_function<Routine>(prefix + (is_complex<T> ? "unghr_" : "orghr_")),
         {&n, &low, &high, Q.all.data(), &Q.leading, tau.data(), work.data(), &n, &info});
    ASSERT_EQ(info, 0);
    Dense<T> AQ(n, n);
    Dense<T> QH(n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (i > j + 1) H(i, j) = T{0};
      }
    }
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) AQ(i, j) += A(i, k) * Q(k, j);
      }
    }
    Dense<T> unit_columns(n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) unit_columns(i, j) = Q(i, j);
    }
    EXPECT_LE(residual(AQ, unit_columns, false, H), 8.0 * n * this->unit() * norm(A)) << n << low << high;
    EXPECT_LE(residual(identity<T>(n), unit_columns, true, unit_columns), 8.0 * n * this->unit());
  }
}

TYPED_TEST(General, SchurFormsBelongToTheMatrix) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int n : {1, 2, 3, 30, 90}) {
    for (const int exponent : {0, std::numeric_limits<R>::max_exponent - 12}) {
      Dense<T> A = this->random(n);
      // Rows and columns that balancing moves.
      for (int i = 0; n > 2 && i < n; ++i) {
        if (i != 1) A(1, i) = T{0};
      }
      A = scaled_matrix(A, exponent);
      for (const char* const job : {"V", "N"}) {
        Dense<T> S = A;
        Dense<T> V(n, n);
        std::vector<R> re(static_cast<std::size_t>(2 * n));
        std::vector<R> im(static_cast<std::size_t>(n));
        std::vector<T> work(static_cast<std::size_t>(3 * n));
        std::vector<R> reals(static_cast<std::size_t>(n));
        const int length = 3 * n;
        int sorted = 77;
        int info = 77;
        Arguments arguments = {job, "N", nullptr, &n, S.all.data(), &S.leading, &sorted, re.data()};
        if (!is_complex<T>) arguments.push_back(im.data());
        arguments.insert(arguments.end(), {V.all.data(), &n, work.data(), &length});
        if (is_complex<T>) arguments.push_back(reals.data());
        arguments.insert(arguments.end(), {nullptr, &info});
        call(blas_function<Routine>(std::string{letter<T>} + "gees_"), arguments);
        ASSERT_EQ(info, 0);
        EXPECT_EQ(sorted, 0);
        for (int j = 0; j < n; ++j) {
          for (int i = j + 1; i < n; ++i) {
            const bool block = !is_complex<T> && i == j + 1 && im[static_cast<std::size_t>(j)] > R{0};
            if (block) continue;
            EXPECT_EQ(S(i, j), T{0}) << i << " " << j;
          }
          if (is_complex<T>) {
            EXPECT_EQ(real_of<R>(S(j, j)), re[static_cast<std::size_t>(2 * j)]);
          } else {
            EXPECT_EQ(real_of<R>(S(j, j)), re[static_cast<std::size_t>(j)]);
          }
        }
        if (*job == 'N') continue;
        const Dense<T> down = scaled_matrix(A, -exponent);
        const Dense<T> form = scaled_matrix(S, -exponent);
        Dense<T> AV(n, n);
        for (int j = 0; j < n; ++j) {
          for (int i = 0; i < n; ++i) {
            for (int k = 0; k < n; ++k) AV(i, j) += down(i, k) * V(k, j);
          }
        }
        EXPECT_LE(residual(AV, V, false, form), 8.0 * n * this->unit() * norm(down)) << n;
        EXPECT_LE(residual(identity<T>(n), V, true, V), 8.0 * n * this->unit()) << n;
      }
    }
  }
}

TYPED_TEST(General, WrongArgumentsAreNamed) {
  using T = TypeParam;
  const int n = 3;
  const int few = 2;
  const int length = 100;
  std::vector<T> A(9);
  std::vector<Real<T>> re(6);
  std::vector<Real<T>> im(3);
  std::vector<T> work(100);
  std::vector<Real<T>> reals(100);
  const auto info_of = [&](const char* left, const char* right, const int* leading, const int* leading_l,
                           const int* leading_r, const int* room) {
    int info = 77;
    Arguments all = {left, right, &n, A.data(), leading, re.data()};
    if (!is_complex<T>) all.push_back(im.data());
    all.insert(all.end(), {A.data(), leading_l, A.data(), leading_r, work.data(), room});
    if (is_complex<T>) all.push_back(reals.data());
    all.push_back(&info);
    call(blas_function<Routine>(std::string{letter<T>} + "geev_"), all);
    return info;
  };
  const int last = is_complex<T> ? 12 : 13;
  EXPECT_EQ(info_of("Q", "V", &n, &n, &n, &length), -1);
  EXPECT_EQ(info_of("V", "Q", &n, &n, &n, &length), -2);
  EXPECT_EQ(info_of("V", "V", &few, &n, &n, &length), -5);
  EXPECT_EQ(info_of("V", "V", &n, &few, &n, &length), 4 - last);
  EXPECT_EQ(info_of("V", "V", &n, &n, &few, &length), 2 - last);
  EXPECT_EQ(info_of("V", "V", &n, &n, &n, &few), -last);
}

// The bits that every machine has.
TYPED_TEST(General, BitsAreThoseOfAnyMachine) {
  using T = TypeParam;
  const auto all = this->solve(fixed_matrix<T>(250, 250));
  ASSERT_EQ(all.info, 0);
  const std::uint64_t hash = hash_of(all.right.all, hash_of(first_rows(all.left, 250).all, hash_of(all.w)));
  const std::map<char, std::uint64_t> expected = {
      {'s', 0x3034a5f9e1d8e02fU}, {'d', 0x9bdc27bfee340fd9U}, {'c', 0x15145b610f74f521U}, {'z', 0x799de28701eaff93U}};
  EXPECT_EQ(hash, expected.at(letter<T>)) << std::hex << hash;
}

}  // namespace
}  // namespace heddle::test::general_test
