// Arguments of LAPACK, as its names pass them.
#pragma once

#include "interpose/symbols.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace heddle::impl::interpose {

/// Whether all is right; otherwise says so, as LAPACK does.
template <class I> bool accepted(const char* name, I* info, std::initializer_list<std::pair<bool, int>> checks) {
  for (const auto& [wrong, position] : checks) {
    if (wrong) {
      *info = -position;
      refuse(name, position, sizeof(I) == 8);
      return false;
    }
  }
  *info = 0;
  return true;
}
template <class I> bool below(I extent, I least) {
  return extent < std::max<I>(1, least);
}

}  // namespace heddle::impl::interpose
