// heddle._core: factorizations, and systems solved with them, on one rank.
#include "arrays.hpp"
#include "module.hpp"
#include "solve_options.hpp"
#include <heddle/solve/solve.hpp>

#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

namespace heddle::python {
namespace {

// Copies `from` to `to` unless it is the same matrix.
template <Scalar T> void copy_matrix(const StridedMatrix<const T>& from, const StridedMatrix<T>& to) {
  const bool same = from.data() == to.data() && from.extent(0) == to.extent(0) && from.extent(1) == to.extent(1) &&
                    from.stride(0) == to.stride(0) && from.stride(1) == to.stride(1);
  if (!same) transpose(space(), T(1), from, Operation::none, to);
}

// Call work(matrix) with `out` as a column-major matrix that holds `a`; return its report.
template <Scalar T, class Work> auto in_place(const Input& a, const Output& out, Work&& work) {
  const Operand<const T, 2> from(a, "a");
  const Operand<T, 2> to(out, "out");
  copy_matrix<T>(*from, *to);
  const ColumnMajor<T> columns(*to);
  auto report = work(*columns);
  columns.give_back();
  to.give_back();
  return report;
}

nb::dict lu_factor(const Input& a, const Output& out, const FactorArguments& options) {
  Watch watch(options.progress);
  const LuReport report = with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      return in_place<T>(a, out, [&](const MatrixView<T>& A) { return lu<T>(space(), A, options.taken(watch)); });
    });
  });
  return lu_entries(report);
}

nb::dict cholesky_factor(const Input& a, const Output& out, const FactorArguments& options) {
  Watch watch(options.progress);
  const CholeskyReport report = with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      return in_place<T>(a, out, [&](const MatrixView<T>& A) { return cholesky<T>(space(), A, options.taken(watch)); });
    });
  });
  return factorization_entries(report);
}

nb::dict inverse_of(const Input& a, const Output& out, const FactorArguments& options, bool correctly_rounded) {
  Watch watch(options.progress);
  const InverseReport report = with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      return in_place<T>(a, out, [&](const MatrixView<T>& A) {
        return inverse<T>(space(), A, options.taken(watch), rounding(correctly_rounded));
      });
    });
  });
  nb::dict entries;
  entries["info"] = report.info;
  entries["scaled_condition"] = report.scaled_condition;
  entries["ill_conditioned"] = report.ill_conditioned;
  enter_rounding(entries, report);
  return entries;
}

// The parts of the mantissa, the exponent, and whether they are proven to be correctly rounded.
nb::tuple determinant_of(const Input& a, const FactorArguments& options, bool correctly_rounded) {
  Watch watch(options.progress);
  const auto [re, im, exponent, proven] = with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      const Operand<const T, 2> A(a, "a");
      const ColumnMajor<const T> columns(*A);
      // It only reads them.
      const MatrixView<T> matrix(const_cast<T*>((*columns).data()), (*columns).layout());
      const Determinant<T> found = determinant<T>(space(), matrix, options.taken(watch), rounding(correctly_rounded));
      return std::tuple(real_of<double>(found.mantissa), imaginary_of<double>(found.mantissa), found.exponent,
                        found.correctly_rounded);
    });
  });
  return nb::make_tuple(re, im, exponent, proven);
}

LuReport factors_of(const std::vector<Index>& pivots) {
  LuReport factors;
  factors.pivots = pivots;
  return factors;
}

// Systems with factors that are there: right-hand sides are copied to `out` and give way to solutions.
void factored_solve(const Input& factors, const std::optional<std::vector<Index>>& pivots, const Input& b,
                    const Output& out, const std::string& operation, const FactorArguments& options) {
  const Operation op = operation_from(operation);
  Watch watch(options.progress);
  with_scalar(b, [&]<class T>() {
    run(watch, [&] {
      const Operand<const T, 2> of(factors, "the factors");
      const ColumnMajor<const T> columns(*of);
      in_place<T>(b, out, [&](const MatrixView<T>& X) {
        if (pivots) {
          lu_solve<T>(space(), op, *columns, factors_of(*pivots), X, options.taken(watch));
        } else {
          cholesky_solve<T>(space(), *columns, X, options.taken(watch));
        }
        return 0;
      });
    });
  });
}

nb::dict solve_system(const Input& a, const Input& b, const Output& out, bool positive, bool equilibrate,
                      int refinements, bool measure, bool certificate, bool correctly_rounded,
                      const FactorArguments& factor) {
  Watch watch(factor.progress);
  const SolveOptions options =
      solve_options(positive, equilibrate, refinements, measure, certificate, correctly_rounded, factor, watch);
  const SolveReport report = with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      const Operand<const T, 2> A(a, "a");
      const Operand<const T, 2> B(b, "b");
      const Operand<T, 2> X(out, "out");
      const ColumnMajor<const T> A_columns(*A);
      const ColumnMajor<const T> B_columns(*B);
      const ColumnMajor<T> X_columns(*X, false);
      SolveReport found = solve<T>(space(), *A_columns, *B_columns, *X_columns, options);
      if (found.factorization.info == 0) {
        X_columns.give_back();
        X.give_back();
      }
      return found;
    });
  });
  return solve_entries(report);
}

}  // namespace

void bind_solve(nb::module_& module) {
  nb::class_<FactorArguments>(module, "FactorOptions")
      .def(nb::init<const std::string&, Index, Index, nb::object>(), nb::arg("arithmetic"), nb::arg("block"),
           nb::arg("group"), nb::arg("progress").none());
  module.def("lu_factor", lu_factor, nb::arg("a"), nb::arg("out"), nb::arg("options"));
  module.def("cholesky", cholesky_factor, nb::arg("a"), nb::arg("out"), nb::arg("options"));
  module.def("inverse", inverse_of, nb::arg("a"), nb::arg("out"), nb::arg("options"), nb::arg("correctly_rounded"));
  module.def("determinant", determinant_of, nb::arg("a"), nb::arg("options"), nb::arg("correctly_rounded"));
  module.def("factored_solve", factored_solve, nb::arg("factors"), nb::arg("pivots").none(), nb::arg("b"),
             nb::arg("out"), nb::arg("operation"), nb::arg("options"));
  module.def("solve", solve_system, nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("positive"),
             nb::arg("equilibrate"), nb::arg("refinements"), nb::arg("measure"), nb::arg("certificate"),
             nb::arg("correctly_rounded"), nb::arg("options"));
}

}  // namespace heddle::python
