// The host LAPACK routines that Heddle uses, by their Fortran names. Column-major, in place, on the calling rank alone.
#pragma once

#include <complex>
#include <span>
#include <vector>

namespace heddle::impl::lapack {

/// All throw Error(computation), naming the routine, for a positive info.

/// `count` lowest eigenpairs of the symmetric tridiagonal matrix (diagonal n, off_diagonal n - 1), by bisection and
/// inverse iteration (dstevx): energies rising, vectors n x count with 2-norm 1.
void tridiagonal_lowest(std::span<const double> diagonal, std::span<const double> off_diagonal, int count,
                        std::vector<double>& energies, std::vector<double>& vectors);

/// All eigenpairs of the same matrix: eigenvalues by bisection, vectors by implicit QL (dstev), which are orthogonal to
/// a few units of rounding whatever the gaps are; by inverse iteration where QL does not converge.
void tridiagonal_all(std::span<const double> diagonal, std::span<const double> off_diagonal,
                     std::vector<double>& energies, std::vector<double>& vectors);

/// `count` lowest eigenpairs of a dense symmetric n x n matrix, whose lower triangle is read and destroyed (dsyevr).
void symmetric_lowest(int n, std::span<double> matrix, int count, std::vector<double>& energies,
                      std::vector<double>& vectors);

/// Cholesky L L^T of a positive definite matrix, banded (dpbtrf: lower band, leading dimension width + 1) where
/// width + 1 < n, dense (dpotrf: lower triangle) otherwise.
class Cholesky {
 public:
  /// `matrix`: (width + 1) x n band or n x n. False from factored() where it is not positive definite.
  Cholesky(int n, int width, std::vector<double> matrix);
  [[nodiscard]] bool factored() const { return factored_; }
  /// X = A^-1 X for n x columns X.
  void solve(int columns, std::span<double> X) const;

 private:
  [[nodiscard]] bool banded() const { return width_ + 1 < n_; }
  int n_;
  int width_;
  std::vector<double> matrix_;
  bool factored_ = false;
};

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
