// What a command did, as the one JSON object that --json writes.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <string>

namespace heddle::driver {

/// {"command": ..., "inputs": {...}, "results": {...}, "checks": {...}, "times": {...}}; all keys in lower snake case,
/// times in seconds, numbers that are not finite written as null.
///
/// Every rank builds the same one; rank 0 writes it. Its clock starts with it: times.total is the time until write().
class Report {
 public:
  explicit Report(std::string command);

  /// References to the members of the object, to be filled in as JSON: report.results()["tile"] = 512.
  [[nodiscard]] nlohmann::ordered_json& inputs() { return inputs_; }
  [[nodiscard]] nlohmann::ordered_json& results() { return results_; }
  [[nodiscard]] nlohmann::ordered_json& times() { return times_; }
  [[nodiscard]] const nlohmann::ordered_json& checks() const { return checks_; }

  /// Enters a check "`value` is at most `bound`" and returns whether it passed; NaN fails.
  bool check_at_most(const std::string& name, double value, double bound);
  /// Enters a check whose outcome is known.
  bool check(const std::string& name, bool passed, const nlohmann::ordered_json& value,
             const nlohmann::ordered_json& bound);
  /// True where no check failed.
  [[nodiscard]] bool passed() const;

  /// The object as text, indented, with a closing newline.
  [[nodiscard]] std::string text() const;
  /// Writes it beside `path` and renames. Throws Error(output) where that can't be done.
  void write(const std::filesystem::path& path) const;

 private:
  std::string command_;
  std::chrono::steady_clock::time_point start_;
  nlohmann::ordered_json inputs_ = nlohmann::ordered_json::object();
  nlohmann::ordered_json results_ = nlohmann::ordered_json::object();
  nlohmann::ordered_json checks_ = nlohmann::ordered_json::object();
  nlohmann::ordered_json times_ = nlohmann::ordered_json::object();
};

}  // namespace heddle::driver
