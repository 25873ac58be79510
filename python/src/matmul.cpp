// heddle._core.matmul: the product of two matrices on one rank.
#include "arrays.hpp"
#include "module.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/gemm/emulation.hpp>
#include <heddle/gemm/predict.hpp>

namespace heddle::python {
namespace {

// A factor as BLAS takes it: a row-major matrix is its transpose, column-major.
template <Scalar T> struct BlasFactor {
  explicit BlasFactor(const StridedMatrix<const T>& A)
      : op(is_column_major(A) || !is_column_major(flipped(A)) ? Operation::none : Operation::transpose),
        columns(op == Operation::none ? A : flipped(A)) {}
  // The operation on the transpose of the matrix.
  [[nodiscard]] Operation flipped_op() const { return op == Operation::none ? Operation::transpose : Operation::none; }
  Operation op;
  ColumnMajor<const T> columns;
};

template <Scalar T> Arithmetic chosen(Arithmetic asked, const StridedMatrix<T>& C, Index inner) {
  if (asked != Arithmetic::automatic) return asked;
  const Communicator& comm = one_rank();
  const ClusterShape here{.nodes = 1, .ranks_per_node = 1, .on_gpus = Kokkos::num_devices() > 0};
  return predict_gemm<T>(here, static_cast<Index>(C.extent(0)), static_cast<Index>(C.extent(1)), inner,
                         typical_rates<T>(comm), {.arithmetic = Arithmetic::automatic})
      .arithmetic;
}

struct Product {
  Arithmetic arithmetic = Arithmetic::native;
  EmulationReport emulation;
};

template <Scalar T>
Product multiply(const StridedMatrix<const T>& A, const StridedMatrix<const T>& B, const StridedMatrix<T>& C,
                 Arithmetic asked, int moduli) {
  Product product{.arithmetic = chosen<T>(asked, C, static_cast<Index>(A.extent(1))), .emulation = {}};
  const BlasFactor<T> a(A);
  const BlasFactor<T> b(B);
  // A row-major C is the transpose of B^T A^T.
  const bool by_rows = !is_column_major(C) && is_column_major(flipped(C));
  const ColumnMajor<T> c(by_rows ? flipped(C) : C, false);
  const auto gemm = [&](auto&& product_of) {
    if (by_rows) {
      product_of(b.flipped_op(), a.flipped_op(), T(1), *b.columns, *a.columns, T(0), *c);
    } else {
      product_of(a.op, b.op, T(1), *a.columns, *b.columns, T(0), *c);
    }
  };
  if (product.arithmetic == Arithmetic::native) {
    gemm([](auto&&... arguments) { blas::gemm<T>(blas_context(), arguments...); });
  } else {
    const std::size_t rows = by_rows ? C.extent(1) : C.extent(0);
    const std::size_t columns = by_rows ? C.extent(0) : C.extent(1);
    EmulatedGemm<T> emulated(blas_context(), static_cast<Index>(rows), static_cast<Index>(columns),
                             static_cast<Index>(A.extent(1)), {.moduli = moduli});
    gemm([&](auto&&... arguments) { emulated(arguments...); });
    product.emulation = emulated.report();
  }
  c.give_back();
  return product;
}

// The report where it is wanted, and None where it is not: it takes as long as a small product.
nb::object matmul(const Input& a, const Input& b, const Output& out, const std::string& arithmetic, int moduli,
                  bool reported) {
  // The name that is mostly given, without the message that arithmetic_from() makes for others.
  const Arithmetic asked = arithmetic == "native" ? Arithmetic::native : arithmetic_from(arithmetic);
  const Product product = with_scalar(a, [&]<class T>() {
    return run([&] {
      const Operand<const T, 2> A(a, "a");
      const Operand<const T, 2> B(b, "b");
      const Operand<T, 2> C(out, "out");
      require(A->extent(1) == B->extent(0) && C->extent(0) == A->extent(0) && C->extent(1) == B->extent(1),
              "matmul: a is ", A->extent(0), " x ", A->extent(1), ", b ", B->extent(0), " x ", B->extent(1),
              " and out ", C->extent(0), " x ", C->extent(1));
      const Product found = multiply<T>(*A, *B, *C, asked, moduli);
      C.give_back();
      return found;
    });
  });
  if (!reported) return nb::none();
  nb::dict report;
  report["arithmetic"] = std::string(to_string(product.arithmetic));
  report["moduli"] = product.emulation.moduli;
  report["error_bound"] = product.emulation.error_bound;
  report["spread"] = product.emulation.spread;
  report["fallback"] =
      product.emulation.fallback ? nb::cast(std::string(to_string(*product.emulation.fallback))) : nb::none();
  return report;
}

}  // namespace

void bind_matmul(nb::module_& module) {
  module.def("matmul", matmul, nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("arithmetic"), nb::arg("moduli"),
             nb::arg("reported"));
}

}  // namespace heddle::python
