// The half of a symmetric matrix that was not computed, from the half that was.
#pragma once

#include <heddle/dist/matrix.hpp>
#include <heddle/transpose/distributed.hpp>

#include <optional>

namespace heddle::impl {

/// complete_symmetric() for matrices of one placement, with its workspace: a matrix more where C is on several ranks.
template <Scalar T> class Mirror {
 public:
  Mirror(const Communicator& comm, const Placement& placement, Index tile);
  void operator()(const DistributedMatrix<T>& C, T sign);

 private:
  Communicator comm_;
  Placement placement_;
  Index tile_;
  std::optional<TransposePlan<T>> plan_;
  DistributedMatrix<T> transposed_;
};

}  // namespace heddle::impl
