// The eigensystem of one matrix over all ranks.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/eigen/jacobi.hpp>

namespace heddle::eigen {

/// A V = V diag(w), V^H V = I, w ascending, for a Hermitian n x n matrix over the ranks of `comm`: one-sided block
/// Jacobi on A + s I, whose columns are dealt out. Each rank makes the columns of two groups orthogonal to one another;
/// then groups move on, round all ranks (R. P. Brent, F. T. Luk, 1985), in halves: finished halves travel while the
/// others are rotated.
///
/// A, V: any placements; all of A is read and must be Hermitian. w: n reals, the same on every rank. Takes methods
/// automatic and blocked, accuracies automatic and norm, and neither warm_start nor lower_precision; `block` as
/// jacobi() does. Throws Error(argument), on every rank alike, for others, shapes that don't fit, and NaN or infinity
/// in A. Collective; blocks.
///
/// Errors: as jacobi() with accuracy `norm`, whatever A is: small eigenvalues of graded matrices have no relative
/// accuracy here, unlike one rank's jacobi().
///
/// Bits: reproducible for any number of threads; they depend on the number of ranks, which sets the order of rotations.
/// With `reproducible` they are the same for any number of ranks, any placement and, on CPUs, any processor: those of
/// one rank's jacobi() with method `blocked`, accuracy `norm` and that option. Pairs of blocks then have the order of
/// one rank, and ranks beyond their number, n / 16 up to n = 767 and n / 32 above, have no work.
///
/// Cost: 6 n^3 / P flops and at most 2 n^2 elements sent a sweep and rank; with `reproducible` they are sent block by
/// block, in up to n / 4 messages. Memory: 2 n^2 / P elements a rank for the iteration, and as much again while A is
/// dealt out and V is collected.
template <Scalar T>
[[nodiscard]] JacobiReport jacobi(const Communicator& comm, const DistributedMatrix<T>& A,
                                  const Kokkos::View<Real<T>*, MemorySpace>& w, const DistributedMatrix<T>& V,
                                  const JacobiOptions& options = {});

}  // namespace heddle::eigen
