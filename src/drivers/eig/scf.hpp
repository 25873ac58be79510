// heddle eig --scf: a chain of atoms to self-consistency.
#pragma once

#include "drivers/eig/matrices.hpp"
#include "drivers/plot/pictures.hpp"
#include "drivers/support/outputs.hpp"
#include "drivers/support/process/text.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::driver {

struct ScfSettings {
  Chain chain;
  eigen::ScfOptions scf;
  eigen::JacobiOptions solver;
  bool cold = false;
  std::string output = "eig_scf.csv";
  std::string plot;
};

/// `asked_for`: the options, as they enter the report.
[[nodiscard]] int run_scf(Context& context, const ScfSettings& settings, const nlohmann::ordered_json& asked_for);

/// Return H of the chain's self-consistent density. Throws Error(computation) unless it converges.
[[nodiscard]] std::vector<double> chain_hamiltonian(Context& context, const Chain& chain, bool reproducible);

/// Enters and says what the eigensolver did in all steps of an iteration, which have `rotations` and `seconds`.
template <class Step>
void enter_solver_totals(const Context& context, nlohmann::ordered_json& results, const std::vector<Step>& steps) {
  Index rotations = 0;
  double seconds = 0;
  for (const Step& one : steps) {
    rotations += one.rotations;
    seconds += one.seconds;
  }
  results["rotations"] = rotations;
  results["seconds"] = seconds;
  context.say(format("%zu iterations, %lld rotations and %.3g s in the eigensolver", steps.size(),
                     static_cast<long long>(rotations), seconds));
}

/// Refuse a table or picture that can't be written, or that would replace the other or one of the given files.
/// Collective.
void require_scf_files(Context& context, const ScfSettings& settings, const std::vector<Output>& inputs,
                       const std::vector<Output>& matrices);
/// Draw the table if --plot asks for it. Collective.
void draw_scf(Context& context, const ScfSettings& settings, nlohmann::ordered_json& results);

/// Whether a file begins as the output of `heddle eig --scf` does.
[[nodiscard]] bool looks_like_scf(const std::filesystem::path& path);

inline constexpr Picture scf_picture = {"plot/eig_scf.py", "matplotlib", "python3-matplotlib"};

}  // namespace heddle::driver
