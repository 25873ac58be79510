// First come, first served, for messages that begin in one order and become ready in another.
#pragma once

#include "comm/transports/transfer.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace heddle::impl {

/// MPI matches messages of one rank and tag in the order in which they were posted, so each is posted in its turn.
class Turns {
 public:
  using Key = std::pair<int, int>;  ///< Rank and tag.

  void enter(const Key& key, const Transfer* operation) { queues_[key].push_back(operation); }
  /// Place in the queue: 0 for the one whose turn it is.
  [[nodiscard]] std::size_t place(const Key& key, const Transfer* operation) const {
    const auto& queue = queues_.at(key);
    return static_cast<std::size_t>(std::find(queue.begin(), queue.end(), operation) - queue.begin());
  }
  /// The first one has had its turn.
  void leave(const Key& key) { queues_.at(key).pop_front(); }

 private:
  std::map<Key, std::deque<const Transfer*>> queues_;
};

}  // namespace heddle::impl
