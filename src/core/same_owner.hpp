// Which object a weak pointer is of, alive or not.
#pragma once

#include <memory>

namespace heddle::impl {

/// Whether both are of one object, or of none.
template <class T> [[nodiscard]] bool same_owner(const std::weak_ptr<T>& one, const std::shared_ptr<T>& other) {
  return !one.owner_before(other) && !other.owner_before(one);
}

}  // namespace heddle::impl
