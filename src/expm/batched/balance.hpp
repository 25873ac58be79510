// Balancing of one small matrix by a team: B = D^-1 A D, with a diagonal D of powers of two, so that the largest
// elements of row i and column i, except the diagonal, are about equal, or not above one. exp(A) = D exp(B) D^-1.
#pragma once

#include "expm/batched/batched_matrices.hpp"
#include "expm/batched/functions.hpp"

namespace heddle::impl {

template <Scalar T> class SmallBalance {
 public:
  using R = Real<T>;
  /// Number of elements of R in `room`.
  [[nodiscard]] static KOKKOS_INLINE_FUNCTION int elements(int n) { return 2 * n; }

  KOKKOS_INLINE_FUNCTION SmallBalance(int n, R* room) : small_(n), exponent_(room), move_(room + n) {}

  /// Whether the largest elements of a row and of its column differ by a factor of 8 or more: less is not worth
  /// balancing. One pass over A.
  template <class Team> [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_uneven(const Team& team, const R* A) const {
    const R uneven = small_.largest_of_all(team, [&](int i) {
      R row = 1;
      R column = 1;
      for (int j = 0; j < small_.n; ++j) {
        if (j == i) continue;
        row = Kokkos::fmax(row, small_.largest_part(A, i + small_.leading * j));
        column = Kokkos::fmax(column, small_.largest_part(A, j + small_.leading * i));
      }
      return row / 8 >= column || column / 8 >= row ? R(1) : R(0);
    });
    return uneven > 0;
  }

  /// Find D for A, for all indices at once, each half of the way; `logs`: space for a matrix. Parts that are uneven
  /// after `sweeps` sweeps, such as long chains, stay uneven. Elements below one count as one, since the terms
  /// neglected of a smaller B might be large when D is undone.
  template <class Team> KOKKOS_INLINE_FUNCTION void find(const Team& team, const R* A, R* logs) const {
    constexpr int sweeps = 40;
    constexpr R most = Kokkos::Experimental::max_exponent_v<R> - 2;
    small_.for_each(team, [&](int at, int i, int j) {
      logs[at] = i == j ? -Kokkos::Experimental::infinity_v<R> : kernel::log2(small_.largest_part(A, at));
    });
    small_.for_each_row(team, [&](int i) { exponent_[i] = 0; });
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      small_.for_each_row(team, [&](int i) {
        R row = 0;
        R column = 0;
        for (int j = 0; j < small_.n; ++j) {
          const R apart = exponent_[j] - exponent_[i];
          row = Kokkos::fmax(row, logs[i + small_.leading * j] + apart);
          column = Kokkos::fmax(column, logs[j + small_.leading * i] - apart);
        }
        move_[i] = (row - column) / 4;
      });
      const R farthest = small_.largest_of_all(team, [&](int i) { return Kokkos::abs(move_[i]); });
      small_.for_each_row(
          team, [&](int i) { exponent_[i] = Kokkos::fmin(Kokkos::fmax(exponent_[i] + move_[i], -most), most); });
      if (farthest < R(0.25)) break;
    }
    small_.for_each_row(team, [&](int i) { exponent_[i] = Kokkos::round(exponent_[i]); });
  }

  /// Y = D^-1 X D for sign = 1, Y = D X D^-1 for sign = -1; Y may be X. Exact unless elements under- or overflow.
  template <class Team> KOKKOS_INLINE_FUNCTION void apply(const Team& team, const R* X, int sign, R* Y) const {
    small_.for_each(team, [&](int at, int i, int j) {
      const R exponent = i < small_.n ? R(sign) * apart(i, j) : R(0);
      Y[at] = times_power(X[at], exponent);
      if constexpr (is_complex<T>) Y[at + small_.plane] = times_power(X[at + small_.plane], exponent);
    });
  }

  /// b_ij = a_ij 2^apart(i, j).
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R apart(int i, int j) const { return exponent_[j] - exponent_[i]; }

  /// x 2^exponent, in two steps, since the whole power may be out of range.
  [[nodiscard]] static KOKKOS_INLINE_FUNCTION R times_power(R x, R exponent) {
    const R half = Kokkos::trunc(exponent / 2);
    return x * kernel::exp2(half) * kernel::exp2(exponent - half);
  }

 private:
  SmallMatrices<T> small_;
  R* exponent_;
  R* move_;
};

}  // namespace heddle::impl
