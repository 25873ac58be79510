// The thread behind a run's output: order, bound, and what becomes of a job that fails.
#include "drivers/support/process/background.hpp"

#include "support/errors.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::driver::background_test {
namespace {

void pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

TEST(Background, DoesEveryJobInOrder) {
  std::vector<int> done;
  Background background(3);
  for (int k = 0; k < 100; ++k) {
    background.push([&done, k] {
      if (k % 10 == 0) pause();
      done.push_back(k);
    });
  }
  background.finish();
  ASSERT_EQ(done.size(), 100U);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(done[k], k);
  test::expect_refusal(ErrorKind::argument, "a job for a thread that has finished", [&] { background.push([] {}); });
}

TEST(Background, LetsNoMoreThanItsBoundWait) {
  std::atomic<int> done = 0;
  std::atomic<bool> open = false;
  Background background(2);
  const auto job = [&] {
    while (!open) pause();
    ++done;
  };
  // One under way, at most, and two that wait: a fourth gets in once the first is done.
  for (int k = 0; k < 2; ++k) background.push(job);
  EXPECT_EQ(background.waited(), 0.0);
  std::thread opener([&] {
    for (int k = 0; k < 10; ++k) pause();
    open = true;
  });
  for (int k = 0; k < 3; ++k) background.push(job);
  EXPECT_GE(done, 1);
  EXPECT_GT(background.waited(), 0.0);
  background.finish();
  EXPECT_EQ(done, 5);
  opener.join();
}

TEST(Background, AFailureIsThrownByAllThatFollows) {
  std::atomic<int> after = 0;
  Background background(4);
  background.push([] { throw Error(ErrorKind::output, "run.h5: no space left"); });
  const auto message_of_push = [&]() -> std::string {
    try {
      for (int k = 0; k < 1000; ++k) {
        background.push([&] { ++after; });
        pause();
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::output);
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(message_of_push(), "run.h5: no space left");
  EXPECT_EQ(message_of_push(), "run.h5: no space left");
  test::expect_refusal(ErrorKind::output, "run.h5: no space left", [&] { background.finish(); });
  EXPECT_EQ(after, 0) << "jobs behind one that failed are dropped";
}

TEST(Background, AFailureOfTheLastJobIsNotLost) {
  Background background(1);
  background.push([] {
    pause();
    throw std::runtime_error("late");
  });
  EXPECT_THROW(background.finish(), std::runtime_error);
}

TEST(Background, AFailureFreesWhoWaitsForRoom) {
  std::atomic<bool> open = false;
  Background background(1);
  background.push([&] {
    while (!open) pause();
    throw Error(ErrorKind::output, "full");
  });
  std::thread opener([&] {
    pause();
    open = true;
  });
  test::expect_refusal(ErrorKind::output, "full", [&] {
    {
      for (int k = 0; k < 3; ++k) background.push([] {});
      background.finish();
    };
  });
  opener.join();
}

TEST(Background, AbandonedItFinishesTheJobUnderWayOnly) {
  std::atomic<bool> begun = false;
  std::atomic<int> done = 0;
  {
    Background background(8);
    for (int k = 0; k < 5; ++k) {
      background.push([&] {
        begun = true;
        for (int wait = 0; wait < 10; ++wait) pause();
        ++done;
      });
    }
    while (!begun) pause();
  }
  EXPECT_GE(done, 1);
  EXPECT_LT(done, 5);
}

}  // namespace
}  // namespace heddle::driver::background_test
