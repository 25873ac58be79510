// Exit, failure and report of a subcommand on its ranks.
#include "drivers/support/context.hpp"

#include "drivers/support/process/standard_output.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/core/error.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>

namespace heddle::driver {

namespace {

std::string number(const nlohmann::ordered_json& value) {
  return value.is_number_float() ? format("%.3g", value.get<double>()) : value.dump();
}

// Kokkos reports failed allocations as "Kokkos ERROR: Host memory space failed to allocate 7.276 TiB (label="...").".
std::string without_kokkos(const std::string& message) {
  constexpr std::string_view amount = "failed to allocate ";
  const std::size_t found = message.find(amount);
  if (!message.starts_with("Kokkos ERROR: ") || found == std::string::npos) return message;
  const std::string rest = message.substr(found + amount.size());
  return "out of memory: no room for " + rest.substr(0, rest.find(" ("));
}

}  // namespace

void Context::say(const std::string& line) const {
  if (root()) print_line(options_, line);
}

Report Context::report(const std::string& command) const {
  Report report(command);
  report.inputs()["ranks"] = comm_.size();
  report.inputs()["threads_per_rank"] = comm_.space().concurrency();
  report_ = report;
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
  comm_.on_rank(0, [&] { report.write(options_); });
  if (!failed.empty()) {
    if (root()) complain(failed);
    return exit_failed;
  }
  return exit_done;
}

void Context::report_failure(const std::string& command, const Failure& failure) const {
  if (root()) driver::report_failure(options_, report_.value_or(Report(command)), failure);
}

void report_failure(const CommonOptions& options, Report report, const Failure& failure) {
  // If the report itself can't be written, an older one stays.
  if (failure.exit_code != exit_failed || failure.message.starts_with(options.json + ": can't be written")) return;
  report.fail(one_line(failure.message), failure.exit_code);
  try {
    report.write(options);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The caller reports the first failure; this one is dropped.
  }
}

void complain(const std::string& message) {
  constexpr std::size_t most = 300;
  std::fprintf(stderr, "heddle: %s\n", shortened(one_line(message), most).c_str());
  std::fflush(stderr);
}

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    const bool failed = error.kind() == ErrorKind::computation || error.kind() == ErrorKind::storage ||
                        error.kind() == ErrorKind::memory;
    return {failed ? exit_failed : exit_usage, without_kokkos(error.what())};
  } catch (const std::filesystem::filesystem_error& error) {
    return {exit_usage, error.what()};
  } catch (const std::bad_alloc& error) {
    return {exit_failed, message_of("out of memory (", error.what(), ")")};
  } catch (const std::exception& error) {
    return {exit_failed, without_kokkos(error.what())};
  } catch (...) {
    return {exit_failed, "an exception of unknown type"};
  }
}

}  // namespace heddle::driver
