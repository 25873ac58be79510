// Version of Heddle, its commit, and the libraries that its build lacks.
#include "git_hash.hpp"
#include <heddle/core/version.hpp>

#include <vector>

namespace heddle {

std::string_view version() {
  return HEDDLE_VERSION;
}

std::string_view git_hash() {
  return HEDDLE_GIT_HASH;
}

std::span<const AbsentLibrary> absent_libraries() {
  static const std::vector<AbsentLibrary> absent = {
#include "absent_libraries.hpp"
  };
  return absent;
}

}  // namespace heddle
