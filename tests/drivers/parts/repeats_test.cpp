// Which runs count where an operation is timed several times.
#include "drivers/support/repeats.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace heddle::driver::repeats_test {
namespace {

struct Timed {
  int number = 0;
  double seconds = 0.0;
};

// Return the numbers, from 0, of the runs that count; `first`: seconds of the first run; the others take a tenth of
// them.
std::vector<int> counted_of(int runs, double first, double longest, int& done) {
  std::vector<int> counted;
  done = 0;
  const auto run = [&] {
    const Timed timed{done, done == 0 ? first : first / 10};
    ++done;
    return timed;
  };
  repeat_warm(
      runs, run, [&](const Timed& timed) { counted.push_back(timed.number); }, longest);
  return counted;
}

TEST(Repeats, AShortFirstRunDoesNotCount) {
  int done = 0;
  EXPECT_EQ(counted_of(1, 0.5, 3, done), (std::vector<int>{1}));
  EXPECT_EQ(done, 2);
  EXPECT_EQ(counted_of(3, 0.5, 3, done), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(done, 4);
}

TEST(Repeats, ALongFirstRunCounts) {
  int done = 0;
  EXPECT_EQ(counted_of(1, 3.5, 3, done), (std::vector<int>{0}));
  EXPECT_EQ(done, 1);
  EXPECT_EQ(counted_of(3, 3.5, 3, done), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(done, 3);
  EXPECT_EQ(counted_of(2, 1e9, std::numeric_limits<double>::infinity(), done), (std::vector<int>{1, 2}));
}

TEST(Repeats, TheLimitIsTheOneThatTheHelpNames) {
  EXPECT_NE(after_warm_up().find(" more than " + shortest(longest_warm_up) + " s"), std::string::npos);
}

TEST(Repeats, ABusyMachineIsNoted) {
  EXPECT_EQ(busy_note(0.1, 2, 1.0, 1.2), "");
  EXPECT_EQ(busy_note(31.0, 128, 1.0, 1.0), "") << "a quarter of the cores";
  EXPECT_EQ(busy_note(1.5, 2, 1.0, 1.0), "a load of 1.5 on 2 cores before this command");
  EXPECT_EQ(busy_note(0.0, 2, 0.1, 0.15), "repeats that took 0.1 to 0.15 s");
  EXPECT_EQ(busy_note(3.0, 2, 0.1, 0.15),
            "a load of 3 on 2 cores before this command, and repeats that took 0.1 to 0.15 s");
}

}  // namespace
}  // namespace heddle::driver::repeats_test
