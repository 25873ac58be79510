// The results of a scan over a key of the deck, and their file.
#pragma once

#include "drivers/tdse/deck/deck.hpp"
#include <heddle/core/scalar.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace heddle::driver {

/// A value of the deck's key and a row of numbers for each point. Rows have one length, so that ranks can add their
/// tables; missing numbers are NaN.
class ScanTable {
 public:
  /// `states`: the largest number of states at any point; `waves`: the number of wave functions; `orders`: of the
  /// harmonics at which the spectra are known, none without them.
  ScanTable(std::vector<double> values, Index states, Index waves, std::vector<double> orders = {});

  /// Columns of a row: of the whole point, then of each state of H at t = 0, of each wave function, each of its
  /// populations and each order of its harmonic spectrum.
  enum class Of : int { steps, time, norm_excess, energy_excess, psi_error, carrier };
  enum class OfWave : int {
    norm,
    energy,
    position,
    dipole,
    nodes,
    absorbed,
    ionisation,
    outside,
    energy_error,
    position_error,
    absorbed_error,
    ionisation_error,
    outside_error
  };
  static constexpr int point_columns = 6;
  static constexpr int wave_columns = 13;
  enum class Populations : int { last, mean, largest, error };
  static constexpr int populations_columns = 4;

  [[nodiscard]] double& at(std::size_t point, Of what) { return row(point)[static_cast<std::size_t>(what)]; }
  [[nodiscard]] double& energy(std::size_t point, Index state);
  [[nodiscard]] double& at(std::size_t point, Index wave, OfWave what);
  [[nodiscard]] double& population(std::size_t point, Index wave, Populations which, Index state);
  /// Return the harmonic spectrum of a wave function, a number for each of orders().
  [[nodiscard]] std::span<double> spectrum(std::size_t point, Index wave);

  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] const std::vector<double>& orders() const { return orders_; }
  [[nodiscard]] Index states() const { return states_; }
  [[nodiscard]] Index waves() const { return waves_; }
  [[nodiscard]] std::size_t points() const { return values_.size(); }
  /// Return whether the point has been computed.
  [[nodiscard]] bool done(std::size_t point) { return at(point, Of::steps) >= 0; }
  /// All rows, one after the other; zero at first.
  [[nodiscard]] std::span<double> numbers() { return numbers_; }
  /// Copy a point's numbers from a table with as many states and wave functions and the same orders.
  void take(std::size_t point, ScanTable& from, std::size_t its_point);
  /// Set all numbers of the point to NaN.
  void leave_out(std::size_t point);
  /// Set all numbers of the point to zero, so that another rank's can be added.
  void clear(std::size_t point);

 private:
  [[nodiscard]] Index wave_width() const {
    return wave_columns + populations_columns * states_ + static_cast<Index>(orders_.size());
  }
  [[nodiscard]] std::span<double> row(std::size_t point) { return std::span(numbers_).subspan(point * width_, width_); }

  std::vector<double> values_;
  Index states_;
  Index waves_;
  std::vector<double> orders_;
  std::size_t width_;
  std::vector<double> numbers_;
};

/// Write the table as an HDF5 file that appears at `path` complete or not at all. For one rank. Throw Error(output).
///
/// /scan/value (its attribute `unit`: that of the key), steps, time, norm_excess, energy_excess [points];
/// /scan/energies [points, states]: of H at t = 0; /final/norm, energy, position, dipole, nodes, absorbed, ionisation,
/// outside [points]; /final/populations, /mean/populations, /largest/populations [points, states], over the run.
/// Estimated errors at the end, as in a run's file: /errors/psi [points]; /errors/energy, position (and of dipole),
/// absorbed, ionisation, outside [points]; /errors/populations [points, states]. If a pulse has a carrier,
/// /spectrum/order [orders], /spectrum/carrier [points] and /spectrum/dipole [points, orders]. With m > 1 wave
/// functions all but /scan, /errors/psi and /spectrum/order, carrier have a dimension of m after the first. Attributes:
/// as a run's file, and `scan`, `key`, `points_done`, `complete`. NaN: the point was not computed, or has fewer states;
/// `absorbed` without an absorber is the propagator's error; `ionisation` and `outside` are NaN if a run records none,
/// `dipole` where the order is above pi/dt.
void write_scan(const std::filesystem::path& path, const Deck& deck, const std::string& key, const std::string& scan,
                ScanTable& table);

/// The contents of a scan's file.
struct StoredScan {
  std::string deck;  ///< Deck of the first point.
  std::string key;
  ScanTable table;
};
/// Read a scan's file. For one rank. Throw Error(input) if it is unreadable or has other numbers of states or wave
/// functions. Numbers that an earlier version did not write are NaN.
[[nodiscard]] StoredScan read_scan_file(const std::filesystem::path& path, Index states, Index waves);

}  // namespace heddle::driver
