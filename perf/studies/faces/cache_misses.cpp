// Misses of the last cache, counted by the processor while something runs.
#include "studies/faces/cache_misses.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

// Return a stopped counter of one thread; negative if it can't be had.
int counter_of(pid_t thread) {
  perf_event_attr wanted{};
  wanted.size = sizeof(wanted);
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_CACHE_MISSES;
  wanted.disabled = 1;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  constexpr int any_processor = -1;
  constexpr int no_group = -1;
  return static_cast<int>(syscall(SYS_perf_event_open, &wanted, thread, any_processor, no_group, 0));
}

}  // namespace

CacheMisses::CacheMisses() {
  if (!on_host) {
    reason_ =
        "on a GPU they are for its vendor's profiler to count, as ncu --metrics "
        "lts__t_sectors_lookup_miss.sum,lts__t_sectors.sum heddle study faces --repeat 1 ...";
    return;
  }
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const int counter = counter_of(static_cast<pid_t>(std::atol(thread.path().filename().c_str())));
    if (counter < 0) {
      const int why = errno;
      reason_ = std::string("perf_event_open: ") + std::strerror(why) +
                (why == EACCES || why == EPERM ? "; /proc/sys/kernel/perf_event_paranoid of 2 or less allows it"
                                               : "; a virtual machine may have no counters");
      close_all();
      return;
    }
    counters_.push_back(counter);
  }
  if (counters_.empty()) reason_ = "this system lists no threads in /proc/self/task";
}

CacheMisses::~CacheMisses() {
  close_all();
}

void CacheMisses::close_all() {
  for (const int counter : counters_) close(counter);
  counters_.clear();
}

void CacheMisses::start() const {
  for (const int counter : counters_) {
    ioctl(counter, PERF_EVENT_IOC_RESET, 0);
    ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
  }
}

std::optional<Index> CacheMisses::stop() const {
  if (counters_.empty()) return {};
  Index misses = 0;
  for (const int counter : counters_) {
    ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
    std::uint64_t one = 0;
    if (read(counter, &one, sizeof(one)) != static_cast<ssize_t>(sizeof(one))) return {};
    misses += static_cast<Index>(one);
  }
  return misses;
}

}  // namespace heddle::driver
