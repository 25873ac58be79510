// Options that several commands on matrices share.
#include "drivers/support/options/matrix_options.hpp"

namespace heddle::driver {

const OptionTable<MatrixSource>& matrix_source_options() {
  static const OptionTable<MatrixSource> table = {
      {"--input,-i", &MatrixSource::input, Text{}, matrix_file_help},
      {"--size", &MatrixSource::size, Integer{.least = 0}, "Make a random matrix of this size"},
      {"--seed",
       &MatrixSource::seed,
       Integer{},
       "Seed of the random matrix",
       {},
       [](const MatrixSource& source) { return source.input.empty(); }},
      {"--scalar", &MatrixSource::scalar, scalar_kind(), scalar_help},
  };
  return table;
}

Choice<std::string> scalar_kind() {
  return choice({"double", "float", "complex-double", "complex-float"}, "TYPE");
}

Choice<Operation> operation_kind(const std::vector<Operation>& order) {
  auto kind = choice<Operation>("", order);
  for (const auto& [operation, name] : kind.names) kind.type_name += (kind.type_name.empty() ? "" : "|") + name;
  kind.also = {{Operation::none, "n"}, {Operation::transpose, "t"}, {Operation::conjugate_transpose, "c"}};
  return kind;
}

Choice<Arithmetic> arithmetic_kind() {
  return choice<Arithmetic>("NAME", {Arithmetic::native, Arithmetic::emulated, Arithmetic::automatic});
}

Choice<MathMode> math_kind() {
  return choice<MathMode>("NAME", {MathMode::automatic, MathMode::tensor, MathMode::plain, MathMode::tf32});
}

}  // namespace heddle::driver
