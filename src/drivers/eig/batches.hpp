// heddle eig --batch and --svd: many matrices at once, on one rank.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/support/options/option_table.hpp"
#include <heddle/core/scalar.hpp>
#include <heddle/eigen/jacobi.hpp>

#include <cstdint>
#include <string>

namespace heddle::driver {

struct BatchSettings {
  Index count = 0;  ///< Number of matrices; 0: a single one, as a batch if only singular values are wanted.
  bool svd = false;
  Index rows = -1;   ///< Rows of random matrices for singular values; negative: as many as columns.
  std::string left;  ///< File of the left singular vectors.
};
[[nodiscard]] OptionTable<BatchSettings> batch_options();
[[nodiscard]] inline bool is_batch(const BatchSettings& settings) {
  return settings.count > 0 || settings.svd;
}

/// A batch's settings with those of the command's other options that apply to it.
struct BatchRequest {
  BatchSettings settings;
  std::string input;
  std::string generate;
  std::string scalar;
  Index size = -1;
  std::uint64_t seed = 1;
  double symmetry = -1;
  bool values_only = false;
  std::string values;
  std::string vectors;
  eigen::JacobiOptions solver;
  nlohmann::ordered_json inputs;  ///< All options, for the report.
};
/// Solve the batches and return the exit code. Collective. Throws Error(argument) for options that a batch does not
/// take.
[[nodiscard]] int solve_batches(Context& context, const BatchRequest& request);

}  // namespace heddle::driver
