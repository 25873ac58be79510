// Collective calls of MPI that stop waiting when a rank fails.
#pragma once

#include "comm/failures.hpp"

#include <mpi.h>

namespace heddle::impl {

/// The ranks of a collective call, and whom to ask whether one of them has failed: nobody where there is one rank, or
/// where the communicator is a caller's own.
struct Group {
  // NOLINTNEXTLINE(google-explicit-constructor, hicpp-explicit-conversions): a communicator is a group.
  Group(MPI_Comm ranks, Failures* watch = nullptr) : comm(ranks), failures(watch) {}

  /// Blocks until what was begun is over. `call` names it to people; `kept` has its buffers.
  void complete(std::span<MPI_Request> requests, const char* call, std::any kept) const {
    if (failures != nullptr) {
      failures->complete(requests, call, std::move(kept));
    } else {
      checked(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), call);
    }
  }
  void complete(MPI_Request request, const char* call, std::any kept) const {
    complete(std::span(&request, 1), call, std::move(kept));
  }

  MPI_Comm comm;
  Failures* failures;
};

/// A duplicate that returns errors. `failures` may be null: no rank's failure is heard of. Collective.
[[nodiscard]] MPI_Comm duplicate_of(MPI_Comm comm, Failures* failures);

}  // namespace heddle::impl
