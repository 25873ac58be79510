// Release of memory that ranks hold for each other.
#include "comm/failures/release.hpp"

#include "comm/vendor/mappings.hpp"

namespace heddle::impl {

void release_mappings(const Communicator& comm) {
  Mappings::of_process()->release();
  comm.barrier();
}

}  // namespace heddle::impl
