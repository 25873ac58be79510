// Systems with several right-hand sides.
#pragma once

#include <heddle/exact/lu.hpp>

namespace heddle::exact {

namespace compiled {

/// Solves A X = B for a square A and the columns of B and X. A is factored once, and each column is what solve() gives
/// for it, to the last bit. X may be B itself. The report has the most corrections and the largest backward error of
/// any column; where its info is not 0, X is not written. The shapes must fit. Blocks.
template <Scalar T>
SolveReport solve_columns(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedMatrix<const T>& B,
                          const StridedMatrix<T>& X, const SolveOptions& options);

}  // namespace compiled

}  // namespace heddle::exact
