// A deck's runs for many values of one of its keys.
#pragma once

#include "drivers/plot/pictures.hpp"
#include "drivers/support/context.hpp"
#include "drivers/tdse/deck/deck.hpp"
#include "drivers/tdse/run/run.hpp"

#include <string>
#include <vector>

namespace heddle::driver {

/// "KEY=FIRST:LAST:STEP" or "KEY=A,B,...", as it was given and understood.
struct Scan {
  std::string text;
  std::string key;
  std::vector<double> values;

  /// What sets the key to a value, as --set has it.
  [[nodiscard]] std::string setting(std::size_t point) const;
};
/// Throws Error(argument) for what is neither, keys that take no numbers, numbers that are not finite, a step that does
/// not lead from FIRST to LAST, and more than 10,000 values. Values are rounded to 12 digits: 1:2:0.1 has 1.3, and
/// not 1.3000000000000003.
[[nodiscard]] Scan read_scan(const std::string& text);

struct ScanFiles {
  std::string output;  ///< HDF5; empty: the name of output.file with .scan.h5.
  std::string plot;    ///< Picture; empty: none.
};

/// Runs the deck of each point, whose numbers are in `scan`, shared out among the ranks: each computes points of its
/// own alone. Writes one file, and draws it. Throws Error(argument), before anything is computed, for what
/// run_dynamics() refuses of any point. On SIGINT, SIGTERM or SIGHUP it writes what is done to NAME.partial.h5 and
/// throws Error(computation). Collective; gives the exit code.
int run_scan(Context& context, const Scan& scan, const std::vector<Deck>& decks, const RunOptions& options,
             const ScanFiles& files, const nlohmann::ordered_json& inputs);

inline constexpr Picture scan_picture = {"plot/tdse_scan.py", "matplotlib or h5py", "python3-matplotlib, python3-h5py"};

}  // namespace heddle::driver
