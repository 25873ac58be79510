// The input of `heddle tdse`: a TOML file, checked key by key.
#pragma once

#include <heddle/schrodinger/grid.hpp>
#include <heddle/schrodinger/potential.hpp>
#include <heddle/schrodinger/simulation.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::driver {

enum class InitialKind { eigenstate, gaussian, file };
[[nodiscard]] std::string_view to_string(InitialKind kind);
[[nodiscard]] InitialKind initial_kind_from(std::string_view text);

/// What a deck says; the members' initial values are the documented defaults. All quantities in atomic units.
struct Deck {
  schrodinger::Grid grid;  ///< xmin, xmax and points (or dx) have no default.
  double dx = 0.0;         ///< grid.dx as asked for; 0 where grid.points is given.
  schrodinger::Potential potential;
  std::string potential_file;  ///< Columns x and V.
  schrodinger::Nuclei nuclei;
  double time_step = 0.002;
  Index time_steps = 1000;
  InitialKind initial = InitialKind::eigenstate;
  Index initial_level = 0;
  double initial_position = 0.0;
  double initial_momentum = 0.0;
  double initial_width = 1.0;
  std::string initial_file;  ///< Columns x, Re psi, Im psi; or a file that `heddle tdse` wrote.
  schrodinger::PropagatorOptions propagator;
  std::string output_file;  ///< Default: the deck's name with .h5, in the current folder.
  Index output_every = 10;
  bool output_state = false;
  Index output_states = 4;
};

/// Every key, its unit or choices, its default and what it means, for people.
[[nodiscard]] std::string deck_reference();

/// Reads deck `text`; `name` stands in messages. `settings` are "table.key=value", applied in order; a value is read as
/// TOML, or taken as it stands where it is not TOML. Throws Error(input) with the line for what is malformed, unknown
/// (naming the nearest known key), missing, of the wrong type or out of range.
///
/// grid.dx: points = round((xmax - xmin)/dx) + 1; the spacing is then (xmax - xmin)/(points - 1), which differs from
/// grid.dx where that does not divide the width.
[[nodiscard]] Deck read_deck(const std::string& text, const std::filesystem::path& name,
                             const std::vector<std::string>& settings);

/// The deck with every key, as TOML that reads back to the same deck.
[[nodiscard]] std::string resolved_text(const Deck& deck);

/// First key in which two decks differ among those that a continued run may not change: all but time.steps, initial.*
/// and output.file. Nothing where there is none.
[[nodiscard]] std::optional<std::string> first_difference(const Deck& a, const Deck& b);

}  // namespace heddle::driver
