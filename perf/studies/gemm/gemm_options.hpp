// The options of `heddle study gemm`.
#pragma once

#include "studies/table.hpp"
#include <heddle/core/scalar.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

struct StudyGemmOptions : StudyFiles {
  std::vector<Index> sizes;
  Index largest = 0;
  std::vector<Index> tiles;
  std::vector<std::string> placements = {"bands", "whole"};
  std::vector<std::string> scalars = {"double"};
  std::vector<std::string> math = {"auto"};
  std::vector<std::string> peers;
  int bands_per_pass = 0;
  int repeat = 3;
  double nominal = 0.0;
  bool check = true;

  StudyGemmOptions() { output = "study_gemm.csv"; }
};

[[nodiscard]] const OptionTable<StudyGemmOptions>& study_gemm_options();

/// The name of --placements that stands for four real products of parts (gemm_parts.hpp).
inline constexpr const char* parts_placement = "parts";

/// Placements of A, B and C, as --place-a of `heddle gemm` names them.
struct StudyGemmPlaces {
  std::string a, b, c;
};
/// Return the placements of A, B and C on so many ranks for a name that --placements takes.
[[nodiscard]] StudyGemmPlaces study_gemm_places(const std::string& name, int ranks);

}  // namespace heddle::driver
