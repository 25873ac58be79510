#include "support/matrices.hpp"
#include <heddle/comm/transport.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace heddle {
namespace {

using Buffer = Kokkos::View<double*, MemorySpace>;

Buffer numbered(const Communicator& comm, Index size, int seed) {
  Buffer buffer(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::test::buffer"),
                static_cast<std::size_t>(size));
  Kokkos::parallel_for(
      "heddle::test::fill", Kokkos::RangePolicy<ExecutionSpace>(comm.space(), 0, size),
      KOKKOS_LAMBDA(Index i) { buffer(i) = test::random_number(i, 0, seed); });
  return buffer;
}

bool holds(const Buffer& buffer, int seed) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, buffer);
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host(i) != test::random_number(static_cast<Index>(i), 0, seed)) {
      return false;
    }
  }
  return true;
}

class TransportTest : public ::testing::TestWithParam<Index> {};

// From below MPI's eager limit to well above it.
INSTANTIATE_TEST_SUITE_P(Sizes, TransportTest, ::testing::Values(0, 1, 7, 512, 5000, 300000));

TEST_P(TransportTest, RingDelivers) {
  const Communicator comm = test::world();
  const auto transport = make_transport(comm);
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const Buffer out = numbered(comm, GetParam(), comm.rank());
  const Buffer in = numbered(comm, GetParam(), -1);
  Request receiving = transport->receive<double>(in, previous, 1);
  Request sending = transport->send<double>(out, next, 1);
  receiving.wait();
  sending.wait();
  EXPECT_FALSE(receiving.active());
  EXPECT_TRUE(sending.test());
  EXPECT_TRUE(holds(in, previous));
}

TEST_P(TransportTest, MessagesOfOneTagKeepTheirOrderAndTagsDoNotMix) {
  const Communicator comm = test::world();
  const auto transport = make_transport(comm);
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<Request> requests;
  std::vector<Buffer> in;
  for (int k = 0; k < 6; ++k) {
    in.push_back(numbered(comm, GetParam(), -1));
    requests.push_back(transport->receive<double>(in.back(), previous, 1 + k % 2));
  }
  // Tag 2 first: its messages overtake those of tag 1, not each other.
  for (const int k : {1, 3, 0, 5, 2, 4}) {
    requests.push_back(transport->send<double>(numbered(comm, GetParam(), 100 * comm.rank() + k), next, 1 + k % 2));
  }
  for (Request& request : requests) {
    while (!request.test()) {
    }
  }
  for (int k = 0; k < 6; ++k) {
    EXPECT_TRUE(holds(in[static_cast<std::size_t>(k)], 100 * previous + k)) << k;
  }
}

TEST(Request, KeepsItsBuffersAliveAndFinishesOnce) {
  const Communicator comm = test::world();
  const auto transport = make_transport(comm);
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  const Buffer in = numbered(comm, 100000, -1);
  Buffer out = numbered(comm, 100000, comm.rank());
  Request sending = transport->send<double>(out, next, 1);
  constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
  EXPECT_EQ(out.use_count(), on_host ? 2 : 1);
  out = Buffer();
  transport->receive<double>(in, previous, 1).wait();
  Request moved = std::move(sending);
  EXPECT_FALSE(sending.active());  // NOLINT(bugprone-use-after-move): a moved-from request is empty
  moved.wait();
  EXPECT_TRUE(holds(in, previous));

  int finished = 0;
  {
    Request request({}, {}, [&] { ++finished; });
    request.wait();
    request.wait();
    EXPECT_TRUE(request.test());
  }
  EXPECT_EQ(finished, 1);
}

TEST(Transport, IsChosenByTheEnvironmentOrRefused) {
  const Communicator comm = test::world();
  setenv("HEDDLE_TRANSPORT", "staged", 1);
  EXPECT_EQ(make_transport(comm)->kind(), TransportKind::staged);
  EXPECT_NE(make_transport(comm)->reason().find("HEDDLE_TRANSPORT"), std::string::npos);
  setenv("HEDDLE_TRANSPORT", "pigeon", 1);
  EXPECT_THROW(static_cast<void>(make_transport(comm)), Error);
  unsetenv("HEDDLE_TRANSPORT");
  EXPECT_EQ(to_string(make_transport(comm)->kind()), "staged");
}

}  // namespace
}  // namespace heddle
