// The three transports, made for a communicator whose ranks can all use them.
#pragma once

#include "comm/vendor.hpp"
#include <heddle/comm/transport.hpp>

namespace heddle::impl {

/// A transport's block as the vendor's runtime takes it.
template <class Bytes> vendor::Block native(const Bytes& block) {
  return {static_cast<std::byte*>(const_cast<void*>(block.data)), block.width, block.columns, block.leading};
}

/// What a transport keeps of a communicator: it must not keep the communicator itself, which keeps the transport.
struct Ranks {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  ExecutionSpace space;
};

std::unique_ptr<Transport> make_direct_transport(const Ranks& ranks, std::string reason);
std::unique_ptr<Transport> make_staged_transport(const Ranks& ranks, std::string reason);
std::unique_ptr<Transport> make_peer_transport(const Ranks& ranks, std::string reason);

/// The fastest that works, or the one that the environment names; collective.
std::unique_ptr<Transport> choose_transport(const Communicator& comm);

/// Whether every rank can open every other's device memory; collective. Tries it: a call that fails is only an error.
Availability peer_availability(const Communicator& comm);

}  // namespace heddle::impl
