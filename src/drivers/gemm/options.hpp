// The options of `heddle gemm`.
#pragma once

#include "drivers/support/option_table.hpp"
#include <heddle/core/operation.hpp>
#include <heddle/core/scalar.hpp>
#include <heddle/gemm/emulation.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::driver {

struct GemmSettings {
  std::string a, b, output, c_in;
  Operation op_a = Operation::none, op_b = Operation::none;
  std::string alpha = "1", beta = "0";
  Index size = -1, rows = -1, columns = -1, inner = -1;
  std::uint64_t seed = 1;
  std::string scalar;
  long long tile = 0;
  std::string place_a, place_b, place_c = "rows";
  int repeat = 1;
  bool sweep = false;
  std::vector<Index> tiles;
  bool check = true;
  std::string trace;  // File for it; empty: none.
  Arithmetic arithmetic = Arithmetic::native;
  int moduli = 0;
  EmulationScheme scheme = EmulationScheme::residues;
  bool look = true;
  Fallback fallback = Fallback::exact;
  bool hash = false;

  [[nodiscard]] bool from_files() const { return !a.empty() || !b.empty(); }
  [[nodiscard]] bool may_emulate() const { return arithmetic != Arithmetic::native; }
};

[[nodiscard]] const OptionTable<GemmSettings>& gemm_options();

}  // namespace heddle::driver
