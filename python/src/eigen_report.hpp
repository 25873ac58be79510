// Options and reports of eigenproblems, on one rank and over several.
#pragma once

#include "runtime.hpp"
#include <heddle/eigen/jacobi.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

namespace heddle::python {

/// JacobiOptions as Python gives them.
struct EighOptions {
  // NOLINTNEXTLINE(readability-function-size): the options of jacobi()
  EighOptions(const std::string& method, const std::string& accuracy, bool upper, double tolerance, int sweeps,
              int block, bool reproducible)
      : jacobi{.method = eigen::jacobi_method_from(method),
               .accuracy = eigen::jacobi_accuracy_from(accuracy),
               .upper = upper,
               .tolerance = tolerance,
               .sweeps = sweeps,
               .block = block,
               .reproducible = reproducible} {}
  eigen::JacobiOptions jacobi;
};

/// The report by the names of the dataclass's members.
[[nodiscard]] inline nb::dict jacobi_entries(const eigen::JacobiReport& report) {
  nb::dict entries;
  entries["converged"] = report.converged;
  entries["end"] = std::string(to_string(report.end));
  entries["method"] = std::string(to_string(report.method));
  entries["accuracy"] = std::string(to_string(report.accuracy));
  entries["sweeps"] = report.sweeps;
  entries["rotations"] = report.rotations;
  entries["off_norms"] = report.off_norms;
  return entries;
}

}  // namespace heddle::python
