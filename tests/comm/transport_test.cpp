// The same tests over every transport that can work here.
#include "comm/mpi_links.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/comm/transport.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <tuple>
#include <vector>

namespace heddle::transport_test {
namespace {

using Buffer = Kokkos::View<double*, MemorySpace>;

void fill_numbered(const ExecutionSpace& space, const Buffer& buffer, int seed) {
  Kokkos::parallel_for(
      "heddle::test::fill", Kokkos::RangePolicy<ExecutionSpace>(space, 0, buffer.size()),
      KOKKOS_LAMBDA(Index i) { buffer(i) = test::random_number(i, 0, seed); });
}

Buffer numbered(const Communicator& comm, Index size, int seed) {
  Buffer buffer(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::test::buffer"),
                static_cast<std::size_t>(size));
  fill_numbered(comm.space(), buffer, seed);
  return buffer;
}

bool holds(const Communicator& comm, const Buffer& buffer, int seed) {
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace{}, buffer);
  Kokkos::deep_copy(comm.space(), host, buffer);
  comm.space().fence("heddle::test::holds");
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host(i) != test::random_number(static_cast<Index>(i), 0, seed)) {
      return false;
    }
  }
  return true;
}

// rows x columns of a buffer, from `begin` on.
template <class T>
MatrixView<T> block(const Kokkos::View<T*, MemorySpace>& buffer, Index begin, Index rows, Index columns,
                    Index leading) {
  return MatrixView<T>(buffer.data() + begin,
                       Kokkos::LayoutStride(static_cast<std::size_t>(rows), 1, static_cast<std::size_t>(columns),
                                            static_cast<std::size_t>(leading)));
}

class TransportTest : public ::testing::TestWithParam<TransportKind> {
 protected:
  void SetUp() override {
    // Its protocol runs here by other links.
    if (test::on_host && GetParam() == TransportKind::nccl) {
      transport = test::linked_transport(comm);
      return;
    }
    const Availability found = availability(comm, GetParam());
    if (!found.available) {
      GTEST_SKIP() << found.reason;
    }
    transport = make_transport(comm, GetParam());
  }

  Communicator comm = test::world();
  std::optional<Transport> transport;
  int next = (comm.rank() + 1) % comm.size();
  int previous = (comm.rank() + comm.size() - 1) % comm.size();
};

INSTANTIATE_TEST_SUITE_P(Kinds, TransportTest, ::testing::ValuesIn(transport_kinds),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST_P(TransportTest, RingDeliversMessagesOfAnySize) {
  // From below MPI's eager limit to several chunks of a staged message.
  for (const Index size : {0, 1, 7, 512, 5000, 300000, 1500000}) {
    const Buffer out = numbered(comm, size, comm.rank());
    const Buffer in = numbered(comm, size, -1);
    Request receiving = transport->receive<double>(in, previous, 1);
    Request sending = transport->send<double>(out, next, 1);
    receiving.wait();
    sending.wait();
    EXPECT_FALSE(receiving.active());
    EXPECT_TRUE(sending.test());
    EXPECT_TRUE(holds(comm, in, previous)) << size;
  }
}

TEST_P(TransportTest, MessagesOfOneTagKeepTheirOrderAndTagsDoNotMix) {
  std::vector<Request> requests;
  std::vector<Buffer> in;
  for (int k = 0; k < 6; ++k) {
    in.push_back(numbered(comm, 700000, -1));
    requests.push_back(transport->receive<double>(in.back(), previous, 1 + k % 2));
  }
  // Tag 2 first: its messages overtake those of tag 1, not each other.
  for (const int k : {1, 3, 0, 5, 2, 4}) {
    requests.push_back(transport->send<double>(numbered(comm, 700000, 100 * comm.rank() + k), next, 1 + k % 2));
  }
  for (Request& request : requests) {
    while (!request.test()) {
      transport->progress();
    }
  }
  for (int k = 0; k < 6; ++k) {
    EXPECT_TRUE(holds(comm, in[static_cast<std::size_t>(k)], 100 * previous + k)) << k;
  }
}

TEST_P(TransportTest, BlocksLandInBlocksAndTouchNothingElse) {
  const std::vector<std::tuple<Index, Index, Index, Index>> cases = {
      {5, 7, 5, 9},    {64, 33, 100, 64},       {1, 40, 3, 1},
      {40, 1, 50, 60}, {1000, 700, 1024, 1001}, {600000, 3, 600001, 600007}};
  // By copies, and by kernels that read the sender's memory.
  for (std::size_t number = 0; number < (transport->shows_blocks(comm.rank()) ? 2 : 1) * cases.size(); ++number) {
    const bool shown = number >= cases.size();
    const auto [rows, columns, leading_out, leading_in] = cases[number % cases.size()];
    const Buffer out = numbered(comm, leading_out * columns + 3, comm.rank());
    const Buffer in = numbered(comm, leading_in * columns + 2, 77);
    const MatrixView<const double> from(block(out, 3, rows, columns, leading_out));
    const MatrixView<double> to = block(in, 2, rows, columns, leading_in);
    const bool contiguous = columns == 1 || (leading_out == rows && leading_in == rows);
    if (!transport->takes_blocks() && !contiguous) {
      test::expect_refusal(ErrorKind::argument,
                           ": transport " + std::string(to_string(GetParam())) + " takes contiguous blocks alone", [&] {
                             static_cast<void>(leading_out > rows ? transport->send<double>(from, next, 1)
                                                                  : transport->receive<double>(to, previous, 1));
                           });
      continue;
    }
    Request receiving = shown ? transport->receive_by<double>(rows, columns, previous, 1,
                                                              [&](const MatrixView<const double>& there) {
                                                                Kokkos::deep_copy(comm.space(), to, there);
                                                              })
                              : transport->receive<double>(to, previous, 1);
    Request sending = transport->send<double>(from, next, 1);
    receiving.wait();
    sending.wait();
    const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace{}, in);
    Kokkos::deep_copy(comm.space(), host, in);
    comm.space().fence("heddle::test::block");
    Index wrong = 0;
    for (Index i = 0; i < static_cast<Index>(in.size()); ++i) {
      const Index row = (i - 2) % leading_in;
      const Index column = (i - 2) / leading_in;
      const bool inside = i >= 2 && row < rows && column < columns;
      const double expected =
          inside ? test::random_number(3 + row + column * leading_out, 0, previous) : test::random_number(i, 0, 77);
      wrong += host(static_cast<std::size_t>(i)) == expected ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0) << rows << " x " << columns;
  }
  if (!transport->shows_blocks(comm.rank())) {
    test::expect_refusal(ErrorKind::argument, "receive_by: transport ", [&] {
      static_cast<void>(transport->receive_by<double>(1, 1, previous, 1, [](const MatrixView<const double>&) {}));
    });
  }
}

TEST_P(TransportTest, EventsOrderWhatIsOnOtherInstances) {
  const auto instances = Kokkos::Experimental::partition_space(comm.space(), 1, 1);
  const Index size = 200000;
  const Buffer out(Kokkos::view_alloc(comm.space(), "heddle::test::out"), static_cast<std::size_t>(size));
  const Buffer in(Kokkos::view_alloc(comm.space(), "heddle::test::in"), static_cast<std::size_t>(size));
  const Buffer seen(Kokkos::view_alloc(comm.space(), "heddle::test::seen"), static_cast<std::size_t>(size));
  comm.space().fence("heddle::test::allocated");
  for (int round = 0; round < 10; ++round) {
    // The buffer is filled on one instance, and what arrived is read on the other while the next round begins.
    fill_numbered(instances[0], out, 10 * comm.rank() + round);
    const Event free = Event::on(instances[1]);
    Request receiving = transport->receive<double>(block(in, 0, size, 1, size), previous, 1, std::span(&free, 1));
    Request sending = transport->send<double>(MatrixView<const double>(block(out, 0, size, 1, size)), next, 1,
                                              Event::on(instances[0]));
    receiving.wait();
    receiving.event().before(instances[1]);
    Kokkos::deep_copy(instances[1], seen, in);
    sending.wait();
    instances[1].fence("heddle::test::seen");
    ASSERT_TRUE(holds(comm, seen, 10 * previous + round)) << round;
  }
}

TEST_P(TransportTest, EveryRankSendsToEveryRankItselfIncluded) {
  const int ranks = comm.size();
  const Index size = 40000;
  std::vector<Request> requests;
  std::vector<Buffer> in;
  const int each = 20;
  for (int source = 0; source < ranks; ++source) {
    for (int k = 0; k < each; ++k) {
      in.push_back(numbered(comm, size, -1));
      requests.push_back(transport->receive<double>(in.back(), source, 1));
    }
  }
  for (int k = 0; k < each; ++k) {
    for (int destination = 0; destination < ranks; ++destination) {
      requests.push_back(
          transport->send<double>(numbered(comm, size, 1000 * comm.rank() + 100 * destination + k), destination, 1));
    }
  }
  for (Request& request : requests) {
    request.wait();
  }
  transport->drain();
  for (int source = 0; source < ranks; ++source) {
    for (int k = 0; k < each; ++k) {
      EXPECT_TRUE(holds(comm, in[static_cast<std::size_t>(source * each + k)], 1000 * source + 100 * comm.rank() + k));
    }
  }
}

TEST_P(TransportTest, MemoryMayComeAndGoBetweenMessages) {
  // Freed and taken again at the same addresses, in other sizes: nothing remembered of them may be stale.
  for (int round = 0; round < 12; ++round) {
    const Index size = 3000000 / (1 + round % 4);
    const Buffer out = numbered(comm, size, 50 * comm.rank() + round);
    const Buffer in = numbered(comm, size, -1);
    Request receiving = transport->receive<double>(in, previous, 1);
    Request sending = transport->send<double>(out, next, 1);
    receiving.wait();
    sending.wait();
    ASSERT_TRUE(holds(comm, in, 50 * previous + round)) << round;
  }
}

TEST_P(TransportTest, HostMemoryIsSentAndReceivedToo) {
  // Pinned, as a matrix in host memory has it; on CPU backends all memory is.
  using Pinned = Kokkos::View<double*, Kokkos::SharedHostPinnedSpace>;
  const Index rows = 300;
  const Index columns = 500;
  const auto make = [&](int seed) {
    const Pinned pinned(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::test::pinned"),
                        static_cast<std::size_t>(rows * columns));
    for (Index i = 0; i < rows * columns; ++i) {
      pinned(static_cast<std::size_t>(i)) = test::random_number(i, 0, seed);
    }
    return pinned;
  };
  const auto view = [&](const Pinned& pinned) {
    return block(Buffer(pinned.data(), pinned.size()), 0, rows, columns, rows);
  };
  const Pinned out = make(comm.rank());
  const Pinned in = make(-1);
  // To two ranks at once, which may share what brings it to the device.
  const Pinned also_in = make(-1);
  std::vector<Request> requests;
  requests.push_back(transport->receive<double>(view(in), previous, 1));
  requests.push_back(transport->receive<double>(view(also_in), comm.rank(), 1));
  requests.push_back(transport->send<double>(MatrixView<const double>(view(out)), next, 1));
  requests.push_back(transport->send<double>(MatrixView<const double>(view(out)), comm.rank(), 1));
  for (Request& request : requests) {
    request.wait();
  }
  comm.space().fence("heddle::test::host_memory");
  Index wrong = 0;
  for (Index i = 0; i < rows * columns; ++i) {
    const auto k = static_cast<std::size_t>(i);
    wrong += in(k) == test::random_number(i, 0, previous) ? 0 : 1;
    wrong += also_in(k) == test::random_number(i, 0, comm.size() == 1 ? 0 : comm.rank()) ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(TransportTest, RequestKeepsItsBuffersAlive) {
  const Buffer in = numbered(comm, 100000, -1);
  Buffer out = numbered(comm, 100000, comm.rank());
  Request sending = transport->send<double>(out, next, 1);
  EXPECT_EQ(out.use_count(), 2);
  out = Buffer();
  transport->receive<double>(in, previous, 1).wait();
  Request moved = std::move(sending);
  EXPECT_FALSE(sending.active());  // NOLINT(bugprone-use-after-move): a moved-from request is empty
  moved.wait();
  EXPECT_TRUE(holds(comm, in, previous));
}

TEST(Transport, TimesItsTransfersWhereAsked) {
  const Communicator comm = test::world();
  const auto transport = make_transport(comm, TransportKind::staged);
  transport.set_timed(true);
  const Buffer in = numbered(comm, 100000, -1);
  const Buffer out = numbered(comm, 100000, 1);
  Request receiving = transport.receive<double>(in, comm.rank(), 1);
  transport.send<double>(out, comm.rank(), 1).wait();
  receiving.wait();
  receiving.event().wait();
  EXPECT_GE(receiving.event().seconds_since(receiving.begin()), 0.0);
  EXPECT_LT(receiving.event().seconds_since(receiving.begin()), 10.0);
}

TEST(Transport, IsChosenByTheEnvironmentOrRefused) {
  setenv("HEDDLE_TRANSPORT", "staged", 1);
  {
    const Communicator comm = test::world();
    EXPECT_EQ(transport_of(comm).kind(comm.rank()), TransportKind::staged);
    EXPECT_EQ(transport_of(comm), transport_of(comm));
    EXPECT_NE(transport_of(comm).reason(comm.rank()).find("HEDDLE_TRANSPORT"), std::string::npos);
  }
  if (test::on_host) {
    // In order of preference, each where it works.
    for (const auto& [words, chosen] :
         {std::pair("staged,direct", TransportKind::staged), std::pair("direct,staged,direct", TransportKind::direct),
          std::pair("peer,staged", TransportKind::staged)}) {
      setenv("HEDDLE_TRANSPORT", words, 1);
      EXPECT_TRUE(transport_of(test::world()).only(chosen)) << words;
    }
  }
  for (const char* words : {"staged,pigeon", ",", "staged,,direct", "peer staged"}) {
    setenv("HEDDLE_TRANSPORT", words, 1);
    test::expect_refusal(ErrorKind::argument, "expected peer, direct, nccl or staged",
                         [&] { static_cast<void>(transport_of(test::world())); });
  }
  setenv("HEDDLE_TRANSPORT", "pigeon", 1);
  test::expect_refusal(ErrorKind::argument, "HEDDLE_TRANSPORT='pigeon': expected peer, direct, nccl or staged",
                       [&] { static_cast<void>(transport_of(test::world())); });
  if (test::on_host) {
    setenv("HEDDLE_TRANSPORT", "peer", 1);
    test::expect_refusal(ErrorKind::argument, "HEDDLE_TRANSPORT=peer: there is no device memory in this build",
                         [&] { static_cast<void>(transport_of(test::world())); });
    EXPECT_FALSE(availability(test::world(), TransportKind::peer).available);
    EXPECT_EQ(availability(test::world(), TransportKind::nccl).reason, "there is no device memory in this build");
  }
  unsetenv("HEDDLE_TRANSPORT");
  const Communicator comm = test::world();
  EXPECT_FALSE(transport_of(comm).reason(comm.rank()).empty());
  if (test::on_host) {
    EXPECT_EQ(to_string(transport_of(comm).kind(comm.rank())), "direct");
  }
}

}  // namespace
}  // namespace heddle::transport_test
