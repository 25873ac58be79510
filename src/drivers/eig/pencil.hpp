// The pencils of `heddle eig --overlap`: H C = S C diag(w), solved and judged.
#pragma once

#include "drivers/eig/solution.hpp"
#include <heddle/eigen/generalised.hpp>

namespace heddle::driver {

/// How an eigensystem satisfies its definition, in units of what the library allows. Both matrices are scaled by powers
/// of two, D^-1, that bring the diagonal of S between 1 and 4, and vectors by D; the largest over all i and j of
///
/// residual: |H c_i - w_i S c_i| / (n u (|H|_F + |w_i| |S|_F) |c_i|),
/// orthogonality: |c_i^H S c_j - delta_ij| / (n u |S|_F |c_i| |c_j|).
///
/// The part of a residual that storing w_i as a denormal number explains is subtracted first. Computed in double, with
/// 4 n^3 multiplications. H and S have both triangles.
template <Scalar T>
[[nodiscard]] EigenErrors pencil_errors(const ExecutionSpace& space, const HostMatrix<T>& H, const HostMatrix<T>& S,
                                        const std::vector<Real<T>>& w, const HostMatrix<T>& C);

/// Solve the pencil of n x n matrices on one rank. `report` gets the solver's report on the pencil. Throws
/// Error(argument), naming the pivot, unless S is positive definite.
template <Scalar T>
[[nodiscard]] EigenSolution<T> pencil_solution(const Communicator& comm, const HostMatrix<T>& H, const HostMatrix<T>& S,
                                               const eigen::JacobiOptions& options,
                                               eigen::JacobiGeneralisedReport& report);

}  // namespace heddle::driver
