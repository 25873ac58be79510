// The input of `heddle tdse`: a TOML file, checked key by key.
#pragma once

#include <heddle/schrodinger/absorber.hpp>
#include <heddle/schrodinger/grid.hpp>
#include <heddle/schrodinger/potential.hpp>
#include <heddle/schrodinger/pulse.hpp>
#include <heddle/schrodinger/simulation.hpp>
#include <heddle/schrodinger/spectrum.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::driver {

enum class InitialKind { eigenstate, gaussian, file, imaginary_time };
[[nodiscard]] std::string_view to_string(InitialKind kind);
[[nodiscard]] InitialKind initial_kind_from(std::string_view text);

/// What a deck says; the members' initial values are the documented defaults. All quantities in atomic units.
struct Deck {
  schrodinger::Grid grid;  ///< xmin, xmax and points (or dx) have no default.
  double dx = 0.0;         ///< grid.dx as asked for; 0 where grid.points is given.
  schrodinger::Potential potential;
  std::string potential_file;              ///< Columns x and V.
  std::filesystem::path potential_folder;  ///< Where that name, if relative, begins: the deck's, with --set none.
  schrodinger::Nuclei nuclei;
  std::vector<schrodinger::Pulse> pulses;  ///< Tables [[pulse]], in their order.
  schrodinger::Absorber absorber;
  double time_step = 0.002;
  Index time_steps = 1000;
  InitialKind initial = InitialKind::eigenstate;
  Index initial_level = 0;
  std::vector<Index> initial_levels;  ///< Instead of initial_level, where not empty: several wave functions.
  double initial_tolerance = 1e-8;
  double initial_position = 0.0;
  double initial_momentum = 0.0;
  double initial_width = 1.0;
  std::string initial_file;              ///< Columns x, Re psi, Im psi; or a file that `heddle tdse` wrote.
  std::filesystem::path initial_folder;  ///< As potential_folder.
  schrodinger::PropagatorOptions propagator;
  std::string output_file;  ///< Default: the deck's name with .h5, in the current folder.
  Index output_every = 10;
  bool output_state = false;
  Index output_states = 4;
  bool output_autocorrelation = false;
  double output_radius = 0.0;
  double output_spectrum_from = 0.0;
  double output_spectrum_to = 0.0;
  schrodinger::Window output_window = schrodinger::Window::hann;
  std::string output_table;
  double output_checkpoint_seconds = 30.0;
  Index output_checkpoint_steps = 0;

  /// Levels that the initial states have: initial_levels, or initial_level alone.
  [[nodiscard]] std::vector<Index> levels() const {
    return initial_levels.empty() ? std::vector{initial_level} : initial_levels;
  }
};

/// One key as documents show it; those of [[pulse]] are "pulse.amplitude".
struct DeckKey {
  std::string name;
  std::string
      value;  ///< The default as TOML, or in brackets that it is required; empty for another unit of the key before.
  std::string meaning;
};
/// Every key, in the order in which they are written.
[[nodiscard]] std::vector<DeckKey> deck_keys();
/// The same as text for people.
[[nodiscard]] std::string deck_reference();

/// Reads deck `text`; `name` stands in messages. `settings` are "table.key=value", applied in order; a value is read as
/// TOML, or taken as it stands where it is not TOML. Keys of the second [[pulse]] are "pulse.2.key" there; those of the
/// first may leave out the number. Throws Error(input) with the line for what is malformed, unknown (naming the nearest
/// known key), missing, of the wrong type or out of range.
///
/// Without propagator.kind it is automatic, but expm where propagator.arithmetic is not native, or propagator.degree or
/// substeps are given: these are about exponentials.
///
/// Of keys that exclude each other one in `settings` replaces the other in the deck.
///
/// grid.dx: points = round((xmax - xmin)/dx) + 1; the spacing is then (xmax - xmin)/(points - 1), which differs from
/// grid.dx where that does not divide the width.
[[nodiscard]] Deck read_deck(const std::string& text, const std::filesystem::path& name,
                             const std::vector<std::string>& settings);

/// The deck with every key, as TOML that reads back to the same deck.
[[nodiscard]] std::string resolved_text(const Deck& deck);

/// First key in which two decks differ among those that a continued run may not change: all but time.steps, initial.*
/// and those of output that don't say what a step records. Nothing where there is none.
[[nodiscard]] std::optional<std::string> first_difference(const Deck& a, const Deck& b);

}  // namespace heddle::driver
