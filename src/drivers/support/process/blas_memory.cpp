// Checks before main() that OpenBLAS has room for its buffers, whose allocator otherwise tries forever.
#include "drivers/support/process/blas_memory.hpp"

#include <heddle/core/error.hpp>

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

namespace heddle::driver {
namespace {

// OpenBLAS has a buffer for each thread from its start, and one for each of the caller's threads that is in a call.
constexpr std::size_t buffer_bytes = (std::size_t{128} << 20) + (std::size_t{64} << 10);
constexpr int call_buffers = 2;
// For MPI and small arrays, and for each further thread: its stack, and the heap that the C library begins for it.
constexpr std::size_t other_bytes = std::size_t{48} << 20;
constexpr std::size_t bytes_of_thread = std::size_t{160} << 20;
constexpr int most_threads = 256;
constexpr std::string_view no_room =
    "out of memory: no room for the buffers that OpenBLAS and MPI start with; raise the limit of address space "
    "(ulimit -v), or use fewer threads (OMP_NUM_THREADS)";

bool is_limited() {
  rlimit limit = {};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? std::clamp(CPU_COUNT(&set), 1, most_threads) : 1;
}

// Return the number of OpenBLAS's threads as it finds it itself. Before main() getenv() may find nothing.
int blas_threads(char** environment) {
  constexpr std::array<std::string_view, 3> names = {"OPENBLAS_NUM_THREADS=", "GOTO_NUM_THREADS=", "OMP_NUM_THREADS="};
  for (const std::string_view name : names) {
    for (char** variable = environment; variable != nullptr && *variable != nullptr; ++variable) {
      if (!std::string_view(*variable).starts_with(name)) continue;
      const int threads = std::atoi(*variable + name.size());
      if (threads > 0) return std::min(threads, most_threads);
    }
  }
  return processors();
}

void* map(std::size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

// Return true if so many buffers, and so many bytes beside them, could be mapped at once; they are given back.
bool has_room(int buffers, std::size_t beside) {
  std::array<void*, most_threads + std::size_t{call_buffers}> mapped{};
  int count = 0;
  while (count < buffers) {
    void* const piece = map(buffer_bytes);
    if (piece == MAP_FAILED) break;
    mapped[static_cast<std::size_t>(count++)] = piece;
  }
  bool has = count == buffers;
  if (has && beside > 0) {
    void* const piece = map(beside);
    has = piece != MAP_FAILED;
    if (has) ::munmap(piece, beside);
  }
  for (int k = 0; k < count; ++k) ::munmap(mapped[static_cast<std::size_t>(k)], buffer_bytes);
  return has;
}

// Nothing but system calls: the libraries are loaded, but have not begun.
void require_room(int /*argc*/, char** /*argv*/, char** environment) {
  if (!is_limited() || ::dlsym(RTLD_DEFAULT, "gotoblas_init") == nullptr) return;
  if (has_room(std::min(blas_threads(environment), processors()) + 1, 0)) return;
  for (const std::string_view part : {std::string_view("heddle: "), no_room, std::string_view("\n")}) {
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0) break;
  }
  ::_exit(1);
}

// Runs before the constructors of shared libraries, where OpenBLAS allocates. A constant would be one of the device,
// too, for HIP.
[[gnu::section(".preinit_array"), gnu::used]] void (*before_libraries)(int, char**, char**) = require_room;

}  // namespace

void reserve_blas_buffers() {
  if (!is_limited()) return;
  using Allocate = void* (*)(int);
  using Free = void (*)(void*);
  const auto allocate = reinterpret_cast<Allocate>(::dlsym(RTLD_DEFAULT, "blas_memory_alloc"));
  const auto free = reinterpret_cast<Free>(::dlsym(RTLD_DEFAULT, "blas_memory_free"));
  if (allocate == nullptr || free == nullptr) return;
  // Threads beyond the processors get their buffers in the first call.
  const int threads = blas_threads(environ);
  const int later = call_buffers + std::max(threads - processors(), 0);
  if (!has_room(later, other_bytes + static_cast<std::size_t>(threads - 1) * bytes_of_thread))
    throw Error(ErrorKind::memory, std::string(no_room));
  // OpenBLAS keeps what it is given back.
  std::array<void*, most_threads + std::size_t{call_buffers}> buffers{};
  for (int k = 0; k < later; ++k) buffers[static_cast<std::size_t>(k)] = allocate(0);
  for (int k = 0; k < later; ++k) free(buffers[static_cast<std::size_t>(k)]);
}

}  // namespace heddle::driver
