// The report of HEDDLE_BLAS_REPORT=1: calls of BLAS routines and their time.
#include "interpose/names/report.hpp"

#include "interpose/names/beneath.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace heddle::impl::interpose {
namespace {

struct List {
  std::mutex mutex;
  Routine* first = nullptr;
};
// Never destroyed, as a program's own destructors may call the BLAS.
List& list() {
  static auto* const the = new List;
  return *the;
}

// At the end of the program, or of its use of the library.
struct AtEnd {
  ~AtEnd() {
    if (Routine::reported()) Routine::write();
  }
} at_end;

void write_beneath() {
  std::vector<CalledBeneath> called = called_beneath();
  if (called.empty()) return;
  std::sort(called.begin(), called.end(), [](const CalledBeneath& a, const CalledBeneath& b) {
    return a.calls != b.calls ? a.calls > b.calls : std::strcmp(a.name, b.name) < 0;
  });
  std::fprintf(stderr, "heddle: calls of LAPACK beneath, whose bits are not the same on any machine\n%24s %12s\n",
               "routine", "calls");
  for (const CalledBeneath& one : called) {
    std::fprintf(stderr, "%24s %12llu\n", one.name, static_cast<unsigned long long>(one.calls));
  }
}

}  // namespace

Routine::Routine(const char* name) : name_(name) {
  List& all = list();
  const std::scoped_lock lock(all.mutex);
  next_ = all.first;
  all.first = this;
}

bool Routine::reported() {
  static const bool wanted = [] {
    const char* const text = std::getenv("HEDDLE_BLAS_REPORT");
    return text != nullptr && std::strcmp(text, "") != 0 && std::strcmp(text, "0") != 0;
  }();
  return wanted;
}

void Routine::write() {
  struct Line {
    const char* name;
    std::uint64_t calls;
    double seconds;
  };
  std::vector<Line> lines;
  {
    List& all = list();
    const std::scoped_lock lock(all.mutex);
    for (const Routine* at = all.first; at != nullptr; at = at->next_) {
      if (const std::uint64_t calls = at->calls_.load(); calls > 0) {
        lines.push_back({at->name_, calls, 1e-9 * static_cast<double>(at->nanoseconds_.load())});
      }
    }
  }
  write_beneath();
  if (lines.empty()) return;
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : std::strcmp(a.name, b.name) < 0;
  });
  std::fprintf(stderr, "heddle: calls of the BLAS, whose bits are the same on any machine\n%16s %12s %12s %12s\n",
               "routine", "calls", "seconds", "us a call");
  for (const Line& line : lines) {
    std::fprintf(stderr, "%16s %12llu %12.6f %12.3f\n", line.name, static_cast<unsigned long long>(line.calls),
                 line.seconds, 1e6 * line.seconds / static_cast<double>(line.calls));
  }
}

}  // namespace heddle::impl::interpose
