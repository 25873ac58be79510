// Memory given back, and taken at the second try.
#include "comm/failures/release.hpp"

#include "comm/vendor/vendor.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/comm/transport.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

namespace heddle::release_test {
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
    // Memory of the first try on the other ranks is freed before the second.
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

// Memory of a device that no other program takes or gives back meanwhile: CTest runs these tests alone.
class Mappings : public ::testing::Test {
 protected:
  static constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
  static constexpr double size = 12.0 * gibibyte;

  void SetUp() override {
    if (comm_.size() == 1) GTEST_SKIP() << "there is nobody else who has memory open";
    if (!availability(comm_, TransportKind::peer).available) {
      GTEST_SKIP() << availability(comm_, TransportKind::peer).reason;
    }
    before_ = free();
    if (comm_.all_reduce(before_, Reduction::minimum) < 2.0 * size) GTEST_SKIP() << "24 GiB of a device are not free";
  }
  static double free() { return static_cast<double>(impl::vendor::memory_info().free); }
  [[nodiscard]] Buffer buffer(double bytes) const {
    return Buffer(Kokkos::view_alloc(comm_.space(), Kokkos::WithoutInitializing, "heddle::test::buffer"),
                  static_cast<std::size_t>(bytes / sizeof(double)));
  }
  void expect_all_is_free_again() const {
    comm_.barrier();
    impl::release_mappings(comm_);
    EXPECT_GT(free(), before_ - 0.5 * size);
  }

  const Communicator comm_ = test::world();
  double before_ = 0.0;
};

TEST_F(Mappings, AreReleasedSoThatFreedMemoryComesBack) {
  const Transport transport = make_transport(comm_, TransportKind::peer);
  {
    const Buffer here = buffer(sizeof(double));
    const Buffer large = buffer(comm_.rank() == 0 ? size : sizeof(double));
    const Buffer word(large.data(), 1);
    Kokkos::deep_copy(comm_.space(), word, 4.0);
    if (comm_.rank() == 1) transport.receive<double>(here, 0, 1).wait();
    if (comm_.rank() == 0) transport.send<double>(word, 1, 1).wait();
    transport.drain();
    comm_.space().fence("heddle::test::sent");
  }
  expect_all_is_free_again();
}

TEST_F(Mappings, AreClosedByAMessageThatIsGivenUp) {
  constexpr int rounds = 4;
  for (int round = 0; round < rounds; ++round) {
    const Buffer data = buffer(comm_.rank() < 2 ? size / rounds : sizeof(double));
    comm_.space().fence("heddle::test::allocated");
    test::expect_refusal(ErrorKind::storage, "rank 1: no more", [&] {
      comm_.together([&] {
        const Transport transport = make_transport(comm_, TransportKind::peer);
        if (comm_.rank() == 0) transport.send<double>(data, 1, 1).wait();
        if (comm_.rank() == 1) {
          transport.receive<double>(data, 0, 1).wait();  // The copy has begun, and takes a millisecond.
          throw Error(ErrorKind::storage, "no more");
        }
        comm_.barrier();
      });
    });
  }
  expect_all_is_free_again();
}

}  // namespace
}  // namespace heddle::release_test
