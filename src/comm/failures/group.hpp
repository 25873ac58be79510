// Collective calls of MPI that stop waiting when a rank fails.
#pragma once

#include "comm/failures/failures.hpp"

#include <mpi.h>

namespace heddle::impl {

/// The ranks of a collective call, and their Failures, which it polls: null for one rank, or if the communicator is a
/// caller's own.
struct Group {
  // NOLINTNEXTLINE(google-explicit-constructor, hicpp-explicit-conversions): a communicator is a group.
  Group(MPI_Comm ranks, Failures* watch = nullptr) : comm(ranks), failures(watch) {}

  /// Block until the requests are over. `call` names them in errors; `kept` has their buffers.
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

/// A duplicate that returns errors. If `failures` is null, failures of ranks go unnoticed. Collective.
[[nodiscard]] MPI_Comm duplicate_of(MPI_Comm comm, Failures* failures);

}  // namespace heddle::impl
