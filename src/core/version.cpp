#include "git_hash.hpp"
#include <heddle/core/version.hpp>

namespace heddle {

std::string_view version() {
  return HEDDLE_VERSION;
}

std::string_view git_hash() {
  return HEDDLE_GIT_HASH;
}

}  // namespace heddle
