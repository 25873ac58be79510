// Progress bar, or lines, of a long computation on standard error.
#include "drivers/support/progress.hpp"

#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace heddle::driver {

namespace {

std::string clock_time(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  if (whole >= 3600) return format("%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  return format("%lld:%02lld", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string label, ProgressMode mode, bool shown)
    : label_(std::move(label)), start_(std::chrono::steady_clock::now()), last_(start_) {
  if (!shown || mode == ProgressMode::never) return;
  style_ = mode == ProgressMode::always || isatty(STDERR_FILENO) != 0 ? Style::bar : Style::lines;
}

Progress::~Progress() {
  wipe();
}

void Progress::update(double share, const std::string& note) {
  if (style_ == Style::none) return;
  const auto now = std::chrono::steady_clock::now();
  const double waited = std::chrono::duration<double>(now - last_).count();
  if (waited < (style_ == Style::bar ? 0.1 : 10.0)) return;
  last_ = now;
  share = std::clamp(share, 0.0, 1.0);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::string rest = share > 0.0 ? clock_time(elapsed / share - elapsed) + " left" : std::string();
  if (style_ == Style::lines) {
    const std::string line = format("%s: %.0f %%  %s  %s", label_.c_str(), 100 * share, rest.c_str(), note.c_str());
    std::fprintf(stderr, "%s\n", one_line(line).c_str());
    return;
  }
  constexpr int width = 30;
  const int full = static_cast<int>(share * width);
  std::fprintf(stderr, "\r\033[K%s [%s%s] %3.0f %%  %s  %s", label_.c_str(), std::string(full, '#').c_str(),
               std::string(width - full, '.').c_str(), 100 * share, rest.c_str(), note.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::update(long long done, long long total, const std::string& note) {
  update(total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0, note);
}

void Progress::finish() {
  if (style_ == Style::none) return;
  const double elapsed = seconds_since(start_);
  if (drawn_) {
    wipe();
    std::fprintf(stderr, "%s [%s] 100 %%  %.1f s\n", label_.c_str(), std::string(30, '#').c_str(), elapsed);
  }
  style_ = Style::none;
}

void Progress::wipe() {
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace heddle::driver
