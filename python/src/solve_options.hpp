// Options and reports of factorizations and systems, on one rank and over several.
#pragma once

#include "runtime.hpp"
#include <heddle/solve/solve.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

namespace heddle::python {

/// FactorOptions as Python gives them.
struct FactorArguments {
  FactorArguments(const std::string& name, Index columns, Index panels, nb::object shown)
      : arithmetic(arithmetic_from(name)), block(columns), group(panels), progress(std::move(shown)) {}
  [[nodiscard]] FactorOptions taken(Watch& watch) const {
    return {.arithmetic = arithmetic, .block = block, .group = group, .progress = watch.of_share()};
  }
  Arithmetic arithmetic;
  Index block;
  Index group;
  nb::object progress;
};

[[nodiscard]] inline Rounding rounding(bool correctly_rounded) {
  return correctly_rounded ? Rounding::correct : Rounding::computed;
}

// NOLINTNEXTLINE(readability-function-size): the options of solve()
[[nodiscard]] inline SolveOptions solve_options(bool positive, bool equilibrate, int refinements, bool measure,
                                                bool certificate, bool correctly_rounded, const FactorArguments& factor,
                                                Watch& watch) {
  return {.method = positive ? SolveMethod::cholesky : SolveMethod::lu,
          .factorization = factor.taken(watch),
          .equilibrate = equilibrate,
          .refinements = refinements,
          .measure = measure,
          .certificate = certificate,
          .rounding = rounding(correctly_rounded)};
}

/// Reports, by the names of the dataclasses' members.
[[nodiscard]] inline nb::dict factorization_entries(const FactorizationReport& report) {
  nb::dict entries;
  entries["info"] = report.info;
  entries["seconds"] = report.seconds;
  entries["gflops"] = report.gflops;
  entries["arithmetic"] = std::string(to_string(report.arithmetic));
  entries["block"] = report.block;
  entries["group"] = report.group;
  entries["memory_bytes"] = report.memory_bytes;
  return entries;
}
[[nodiscard]] inline nb::dict lu_entries(const LuReport& report) {
  nb::dict entries = factorization_entries(report);
  entries["pivots"] = report.pivots;
  entries["growth"] = report.growth;
  return entries;
}
/// Enter the fields of correct rounding.
inline void enter_rounding(nb::dict& entries, const RoundingReport& report) {
  entries["correctly_rounded"] = report.correctly_rounded;
  entries["undecided"] = report.undecided;
  entries["undecided_row"] = report.undecided_row;
  entries["undecided_column"] = report.undecided_column;
  entries["distance_to_tie"] = report.distance_to_tie;
}
[[nodiscard]] inline nb::dict solve_entries(const SolveReport& report) {
  nb::dict entries;
  entries["factorization"] = lu_entries(report.factorization);
  entries["equilibrated"] = report.equilibrated;
  entries["seconds"] = report.seconds;
  entries["memory_bytes"] = report.memory_bytes;
  entries["normwise_error"] = report.normwise_error;
  entries["componentwise_error"] = report.componentwise_error;
  entries["scaled_residual"] = report.scaled_residual;
  entries["condition"] = report.condition;
  entries["scaled_condition"] = report.scaled_condition;
  entries["ill_conditioned"] = report.ill_conditioned;
  entries["overflow"] = report.overflow;
  entries["error_bound"] = report.error_bound;
  enter_rounding(entries, report);
  return entries;
}

}  // namespace heddle::python
