#include "drivers/support/context.hpp"

#include "drivers/support/text.hpp"
#include <heddle/core/error.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>

namespace heddle::driver {

namespace {

std::string number(const nlohmann::ordered_json& value) {
  return value.is_number_float() ? format("%.3g", value.get<double>()) : value.dump();
}

}  // namespace

void Context::say(const std::string& line) const {
  if (root() && !options_.quiet) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }
}

Report Context::report(const std::string& command) const {
  Report report(command);
  report.inputs()["ranks"] = comm_.size();
  report.inputs()["threads_per_rank"] = comm_.space().concurrency();
  return report;
}

int Context::finish(const Report& report) const {
  std::string failed;
  for (const auto& [name, check] : report.checks().items()) {
    const bool passed = check.at("passed").get<bool>();
    const std::string line = name + (passed ? ": passed (" : ": FAILED (") + number(check.at("value")) + ", bound " +
                             number(check.at("bound")) + ")";
    say("check " + line);
    if (!passed && failed.empty()) failed = "check " + line;
  }
  if (!options_.json.empty()) {
    comm_.on_rank(0, [&] { report.write(options_.json); });
  }
  if (!failed.empty()) {
    if (root()) complain(failed);
    return exit_failed;
  }
  return exit_done;
}

void complain(const std::string& message) {
  std::fprintf(stderr, "heddle: %s\n", one_line(message).c_str());
  std::fflush(stderr);
}

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return {error.kind() == ErrorKind::computation ? exit_failed : exit_usage, error.what()};
  } catch (const std::filesystem::filesystem_error& error) {
    return {exit_usage, error.what()};
  } catch (const std::bad_alloc& error) {
    return {exit_failed, message_of("out of memory (", error.what(), ")")};
  } catch (const std::exception& error) {
    return {exit_failed, error.what()};
  } catch (...) {
    return {exit_failed, "an exception of unknown type"};
  }
}

}  // namespace heddle::driver
