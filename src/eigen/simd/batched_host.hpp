// A batch of small real matrices on the host, solved a vector of matrices at a time.
#pragma once

#include "eigen/batched/small_columns.hpp"

#include <array>
#include <vector>

namespace heddle::eigen::impl {

template <RealScalar R> struct HostBatch {
  StridedBatch<const R> A;
  StridedMatrix<R> w;
  StridedBatch<R> V;
  bool vectors;
  bool upper;
  JacobiAccuracy accuracy;
  R tolerance;
  int most_sweeps;
  Kokkos::View<Outcome*, MemorySpace> outcomes;
  std::vector<double>* history;  ///< The largest cosine of each sweep of the first matrix; may be null.
};

/// Whether matrices of n rows that are not positive definite begin at the eigenvectors of a tridiagonalisation: those
/// of few rows are found by rotations as soon.
inline constexpr bool lanes_begin_ahead(Index n) {
  return n > 6;
}

/// Every matrix of the batch; does not block where kernels do not. A matrix's bits do not depend on its neighbours.
template <RealScalar R> void solve_lanes(const ExecutionSpace& space, const HostBatch<R>& batch);

}  // namespace heddle::eigen::impl
