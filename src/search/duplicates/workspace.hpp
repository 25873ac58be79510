// The memory of searches, which a plan keeps from one call to the next.
#pragma once

#include "core/memory/workspace.hpp"

namespace heddle::search::impl {

/// A Workspace that remembers the largest search it had room for.
class Workspace : public heddle::impl::Workspace {
 public:
  using heddle::impl::Workspace::Workspace;

  /// note_room_for() records that a search bounded by `needed` bytes had room for all of its keys at once;
  /// has_room_for() returns whether such a search has it again, since that memory is free.
  void note_room_for(Index needed) {
    if (keeps() && needed > room_for_) room_for_ = needed;
  }
  [[nodiscard]] bool has_room_for(Index needed) const {
    return needed <= room_for_ && free_bytes() >= needed - needed / 8;
  }

 private:
  Index room_for_ = 0;
};

}  // namespace heddle::search::impl
