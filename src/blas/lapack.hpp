// The host LAPACK routines that Heddle uses, by their Fortran names. Column-major, in place, on the calling rank alone.
#pragma once

#include <complex>
#include <span>
#include <vector>

namespace heddle::impl::lapack {

/// All throw Error(computation), naming the routine, for a positive info.

/// All eigenpairs of the symmetric tridiagonal matrix (diagonal n, off_diagonal n - 1): eigenvalues by bisection
/// (dstevx), vectors by implicit QL (dstev), which are orthogonal to a few units of rounding whatever the gaps are; by
/// inverse iteration where QL does not converge.
void tridiagonal_all(std::span<const double> diagonal, std::span<const double> off_diagonal,
                     std::vector<double>& energies, std::vector<double>& vectors);

/// P L U of a complex matrix, banded (zgbtrf: `width` diagonals on each side, leading dimension 3 width + 1, rows
/// width ... 3 width filled) where 2 width + 1 < n, dense (zgetrf) otherwise.
class Lu {
 public:
  Lu(int n, int width, std::vector<std::complex<double>> matrix);
  static bool banded(int n, int width) { return 2 * width + 1 < n; }
  /// x = A^-1 x.
  void solve(std::span<std::complex<double>> x) const;

 private:
  int n_;
  int width_;
  std::vector<std::complex<double>> matrix_;
  std::vector<int> pivots_;
};

}  // namespace heddle::impl::lapack
