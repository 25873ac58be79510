// heddle._core: exponentials of one matrix, and of many small ones, on one rank.
#include "arrays.hpp"
#include "expm_options.hpp"
#include "module.hpp"
#include "whole.hpp"
#include <heddle/expm/batched.hpp>
#include <heddle/expm/expm.hpp>

namespace heddle::python {
namespace {

nb::dict exponential(const Input& a, const Output& out, const ExpmSettings& settings) {
  Watch watch(settings.progress);
  const ExpmReport report = with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      const Operand<const T, 2> A(a, "a");
      const Operand<T, 2> E(out, "out");
      const ColumnMajor<const T> A_columns(*A);
      const ColumnMajor<T> E_columns(*E, false);
      const ExpmReport found = expm<T>(one_rank(), whole(*A_columns), whole(*E_columns), settings.taken(watch));
      E_columns.give_back();
      E.give_back();
      return found;
    });
  });
  return expm_entries(report);
}

void exponentials(const Input& a, const Output& out, const Output& info, double tolerance) {
  with_scalar(a, [&]<class T>() {
    run([&] {
      const Operand<const T, 3> A(a, "a");
      const Operand<T, 3> E(out, "out");
      const Operand<int, 1> what(info, "info");
      expm_batched(space(), as_batch(*A), as_batch(*E), ExpmBatchedInfos(*what), {.tolerance = tolerance});
      E.give_back();
      what.give_back();
    });
  });
}

}  // namespace

void bind_expm(nb::module_& module) {
  nb::class_<ExpmSettings>(module, "ExpmOptions")
      .def(nb::init<const std::string&, int, double, const std::string&, bool, bool, bool, const std::string&, Index,
                    int, nb::object>(),
           nb::arg("method"), nb::arg("degree"), nb::arg("tolerance"), nb::arg("structure"), nb::arg("balance"),
           nb::arg("residual"), nb::arg("certificate"), nb::arg("arithmetic"), nb::arg("tile"), nb::arg("moduli"),
           nb::arg("progress").none());
  module.def("expm", exponential, nb::arg("a"), nb::arg("out"), nb::arg("options"));
  module.def("expm_batched", exponentials, nb::arg("a"), nb::arg("out"), nb::arg("info"), nb::arg("tolerance"));
}

}  // namespace heddle::python
