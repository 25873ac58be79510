// heddle._core: derivatives of exponentials, on one rank and over several.
#include "arrays.hpp"
#include "matrices.hpp"
#include "module.hpp"
#include "whole.hpp"
#include <heddle/expm/frechet.hpp>

#include <optional>
#include <string>
#include <utility>

namespace heddle::python {
namespace {

struct FrechetSettings {
  // NOLINTNEXTLINE(readability-function-size): the options of expm_frechet()
  FrechetSettings(bool adjoint, const std::string& method, double tolerance, const std::string& arithmetic, Index tile,
                  int moduli, nb::object shown)
      : frechet{.adjoint = adjoint, .method = expm_method_from(method), .tolerance = tolerance},
        progress(std::move(shown)) {
    frechet.gemm.arithmetic = arithmetic_from(arithmetic);
    frechet.gemm.tile = tile;
    frechet.gemm.emulation.moduli = moduli;
  }
  [[nodiscard]] ExpmFrechetOptions taken(Watch& watch) const {
    ExpmFrechetOptions options = frechet;
    options.progress = watch.of_steps();
    return options;
  }
  ExpmFrechetOptions frechet;
  nb::object progress;
};

nb::dict entries_of(const ExpmFrechetReport& report) {
  nb::dict entries;
  entries["method"] = std::string(to_string(report.method));
  entries["degree"] = report.degree;
  entries["squarings"] = report.squarings;
  entries["products"] = report.products;
  entries["norm1"] = report.norm1;
  entries["beta"] = report.beta;
  entries["backward_error"] = report.backward_error;
  entries["seconds"] = report.seconds;
  entries["gemm_seconds"] = report.gemm_seconds;
  entries["flops"] = report.flops;
  return entries;
}

nb::dict derivative(const Input& a, const Input& direction, const std::optional<Output>& exponential, const Output& out,
                    const FrechetSettings& settings) {
  Watch watch(settings.progress);
  return entries_of(with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      const Operand<const T, 2> A(a, "A");
      const Operand<const T, 2> D(direction, "E");
      const Operand<T, 2> L(out, "out");
      const ColumnMajor<const T> A_columns(*A);
      const ColumnMajor<const T> D_columns(*D);
      const ColumnMajor<T> L_columns(*L, false);
      const auto compute = [&](const auto&... results) {
        return expm_frechet<T>(one_rank(), whole(*A_columns), whole(*D_columns), results..., whole(*L_columns),
                               settings.taken(watch));
      };
      ExpmFrechetReport found;
      if (exponential) {
        const Operand<T, 2> E(*exponential, "the exponential");
        const ColumnMajor<T> E_columns(*E, false);
        found = compute(whole(*E_columns));
        E_columns.give_back();
        E.give_back();
      } else {
        found = compute();
      }
      L_columns.give_back();
      L.give_back();
      return found;
    });
  }));
}

nb::dict distributed(const Matrix& a, const Matrix& direction, const Matrix& e, const Matrix& l,
                     const FrechetSettings& settings) {
  Watch watch(settings.progress);
  return entries_of(a.visit([&]<Scalar T>(const DistributedMatrix<T>& A) {
    return run(watch, [&] {
      return expm_frechet<T>(A.communicator(), A, direction.as<T>(), e.as<T>(), l.as<T>(), settings.taken(watch));
    });
  }));
}

}  // namespace

void bind_frechet(nb::module_& module) {
  nb::class_<FrechetSettings>(module, "FrechetOptions")
      .def(nb::init<bool, const std::string&, double, const std::string&, Index, int, nb::object>(), nb::arg("adjoint"),
           nb::arg("method"), nb::arg("tolerance"), nb::arg("arithmetic"), nb::arg("tile"), nb::arg("moduli"),
           nb::arg("progress").none());
  module.def("expm_frechet", derivative, nb::arg("a"), nb::arg("direction"), nb::arg("exponential").none(),
             nb::arg("out"), nb::arg("options"));
  module.def("distributed_expm_frechet", distributed, nb::arg("a"), nb::arg("direction"), nb::arg("e"), nb::arg("l"),
             nb::arg("options"));
}

}  // namespace heddle::python
