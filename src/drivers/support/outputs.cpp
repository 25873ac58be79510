// Checks that a command's output files differ from one another and from its inputs.
#include "drivers/support/outputs.hpp"

#include <heddle/core/error.hpp>

namespace heddle::driver {

namespace {

// Make the path absolute first: weakly_canonical() would leave the spelling of a relative path to a file that does not
// exist yet.
std::filesystem::path place_of(const std::filesystem::path& path) {
  std::error_code error;
  const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? std::filesystem::absolute(path).lexically_normal() : place;
}

}  // namespace

void require_distinct_outputs(const std::vector<Output>& outputs) {
  for (std::size_t k = 1; k < outputs.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      if (outputs[j].path.empty() || outputs[k].path.empty()) continue;
      require(place_of(outputs[j].path) != place_of(outputs[k].path), outputs[j].name, " and ", outputs[k].name,
              " both write ", outputs[k].path.string(), "; expected different files");
    }
  }
}

void require_inputs_kept(const std::vector<Output>& inputs, const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    for (const Output& input : inputs) {
      if (output.path.empty() || input.path.empty()) continue;
      require(place_of(output.path) != place_of(input.path), output.name, " would replace ", input.path.string(),
              ", which ", input.name, " reads; expected another file");
    }
  }
}

}  // namespace heddle::driver
