// Size of the host's memory.
#include <heddle/core/host_memory.hpp>

#include <sys/sysinfo.h>

#include <limits>

namespace heddle {

double host_memory() noexcept {
  struct sysinfo machine {};
  if (::sysinfo(&machine) != 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(machine.mem_unit) *
         (static_cast<double>(machine.totalram) + static_cast<double>(machine.totalswap));
}

}  // namespace heddle
