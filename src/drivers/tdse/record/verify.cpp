// `heddle verify`: hashes the physics in files of `heddle tdse` and compares hashes, or those of the manifest.
#include "drivers/commands.hpp"
#include "drivers/manifest/manifest.hpp"
#include "drivers/support/process/standard_output.hpp"
#include "drivers/tdse/record/physics_hash.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::driver {

namespace {

struct Options {
  std::vector<std::string> files;
  std::string expected;
  bool list = false;
  bool manifest = false;
  bool python = false;
  std::string only;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--input,-i,files",
       &Options::files,
       Text{},
       "Files that `heddle tdse` wrote",
       {.key = "files", .one_each = true}},
      {"--expect", &Options::expected, Text{"SHA256"},
       "Fail unless the first file has this hash; capital letters are as good"},
      {"--list", &Options::list, Flag{}, "Also the hash of each array"},
      {"--manifest", &Options::manifest, Flag{},
       "Compute results whose bits are promised on any machine, and compare their hashes with those of the release"},
      {"--python", &Options::python, Flag{},
       "With --manifest: also results of NumPy, SciPy and scikit-learn, by python3 or HEDDLE_PYTHON"},
      {"--only", &Options::only, Text{"TEXT"}, "Results of the manifest whose names contain TEXT"},
  };
  return table;
}

// Return the 64 hexadecimal digits of a hash, in lower case.
std::string hash_of(std::string text) {
  const std::string given = text;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  require(text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos, "--expect ", given,
          ": expected 64 hexadecimal digits");
  return text;
}

// Return the first dataset that differs or is missing in one of the files.
std::string first_difference(const PhysicsHash& a, const PhysicsHash& b) {
  const auto [one, other] = std::mismatch(a.datasets.begin(), a.datasets.end(), b.datasets.begin(), b.datasets.end());
  if (one != a.datasets.end()) return one->first;
  return other != b.datasets.end() ? other->first : std::string();
}

int verify_files(const CommonOptions& common, Options options) {
  Report report("verify");
  if (!options.expected.empty()) options.expected = hash_of(options.expected);
  const std::string& expected = options.expected;
  all_options().enter(options, report.inputs());
  auto& files = report.results()["files"] = nlohmann::ordered_json::array();
  std::vector<PhysicsHash> all;
  for (const std::string& path : options.files) {
    all.push_back(physics_hash(path));
    auto datasets = nlohmann::ordered_json::array();
    for (const auto& [name, hash] : all.back().datasets) {
      datasets.push_back({{"name", name}, {"sha256", hash}});
      if (options.list) print_line(common, hash + "  " + name);
    }
    files.push_back({{"file", path}, {"sha256", all.back().hash}, {"datasets", datasets}});
    print_line(common, "sha256 " + all.back().hash + "  " + path);
  }
  int code = exit_done;
  for (std::size_t k = 1; k < all.size(); ++k) {
    const std::string difference = first_difference(all.front(), all[k]);
    report.check("same_as_first_" + std::to_string(k), difference.empty(), options.files[k], options.files.front());
    if (difference.empty()) continue;
    complain(options.files.front() + " and " + options.files[k] + " differ, first in " + difference);
    code = exit_failed;
  }
  if (!expected.empty()) {
    report.check("expected", all.front().hash == expected, all.front().hash, expected);
    if (all.front().hash != expected) {
      complain(options.files.front() + " has not the hash that was expected");
      code = exit_failed;
    }
  }
  report.write(common);
  return code;
}

void choose(Selection& selection, const Options& options) {
  if (options.manifest) {
    require(options.files.empty() && options.expected.empty() && !options.list,
            "verify --manifest takes no files, and neither --expect nor --list");
    selection.parallel = [options](Context& context) { return verify_manifest(context, options.only, options.python); };
  } else {
    require(!options.files.empty(), "verify: no file; expected files of `heddle tdse`, or --manifest");
    require(options.only.empty(), "--only ", options.only, ": goes with --manifest");
    require(!options.python, "--python: goes with --manifest");
    selection.serial = [options](const CommonOptions& common) { return verify_files(common, options); };
  }
}

}  // namespace

void add_verify(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"verify",
               "SHA-256 of the physics in files of `heddle tdse`: all arrays but spectra and errors; of several files "
               "also whether they are the same, to the bit. Or of the results of --manifest, on any number of ranks",
               "  heddle tdse h2plus-stationary --arithmetic emulated -o a.h5 && heddle verify a.h5\n"
               "  mpirun -n 2 heddle verify --manifest"},
              all_options(), [&selection](const Options& options) { choose(selection, options); });
}

}  // namespace heddle::driver
