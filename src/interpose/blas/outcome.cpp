// Which exceptions a product of matrices raises, and products whose sums alone would overflow or underflow.
#include "interpose/blas/outcome.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/range.hpp"

namespace heddle::impl::interpose {
namespace {

// Flags of columns of numbers: whether one is NaN or infinite, and whether a part of one is below the normal numbers
// but not zero: by integers, which compilers make vectors of.
struct Unusual {
  bool special = false;
  bool denormal = false;

  template <Scalar T> Unusual(Index rows, Index columns, const T* C, Index leading) {
    using R = Real<T>;
    using Bits = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;
    constexpr int fraction = std::numeric_limits<R>::digits - 1;
    constexpr Bits one = Bits{1} << fraction;  // In the field of the exponent.
    constexpr Bits sign = ~(~Bits{0} >> 1);
    const Index numbers = rows * static_cast<Index>(sizeof(T) / sizeof(R));
    Bits overflow = 0;
    Bits below = 0;
    for (Index j = 0; j < columns; ++j) {
      const R* const column = reinterpret_cast<const R*>(C + j * leading);
      for (Index i = 0; i < numbers; ++i) {
        const Bits bits = std::bit_cast<Bits>(column[i]) & ~sign;
        overflow |= bits + one;
        // The sign of bits - 1 - (one - 1) for bits other than zero.
        below |= (bits - one) & ~(bits - 1);
      }
    }
    special = (overflow & sign) != 0;
    denormal = (below & sign) != 0;
  }
};

}  // namespace

template <Scalar T> Outcome<T>::Outcome(const Product<T>& product) : product_(product) {
  if (product.beta != T{0} && Unusual(product.m, product.n, product.C, product.leading_c).special) {
    before_ = copy_of_c();
  }
}

template <Scalar T> T Outcome<T>::left(Index i, Index k) const {
  const T& a = product_.left(i)[k];
  return product_.op_a == Operation::conjugate_transpose ? conjugate(a) : a;
}
template <Scalar T> T Outcome<T>::right(Index k, Index j) const {
  const T& b = product_.right(j)[k];
  return product_.op_b == Operation::conjugate_transpose ? conjugate(b) : b;
}
template <Scalar T> Operands Outcome<T>::operands_of_row(Index i) const {
  Operands operands;
  for (Index k = 0; k < product_.k; ++k) operands.add(left(i, k));
  return operands;
}
template <Scalar T> Operands Outcome<T>::operands_of_column(Index j) const {
  Operands operands;
  for (Index k = 0; k < product_.k; ++k) operands.add(right(k, j));
  return operands;
}

template <Scalar T> bool Outcome<T>::may_be_rounded_first() const {
  using R = Real<T>;
  const R size = largest_part(product_.alpha);
  if (size == R{1} || !is_finite(product_.alpha)) return true;
  const bool by_columns_a = product_.op_a == Operation::none;
  const bool by_columns_b = product_.op_b == Operation::none;
  const Range a(by_columns_a ? product_.m : product_.k, by_columns_a ? product_.k : product_.m, product_.A,
                product_.leading_a);
  const Range b(by_columns_b ? product_.k : product_.n, by_columns_b ? product_.n : product_.k, product_.B,
                product_.leading_b);
  if (size > R{1}) return a.last_bit + b.last_bit >= least_bit<T>;
  // Both parts of complex products, and k of them.
  const int terms = std::ilogb(static_cast<double>(product_.k)) + 4;
  return a.largest + b.largest + terms < std::numeric_limits<R>::max_exponent;
}

template <Scalar T> std::vector<T> Outcome<T>::copy_of_c() const {
  std::vector<T> copy;
  if (product_.beta == T{0}) return copy;
  copy.reserve(static_cast<std::size_t>(product_.m * product_.n));
  for (Index j = 0; j < product_.n; ++j) {
    const T* const column = product_.C + j * product_.leading_c;
    copy.insert(copy.end(), column, column + product_.m);
  }
  return copy;
}

template <Scalar T> void Outcome<T>::correct(const T* rounded, const T* before) const {
  std::vector<Operands> rows;
  for (Index i = 0; i < product_.m; ++i) rows.push_back(operands_of_row(i));
  for (Index j = 0; j < product_.n; ++j) {
    const Operands column = operands_of_column(j);
    for (Index i = 0; i < product_.m; ++i) {
      const T& sum = rounded[i + j * product_.m];
      if (interpose::may_be_rounded_first(product_.alpha, sum)) continue;
      const Operands& row = rows[static_cast<std::size_t>(i)];
      if (row.nan || row.infinite || column.nan || column.infinite) continue;
      const auto a = [&](Index k) { return left(i, k); };
      const auto b = [&](Index k) { return right(k, j); };
      if (exceptions_of_sum<T>(sum, product_.k, a, b, nullptr) == 0) continue;
      T& c = product_.C[i + j * product_.leading_c];
      if (product_.beta != T{0}) c = before[i + j * product_.m];
      finish_exactly<T>(product_.alpha, product_.k, a, b, product_.beta, c);
    }
  }
}

template <Scalar T> void Outcome<T>::raise() {
  const Unusual unusual(product_.m, product_.n, product_.C, product_.leading_c);
  if (!unusual.special && !unusual.denormal) return;
  std::vector<Operands> rows;
  for (Index i = 0; i < product_.m; ++i) rows.push_back(operands_of_row(i));
  for (Index j = 0; j < product_.n; ++j) {
    const Operands column = operands_of_column(j);
    for (Index i = 0; i < product_.m; ++i) {
      const T& c = product_.C[i + j * product_.leading_c];
      const Operands& row = rows[static_cast<std::size_t>(i)];
      Operands all{row.nan || column.nan, row.infinite || column.infinite};
      all.add(product_.alpha);
      if (product_.beta != T{0}) all.add(product_.beta);
      if (!before_.empty()) all.add(before_[static_cast<std::size_t>(i + j * product_.m)]);
      quiet_.raise(exceptions_of(c, all));
    }
  }
  if (!unusual.denormal) return;
  int of_a = 1 << 20;
  int of_b = of_a;
  for (Index k = 0; k < product_.k; ++k) {
    for (Index i = 0; i < product_.m; ++i) of_a = std::min(of_a, last_bit(left(i, k)));
    for (Index j = 0; j < product_.n; ++j) of_b = std::min(of_b, last_bit(right(k, j)));
  }
  if (of_a + of_b + last_bit(product_.alpha) < least_bit<T>) quiet_.raise(FE_UNDERFLOW | FE_INEXACT);
}

#define HEDDLE_INSTANTIATE(T) template class Outcome<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
