// External faces of meshes whose point numbers have 32 bits.
#include "search/faces/faces_instances.hpp"

namespace heddle::search {

HEDDLE_INSTANTIATE_FACES(std::int32_t);

}  // namespace heddle::search
