// The generalised Hermitian eigenproblem by Jacobi rotations: H C = S C diag(w) with a positive definite S.
#pragma once

#include <heddle/eigen/jacobi.hpp>

#include <iosfwd>

namespace heddle::eigen {

/// JacobiReport of the rotations that solved H C = S C diag(w), and the conditioning of the pencil.
struct JacobiGeneralisedReport : JacobiReport {
  /// The least ratio of a pivot of the Cholesky factorization of S to its diagonal element: 1 for diagonal matrices,
  /// and of the order of 1/kappa if D^-1 S D^-1, D^2 = diag(S), has the condition number kappa.
  double least_pivot = 1;
  /// Growth of elements in the reduction: max |L^-1 H L^-H| / max |H|, rows and columns of both scaled so that the
  /// diagonal of S is between 1 and 4. 1 if both H and S were factored, as nothing is reduced then.
  double growth = 1;
  int refinement_sweeps = 0;  ///< Sweeps of all steps of refinement; their rotations are among `rotations`.
};
/// Write the fields as Name(field=value, ...) on one line.
std::ostream& operator<<(std::ostream& out, const JacobiGeneralisedReport& report);

namespace compiled {

template <Scalar T>
JacobiGeneralisedReport jacobi_generalised(const ExecutionSpace& space, const StridedMatrix<const T>& H,
                                           const StridedMatrix<const T>& S, const StridedVector<Real<T>>& w,
                                           const StridedMatrix<T>* C, const JacobiOptions& options);

}  // namespace compiled

/// H C = S C diag(w), C^H S C = I, w ascending: all eigenvalues and eigenvectors of a Hermitian pencil, as Kohn-Sham
/// and Roothaan equations in a basis that is not orthogonal pose them.
///
/// - Shapes: H is n x n and Hermitian; S, the overlaps of the basis, n x n, Hermitian and positive definite; w n reals;
///   C n x n. Any strides. The same triangle of H and S is read (options.upper), nothing written; C must not overlap
///   them. With warm_start C holds, on entry, S-orthonormal vectors to begin at.
/// - Errors: throws Error(argument) for shapes that do not fit, NaN or infinity in H or S, an S of which a pivot
///   (named) is at most n u of its diagonal element, and accuracy `relative` for an H that is not positive definite or
///   whose scaled diagonal spans more than 2^800. Convergence is reported as by jacobi().
/// - Accuracy: in terms of D^-1 H D^-1, D^-1 S D^-1 and D c, where D are the powers of two that bring the diagonal of S
///   between 1 and 4, |H c - w S c| <= 10 n u (|H|_F + |w| |S|_F) |c|, however ill-conditioned S is, and |c_i^H S c_j -
///   delta_ij| <= 10 n u |S|_F |c_i| |c_j|. With accuracy `relative` in the report also |w_i - lambda_i| <= 10 n u
///   (kappa(H) + kappa(S)) lambda_i, with the kappas for unit diagonals (J. Demmel, K. Veselic, 1992). A tolerance adds
///   n times as much.
/// - Bits: as jacobi(): none, or reproducible for any number of threads with that option. Blocks; ordered on `space`.
/// - Cost: 7 n^3 / 3 flops for the reduction, 2 n^3 for vectors, 6 n^3 for their backward errors, and 10 n^3 a sweep of
///   a definite pencil (6 n^3 without vectors); complex T 4 times that. Memory: five to twelve matrices.
/// - Sources: J. L. Barlow, J. Demmel (1990); Z. Drmac (1998); P. I. Davies, N. J. Higham, F. Tisseur (2001). Algorithm
///   and refinement: docs/notes/eigen.md, section "The generalised problem".
template <class ViewH, class ViewS, class ViewW, class ViewC>
  requires Scalar<typename ViewC::non_const_value_type>
[[nodiscard]] JacobiGeneralisedReport jacobi(const ExecutionSpace& space, const ViewH& H, const ViewS& S,
                                             const ViewW& w, const ViewC& C, const JacobiOptions& options = {}) {
  using T = typename ViewC::non_const_value_type;
  const StridedMatrix<T> vectors = strided(C);
  return compiled::jacobi_generalised<T>(space, strided(typename ViewH::const_type(H)),
                                         strided(typename ViewS::const_type(S)), strided(w), &vectors, options);
}

/// The eigenvalues w of jacobi() with S, without the eigenvectors; for pencils that are not definite the eigenvectors
/// are computed too, as the errors of the eigenvalues are estimated by them.
template <class ViewH, class ViewS, class ViewW>
  requires RealScalar<typename ViewW::non_const_value_type>
[[nodiscard]] JacobiGeneralisedReport jacobi_values(const ExecutionSpace& space, const ViewH& H, const ViewS& S,
                                                    const ViewW& w, const JacobiOptions& options = {}) {
  using T = typename ViewH::non_const_value_type;
  return compiled::jacobi_generalised<T>(space, strided(typename ViewH::const_type(H)),
                                         strided(typename ViewS::const_type(S)), strided(w), nullptr, options);
}

}  // namespace heddle::eigen
