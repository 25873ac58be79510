// Eigenproblems of pairs of matrices, and parts of spectra, by LAPACK's names.
#include "interpose/dense.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace heddle::test::generalised_test {
namespace {

// The longest of LAPACK's routines have 24 arguments, all of them addresses.
void call_of_24(const std::string& name, Arguments a) {
  using P = const void*;
  using Function = void(P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P);
  a.resize(24, nullptr);
  blas_function<Function>(name)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                                a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23]);
}

template <class T> class Generalised : public testing::Test {
 protected:
  static std::string name(const std::string& end) {
    return std::string{letter<T>} + (is_complex<T> ? "he" : "sy") + end + "_";
  }
  static double unit() { return static_cast<double>(unit_roundoff<T>); }

  Dense<T> hermitian(int n) { return random_hermitian<T>(engine_, n); }
  // Diagonally dominant, rows and columns graded by powers of two.
  Dense<T> definite(int n, int spread) {
    Dense<T> B = hermitian(n);
    for (int i = 0; i < n; ++i) B(i, i) = T(static_cast<Real<T>>(n + 1) + real_of<Real<T>>(B(i, i)));
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        const int exponent = n > 1 ? -(spread * i / (n - 1)) - spread * j / (n - 1) : 0;
        B(i, j) = B(i, j) * static_cast<Real<T>>(std::ldexp(1.0, exponent));
      }
    }
    return B;
  }
  // Fill the triangle that must not be read with NaN.
  static void spoil(Dense<T>& A, bool lower) {
    for (int j = 0; j < A.columns; ++j) {
      for (int i = 0; i < A.rows; ++i) {
        if (lower ? i < j : i > j) A(i, j) = T(std::numeric_limits<Real<T>>::quiet_NaN());
      }
    }
  }
  struct Solved {
    int info = 77;
    std::vector<Real<T>> w;
    Dense<T> V;
    Dense<T> factor;
  };
  Solved solve(const std::string& end, int type, const char* job, bool lower, const Dense<T>& A, const Dense<T>& B) {
    const int n = A.columns;
    Solved solved{77, std::vector<Real<T>>(static_cast<std::size_t>(n)), A, B};
    spoil(solved.V, lower);
    spoil(solved.factor, lower);
    T numbers[1];
    Real<T> reals[1];
    int integers[1];
    const auto run = [&](T* work, int length, Real<T>* more, int more_length, int* whole, int whole_length) {
      Arguments all = {&type,
                       job,
                       lower ? "L" : "U",
                       &n,
                       solved.V.all.data(),
                       &solved.V.leading,
                       solved.factor.all.data(),
                       &solved.factor.leading,
                       solved.w.data(),
                       work,
                       &length};
      if (end == "gvd") {
        if (is_complex<T>) all.insert(all.end(), {more, &more_length});
        all.insert(all.end(), {whole, &whole_length});
      } else if (is_complex<T>) {
        all.push_back(more);
      }
      all.push_back(&solved.info);
      call_of_24(name(end), all);
    };
    run(numbers, -1, reals, -1, integers, -1);
    EXPECT_EQ(solved.info, 0);
    const auto length = static_cast<int>(real_of<double>(numbers[0]));
    const int more = end == "gvd" && is_complex<T> ? static_cast<int>(reals[0]) : 3 * n + 1;
    const int whole = end == "gvd" ? integers[0] : 1;
    std::vector<T> work(static_cast<std::size_t>(length));
    std::vector<Real<T>> rest(static_cast<std::size_t>(more));
    std::vector<int> some(static_cast<std::size_t>(whole));
    run(work.data(), length, rest.data(), more, some.data(), whole);
    return solved;
  }
  // |P V - Q V W| / (|P| |V|): P, Q of the problem's type.
  static double departure(int type, const Dense<T>& A, const Dense<T>& B, const Solved& solved) {
    const int n = A.columns;
    const auto product = [&](const Dense<T>& X, const Dense<T>& Y) {
      Dense<T> Z(n, n);
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          T sum{};
          for (int k = 0; k < n; ++k) sum += X(i, k) * Y(k, j);
          Z(i, j) = sum;
        }
      }
      return Z;
    };
    const Dense<T>& V = solved.V;
    const Dense<T> left = type == 1 ? product(A, V) : type == 2 ? product(A, product(B, V)) : product(B, product(A, V));
    const Dense<T> right = type == 1 ? product(B, V) : V;
    Dense<T> rest(n, n);
    double most = 0.0;
    for (int j = 0; j < n; ++j) {
      const Real<T> w = solved.w[static_cast<std::size_t>(j)];
      most = std::max(most, std::abs(static_cast<double>(w)));
      for (int i = 0; i < n; ++i) rest(i, j) = left(i, j) - right(i, j) * w;
    }
    const double sizes = type == 1 ? norm(A) + most * norm(B) : norm(A) * norm(B) + most;
    return norm(rest) / (sizes * norm(V));
  }

  std::mt19937 engine_{31};
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Generalised, Types);

TYPED_TEST(Generalised, PairsOfEveryType) {
  using T = TypeParam;
  for (const int n : {1, 2, 5, 40, 64, 65, 130}) {
    const Dense<T> A = this->hermitian(n);
    const Dense<T> B = this->definite(n, 3);
    for (const int type : {1, 2, 3}) {
      for (const bool lower : {false, true}) {
        const auto solved = this->solve("gv", type, "V", lower, A, B);
        ASSERT_EQ(solved.info, 0);
        EXPECT_TRUE(std::is_sorted(solved.w.begin(), solved.w.end()));
        EXPECT_LE(this->departure(type, A, B, solved), 8.0 * n * this->unit()) << n << ", type " << type;
        // V^H B V = I, or with B^-1: L^H V of types 1 and 2, L^-1 V of type 3, has orthonormal columns.
        Dense<T> turned = solved.V;
        const T one{1};
        const char* const adjoint = is_complex<T> ? "C" : "T";
        const char* const op = lower == (type != 3) ? adjoint : "N";
        const std::string routine = std::string{letter<T>} + (type == 3 ? "trsm_" : "trmm_");
        call(blas_function<Routine>(routine), {"L", lower ? "L" : "U", op, "N", &n, &n, &one, solved.factor.all.data(),
                                               &solved.factor.leading, turned.all.data(), &turned.leading});
        EXPECT_LE(residual(identity<T>(n), turned, true, turned), 16.0 * n * this->unit()) << n << ", type " << type;
        // Without vectors, and by the other name: the same bits.
        EXPECT_EQ(this->solve("gv", type, "N", lower, A, B).w, solved.w);
        const auto divided = this->solve("gvd", type, "V", lower, A, B);
        EXPECT_EQ(divided.info, 0);
        EXPECT_EQ(divided.w, solved.w);
        EXPECT_TRUE(same_bits(divided.V, solved.V));
      }
    }
  }
}

TYPED_TEST(Generalised, EigenvaluesOfGradedPairsAreThoseOfTheFactors) {
  using T = TypeParam;
  using R = Real<T>;
  // A = B has nothing but ones, whatever B is.
  const int n = 70;
  const Dense<T> B = this->definite(n, 12);
  for (const bool lower : {false, true}) {
    const auto solved = this->solve("gvd", 1, "V", lower, B, B);
    ASSERT_EQ(solved.info, 0);
    for (const R w : solved.w) EXPECT_NEAR(w, 1.0, 32.0 * n * this->unit());
  }
}

TYPED_TEST(Generalised, WhatIsNotDefiniteIsSaid) {
  using T = TypeParam;
  const int n = 90;
  const Dense<T> A = this->hermitian(n);
  Dense<T> B = this->definite(n, 0);
  B(71, 71) = T{-1};
  for (const char* const end : {"gv", "gvd"}) {
    EXPECT_EQ(this->solve(end, 1, "V", true, A, B).info, n + 72);
    EXPECT_EQ(this->solve(end, 2, "N", false, A, B).info, n + 72);
  }
}

TYPED_TEST(Generalised, PartsOfSpectra) {
  using T = TypeParam;
  using R = Real<T>;
  const int n = 50;
  const Dense<T> A = this->hermitian(n);
  const Dense<T> B = this->definite(n, 2);
  const auto whole = this->solve("gv", 1, "V", false, A, B);
  Dense<T> own = A;
  for (const bool pair : {true, false}) {
    std::vector<R> all = whole.w;
    Dense<T> V = whole.V;
    const auto some = [&](const char* range, R least, R most, int first, int last, std::vector<R>& w, Dense<T>& Z) {
      Dense<T> left = A;
      Dense<T> right = B;
      const int type = 1;
      const R zero{0};
      int found = -1;
      int info = 77;
      const int length = 8 * n;
      std::vector<T> work(static_cast<std::size_t>(length));
      std::vector<R> reals(static_cast<std::size_t>(7 * n));
      std::vector<int> integers(static_cast<std::size_t>(5 * n));
      std::vector<int> failed(static_cast<std::size_t>(n), -7);
      Arguments arguments;
      if (pair) arguments.push_back(&type);
      arguments.insert(arguments.end(), {"V", range, "U", &n, left.all.data(), &left.leading});
      if (pair) arguments.insert(arguments.end(), {right.all.data(), &right.leading});
      arguments.insert(arguments.end(), {&least, &most, &first, &last, &zero, &found, w.data(), Z.all.data(),
                                         &Z.leading, work.data(), &length});
      if (is_complex<T>) arguments.push_back(reals.data());
      arguments.insert(arguments.end(), {integers.data(), failed.data(), &info});
      call_of_24(this->name(pair ? "gvx" : "evx"), arguments);
      EXPECT_EQ(info, 0);
      EXPECT_EQ(std::count(failed.begin(), failed.end(), 0), found);
      return found;
    };
    std::vector<R> w(static_cast<std::size_t>(n));
    Dense<T> Z(n, n);
    ASSERT_EQ(some("A", R(0), R(0), 0, 0, w, Z), n);
    if (!pair) {
      // One matrix: reference values from the routine that has been tested against residuals.
      own = A;
      std::vector<R> values(w.size());
      std::vector<T> work(static_cast<std::size_t>(3 * n));
      std::vector<R> reals(work.size());
      const int length = 3 * n;
      int info = 77;
      Arguments arguments = {"V", "U", &n, own.all.data(), &own.leading, values.data(), work.data(), &length};
      if (is_complex<T>) arguments.push_back(reals.data());
      arguments.push_back(&info);
      call(blas_function<Routine>(this->name("ev")), arguments);
      ASSERT_EQ(info, 0);
      all = values;
      V = own;
    }
    EXPECT_EQ(w, all);
    for (int j = 0; j < n; ++j) ASSERT_EQ(std::memcmp(&Z(0, j), &V(0, j), sizeof(T) * n), 0) << pair << j;
    const auto at = [&](int k) { return all[static_cast<std::size_t>(k)]; };
    ASSERT_EQ(some("I", R(0), R(0), 4, 9, w, Z), 6);
    EXPECT_EQ(std::vector<R>(w.begin(), w.begin() + 6), std::vector<R>(all.begin() + 3, all.begin() + 9));
    EXPECT_EQ(std::memcmp(&Z(0, 5), &V(0, 8), sizeof(T) * n), 0);
    ASSERT_EQ(some("V", at(10), at(13), 0, 0, w, Z), 3);
    EXPECT_EQ(w[0], at(11));
    EXPECT_EQ(std::memcmp(&Z(0, 2), &V(0, 13), sizeof(T) * n), 0);
    ASSERT_EQ(some("V", at(n - 1), at(n - 1) + R(1), 0, 0, w, Z), 0);
  }
}

// sygst() alone: the eigenvalues of what it leaves are those of the pair, and it writes one triangle.
TYPED_TEST(Generalised, ReducedMatricesHaveTheSpectrum) {
  using T = TypeParam;
  const int n = 33;
  const Dense<T> A = this->hermitian(n);
  const Dense<T> B = this->definite(n, 1);
  for (const int type : {1, 2, 3}) {
    for (const bool lower : {false, true}) {
      const char* const triangle = lower ? "L" : "U";
      const auto solved = this->solve("gv", type, "N", lower, A, B);
      Dense<T> reduced = A;
      this->spoil(reduced, lower);
      int info = 77;
      call(blas_function<Routine>(this->name("gst")), {&type, triangle, &n, reduced.all.data(), &reduced.leading,
                                                       solved.factor.all.data(), &solved.factor.leading, &info});
      ASSERT_EQ(info, 0);
      EXPECT_TRUE(std::isnan(real_of<double>(lower ? reduced(0, n - 1) : reduced(n - 1, 0))));
      std::vector<Real<T>> w(static_cast<std::size_t>(n));
      std::vector<T> work(static_cast<std::size_t>(3 * n));
      std::vector<Real<T>> reals(work.size());
      const int length = 3 * n;
      Arguments arguments = {"N", triangle, &n, reduced.all.data(), &reduced.leading, w.data(), work.data(), &length};
      if (is_complex<T>) arguments.push_back(reals.data());
      arguments.push_back(&info);
      call(blas_function<Routine>(this->name("ev")), arguments);
      EXPECT_EQ(w, solved.w);
    }
  }
}

TYPED_TEST(Generalised, WrongArgumentsAreNamed) {
  using T = TypeParam;
  const int n = 3;
  const int few = 2;
  const int none = 0;
  const int type = 1;
  const int four = 4;
  const int length = 100;
  std::vector<T> A(9);
  std::vector<Real<T>> w(3);
  std::vector<T> work(100);
  std::vector<Real<T>> reals(100);
  const auto info_of = [&](const int* kind, const char* job, const char* triangle, const int* order, const int* leading,
                           const int* room) {
    int info = 77;
    Arguments all = {kind, job, triangle, order, A.data(), leading, A.data(), &n, w.data(), work.data(), room};
    if (is_complex<T>) all.push_back(reals.data());
    all.push_back(&info);
    call(blas_function<Routine>(this->name("gv")), all);
    return info;
  };
  EXPECT_EQ(info_of(&none, "V", "U", &n, &n, &length), -1);
  EXPECT_EQ(info_of(&four, "V", "U", &n, &n, &length), -1);
  EXPECT_EQ(info_of(&type, "X", "U", &n, &n, &length), -2);
  EXPECT_EQ(info_of(&type, "V", "Q", &n, &n, &length), -3);
  EXPECT_EQ(info_of(&type, "V", "U", &n, &few, &length), -6);
  EXPECT_EQ(info_of(&type, "V", "U", &n, &n, &few), -11);
}

// The bits that every machine has.
TYPED_TEST(Generalised, BitsAreThoseOfAnyMachine) {
  using T = TypeParam;
  const int n = 120;
  Dense<T> A = fixed_matrix<T>(n, n);
  Dense<T> B(n, n);
  for (int j = 0; j < n; ++j) {
    A(j, j) = T(real_of<Real<T>>(A(j, j)));
    for (int i = 0; i < n; ++i) {
      if (i > j) A(i, j) = conjugate(A(j, i));
      B(i, j) = i == j ? T(Real<T>(n)) : A(i, j) * Real<T>(0.5);
    }
  }
  const auto solved = this->solve("gvd", 1, "V", true, A, B);
  ASSERT_EQ(solved.info, 0);
  const std::uint64_t hash = hash_of(first_rows(solved.V, n).all, hash_of(solved.w));
  const std::map<char, std::uint64_t> expected = {
      {'s', 0xe386ff0359cc2444U}, {'d', 0xeee4c5746d30e6e9U}, {'c', 0xc9d943eaa11d6db8U}, {'z', 0xd5dadde8fffeb28cU}};
  EXPECT_EQ(hash, expected.at(letter<T>)) << std::hex << hash;
}

}  // namespace
}  // namespace heddle::test::generalised_test
