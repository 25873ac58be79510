// Fixture for tests over all ranks with matrices that every rank has whole.
#pragma once

#include "support/matrices.hpp"

#include <span>
#include <vector>

namespace heddle::test {

/// Distributes matrices over the ranks and gathers them.
template <class T> class OverRanks : public ::testing::Test {
 protected:
  Communicator comm = world();

  /// Distributes A from rank 0 in a placement, or in bands of rows.
  [[nodiscard]] DistributedMatrix<T> spread(const HostMatrix<T>& A, const Placement& placement) const {
    const DistributedMatrix<T> distributed(comm, placement, "spread");
    scatter(A, 0, distributed);
    return distributed;
  }
  [[nodiscard]] DistributedMatrix<T> spread(const HostMatrix<T>& A) const {
    return spread(A,
                  Placement::row_bands(static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)), comm.size()));
  }
  /// The matrix with these rows.
  [[nodiscard]] static HostMatrix<T> matrix(const std::vector<std::vector<double>>& rows) {
    return host_matrix<T>(
        static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()), [&](Index i, Index j) {
          return T(static_cast<Real<T>>(rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]));
        });
  }
  /// Gathers all of A on every rank.
  [[nodiscard]] HostMatrix<T> everywhere(const DistributedMatrix<T>& A) const {
    HostMatrix<T> all = gather(A, 0);
    if (comm.rank() != 0) {
      all = HostMatrix<T>("all", static_cast<std::size_t>(A.rows()), static_cast<std::size_t>(A.columns()));
    }
    comm.broadcast(std::span<T>(all.data(), all.size()), 0);
    return all;
  }
};

}  // namespace heddle::test
