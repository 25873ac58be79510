// Checks of eigenvalues alone, by sums that the matrix has without them.
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

/// Errors of eigenvalues w that A + E has exactly, where |E|_F <= 10 n u |A|_F, the same bound as in the check of
/// residuals:
///
/// trace: |sum w - tr A| = |tr E| <= sqrt(n) |E|_F, in units of n u sqrt(n) |A|_F, at most 10.
/// frobenius: ||w|_2 - |A|_F| <= |E|_F, in units of n u |A|_F, at most 10.
///
/// The part that storing w as denormal numbers explains, half the least of these in each, is subtracted first.
struct SpectrumErrors {
  Compared trace;
  Compared frobenius;
  /// With relative accuracy: |sum ln w_i - ln det A|. Each w_i is accurate to 10 n u kappa, where kappa is the
  /// condition of S in A = D S D, and D holds powers of two that bring the diagonal of S between 1 and 4. S = L L^H
  /// gives ln det A up to an error of n u |S_ij| <= n u sqrt(s_ii s_jj) in each element, which moves it by |S^-1|_2
  /// n^(3/2) (n + 1) u at most (J. Demmel, LAPACK Working Note 14, 1989); |S^-1|_2 <= |L^-1|_1 |L^-1|_oo. Empty if L
  /// does not exist.
  std::optional<Compared> determinant;
};

/// `factor`: multiple of the default bound, 10, that the solver was allowed. Sums are compensated and products scaled,
/// so that nothing overflows. All elements of A are read. The determinant takes n^3 / 2 multiplications in double.
template <Scalar T>
[[nodiscard]] SpectrumErrors spectrum_errors(const HostMatrix<T>& A, const std::vector<double>& w, bool relative,
                                             double factor = 1);

}  // namespace heddle::driver
