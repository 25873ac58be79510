// Tests of the transport over links, here links over MPI: messages in one order at both ends, few at once.
#include "comm/mpi_links.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/comm/transport.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <vector>

namespace heddle::linked_transport_test {
namespace {

using Buffer = Kokkos::View<double*, MemorySpace>;

// Links by MPI take host memory alone; those of NCCL have the tests of transport_test.cpp.
class LinkedTransportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::on_host) GTEST_SKIP() << "the links of this test take host memory";
  }
  Buffer filled(Index size, Index value) const {
    Buffer buffer(Kokkos::view_alloc(comm.space(), "heddle::test::buffer"), static_cast<std::size_t>(size));
    Kokkos::deep_copy(comm.space(), buffer, static_cast<double>(value));
    comm.space().fence("heddle::test::filled");
    return buffer;
  }
  [[nodiscard]] static bool holds(const Buffer& buffer, Index value) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, buffer);
    return std::all_of(host.data(), host.data() + host.size(),
                       [&](double one) { return one == static_cast<double>(value); });
  }

  Communicator comm = test::world();
  std::shared_ptr<test::LinkRecord> record = std::make_shared<test::LinkRecord>();
};

// Each rank goes through its messages in an order of its own: only one order at both ends of a link delivers them.
TEST_F(LinkedTransportTest, AnyOrderOfManyMessagesIsDeliveredWithFewAtOnce) {
  constexpr int streams = 3;
  constexpr int each = 12;
  for (const int most : {1, 2, 4}) {
    SCOPED_TRACE(most);
    *record = {};
    {
      const Transport transport = test::linked_transport(comm, record, most);
      struct Message {
        int partner;
        int tag;
        bool sent;
      };
      std::vector<Message> order;
      for (int partner = 0; partner < comm.size(); ++partner) {
        for (int k = 0; k < each; ++k) {
          for (const bool sent : {false, true}) order.push_back({partner, 1 + k % streams, sent});
        }
      }
      std::mt19937 random(static_cast<unsigned>(17 * comm.rank() + most));
      std::shuffle(order.begin(), order.end(), random);
      // The number of a message among those of its stream says how long it is and what it holds.
      const auto size = [](int tag, int number) { return Index{1} + 5000 * (number % 3) + 7 * tag; };
      const auto value = [](int from, int to, int tag, int number) {
        return ((Index{from} * 10 + to) * 10 + tag) * 1000 + number;
      };
      std::vector<std::vector<int>> begun(2,
                                          std::vector<int>(static_cast<std::size_t>(comm.size() * (streams + 1)), 0));
      struct Expected {
        Buffer buffer;
        Index value;
      };
      std::vector<Expected> expected;
      std::vector<Request> requests;
      for (const auto& [partner, tag, sent] : order) {
        const int number = begun[sent ? 1 : 0][static_cast<std::size_t>(partner * (streams + 1) + tag)]++;
        if (sent) {
          requests.push_back(transport.send<double>(filled(size(tag, number), value(comm.rank(), partner, tag, number)),
                                                    partner, tag));
        } else {
          expected.push_back({filled(size(tag, number), -1), value(partner, comm.rank(), tag, number)});
          requests.push_back(transport.receive<double>(expected.back().buffer, partner, tag));
        }
      }
      for (Request& request : requests) request.wait();
      transport.drain();
      for (const Expected& one : expected) EXPECT_TRUE(holds(one.buffer, one.value)) << one.value;
      EXPECT_LE(record->most_sent, most);
      EXPECT_LE(record->most_received, most);
    }
    EXPECT_EQ(record->opened, 2 * (comm.size() - 1));
    EXPECT_EQ(record->closed, record->opened);
    EXPECT_EQ(record->aborted, 0);
    comm.barrier();
  }
}

TEST_F(LinkedTransportTest, AnotherSizeThanWasSentIsRefused) {
  if (comm.size() == 1) GTEST_SKIP() << "a rank's messages to itself have no link";
  // Rank 0 expects more than rank 1 sends.
  EXPECT_THROW(comm.together([&] {
    const Transport transport = test::linked_transport(comm, record);
    if (comm.rank() == 0) transport.receive<double>(filled(11, 0), 1, 1).wait();
    if (comm.rank() == 1) transport.send<double>(filled(10, 0), 0, 1).wait();
    comm.barrier();
  }),
               Error);
  EXPECT_EQ(comm.all_reduce(1, Reduction::sum), comm.size());
}

// A message given to a link waits on the device for the other end: if that never comes, the link is given up.
TEST_F(LinkedTransportTest, AFailedRankLeavesNothingUnderWay) {
  if (comm.size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  std::vector<Request> kept;
  EXPECT_THROW(comm.together([&] {
    const Transport transport = test::linked_transport(comm, record);
    if (comm.rank() == 0) {
      // Announced, and never given to the link.
      kept.push_back(transport.send<double>(filled(1000, 3), 1, 1));
      comm.barrier();
      throw Error(ErrorKind::computation, "on purpose");
    }
    kept.push_back(comm.rank() == 1 ? transport.receive<double>(filled(1000, 0), 0, 1) : Request());
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (std::chrono::steady_clock::now() < until) transport.progress();
    comm.barrier();
    kept.back().wait();
    comm.barrier();
  }),
               Error);
  kept.clear();
  EXPECT_EQ(record->aborted, comm.rank() == 1 ? 1 : 0);
  EXPECT_EQ(comm.all_reduce(1, Reduction::sum), comm.size());
}

}  // namespace
}  // namespace heddle::linked_transport_test
