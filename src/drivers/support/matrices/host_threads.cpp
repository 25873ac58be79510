// Loops on all host threads of this rank, whose exceptions reach the caller.
#include "drivers/support/matrices/host_threads.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace heddle::driver {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

#ifdef KOKKOS_ENABLE_SERIAL
constexpr bool host_space_is_serial = std::is_same_v<Host, Kokkos::Serial>;
#else
constexpr bool host_space_is_serial = false;
#endif

// A body whose exceptions are kept until all parts are done, since none may leave a thread.
class Guarded {
 public:
  Guarded(Index parts, const std::function<void(Index part)>& body)
      : body_(body), thrown_(static_cast<std::size_t>(std::max<Index>(parts, 0))) {}

  void operator()(Index part) {
    try {
      body_(part);
    } catch (...) {
      thrown_[static_cast<std::size_t>(part)] = std::current_exception();
    }
  }
  void rethrow() const {
    for (const std::exception_ptr& one : thrown_) {
      if (one) std::rethrow_exception(one);
    }
  }

 private:
  const std::function<void(Index part)>& body_;
  std::vector<std::exception_ptr> thrown_;
};

}  // namespace

void on_own_threads(Index threads, Index parts, const std::function<void(Index part)>& body) {
  Guarded guarded(parts, body);
  std::atomic<Index> next = 0;
  const auto work = [&] {
    for (Index part = next++; part < parts; part = next++) guarded(part);
  };
  {
    std::vector<std::jthread> others;
    try {
      while (static_cast<Index>(others.size()) + 1 < std::min(threads, parts)) others.emplace_back(work);
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): those that are there do everything
    }
    work();
  }
  guarded.rethrow();
}

void on_host_threads(const Communicator& comm, Index parts, const std::function<void(Index part)>& body) {
  if constexpr (host_space_is_serial && !std::is_same_v<Host, ExecutionSpace>) {
    on_own_threads(static_cast<Index>(std::thread::hardware_concurrency()) / comm.node_size(), parts, body);
  } else {
    static_cast<void>(comm);
    Guarded guarded(parts, body);
    using Policy = Kokkos::RangePolicy<Host, Kokkos::IndexType<Index>, Kokkos::Schedule<Kokkos::Dynamic>>;
    Kokkos::parallel_for("heddle::driver::on_host_threads", Policy(0, parts, Kokkos::ChunkSize(1)),
                         [&](Index part) { guarded(part); });
    Host().fence("heddle::driver::on_host_threads");
    guarded.rethrow();
  }
}

}  // namespace heddle::driver
