// Tests of the core's basic types.
#include "support/errors.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/core/version.hpp>

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace heddle::core_test {
namespace {

TEST(Error, CarriesItsKindAndTheValues) {
  EXPECT_NO_THROW(require(true, "not thrown"));
  try {
    require(1 + 1 == 3, "sum ", 2, "; expected ", 0.1);
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::argument);
    EXPECT_STREQ(error.what(), "sum 2; expected 0.10000000000000001");
  }
}

TEST(Operation, GoesToTextAndBack) {
  for (const Operation operation : {Operation::none, Operation::transpose, Operation::conjugate_transpose}) {
    EXPECT_EQ(operation_from(to_string(operation)), operation);
  }
  EXPECT_EQ(operation_from("c"), Operation::conjugate_transpose);
  for (const char* wrong : {"", "X", "NN", " T"}) {
    SCOPED_TRACE(::testing::Message() << wrong);
    test::expect_refusal(ErrorKind::argument, "': expected N, T or C",
                         [&] { static_cast<void>(operation_from(wrong)); });
  }
}

TEST(Version, IsAVersion) {
  EXPECT_TRUE(std::regex_match(std::string(version()), std::regex(R"(\d+\.\d+\.\d+)")));
  EXPECT_FALSE(git_hash().empty());
}

TEST(Scalar, FusedComplexProduct) {
  using Complex = Kokkos::complex<double>;
  EXPECT_EQ(multiply_add(Complex(1, 2), Complex(3, 4), Complex(5, 6)), Complex(0, 16));
  // One rounding: a * a - fl(a * a) is what a plain product loses.
  const double a = 1.0 + 0x1p-30;
  EXPECT_EQ(multiply_add(a, a, -(a * a)), 0x1p-60);
  EXPECT_EQ(conjugate(Complex(1, 2)), Complex(1, -2));
  EXPECT_EQ(conjugate(2.5F), 2.5F);
  EXPECT_EQ(unit_roundoff<Complex>, 0x1p-53);
  EXPECT_EQ(unit_roundoff<float>, 0x1p-24F);
}

}  // namespace
}  // namespace heddle::core_test
