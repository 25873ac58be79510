// Math modes of native products: supported modes, refusals, and their effect on the error.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/expm/expm.hpp>
#include <heddle/gemm/gemm.hpp>
#include <heddle/tuning/rates.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace heddle::math_test {
namespace {

constexpr auto none = Operation::none;

template <class T> class MathModes : public ::testing::Test {
 protected:
  Communicator comm = test::world();

  [[nodiscard]] HostMatrix<T> product(Index n, MathMode mode, Index tile = 40) const {
    const auto bands = Placement::row_bands(n, n, comm.size());
    const auto A = test::random_matrix<T>(comm, bands, 1);
    const auto B = test::random_matrix<T>(comm, bands, 2);
    const DistributedMatrix<T> C(comm, bands);
    gemm(comm, none, none, T(1), A, B, T(0), C, {.tile = tile, .math = mode});
    return gather(C, 0);
  }
  [[nodiscard]] std::string refusal(MathMode mode, Arithmetic arithmetic = Arithmetic::native) const {
    const auto bands = Placement::row_bands(6, 6, comm.size());
    return test::refusal_of(
        [&] { GemmPlan<T>(comm, none, bands, none, bands, bands, {.arithmetic = arithmetic, .math = mode}); });
  }
};
TYPED_TEST_SUITE(MathModes, test::AllScalars);

TEST(MathModeNames, AreReadAsTheyAreShown) {
  for (const MathMode mode : {MathMode::automatic, MathMode::tensor, MathMode::plain, MathMode::tf32}) {
    EXPECT_EQ(math_mode_from(to_string(mode)), mode);
  }
  EXPECT_EQ(to_string(MathMode::automatic), "auto");
  EXPECT_NE(test::refusal_of([] { static_cast<void>(math_mode_from("fp16")); }).find("auto, tensor, plain, tf32"),
            std::string::npos);
}

TYPED_TEST(MathModes, OnlyTf32AddsToTheError) {
  for (const MathMode mode : {MathMode::automatic, MathMode::tensor, MathMode::plain}) {
    EXPECT_EQ(blas::added_error<TypeParam>(mode), 0.0);
  }
  EXPECT_GT(blas::added_error<TypeParam>(MathMode::tf32), 0x1p-10);
  EXPECT_LT(blas::added_error<TypeParam>(MathMode::tf32), 0x1p-9);
}

// All parts of the library agree on whether a mode is supported.
TYPED_TEST(MathModes, WhatABlasLacksIsRefused) {
  using T = TypeParam;
  for (const MathMode mode : {MathMode::automatic, MathMode::tensor, MathMode::plain, MathMode::tf32}) {
    const std::string trouble = blas::trouble_with<T>(mode);
    const std::string refused = this->refusal(mode);
    EXPECT_EQ(trouble.empty(), refused.empty()) << to_string(mode);
    EXPECT_NE(refused.find(trouble), std::string::npos) << refused;
    const blas::Context context(this->comm.space(), mode);
    EXPECT_EQ(context.math(), mode);
    const LocalMatrix<T> A("heddle::test::A", 3, 3), C("heddle::test::C", 3, 3);
    EXPECT_EQ(test::refusal_of([&] { blas::gemm<T>(context, none, none, 1, A, A, 0, MatrixView<T>(C)); }).empty(),
              trouble.empty());
    if (!trouble.empty()) {
      EXPECT_NE(test::refusal_of([&] { static_cast<void>(measure_rates<T>(this->comm, 0.2, {}, mode)); }).find(trouble),
                std::string::npos);
    }
  }
  EXPECT_EQ(blas::trouble_with<T>(MathMode::automatic), "");
  constexpr bool single = std::is_same_v<Real<T>, float>;
  EXPECT_NE(blas::trouble_with<T>(single ? MathMode::tensor : MathMode::tf32), "");
  if (test::on_host) {
    EXPECT_EQ(blas::trouble_with<T>(MathMode::plain), "");
    EXPECT_EQ(blas::trouble_with<T>(MathMode::tensor),
              "math mode tensor: CPUs have one arithmetic; expected plain or auto");
    EXPECT_EQ(blas::trouble_with<T>(MathMode::tf32),
              "math mode tf32: CPUs have one arithmetic; expected plain or auto");
  }
}

TYPED_TEST(MathModes, OthersThanAutoAreOfNativeProducts) {
  for (const Arithmetic arithmetic : {Arithmetic::emulated, Arithmetic::automatic}) {
    EXPECT_NE(this->refusal(MathMode::plain, arithmetic).find("math mode plain with the arithmetic "),
              std::string::npos);
    EXPECT_EQ(this->refusal(MathMode::automatic, arithmetic), "");
  }
}

TEST(MathModeOfExponentials, IsAuto) {
  const Communicator comm = test::world();
  ExpmOptions options;
  options.gemm.math = MathMode::plain;
  const auto A = test::random_matrix<double>(comm, Placement::row_bands(4, 4, comm.size()), 1);
  const DistributedMatrix<double> E(comm, A.placement());
  EXPECT_NE(test::refusal_of([&] { expm(comm, A, E, options); }).find("gemm.math plain"), std::string::npos);
}

TEST(MathModeOfRanks, IsTheSame) {
  const Communicator comm = test::world();
  if (comm.size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto bands = Placement::row_bands(6, 6, comm.size());
  const MathMode mine = comm.rank() == 0 ? MathMode::automatic : MathMode::plain;
  EXPECT_NE(
      test::refusal_of([&] { GemmPlan<double>(comm, none, bands, none, bands, bands, {.math = mine}); }).find("math"),
      std::string::npos);
}

// Error against the same product in doubles, relative to the sum of sizes.
template <Scalar T> double error_of(const HostMatrix<T>& C, Index n) {
  const auto A = test::host_random<T>(n, n, 1);
  const auto B = test::host_random<T>(n, n, 2);
  const auto at = [](const HostMatrix<T>& X, Index i, Index j) {
    const T x = X(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    if constexpr (is_complex<T>) {
      return std::complex<double>(x.real(), x.imag());
    } else {
      return std::complex<double>(x);
    }
  };
  double difference = 0.0;
  double size = 0.0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      std::complex<double> sum;
      for (Index k = 0; k < n; ++k) sum += at(A, i, k) * at(B, k, j);
      difference += std::norm(at(C, i, j) - sum);
      size += std::norm(sum);
    }
  }
  return std::sqrt(difference / size);
}

TYPED_TEST(MathModes, EachModeHasTheErrorThatItSays) {
  using T = TypeParam;
  const Index n = 96;
  for (const MathMode mode : {MathMode::automatic, MathMode::tensor, MathMode::plain, MathMode::tf32}) {
    if (!blas::trouble_with<T>(mode).empty()) continue;
    const HostMatrix<T> C = this->product(n, mode);
    if (this->comm.rank() != 0) continue;
    const double error = error_of(C, n);
    if (mode == MathMode::tf32) {
      EXPECT_GT(error, 1e-6);
      EXPECT_LT(error, 1e-3);
    } else {
      EXPECT_LT(error, 8.0 * static_cast<double>(unit_roundoff<T>)) << to_string(mode);
    }
  }
}

// Documented equalities of modes: tensor is auto, and CPUs have one arithmetic.
TYPED_TEST(MathModes, ModesThatAreOneHaveTheSameBits) {
  using T = TypeParam;
  const MathMode other = test::on_host ? MathMode::plain : MathMode::tensor;
  if (!blas::trouble_with<T>(other).empty()) GTEST_SKIP() << blas::trouble_with<T>(other);
  const HostMatrix<T> one = this->product(70, MathMode::automatic);
  const HostMatrix<T> two = this->product(70, other);
  if (this->comm.rank() != 0) return;
  EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(T)), 0);
}

}  // namespace
}  // namespace heddle::math_test
