// Balancing of general square matrices for eigenvalues.
#include "interpose/eigen/balance.hpp"

#include "core/instantiate.hpp"
#include "interpose/eigen/scaling.hpp"

#include <limits>
#include <utility>

namespace heddle::impl::interpose {
template <Scalar T>
Balance<T>::Balance(Index n, T* A, Index leading, bool scaled)
    : n_(n),
      A_(A),
      leading_(leading),
      high_(n),
      exponents_(static_cast<std::size_t>(n), 0),
      exchanged_(static_cast<std::size_t>(n)) {
  while (high_ > low_ && isolate_row()) continue;
  while (high_ > low_ && isolate_column()) continue;
  while (scaled && scale()) continue;
}

template <Scalar T> void Balance<T>::exchange(Index one, Index other) {
  exchanged_[static_cast<std::size_t>(other)] = one;
  if (one == other) return;
  for (Index i = 0; i < n_; ++i) std::swap(A_[i + one * leading_], A_[i + other * leading_]);
  for (Index j = 0; j < n_; ++j) std::swap(A_[one + j * leading_], A_[other + j * leading_]);
}
// A row that is zero but for its diagonal goes last.
template <Scalar T> bool Balance<T>::isolate_row() {
  for (Index i = high_; i-- > low_;) {
    bool alone = true;
    for (Index j = low_; j < high_ && alone; ++j) alone = j == i || A_[i + j * leading_] == T{0};
    if (!alone) continue;
    exchange(i, high_ - 1);
    --high_;
    return true;
  }
  return false;
}
// And such a column first.
template <Scalar T> bool Balance<T>::isolate_column() {
  for (Index j = low_; j < high_; ++j) {
    bool alone = true;
    for (Index i = low_; i < high_ && alone; ++i) alone = i == j || A_[i + j * leading_] == T{0};
    if (!alone) continue;
    exchange(j, low_);
    ++low_;
    return true;
  }
  return false;
}

// Whether any row and column were scaled.
template <Scalar T> bool Balance<T>::scale() {
  constexpr int most = std::numeric_limits<R>::max_exponent / 2;
  bool any = false;
  for (Index i = low_; i < high_; ++i) {
    R column{0};
    R row{0};
    for (Index k = low_; k < high_; ++k) {
      column += size_of(A_[k + i * leading_]);
      row += size_of(A_[i + k * leading_]);
    }
    if (!(column > R{0}) || !(row > R{0}) || !std::isfinite(column) || !std::isfinite(row)) continue;
    // The column times 2^e, the row by it, are as near as they get where 2^(2 e) is next to row / column.
    const int e = (std::ilogb(row) - std::ilogb(column)) / 2;
    if (e == 0 || std::abs(exponents_[static_cast<std::size_t>(i)] + e) > most) continue;
    if (std::scalbn(column, e) + std::scalbn(row, -e) >= R{0.95} * (column + row)) continue;
    // Elements outside are scaled, too, and must stay small enough that their squares do not overflow.
    R outside{0};
    for (Index k = high_; k < n_; ++k) outside = std::max(outside, std::scalbn(size_of(A_[i + k * leading_]), -e));
    for (Index k = 0; k < low_; ++k) outside = std::max(outside, std::scalbn(size_of(A_[k + i * leading_]), e));
    if (!(outside < std::scalbn(R{1}, std::numeric_limits<R>::max_exponent / 4))) continue;
    any = true;
    exponents_[static_cast<std::size_t>(i)] += e;
    for (Index k = low_; k < n_; ++k) A_[i + k * leading_] = scaled(A_[i + k * leading_], -e);
    for (Index k = 0; k < high_; ++k) A_[k + i * leading_] = scaled(A_[k + i * leading_], e);
  }
  return any;
}

template <Scalar T> void Balance<T>::restore(bool left, Index columns, T* V, Index leading) const {
  for (Index j = 0; j < columns; ++j) {
    T* const v = V + j * leading;
    for (Index i = low_; i < high_; ++i) {
      const int e = exponents_[static_cast<std::size_t>(i)];
      if (e != 0) v[i] = scaled(v[i], left ? -e : e);
    }
    // The last exchange first: of columns, and then of rows.
    for (Index i = low_; i-- > 0;) std::swap(v[i], v[exchanged_[static_cast<std::size_t>(i)]]);
    for (Index i = high_; i < n_; ++i) std::swap(v[i], v[exchanged_[static_cast<std::size_t>(i)]]);
  }
}

#define HEDDLE_INSTANTIATE(T) template class Balance<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
