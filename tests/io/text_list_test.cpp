// Plain lists of numbers, on every rank alike.
#include "io/temporary_folder.hpp"
#include <heddle/io/text_list.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heddle {
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
}  // namespace heddle
