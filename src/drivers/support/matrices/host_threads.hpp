// Loops on all host threads of this rank.
#pragma once

#include <heddle/comm/communicator.hpp>

#include <functional>

namespace heddle::driver {

/// Calls body(part) once for each part 0 ... parts - 1, several at a time and in no order, and waits for all of them.
/// If parts throw, the exception of the lowest one is thrown here once all are done.
///
/// The threads are those of Kokkos's host space. A GPU backend may have a serial one: then they are threads of its own,
/// as many as this node has processors for each of its ranks.
void on_host_threads(const Communicator& comm, Index parts, const std::function<void(Index part)>& body);

/// The same on so many threads of its own, the caller's included; on fewer where the system has no more of them.
void on_own_threads(Index threads, Index parts, const std::function<void(Index part)>& body);

}  // namespace heddle::driver
