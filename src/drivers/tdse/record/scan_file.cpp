// Writing and reading of the HDF5 file of a scan over a key of the deck.
#include "drivers/tdse/record/scan_file.hpp"

#include "drivers/support/provenance.hpp"
#include "drivers/tdse/deck/keys.hpp"
#include "drivers/tdse/record/hdf5.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <ranges>
#include <string_view>
#include <utility>

namespace heddle::driver {

namespace {

constexpr double not_there = std::numeric_limits<double>::quiet_NaN();

using Of = ScanTable::Of;
using OfWave = ScanTable::OfWave;
using Populations = ScanTable::Populations;

// A dataset with a number for each point and, if set, for each wave function and each state.
struct ScanColumn {
  const char* name;
  bool each_wave;
  bool each_state;
  const char* unit;
  const char* description;
  std::function<double&(ScanTable&, std::size_t point, Index wave, Index state)> number;

  [[nodiscard]] Index waves(const ScanTable& table) const { return each_wave ? table.waves() : 1; }
  [[nodiscard]] Index states(const ScanTable& table) const { return each_state ? table.states() : 1; }
  [[nodiscard]] std::vector<hsize_t> extents(const ScanTable& table) const {
    std::vector<hsize_t> all = {table.points()};
    if (waves(table) > 1) all.push_back(static_cast<hsize_t>(waves(table)));
    if (each_state) all.push_back(static_cast<hsize_t>(states(table)));
    return all;
  }
};

ScanColumn of_point(const char* name, Of what, const char* unit, const char* description) {
  return {name,        false,
          false,       unit,
          description, [what](ScanTable& table, std::size_t k, Index, Index) -> double& { return table.at(k, what); }};
}

ScanColumn of_wave(const char* name, OfWave what, const char* unit, const char* description) {
  return {
      name,        true,
      false,       unit,
      description, [what](ScanTable& table, std::size_t k, Index w, Index) -> double& { return table.at(k, w, what); }};
}

ScanColumn of_populations(const char* name, Populations which, const char* description) {
  return {name, true, true, "1", description, [which](ScanTable& table, std::size_t k, Index w, Index s) -> double& {
            return table.population(k, w, which, s);
          }};
}

const std::vector<ScanColumn>& scan_columns() {
  static const std::vector<ScanColumn> columns = {
      of_point("/scan/steps", Of::steps, "1", "steps of each run"),
      of_point("/scan/time", Of::time, "atomic unit of time", "time at which each run ends"),
      of_point("/scan/norm_excess", Of::norm_excess, "1", "largest change of the norm in a step over its bound"),
      of_point("/scan/energy_excess", Of::energy_excess, "1", "drift of the energy over its bound; 0 where H moves"),
      of_point("/errors/psi", Of::psi_error, "1", "estimated ||psi - exact psi||/||psi|| on this grid, at the end"),
      {"/scan/energies", false, true, "hartree", "energies of the lowest eigenstates of H at t = 0, no pulse",
       [](ScanTable& table, std::size_t k, Index, Index s) -> double& { return table.energy(k, s); }},
      of_wave("/final/norm", OfWave::norm, "1", "sqrt(sum |psi|^2 dx) at the end"),
      of_wave("/final/energy", OfWave::energy, "hartree", "<psi|H|psi>/<psi|psi> at the end"),
      of_wave("/final/position", OfWave::position, "bohr", "<x> at the end"),
      of_wave("/final/dipole", OfWave::dipole, "e bohr", "Z (X1 + X2) - <x> at the end"),
      of_wave("/final/nodes", OfWave::nodes, "1", "number of nodes at the end"),
      of_wave("/final/absorbed", OfWave::absorbed, "1", "1 - ||psi||^2 at the end"),
      of_wave("/final/ionisation", OfWave::ionisation, "1", "1 - sum of the populations of bound states, at the end"),
      of_wave("/final/outside", OfWave::outside, "1", "1 - probability at |x| <= output.radius, at the end"),
      of_wave("/errors/energy", OfWave::energy_error, "hartree", "estimated error of /final/energy"),
      of_wave("/errors/position", OfWave::position_error, "bohr", "estimated error of /final/position, and of dipole"),
      of_wave("/errors/absorbed", OfWave::absorbed_error, "1", "estimated error of /final/absorbed"),
      of_wave("/errors/ionisation", OfWave::ionisation_error, "1", "estimated error of /final/ionisation"),
      of_wave("/errors/outside", OfWave::outside_error, "1", "estimated error of /final/outside"),
      of_populations("/final/populations", Populations::last,
                     "|<phi_k|psi>|^2 of the lowest eigenstates of H at the end"),
      of_populations("/mean/populations", Populations::mean, "the same, averaged over the time of the run"),
      of_populations("/largest/populations", Populations::largest, "the largest of each in the run"),
      of_populations("/errors/populations", Populations::error, "estimated error of /final/populations"),
  };
  return columns;
}

// Return whether files of earlier versions may lack the column.
bool is_recent(std::string_view name) {
  return name.starts_with("/errors/") || name == "/final/outside";
}

std::vector<hsize_t> spectra_extents(const ScanTable& table) {
  std::vector<hsize_t> extents = {table.points()};
  if (table.waves() > 1) extents.push_back(static_cast<hsize_t>(table.waves()));
  extents.push_back(table.orders().size());
  return extents;
}

void write_scan_spectra(Hdf5Writer& file, ScanTable& table) {
  std::vector<double> carriers;
  std::vector<double> spectra;
  for (std::size_t k = 0; k < table.points(); ++k) {
    carriers.push_back(table.at(k, Of::carrier));
    for (Index w = 0; w < table.waves(); ++w) {
      const auto spectrum = table.spectrum(k, w);
      spectra.insert(spectra.end(), spectrum.begin(), spectrum.end());
    }
  }
  file.write<double>("/spectrum/order", {table.orders().size()}, table.orders(), "1",
                     "frequencies of the spectra over /spectrum/carrier");
  file.write<double>("/spectrum/carrier", {table.points()}, carriers, "hartree",
                     "frequency of the first pulse with a carrier");
  file.write<double>("/spectrum/dipole", spectra_extents(table), spectra, "1",
                     "omega^4 |int (d(t) - d(0)) w(t) exp(i omega t) dt|^2, d = -<psi|x|psi>");
}

void read_scan_spectra(const Hdf5Reader& file, const std::filesystem::path& path, ScanTable& table) {
  const auto carriers = file.read<double>("/spectrum/carrier");
  const auto spectra = file.read<double>("/spectrum/dipole");
  if (carriers.size() != table.points() || file.extents("/spectrum/dipole") != spectra_extents(table)) {
    throw Error(ErrorKind::input, message_of(path.string(), ": /spectrum has other extents than ", table.points(),
                                             " points of ", table.waves(), " wave functions"));
  }
  auto next = spectra.begin();
  for (std::size_t k = 0; k < table.points(); ++k) {
    table.at(k, Of::carrier) = carriers[k];
    for (Index w = 0; w < table.waves(); ++w) {
      for (double& number : table.spectrum(k, w)) number = *next++;
    }
  }
}

// Visit every number of a column at a point, in the order of the file.
template <class Visitor>
void visit_point(const ScanColumn& column, ScanTable& table, std::size_t point, Visitor&& visit) {
  for (Index w = 0; w < column.waves(table); ++w) {
    for (Index s = 0; s < column.states(table); ++s) visit(column.number(table, point, w, s));
  }
}

}  // namespace

ScanTable::ScanTable(std::vector<double> values, Index states, Index waves, std::vector<double> orders)
    : values_(std::move(values)),
      states_(states),
      waves_(waves),
      orders_(std::move(orders)),
      width_(static_cast<std::size_t>(point_columns + states + waves * wave_width())),
      numbers_(values_.size() * width_, 0.0) {}

double& ScanTable::energy(std::size_t point, Index state) {
  return row(point)[static_cast<std::size_t>(point_columns + state)];
}

double& ScanTable::at(std::size_t point, Index wave, OfWave what) {
  return row(point)[static_cast<std::size_t>(point_columns + states_ + wave * wave_width() + static_cast<int>(what))];
}

double& ScanTable::population(std::size_t point, Index wave, Populations which, Index state) {
  return row(point)[static_cast<std::size_t>(point_columns + states_ + wave * wave_width() + wave_columns +
                                             static_cast<int>(which) * states_ + state)];
}

std::span<double> ScanTable::spectrum(std::size_t point, Index wave) {
  const Index first = point_columns + states_ + wave * wave_width() + wave_columns + populations_columns * states_;
  return row(point).subspan(static_cast<std::size_t>(first), orders_.size());
}

void ScanTable::take(std::size_t point, ScanTable& from, std::size_t its_point) {
  const auto source = from.row(its_point);
  std::copy(source.begin(), source.end(), row(point).begin());
}

void ScanTable::leave_out(std::size_t point) {
  std::ranges::fill(row(point), not_there);
}

void ScanTable::clear(std::size_t point) {
  std::ranges::fill(row(point), 0.0);
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

  file.write<double>("/scan/value", {points}, table.values(), unit_of_key(key),
                     "value of the deck's key at each point");
  for (const ScanColumn& column : scan_columns()) {
    std::vector<double> numbers;
    for (std::size_t k = 0; k < points; ++k) {
      visit_point(column, table, k, [&](double number) { numbers.push_back(number); });
    }
    file.write<double>(column.name, column.extents(table), numbers, column.unit, column.description);
  }
  if (!table.orders().empty()) write_scan_spectra(file, table);
  file.commit();
}

StoredScan read_scan_file(const std::filesystem::path& path, Index states, Index waves) {
  const Hdf5Reader file(path);
  auto orders = file.has("/spectrum/order") ? file.read<double>("/spectrum/order") : std::vector<double>{};
  StoredScan stored{file.text_attribute("deck"), file.text_attribute("key"),
                    ScanTable(file.read<double>("/scan/value"), states, waves, std::move(orders))};
  for (std::size_t k = 0; k < stored.table.points(); ++k) stored.table.leave_out(k);
  if (!stored.table.orders().empty()) read_scan_spectra(file, path, stored.table);
  for (const ScanColumn& column : scan_columns()) {
    if (is_recent(column.name) && !file.has(column.name)) continue;
    const auto numbers = file.read<double>(column.name);
    if (file.extents(column.name) != column.extents(stored.table)) {
      throw Error(ErrorKind::input, message_of(path.string(), ": ", column.name, " has other extents than ", states,
                                               " states of ", waves, " wave functions"));
    }
    auto next = numbers.begin();
    for (std::size_t k = 0; k < stored.table.points(); ++k) {
      visit_point(column, stored.table, k, [&](double& number) { number = *next++; });
    }
  }
  return stored;
}

}  // namespace heddle::driver
