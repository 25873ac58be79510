// The options of heddle study gemm, and where the matrices of each of its placements lie.
#include "studies/gemm/gemm_options.hpp"

#include "drivers/support/options/matrix_options.hpp"
#include "studies/gemm/gemm_peers.hpp"

#include <algorithm>

namespace heddle::driver {

const OptionTable<StudyGemmOptions>& study_gemm_options() {
  using Options = StudyGemmOptions;
  static const OptionTable<Options> table = before_study_files<Options>({
      {"--largest", &Options::largest, Integer{.least = 1},
       "Orders from 256 to this, doubling; without it 2048, on a GPU 16384"},
      {"--sizes", &Options::sizes, Integer{.least = 1, .type_name = "N,N,..."}, "These orders instead"},
      {"--tiles", &Options::tiles, Integer{.least = 1, .type_name = "N,N,..."},
       "Tiles, beside those of the tile model and of equation (9); without it four a size, of an eighth of it to all"},
      {"--placements", &Options::placements,
       choice({"bands", "whole", "one", "blocks", "host", parts_placement}, "NAME,..."),
       "bands: A and C in bands of rows, B of columns; whole: A, B and C on ranks 2, 1 and 0; one: all on rank 0; "
       "blocks: all in blocks of 64 x 64; host: as bands, in host memory; parts: of complex types, four real products "
       "of real and imaginary parts, those of C, B and A whole on ranks 0 to 5"},
      {"--scalars", &Options::scalars, choice({"double", "float", "complex-double", "complex-float"}, "TYPE,..."),
       "Scalar types"},
      {"--math", &Options::math, choice({"auto", "tensor", "plain", "tf32"}, "NAME,..."), math_help},
      {"--peers",
       &Options::peers,
       choice(gemm_peers(), "NAME,..."),
       "The same products by other libraries, with the best of some blocks: cublasxt on the GPUs of one node, cublasmp "
       "on a GPU for each rank, scalapack and cosma on CPUs; what this build has not is left out, and its package "
       "named",
       {.otherwise = "none"}},
      {"--bands-per-pass",
       &Options::bands_per_pass,
       Integer{.least = 1},
       "Bands of A that a rank holds while those of B pass once: 1 is the published algorithm",
       {.otherwise = "as many as the workspace takes"}},
      {"--repeat", &Options::repeat, Integer{.least = 1}, "Products of each; the one with the median time is kept"},
      {"--nominal",
       &Options::nominal,
       Number{.least = 1e-3},
       "Nominal GFLOP/s of one rank's device, for its share in the table",
       {.otherwise = "the vendor's figure for the mode, of GPUs that are known by their names"}},
      {"--check,!--no-check", &Options::check, Flag{},
       "Check each product against a random vector, by the threads of the host"},
  });
  return table;
}

StudyGemmPlaces study_gemm_places(const std::string& name, int ranks) {
  const auto on = [&](int rank) { return "rank:" + std::to_string(std::min(rank, ranks - 1)); };
  if (name == "whole") return {on(2), on(1), on(0)};
  if (name == "one") return {on(0), on(0), on(0)};
  if (name == "blocks") return {"cyclic:64x64", "cyclic:64x64", "cyclic:64x64"};
  if (name == "host") return {"host:rows", "host:columns", "host:rows"};
  return {"rows", "columns", "rows"};
}

}  // namespace heddle::driver
