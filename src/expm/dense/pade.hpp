// Diagonal Pade approximants of the exponential, with their linear system.
#pragma once

#include "expm/arithmetic/complex_arithmetic.hpp"
#include "solve/system/system.hpp"
#include <heddle/solve/lu.hpp>

#include <array>
#include <optional>

namespace heddle::impl {

/// Degrees m of the approximants r_m of type [m/m] that have bounds.
inline constexpr std::array<int, 5> pade_degrees = {3, 5, 7, 9, 13};

/// Upper bound of the relative backward error of r_m: r_m(X) = exp(X + E), ||E|| <= bound theta if ||X^k|| <= theta^k
/// for each k > 2m; infinity for theta > 5.371920351148152, where rounding errors become significant (Higham 2005), or
/// beyond a smaller radius of convergence.
///
/// E = log(exp(-X) r_m(X)) is an odd series, sum c_k X^k over odd k > 2m, whose first coefficient is, except for its
/// sign, (m!)^2 / ((2m)! (2m+1)!). As r_m(x) = p(x) / p(-x), further ones are c_k = -(2/k) sum_j z_j^-k over the m
/// zeros of p, so |c_k| <= (2m/k) |z|^-k with the smallest. With these for k > 200 and the coefficients themselves, in
/// 512 bits, before: |c_(2m+1+2i)| <= |c_(2m+1)| rho^(-2i) for all i. The bound is the sum of that geometric series. At
/// 2^-53 the bound is within 0.6 % of the error's own series; up to 1e-3 and theta = 5.37 it is within a factor 1.4.
[[nodiscard]] double pade_backward_error(int degree, double theta);

/// Real products for r_m of a matrix whose first `powers` powers are known; each complex one may be 3 or 4.
[[nodiscard]] int pade_products(int degree, int powers);

/// X = Q^-1 P for n x n matrices, with its workspace, for repeated use: LuPlan's factors, natively, and substitution.
///
/// Bits: rank-invariant. Cost: 8/3 n^3 flops (32/3 n^3 complex). Memory: their workspaces, a copy of P, and two
/// matrices more over the ranks if Q and P have other placements. Blocks.
template <Scalar T> class SystemSolver {
 public:
  SystemSolver(const Communicator& comm, Index n);

  /// Columns in blocks, dealt to the ranks; Q in this placement is not redistributed.
  [[nodiscard]] const Placement& placement() const { return plan_.placement(); }
  /// P = Q^-1 P; Q, n x n as P in any placement, is destroyed. Throws Error(computation), on every rank alike, if a
  /// pivot of Q is zero. NaN and Inf give NaN.
  void solve(const DistributedMatrix<T>& Q, const DistributedMatrix<T>& P);

 private:
  /// M in `placement`, or a copy if it is elsewhere; the copy's memory is kept.
  [[nodiscard]] PlacedMatrix<T> brought(const DistributedMatrix<T>& M, const Placement& placement,
                                        DistributedMatrix<T>& copy) const;

  Communicator comm_;
  Index n_;
  LuPlan<T> plan_;
  FactoredSystem<T> system_;
  DistributedMatrix<T> redistributed_q_;
  DistributedMatrix<T> redistributed_p_;
};

/// Linear systems of matrices in parts; the workspace of each kind is allocated when first needed.
template <RealScalar T> class PartsSolver {
 public:
  PartsSolver(const Communicator& comm, Index n) : comm_(comm), n_(n) {}
  /// Q^-1 P, in the storage of both if they are real. Throws as SystemSolver.
  [[nodiscard]] WorkParts<T> solve(ComplexArithmetic<T>& arithmetic, WorkParts<T> Q, WorkParts<T> P);

 private:
  Communicator comm_;
  Index n_;
  std::optional<SystemSolver<T>> real_;
  std::optional<SystemSolver<Kokkos::complex<T>>> complex_;
  DistributedMatrix<Kokkos::complex<T>> Q_;
  DistributedMatrix<Kokkos::complex<T>> P_;
};

/// r_m(A / 2^squarings), m of pade_degrees, in row bands, from A, A^2, A^3 ... (A at least); missing even powers are
/// computed. Powers of two scale coefficients without rounding.
///
/// With U the odd and V the even part of the numerator, r_m = (V - U)^-1 (V + U) is computed as I + 2 (V - U)^-1 U: for
/// small A the error of solving is then one of X - I, and never larger than without. Cost: pade_products(), and 8/3 n^3
/// flops (32/3 n^3 if A is not real) for the system: as long as 1.4 to 1.6 products. (Newton's and Schulz' iteration
/// for (V - U)^-1 from V + U, or from a Taylor polynomial of exp(A/2), takes 5 to 11 products, and converges for some A
/// only.) Bits: rank-invariant. Source: N. Higham, The scaling and squaring method for the matrix exponential revisited
/// (2005).
template <RealScalar T>
[[nodiscard]] WorkParts<T> pade(ComplexArithmetic<T>& arithmetic, PartsSolver<T>& solver,
                                std::span<const Parts<T>> powers, int degree, int squarings);

}  // namespace heddle::impl
