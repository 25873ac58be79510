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
/// and Roothaan equations in a basis that is not orthogonal pose them. H: n x n, Hermitian; S: n x n, Hermitian
/// positive definite, the overlaps of the basis.
///
/// H, S, C: any strides; of H and S the same triangle is read (options.upper), nothing written. w: n reals. C must not
/// overlap H or S. Options are those of jacobi(). With warm_start C holds, on entry, S-orthonormal vectors to begin at.
/// Throws Error(argument) for shapes that don't fit, NaN or infinity in H or S, accuracy `relative` where H is not
/// positive definite, and, naming the pivot, where S is not: where a pivot of its Cholesky factorization is at most n u
/// of its diagonal element, which S that is singular to working precision has too. Convergence is reported as jacobi()
/// does. Blocks; all work is ordered on `space`.
///
/// Algorithm: rows and columns of both matrices are multiplied by the powers of two, D^-1, that bring the diagonal of S
/// between 1 and 4, which rounds nothing. S = L L^H with complete pivoting. Then, by what the pencil is:
///
/// - H is positive definite, and the accuracy is `relative`, or automatic with the method automatic or blocked and no
///   warm start: H = G G^H with complete pivoting, and the columns of L^-1 G become orthogonal by one-sided rotations,
///   the report's method then being `blocked`. Neither matrix is multiplied by an inverse from both sides, and each
///   eigenvalue is the square of a singular value (J. L. Barlow, J. Demmel, SIAM J. Numer. Anal. 27, 762 (1990); Z.
///   Drmac, SIAM J. Sci. Comput. 19, 1292 (1998)). Vectors are L^-H U or G^-H V Sigma, each component from the one that
///   has the smaller error there.
/// - The elements of L^-1 H L^-H, which the pivoting grades, are larger than those of H by more than 128
///   (JacobiGeneralisedReport::growth), the accuracy is automatic and the method automatic, cyclic or round_robin:
///   two-sided rotations of every element that is not small beside its own row and column, which keep the grading (P.
///   I. Davies, N. J. Higham, F. Tisseur, SIAM J. Matrix Anal. Appl. 23, 472 (2001)).
/// - Otherwise, and with a warm start: jacobi() of L^-1 H L^-H. The report's accuracy is `norm`.
///
/// Pairs are refined where the backward errors below, which are computed of all of them, are more than 4 n u, and at
/// least once where the first has least_pivot below 1/128 or the others a growth above 128: the pencil C^H H C, C^H S
/// C, in twice the precision, which is nearly diagonal and nearly the identity, reduced with its small rows first, and
/// cyclic rotations of the result.
///
/// Errors, all in terms of the scaled matrices D^-1 H D^-1, D^-1 S D^-1 and vectors D c: each pair has a backward error
/// |H c - w S c| <= 10 n u (|H|_F + |w| |S|_F) |c|, however ill-conditioned S is, and |c_i^H S c_j - delta_ij| <= 10 n
/// u |S|_F |c_i| |c_j|. With accuracy `relative` in the report also |w_i - lambda_i| <= 10 n u (kappa(H) + kappa(S))
/// lambda_i, where the kappas are those of the matrices scaled to unit diagonals (J. Demmel, K. Veselic, 1992), however
/// H and S are graded; refined, they are right to 10 n u of their own size while n u kappa(H) and n u kappa(S) are
/// small. A tolerance of the caller's adds n times that much. Float's matrices whose scaled diagonal of H spans more
/// than 2^60 are solved in double. Double's that span more than 2^800 have the norm's accuracy.
///
/// Bits: as jacobi(): none, or reproducible for any number of threads with that option. Cost: 7 n^3 / 3 flops for the
/// reduction, 2 n^3 for the vectors and 6 n^3 for their backward errors (in twice the precision where bits must be
/// reproducible; 4 times all that for complex T), and those of the rotations: a definite pencil takes 10 n^3 a sweep of
/// `blocked` with vectors and 6 n^3 without; a grown one two-sided rotations, which are some ten times as slow; a step
/// of refinement 5 n^3 multiply-adds in twice the precision. Memory: five to twelve matrices.
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
