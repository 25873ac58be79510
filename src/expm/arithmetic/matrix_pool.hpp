// Matrices of one placement that are used again and again.
#pragma once

#include "dist/work_matrix.hpp"

#include <memory>
#include <vector>

namespace heddle::impl {

/// Copies of a pool share its matrices.
template <RealScalar T> class MatrixPool {
 public:
  MatrixPool(const Communicator& comm, const Placement& placement)
      : comm_(comm), placement_(placement), free_(std::make_shared<std::vector<DistributedMatrix<T>>>()) {}

  [[nodiscard]] const Placement& placement() const noexcept { return placement_; }
  /// A matrix with elements of any value. It comes back to the pool when its last handle goes, and is then allocated no
  /// more.
  [[nodiscard]] WorkMatrix<T> take() const {
    DistributedMatrix<T> matrix;
    if (free_->empty()) {
      matrix = DistributedMatrix<T>(comm_, placement_, "expm_workspace");
    } else {
      matrix = free_->back();
      free_->pop_back();
    }
    return WorkMatrix<T>(matrix, [free = free_](const DistributedMatrix<T>& used) { free->push_back(used); });
  }

 private:
  Communicator comm_;
  Placement placement_;
  std::shared_ptr<std::vector<DistributedMatrix<T>>> free_;
};

}  // namespace heddle::impl
