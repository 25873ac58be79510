// Repeated redistribution between the same two placements.
#pragma once

#include "dist/exchange.hpp"
#include <heddle/dist/matrix.hpp>

namespace heddle::impl {

/// Keeps the shares of each pair of ranks, and the memory in which messages arrive: on GPUs allocating and freeing it
/// take longer than the messages do.
template <Scalar T> class Redistribution {
 public:
  Redistribution(const Communicator& comm, const Placement& from, const Placement& to);
  /// B = A. Collective; blocks.
  void operator()(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);

 private:
  Communicator comm_;
  Shares outgoing_;
  Shares incoming_;
  PanelPool<T> pool_;
};

}  // namespace heddle::impl
