// The measured peak of a CPU's arithmetic: no product may exceed it.
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/tuning/rates.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::peak_test {
namespace {

// Noise of measurements, also on shared cores.
constexpr double noise = 0.05;

// Return the measured peak, 0 on GPUs.
template <Scalar T> double peak(const Communicator& comm) {
  return measure_peak<T>(comm).value_or(0.0);
}

template <class T> class Peak : public ::testing::Test {};
TYPED_TEST_SUITE(Peak, test::AllScalars);

// A shared core may be slow whenever the peak is measured, so the largest of several measurements counts.
TYPED_TEST(Peak, IsAtLeastTheRateOfTheBestProduct) {
  using T = TypeParam;
  const Communicator comm = test::world();
  ASSERT_EQ(measure_peak<T>(comm).has_value(), test::on_host);
  if (!test::on_host) return;
  double largest = peak<T>(comm);
  const double product = measure_rates<T>(comm, 0.5).peak_flops();
  for (int again = 0; again < 10 && largest < (1 - noise) * product; ++again) {
    largest = std::max(largest, peak<T>(comm));
  }
  EXPECT_GE(largest, (1 - noise) * product);
}

}  // namespace
}  // namespace heddle::peak_test
