#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "dist/elementwise.hpp"
#include "gemm/emulated.hpp"
#include <heddle/core/error.hpp>
#include <heddle/gemm/emulation.hpp>

#include <cmath>

namespace heddle {
namespace {

constexpr impl::Names<Arithmetic, 2> arithmetics = {
    {{Arithmetic::native, "native"}, {Arithmetic::emulated, "emulated"}}};

Index extent(Operation op, const auto& X, bool of_rows) {
  return static_cast<Index>(X.extent((op == Operation::none) == of_rows ? 0 : 1));
}

}  // namespace

std::string_view to_string(Arithmetic arithmetic) {
  return impl::name_of(arithmetics, arithmetic, "arithmetic");
}

Arithmetic arithmetic_from(std::string_view text) {
  return impl::value_of(arithmetics, text, "arithmetic");
}

template <Scalar T> double emulation_error(Index inner, int moduli) {
  const impl::ResidueSystem system(moduli);
  // x' = 2^s x + d, |d_k| <= 1/2 (of complex x each part), so |d|_2 <= root; the largest s leaves 2^s |x|_2 above half
  // of the reach, less the sums' rounding up. |a'.b' - 2^s a . 2^t b| <= |d_a| |b'| + |a'| |d_b| + |d_a| |d_b|.
  const double root = 0.5 * std::sqrt(static_cast<double>(inner) * (is_complex<T> ? 2.0 : 1.0));
  const double rounded_up = 1.0 + 0x1p-13 * 2.0 * root;
  const double least = 0.5 * (system.reach - root) / rounded_up;
  const double each = root / least;
  return each * (2.0 + each) + each * each * 2.0;
}

template <Scalar T> int emulation_moduli(Index inner, double tolerance) {
  require(tolerance >= 0.0, "emulation: tolerance ", tolerance, "; expected a positive number, or 0 for round-off");
  const double wanted =
      tolerance > 0.0 ? tolerance : std::sqrt(static_cast<double>(inner)) * static_cast<double>(unit_roundoff<T>);
  for (int count = impl::least_moduli; count <= impl::most_moduli; ++count) {
    if (emulation_error<T>(inner, count) <= wanted) {
      return count;
    }
  }
  throw Error(ErrorKind::argument, message_of("emulation: tolerance ", tolerance, " with inner dimension ", inner,
                                              " needs more than ", impl::most_moduli, " moduli"));
}

namespace impl {

template <Scalar T> int moduli_of(Index inner, const EmulationOptions& options) {
  if (options.moduli == 0) {
    return emulation_moduli<T>(inner);
  }
  require(options.moduli >= least_moduli && options.moduli <= most_moduli, "emulation: ", options.moduli,
          " moduli; expected ", least_moduli, " to ", most_moduli, ", or 0 for as many as round-off needs");
  return options.moduli;
}

}  // namespace impl

template <Scalar T> struct EmulatedGemm<T>::State {
  State(const blas::Context& given, Index m, Index n, Index k, const EmulationOptions& options)
      : context(given),
        moduli(impl::moduli_of<T>(k, options)),
        rows(m),
        columns(n),
        inner(k),
        left(given.space(), impl::Factor::left, m, k, moduli),
        right(given.space(), impl::Factor::right, n, k, moduli),
        product(given.space(), m, n, moduli, options.workspace_bytes) {}

  blas::Context context;
  int moduli;
  Index rows;
  Index columns;
  Index inner;
  impl::QuantisedVectors<T> left;
  impl::QuantisedVectors<T> right;
  impl::EmulatedProduct<T> product;
};

template <Scalar T>
EmulatedGemm<T>::EmulatedGemm(const blas::Context& context, Index m, Index n, Index k, const EmulationOptions& options)
    : state_(std::make_unique<State>(context, m, n, k, options)) {}
template <Scalar T> EmulatedGemm<T>::~EmulatedGemm() = default;
template <Scalar T> EmulatedGemm<T>::EmulatedGemm(EmulatedGemm&&) noexcept = default;
template <Scalar T> EmulatedGemm<T>& EmulatedGemm<T>::operator=(EmulatedGemm&&) noexcept = default;

template <Scalar T> int EmulatedGemm<T>::moduli() const {
  return state_->moduli;
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
  if (m == 0 || n == 0) {
    return;
  }
  if (k == 0 || alpha == T{0}) {
    const impl::Elements<T> elements(C);
    impl::for_each_element(
        state.context.space(), "heddle::gemm::scale", m, n, KOKKOS_LAMBDA(Index i, Index j) {
          elements(i, j) = beta == T{0} ? T{0} : multiply_add(beta, elements(i, j), T{0});
        });
    return;
  }
  state.left.take(state.context.space(), state.product.system(), op_a, A);
  state.right.take(state.context.space(), state.product.system(), op_b, B);
  state.product(state.context, alpha, {op_a, op_b, A, B, &state.left, &state.right}, beta, C);
}

std::string emulation_description() {
  return impl::integer_description();
}

#define HEDDLE_INSTANTIATE(T)                                      \
  template int impl::moduli_of<T>(Index, const EmulationOptions&); \
  template double emulation_error<T>(Index, int);                  \
  template int emulation_moduli<T>(Index, double);                 \
  template class EmulatedGemm<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
