// The one JSON object that --json writes about a command.
#include "drivers/support/report.hpp"

#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/standard_output.hpp"
#include "drivers/support/provenance.hpp"
#include <heddle/core/pending_file.hpp>

#include <utility>

namespace heddle::driver {

Report::Report(std::string command) : object_(std::make_shared<Object>()) {
  object_->command = std::move(command);
  object_->start = std::chrono::steady_clock::now();
}

bool Report::check_at_most(const std::string& name, double value, double bound) {
  return check(name, value <= bound, value, bound);
}

bool Report::check(const std::string& name, bool passed, const nlohmann::ordered_json& value,
                   const nlohmann::ordered_json& bound) {
  object_->checks[name] = {{"passed", passed}, {"value", value}, {"bound", bound}};
  return passed;
}

bool Report::passed() const {
  for (const auto& check : object_->checks) {
    if (!check.at("passed").get<bool>()) return false;
  }
  return true;
}

void Report::fail(const std::string& message, int exit_code) {
  object_->failure = {{"message", message}, {"exit_code", exit_code}};
}

std::string Report::text() const {
  nlohmann::ordered_json times = object_->times;
  times["total"] = seconds_since(object_->start);
  const Provenance& from = provenance();
  nlohmann::ordered_json all = {{"command", object_->command},
                                {"provenance",
                                 {{"version", from.version},
                                  {"commit", from.commit},
                                  {"host", from.host},
                                  {"date", from.date},
                                  {"command_line", from.command_line}}},
                                {"inputs", object_->inputs},
                                {"results", object_->results},
                                {"checks", object_->checks},
                                {"times", times}};
  if (!object_->failure.is_null()) all["failure"] = object_->failure;
  // File names may hold any bytes; JSON is UTF-8.
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

void Report::write(const CommonOptions& options) const {
  if (options.report_to_output()) {
    print_text(text());
  } else if (!options.json.empty()) {
    PendingStream file(options.json);
    file << text();
    file.commit();
  }
}

}  // namespace heddle::driver
