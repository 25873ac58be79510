// Arguments that LAPACK's eigenproblems of symmetric and Hermitian matrices share.
#pragma once

#include "interpose/names/lapack_arguments.hpp"

#include <vector>

namespace heddle::impl::interpose {

/// Minimal size of a workspace, as LAPACK documents it: numbers of T, real numbers (for complex T), and
/// integers.
struct Workspace {
  Index numbers;
  Index reals;
  Index integers;
};
template <Scalar T> Workspace of_syev(Index n) {
  constexpr bool complex = is_complex<T>;
  return {std::max<Index>(1, complex ? 2 * n - 1 : 3 * n - 1), std::max<Index>(1, 3 * n - 2), 0};
}
template <Scalar T> Workspace of_syevd(bool vectors, Index n) {
  constexpr bool complex = is_complex<T>;
  if (n <= 1) return {1, 1, 1};
  if (!vectors) return {complex ? n + 1 : 2 * n + 1, n, 1};
  return {complex ? 2 * n + n * n : 1 + 6 * n + 2 * n * n, 1 + 5 * n + 2 * n * n, 3 + 5 * n};
}
template <Scalar T> Workspace of_syevr(Index n) {
  constexpr bool complex = is_complex<T>;
  if (n <= 1) return {1, 1, 1};
  return {complex ? 2 * n : 26 * n, 24 * n, 10 * n};
}
/// Its reals and integers have no length among the arguments.
template <Scalar T> Workspace of_syevx(Index n) {
  constexpr bool complex = is_complex<T>;
  return {n <= 1 ? 1 : (complex ? 2 : 8) * n, 7 * n, 5 * n};
}

/// Which of the eigenvalues are wanted: all ('A'), those in an interval ('V'), or those of some places ('I').
struct Wanted {
  char range;
  double above;
  double up_to;
  Index first;
  Index last;
};
/// From arguments that are not looked at where the letter does not ask for them.
template <class R, class I>
Wanted wanted_from(const char* range, const R* least, const R* most, const I* first, const I* last) {
  const char letter = capital(range);
  return {letter, letter == 'V' ? double{*least} : 0.0, letter == 'V' ? double{*most} : 0.0,
          letter == 'I' ? Index{*first} : 0, letter == 'I' ? Index{*last} : 0};
}
[[nodiscard]] constexpr bool is_job(char job) {
  return job == 'N' || job == 'V';
}
[[nodiscard]] constexpr bool is_range(const Wanted& wanted) {
  return wanted.range == 'A' || wanted.range == 'V' || wanted.range == 'I';
}
[[nodiscard]] constexpr bool is_empty_interval(const Wanted& wanted, Index n) {
  return wanted.range == 'V' && n > 0 && wanted.up_to <= wanted.above;
}
[[nodiscard]] constexpr bool is_wrong_first(const Wanted& wanted, Index n) {
  return wanted.range == 'I' && (wanted.first < 1 || wanted.first > std::max<Index>(1, n));
}
[[nodiscard]] constexpr bool is_wrong_last(const Wanted& wanted, Index n) {
  return wanted.range == 'I' && (wanted.last < std::min(n, wanted.first) || wanted.last > n);
}

/// Copies the wanted ones of all eigenvalues to w and, where they are asked for, their vectors from A's columns to Z.
/// Returns how many.
template <Scalar T>
Index choose(const Wanted& wanted, bool vectors, Index n, const T* A, Index leading, const std::vector<Real<T>>& all,
             Real<T>* w, T* Z, Index leading_z) {
  Index count = 0;
  for (Index j = 0; j < n; ++j) {
    const Real<T> value = all[static_cast<std::size_t>(j)];
    if (wanted.range == 'V' && !(value > wanted.above && value <= wanted.up_to)) continue;
    if (wanted.range == 'I' && (j + 1 < wanted.first || j + 1 > wanted.last)) continue;
    w[count] = value;
    if (vectors) std::copy_n(A + j * leading, n, Z + count * leading_z);
    ++count;
  }
  return count;
}

}  // namespace heddle::impl::interpose
