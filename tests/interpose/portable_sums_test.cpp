// Sums of BLAS 1 and 2 where the processor has no vectors for placed sums: the same numbers.
#include "interpose/hard_numbers.hpp"
#include "interpose/placed.hpp"
#include "interpose/vectors.hpp"

namespace heddle::test {
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

}  // namespace
}  // namespace heddle::test
