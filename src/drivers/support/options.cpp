#include "drivers/support/options.hpp"

#include "drivers/support/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace heddle::driver {

void add_common_options(CLI::App& command, CommonOptions& common, const std::string& example) {
  command.add_option("--json", common.json, "Write a report: inputs, results, checks and times as one JSON object")
      ->type_name("FILE")
      ->check(not_empty());
  command.add_flag("--quiet", common.quiet, "Print nothing but errors");
  auto* always = command.add_flag_callback(
      "--progress", [&common] { common.progress = ProgressMode::always; },
      "Draw the progress bar even where standard error is no terminal (under mpirun)");
  auto* never = command.add_flag_callback(
      "--no-progress", [&common] { common.progress = ProgressMode::never; }, "Show no progress");
  always->excludes(never);
  command.footer("Example:\n" + example);
}

CLI::Option* add_scalar_option(CLI::App& command, std::string& scalar) {
  return command.add_option("--scalar", scalar, "double, float, complex-double or complex-float")
      ->type_name("TYPE")
      ->check(one_of({"double", "float", "complex-double", "complex-float"}));
}

CLI::Validator at_least(double least) {
  return CLI::Validator(
      [least](std::string& text) {
        double value = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && stop == end && value >= least && std::isfinite(value)) return std::string();
        return format("'%s': expected a number >= %g", text.c_str(), least);
      },
      "");
}

CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& path) { return path.empty() ? std::string("needs a file name") : std::string(); }, "");
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  return CLI::Validator(
      [names](std::string& text) {
        if (std::find(names.begin(), names.end(), text) != names.end()) return std::string();
        std::string expected;
        for (std::size_t i = 0; i < names.size(); ++i) {
          expected += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
        }
        return "'" + text + "': expected " + expected;
      },
      "");
}

void add_tile_option(CLI::App& command, long long& tile) {
  command
      .add_option_function<std::string>(
          "--tile",
          [&tile](const std::string& text) {
            if (text == "auto") {
              tile = 0;
              return;
            }
            const char* end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, tile);
            if (error != std::errc() || stop != end || tile < 1) {
              throw CLI::ValidationError("--tile", "'" + text + "': expected auto or a number >= 1");
            }
          },
          "Tile size N_i; auto: chosen by the tile model from this machine's measured rates")
      ->type_name("auto|N")
      ->default_str("auto");
}

}  // namespace heddle::driver
