// The one JSON object that --json writes about a command.
#pragma once

#include "drivers/support/options/options.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <memory>
#include <string>

namespace heddle::driver {

/// Return the larger of two values of a check: NaN if either is, which std::max may lose.
[[nodiscard]] inline double larger(double one, double other) {
  return std::isnan(one) || one > other ? one : other;
}

/// {"command": ..., "provenance": {...}, "inputs": {...}, "results": {...}, "checks": {...}, "times": {...}}; all keys
/// in lower snake case, times in seconds, numbers that are not finite written as null. One of a command that failed has
/// "failure" too, with the message and the exit code, and what was known until then.
///
/// Every rank builds the same one; rank 0 writes it. Its clock starts with it: times.total is the time until write().
/// Copies share one object.
class Report {
 public:
  explicit Report(std::string command);

  /// References to the members of the object, to be filled in as JSON: report.results()["tile"] = 512.
  [[nodiscard]] nlohmann::ordered_json& inputs() { return object_->inputs; }
  [[nodiscard]] nlohmann::ordered_json& results() { return object_->results; }
  [[nodiscard]] nlohmann::ordered_json& times() { return object_->times; }
  [[nodiscard]] const nlohmann::ordered_json& checks() const { return object_->checks; }

  /// Enters a check "`value` is at most `bound`" and returns whether it passed; NaN fails.
  bool check_at_most(const std::string& name, double value, double bound);
  /// Enters a check whose outcome is known.
  bool check(const std::string& name, bool passed, const nlohmann::ordered_json& value,
             const nlohmann::ordered_json& bound);
  /// True where no check failed.
  [[nodiscard]] bool passed() const;
  /// Enters that the command failed.
  void fail(const std::string& message, int exit_code);

  /// The object as text, indented, with a closing newline.
  [[nodiscard]] std::string text() const;
  /// Writes it where --json says, if it says so: to a file, which appears complete or not at all, or to standard
  /// output. Throws as PendingFile does.
  void write(const CommonOptions& options) const;

 private:
  struct Object {
    std::string command;
    std::chrono::steady_clock::time_point start;
    nlohmann::ordered_json inputs = nlohmann::ordered_json::object();
    nlohmann::ordered_json results = nlohmann::ordered_json::object();
    nlohmann::ordered_json checks = nlohmann::ordered_json::object();
    nlohmann::ordered_json times = nlohmann::ordered_json::object();
    nlohmann::ordered_json failure;
  };
  std::shared_ptr<Object> object_;
};

}  // namespace heddle::driver
