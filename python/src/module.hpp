// The parts of the module heddle._core, each bound in a file of its own.
#pragma once

#include <nanobind/nanobind.h>

namespace heddle::python {

void bind_information(nanobind::module_& module);
void bind_matmul(nanobind::module_& module);
void bind_solve(nanobind::module_& module);
void bind_stacks(nanobind::module_& module);
void bind_eigen(nanobind::module_& module);
void bind_expm(nanobind::module_& module);
void bind_action(nanobind::module_& module);
void bind_frechet(nanobind::module_& module);
void bind_phi(nanobind::module_& module);
void bind_transpose(nanobind::module_& module);
void bind_exact(nanobind::module_& module);
void bind_search(nanobind::module_& module);
void bind_distributed(nanobind::module_& module);
void bind_tdse(nanobind::module_& module);
void bind_plans(nanobind::module_& module);

}  // namespace heddle::python
