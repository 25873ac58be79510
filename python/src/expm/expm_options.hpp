// Options and reports of exponentials, on one rank and over several.
#pragma once

#include "plans.hpp"
#include "runtime.hpp"
#include <heddle/expm/expm.hpp>

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

namespace heddle::python {

/// ExpmOptions as Python gives them.
struct ExpmSettings {
  // NOLINTNEXTLINE(readability-function-size): the options of expm()
  ExpmSettings(const std::string& method, int degree, double tolerance, const std::string& structure, bool balance,
               bool residual, bool certificate, const std::string& arithmetic, Index tile, int moduli, nb::object shown)
      : expm{.method = expm_method_from(method),
             .degree = degree,
             .tolerance = tolerance,
             .structure = expm_structure_from(structure),
             .balance = balance,
             .residual = residual,
             .certificate = certificate},
        progress(std::move(shown)) {
    expm.gemm.arithmetic = arithmetic_from(arithmetic);
    expm.gemm.tile = tile;
    expm.gemm.emulation.moduli = moduli;
  }
  [[nodiscard]] ExpmOptions taken(Watch& watch) const {
    ExpmOptions options = expm;
    options.progress = watch.of_steps();
    return options;
  }
  /// Key of a plan for these options and n rows.
  [[nodiscard]] std::string key(Index n) const {
    return key_of(n, expm.method, expm.degree, expm.tolerance, expm.structure, expm.balance, expm.residual,
                  expm.certificate, expm.gemm.arithmetic, expm.gemm.tile, expm.gemm.emulation.moduli);
  }
  ExpmOptions expm;
  nb::object progress;
};

/// The report by the names of the dataclass's members.
[[nodiscard]] inline nb::dict expm_entries(const ExpmReport& report) {
  const auto optional = [](const std::optional<double>& value) { return value ? nb::cast(*value) : nb::none(); };
  nb::dict entries;
  entries["method"] = std::string(to_string(report.method));
  entries["structure"] = std::string(to_string(report.structure));
  entries["degree"] = report.degree;
  entries["squarings"] = report.squarings;
  entries["quintuplings"] = report.quintuplings;
  entries["products"] = report.products;
  entries["norm1"] = report.norm1;
  entries["alpha"] = report.alpha;
  entries["backward_error"] = report.backward_error;
  entries["balanced"] = report.balanced;
  entries["residual"] = optional(report.residual);
  entries["certificate"] = optional(report.certificate);
  entries["seconds"] = report.seconds;
  entries["gemm_seconds"] = report.gemm_seconds;
  entries["flops"] = report.flops;
  return entries;
}

}  // namespace heddle::python
