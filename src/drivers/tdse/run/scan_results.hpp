// Printed lines and JSON results of a scan.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include "drivers/tdse/record/scan_file.hpp"
#include "drivers/tdse/run/scan.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::driver {

/// Return the unit of the scan's key behind a value, as " W/cm^2"; nothing for a number without one.
[[nodiscard]] std::string unit_behind(const Scan& scan);

/// Print a line for each point: its value, and energy, ionisation and populations at the end of its run.
void say_points(const Context& context, const Scan& scan, const std::vector<Deck>& decks, ScanTable& table);

/// Enter the results of the scan into its report, with the checks of its worst points.
void add_results(Report& report, const Scan& scan, const std::vector<Deck>& decks, const std::filesystem::path& output,
                 const ScanFiles& files, ScanTable& table);

}  // namespace heddle::driver
