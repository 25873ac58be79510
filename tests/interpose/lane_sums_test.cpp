// Sums that advance together, as the panels of an LU and substitution have them: what they say is known is right.
#include "interpose/hard_numbers.hpp"
#include "interpose/lapack/reduced.hpp"
#include "interpose/placed/placed.hpp"

#include <algorithm>

namespace heddle::test::lane_sums_test {
namespace {

using impl::interpose::LaneSums;

double largest(const double* x, Index count, Index stride) {
  double most = 0.0;
  for (Index k = 0; k < count; ++k) most = std::max(most, std::abs(x[k * stride]));
  return most;
}

template <RealScalar T> void compare_with_exact_sums() {
  if (!impl::interpose::has_placed_sums()) GTEST_SKIP() << "this processor has no vectors for them";
  constexpr Index lanes = LaneSums::lanes;
  HardNumbers<T> draw(sizeof(T));
  const auto widened = [&](Hard kind, Index count) {
    const std::vector<T> drawn = draw.numbers(kind, count);
    return std::vector<double>(drawn.begin(), drawn.end());
  };
  for (const Hard kind : every_kind) {
    Index known = 0;
    Index all = 0;
    for (int number = 0; number < 300; ++number) {
      const Index count = draw.pick(0, number % 30 == 0 ? 700 : 60);
      const Index stride = lanes + draw.pick(0, 3);
      std::vector<double> vectors = widened(kind, std::max<Index>(count, 1) * stride);
      std::vector<double> factors = widened(kind, std::max<Index>(count, 1));
      const std::vector<double> start = widened(kind, lanes);
      if (kind == Hard::cancelling || kind == Hard::ties) {
        for (Index k = 0; k + 1 < count; k += 2) {
          factors[static_cast<std::size_t>(k + 1)] = -factors[static_cast<std::size_t>(k)];
          std::copy_n(vectors.begin() + k * stride, stride, vectors.begin() + (k + 1) * stride);
        }
      }
      double most[lanes];
      for (Index l = 0; l < lanes; ++l) most[l] = largest(vectors.data() + l, count, stride);
      const LaneSums sums{
          vectors.data(), stride, factors.data(), count, start.data(), most, largest(factors.data(), count, 1),
          sizeof(T) == 4};
      double result[lanes];
      const unsigned sure = impl::interpose::reduce_lanes(sums, result);
      all += lanes;
      // With those that this leaves open.
      double every[lanes];
      impl::interpose::reduce_abreast<T>(sums, lanes, every);
      for (Index l = 0; l < lanes; ++l) {
        exact::Accumulator<T> sum;
        for (Index k = 0; k < count; ++k) {
          sum.add_product(static_cast<T>(-factors[static_cast<std::size_t>(k)]),
                          static_cast<T>(vectors[static_cast<std::size_t>(k * stride + l)]));
        }
        sum.add(static_cast<T>(start[static_cast<std::size_t>(l)]));
        ASSERT_TRUE(same_bits(static_cast<T>(every[l]), sum.value()))
            << "kind " << static_cast<int>(kind) << ", " << count << " products, lane " << l << ": " << every[l]
            << " instead of " << sum.value();
        if ((sure >> l & 1U) == 0) continue;
        ++known;
        ASSERT_TRUE(same_bits(static_cast<T>(result[l]), sum.value()))
            << "kind " << static_cast<int>(kind) << ", " << count << " products, lane " << l;
      }
    }
    if (kind == Hard::benign) {
      EXPECT_GT(known, all * 9 / 10);
    }
  }
}

TEST(LaneSums, OfDoubles) {
  compare_with_exact_sums<double>();
}
TEST(LaneSums, OfFloats) {
  compare_with_exact_sums<float>();
}

}  // namespace
}  // namespace heddle::test::lane_sums_test
