// Arguments of distributed operations as require_alike() takes them.
#pragma once

#include "comm/alike.hpp"
#include <heddle/dist/placement.hpp>

namespace heddle::impl {

template <class T> [[nodiscard]] Argument argument(std::string_view name, const T& value) {
  return {name, message_of(value)};
}

/// With what describe() leaves out.
[[nodiscard]] inline Argument argument(std::string_view name, const Placement& placement) {
  return {name, message_of(placement.describe(), " (blocks of ", placement.row_axis().block, " x ",
                           placement.column_axis().block, " from rank ", placement.first_rank(), " on)")};
}

}  // namespace heddle::impl
