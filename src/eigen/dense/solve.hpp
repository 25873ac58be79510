// One dense eigenproblem with handles of the vendor's libraries that may be there already.
#pragma once

#include <heddle/blas/blas.hpp>
#include <heddle/eigen/jacobi.hpp>

namespace heddle::eigen::impl {

/// jacobi(); `kept`: the handles to use where some are needed, or null.
template <Scalar T>
[[nodiscard]] JacobiReport solve_with(const ExecutionSpace& space, const blas::Context* kept,
                                      const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                                      const StridedMatrix<T>* V, const JacobiOptions& asked);

}  // namespace heddle::eigen::impl
