// Systems with several right-hand sides, and systems of distributed matrices, which one rank solves.
#pragma once

#include <heddle/dist/matrix.hpp>
#include <heddle/exact/lu.hpp>

namespace heddle::exact {

namespace compiled {

/// Solves A X = B for a square A and the columns of B and X. A is factored once, and each column has the bits of
/// solve(). X may be B itself. The report has the most corrections and the largest backward error of any column; if its
/// info is not 0, X is not written. The shapes must fit. Blocks.
template <Scalar T>
SolveReport solve_columns(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedMatrix<const T>& B,
                          const StridedMatrix<T>& X, const SolveOptions& options);

}  // namespace compiled

namespace impl {

/// Solves A X = B for a square A by solve_columns() on rank 0, to which A and B are gathered. A, B and X may have any
/// placements, and X may share elements with A and B, which are read before it is written. The report is on every rank;
/// if its info is not 0, X is not written. Collective, blocks. Reproducible: no bit depends on placements or ranks.
///
/// Throws, on every rank alike, Error(argument) for shapes that don't fit, Error(computation) for a NaN or an infinity
/// in A or B and if X or a factor of A overflows, and, if rank 0 has no memory for A and B, the exception of
/// DistributedMatrix. Cost: that of solve() on rank 0, but for one factorization in all, while the others wait; 2 n^2
/// elements of memory there and the size of B, and the workspace of lu().
template <Scalar T>
SolveReport solve_on_one_rank(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                              const DistributedMatrix<T>& X, const SolveOptions& options = {});

}  // namespace impl

}  // namespace heddle::exact
