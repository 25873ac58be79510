// heddle._core: exact sums, inner products, norms and products on one rank.
#include "arrays.hpp"
#include "module.hpp"
#include "plans.hpp"
#include <heddle/exact/matrix.hpp>
#include <heddle/exact/reduce.hpp>
#include <heddle/exact/segmented.hpp>

#include <complex>
#include <cstdint>

namespace heddle::python {
namespace {

// A scalar as Python has it.
template <Scalar T> nb::object number(const T& value) {
  if constexpr (is_complex<T>) {
    return nb::steal(PyComplex_FromDoubles(real_of<double>(value), imaginary_of<double>(value)));
  } else {
    return nb::float_(static_cast<double>(value));
  }
}

nb::object sum(const Input& x, const std::string& algorithm) {
  const exact::Algorithm way = exact::algorithm_from(algorithm);
  return with_scalar(x, [&]<class T>() {
    return number<T>(run([&] { return exact::sum(space(), *Operand<const T, 1>(x, "x"), way); }));
  });
}

nb::object dot(const Input& x, const Input& y, bool conjugated, const std::string& algorithm) {
  const exact::Algorithm way = exact::algorithm_from(algorithm);
  return with_scalar(x, [&]<class T>() {
    return number<T>(run([&] {
      const Operand<const T, 1> X(x, "x");
      const Operand<const T, 1> Y(y, "y");
      return conjugated ? exact::dotc(space(), *X, *Y, way) : exact::dot(space(), *X, *Y, way);
    }));
  });
}

nb::object norm(const Input& x, int order) {
  return with_scalar(x, [&]<class T>() {
    return number<Real<T>>(run([&] {
      const Operand<const T, 1> X(x, "x");
      return order == 1 ? exact::asum(space(), *X) : exact::nrm2(space(), *X);
    }));
  });
}

void matmul(const Input& a, const Input& b, const Output& out, const std::string& algorithm) {
  const exact::Algorithm way = exact::algorithm_from(algorithm);
  with_scalar(a, [&]<class T>() {
    run([&] {
      const Operand<const T, 2> A(a, "a");
      const Operand<const T, 2> B(b, "b");
      const Operand<T, 2> C(out, "out");
      require_apart("exact.matmul", "a", A, "out", C);
      require_apart("exact.matmul", "b", B, "out", C);
      exact::gemm(space(), Operation::none, Operation::none, T(1), *A, *B, T(0), *C, way);
      C.give_back();
    });
  });
}

// exact::keyed_sum(); on GPUs by a plan that stays for the next call.
template <Scalar T, exact::SegmentIndex I>
void by_kept_plan(const StridedVector<const T>& x, const StridedVector<const I>& keys, const StridedVector<T>& sums) {
  if constexpr (views_on_host) {
    exact::keyed_sum(space(), x, keys, sums);
  } else {
    const std::size_t bytes = 3 * (sizeof(T) + sizeof(I)) * x.extent(0) + 9 * sums.extent(0);
    PlanStore::get().with<exact::KeyedSumPlan>(
        key_of(x.extent(0), sums.extent(0), sizeof(T), sizeof(I)), bytes,
        [](const auto&) { return exact::KeyedSumPlan(space()); }, {},
        [&](exact::KeyedSumPlan& plan) { return plan.execute(x, keys, sums); });
  }
}

// Sums by keys, or of segments between offsets, which are integers of 32 or 64 bits.
void sums_of_groups(const Input& x, const Input& groups, const Output& out, bool keyed) {
  with_scalar(x, [&]<class T>() {
    with_type_of<std::int32_t, std::int64_t>(groups.dtype(), [&]<class I>() {
      run([&] {
        const Operand<const T, 1> X(x, "x");
        const char* const operation = keyed ? "exact.keyed_sum" : "exact.segmented_sum";
        const char* const groups_name = keyed ? "keys" : "offsets";
        const Operand<const I, 1> G(groups, groups_name);
        const Operand<T, 1> sums(out, "out");
        require_apart(operation, "x", X, "out", sums);
        require_apart(operation, groups_name, G, "out", sums);
        if (keyed) {
          by_kept_plan<T, I>(*X, *G, *sums);
        } else {
          exact::segmented_sum(space(), *X, *G, *sums);
        }
        sums.give_back();
      });
    });
  });
}

}  // namespace

void bind_exact(nb::module_& module) {
  module.def("exact_sum", sum, nb::arg("x"), nb::arg("algorithm"));
  module.def("exact_dot", dot, nb::arg("x"), nb::arg("y"), nb::arg("conjugated"), nb::arg("algorithm"));
  module.def("exact_norm", norm, nb::arg("x"), nb::arg("order"));
  module.def("exact_matmul", matmul, nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("algorithm"));
  module.def("exact_sums_of_groups", sums_of_groups, nb::arg("x"), nb::arg("groups"), nb::arg("out"), nb::arg("keyed"));
}

}  // namespace heddle::python
