// A rank that fails while others wait for it: all throw, in time, what that rank says; and then all work again.
#include "comm/transports/transports.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/comm/transport.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::failures_test {
namespace {

using Buffer = Kokkos::View<double*, MemorySpace>;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Buffer buffer(const Communicator& comm, Index size, double value) {
  const Buffer data("test", static_cast<std::size_t>(size));
  Kokkos::deep_copy(comm.space(), data, value);
  comm.space().fence();
  return data;
}

// Collective calls and messages are right, whatever was before.
void expect_it_works(const Communicator& comm) {
  EXPECT_EQ(comm.all_reduce(Index{1}, Reduction::sum), comm.size());
  std::vector<int> ranks(static_cast<std::size_t>(comm.size()));
  const int mine = comm.rank();
  comm.all_gather(std::span<const int>(&mine, 1), std::span(ranks));
  std::vector<int> expected(ranks.size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(ranks, expected);
  const Transport transport = transport_of(comm);
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const Buffer out = buffer(comm, 300000, comm.rank());
  const Buffer in = buffer(comm, 300000, -1);
  Request receiving = transport.receive<double>(in, previous, 1);
  Request sending = transport.send<double>(out, next, 1);
  receiving.wait();
  sending.wait();
  comm.space().fence();
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), in);
  for (std::size_t k = 0; k < found.extent(0); k += 4999) EXPECT_EQ(found(k), previous);
}

// `failing` on one rank and `waiting` on the others: all throw what the former says.
void expect_all_throw(const Communicator& comm, int failing, const std::function<void()>& waiting) {
  const std::string words = "the reason of rank " + std::to_string(failing);
  const auto begin = Clock::now();
  const bool mine = comm.rank() == failing;
  std::string expected = "rank " + std::to_string(failing) + ": " + words;
  if (comm.size() == 1) expected = words;
  test::expect_refusal(ErrorKind::storage, expected, [&] {
    comm.together([&] {
      if (mine) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        throw Error(ErrorKind::storage, words);
      }
      waiting();
    });
  });
  EXPECT_LT(seconds_since(begin), 5.0);
}

TEST(Failures, EndEveryKindOfWaiting) {
  const Communicator comm = test::world();
  const int failing = comm.size() - 1;
  std::vector<double> values(5000000, 1.0);  // Several pieces.
  std::vector<double> all(static_cast<std::size_t>(comm.size()));
  const std::vector<std::pair<const char*, std::function<void()>>> waits = {
      {"barrier", [&] { comm.barrier(); }},
      {"broadcast", [&] { comm.broadcast(std::span(values), failing); }},
      {"reduction", [&] { static_cast<void>(comm.all_reduce(1.0, Reduction::sum)); }},
      {"long reduction", [&] { comm.all_reduce(std::span(values), Reduction::maximum); }},
      {"own reduction",
       [&] { comm.all_reduce_by(std::span(values), [](const double& from, double& to) { to += from; }); }},
      {"gathering", [&] { comm.all_gather(std::span<const double>(values.data(), 1), std::span(all)); }},
      {"exchange",
       [&] {
         static_cast<void>(comm.exchange(std::vector<std::vector<double>>(static_cast<std::size_t>(comm.size()),
                                                                          std::vector<double>(300000, 1.0))));
       }},
      {"work of one rank", [&] { comm.on_rank(failing, [] {}); }},
      {"work of each", [&] { comm.on_each([] {}); }},
      {"nested",
       [&] { comm.together([&] { return comm.together([&] { return comm.all_reduce(1, Reduction::sum); }); }); }},
  };
  for (const auto& [name, wait] : waits) {
    SCOPED_TRACE(name);
    expect_all_throw(comm, failing, wait);
    expect_it_works(comm);
  }
}

TEST(Failures, EndWaitingForMessages) {
  const Communicator comm = test::world();
  if (comm.size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  for (const TransportKind kind : transport_kinds) {
    if (!availability(comm, kind).available) continue;
    SCOPED_TRACE(std::string(to_string(kind)));
    // Large messages are half on their way when the receiver fails, small ones are in MPI's hands.
    for (const Index size : {Index{10}, Index{3000000}}) {
      const Transport transport = make_transport(comm, kind);
      const Buffer data = buffer(comm, size, 1.0);
      std::vector<Request> kept;
      expect_all_throw(comm, 0, [&] {
        const Buffer other = buffer(comm, size, 2.0);
        kept.push_back(transport.send<double>(data, 0, 1));
        kept.push_back(transport.receive<double>(other, 0, 2));
        kept.back().wait();
      });
      if (comm.rank() != 0) {
        test::expect_refusal(ErrorKind::computation, "given up", [&] { transport.progress(); });
        test::expect_refusal(ErrorKind::computation, "given up",
                             [&] { static_cast<void>(transport.send<double>(data, 0, 1)); });
      }
      kept.clear();  // Destroyed without waiting.
      expect_it_works(comm);
    }
  }
}

TEST(Failures, EndAWaitForACollectiveThatHasBegun) {
  // A long broadcast whose root fails after its first pieces.
  const Communicator comm = test::world();
  std::vector<double> values(10000000, 1.0);
  expect_all_throw(comm, 0, [&] { comm.broadcast(std::span(values), comm.size() - 1); });
  expect_it_works(comm);
}

TEST(Failures, AreNoticedInTheNextCall) {
  const Communicator comm = test::world();
  if (comm.size() == 1) GTEST_SKIP() << "there is nobody else";
  // Rank 0 fails in an operation that the others have left.
  const auto begin = Clock::now();
  test::expect_refusal(ErrorKind::input, "rank 0: bad file", [&] {
    comm.together([&] {
      if (comm.rank() == 0) throw Error(ErrorKind::input, "bad file");
    });
    comm.barrier();
  });
  EXPECT_LT(seconds_since(begin), 5.0);
  expect_it_works(comm);
}

TEST(Failures, OfAllRanksAreEachOnesOwn) {
  const Communicator comm = test::world();
  MPI_Comm before = comm.native();
  const std::string words = "wrong here, on " + std::to_string(comm.rank());
  try {
    comm.together([&] { throw Error(ErrorKind::argument, words); });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), words);
    EXPECT_EQ(error.kind(), ErrorKind::argument);
  }
  EXPECT_EQ(comm.native(), before) << "nothing was cut short";
  expect_it_works(comm);
}

TEST(Failures, OfSeveralRanksAreTheLowestOnes) {
  const Communicator comm = test::world();
  if (comm.size() < 3) GTEST_SKIP() << "takes three ranks";
  test::expect_refusal(ErrorKind::computation, "rank 1: ", [&] {
    comm.together([&] {
      if (comm.rank() > 0) throw Error(ErrorKind::computation, "one of several");
      comm.barrier();
    });
  });
  expect_it_works(comm);
}

TEST(Failures, OfOtherTypesBecomeErrors) {
  const Communicator comm = test::world();
  const int failing = comm.size() - 1;
  struct Failure {
    ErrorKind kind;
    std::string words;
    std::function<void()> fail;
  };
  const std::vector<Failure> failures = {
      {ErrorKind::memory, "out of memory", [] { throw std::bad_alloc(); }},
      {ErrorKind::memory, "Kokkos failed to allocate 8 B",
       [] { throw std::runtime_error("Kokkos failed to allocate 8 B"); }},
      {ErrorKind::computation, "some words", [] { throw std::runtime_error("some words\nand more"); }},
      {ErrorKind::computation, "an exception of unknown type", [] { throw 1; }},
  };
  for (const auto& [kind, words, fail] : failures) {
    test::expect_refusal(kind, words, [&, fail = fail] {
      comm.together([&] {
        if (comm.rank() == failing) fail();
        comm.barrier();
      });
    });
  }
  expect_it_works(comm);
}

TEST(Failures, GiveWhatWorkGives) {
  const Communicator comm = test::world();
  EXPECT_EQ(comm.together([&] { return comm.all_reduce(2, Reduction::sum); }), 2 * comm.size());
  comm.together([] {});
}

TEST(Failures, OfMpiAreErrors) {
  const Communicator comm = test::world();
  for (const TransportKind kind : {TransportKind::direct, TransportKind::staged}) {
    if (!availability(comm, kind).available) continue;
    const Transport transport = make_transport(comm, kind);
    // Every rank's own.
    test::expect_refusal(ErrorKind::computation, "MPI_Irecv failed: MPI_ERR_TAG", [&] {
      comm.together([&] { transport.receive<double>(buffer(comm, 10, 0.0), comm.rank(), -5).wait(); });
    });
  }
  expect_it_works(comm);
}

class Timeout : public ::testing::Test {
 protected:
  void SetUp() override { setenv("HEDDLE_TIMEOUT", "1", 1); }
  void TearDown() override { unsetenv("HEDDLE_TIMEOUT"); }
};

TEST_F(Timeout, NamesWhatIsMissing) {
  const Communicator comm = test::world();
  if (comm.size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  const Transport transport = transport_of(comm);
  const auto begin = Clock::now();
  // Rank 0 waits for what nobody sends; the others come to a barrier, and wait there for less long.
  test::expect_refusal(ErrorKind::computation,
                       "rank 0: has waited 1 s (HEDDLE_TIMEOUT) for rank 1 to send 80 bytes of a message", [&] {
                         comm.together([&] {
                           if (comm.rank() == 0) {
                             transport.receive<double>(buffer(comm, 10, 0.0), 1, 100).wait();
                           }
                           std::this_thread::sleep_for(std::chrono::milliseconds(500));
                           comm.barrier();
                         });
                       });
  EXPECT_GE(seconds_since(begin), 1.0);
  EXPECT_LT(seconds_since(begin), 4.0);
  expect_it_works(comm);
}

TEST_F(Timeout, DoesNotCountTimeInWhichNobodyAsks) {
  const Communicator comm = test::world();
  const Transport transport = transport_of(comm);
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const Buffer in = buffer(comm, 1000, 0.0);
  Request receiving = transport.receive<double>(in, previous, 1);
  transport.progress();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // A long product.
  transport.progress();
  transport.send<double>(buffer(comm, 1000, 1.0), next, 1).wait();
  receiving.wait();
  expect_it_works(comm);
}

TEST_F(Timeout, OfRanksThatDoNotAnswerEndsTheCommunicator) {
  const Communicator comm = test::world();
  if (comm.size() == 1) GTEST_SKIP() << "there is nobody else";
  const auto begin = Clock::now();
  const int silent = comm.size() - 1;
  test::expect_refusal(ErrorKind::computation, "rank ", [&] {
    comm.together([&] {
      if (comm.rank() == silent) {
        // It looks at nothing for longer than the others' patience.
        std::this_thread::sleep_for(std::chrono::seconds(5));
      } else {
        throw Error(ErrorKind::computation, "failed while another slept");
      }
      comm.barrier();
    });
  });
  EXPECT_LT(seconds_since(begin), 12.0);
  test::expect_refusal(ErrorKind::computation, "can't work together any more", [&] { comm.barrier(); });
  expect_it_works(test::world());
}

TEST(TimeoutVariable, IsRefusedAlikeWhereItIsNoTime) {
  for (const char* words : {"0", "-1", "soon", "1x", "inf", "nan", ""}) {
    setenv("HEDDLE_TIMEOUT", words, 1);
    test::expect_refusal(ErrorKind::argument, "HEDDLE_TIMEOUT: expected a number of seconds above 0",
                         [] { static_cast<void>(test::world()); });
  }
  unsetenv("HEDDLE_TIMEOUT");
}

// Ways differ by partner: with itself and its neighbours of the same pair directly, with others by stages.
Transport mixed_transport(const Communicator& comm) {
  std::vector<int> of_partner;
  for (int rank = 0; rank < comm.size(); ++rank) of_partner.push_back(rank / 2 == comm.rank() / 2 ? 0 : 1);
  return Transport(impl::make_mixed_transport(
      impl::ranks_of(comm), {{TransportKind::direct, "a pair"}, {TransportKind::staged, "two pairs"}}, of_partner));
}

TEST(MixedTransport, SendsEachMessageByItsWay) {
  const Communicator comm = test::world();
  if (!availability(comm, TransportKind::direct).available) GTEST_SKIP() << "MPI takes no device memory";
  const Transport transport = mixed_transport(comm);
  EXPECT_FALSE(transport.only(TransportKind::direct));
  EXPECT_FALSE(transport.only(TransportKind::staged));
  EXPECT_FALSE(transport.takes_blocks()) << "direct takes none";
  for (int rank = 0; rank < comm.size(); ++rank) {
    const bool near = rank / 2 == comm.rank() / 2;
    EXPECT_EQ(transport.kind(rank), near ? TransportKind::direct : TransportKind::staged);
    EXPECT_EQ(transport.reason(rank), near ? "a pair" : "two pairs");
    EXPECT_FALSE(transport.shows_blocks(rank));
  }
  for (const int rank : {-1, comm.size()}) {
    test::expect_refusal(ErrorKind::argument, "is not one of", [&] { static_cast<void>(transport.kind(rank)); });
  }
  // All to all, several messages of a tag, sizes from below MPI's eager limit to several chunks.
  const std::vector<Index> sizes = {1, 700, 300000, 1500000};
  std::vector<Request> requests;
  std::vector<std::pair<Buffer, double>> landed;
  for (int rank = 0; rank < comm.size(); ++rank) {
    for (const Index size : sizes) {
      landed.emplace_back(buffer(comm, size, -1), 1000 * rank + comm.rank() + 1e-6 * static_cast<double>(size));
      requests.push_back(transport.receive<double>(landed.back().first, rank, 3));
    }
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    for (const Index size : sizes) {
      const double value = 1000 * comm.rank() + rank + 1e-6 * static_cast<double>(size);
      requests.push_back(transport.send<double>(buffer(comm, size, value), rank, 3));
    }
  }
  for (Request& request : requests) request.wait();
  transport.drain();
  comm.space().fence();
  for (const auto& [data, value] : landed) {
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), data);
    EXPECT_EQ(found(0), value);
    EXPECT_EQ(found(found.extent(0) - 1), value);
  }
}

TEST(MixedTransport, IsGivenUpAsAWhole) {
  const Communicator comm = test::world();
  if (comm.size() == 1 || !availability(comm, TransportKind::direct).available) {
    GTEST_SKIP() << "takes two ranks and an MPI that takes matrices where they are";
  }
  const Transport transport = mixed_transport(comm);
  expect_all_throw(comm, 0, [&] { transport.receive<double>(buffer(comm, 10, 0.0), 0, 1).wait(); });
  if (comm.rank() != 0) test::expect_refusal(ErrorKind::computation, "given up", [&] { transport.progress(); });
  expect_it_works(comm);
}

}  // namespace
}  // namespace heddle::failures_test
