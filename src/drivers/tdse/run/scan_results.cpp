// Printed lines and JSON results of a scan.
#include "drivers/tdse/run/scan_results.hpp"

#include "drivers/support/process/text.hpp"
#include "drivers/tdse/deck/keys.hpp"
#include "drivers/tdse/record/record.hpp"
#include "drivers/tdse/run/accuracy.hpp"
#include "drivers/tdse/run/problem.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <string>

namespace heddle::driver {

namespace {

// Enter a list of what is known of the first wave function at each point, and of its errors, unless no point has it.
void enter_probability(nlohmann::ordered_json& results, const char* name, ScanTable& table, ScanTable::OfWave value,
                       ScanTable::OfWave error) {
  bool is_known = false;
  auto values = nlohmann::ordered_json::array();
  auto errors = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < table.points(); ++k) {
    is_known = is_known || !std::isnan(table.at(k, 0, value));
    values.push_back(table.at(k, 0, value));
    errors.push_back(table.at(k, 0, error));
  }
  if (!is_known) return;
  results[name] = values;
  results[std::string(name) + "_error"] = errors;
}

}  // namespace

std::string unit_behind(const Scan& scan) {
  const std::string unit = unit_of_key(scan.key);
  return unit == "1" ? "" : ' ' + unit;
}

void say_points(const Context& context, const Scan& scan, const std::vector<Deck>& decks, ScanTable& table) {
  for (std::size_t k = 0; k < table.points(); ++k) {
    const auto known = [&](ScanTable::OfWave value, ScanTable::OfWave error) {
      return with_error(table.at(k, 0, value), table.at(k, 0, error));
    };
    std::string text =
        format("%s = %-10s energy ", scan.key.c_str(), (format("%.6g", scan.values[k]) + unit_behind(scan)).c_str()) +
        known(ScanTable::OfWave::energy, ScanTable::OfWave::energy_error);
    if (!std::isnan(table.at(k, 0, ScanTable::OfWave::ionisation))) {
      text += ", ionised " + known(ScanTable::OfWave::ionisation, ScanTable::OfWave::ionisation_error);
    }
    if (records_absorbed(decks[k])) {
      text += ", absorbed " + known(ScanTable::OfWave::absorbed, ScanTable::OfWave::absorbed_error);
    }
    if (decks[k].output_radius > 0) {
      text += format(", beyond %g bohr ", decks[k].output_radius) +
              known(ScanTable::OfWave::outside, ScanTable::OfWave::outside_error);
    }
    if (table.states() > 0) text += ", populations";
    for (Index s = 0; s < table.states(); ++s) {
      text += format(" %.4g", table.population(k, 0, ScanTable::Populations::last, s));
    }
    context.say(text);
  }
  if (!table.orders().empty()) {
    context.say(format("harmonic spectra: %zu frequencies up to order %g at each point", table.orders().size(),
                       table.orders().back()));
  }
}

void add_results(Report& report, const Scan& scan, const std::vector<Deck>& decks, const std::filesystem::path& output,
                 const ScanFiles& files, ScanTable& table) {
  auto& results = report.results();
  results["values"] = table.values();
  results["unit"] = unit_of_key(scan.key);
  const auto all = [&](ScanTable::Populations which) {
    auto rows = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < table.points(); ++k) {
      auto row = nlohmann::ordered_json::array();
      for (Index s = 0; s < table.states(); ++s) row.push_back(table.population(k, 0, which, s));
      rows.push_back(row);
    }
    return rows;
  };
  results["populations"] = all(ScanTable::Populations::last);
  results["populations_error"] = all(ScanTable::Populations::error);
  results["mean_populations"] = all(ScanTable::Populations::mean);
  enter_probability(results, "ionisation", table, ScanTable::OfWave::ionisation, ScanTable::OfWave::ionisation_error);
  if (std::ranges::any_of(decks, records_absorbed)) {
    enter_probability(results, "absorbed", table, ScanTable::OfWave::absorbed, ScanTable::OfWave::absorbed_error);
  }
  enter_probability(results, "outside", table, ScanTable::OfWave::outside, ScanTable::OfWave::outside_error);
  results["output"] = output.string();
  if (!files.plot.empty()) results["plot"] = files.plot;
  double norm = 0.0;
  double energy = 0.0;
  for (std::size_t k = 0; k < table.points(); ++k) {
    norm = worse(norm, table.at(k, ScanTable::Of::norm_excess));
    energy = worse(energy, table.at(k, ScanTable::Of::energy_excess));
  }
  // Each point is checked against its own bound.
  report.check_at_most("norm_change_over_bound", norm, 1.0);
  report.check_at_most("energy_drift_over_bound", energy, 1.0);
}

}  // namespace heddle::driver
