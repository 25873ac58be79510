// dgemm_ and its relations: the bits of EmulatedGemm on any path, and the special cases of the reference BLAS.
#include "interpose/library.hpp"
#include <heddle/emulation/emulation.hpp>
#include <heddle/exact/matrix.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

namespace heddle::test::gemm_test {
namespace {

template <class T, class I>
using FortranGemm = void(const char*, const char*, const I*, const I*, const I*, const T*, const T*, const I*, const T*,
                         const I*, const T*, T*, const I*);

template <class T> class InterposedGemm : public testing::Test {};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(InterposedGemm, Types);

template <class T> std::string name_of(const std::string& routine) {
  return letter<T> + routine;
}

// Kind of the elements of a case.
enum class Kind { uniform, sparse, graded, extreme, integers, special };

template <class T> class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  Index index(Index least, Index most) { return std::uniform_int_distribution<Index>(least, most)(engine_); }
  T number(Kind kind) {
    if constexpr (is_complex<T>) {
      const auto re = real<Real<T>>(kind);
      return T(re, real<Real<T>>(kind));
    } else {
      return real<T>(kind);
    }
  }
  std::vector<T> numbers(Kind kind, Index count) {
    std::vector<T> all(static_cast<std::size_t>(count));
    for (T& x : all) x = number(kind);
    return all;
  }

 private:
  template <class R> R real(Kind kind) {
    const double x = std::uniform_real_distribution<double>(-1.0, 1.0)(engine_);
    const auto chance = static_cast<int>(index(0, 99));
    constexpr int widest = sizeof(R) == 8 ? 300 : 30;
    switch (kind) {
      case Kind::uniform:
        return static_cast<R>(x);
      case Kind::sparse:
        return chance < 70 ? R{0} : static_cast<R>(x);
      case Kind::graded:
        return static_cast<R>(std::ldexp(x, static_cast<int>(index(-40, 0))));
      case Kind::extreme:
        return static_cast<R>(std::ldexp(x, static_cast<int>(index(-4 * widest, 3 * widest))));
      case Kind::integers:
        return static_cast<R>(std::floor(1000.0 * x));
      default:
        return chance < 3   ? std::numeric_limits<R>::infinity()
               : chance < 5 ? std::numeric_limits<R>::quiet_NaN()
                            : static_cast<R>(x);
    }
  }
  std::mt19937 engine_;
};

// Whether they are the same, but for the bits of NaNs.
template <class T> bool same(T x, T y) {
  if constexpr (is_complex<T>) {
    return same(x.real(), y.real()) && same(x.imag(), y.imag());
  } else {
    return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof(T)) == 0;
  }
}

constexpr const char* letters = "NTC";

template <class T> struct Case {
  Operation op_a;
  Operation op_b;
  Index m, n, k, leading_a, leading_b, leading_c;
  T alpha;
  T beta;
  std::vector<T> A, B, C;

  Case(Draw<T>& draw, Kind kind, Index most) {
    op_a = static_cast<Operation>(draw.index(0, is_complex<T> ? 2 : 1));
    op_b = static_cast<Operation>(draw.index(0, is_complex<T> ? 2 : 1));
    m = draw.index(1, most);
    n = draw.index(1, most);
    k = draw.index(1, most);
    leading_a = (op_a == Operation::none ? m : k) + draw.index(0, 3);
    leading_b = (op_b == Operation::none ? k : n) + draw.index(0, 3);
    leading_c = m + draw.index(0, 3);
    const auto factor = [&] {
      const Index choice = draw.index(0, 3);
      return choice == 0 ? T{0} : choice == 1 ? T{1} : choice == 2 ? T{-1} : draw.number(Kind::uniform);
    };
    alpha = factor();
    beta = factor();
    A = draw.numbers(kind, leading_a * (op_a == Operation::none ? k : m));
    B = draw.numbers(kind, leading_b * (op_b == Operation::none ? n : k));
    C = draw.numbers(kind == Kind::special ? Kind::special : Kind::uniform, leading_c * n);
  }

  template <class I> std::vector<T> interposed(const std::string& name) const {
    std::vector<T> result = C;
    const I sizes[] = {static_cast<I>(m), static_cast<I>(n), static_cast<I>(k)};
    const I leading[] = {static_cast<I>(leading_a), static_cast<I>(leading_b), static_cast<I>(leading_c)};
    blas_function<FortranGemm<T, I>>(name)(letters + static_cast<int>(op_a), letters + static_cast<int>(op_b), sizes,
                                           sizes + 1, sizes + 2, &alpha, A.data(), leading, B.data(), leading + 1,
                                           &beta, result.data(), leading + 2);
    return result;
  }
  std::vector<T> emulated() const {
    if (alpha == T{0} && beta == T{1}) return C;
    return computed([&](const auto& left, const auto& right, const auto& result) {
      EmulatedGemm<T>(ExecutionSpace(), m, n, k)(op_a, op_b, alpha, left, right, beta, result);
    });
  }
  std::vector<T> exact() const {
    return computed([&](const auto& left, const auto& right, const auto& result) {
      heddle::exact::gemm(ExecutionSpace(), op_a, op_b, alpha, left, right, beta, result);
    });
  }
  // Return C after compute(A, B, C), in memory that kernels reach.
  template <class Compute> std::vector<T> computed(const Compute& compute) const {
    const Elements a = copy_of(A);
    const Elements b = copy_of(B);
    const Elements c = copy_of(C);
    const bool plain_a = op_a == Operation::none;
    const bool plain_b = op_b == Operation::none;
    compute(matrix<const T>(a, plain_a ? m : k, plain_a ? k : m, leading_a),
            matrix<const T>(b, plain_b ? k : n, plain_b ? n : k, leading_b), matrix<T>(c, m, n, leading_c));
    Kokkos::fence();
    std::vector<T> result(C.size());
    Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace>(result.data(), result.size()), c);
    return result;
  }
  using Elements = Kokkos::View<T*, MemorySpace>;
  static Elements copy_of(const std::vector<T>& x) {
    const Elements copy("heddle::test::copy", x.size());
    Kokkos::deep_copy(copy, Kokkos::View<const T*, Kokkos::HostSpace>(x.data(), x.size()));
    return copy;
  }
  template <class U> static MatrixView<U> matrix(const Elements& data, Index rows, Index columns, Index leading) {
    return MatrixView<U>(data.data(),
                         Kokkos::LayoutStride(static_cast<std::size_t>(rows), 1, static_cast<std::size_t>(columns),
                                              static_cast<std::size_t>(leading)));
  }
  std::string said() const {
    return std::string(1, letters[static_cast<int>(op_a)]) + letters[static_cast<int>(op_b)] + " " + std::to_string(m) +
           " x " + std::to_string(n) + ", inner " + std::to_string(k);
  }
};

template <class T> void expect_same(const std::vector<T>& x, const std::vector<T>& y, const std::string& what) {
  ASSERT_EQ(x.size(), y.size());
  for (std::size_t e = 0; e < x.size(); ++e) ASSERT_TRUE(same(x[e], y[e])) << what << ", element " << e;
}

// Elements whose sums overflow or fall below the normal numbers, before alpha brings them back, are rounded once from
// their exact values.
template <class T> void expect_same_or_exact(const Case<T>& one, const std::string& what) {
  using R = Real<T>;
  const std::vector<T> found = one.template interposed<int>(name_of<T>("gemm_"));
  const std::vector<T> emulated = one.emulated();
  Case<T> alone = one;
  alone.alpha = T{1};
  alone.beta = T{0};
  const std::vector<T> sums = alone.emulated();
  const std::vector<T> exactly = one.exact();
  const auto is_ordinary = [](R x) { return std::isfinite(x) && std::abs(x) >= std::numeric_limits<R>::min(); };
  for (std::size_t e = 0; e < found.size(); ++e) {
    const bool ordinary = is_ordinary(real_of<R>(sums[e])) && (!is_complex<T> || is_ordinary(imaginary_of<R>(sums[e])));
    ASSERT_TRUE(same(found[e], emulated[e]) || (!ordinary && same(found[e], exactly[e]))) << what << ", element " << e;
  }
}

TYPED_TEST(InterposedGemm, HasTheBitsOfEmulatedProducts) {
  using T = TypeParam;
  Draw<T> draw(7);
  for (const Kind kind : {Kind::uniform, Kind::sparse, Kind::graded, Kind::extreme, Kind::integers, Kind::special}) {
    for (int number = 0; number < 200; ++number) {
      const Case<T> one(draw, kind, number < 150 ? 9 : 40);
      const std::string what = "kind " + std::to_string(static_cast<int>(kind)) + ", " + one.said();
      if (kind == Kind::extreme) {
        expect_same_or_exact(one, what);
      } else {
        expect_same(one.template interposed<int>(name_of<T>("gemm_")), one.emulated(), what);
      }
    }
  }
}

TYPED_TEST(InterposedGemm, HasThemInLargeProducts) {
  using T = TypeParam;
  Draw<T> draw(8);
  for (const Kind kind : {Kind::graded, Kind::uniform, Kind::integers, Kind::special}) {
    for (int number = 0; number < 4; ++number) {
      const Case<T> one(draw, kind, 300);
      expect_same(one.template interposed<int>(name_of<T>("gemm_")), one.emulated(), one.said());
    }
  }
}

// Rows and columns whose products cancel, to zero or to ties, or have signs alone: elements that sums of doubles leave
// open.
TYPED_TEST(InterposedGemm, HasThemWhereProductsCancel) {
  using T = TypeParam;
  Draw<T> draw(12);
  for (int number = 0; number < 60; ++number) {
    Case<T> one(draw, number % 3 == 0 ? Kind::uniform : Kind::integers, number % 10 == 0 ? 200 : 24);
    one.op_a = one.op_b = Operation::none;
    one.k += one.k % 2;
    one.leading_a = one.m;
    one.leading_b = one.k;
    one.A = draw.numbers(Kind::uniform, one.m * one.k);
    one.B = draw.numbers(Kind::uniform, one.k * one.n);
    const bool signs = number % 3 == 1;
    for (Index k = 0; k < one.k; ++k) {
      for (Index i = 0; i < one.m; ++i) {
        T& a = one.A[static_cast<std::size_t>(i + k * one.m)];
        if (signs) a = real_of<double>(a) < 0 ? T{-1} : T{1};
        if (!signs && k % 2 != 0) a = one.A[static_cast<std::size_t>(i + (k - 1) * one.m)];
      }
      for (Index j = 0; j < one.n; ++j) {
        T& b = one.B[static_cast<std::size_t>(k + j * one.k)];
        if (signs) b = real_of<double>(b) < 0 ? T{-1} : T{1};
        const Index other = (k + j) % 5 == 0 ? 1 : 2;  // Not all of them cancel.
        if (!signs && k % 2 != 0 && other == 2) b = -one.B[static_cast<std::size_t>(k - 1 + j * one.k)];
      }
    }
    expect_same(one.template interposed<int>(name_of<T>("gemm_")), one.emulated(), one.said());
  }
}

TYPED_TEST(InterposedGemm, IsTheSameByEveryName) {
  using T = TypeParam;
  Draw<T> draw(9);
  const Case<T> one(draw, Kind::uniform, 20);
  const std::vector<T> expected = one.template interposed<int>(name_of<T>("gemm_"));
  const std::string stem = name_of<T>("gemm_");
  expect_same(one.template interposed<int>("scipy_" + stem), expected, "scipy_gemm_");
  expect_same(one.template interposed<std::int64_t>(stem + "64_"), expected, "gemm_64_");
  expect_same(one.template interposed<std::int64_t>("scipy_" + stem + "64_"), expected, "scipy_gemm_64_");
}

TEST(InterposedCblas, TakesMatricesByRows) {
  using Cblas =
      void(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);
  const double A[] = {1, 2, 3, 4, 5, 6};  // 2 x 3
  const double B[] = {1, 0, 2, 1, 0, 3};  // 3 x 2
  double C[] = {1, 1, 1, 1};
  blas_function<Cblas>("cblas_dgemm")(101, 111, 111, 2, 2, 3, 2.0, A, 3, B, 2, 1.0, C, 2);
  EXPECT_EQ(C[0], 11.0);  // 2 (1 + 4) + 1
  EXPECT_EQ(C[1], 23.0);  // 2 (2 + 9) + 1
  EXPECT_EQ(C[2], 29.0);  // 2 (4 + 10) + 1
  EXPECT_EQ(C[3], 47.0);  // 2 (5 + 18) + 1
}

TEST(InterposedCblas, TakesComplexMatricesByColumns) {
  using Z = Kokkos::complex<double>;
  using Cblas = void(int, int, int, std::int64_t, std::int64_t, std::int64_t, const void*, const void*, std::int64_t,
                     const void*, std::int64_t, const void*, void*, std::int64_t);
  const Z alpha(0, 1);
  const Z beta(0, 0);
  const Z A[] = {Z(1, 2), Z(3, 4)};  // 2 x 1, conjugated and transposed
  const Z B[] = {Z(5, 6), Z(7, 8)};
  Z C(std::nan(""), 0);
  blas_function<Cblas>("scipy_cblas_zgemm64_")(102, 113, 111, 1, 1, 2, &alpha, A, 2, B, 2, &beta, &C, 1);
  // (1 - 2i)(5 + 6i) + (3 - 4i)(7 + 8i) = 17 - 4i + 53 - 4i
  EXPECT_EQ(C, Z(8, 70));
}

TEST(InterposedGemm, ReadsWhatTheReferenceReads) {
  const auto gemm = blas_function<FortranGemm<double, int>>("dgemm_");
  const double nan = std::nan("");
  const int two = 2;
  const int none = 0;
  const double zero = 0.0;
  const double one = 1.0;
  const std::vector<double> bad(4, nan);
  std::vector<double> C(4, nan);
  // beta = 0: C is not read; alpha = 0: nor are A and B.
  gemm("N", "N", &two, &two, &two, &zero, bad.data(), &two, bad.data(), &two, &zero, C.data(), &two);
  EXPECT_EQ(C, std::vector<double>(4, 0.0));
  C = {1, 2, 3, 4};
  gemm("N", "N", &two, &two, &none, &one, nullptr, &two, nullptr, &two, &one, C.data(), &two);
  EXPECT_EQ(C, (std::vector<double>{1, 2, 3, 4}));
  gemm("N", "N", &none, &two, &two, &one, bad.data(), &two, bad.data(), &two, &zero, nullptr, &two);
  // A factor may be C.
  gemm("N", "N", &two, &two, &two, &one, C.data(), &two, C.data(), &two, &zero, C.data(), &two);
  EXPECT_EQ(C, (std::vector<double>{7, 10, 15, 22}));
}

TEST(InterposedGemm, TakesCallsOfSeveralThreads) {
  Draw<double> draw(10);
  std::vector<Case<double>> cases;
  std::vector<std::vector<double>> expected;
  for (int number = 0; number < 8; ++number) {
    cases.emplace_back(draw, Kind::uniform, number % 2 == 0 ? 20 : 150);
    expected.push_back(cases.back().interposed<int>("dgemm_"));
  }
  std::vector<int> different(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < different.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t turn = 0; turn < 3 * cases.size(); ++turn) {
        const std::size_t which = (turn + t) % cases.size();
        const std::vector<double> found = cases[which].interposed<int>("dgemm_");
        different[t] += std::memcmp(found.data(), expected[which].data(), found.size() * sizeof(double)) != 0 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace heddle::test::gemm_test
