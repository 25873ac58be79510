// Tests of the check that ranks' arguments are alike.
#include "comm/failures/alike.hpp"

#include "support/errors.hpp"
#include "support/matrices.hpp"

#include <gtest/gtest.h>

namespace heddle::impl::alike_test {
namespace {

TEST(RequireAlike, SaysWhatDiffersOnEveryRankAlike) {
  const Communicator comm = test::world();
  EXPECT_EQ(test::refusal_of([&] { require_alike(comm, "test", {{"one", "1"}, {"two", "2"}}); }), "");
  for (int odd = 0; odd < comm.size(); ++odd) {
    const std::string two = comm.rank() == odd ? "3" : "2";
    const std::string found = test::refusal_of([&] { require_alike(comm, "test", {{"one", "1"}, {"two", two}}); });
    if (comm.size() == 1) {
      EXPECT_EQ(found, "");
    } else if (odd == 0) {
      EXPECT_EQ(found, "test: two is 2 on rank 1 and 3 on rank 0; expected the same on every rank");
    } else {
      EXPECT_EQ(found, message_of("test: two is 3 on rank ", odd, " and 2 on rank 0; expected the same on every rank"));
    }
  }
}

TEST(RequireAlike, TellsNeighbouringArgumentsApart) {
  const Communicator comm = test::world();
  const bool first = comm.rank() == 0;
  const std::string found = test::refusal_of([&] {
    require_alike(comm, "test", {{"one", first ? "12" : "1"}, {"two", first ? "3" : "23"}});
  });
  EXPECT_EQ(found.empty(), comm.size() == 1);
}

TEST(RequireAlike, WhatOneRankThrowsAllThrow) {
  const Communicator comm = test::world();
  for (int odd = 0; odd < comm.size(); ++odd) {
    const auto check = [&] {
      if (comm.rank() >= odd) throw Error(ErrorKind::input, message_of("rank ", comm.rank(), " can't"));
    };
    // Before what differs.
    EXPECT_EQ(test::refusal_of(
                  [&] {
                    require_alike(comm, "test", {{"rank", message_of(comm.rank())}}, check);
                  },
                  ErrorKind::input),
              message_of("rank ", odd, " can't"));
  }
  EXPECT_EQ(test::refusal_of([&] { require_alike(comm, "test", {}, [] {}); }), "");
}

}  // namespace
}  // namespace heddle::impl::alike_test
