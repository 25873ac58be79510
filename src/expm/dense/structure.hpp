// Structure of a square matrix, and its diagonals.
#pragma once

#include "expm/arithmetic/parts.hpp"

#include <complex>
#include <vector>

namespace heddle::impl {

struct Structure {
  bool upper = false;  ///< All elements below the diagonal are zero.
  bool lower = false;  ///< All elements above the diagonal are zero.
  Symmetry symmetry = Symmetry::none;
  bool real_is_zero = false;  ///< False without a real part.
  bool imaginary_is_zero = false;

  [[nodiscard]] bool zero() const noexcept { return real_is_zero && imaginary_is_zero; }
  [[nodiscard]] bool diagonal() const noexcept { return upper && lower; }
  [[nodiscard]] bool triangular() const noexcept { return upper || lower; }
};

/// Return the structure of A in row bands, tested exactly. `columns`: A in column bands. Collective; blocks for one
/// pass over both.
template <RealScalar T>
[[nodiscard]] Structure structure_of(const Communicator& comm, const Parts<T>& A, const Parts<T>& columns);

/// a_(i, i + offset), offset -1, 0 or 1, for all i; 0 outside the matrix. A in row bands. The same on all ranks.
/// Collective; blocks.
template <Scalar T>
[[nodiscard]] std::vector<std::complex<double>> diagonal_of(const Communicator& comm, const DistributedMatrix<T>& A,
                                                            Index offset);
template <RealScalar T>
[[nodiscard]] std::vector<std::complex<double>> diagonal_of(const Communicator& comm, const Parts<T>& A, Index offset);

/// trace(A) / n, the mean of A's eigenvalues, rounded to T. A has a part, in row bands. The same on all ranks.
/// Collective; blocks.
template <RealScalar T> [[nodiscard]] std::complex<double> mean_eigenvalue(const Communicator& comm, const Parts<T>& A);

/// Set a diagonal to `values`, in the parts that A has. Blocks until the values are on their way.
template <RealScalar T>
void set_diagonal(const Communicator& comm, WorkParts<T>& A, Index offset,
                  const std::vector<std::complex<double>>& values);

/// Diagonals of exp(2^-j A) for triangular A, which are known without exp: exp(a_ii), and the adjacent a_(i, i+1) times
/// the divided difference of exp between a_ii and a_(i+1, i+1). N. Higham, A. Al-Mohy (2009), code fragment 2.1.
class TriangularDiagonals {
 public:
  /// Take the diagonals of A + shift I.
  template <RealScalar T>
  TriangularDiagonals(const Communicator& comm, const Parts<T>& A, const Structure& structure,
                      std::complex<double> shift);
  /// Set the diagonals of E = exp(A / 2^halvings).
  template <RealScalar T> void correct(const Communicator& comm, int halvings, WorkParts<T>& E) const;

 private:
  Index offset_;
  std::vector<std::complex<double>> diagonal_;
  std::vector<std::complex<double>> beside_;
};

}  // namespace heddle::impl
