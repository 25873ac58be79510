// Messages that go on while their ranks compute.
#include "comm/transports/progress_thread.hpp"

#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/comm/transport.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace heddle::progress_thread_test {
namespace {

using impl::ProgressThread;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds long_enough(30);
constexpr std::chrono::milliseconds some_intervals(20);

// Computes until done() holds, calling nothing else.
template <class Done> bool compute_until(const Done& done) {
  const auto begin = Clock::now();
  while (!done()) {
    if (Clock::now() - begin > long_enough) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(ProgressThread, MessagesArriveWhileTheirRanksCompute) {
  if (!test::on_host) {
    GTEST_SKIP() << "it is for ranks whose own thread computes; on GPUs messages go on beside kernels without it";
  }
  const Communicator comm = test::world();
  ASSERT_TRUE(ProgressThread::is_allowed());
  const Transport transport = transport_of(comm);
  // Far longer than what MPI sends without asking the receiver.
  using Buffer = Kokkos::View<double*, MemorySpace>;
  const Buffer out("heddle::test::out", 1 << 20);
  const Buffer in("heddle::test::in", 1 << 20);
  Kokkos::deep_copy(out, 1.0 + comm.rank());
  Kokkos::fence("heddle::test::filled");
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  Request receiving = transport.receive<double>(in, previous, 1);
  Request sending = transport.send<double>(Kokkos::View<const double*, MemorySpace>(out), next, 1);
  std::atomic<bool> over{false};
  std::atomic<bool> all_over{false};
  ProgressThread thread([&] {
    // All of both, so that no rank leaves before the other has what it needs of it.
    const bool received = receiving.test();
    const bool sent = sending.test();
    over = received && sent;
  });
  thread.during([&] { all_over = compute_until([&] { return over.load(); }); });
  EXPECT_TRUE(all_over);
  transport.drain();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), in);
  EXPECT_EQ(host(0), 1.0 + previous);
  EXPECT_EQ(host(host.size() - 1), 1.0 + previous);
}

TEST(ProgressThread, CallsNothingOutsideOfWork) {
  std::atomic<int> calls{0};
  ProgressThread thread([&] { ++calls; });
  for (int round = 0; round < 3; ++round) {
    const int before = calls;
    std::this_thread::sleep_for(some_intervals);
    EXPECT_EQ(calls, before);
    // Also where it has long been asleep.
    thread.during([&] { EXPECT_TRUE(compute_until([&] { return calls >= before + 2; })); });
  }
}

TEST(ProgressThread, NeverCallsWhileTheCallerMay) {
  std::atomic<bool> works{false};
  std::atomic<int> calls{0};
  std::atomic<int> wrong{0};
  ProgressThread thread(
      [&] {
        wrong += works ? 0 : 1;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        wrong += works ? 0 : 1;
        ++calls;
      },
      std::chrono::microseconds(50));
  const auto begin = Clock::now();
  while (calls < 100 && Clock::now() - begin < long_enough) {
    works = true;
    thread.during([] { std::this_thread::sleep_for(std::chrono::microseconds(300)); });
    works = false;
  }
  EXPECT_GE(calls, 100);
  // A call may begin before `works` is taken back only if it ends before, too.
  EXPECT_EQ(wrong, 0);
}

TEST(ProgressThread, ThrowsWhatTheOtherThreadThrewAndThenWorksOn) {
  std::atomic<int> calls{0};
  ProgressThread thread([&] {
    if (++calls == 1) throw Error(ErrorKind::computation, "of the other thread");
  });
  bool worked_on = false;
  test::expect_refusal(ErrorKind::computation, "of the other thread", [&] {
    thread.during([&] {
      EXPECT_TRUE(compute_until([&] { return calls == 1; }));
      worked_on = true;
    });
  });
  EXPECT_TRUE(worked_on);
  thread.during([&] { EXPECT_TRUE(compute_until([&] { return calls >= 3; })); });
}

TEST(ProgressThread, ThrowsWhatTheWorkThrows) {
  ProgressThread thread([] {});
  test::expect_refusal(ErrorKind::argument, "of the work",
                       [&] { thread.during([] { throw Error(ErrorKind::argument, "of the work"); }); });
  bool worked = false;
  thread.during([&] { worked = true; });
  EXPECT_TRUE(worked);
}

}  // namespace
}  // namespace heddle::progress_thread_test
