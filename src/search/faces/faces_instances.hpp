// Instances of external_faces() and its plan for one type of point numbers: one file for each, since they compile
// slowly.
#pragma once

#include "search/faces/distributed.hpp"

#define HEDDLE_INSTANTIATE_FACES_IN(ID, SPACE)                                                                         \
  template ExternalFaces<ID> external_faces(const ExecutionSpace&, const Mesh<ID, SPACE>&,                             \
                                            const ExternalFacesOptions&);                                              \
  template ExternalFaces<ID> external_faces(const Communicator&, const Mesh<ID, SPACE>&, const ExternalFacesOptions&); \
  template const ExternalFaces<ID>& ExternalFacesPlan<ID>::execute(const Mesh<ID, SPACE>&)
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
#define HEDDLE_INSTANTIATE_FACES(ID)            \
  template class ExternalFacesPlan<ID>;         \
  HEDDLE_INSTANTIATE_FACES_IN(ID, MemorySpace); \
  HEDDLE_INSTANTIATE_FACES_IN(ID, Kokkos::HostSpace)
#else
#define HEDDLE_INSTANTIATE_FACES(ID)    \
  template class ExternalFacesPlan<ID>; \
  HEDDLE_INSTANTIATE_FACES_IN(ID, MemorySpace)
#endif
