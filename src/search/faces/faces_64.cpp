// External faces of meshes whose point numbers have 64 bits.
#include "search/faces/faces_instances.hpp"

namespace heddle::search {

HEDDLE_INSTANTIATE_FACES(std::int64_t);

}  // namespace heddle::search
