// QR factorizations and eigenproblems by LAPACK's names: what they promise, and the same bits for any number of
// threads.
#include "interpose/dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

namespace heddle::test::decompositions_test {
namespace {

template <class T> class Decompositions : public testing::Test {
 protected:
  Dense<T> random(int m, int n, int more = 0) {
    Dense<T> A(m, n, more);
    A.all = random_numbers<T>(engine_, static_cast<Index>(A.all.size()));
    return A;
  }
  Dense<T> hermitian(int n) { return random_hermitian<T>(engine_, n); }
  static std::string name(const std::string& real, const std::string& complex) {
    return letter<T> + (is_complex<T> ? complex : real) + "_";
  }
  static double unit() { return static_cast<double>(unit_roundoff<T>); }

  // A's vectors, and the eigenvalues.
  std::vector<Real<T>> eigenvalues(Dense<T>& A, const char* job, const char* triangle) {
    std::vector<Real<T>> w(static_cast<std::size_t>(A.columns));
    int info = 77;
    const int n = A.columns;
    std::vector<T> work(static_cast<std::size_t>(3 * n + 1));
    std::vector<Real<T>> reals(work.size());
    const int length = static_cast<int>(work.size());
    if (is_complex<T>) {
      call(blas_function<Routine>(name("syev", "heev")),
           {job, triangle, &n, A.all.data(), &A.leading, w.data(), work.data(), &length, reals.data(), &info});
    } else {
      call(blas_function<Routine>(name("syev", "heev")),
           {job, triangle, &n, A.all.data(), &A.leading, w.data(), work.data(), &length, &info});
    }
    EXPECT_EQ(info, 0);
    return w;
  }
  void check(const Dense<T>& A, const Dense<T>& V, const std::vector<Real<T>>& w) {
    const int n = A.columns;
    Dense<T> scaled = V;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) scaled(i, j) = V(i, j) * w[static_cast<std::size_t>(j)];
    }
    const double bound = 8.0 * n * unit();
    EXPECT_LE(residual(scaled, A, false, V), bound * norm(A));
    EXPECT_LE(residual(identity<T>(n), V, true, V), bound * std::sqrt(n));
    EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
  }

  std::mt19937 engine_{23};
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Decompositions, Types);

TYPED_TEST(Decompositions, OfRectangles) {
  using T = TypeParam;
  const char* const none = "N";
  const char* const adjoint = is_complex<T> ? "C" : "T";
  for (const auto& [m, n] :
       {std::pair{1, 1}, {5, 3}, {3, 5}, {32, 32}, {33, 33}, {100, 70}, {70, 100}, {130, 40}, {40, 1}}) {
    const Dense<T> A = this->random(m, n, 2);
    const int order = std::min(m, n);
    Dense<T> QR = A;
    std::vector<T> tau(static_cast<std::size_t>(order));
    std::vector<T> work(static_cast<std::size_t>(std::max(m, n)));
    const int length = std::max(m, n);
    int info = 77;
    call(blas_function<Routine>(this->name("geqrf", "geqrf")),
         {&m, &n, QR.all.data(), &QR.leading, tau.data(), work.data(), &length, &info});
    ASSERT_EQ(info, 0);
    Dense<T> U(order, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i <= std::min(j, order - 1); ++i) U(i, j) = QR(i, j);
    }
    for (int i = 0; i < order; ++i) EXPECT_EQ(imaginary_of<double>(U(i, i)), 0.0);
    Dense<T> Q(m, order);
    for (int j = 0; j < order; ++j) {
      for (int i = 0; i < m; ++i) Q(i, j) = QR(i, j);
    }
    call(blas_function<Routine>(this->name("orgqr", "ungqr")),
         {&m, &order, &order, Q.all.data(), &Q.leading, tau.data(), work.data(), &length, &info});
    ASSERT_EQ(info, 0);
    const double bound = 8.0 * std::max(m, n) * this->unit();
    const double whole = norm(A);
    EXPECT_LE(residual(A, Q, false, U), bound * whole) << m << " x " << n;
    EXPECT_LE(residual(identity<T>(order), Q, true, Q), bound * std::sqrt(order));
    // Q^H A is R; and from the right, (Q^H A)^H = A^H Q.
    Dense<T> turned = A;
    call(blas_function<Routine>(this->name("ormqr", "unmqr")),
         {"L", adjoint, &m, &n, &order, QR.all.data(), &QR.leading, tau.data(), turned.all.data(), &turned.leading,
          work.data(), &length, &info});
    ASSERT_EQ(info, 0);
    Dense<T> flipped(n, m);
    for (int j = 0; j < m; ++j) {
      for (int i = 0; i < n; ++i) flipped(i, j) = conjugate(A(j, i));
    }
    call(blas_function<Routine>(this->name("ormqr", "unmqr")),
         {"R", none, &n, &m, &order, QR.all.data(), &QR.leading, tau.data(), flipped.all.data(), &flipped.leading,
          work.data(), &length, &info});
    ASSERT_EQ(info, 0);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        const T wanted = i < order ? U(i, j) : T{0};
        EXPECT_LE(size(turned(i, j) - wanted), bound * whole);
        EXPECT_LE(size(conjugate(flipped(j, i)) - wanted), bound * whole);
      }
    }
    // And back.
    call(blas_function<Routine>(this->name("ormqr", "unmqr")),
         {"L", none, &m, &n, &order, QR.all.data(), &QR.leading, tau.data(), turned.all.data(), &turned.leading,
          work.data(), &length, &info});
    call(blas_function<Routine>(this->name("ormqr", "unmqr")),
         {"R", adjoint, &n, &m, &order, QR.all.data(), &QR.leading, tau.data(), flipped.all.data(), &flipped.leading,
          work.data(), &length, &info});
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        EXPECT_LE(size(turned(i, j) - A(i, j)), 2.0 * bound * whole);
        EXPECT_LE(size(conjugate(flipped(j, i)) - A(i, j)), 2.0 * bound * whole);
      }
    }
  }
}

TYPED_TEST(Decompositions, OfColumnsThatAreZeroHugeAndTiny) {
  using T = TypeParam;
  using R = Real<T>;
  for (const R scale : {std::numeric_limits<R>::max() / R(64), std::numeric_limits<R>::min() * R(64), R(0)}) {
    const int m = 6;
    const int n = 3;
    Dense<T> A = this->random(m, n);
    for (T& a : A.all) a *= scale;
    Dense<T> QR = A;
    std::vector<T> tau(3);
    std::vector<T> work(3);
    int info = 77;
    call(blas_function<Routine>(this->name("geqrf", "geqrf")),
         {&m, &n, QR.all.data(), &m, tau.data(), work.data(), &n, &info});
    double first = 0.0;
    for (int i = 0; i < m; ++i)
      first = std::hypot(first, size(A(i, 0)) / (scale > R(0) ? static_cast<double>(scale) : 1.0));
    EXPECT_NEAR(size(QR(0, 0)) / (scale > R(0) ? static_cast<double>(scale) : 1.0), first, 100.0 * this->unit());
    for (const T& t : tau) EXPECT_LE(size(t), 2.0 + 1e-5);
  }
}

TYPED_TEST(Decompositions, OfHermitianMatrices) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int n : {0, 1, 2, 3, 10, 33, 70}) {
    for (const char* const triangle : {"L", "U"}) {
      Dense<T> A = this->hermitian(n);
      Dense<T> V = A;
      // The other triangle is not read.
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          if (*triangle == 'L' ? i < j : i > j) V(i, j) = T(std::numeric_limits<R>::quiet_NaN());
        }
      }
      Dense<T> alone = V;
      const auto w = this->eigenvalues(V, "V", triangle);
      this->check(A, V, w);
      EXPECT_EQ(this->eigenvalues(alone, "N", triangle), w);
    }
  }
}

TYPED_TEST(Decompositions, OfHardHermitianMatrices) {
  using T = TypeParam;
  using R = Real<T>;
  const int n = 24;
  // Equal eigenvalues, blocks, zeros, and sizes at both ends.
  std::vector<Dense<T>> all;
  all.push_back(identity<T>(n));
  all.emplace_back(n, n);
  Dense<T> blocks(n, n);
  for (int i = 0; i + 1 < n; i += 2) blocks(i, i + 1) = blocks(i + 1, i) = T{1};
  all.push_back(blocks);
  Dense<T> ones(n, n);
  std::fill(ones.all.begin(), ones.all.end(), T{1});
  all.push_back(ones);
  for (const R scale : {std::numeric_limits<R>::max() / R(512), std::numeric_limits<R>::min() * R(512)}) {
    Dense<T> A = this->hermitian(n);
    for (T& a : A.all) a *= scale;
    all.push_back(A);
  }
  Dense<T> graded = this->hermitian(n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) graded(i, j) *= std::ldexp(R(1), -(i + j));
  }
  all.push_back(graded);
  for (const Dense<T>& A : all) {
    SCOPED_TRACE(&A - all.data());
    Dense<T> V = A;
    const auto w = this->eigenvalues(V, "V", "L");
    R largest{0};
    for (const R value : w) largest = std::max(largest, std::abs(value));
    // Scaled, so that the check itself neither overflows nor loses what it looks for.
    const int exponent = largest > R(0) ? std::ilogb(largest) : 0;
    Dense<T> scaled = A;
    for (T& a : scaled.all) {
      if constexpr (is_complex<T>) {
        a = T(std::scalbn(a.real(), -exponent), std::scalbn(a.imag(), -exponent));
      } else {
        a = std::scalbn(a, -exponent);
      }
    }
    std::vector<R> values = w;
    for (R& value : values) value = std::scalbn(value, -exponent);
    this->check(scaled, V, values);
  }
}

// Reflectors that leave positive elements may have vectors far longer than 1.
TYPED_TEST(Decompositions, LongVectorsOfReflectorsAreApplied) {
  using T = TypeParam;
  using R = Real<T>;
  const int n = 40;
  const int count = 36;
  Dense<T> V = this->random(n, n);
  std::vector<T> tau(static_cast<std::size_t>(count));
  for (int j = 0; j < count; ++j) {
    // Reflector scaled by 2^(j / 2), with tau = 2 / |v|^2.
    double square = 1.0;
    for (int i = j + 1; i < n; ++i) {
      V(i, j) = V(i, j) * static_cast<R>(std::ldexp(1.0, j / 2));
      square += size(V(i, j)) * size(V(i, j));
    }
    tau[static_cast<std::size_t>(j)] = T(static_cast<R>(2.0 / square));
  }
  std::vector<T> work(static_cast<std::size_t>(n));
  int info = 77;
  for (const char* const side : {"L", "R"}) {
    Dense<T> Q = identity<T>(n);
    call(blas_function<Routine>(this->name("ormqr", "unmqr")),
         {side, "N", &n, &n, &count, V.all.data(), &V.leading, tau.data(), Q.all.data(), &Q.leading, work.data(), &n,
          &info});
    ASSERT_EQ(info, 0);
    EXPECT_LE(residual(identity<T>(n), Q, true, Q), 8.0 * n * this->unit()) << side;
    // The reflectors, applied one by one.
    Dense<T> expected = identity<T>(n);
    for (int j = count; j-- > 0;) {
      for (int c = 0; c < n; ++c) {
        Kokkos::complex<double> sum(real_of<double>(expected(j, c)), imaginary_of<double>(expected(j, c)));
        const auto wide = [](const T& x) {
          return Kokkos::complex<double>(real_of<double>(x), imaginary_of<double>(x));
        };
        for (int i = j + 1; i < n; ++i) sum += Kokkos::conj(wide(V(i, j))) * wide(expected(i, c));
        sum *= real_of<double>(tau[static_cast<std::size_t>(j)]);
        for (int i = j; i < n; ++i) {
          const auto rest = wide(expected(i, c)) - (i == j ? sum : wide(V(i, j)) * sum);
          if constexpr (is_complex<T>) {
            expected(i, c) = T(static_cast<R>(rest.real()), static_cast<R>(rest.imag()));
          } else {
            expected(i, c) = static_cast<R>(rest.real());
          }
        }
      }
    }
    EXPECT_LE(residual(Q, expected, false, identity<T>(n)), 16.0 * n * this->unit()) << side;
  }
}

TYPED_TEST(Decompositions, OfWhatIsNoNumberEnd) {
  using T = TypeParam;
  using R = Real<T>;
  const int n = 5;
  Dense<T> A = this->hermitian(n);
  A(2, 1) = T(std::numeric_limits<R>::quiet_NaN());
  std::vector<R> w(5);
  std::vector<T> work(30);
  std::vector<R> reals(30);
  const int length = 30;
  int info = 77;
  if (is_complex<T>) {
    call(blas_function<Routine>(this->name("syev", "heev")),
         {"V", "L", &n, A.all.data(), &A.leading, w.data(), work.data(), &length, reals.data(), &info});
  } else {
    call(blas_function<Routine>(this->name("syev", "heev")),
         {"V", "L", &n, A.all.data(), &A.leading, w.data(), work.data(), &length, &info});
  }
  EXPECT_NE(info, 77);
}

// The bits that every machine has: those of instructions for a product and a sum in one are others.
TYPED_TEST(Decompositions, BitsOfSpectraAreThoseOfAnyMachine) {
  using T = TypeParam;
  Dense<T> A = fixed_matrix<T>(150, 150);
  const auto w = this->eigenvalues(A, "V", "L");
  const std::uint64_t hash = hash_of(A.all, hash_of(w));
  const std::map<char, std::uint64_t> expected = {
      {'s', 0x1d43d1f24c930ee4U}, {'d', 0x501c7854225a14edU}, {'c', 0xb591e60440b21177U}, {'z', 0x22288ad7249a2e0eU}};
  EXPECT_EQ(hash, expected.at(letter<T>)) << std::hex << hash;
}

// By the other names, which have the same bits.
TYPED_TEST(Decompositions, HaveOneSetOfBitsByAllNames) {
  using T = TypeParam;
  using R = Real<T>;
  const int n = 300;  // Threads take parts of the vectors.
  const Dense<T> A = this->hermitian(n);
  Dense<T> V = A;
  const auto w = this->eigenvalues(V, "V", "L");
  Dense<T> by_other = A;
  std::vector<R> values(w.size());
  T numbers[1];
  R reals[1];
  int integers[1];
  const int asked = -1;
  int info = 77;
  const auto divide = [&](T* work, const int* length, R* more, const int* more_length, int* whole,
                          const int* whole_length) {
    Arguments arguments = {"V", "L", &n, by_other.all.data(), &by_other.leading, values.data(), work, length};
    if (is_complex<T>) arguments.insert(arguments.end(), {more, more_length});
    arguments.insert(arguments.end(), {whole, whole_length, &info});
    call(blas_function<Routine>(this->name("syevd", "heevd")), arguments);
  };
  divide(numbers, &asked, reals, &asked, integers, &asked);
  ASSERT_EQ(info, 0);
  EXPECT_GE(integers[0], 3 + 5 * n);
  const auto length = static_cast<int>(real_of<double>(numbers[0]));
  const auto more = is_complex<T> ? static_cast<int>(reals[0]) : 1;
  std::vector<T> work(static_cast<std::size_t>(length));
  std::vector<R> rest(static_cast<std::size_t>(more));
  std::vector<int> whole(static_cast<std::size_t>(integers[0]));
  divide(work.data(), &length, rest.data(), &more, whole.data(), integers);
  ASSERT_EQ(info, 0);
  EXPECT_EQ(values, w);
  EXPECT_EQ(std::memcmp(by_other.all.data(), V.all.data(), V.all.size() * sizeof(T)), 0);

  // Some of them.
  const auto some = [&](const char* range, R least, R most, int first, int last) {
    Dense<T> B = A;
    Dense<T> Z(n, n);
    std::vector<R> found_values(static_cast<std::size_t>(n));
    std::vector<int> support(static_cast<std::size_t>(2 * n), -7);
    std::vector<T> space(static_cast<std::size_t>(26 * n));
    std::vector<R> real_space(static_cast<std::size_t>(24 * n));
    std::vector<int> integer_space(static_cast<std::size_t>(10 * n));
    const int a = 26 * n;
    const int b = 24 * n;
    const int c = 10 * n;
    const R zero{0};
    int found = -1;
    const void* all[] = {"V",
                         range,
                         "U",
                         &n,
                         B.all.data(),
                         &B.leading,
                         &least,
                         &most,
                         &first,
                         &last,
                         &zero,
                         &found,
                         found_values.data(),
                         Z.all.data(),
                         &n,
                         support.data(),
                         space.data(),
                         &a,
                         real_space.data(),
                         &b,
                         integer_space.data(),
                         &c,
                         &info};
    using P = const void*;
    if (is_complex<T>) {
      using Complex = void(P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P);
      blas_function<Complex>(this->name("syevr", "heevr"))(
          all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8], all[9], all[10], all[11], all[12],
          all[13], all[14], all[15], all[16], all[17], all[18], all[19], all[20], all[21], all[22]);
    } else {
      using Reals = void(P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P);
      blas_function<Reals>(this->name("syevr", "heevr"))(all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7],
                                                         all[8], all[9], all[10], all[11], all[12], all[13], all[14],
                                                         all[15], all[16], all[17], all[20], all[21], all[22]);
    }
    EXPECT_EQ(info, 0);
    // The array may have no room for the support of a part of the spectrum.
    EXPECT_EQ(support[0], *range == 'A' ? 1 : -7);
    found_values.resize(static_cast<std::size_t>(std::max(found, 0)));
    return found_values;
  };
  EXPECT_EQ(some("A", R(0), R(0), 0, 0), w);
  EXPECT_EQ(some("I", R(0), R(0), 3, 9), std::vector<R>(w.begin() + 2, w.begin() + 9));
  EXPECT_EQ(some("V", w[4], w[10], 0, 0), std::vector<R>(w.begin() + 5, w.begin() + 11));
}

}  // namespace
}  // namespace heddle::test::decompositions_test
