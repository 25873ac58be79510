// The lowest eigenpairs of symmetric matrices, and banded Cholesky factors, in a fixed sequence of operations: no BLAS
// or LAPACK of the host decides an order of sums, so the bits are the same on every machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heddle::impl::symmetric {

/// x . y by eight partial sums. x and y have one length.
[[nodiscard]] double dot(std::span<const double> x, std::span<const double> y);

/// `count` lowest eigenpairs of the tridiagonal matrix (diagonal n, beside n - 1): values rising, vectors n x count
/// with 2-norm 1, orthogonal to some units of rounding also where values are equal. Values by bisection with Sturm's
/// sequences, to the rounding of the matrix's norm; vectors by inverse iteration.
///
/// Cost: 500 n count operations, and 12 n count^2 to make vectors orthogonal. Sources: W. Barth, R. S. Martin, J. H.
/// Wilkinson, Numer. Math. 9, 386 (1967); G. Peters, J. H. Wilkinson, in Handbook for Automatic Computation II (1971).
///
/// Throws Error(computation) if an element is not finite.
///
/// \pre count <= n.
void tridiagonal_lowest(std::span<const double> diagonal, std::span<const double> beside, std::size_t count,
                        std::vector<double>& values, std::vector<double>& vectors);

/// `count` lowest eigenpairs of a dense n x n matrix, column-major, whose lower triangle is read; it is destroyed. It
/// is made tridiagonal by Householder's reflectors (R. S. Martin, C. Reinsch, J. H. Wilkinson, Numer. Math. 11, 181,
/// 1968): 4 n^3 / 3 operations, and 2 n^2 count for the vectors.
///
/// \pre count <= n. Throws as tridiagonal_lowest() does.
void dense_lowest(std::size_t n, std::span<double> matrix, std::size_t count, std::vector<double>& values,
                  std::vector<double>& vectors);

/// L L^T of a positive definite matrix of `width` diagonals on each side of the main one. Element (j + d, j) of `band`
/// is at j (width + 1) + d.
class BandedCholesky {
 public:
  BandedCholesky(std::size_t n, std::size_t width, std::vector<double> band);
  /// Return false if the matrix is not positive definite; there is no factor then.
  [[nodiscard]] bool factored() const { return factored_; }
  /// X = A^-1 X for any number of columns of length n.
  void solve(std::span<double> X) const;

 private:
  void solve_column(std::span<double> x) const;

  std::size_t n_;
  std::size_t width_;
  std::vector<double> band_;  // L, with inverses on its diagonal
  bool factored_ = false;
};

}  // namespace heddle::impl::symmetric
