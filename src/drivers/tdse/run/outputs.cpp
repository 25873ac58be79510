// Locks and overwrite checks of the files that a run writes.
#include "drivers/tdse/run/outputs.hpp"

#include "drivers/support/outputs.hpp"
#include "drivers/tdse/record/record.hpp"
#include <heddle/core/error.hpp>

#include <filesystem>

namespace heddle::driver {

namespace {

using std::filesystem::path;

bool is_file(const path& name) {
  std::error_code error;
  return std::filesystem::is_regular_file(name, error);
}

bool is_same(const path& name, const std::string& restart) {
  std::error_code error;
  return !restart.empty() && std::filesystem::equivalent(name, restart, error);
}

}  // namespace

OutputLocks require_free_outputs(const Deck& deck, const std::string& json, const RunOptions& options) {
  const path partial = partial_path(deck.output_file);
  require_distinct_outputs({{"--json", json},
                            {"output.file", deck.output_file},
                            {"output.table", deck.output_table},
                            {"the unfinished run (output.file with .partial)", partial}});
  OutputLocks locks;
  for (const std::string& name : {deck.output_file, deck.output_table}) {
    if (!name.empty()) locks.push_back(std::make_unique<FileLock>(name, "wait for it, or write another file"));
  }
  if (options.force) return locks;
  const auto require_free = [](const std::string& name) {
    require(!is_file(name), name, ": is there already; --force replaces it, --output names another file");
  };
  if (!is_same(deck.output_file, options.restart)) require_free(deck.output_file);
  // A continued run rewrites the whole table.
  if (options.restart.empty()) require_free(deck.output_table);
  require(!is_file(partial) || is_same(partial, options.restart), partial.string(),
          ": holds an unfinished run; --restart ", partial.string(), " continues it, --force begins anew");
  return locks;
}

}  // namespace heddle::driver
