#include "drivers/tdse/record/scan_file.hpp"

#include "drivers/support/provenance.hpp"
#include "drivers/tdse/record/hdf5.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace heddle::driver {

namespace {

constexpr double not_there = std::numeric_limits<double>::quiet_NaN();

}  // namespace

ScanTable::ScanTable(std::vector<double> values, Index states, Index waves)
    : values_(std::move(values)),
      states_(states),
      waves_(waves),
      width_(static_cast<std::size_t>(point_columns + states + waves * (wave_columns + 3 * states))),
      numbers_(values_.size() * width_, 0.0) {}

double& ScanTable::energy(std::size_t point, Index state) {
  return row(point)[static_cast<std::size_t>(point_columns + state)];
}

double& ScanTable::at(std::size_t point, Index wave, OfWave what) {
  return row(point)[static_cast<std::size_t>(point_columns + states_ + wave * (wave_columns + 3 * states_) +
                                             static_cast<int>(what))];
}

double& ScanTable::population(std::size_t point, Index wave, Populations which, Index state) {
  return row(point)[static_cast<std::size_t>(point_columns + states_ + wave * (wave_columns + 3 * states_) +
                                             wave_columns + static_cast<int>(which) * states_ + state)];
}

void ScanTable::leave_out(std::size_t point) {
  std::fill(row(point).begin(), row(point).end(), not_there);
}

void write_scan(const std::filesystem::path& path, const Deck& deck, const std::string& key, const std::string& scan,
                ScanTable& table) {
  Hdf5Writer file(path);
  const std::size_t points = table.points();
  std::int64_t done = 0;
  for (std::size_t k = 0; k < points; ++k) done += table.done(k) ? 1 : 0;
  file.attribute("title", "Heddle: scan of a one-dimensional time-dependent Schroedinger equation, atomic units");
  file.attribute("scan", scan);
  file.attribute("key", key);
  file.attribute("deck", resolved_text(deck));
  const auto folder = deck.potential_folder.empty() ? std::filesystem::current_path() : deck.potential_folder;
  file.attribute("deck_folder", std::filesystem::absolute(folder).string());
  for (const auto& [name, value] : provenance_attributes()) file.attribute(name, value);
  file.attribute("points_done", done);
  file.attribute("complete", done == static_cast<std::int64_t>(points) ? 1 : 0);

  // A number for each point and, where they are given, each wave function and each state.
  const auto write = [&](const char* name, Index waves, Index states, const char* unit, const char* description,
                         const std::function<double(std::size_t, Index, Index)>& number) {
    std::vector<double> numbers;
    std::vector<hsize_t> extents = {points};
    if (waves > 1) extents.push_back(static_cast<hsize_t>(waves));
    if (states >= 0) extents.push_back(static_cast<hsize_t>(states));
    for (std::size_t k = 0; k < points; ++k) {
      for (Index w = 0; w < waves; ++w) {
        for (Index s = 0; s < (states >= 0 ? states : 1); ++s) numbers.push_back(number(k, w, s));
      }
    }
    file.write<double>(name, extents, numbers, unit, description);
  };
  file.write<double>("/scan/value", {points}, table.values(), "atomic units", "value of the deck's key at each point");
  const auto of_points = [&](const char* name, ScanTable::Of what, const char* unit, const char* description) {
    write(name, 1, -1, unit, description, [&table, what](std::size_t k, Index, Index) { return table.at(k, what); });
  };
  of_points("/scan/steps", ScanTable::Of::steps, "1", "steps of each run");
  of_points("/scan/time", ScanTable::Of::time, "atomic unit of time", "time at which each run ends");
  write("/scan/energies", 1, table.states(), "hartree", "energies of the lowest eigenstates of H at t = 0, no pulse",
        [&](std::size_t k, Index, Index s) { return table.energy(k, s); });
  using Column = std::pair<ScanTable::OfWave, std::vector<const char*>>;
  for (const auto& [what, words] : {
           Column{ScanTable::OfWave::norm, {"/final/norm", "1", "sqrt(sum |psi|^2 dx) at the end"}},
           Column{ScanTable::OfWave::energy, {"/final/energy", "hartree", "<psi|H|psi>/<psi|psi> at the end"}},
           Column{ScanTable::OfWave::position, {"/final/position", "bohr", "<x> at the end"}},
           Column{ScanTable::OfWave::dipole, {"/final/dipole", "e bohr", "Z (X1 + X2) - <x> at the end"}},
           Column{ScanTable::OfWave::nodes, {"/final/nodes", "1", "number of nodes at the end"}},
           Column{ScanTable::OfWave::absorbed, {"/final/absorbed", "1", "1 - ||psi||^2 at the end"}},
           Column{ScanTable::OfWave::ionisation,
                  {"/final/ionisation", "1", "1 - sum of the populations of bound states, at the end"}},
       }) {
    write(words[0], table.waves(), -1, words[1], words[2],
          [&table, of = what](std::size_t k, Index w, Index) { return table.at(k, w, of); });
  }
  using Which = std::pair<ScanTable::Populations, std::pair<const char*, const char*>>;
  for (const auto& [which, words] : {
           Which{ScanTable::Populations::last,
                 {"/final/populations", "|<phi_k|psi>|^2 of the lowest eigenstates of H at the end"}},
           Which{ScanTable::Populations::mean, {"/mean/populations", "the same, averaged over the time of the run"}},
           Which{ScanTable::Populations::largest, {"/largest/populations", "the largest of each in the run"}},
       }) {
    write(words.first, table.waves(), table.states(), "1", words.second,
          [&table, of = which](std::size_t k, Index w, Index s) { return table.population(k, w, of, s); });
  }
  file.commit();
}

}  // namespace heddle::driver
