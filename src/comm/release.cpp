// Release of memory that ranks hold for each other.
#include "comm/release.hpp"

#include "comm/mappings.hpp"

namespace heddle::impl {

void release_mappings(const Communicator& comm) {
  Mappings::of_process()->release();
  comm.barrier();
}

}  // namespace heddle::impl
