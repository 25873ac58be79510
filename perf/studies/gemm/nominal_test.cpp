// The vendors' figures that `heddle study gemm` compares rates with.
#include "studies/gemm/nominal.hpp"

#include <gtest/gtest.h>

namespace heddle::driver {
namespace {

// 0: none. Figures in 10^12 are scaled, which rounds.
double rate(std::string_view device, std::string_view scalar, MathMode mode) {
  return nominal_gflops(device, scalar, mode).value_or(0.0);
}

TEST(NominalRate, IsOfTheDeviceTheTypeAndTheMode) {
  const char* const h100 = "NVIDIA H100 80GB HBM3";
  EXPECT_DOUBLE_EQ(rate(h100, "double", MathMode::automatic), 67e3);
  EXPECT_DOUBLE_EQ(rate(h100, "complex-double", MathMode::tensor), 67e3);
  EXPECT_DOUBLE_EQ(rate(h100, "double", MathMode::plain), 34e3);
  EXPECT_DOUBLE_EQ(rate(h100, "float", MathMode::automatic), 67e3);
  EXPECT_DOUBLE_EQ(rate(h100, "complex-float", MathMode::tf32), 494.7e3);
}

TEST(NominalRate, IsOfTheMostSpecialName) {
  EXPECT_DOUBLE_EQ(rate("NVIDIA H100 PCIe", "double", MathMode::plain), 26e3);
  EXPECT_DOUBLE_EQ(rate("NVIDIA GeForce GTX 1070 Ti", "float", MathMode::automatic), 8.19e3);
  EXPECT_DOUBLE_EQ(rate("NVIDIA GeForce GTX 1070", "float", MathMode::automatic), 6.46e3);
  EXPECT_DOUBLE_EQ(rate("AMD Instinct MI250X", "float", MathMode::automatic), 47.9e3);
}

// Without tensor cores for doubles `auto` is `plain`, and `tensor` has no rate.
TEST(NominalRate, IsNoneWhereThereIsNoSuchUnit) {
  EXPECT_DOUBLE_EQ(rate("Tesla V100-SXM2-32GB", "double", MathMode::automatic), 7.8e3);
  EXPECT_EQ(nominal_gflops("Tesla V100-SXM2-32GB", "double", MathMode::tensor), std::nullopt);
  EXPECT_EQ(nominal_gflops("Tesla V100-SXM2-32GB", "float", MathMode::tf32), std::nullopt);
  EXPECT_EQ(nominal_gflops("NVIDIA H100 80GB HBM3", "double", MathMode::tf32), std::nullopt);
  EXPECT_EQ(nominal_gflops("NVIDIA H100 80GB HBM3", "float", MathMode::tensor), std::nullopt);
}

TEST(NominalRate, IsNoneOfOtherDevicesAndOfParts) {
  EXPECT_EQ(nominal_gflops("2 CPU threads", "double", MathMode::automatic), std::nullopt);
  EXPECT_EQ(nominal_gflops("NVIDIA H100 80GB HBM3 MIG 1g.10gb", "double", MathMode::automatic), std::nullopt);
}

}  // namespace
}  // namespace heddle::driver
