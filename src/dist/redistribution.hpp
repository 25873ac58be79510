// redistribute() again and again between the same two placements.
#pragma once

#include "dist/exchange.hpp"
#include <heddle/dist/matrix.hpp>

namespace heddle::impl {

/// Keeps who owes what to whom, and the memory in which messages arrive: on GPUs to allocate and to free that takes
/// longer than the messages do.
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
