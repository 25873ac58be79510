// A deck's runs for many values of one of its keys.
#pragma once

#include "drivers/plot/pictures.hpp"
#include "drivers/support/context.hpp"
#include "drivers/tdse/deck/deck.hpp"
#include "drivers/tdse/run/run.hpp"

#include <string>
#include <vector>

namespace heddle::driver {

/// "KEY=FIRST:LAST:STEP" or "KEY=A,B,...": the text and its values.
struct Scan {
  std::string text;
  std::string key;
  std::vector<double> values;

  /// Return the --set argument of a point.
  [[nodiscard]] std::string setting(std::size_t point) const;
};
/// Parse a scan. Throw Error(argument) for any other form, keys that take no numbers, numbers that are not finite, a
/// step that does not lead from FIRST to LAST, and more than 10,000 values. Values are rounded to 12 digits: 1:2:0.1
/// has 1.3, not 1.3000000000000003.
[[nodiscard]] Scan read_scan(const std::string& text);

struct ScanFiles {
  std::string output;  ///< HDF5 file; empty: the name of output.file with .scan.h5.
  std::string plot;    ///< Picture file; empty: none.
};

/// Run the deck of each point in `scan`. Points are shared among the ranks; each point runs on one rank. Write one
/// file, and draw it. Throw Error(argument) before the computation for any point that run_dynamics() would refuse. On
/// SIGINT, SIGTERM or SIGHUP write finished points to NAME.partial.h5 and throw Error(computation). Collective; returns
/// the exit code.
int run_scan(Context& context, const Scan& scan, const std::vector<Deck>& decks, const RunOptions& options,
             const ScanFiles& files, const nlohmann::ordered_json& inputs);

inline constexpr Picture scan_picture = {"plot/tdse_scan.py", "matplotlib or h5py", "python3-matplotlib, python3-h5py"};

}  // namespace heddle::driver
