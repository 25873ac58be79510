// Sums of BLAS 1 and 2 where the processor has no vectors for placed sums: the same numbers.
#include "interpose/blas/product.hpp"
#include "interpose/blas/vectors.hpp"
#include "interpose/hard_numbers.hpp"
#include "interpose/placed/placed.hpp"

namespace heddle::test::portable_sums_test {
namespace {

template <class T> class PortableSums : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PortableSums, Types);

TYPED_TEST(PortableSums, AreExactOnesRoundedOnce) {
  using T = TypeParam;
  ASSERT_FALSE(impl::interpose::has_placed_sums());
  HardNumbers<T> draw(18);
  for (const Hard kind : every_kind) {
    for (int number = 0; number < 200; ++number) {
      const int m = draw.pick(1, 70);
      const int n = number % 50 == 0 ? 1100 : draw.pick(1, 100);
      const std::vector<T> A = draw.numbers(kind, Index{m} * n);
      std::vector<T> x;
      std::vector<T> y;
      draw.pair(kind, n, x, y);
      const auto at = [](const std::vector<T>& all, Index k) { return all[static_cast<std::size_t>(k)]; };
      const T dot = impl::interpose::dot<T>(false, n, x.data(), 1, y.data(), 1);
      const T expected = exact_sum<T>(
          n, [&](Index k) { return at(x, k); }, [&](Index k) { return at(y, k); });
      ASSERT_TRUE(same_bits(dot, expected)) << "kind " << static_cast<int>(kind) << ", n = " << n;
      std::vector<T> product(static_cast<std::size_t>(m));
      impl::interpose::gemv<T>({}, m, n, T{1}, A.data(), m, x.data(), 1, T{0}, product.data(), 1);
      for (Index i = 0; i < m; ++i) {
        const T row = exact_sum<T>(
            n, [&](Index k) { return at(A, i + k * m); }, [&](Index k) { return at(x, k); });
        ASSERT_TRUE(same_bits(at(product, i), row)) << "kind " << static_cast<int>(kind) << ", row " << i;
      }
    }
  }
}

// Numbers of a kind, of both parts of complex ones.
template <Scalar T> std::vector<T> numbers_of(HardNumbers<Real<T>>& draw, Hard kind, Index count) {
  std::vector<T> all;
  for (Index k = 0; k < count; ++k) {
    if constexpr (is_complex<T>) {
      const Real<T> re = draw.number(kind, k);
      all.push_back(T(re, draw.number(kind, k)));
    } else {
      all.push_back(draw.number(kind, k));
    }
  }
  return all;
}

template <class T> class PortableProducts : public testing::Test {};
using EveryType = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(PortableProducts, EveryType);

TYPED_TEST(PortableProducts, AreThoseOfTheLibrarysVectors) {
  using T = TypeParam;
  using R = Real<T>;
  const std::string name = std::string(1, letter<T>) + "gemm_";
  Routine* const gemm = blas_function<Routine>(name);
  HardNumbers<R> draw(19);
  const int shapes[][3] = {{1, 1, 9},    {9, 17, 1},  {40, 33, 3},  {30, 30, 4}, {20, 20, 16},
                           {5, 40, 100}, {24, 7, 65}, {3, 5, 1100}, {8, 8, 2},   {64, 48, 5}};
  for (const Hard kind : every_kind) {
    for (const auto& [m, n, k] : shapes) {
      for (const bool turned : {false, true}) {
        const std::vector<T> A = numbers_of<T>(draw, kind, Index{m} * k);
        const std::vector<T> B = numbers_of<T>(draw, kind, Index{k} * n);
        std::vector<T> expected(static_cast<std::size_t>(m * n));
        std::vector<T> C(expected.size());
        const int leading = turned ? k : m;
        impl::interpose::multiply_on_host<T>(
            {turned ? impl::interpose::adjoint_of<T> : Operation::none, Operation::none, m, n, k, T{1}, A.data(),
             leading, B.data(), k, T{0}, expected.data(), m},
            1);
        const T one{1};
        const T zero{0};
        call(gemm, {turned ? "C" : "N", "N", &m, &n, &k, &one, A.data(), &leading, B.data(), &k, &zero, C.data(), &m});
        const auto* const left = reinterpret_cast<const R*>(C.data());
        const auto* const right = reinterpret_cast<const R*>(expected.data());
        for (std::size_t e = 0; e < C.size() * (sizeof(T) / sizeof(R)); ++e) {
          ASSERT_TRUE(same_bits(left[e], right[e]))
              << "kind " << static_cast<int>(kind) << ", " << m << " x " << n << " x " << k << ", number " << e << ": "
              << left[e] << " instead of " << right[e];
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::test::portable_sums_test
