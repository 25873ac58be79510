// heddle._core: eigenvalues and eigenvectors on one rank.
#include "arrays.hpp"
#include "eigen_report.hpp"
#include "module.hpp"
#include "plans.hpp"
#include <heddle/eigen/batched.hpp>
#include <heddle/eigen/generalised.hpp>

namespace heddle::python {
namespace {

// The real type that eigenvalues of T have, as an array.
template <Scalar T, class Work>
auto solve_eigenproblem(const Input& a, const Output& w, const std::optional<Output>& v, Work&& work) {
  return run([&] {
    const Operand<const T, 2> A(a, "a");
    const Operand<Real<T>, 1> values(w, "w");
    if (!v) {
      auto report = work(*A, *values, nullptr);
      values.give_back();
      return report;
    }
    const Operand<T, 2> vectors(*v, "v");
    auto report = work(*A, *values, &*vectors);
    values.give_back();
    vectors.give_back();
    return report;
  });
}

// eigen::jacobi() by a plan that stays for the next call.
template <Scalar T>
eigen::JacobiReport by_kept_plan(const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                                 const StridedMatrix<T>& V, const eigen::JacobiOptions& options) {
  const auto n = static_cast<Index>(A.extent(0));
  const std::string key = key_of(n, options.method, options.accuracy, options.upper, options.tolerance, options.sweeps,
                                 options.block, options.reproducible);
  return PlanStore::get().with<eigen::JacobiPlan<T>>(
      key, A.size() * 12 * sizeof(T), [&](const auto&) { return eigen::JacobiPlan<T>(space(), n, options); }, {},
      [&](eigen::JacobiPlan<T>& plan) { return plan.execute(A, w, V); });
}

nb::dict eigh(const Input& a, const std::optional<Input>& b, const Output& w, const std::optional<Output>& v,
              const EighOptions& options) {
  return with_scalar(a, [&]<class T>() {
    if (!b) {
      return jacobi_entries(
          solve_eigenproblem<T>(a, w, v, [&](const auto& A, const auto& values, const StridedMatrix<T>* vectors) {
            return vectors != nullptr ? by_kept_plan<T>(A, values, *vectors, options.jacobi)
                                      : eigen::jacobi_values(space(), A, values, options.jacobi);
          }));
    }
    const auto report =
        solve_eigenproblem<T>(a, w, v, [&](const auto& A, const auto& values, const StridedMatrix<T>* vectors) {
          const Operand<const T, 2> B(*b, "b");
          return vectors != nullptr ? eigen::jacobi(space(), A, *B, values, *vectors, options.jacobi)
                                    : eigen::jacobi_values(space(), A, *B, values, options.jacobi);
        });
    nb::dict entries = jacobi_entries(report);
    entries["least_pivot"] = report.least_pivot;
    entries["growth"] = report.growth;
    entries["refinement_sweeps"] = report.refinement_sweeps;
    return entries;
  });
}

nb::dict eigh_batched(const Input& a, const Output& w, const std::optional<Output>& v, const EighOptions& options) {
  const eigen::JacobiBatchedOptions taken{.accuracy = options.jacobi.accuracy,
                                          .upper = options.jacobi.upper,
                                          .tolerance = options.jacobi.tolerance,
                                          .sweeps = options.jacobi.sweeps,
                                          .reproducible = options.jacobi.reproducible};
  const eigen::JacobiBatchedReport report = with_scalar(a, [&]<class T>() {
    return run([&] {
      const Operand<const T, 3> A(a, "a");
      const Operand<Real<T>, 2> stacked(w, "w");
      const StridedMatrix<Real<T>> values = flipped(*stacked);
      if (!v) {
        const auto found = eigen::jacobi_batched_values(space(), as_batch(*A), values, taken);
        stacked.give_back();
        return found;
      }
      const Operand<T, 3> V(*v, "v");
      const auto found = eigen::jacobi_batched(space(), as_batch(*A), values, as_batch(*V), taken);
      stacked.give_back();
      V.give_back();
      return found;
    });
  });
  nb::dict entries;
  entries["not_converged"] = report.not_converged;
  entries["first_failed"] = report.first_failed;
  entries["sweeps"] = report.sweeps;
  entries["rotations"] = report.rotations;
  return entries;
}

}  // namespace

void bind_eigen(nb::module_& module) {
  nb::class_<EighOptions>(module, "EighOptions")
      .def(nb::init<const std::string&, const std::string&, bool, double, int, int, bool>(), nb::arg("method"),
           nb::arg("accuracy"), nb::arg("upper"), nb::arg("tolerance"), nb::arg("sweeps"), nb::arg("block"),
           nb::arg("reproducible"));
  module.def("eigh", eigh, nb::arg("a"), nb::arg("b").none(), nb::arg("w"), nb::arg("v").none(), nb::arg("options"));
  module.def("eigh_batched", eigh_batched, nb::arg("a"), nb::arg("w"), nb::arg("v").none(), nb::arg("options"));
}

}  // namespace heddle::python
