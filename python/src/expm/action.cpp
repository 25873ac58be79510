// heddle._core.expm_multiply: exp(time A) B for a matrix or an operator that multiplies vectors by one; and
// phi_multiply, the sum of time^k phi_k(time A) b_k.
#include "arrays.hpp"
#include "expm/whole.hpp"
#include "matrices.hpp"
#include "module.hpp"
#include <heddle/expm/action.hpp>
#include <heddle/expm/phi.hpp>

#include <nanobind/stl/complex.h>

#include <array>
#include <complex>
#include <utility>

namespace heddle::python {
namespace {

nb::dict action_entries(const ExpmActionReport& report) {
  nb::dict entries;
  entries["method"] = std::string(to_string(report.method));
  entries["degree"] = report.degree;
  entries["steps"] = report.steps;
  entries["products"] = report.products;
  entries["other_products"] = report.other_products;
  entries["truncation"] = report.truncation;
  entries["error"] = report.error;
  entries["error_is_bound"] = report.error_is_bound;
  entries["seconds"] = report.seconds;
  return entries;
}

ExpmActionStructure structure_from(const std::string& name) {
  if (name == "general") return ExpmActionStructure::general;
  if (name == "hermitian") return ExpmActionStructure::hermitian;
  require(name == "skew-hermitian", "expm_multiply: structure = ", name,
          "; expected general, hermitian or skew-hermitian");
  return ExpmActionStructure::skew_hermitian;
}

// ExpmActionOptions as Python gives them.
struct ActionOptions {
  ActionOptions(const std::string& method, const std::string& structure, double tolerance, int dimension)
      : action{.method = expm_action_method_from(method),
               .structure = structure_from(structure),
               .tolerance = tolerance,
               .dimension = dimension} {}
  ExpmActionOptions action;
};

// R = exp(time A) B, or the sum of phis, where visit(work) calls work(A) for what A is.
template <Scalar T, class Visit>
ExpmActionReport act(const Communicator& comm, bool phis, std::complex<double> time, const Input& b, const Output& out,
                     const ActionOptions& options, Visit&& visit) {
  const Operand<const T, 2> B(b, "b");
  const Operand<T, 2> R(out, "out");
  const ColumnMajor<const T> B_columns(*B);
  const ColumnMajor<T> R_columns(*R, false);
  const ExpmActionReport report = visit([&](const auto& A) {
    return phis ? phi_action(comm, time, A, *B_columns, *R_columns, options.action)
                : ExpmActionPlan<T>(comm, options.action).execute(time, A, *B_columns, *R_columns);
  });
  R_columns.give_back();
  R.give_back();
  return report;
}

nb::dict multiply_by_matrix(bool phis, std::complex<double> time, const Input& a, const Input& b, const Output& out,
                            const ActionOptions& options) {
  const ExpmActionReport report = with_scalar(b, [&]<class T>() {
    return run([&] {
      return act<T>(one_rank(), phis, time, b, out, options, [&](const auto& work) {
        if (a.dtype() == dtype_of<Real<T>>()) {
          const Operand<const Real<T>, 2> A(a, "a");
          const ColumnMajor<const Real<T>> columns(*A);
          return work(whole(*columns));
        }
        const Operand<const T, 2> A(a, "a");
        const ColumnMajor<const T> columns(*A);
        return work(whole(*columns));
      });
    });
  });
  return action_entries(report);
}

// By a matrix over ranks, each of which has b and out whole.
nb::dict multiply_by_distributed(bool phis, std::complex<double> time, const Matrix& a, const Input& b,
                                 const Output& out, const ActionOptions& options) {
  const ExpmActionReport report = a.visit([&]<Scalar E>(const DistributedMatrix<E>& A) {
    const auto with_vectors = [&]<Scalar T>() {
      return run([&] {
        return act<T>(A.communicator(), phis, time, b, out, options, [&](const auto& work) { return work(A); });
      });
    };
    if constexpr (!is_complex<E>) {
      if (b.dtype() == dtype_of<Kokkos::complex<E>>()) return with_vectors.template operator()<Kokkos::complex<E>>();
    }
    return with_vectors.template operator()<E>();
  });
  return action_entries(report);
}

// A block of vectors as an array of Python, which must not be kept.
template <class View> nb::object as_array(const View& X) {
  using T = typename View::value_type;
  using Array = std::conditional_t<std::is_const_v<T>, nb::ndarray<nb::array_api, nb::ro>, nb::ndarray<nb::array_api>>;
  constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible;
  const auto leading = static_cast<std::int64_t>(X.extent(1) > 1 ? X.stride(1) : std::max<std::size_t>(X.extent(0), 1));
  const std::array<std::size_t, 2> shape = {X.extent(0), X.extent(1)};
  const std::array<std::int64_t, 2> strides = {1, leading};
  const int device_type = on_host ? nb::device::cpu::value : device_of_views;
  // Without an owner, only rv_policy::reference keeps nanobind from copying.
  return nb::cast(Array(X.data(), 2, shape.data(), nb::none(), strides.data(), dtype_of<std::remove_const_t<T>>(),
                        device_type, device_number(device_type)),
                  nb::rv_policy::reference);
}

// Y = function(X) by Python, whose arrays are in host memory or where kernels are.
template <Scalar T>
void call_operator(Watch& watch, const nb::object& function, bool on_host, const ExecutionSpace& instance,
                   const MatrixView<const T>& X, const MatrixView<T>& Y) {
  if (!on_host || views_on_host) {
    instance.fence("heddle::python::operator");
    watch.call([&] { function(as_array(X), as_array(Y)); });
    // On GPUs Python launches its work on streams of its own.
    if constexpr (!views_on_host) Kokkos::fence("heddle::python::operator");
    return;
  }
  const LocalMatrix<T> packed(Kokkos::view_alloc("heddle::python::operator", instance, Kokkos::WithoutInitializing),
                              X.extent(0), X.extent(1));
  const auto x = Kokkos::create_mirror(packed);
  const auto y = Kokkos::create_mirror(packed);
  Kokkos::deep_copy(instance, packed, X);
  Kokkos::deep_copy(instance, x, packed);
  instance.fence("heddle::python::operator");
  watch.call([&] { function(as_array(x), as_array(y)); });
  Kokkos::deep_copy(instance, packed, y);
  Kokkos::deep_copy(instance, Y, packed);
  instance.fence("heddle::python::operator");
}

// apply(X, Y) and apply_adjoint(X, Y) set Y to A X and A^H X.
nb::dict multiply_by_operator(bool phis, std::complex<double> time, Index n, const nb::object& apply,
                              const nb::object& apply_adjoint, const Input& b, const Output& out,
                              const ActionOptions& options) {
  Watch watch{nb::none()};
  const bool on_host = !reachable(b.device_type(), b.device_id());
  const ExpmActionReport report = with_scalar(b, [&]<class T>() {
    const auto call = [&](const nb::object& function) {
      return [&](const ExecutionSpace& instance, const MatrixView<const T>& X, const MatrixView<T>& Y) {
        call_operator<T>(watch, function, on_host, instance, X, Y);
      };
    };
    ExpmActionOperator<T> A{.n = n, .apply = call(apply)};
    if (!apply_adjoint.is_none()) A.apply_adjoint = call(apply_adjoint);
    return run(watch, [&] {
      return act<T>(one_rank(), phis, time, b, out, options, [&](const auto& work) { return work(A); });
    });
  });
  return action_entries(report);
}

}  // namespace

void bind_action(nb::module_& module) {
  nb::class_<ActionOptions>(module, "ExpmMultiplyOptions")
      .def(nb::init<const std::string&, const std::string&, double, int>(), nb::arg("method"), nb::arg("structure"),
           nb::arg("tolerance"), nb::arg("dimension"));
  module.def("expm_multiply", multiply_by_matrix, nb::arg("phis"), nb::arg("time"), nb::arg("a"), nb::arg("b"),
             nb::arg("out"), nb::arg("options"));
  module.def("distributed_expm_multiply", multiply_by_distributed, nb::arg("phis"), nb::arg("time"), nb::arg("a"),
             nb::arg("b"), nb::arg("out"), nb::arg("options"));
  module.def("expm_multiply_operator", multiply_by_operator, nb::arg("phis"), nb::arg("time"), nb::arg("n"),
             nb::arg("apply"), nb::arg("apply_adjoint").none(), nb::arg("b"), nb::arg("out"), nb::arg("options"));
}

}  // namespace heddle::python
