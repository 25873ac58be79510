// The norms from which expm chooses its scheme, with their own workspace.
#pragma once

#include "expm/arithmetic/parts.hpp"
#include <heddle/dist/matrix.hpp>

#include <vector>

namespace heddle::impl {

/// Norms of matrices of one placement; all members are collective and block, once each.
template <RealScalar T> class ColumnNorms {
 public:
  ColumnNorms(const Communicator& comm, const Placement& placement);

  struct Seen {
    double one = 0.0;      ///< ||A||_1, with bits that depend on the placement; NaN if A has one.
    double largest = 0.0;  ///< max |a_ij|; NaN if A has one.
  };
  /// One pass over A.
  [[nodiscard]] Seen measure(const DistributedMatrix<T>& A);
  /// Upper bound of ||A||_1, within n 2^-40 of it, and the same bits for any placement: column sums in integers.
  /// `largest`: measure()'s. One more pass.
  [[nodiscard]] double reproducible_bound(const DistributedMatrix<T>& A, double largest);
  /// The same of both parts together, with their largest elements.
  [[nodiscard]] double bound_of(const Parts<T>& A);

 private:
  Communicator comm_;
  // Pinned, so that a copy from the device needs no other buffer; on CPUs the same memory.
  Kokkos::View<double*, MemorySpace> seen_;  // sums, then largest elements
  Kokkos::View<double*, Kokkos::SharedHostPinnedSpace> host_seen_;
  Kokkos::View<Index*, MemorySpace> steps_;
  Kokkos::View<Index*, Kokkos::SharedHostPinnedSpace> host_steps_;
  std::vector<double> all_sums_;
  std::vector<Index> all_steps_;
};

}  // namespace heddle::impl
