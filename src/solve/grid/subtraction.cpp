// Products C - A B and triangular solutions, natively, by emulated products or by chains.
#include "solve/grid/subtraction.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "solve/lu/schedule.hpp"
#include <heddle/dist/placement.hpp>

#include <algorithm>

namespace heddle::impl {
namespace {

// Smallest inner dimension for which a BLAS call costs less than chains.
constexpr Index least_native_inner = on_host ? 128 : 32;
constexpr Index chain_triangle = on_host ? 64 : 128;

}  // namespace

template <Scalar T>
Subtraction<T>::Subtraction(const ExecutionSpace& space, Arithmetic arithmetic, Index chain_width, Index piece,
                            Index rows, Index columns, Index inner, Index across)
    : context_(space),
      arithmetic_(arithmetic),
      chain_width_(chain_width),
      piece_(piece),
      rows_(rows),
      columns_(columns),
      across_(std::max(columns, across)) {
  if (!native() && inner > chain_width) moduli_ = emulation_moduli<T>(inner) + factor_moduli_more;
}

template <Scalar T>
void Subtraction<T>::operator()(const MatrixView<const T>& A, const MatrixView<const T>& B, const MatrixView<T>& C,
                                Index first, bool same_A) {
  const auto inner = static_cast<Index>(A.extent(1));
  if (C.extent(0) == 0 || C.extent(1) == 0 || inner == 0) return;
  if (native() ? inner < least_native_inner : inner <= chain_width_) {
    chain_subtract<T>(space(), A, B, C);
  } else if (native()) {
    subtract_natively(A, B, C, first);
  } else {
    subtract_emulated(A, B, C, same_A);
  }
}

template <Scalar T>
void Subtraction<T>::subtract_natively(const MatrixView<const T>& A, const MatrixView<const T>& B,
                                       const MatrixView<T>& C, Index first) {
  const auto rows = static_cast<Index>(C.extent(0));
  const auto columns = static_cast<Index>(C.extent(1));
  const auto inner = static_cast<Index>(A.extent(1));
  for (Index begin = 0; begin < columns;) {
    const Index end = std::min(columns, (first + begin) / piece_ * piece_ + piece_ - first);
    blas::gemm<T>(context_, Operation::none, Operation::none, T(-1), A, block_of(B, 0, inner, begin, end), T(1),
                  block_of(C, 0, rows, begin, end));
    if (meanwhile_) meanwhile_();
    begin = end;
  }
}

template <Scalar T> typename Subtraction<T>::Factors& Subtraction<T>::factors_of(Index inner) {
  if (!product_) product_ = std::make_unique<EmulatedProduct<T>>(space(), rows_, columns_, moduli_, 0);
  const auto found = factors_.find(inner);
  if (found != factors_.end()) return found->second;
  return factors_
      .emplace(inner, Factors{QuantisedVectors<T>(space(), Factor::left, rows_, inner),
                              QuantisedVectors<T>(space(), Factor::right, across_, inner)})
      .first->second;
}

template <Scalar T>
void Subtraction<T>::quantise(QuantisedVectors<T>& vectors, Operation op, const MatrixView<const T>& X) {
  vectors.reserve(space(), moduli_);
  vectors.measure(space(), op, X);
  vectors.take(space(), product_->system(), EmulationScheme::residues, op, X);
}

template <Scalar T>
void Subtraction<T>::subtract_emulated(const MatrixView<const T>& A, const MatrixView<const T>& B,
                                       const MatrixView<T>& C, bool same_A) {
  Factors& factors = factors_of(static_cast<Index>(A.extent(1)));
  if (!same_A) quantise(factors.left, Operation::none, A);
  quantise(factors.right, Operation::none, B);
  (*product_)(context_, T(-1), {Operation::none, Operation::none, A, B, &factors.left, &factors.right}, T(1), C);
}

template <Scalar T> void Subtraction<T>::take_rows(const MatrixView<const T>& rows, const MatrixView<const T>& across) {
  Factors& factors = factors_of(static_cast<Index>(rows.extent(1)));
  quantise(factors.left, Operation::none, rows);
  // For real rows, the residues of the left factor serve the right one.
  const bool the_same = !is_complex<T> && rows.data() == across.data() && rows.extent(0) == across.extent(0);
  if (!the_same) quantise(factors.right, Operation::conjugate_transpose, across);
  taken_ = {Operation::none, Operation::conjugate_transpose,           rows, across,
            &factors.left,   the_same ? &factors.left : &factors.right};
}

template <Scalar T> void Subtraction<T>::subtract_rows(Index row, Index column, const MatrixView<T>& C) {
  if (C.extent(0) == 0 || C.extent(1) == 0) return;
  taken_.row = row;
  taken_.column = column;
  (*product_)(context_, T(-1), taken_, T(1), C);
}

template <Scalar T>
void Subtraction<T>::solve(Triangle triangle, Diagonal diagonal, const MatrixView<const T>& M, const MatrixView<T>& X,
                           Index first) {
  const auto size = static_cast<Index>(X.extent(0));
  const auto columns = static_cast<Index>(X.extent(1));
  if (columns == 0) return;
  const Index leaf = native() ? chain_triangle : chain_width_;
  if (size <= leaf) {
    chain_solve<T>(space(), triangle, diagonal, M, X);
    return;
  }
  const Index half = half_in_blocks(size, leaf);
  const bool lower = triangle == Triangle::lower;
  const Range before = lower ? Range{0, half} : Range{half, size};
  const Range after = lower ? Range{half, size} : Range{0, half};
  const MatrixView<T> found = block_of(X, before.begin, before.end, 0, columns);
  const MatrixView<T> rest = block_of(X, after.begin, after.end, 0, columns);
  solve(triangle, diagonal, block_of(M, before.begin, before.end, before.begin, before.end), found, first);
  (*this)(block_of(M, after.begin, after.end, before.begin, before.end), found, rest, first);
  solve(triangle, diagonal, block_of(M, after.begin, after.end, after.begin, after.end), rest, first);
}

template <Scalar T>
double Subtraction<T>::bytes(Arithmetic arithmetic, Index chain_width, Index rows, Index columns, Index right,
                             Index longest, const std::set<Index>& inner) {
  if (arithmetic == Arithmetic::native || longest <= chain_width) return 0.0;
  const int moduli = emulation_moduli<T>(longest) + factor_moduli_more;
  double bytes = 0.0;
  for (const Index k : inner) {
    if (k <= chain_width) continue;
    bytes += QuantisedVectors<T>::bytes(rows, k, moduli) + QuantisedVectors<T>::bytes(right, k, moduli) +
             QuantisedVectors<T>::bytes_of_sizes(rows + std::max(columns, right));
  }
  if (bytes > 0) bytes += EmulatedProduct<T>::bytes_of_sums(rows, columns, moduli);
  return bytes;
}

template <Scalar T>
void Subtraction<T>::add_inner(Index size, Index chain_width, Triangle triangle, std::set<Index>& inner) {
  if (size <= chain_width) return;
  const Index half = half_in_blocks(size, chain_width);
  inner.insert(triangle == Triangle::upper ? size - half : half);
  add_inner(half, chain_width, triangle, inner);
  add_inner(size - half, chain_width, triangle, inner);
}

#define HEDDLE_INSTANTIATE(T) template class Subtraction<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
