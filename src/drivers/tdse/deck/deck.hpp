// A deck, the TOML input of `heddle tdse`, and its key-by-key checks.
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

/// The settings of a deck. Initial values of members are the documented defaults. All quantities in atomic units.
struct Deck {
  schrodinger::Grid grid;  ///< xmin, xmax and points (or dx) have no default.
  double dx = 0.0;         ///< grid.dx as given; 0 if grid.points is given.
  schrodinger::Potential potential;
  std::string potential_file;  ///< Columns x and V.
  /// Base of a relative potential_file: the deck's folder; none if the name is from --set.
  std::filesystem::path potential_folder;
  schrodinger::Nuclei nuclei;
  std::vector<schrodinger::Pulse> pulses;  ///< Tables [[pulse]] in order.
  schrodinger::Absorber absorber;
  double time_step = 0.002;
  Index time_steps = 1000;
  InitialKind initial = InitialKind::eigenstate;
  Index initial_level = 0;
  std::vector<Index> initial_levels;  ///< Replaces initial_level if not empty: several wave functions.
  double initial_tolerance = 1e-8;
  double initial_position = 0.0;
  double initial_momentum = 0.0;
  double initial_width = 1.0;
  std::string initial_file;              ///< Columns x, Re psi, Im psi; or a file written by `heddle tdse`.
  std::filesystem::path initial_folder;  ///< Base of a relative initial_file, as potential_folder.
  schrodinger::PropagatorOptions propagator;
  std::string output_file;  ///< Default: the deck's name with .h5, in the current folder.
  /// Lines of the deck, for messages, that give output_file and output_table; empty for one of --set or a default.
  std::string output_file_place;
  std::string output_table_place;
  Index output_every = 10;
  bool output_state = false;
  Index output_states = 4;
  bool output_autocorrelation = false;
  double output_radius = 0.0;
  double output_spectrum_from = 0.0;
  double output_spectrum_to = 0.0;
  double output_harmonics = 40.0;
  schrodinger::Window output_window = schrodinger::Window::hann;
  std::string output_table;
  double output_checkpoint_seconds = 30.0;
  Index output_checkpoint_steps = 0;

  /// Levels of the initial states: initial_levels, or initial_level alone.
  [[nodiscard]] std::vector<Index> levels() const {
    return initial_levels.empty() ? std::vector{initial_level} : initial_levels;
  }
};

/// One key as documents show it; keys of [[pulse]] are "pulse.amplitude".
struct DeckKey {
  std::string name;
  std::string value;  ///< The default as TOML, or a bracketed requirement; empty for another unit of the preceding key.
  std::string meaning;
};
/// Return every key in the order in which keys are written.
[[nodiscard]] std::vector<DeckKey> deck_keys();
/// Return deck_keys() as text.
[[nodiscard]] std::string deck_reference();

/// Read deck `text`; messages call it `name`. `settings` are "table.key=value", applied in order; a value is read as
/// TOML, or as plain text if it is not TOML, and without a value the key is removed, so that its default applies. In
/// settings, keys of the second [[pulse]] are "pulse.2.key"; the number of the first may be omitted. Throw Error(input)
/// with the line if a key is malformed, unknown (the message names the nearest known key), missing, of the wrong type
/// or out of range.
///
/// Without propagator.kind the kind is automatic, but expm if propagator.arithmetic is not native or propagator.degree
/// or substeps is given: these apply to exponentials.
///
/// A key in `settings` replaces keys of the deck that exclude it.
///
/// grid.dx: points = round((xmax - xmin)/dx) + 1; the spacing is then (xmax - xmin)/(points - 1), which differs from
/// grid.dx if that does not divide the width.
[[nodiscard]] Deck read_deck(const std::string& text, const std::filesystem::path& name,
                             const std::vector<std::string>& settings);

/// Return the deck with every key, as TOML that reads back to the same deck.
[[nodiscard]] std::string resolved_text(const Deck& deck);

/// Return the first key in which two decks differ among those that a continued run may not change: all but time.steps,
/// initial.* and keys of output that do not affect what a step records. Empty if they agree.
[[nodiscard]] std::optional<std::string> first_difference(const Deck& a, const Deck& b);

}  // namespace heddle::driver
