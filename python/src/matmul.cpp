// heddle._core.matmul: the product of two matrices on one rank.
#include "arrays.hpp"
#include "module.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/gemm/predict.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

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

// Columns first to first + count of op(B), or of a matrix.
template <class T> MatrixView<T> columns_of(const MatrixView<T>& B, Operation op, Index first, Index count) {
  const bool plain = op == Operation::none;
  const std::size_t step = B.stride(plain ? 1 : 0);
  const auto width = static_cast<std::size_t>(count);
  return MatrixView<T>(
      B.data() + static_cast<std::size_t>(first) * step,
      Kokkos::LayoutStride(plain ? B.extent(0) : width, B.stride(0), plain ? width : B.extent(1), B.stride(1)));
}

// C = op(A) op(B) by the BLAS, in panels of columns that take a second or so on a CPU: between them Ctrl-C is heard. On
// GPUs products take less, and are only put in order here.
template <Scalar T>
void multiply_in_panels(Watch& watch, Operation op_a, Operation op_b, const MatrixView<const T>& A,
                        const MatrixView<const T>& B, const MatrixView<T>& C) {
  constexpr double panel_flops = 5e10 / (is_complex<T> ? 4.0 : 1.0);
  const auto columns = static_cast<Index>(C.extent(1));
  const double each =
      2.0 * static_cast<double>(C.extent(0)) * static_cast<double>(A.extent(op_a == Operation::none ? 1 : 0));
  Index width = columns;
  if (views_on_host && each * static_cast<double>(columns) > 2.0 * panel_flops) {
    width = std::max<Index>(static_cast<Index>(panel_flops / each) / 64 * 64, 64);
  }
  for (Index first = 0; first < columns; first += width) {
    if (first > 0) watch.report(static_cast<double>(first), static_cast<double>(columns));
    const Index count = std::min(width, columns - first);
    blas::gemm<T>(blas_context(), op_a, op_b, T(1), A, columns_of(B, op_b, first, count), T(0),
                  columns_of(C, Operation::none, first, count));
  }
}

struct Product {
  Arithmetic arithmetic = Arithmetic::native;
  EmulationReport emulation;
};

template <Scalar T>
Product multiply(Watch& watch, const StridedMatrix<const T>& A, const StridedMatrix<const T>& B,
                 const StridedMatrix<T>& C, Arithmetic asked, int moduli) {
  Product product{.arithmetic = chosen<T>(asked, C, static_cast<Index>(A.extent(1))), .emulation = {}};
  const BlasFactor<T> a(A);
  const BlasFactor<T> b(B);
  // A row-major C is the transpose of B^T A^T.
  const bool by_rows = !is_column_major(C) && is_column_major(flipped(C));
  const ColumnMajor<T> c(by_rows ? flipped(C) : C, false);
  const auto gemm = [&](auto&& product_of) {
    if (by_rows) {
      product_of(b.flipped_op(), a.flipped_op(), *b.columns, *a.columns);
    } else {
      product_of(a.op, b.op, *a.columns, *b.columns);
    }
  };
  if (product.arithmetic == Arithmetic::native) {
    gemm([&](Operation left, Operation right, const auto& X, const auto& Y) {
      multiply_in_panels<T>(watch, left, right, X, Y, *c);
    });
  } else {
    const std::size_t rows = by_rows ? C.extent(1) : C.extent(0);
    const std::size_t columns = by_rows ? C.extent(0) : C.extent(1);
    EmulatedGemm<T> emulated(blas_context(), static_cast<Index>(rows), static_cast<Index>(columns),
                             static_cast<Index>(A.extent(1)), {.moduli = moduli});
    gemm([&](Operation left, Operation right, const auto& X, const auto& Y) {
      emulated(left, right, T(1), X, Y, T(0), *c);
    });
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
  Watch watch{nb::none()};
  const Product product = with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      const Operand<const T, 2> A(a, "a");
      const Operand<const T, 2> B(b, "b");
      const Operand<T, 2> C(out, "out");
      require(A->extent(1) == B->extent(0) && C->extent(0) == A->extent(0) && C->extent(1) == B->extent(1),
              "matmul: a is ", A->extent(0), " x ", A->extent(1), ", b ", B->extent(0), " x ", B->extent(1),
              " and out ", C->extent(0), " x ", C->extent(1));
      require_apart("matmul", "a", A, "out", C);
      require_apart("matmul", "b", B, "out", C);
      const Product found = multiply<T>(watch, *A, *B, *C, asked, moduli);
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
