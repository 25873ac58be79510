// Text that a command prints for people, and the exit code if some is lost.
#include "drivers/support/process/standard_output.hpp"

#include "drivers/support/context.hpp"
#include <heddle/core/error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace heddle::driver {

namespace {

// Error number of the first failed write; 0: none failed.
int reason = 0;

void flush() {
  if (std::fflush(stdout) != 0 && reason == 0) reason = errno;
}

}  // namespace

void print_line(const CommonOptions& options, const std::string& line) {
  if (options.quiet) return;
  if (options.report_to_output()) {
    std::fprintf(stderr, "%s\n", line.c_str());
    std::fflush(stderr);
  } else {
    print_text(line + '\n');
  }
}

void print_text(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && reason == 0) reason = errno;
  flush();
}

int checked_output(int code) {
  flush();
  if (reason == 0 && std::ferror(stdout) == 0) return code;
  complain("standard output can't be written" +
           (reason == 0 ? std::string() : message_of(": ", std::strerror(reason))));
  return code == exit_done ? exit_failed : code;
}

}  // namespace heddle::driver
