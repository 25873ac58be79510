// heddle._core: derivatives of exponentials, on one rank and over several.
#include "arrays.hpp"
#include "expm/whole.hpp"
#include "matrices.hpp"
#include "module.hpp"
#include "plans.hpp"
#include <heddle/expm/frechet.hpp>

#include <cstddef>
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
  // Key of a plan for these options and n rows.
  [[nodiscard]] std::string key(Index n) const {
    return key_of(n, frechet.adjoint, frechet.method, frechet.tolerance, frechet.gemm.arithmetic, frechet.gemm.tile,
                  frechet.gemm.emulation.moduli);
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

// Real and imaginary parts to be written.
template <RealScalar R> SplitMatrix<R> parts_like(const Placement& placement) {
  return {DistributedMatrix<R>(one_rank(), placement, "expm_frechet_real"),
          DistributedMatrix<R>(one_rank(), placement, "expm_frechet_imaginary")};
}

// expm_frechet() by a plan that stays for the next call; without the exponential where E is null.
template <Scalar T>
ExpmFrechetReport by_kept_plan(Watch& watch, const DistributedMatrix<T>& A, const DistributedMatrix<T>& D,
                               const DistributedMatrix<T>* E, const DistributedMatrix<T>& L,
                               const FrechetSettings& settings) {
  using R = Real<T>;
  // By an ExpmFrechetPlan's bound of its memory, and of what emulated products keep.
  const std::size_t residues = settings.frechet.gemm.arithmetic == Arithmetic::native ? 0 : 16 * sizeof(T);
  const std::size_t bytes = A.local().size() * (18 * sizeof(T) + residues);
  return PlanStore::get().with<ExpmFrechetPlan<R>>(
      settings.key(A.rows()), bytes,
      [&](const auto& hook) {
        ExpmFrechetOptions options = settings.frechet;
        options.progress = hook;
        return ExpmFrechetPlan<R>(one_rank(), options);
      },
      watch.of_steps(),
      [&](ExpmFrechetPlan<R>& plan) {
        if constexpr (is_complex<T>) {
          const SplitMatrix<R> exponential = E != nullptr ? parts_like<R>(A.placement()) : SplitMatrix<R>();
          const SplitMatrix<R> found = parts_like<R>(A.placement());
          const ExpmFrechetReport report = plan.execute(split(A), split(D), exponential, found);
          if (E != nullptr) join(exponential, *E);
          join(found, L);
          return report;
        } else {
          return E != nullptr ? plan.execute(A, D, *E, L) : plan.execute(A, D, L);
        }
      });
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
      const auto compute = [&](const DistributedMatrix<T>* result) {
        return by_kept_plan<T>(watch, whole(*A_columns), whole(*D_columns), result, whole(*L_columns), settings);
      };
      ExpmFrechetReport found;
      if (exponential) {
        const Operand<T, 2> E(*exponential, "the exponential");
        const ColumnMajor<T> E_columns(*E, false);
        const DistributedMatrix<T> result = whole(*E_columns);
        found = compute(&result);
        E_columns.give_back();
        E.give_back();
      } else {
        found = compute(nullptr);
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
