// Numbers of points of 32 bits.
#include "search/faces_instances.hpp"

namespace heddle::search {

HEDDLE_INSTANTIATE_FACES(std::int32_t);

}  // namespace heddle::search
