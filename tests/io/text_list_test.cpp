// Plain lists of numbers, on every rank alike.
#include "io/temporary_folder.hpp"
#include <heddle/io/text_list.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace heddle::text_list_test {
namespace {

class TextList : public ::testing::Test {
 protected:
  template <Scalar T = double> void expect(const std::string& text, const std::vector<T>& numbers) {
    const auto path = folder_.write("numbers.dat", text);
    for (const auto& place : test::placements(comm_.size())) {
      const auto A = read_text_list<T>(comm_, path, place);
      EXPECT_EQ(A.rows(), static_cast<Index>(numbers.size()));
      EXPECT_EQ(A.columns(), 1);
      const auto whole = gather(A, 0);
      for (std::size_t k = 0; comm_.rank() == 0 && k < numbers.size(); ++k) EXPECT_EQ(whole(k, 0), numbers[k]) << k;
    }
  }
  void refuse(const std::string& text, const std::string& message) {
    const auto path = folder_.write("bad.dat", text);
    const Error error = test::error_of([&] { static_cast<void>(read_text_list<double>(comm_, path)); });
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.what(), path.string() + message);
  }

  Communicator comm_{MPI_COMM_WORLD};
  test::TemporaryFolder folder_{comm_};
};

TEST_F(TextList, TakesOneOrSeveralNumbersOnALine) {
  const std::vector<double> numbers = {1, 2.5, -3e100, 0.1, 4};
  expect("1\n2.5\n-3e100\n0.1\n4\n", numbers);
  expect("1 2.5, -3e100\r\n\n\t+0.1 ,4", numbers);
  expect("# a list\n1,2.5,-3e100 # three\n  0.1\n4", numbers);
  expect("7", {7.0});
  expect("", {});
  expect("\n# nothing\n", {});
  expect<float>("0.1 1e-60", {0.1F, 0.0F});
  expect<Kokkos::complex<double>>("2 3", {{2, 0}, {3, 0}});
  // More than a chunk of them.
  std::string many;
  std::vector<double> expected;
  for (int k = 0; k < 200'000; ++k) {
    many += std::to_string(k) + (k % 7 == 0 ? "\n" : " ");
    expected.push_back(k);
  }
  expect(many, expected);
}

TEST_F(TextList, TakesFortransNumbersAndAByteOrderMark) {
  expect(
      "\xEF\xBB\xBF"
      "1D+05,1d5 1.5d-3\n1.5+300",
      {1e5, 1e5, 1.5e-3, 1.5e300});
  refuse(
      "1\n\xEF\xBB\xBF"
      "2",
      ", line 2: expected a real number, found '\xEF\xBB\xBF"
      "2'");
}

TEST_F(TextList, TermsHoldAllDigitsOfWholeNumbers) {
  const auto path =
      folder_.write("wide.dat", "9007199254740993, 0.1 -18446744073709551617\n3.5 -0 1e30 20000000000000000.0");
  for (const auto& place : test::placements(comm_.size())) {
    const auto terms = read_text_list_terms<double>(comm_, path, place);
    ASSERT_EQ(terms.size(), 2U);
    const auto first = gather(terms[0], 0);
    const auto second = gather(terms[1], 0);
    if (comm_.rank() != 0) continue;
    const std::vector<double> large = {0x1p53, 0.1, -0x1p64, 3.5, -0.0, 1e30, 2e16};
    const std::vector<double> small = {1, 0, -1, 0, 0, 0, 0};
    for (std::size_t k = 0; k < large.size(); ++k) {
      EXPECT_EQ(first(k, 0), large[k]) << k;
      EXPECT_EQ(second(k, 0), small[k]) << k;
    }
    EXPECT_TRUE(std::signbit(first(4, 0)));
  }
  // One number alone is the nearest one.
  expect("9007199254740993", {0x1p53});
  const auto large = folder_.write("large.dat", "1" + std::string(400, '0'));
  const Error error = test::error_of([&] { static_cast<void>(read_text_list_terms<double>(comm_, large)); });
  EXPECT_NE(std::string(error.what()).find("is out of range"), std::string::npos) << error.what();
}

TEST_F(TextList, RefusesWhatIsNoNumber) {
  refuse("1\n2 x\n", ", line 2: expected a real number, found 'x'");
  refuse("1 2;3", ", line 1: expected a real number, found '2;3'");
  refuse("1\n\nnan", ", line 3: a real number 'nan' is not finite");
  refuse("1e999", ", line 1: a real number '1e999' is out of range");
  refuse(",1", ", line 1: expected a number before the comma");
  refuse("1,,2", ", line 1: expected a number before the comma");
  refuse("1,\n2", ", line 1: expected a number after the comma");
}

}  // namespace
}  // namespace heddle::text_list_test
