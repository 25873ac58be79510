// The options of `heddle gemm`.
#pragma once

#include "drivers/support/options/option_table.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/gemm/gemm.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::driver {

/// A grid of ranks; {0, 0} is "auto".
struct Grid {
  std::string type_name = "auto|PxQ";

  static std::string expected() { return "auto, or rows and columns of ranks, as 2x4"; }
  static bool read(const std::string& text, ProcessGrid& value);
  static std::string show(const ProcessGrid& value);
};

/// A number of layers; 0 is "auto".
struct Layers {
  std::string type_name = "auto|L";

  static std::string expected() { return "auto or a number >= 1"; }
  static bool read(const std::string& text, int& value);
  static std::string show(int value) { return value == 0 ? "auto" : std::to_string(value); }
};
inline constexpr const char* layers_help =
    "Cut the inner dimension into L runs, which as many groups of ranks multiply; auto: 1, or more between nodes where "
    "the tile model says so and neither --tile nor --grid is given";

/// model or published, for --choice, whose help is tile_choice_help.
[[nodiscard]] Choice<TileChoice> tile_choice_kind();
inline constexpr const char* tile_choice_help =
    "Of --tile auto: model: the tile of least predicted time; published: the smallest tile whose transfers are hidden, "
    "equation (9) of Choi and Stegailov (2022)";

struct GemmSettings {
  std::string a, b, output, c_in;
  Operation op_a = Operation::none, op_b = Operation::none;
  std::string alpha = "1", beta = "0";
  Index size = -1, rows = -1, columns = -1, inner = -1;
  std::uint64_t seed = 1;
  std::string scalar;
  long long tile = 0;
  TileChoice choice = TileChoice::model;
  ProcessGrid grid;
  int layers = 0;
  std::string place_a, place_b, place_c = "rows";
  int repeat = 1;
  bool sweep = false;
  std::vector<Index> tiles;
  bool check = true;
  std::string trace;  // File of the timeline; empty: none.
  Arithmetic arithmetic = Arithmetic::native;
  MathMode math = MathMode::automatic;
  int moduli = 0;
  EmulationScheme scheme = EmulationScheme::residues;
  bool look = true;
  Fallback fallback = Fallback::exact;
  bool hash = false;

  [[nodiscard]] bool from_files() const { return !a.empty() || !b.empty(); }
  [[nodiscard]] bool may_emulate() const { return arithmetic != Arithmetic::native; }
};

[[nodiscard]] const OptionTable<GemmSettings>& gemm_options();

/// Throws Error(argument) if --choice published is given with a tile or an arithmetic that leaves no choice.
void require_tile_choice(TileChoice choice, long long tile, Arithmetic arithmetic);

}  // namespace heddle::driver
