// Computes the results of the manifest and compares their hashes with the stored ones.
#include "drivers/manifest/manifest.hpp"

#include "drivers/manifest/results.hpp"
#include "drivers/shared_files.hpp"
#include "drivers/support/process/programs.hpp"
#include "drivers/support/process/text.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

namespace heddle::driver {
namespace {

struct Expected {
  std::string_view name;
  int version;
  std::string_view sha256;
};

// A definition whose bits change gets a new version here and a line in CHANGELOG.md (ci/lints/manifest.py).
constexpr Expected stored[] = {
#include "drivers/manifest/expected.inc"
};

std::vector<ManifestResult> all_results() {
  std::vector<ManifestResult> results;
  add_products(results);
  add_systems(results);
  add_exponentials(results);
  add_exact_results(results);
  add_small_matrices(results);
  add_eigensystems(results);
  add_searches(results);
  add_wave_functions(results);
  return results;
}

// Run the script of Python's results, which prints them; return its exit status.
int python_status() {
  const std::filesystem::path script = shared_file("manifest/python_results.py");
  const std::string python = python_program();
  const int status = run_program({"/proc/self/exe", "run", "--libm", python, "-B", script.string()},
                                 {.environment = environment_outside_mpi()});
  require(status <= 1, python, " could not compute the results of NumPy; set HEDDLE_PYTHON to a Python 3 with NumPy");
  return status;
}

}  // namespace

int verify_manifest(Context& context, const std::string& only, bool python) {
  Report report = context.report("verify");
  report.inputs()["manifest"] = true;
  report.inputs()["only"] = only;
  auto results = all_results();
  std::erase_if(results, [&](const ManifestResult& result) { return result.name.find(only) == std::string::npos; });
  require(!results.empty(), "--only '", only, "': no result of the manifest has a name with it");
  auto& rows = report.results()["manifest"] = nlohmann::ordered_json::array();
  std::size_t different = 0;
  Progress progress = context.progress("verify");
  for (std::size_t k = 0; k < results.size(); ++k) {
    const std::string& name = results[k].name;
    const std::string found = results[k].compute(context.comm());
    const auto* const expected =
        std::find_if(std::begin(stored), std::end(stored), [&](const Expected& row) { return row.name == name; });
    const bool known = expected != std::end(stored);
    const bool same = known && expected->sha256 == found;
    different += same ? 0 : 1;
    rows.push_back({{"name", name},
                    {"version", known ? expected->version : 0},
                    {"sha256", found},
                    {"expected", known ? std::string(expected->sha256) : std::string()},
                    {"same", same}});
    context.say(format("%.16s  %s", found.c_str(), name.c_str()) +
                (same    ? ""
                 : known ? format("  differs: expected %.16s, version %d", std::string(expected->sha256).c_str(),
                                  expected->version)
                         : "  not stored"));
    progress.update(static_cast<double>(k + 1) / static_cast<double>(results.size()));
  }
  progress.finish();
  context.say(format("verify: %zu results, %zu with other bits than stored", results.size(), different));
  report.check("manifest", different == 0, different, 0);
  if (python) {
    int status = 0;
    context.comm().on_rank(0, [&] { status = python_status(); });
    context.comm().broadcast(std::span<int>(&status, 1), 0);
    report.check("python", status == 0, status, 0);
  }
  return context.finish(report);
}

}  // namespace heddle::driver
