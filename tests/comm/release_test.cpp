// Memory given back, and taken at the second try.
#include "comm/release.hpp"

#include "comm/vendor.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/comm/transport.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

namespace heddle {
namespace {

using Buffer = Kokkos::View<double*, MemorySpace>;

TEST(AllocateTogether, GivesWhatIsAllocatedAtOnce) {
  const Communicator comm = test::world();
  int calls = 0;
  EXPECT_EQ(impl::allocate_together(comm, [&] { return ++calls; }), 1);
}

TEST(AllocateTogether, TriesOnceMoreOnAllRanksWhereOneHasNoMemory) {
  const Communicator comm = test::world();
  for (int poor = 0; poor < comm.size(); ++poor) {
    int calls = 0;
    // What the first try got on the other ranks is given up before the second.
    std::vector<std::weak_ptr<int>> got;
    const auto second = impl::allocate_together(comm, [&] {
      EXPECT_TRUE(std::all_of(got.begin(), got.end(), [](const auto& one) { return one.expired(); }));
      if (++calls == 1 && comm.rank() == poor) throw std::bad_alloc();
      auto made = std::make_shared<int>(calls);
      got.push_back(made);
      return made;
    });
    EXPECT_EQ(*second, 2);
    EXPECT_EQ(calls, 2);
  }
}

TEST(AllocateTogether, ThrowsWhatTheSecondTryThrows) {
  const Communicator comm = test::world();
  int calls = 0;
  const std::string rank = comm.size() == 1 ? "" : "rank 0: ";
  test::expect_refusal(ErrorKind::computation, rank + "no memory, try 2", [&] {
    comm.together([&] {
      static_cast<void>(impl::allocate_together(comm, [&] {
        ++calls;
        if (comm.rank() == 0) throw Error(ErrorKind::computation, "no memory, try " + std::to_string(calls));
        return calls;
      }));
      comm.barrier();  // where the others learn of it
    });
  });
  EXPECT_EQ(comm.all_reduce(1, Reduction::sum), comm.size());
}

TEST(Mappings, AreReleasedSoThatFreedMemoryComesBack) {
  const Communicator comm = test::world();
  if (comm.size() == 1) GTEST_SKIP() << "there is nobody else who has memory open";
  if (!availability(comm, TransportKind::peer).available) {
    GTEST_SKIP() << availability(comm, TransportKind::peer).reason;
  }
  // More than what other programs of the suite take or give back meanwhile.
  constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
  constexpr double size = 12.0 * gibibyte;
  const auto free = [] { return static_cast<double>(impl::vendor::memory_info().free); };
  const Transport transport = make_transport(comm, TransportKind::peer);
  const double before = free();
  if (comm.all_reduce(before, Reduction::minimum) < 2.0 * size) GTEST_SKIP() << "24 GiB of a device are not free";
  {
    const Buffer here(Kokkos::view_alloc(comm.space(), "heddle::test::here"), 1);
    const Buffer large(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::test::large"),
                       comm.rank() == 0 ? static_cast<std::size_t>(size / sizeof(double)) : 1);
    const Buffer word(large.data(), 1);
    Kokkos::deep_copy(comm.space(), word, 4.0);
    if (comm.rank() == 1) transport.receive<double>(here, 0, 1).wait();
    if (comm.rank() == 0) transport.send<double>(word, 1, 1).wait();
    transport.drain();
    comm.space().fence("heddle::test::sent");
  }
  comm.barrier();
  impl::release_mappings(comm);
  EXPECT_GT(free(), before - 0.5 * size);
}

}  // namespace
}  // namespace heddle
