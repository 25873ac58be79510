// One dense eigenproblem with handles of the vendor's libraries and memory that may be there already.
#pragma once

#include "eigen/dense/matrices.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/eigen/jacobi.hpp>

namespace heddle::eigen::impl {

/// jacobi(); `kept`: the handles to use where some are needed, or null.
template <Scalar T>
[[nodiscard]] JacobiReport solve_with(const Scratch& scratch, const blas::Context* kept,
                                      const StridedMatrix<const T>& A, const StridedVector<Real<T>>& w,
                                      const StridedMatrix<T>* V, const JacobiOptions& asked);

}  // namespace heddle::eigen::impl
