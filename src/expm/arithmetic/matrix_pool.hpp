// Pools of reusable matrices of one placement.
#pragma once

#include "dist/work_matrix.hpp"

#include <memory>
#include <vector>

namespace heddle::impl {

/// A pool of matrices; copies share its matrices.
template <RealScalar T> class MatrixPool {
 public:
  MatrixPool(const Communicator& comm, const Placement& placement)
      : comm_(comm), placement_(placement), free_(std::make_shared<std::vector<DistributedMatrix<T>>>()) {}

  [[nodiscard]] const Placement& placement() const noexcept { return placement_; }
  /// Return a matrix with arbitrary elements. It returns to the pool when its last handle is destroyed, and is then
  /// reused.
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
