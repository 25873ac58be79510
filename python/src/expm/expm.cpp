// heddle._core: exponentials of one matrix, and of many small ones, on one rank.
#include "arrays.hpp"
#include "expm/expm_options.hpp"
#include "expm/whole.hpp"
#include "module.hpp"
#include <heddle/expm/batched.hpp>
#include <heddle/expm/expm.hpp>

#include <cstddef>

namespace heddle::python {
namespace {

// expm() by a plan that stays for the next call.
template <Scalar T>
ExpmReport by_kept_plan(Watch& watch, const DistributedMatrix<T>& A, const DistributedMatrix<T>& E,
                        const ExpmSettings& settings) {
  using R = Real<T>;
  // By an ExpmPlan's bound of its memory, and of what emulated products keep.
  const std::size_t residues = settings.expm.gemm.arithmetic == Arithmetic::native ? 0 : 8 * sizeof(T);
  const std::size_t bytes = A.local().size() * (9 * sizeof(T) + residues);
  return PlanStore::get().with<ExpmPlan<R>>(
      settings.key(A.rows()), bytes,
      [&](const auto& hook) {
        ExpmOptions options = settings.expm;
        options.progress = hook;
        return ExpmPlan<R>(one_rank(), options);
      },
      watch.of_steps(),
      [&](ExpmPlan<R>& plan) {
        if constexpr (is_complex<T>) {
          const SplitMatrix<R> parts = split(A);
          const SplitMatrix<R> result{DistributedMatrix<R>(one_rank(), A.placement(), "expm_real"),
                                      DistributedMatrix<R>(one_rank(), A.placement(), "expm_imaginary")};
          const ExpmReport report = plan.execute(parts, result);
          join(result, E);
          return report;
        } else {
          return plan.execute(A, E);
        }
      });
}

nb::dict exponential(const Input& a, const Output& out, const ExpmSettings& settings) {
  Watch watch(settings.progress);
  const ExpmReport report = with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      const Operand<const T, 2> A(a, "a");
      const Operand<T, 2> E(out, "out");
      const ColumnMajor<const T> A_columns(*A);
      const ColumnMajor<T> E_columns(*E, false);
      const DistributedMatrix<T> matrix = whole(*A_columns);
      const DistributedMatrix<T> result = whole(*E_columns);
      const ExpmReport found = by_kept_plan<T>(watch, matrix, result, settings);
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
  module.attr("most_taylor_degree") = most_taylor_degree;
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
