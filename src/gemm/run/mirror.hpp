// The half of a symmetric matrix that was not computed, from the half that was.
#pragma once

#include "dist/exchange.hpp"
#include <heddle/dist/matrix.hpp>

#include <optional>

namespace heddle::impl {

/// complete_symmetric() for matrices of one placement. On several ranks it keeps what messages need on their way.
template <Scalar T> class Mirror {
 public:
  Mirror(const Communicator& comm, const Placement& placement, Index tile);
  void operator()(const DistributedMatrix<T>& C, T sign);

 private:
  Communicator comm_;
  Placement placement_;
  Index tile_;
  std::optional<Shares> shares_;  // Elements sent to a rank lie across from those received from it.
  ExecutionSpace beside_;
  PanelPool<T> pool_;
  PanelPool<T> pool_beside_;
};

}  // namespace heddle::impl
