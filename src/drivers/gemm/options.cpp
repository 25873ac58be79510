// The options of `heddle gemm`.
#include "drivers/gemm/options.hpp"

#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/repeats.hpp"

namespace heddle::driver {
namespace {

using Options = GemmSettings;

OptionTable<Options> operand_options() {
  return {
      {"--a", &Options::a, Text{}, matrix_file_help},
      {"--b", &Options::b, Text{}, "File of B, likewise"},
      {"--output,-o", &Options::output, Text{}, "File to write C to", {.was = "--c"}},
      {"--c-in", &Options::c_in, Text{}, "File of C's old value, for --beta"},
      {"--op-a", &Options::op_a, operation_kind(), "op(A): N, T (transpose) or C (conjugate transpose)"},
      {"--op-b", &Options::op_b, operation_kind(), "op(B)"},
      {"--alpha", &Options::alpha, Text{"NUMBER"}, "Factor of the product: re or re,im"},
      {"--beta", &Options::beta, Text{"NUMBER"}, "Factor of C's old value: re or re,im"},
      {"--size", &Options::size, Integer{.least = 0}, "Make square random matrices of this size"},
      {"--rows", &Options::rows, Integer{.least = 0}, "Make random matrices: rows of C"},
      {"--columns", &Options::columns, Integer{.least = 0}, "... columns of C"},
      {"--inner", &Options::inner, Integer{.least = 0}, "... inner dimension"},
      {"--seed",
       &Options::seed,
       Integer{},
       "Seed of random matrices",
       {},
       [](const Options& options) { return !options.from_files(); }},
      {"--scalar", &Options::scalar, scalar_kind(), scalar_help},
      {"--place-a", &Options::place_a, Text{"WHERE"},
       "Placement of A: rows, columns, rank:R or cyclic:RxC[:PxQ] [rows of op(A)]"},
      {"--place-b", &Options::place_b, Text{"WHERE"}, "Placement of B [columns of op(B)]"},
      {"--place-c", &Options::place_c, Text{"WHERE"}, "Placement of C"},
  };
}

OptionTable<Options> product_options() {
  const auto emulated = [](const Options& options) { return options.may_emulate(); };
  return {
      {"--arithmetic", &Options::arithmetic, arithmetic_kind(),
       "native (the BLAS), emulated (by 8-bit integers, with the same bits on every machine), or auto: the faster one, "
       "as the tile model has it"},
      {"--math", &Options::math, math_kind(), math_help},
      {"--hash", &Options::hash, Flag{}, "Print the SHA-256 of C, gathered on rank 0"},
      {"--moduli",
       &Options::moduli,
       Integer{.least = 7, .most = 31},
       "Of --arithmetic emulated: 7 to 31; 4 bits of each factor a modulus, of complex ones 3 to 4",
       {.otherwise = "as many as round-off and the exponents need"},
       emulated},
      {"--scheme",
       &Options::scheme,
       choice<EmulationScheme>("NAME", {EmulationScheme::residues, EmulationScheme::slices}),
       "Of --arithmetic emulated: residues, or slices: the same bits by another way, several times slower",
       {},
       emulated},
      {"--look,!--no-look",
       &Options::look,
       Flag{},
       "Look at the exponents before an emulated product, for the moduli that they ask for",
       {},
       emulated},
      {"--fallback",
       &Options::fallback,
       choice<Fallback>("NAME", {Fallback::exact, Fallback::native, Fallback::none}),
       "Where no number of moduli suffices: exact products, native ones, or none: emulated all the same",
       {},
       emulated},
      {"--tile", &Options::tile, Tile{}, tile_help},
      {"--choice", &Options::choice, tile_choice_kind(), tile_choice_help},
      {"--grid", &Options::grid, Grid{},
       "Ranks as a grid: each takes its share of the rows of C and of its columns; auto: chosen by the tile model"},
      {"--layers", &Options::layers, Layers{}, layers_help},
      {"--repeat", &Options::repeat, Integer{.least = 1},
       "Products to time, " + after_warm_up() + "; the fastest is reported"},
      {"--sweep", &Options::sweep, Flag{},
       "Try a range of tiles and show the model's choice beside the best one found"},
      {"--tiles",
       &Options::tiles,
       Integer{.least = 1, .type_name = "N,N,..."},
       "Tiles of the sweep, instead of a built-in range",
       {.needs = "--sweep"}},
      {"--check,!--no-check", &Options::check, Flag{}, "Check the product against a random vector"},
      {"--trace", &Options::trace, Text{.may_be_empty = false},
       "Write a timeline of the fastest repeat (in a sweep: of the tile given or chosen) for heddle plot and "
       "ui.perfetto.dev"},
  };
}

}  // namespace

bool Grid::read(const std::string& text, ProcessGrid& value) {
  value = {};
  if (text == "auto" || text == "automatic") return true;
  const std::size_t middle = text.find('x');
  if (middle == std::string::npos) return false;
  const Integer positive{.least = 1};
  return positive.read(text.substr(0, middle), value.rows) && positive.read(text.substr(middle + 1), value.columns);
}

bool Layers::read(const std::string& text, int& value) {
  value = 0;
  return text == "auto" || text == "automatic" || Integer{.least = 1}.read(text, value);
}

Choice<TileChoice> tile_choice_kind() {
  return choice<TileChoice>("NAME", {TileChoice::model, TileChoice::published});
}

std::string Grid::show(const ProcessGrid& value) {
  return value.rows == 0 ? "auto" : std::to_string(value.rows) + "x" + std::to_string(value.columns);
}

const OptionTable<GemmSettings>& gemm_options() {
  static const OptionTable<Options> table = operand_options().include(itself, product_options());
  return table;
}

void require_tile_choice(TileChoice choice, long long tile, Arithmetic arithmetic) {
  if (choice == TileChoice::model) return;
  require(tile == 0, "--choice ", option_name(choice), " is for --tile auto; the tile given is ", tile);
  require(arithmetic != Arithmetic::emulated, "--choice ", option_name(choice),
          " is for --arithmetic native and auto; the tile of emulated products follows from the ranks' shares");
}

}  // namespace heddle::driver
