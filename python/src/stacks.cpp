// heddle._core: systems, inverses and determinants of stacks of matrices, on one rank.
#include "arrays.hpp"
#include "module.hpp"
#include "solve_options.hpp"
#include <heddle/solve/batched.hpp>

#include <cmath>
#include <limits>

namespace heddle::python {
namespace {

// Tuples (matrix, info, ill_conditioned, scaled_condition, overflow).
nb::list remarkable(const SolveBatchedReport& report) {
  nb::list found;
  for (const BatchedSystem& one : report.remarkable) {
    found.append(nb::make_tuple(one.matrix, one.info, one.ill_conditioned, one.scaled_condition, one.overflow));
  }
  return found;
}

// The caller has compared the shapes. NOLINTNEXTLINE(readability-function-size): the options of solve()
nb::list solve_stack(const Input& a, const Input& b, const Output& out, bool positive, bool equilibrate,
                     int refinements, const FactorArguments& factor) {
  Watch watch(factor.progress);
  const SolveOptions options = solve_options(positive, equilibrate, refinements, false, false, false, factor, watch);
  return remarkable(with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      const Operand<const T, 3> A(a, "a");
      const Operand<const T, 3> B(b, "b");
      const Operand<T, 3> X(out, "out");
      SolveBatchedReport report = solve_batched(space(), as_batch(*A), as_batch(*B), as_batch(*X), options);
      X.give_back();
      return report;
    });
  }));
}

nb::list inverse_stack(const Input& a, const Output& out, const FactorArguments& options) {
  Watch watch(options.progress);
  return remarkable(with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      const Operand<const T, 3> A(a, "a");
      const Operand<T, 3> X(out, "out");
      SolveBatchedReport report = inverse_batched(space(), as_batch(*A), as_batch(*X), options.taken(watch));
      X.give_back();
      return report;
    });
  }));
}

// Writes mantissa / |mantissa| and log |mantissa 2^exponent|.
template <Scalar T> void take_logarithm(const Determinant<T>& determinant, T& sign, Real<T>& logarithm) {
  const auto real = real_of<double>(determinant.mantissa);
  const auto imaginary = imaginary_of<double>(determinant.mantissa);
  const double size = is_complex<T> ? std::hypot(real, imaginary) : std::abs(real);
  logarithm =
      static_cast<Real<T>>(size == 0 ? -std::numeric_limits<double>::infinity()
                                     : std::log(size) + static_cast<double>(determinant.exponent) * std::log(2.0));
  if constexpr (is_complex<T>) {
    sign = size == 0 ? T(0) : T(static_cast<Real<T>>(real / size), static_cast<Real<T>>(imaginary / size));
  } else {
    sign = size == 0 ? T(0) : static_cast<T>(std::isinf(size) ? std::copysign(1.0, real) : real / size);
  }
}

template <Scalar T>
std::vector<Determinant<T>> determinants(const StridedBatch<const T>& A, const FactorOptions& options) {
  if (A.extent(2) != 1 || static_cast<Index>(A.extent(0)) <= largest_small_system) {
    return determinant_batched(space(), A, options);
  }
  // One large matrix reports the progress within it.
  const ColumnMajor<const T> columns(
      StridedMatrix<const T>(A.data(), Kokkos::LayoutStride(A.extent(0), A.stride(0), A.extent(1), A.stride(1))));
  // It only reads them.
  const MatrixView<T> matrix(const_cast<T*>((*columns).data()), (*columns).layout());
  return {determinant<T>(space(), matrix, options)};
}

// Copies numbers of the host to a vector with any stride.
template <class T> void write(const Kokkos::View<T*, Kokkos::HostSpace>& from, const StridedVector<T>& to) {
  const Kokkos::View<T*, MemorySpace> here(Kokkos::view_alloc("heddle::python::numbers", space()), from.extent(0));
  Kokkos::deep_copy(space(), here, from);
  Kokkos::deep_copy(space(), to, here);
  space().fence("heddle::python::numbers");
}

void slogdet(const Input& a, const Output& sign, const Output& logarithm, const FactorArguments& options) {
  Watch watch(options.progress);
  with_scalar(a, [&]<class T>() {
    run(watch, [&] {
      const Operand<const T, 3> A(a, "a");
      const Operand<T, 1> signs(sign, "sign");
      const Operand<Real<T>, 1> logarithms(logarithm, "logarithm");
      const std::vector<Determinant<T>> found = determinants<T>(as_batch(*A), options.taken(watch));
      const Kokkos::View<T*, Kokkos::HostSpace> host_signs("heddle::python::signs", found.size());
      const Kokkos::View<Real<T>*, Kokkos::HostSpace> host_logarithms("heddle::python::logarithms", found.size());
      for (std::size_t b = 0; b < found.size(); ++b) take_logarithm<T>(found[b], host_signs(b), host_logarithms(b));
      write(host_signs, *signs);
      write(host_logarithms, *logarithms);
      signs.give_back();
      logarithms.give_back();
    });
  });
}

}  // namespace

void bind_stacks(nb::module_& module) {
  module.attr("largest_small_system") = largest_small_system;
  module.def("solve_stack", solve_stack, nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("positive"),
             nb::arg("equilibrate"), nb::arg("refinements"), nb::arg("options"));
  module.def("inverse_stack", inverse_stack, nb::arg("a"), nb::arg("out"), nb::arg("options"));
  module.def("slogdet", slogdet, nb::arg("a"), nb::arg("sign"), nb::arg("logarithm"), nb::arg("options"));
}

}  // namespace heddle::python
