// Numbers of points of 32 bits.
#include "search/distributed.hpp"

namespace heddle::search {

#define HEDDLE_INSTANCE(SPACE)                                                                                 \
  template ExternalFaces<std::int32_t> external_faces(const ExecutionSpace&, const Mesh<std::int32_t, SPACE>&, \
                                                      const FaceOptions&);                                     \
  template ExternalFaces<std::int32_t> external_faces(const Communicator&, const Mesh<std::int32_t, SPACE>&,   \
                                                      const FaceOptions&);
HEDDLE_INSTANCE(MemorySpace)
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
HEDDLE_INSTANCE(Kokkos::HostSpace)
#endif
#undef HEDDLE_INSTANCE

}  // namespace heddle::search
