// What eigenvalues alone can be checked by: sums that the matrix has without them.
#pragma once

#include <heddle/core/scalar.hpp>
#include <heddle/dist/matrix.hpp>

#include <optional>
#include <vector>

namespace heddle::driver {

/// A number that a check compares, and the most that it may be.
struct Compared {
  double value = 0;
  double bound = 0;
};

/// Of eigenvalues w that A + E has exactly, where |E|_F <= 10 n u |A|_F, as the check of residuals has it too:
///
/// trace: |sum w - tr A| = |tr E| <= sqrt(n) |E|_F, in units of n u sqrt(n) |A|_F, at most 10.
/// frobenius: ||w|_2 - |A|_F| <= |E|_F, in units of n u |A|_F, at most 10.
///
/// What storing w as denormal numbers explains, half the least of these in each, is taken off first.
struct SpectrumErrors {
  Compared trace;
  Compared frobenius;
  /// With relative accuracy: |sum ln w_i - ln det A|. Each w_i is to 10 n u kappa, kappa the condition of S in A = D S
  /// D with D powers of two and a diagonal from 1 to 4. S = L L^H gives ln det A, but for n u |S_ij| <= n u sqrt(s_ii
  /// s_jj) in each element, which moves it by |S^-1|_2 n^(3/2) (n + 1) u at most (J. Demmel, LAPACK Working Note 14,
  /// 1989); |S^-1|_2
  /// <= |L^-1|_1 |L^-1|_oo. Nothing where L does not exist.
  std::optional<Compared> determinant;
};

/// `factor`: how much more than its default, 10, the solver was allowed. Sums are compensated, products scaled: nothing
/// overflows. Of A all elements are read. n^3 / 2 multiplications in double for the determinant.
template <Scalar T>
[[nodiscard]] SpectrumErrors spectrum_errors(const HostMatrix<T>& A, const std::vector<double>& w, bool relative,
                                             double factor = 1);

}  // namespace heddle::driver
