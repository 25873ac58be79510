#include "drivers/support/report.hpp"

#include "drivers/support/clock.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>

#include <fstream>
#include <utility>

namespace heddle::driver {

Report::Report(std::string command) : command_(std::move(command)), start_(std::chrono::steady_clock::now()) {}

bool Report::check_at_most(const std::string& name, double value, double bound) {
  return check(name, value <= bound, value, bound);
}

bool Report::check(const std::string& name, bool passed, const nlohmann::ordered_json& value,
                   const nlohmann::ordered_json& bound) {
  checks_[name] = {{"passed", passed}, {"value", value}, {"bound", bound}};
  return passed;
}

bool Report::passed() const {
  for (const auto& check : checks_) {
    if (!check.at("passed").get<bool>()) return false;
  }
  return true;
}

std::string Report::text() const {
  nlohmann::ordered_json times = times_;
  times["total"] = seconds_since(start_);
  const nlohmann::ordered_json object = {
      {"command", command_}, {"inputs", inputs_}, {"results", results_}, {"checks", checks_}, {"times", times}};
  // File names may hold any bytes; JSON is UTF-8.
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

void Report::write(const std::filesystem::path& path) const {
  PendingFile file(path);
  {
    std::ofstream stream(file.path(), std::ios::binary);
    stream << text();
    stream.close();
    if (!stream) throw Error(ErrorKind::output, message_of(path.string(), ": the report could not be written"));
  }
  file.commit();
}

}  // namespace heddle::driver
