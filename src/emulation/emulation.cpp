// EmulatedGemm and Quantised: emulated products on one rank.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "emulation/emulated.hpp"
#include <heddle/core/error.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/exact/matrix.hpp>

#include <algorithm>

namespace heddle {
namespace {

template <Scalar T> void scale_by(const ExecutionSpace& space, T beta, const MatrixView<T>& C) {
  const impl::Elements<T> elements(C);
  impl::for_each_element(
      space, "heddle::gemm::scale", static_cast<Index>(C.extent(0)), static_cast<Index>(C.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) {
        elements(i, j) = beta == T{0} ? T{0} : multiply_add(beta, elements(i, j), T{0});
      });
}

Index extent(Operation op, const auto& X, bool of_rows) {
  return static_cast<Index>(X.extent((op == Operation::none) == of_rows ? 0 : 1));
}

}  // namespace

namespace impl {

template <Scalar T>
void multiply_instead(const blas::Context& context, Fallback fallback, T alpha, const QuantisedOperands<T>& operands,
                      T beta, const MatrixView<T>& C) {
  if (fallback == Fallback::exact) {
    exact::gemm(context.space(), operands.op_a, operands.op_b, alpha, operands.A, operands.B, beta, C);
  } else {
    blas::gemm<T>(context, operands.op_a, operands.op_b, alpha, operands.A, operands.B, beta, C);
  }
}

}  // namespace impl

template <Scalar T> struct EmulatedGemm<T>::State {
  State(const blas::Context& given, Index m, Index n, Index k, const EmulationOptions& options)
      : context(given),
        wanted(options),
        rows(m),
        columns(n),
        inner(k),
        at_once(impl::columns_at_once<T>(m, n, k, options)),
        left(given.space(), Factor::left, m, k),
        right(given.space(), Factor::right, n, k),
        product(given.space(), m, at_once, impl::moduli_of<T>(k, options), options.workspace_bytes) {}

  using Operands = typename impl::EmulatedProduct<T>::Operands;
  void reserve(int moduli) {
    left.reserve(context.space(), moduli);
    right.reserve(context.space(), at_once, impl::ResidueSystem::planes(impl::field_of<T>, moduli));
  }
  // Measures the factors, and decides how to multiply them.
  void choose(const Operands& operands, Index m, Index n);

  blas::Context context;
  EmulationOptions wanted;
  EmulationReport report;
  Index rows;
  Index columns;
  Index inner;
  Index at_once;  // Columns of C.
  impl::QuantisedVectors<T> left;
  impl::QuantisedVectors<T> right;
  impl::EmulatedProduct<T> product;
};

template <Scalar T>
EmulatedGemm<T>::EmulatedGemm(const blas::Context& context, Index m, Index n, Index k,
                              const EmulationOptions& options) {
  require(m >= 0 && n >= 0 && k >= 0, "emulated gemm: a workspace for ", m, " x ", n, ", inner ", k,
          "; expected none negative");
  state_ = std::make_unique<State>(context, m, n, k, options);
}
template <Scalar T> EmulatedGemm<T>::~EmulatedGemm() = default;
template <Scalar T> EmulatedGemm<T>::EmulatedGemm(EmulatedGemm&&) noexcept = default;
template <Scalar T> EmulatedGemm<T>& EmulatedGemm<T>::operator=(EmulatedGemm&&) noexcept = default;

template <Scalar T> const EmulationReport& EmulatedGemm<T>::report() const {
  return state_->report;
}

template <Scalar T> void EmulatedGemm<T>::State::choose(const Operands& operands, Index m, Index n) {
  const ExecutionSpace& space = context.space();
  reserve(impl::moduli_of<T>(inner, wanted));
  left.measure(space, operands.op_a, operands.A);
  right.measure(space, operands.op_b, operands.B);
  if (!impl::wants_probe(wanted)) {
    const int moduli = impl::moduli_of<T>(inner, wanted);
    report = {moduli, emulation_error<T>(inner, moduli), 0.0, {}};
    return;
  }
  const int width = impl::leading_width(inner);
  left.reserve(space, m, impl::QuantisedVectors<T>::leading_planes);
  right.reserve(space, n, impl::QuantisedVectors<T>::leading_planes);
  left.take_leading(space, width, operands.op_a, operands.A);
  right.take_leading(space, width, operands.op_b, operands.B);
  const impl::Spread spread = product.probe(context, operands, m, n, impl::worth_deciding(m * n));
  report = impl::choose_emulation<T>(inner, m * n, spread, wanted);
}

template <Scalar T>
void EmulatedGemm<T>::operator()(Operation op_a, Operation op_b, T alpha, const MatrixView<const T>& A,
                                 const MatrixView<const T>& B, T beta, const MatrixView<T>& C) {
  State& state = *state_;
  const Index m = extent(op_a, A, true);
  const Index k = extent(op_a, A, false);
  const Index n = extent(op_b, B, false);
  require(extent(op_b, B, true) == k && static_cast<Index>(C.extent(0)) == m && static_cast<Index>(C.extent(1)) == n,
          "emulated gemm: op(A) is ", m, " x ", k, ", op(B) is ", extent(op_b, B, true), " x ", n, ", C is ",
          C.extent(0), " x ", C.extent(1));
  require(m <= state.rows && n <= state.columns && k == state.inner, "emulated gemm: ", m, " x ", n, ", inner ", k,
          "; the workspace is for up to ", state.rows, " x ", state.columns, ", inner ", state.inner);
  impl::require_apart("emulated gemm", "A", A, "C", C);
  impl::require_apart("emulated gemm", "B", B, "C", C);
  state.report = {};
  if (m == 0 || n == 0) {
    return;
  }
  if (k == 0 || alpha == T{0}) {
    scale_by(state.context.space(), beta, C);
    return;
  }
  const ExecutionSpace& space = state.context.space();
  const typename State::Operands operands{op_a, op_b, A, B, &state.left, &state.right};
  state.choose(operands, m, n);
  if (state.report.fallback) {
    impl::multiply_instead<T>(state.context, *state.report.fallback, alpha, operands, beta, C);
    return;
  }
  state.product.set_moduli(space, state.report.moduli);
  state.reserve(state.report.moduli);
  state.left.take(space, state.product.system(), state.wanted.scheme, op_a, A);
  state.product.by_panels(state.context, alpha, operands, state.right, std::max<Index>(state.at_once, 1),
                          state.wanted.scheme, beta, C);
}

template <Scalar T> struct Quantised<T>::State {
  Factor factor;
  Operation op;
  MatrixView<const T> X;
  int moduli;
  impl::QuantisedVectors<T> vectors;
};

template <Scalar T>
Quantised<T>::Quantised(const blas::Context& context, Factor factor, Operation op, const MatrixView<const T>& X,
                        int moduli) {
  const ExecutionSpace& space = context.space();
  const bool left = factor == Factor::left;
  const Index inner = extent(op, X, !left);
  const int count = impl::moduli_of<T>(inner, {.moduli = moduli});
  state_ = std::make_unique<State>(State{factor, op, X, count, {space, factor, extent(op, X, left), inner}});
  state_->vectors.reserve(space, count);
  state_->vectors.measure(space, op, X);
  state_->vectors.take(space, impl::ResidueSystem(impl::field_of<T>, count), EmulationScheme::residues, op, X);
}
template <Scalar T> Quantised<T>::~Quantised() = default;
template <Scalar T> Quantised<T>::Quantised(Quantised&&) noexcept = default;
template <Scalar T> Quantised<T>& Quantised<T>::operator=(Quantised&&) noexcept = default;

template <Scalar T> int Quantised<T>::moduli() const {
  return state_->moduli;
}

template <Scalar T>
void EmulatedGemm<T>::operator()(T alpha, const Quantised<T>& A, const Quantised<T>& B, T beta,
                                 const MatrixView<T>& C) {
  State& state = *state_;
  const auto& left = *A.state_;
  const auto& right = *B.state_;
  const Index m = left.vectors.vectors();
  const Index n = right.vectors.vectors();
  const Index k = left.vectors.inner();
  require(left.factor == Factor::left && right.factor == Factor::right,
          "emulated gemm: A is to be quantised as the left factor, B as the right one");
  require(left.moduli == right.moduli, "emulated gemm: A has ", left.moduli, " moduli, B ", right.moduli);
  require(right.vectors.inner() == k && static_cast<Index>(C.extent(0)) == m && static_cast<Index>(C.extent(1)) == n,
          "emulated gemm: op(A) is ", m, " x ", k, ", op(B) is ", right.vectors.inner(), " x ", n, ", C is ",
          C.extent(0), " x ", C.extent(1));
  require(m <= state.rows && n <= state.columns, "emulated gemm: ", m, " x ", n, "; the workspace is for up to ",
          state.rows, " x ", state.columns);
  // Rows and columns with NaN or infinity are summed from the matrices themselves.
  impl::require_apart("emulated gemm", "A", left.X, "C", C);
  impl::require_apart("emulated gemm", "B", right.X, "C", C);
  state.report = {};
  if (m == 0 || n == 0) {
    return;
  }
  if (k == 0 || alpha == T{0}) {
    scale_by(state.context.space(), beta, C);
    return;
  }
  state.report = {left.moduli, emulation_error<T>(k, left.moduli), 0.0, {}};
  state.product.set_moduli(state.context.space(), left.moduli);
  state.product(state.context, alpha, {left.op, right.op, left.X, right.X, &left.vectors, &right.vectors}, beta, C);
}

std::string emulation_description() {
  return impl::integer_description();
}

#define HEDDLE_INSTANTIATE(T)                                                                                      \
  template void impl::multiply_instead<T>(const blas::Context&, Fallback, T, const impl::QuantisedOperands<T>&, T, \
                                          const MatrixView<T>&);                                                   \
  template class Quantised<T>;                                                                                     \
  template class EmulatedGemm<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
