// Products of matrices in host memory: by the device in slabs, and by threads alone, with the bits of EmulatedGemm.
#include "interpose/device/slabs.hpp"

#include "interpose/blas/product.hpp"
#include "interpose/device/copies.hpp"
#include "interpose/library.hpp"
#include "interpose/placed/placed_product.hpp"
#include "interpose/placed/placed_wide_x86.hpp"
#include <heddle/emulation/emulation.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace heddle::test::slabs_test {
namespace {

using impl::interpose::HostCopies;
using impl::interpose::Product;

template <class T> class Slabs : public testing::Test {};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Slabs, Types);

// How far exponents spread, which is what the number of moduli follows from, and the way to integers of more bits.
struct Kind {
  int spread;    // Exponents are within [-spread, 0].
  int zeros;     // Of a hundred elements.
  bool special;  // Some are infinite or no numbers.
};
constexpr Kind kinds[] = {{0, 0, false},    {30, 0, false},   {60, 60, false}, {90, 90, false},
                          {120, 95, false}, {400, 97, false}, {3, 0, true}};

template <class T> struct Case {
  Operation op_a;
  Operation op_b;
  Index m, n, k, leading_a, leading_b, leading_c;
  T alpha;
  T beta;
  std::vector<T> A, B, C;

  Case(std::mt19937& engine, const Kind& kind, Index most) {
    const auto index = [&](Index least, Index last) {
      return std::uniform_int_distribution<Index>(least, last)(engine);
    };
    const auto part = [&] {
      using R = Real<T>;
      if (index(0, 99) < kind.zeros) return R{0};
      if (kind.special && index(0, 999) == 0) return std::numeric_limits<R>::infinity();
      const double x = std::uniform_real_distribution<double>(-1.0, 1.0)(engine);
      return static_cast<R>(std::ldexp(x, -static_cast<int>(index(0, kind.spread))));
    };
    const auto numbers = [&](Index count) {
      std::vector<T> all(static_cast<std::size_t>(count));
      for (T& x : all) {
        if constexpr (is_complex<T>) {
          const Real<T> re = part();
          x = T(re, part());
        } else {
          x = part();
        }
      }
      return all;
    };
    op_a = static_cast<Operation>(index(0, is_complex<T> ? 2 : 1));
    op_b = static_cast<Operation>(index(0, is_complex<T> ? 2 : 1));
    m = index(1, most);
    n = index(1, most);
    k = index(1, most);
    leading_a = (op_a == Operation::none ? m : k) + index(0, 3);
    leading_b = (op_b == Operation::none ? k : n) + index(0, 3);
    leading_c = m + index(0, 3);
    alpha = index(0, 1) == 0 ? T{1} : random_number<T>(engine);
    beta = index(0, 1) == 0 ? T{0} : random_number<T>(engine);
    A = numbers(leading_a * (op_a == Operation::none ? k : m));
    B = numbers(leading_b * (op_b == Operation::none ? n : k));
    C = random_numbers<T>(engine, leading_c * n);
  }

  [[nodiscard]] Product<T> product(std::vector<T>& result) const {
    return {op_a, op_b, m, n, k, alpha, A.data(), leading_a, B.data(), leading_b, beta, result.data(), leading_c};
  }
  // By EmulatedGemm; which way it took.
  EmulationReport expect(std::vector<T>& result) const {
    const ExecutionSpace space;
    const auto copied = [&](const std::vector<T>& from, Index rows, Index columns, Index leading) {
      Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> to("heddle::test", static_cast<std::size_t>(rows),
                                                            static_cast<std::size_t>(columns));
      const auto host = Kokkos::create_mirror_view(to);
      for (Index j = 0; j < columns; ++j) {
        for (Index i = 0; i < rows; ++i) host(i, j) = from[static_cast<std::size_t>(i + j * leading)];
      }
      Kokkos::deep_copy(to, host);
      return to;
    };
    const bool plain_a = op_a == Operation::none;
    const bool plain_b = op_b == Operation::none;
    const auto left = copied(A, plain_a ? m : k, plain_a ? k : m, leading_a);
    const auto right = copied(B, plain_b ? k : n, plain_b ? n : k, leading_b);
    const auto target = copied(C, m, n, leading_c);
    EmulatedGemm<T> gemm(space, m, n, k);
    gemm(op_a, op_b, alpha, left, right, beta, target);
    space.fence();
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, target);
    result = C;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) result[static_cast<std::size_t>(i + j * leading_c)] = host(i, j);
    }
    return gemm.report();
  }
};

template <class R> bool same_number(R x, R y) {
  return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof(R)) == 0;
}
template <class T> bool same(const std::vector<T>& one, const std::vector<T>& other) {
  for (std::size_t e = 0; e < one.size(); ++e) {
    if (!same_number(real_of<Real<T>>(one[e]), real_of<Real<T>>(other[e])) ||
        !same_number(imaginary_of<Real<T>>(one[e]), imaginary_of<Real<T>>(other[e]))) {
      return false;
    }
  }
  return true;
}

TYPED_TEST(Slabs, HaveTheBitsOfTheWholeProduct) {
  using T = TypeParam;
  std::mt19937 engine(5);
  const blas::Context context{ExecutionSpace()};
  // Pieces that cut columns, and that take several.
  HostCopies narrow(3, 256);
  HostCopies wide(2, 4096);
  int exact = 0;
  int more = 0;
  int in_parts = 0;
  for (int number = 0; number < 35; ++number) {
    const Case<T> one(engine, kinds[number % 7], 90);
    std::vector<T> expected;
    const EmulationReport report = one.expect(expected);
    exact += report.fallback ? 1 : 0;
    more += report.moduli > emulation_moduli<T>(one.k) ? 1 : 0;
    for (const double memory : {1e12, 3e6, 6e5}) {
      std::vector<T> result = one.C;
      const bool done = multiply_in_slabs(context, number % 2 == 0 ? narrow : wide, one.product(result), memory);
      ASSERT_TRUE(done || memory < 1e10);
      in_parts += memory < 1e10 && done ? 1 : 0;
      ASSERT_TRUE(same(result, done ? expected : one.C)) << number << ", " << memory << " bytes";
    }
  }
  EXPECT_GT(more, 0);
  EXPECT_GT(exact, 0);
  EXPECT_GT(in_parts, 20);
}

TYPED_TEST(Slabs, WithoutADeviceHaveThemToo) {
  using T = TypeParam;
  std::mt19937 engine(6);
  int exact = 0;
  int more = 0;
  for (int number = 0; number < 140; ++number) {
    const Case<T> one(engine, kinds[number % 7], number < 130 ? 40 : 100);
    std::vector<T> expected;
    const EmulationReport report = one.expect(expected);
    exact += report.fallback ? 1 : 0;
    more += report.moduli > 17 ? 1 : 0;  // Integers of more than 64 bits.
    for (const int threads : {1, 3}) {
      std::vector<T> result = one.C;
      multiply_on_host(one.product(result), threads);
      ASSERT_TRUE(same(result, expected)) << number << ", " << threads << " threads";
    }
  }
  EXPECT_GT(more, 0);
  EXPECT_GT(exact, 0);
}

// By the vectors of this processor; compiled once more with narrow ones alone.
TYPED_TEST(Slabs, AreSumsInDoublesToo) {
  using T = TypeParam;
  if (!impl::interpose::has_placed_sums()) GTEST_SKIP() << "this processor has no vectors for them";
#ifdef HEDDLE_NARROW_VECTORS
  ASSERT_FALSE(impl::interpose::has_wide_vectors());
#endif
  std::mt19937 engine(8);
  int done = 0;
  for (int number = 0; number < 350; ++number) {
    const Case<T> one(engine, kinds[number % 7], number % 50 == 0 ? 300 : number < 200 ? 20 : 70);
    std::vector<T> expected;
    one.expect(expected);
    for (const int threads : {1, 3}) {
      std::vector<T> result = one.C;
      if (!impl::interpose::multiply_placed(one.product(result), threads)) continue;
      ++done;
      ASSERT_TRUE(same(result, expected)) << number << ", " << threads << " threads";
    }
  }
  // Those whose exponents spread little, at least.
  EXPECT_GE(done, 100);
}

TYPED_TEST(Slabs, OfOneElementAndOfLongSums) {
  using T = TypeParam;
  std::mt19937 engine(7);
  const blas::Context context{ExecutionSpace()};
  HostCopies copies(1, 1024);
  for (const Index k : {1, 64, 65, 5000}) {
    Case<T> one(engine, kinds[1], 1);
    one.k = k;
    one.leading_a = one.op_a == Operation::none ? 1 : k;
    one.leading_b = one.op_b == Operation::none ? k : 1;
    one.A = random_numbers<T>(engine, k);
    one.B = random_numbers<T>(engine, k);
    std::vector<T> expected;
    one.expect(expected);
    std::vector<T> result = one.C;
    ASSERT_TRUE(multiply_in_slabs(context, copies, one.product(result), 1e12));
    EXPECT_TRUE(same(result, expected)) << k;
    // Too little for any.
    EXPECT_FALSE(multiply_in_slabs(context, copies, one.product(result), 10.0));
  }
}

}  // namespace
}  // namespace heddle::test::slabs_test
