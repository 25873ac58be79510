// Cache of device memory of other processes that is open in this one.
#include "comm/vendor/mappings.hpp"

#include <heddle/core/error.hpp>

#include <algorithm>

namespace heddle::impl {

Mapping::Mapping(const vendor::Export& allocation)
    : allocation_(allocation), address_(static_cast<std::byte*>(vendor::open_allocation(allocation))) {
  if (address_ == nullptr) {
    throw Error(ErrorKind::computation, message_of("can't open another rank's device memory: ", vendor::last_error()));
  }
}

bool Mapping::same(const vendor::Export& one, const vendor::Export& other) {
  return one.owner == other.owner && one.base == other.base && one.id == other.id && one.handle == other.handle;
}

bool Mapping::is_in_place_of(const vendor::Export& other) const {
  return allocation_.owner == other.owner && !is(other) && allocation_.base < other.base + other.size &&
         other.base < allocation_.base + allocation_.size;
}

std::shared_ptr<Mappings> Mappings::of_process() {
  static std::mutex mutex;
  static std::weak_ptr<Mappings> table;
  const std::lock_guard lock(mutex);
  auto found = table.lock();
  if (!found) {
    found = std::make_shared<Mappings>();
    table = found;
  }
  return found;
}

std::shared_ptr<Mapping> Mappings::open(const vendor::Export& allocation) {
  const std::lock_guard lock(mutex_);
  const Place at{allocation.owner, allocation.base};
  Entry& entry = entries_[at];
  if (!entry.mapping || !entry.mapping->is(allocation)) {
    entry.mapping.reset();
    entry.kept = kept_for(at, allocation);
    closed_.erase(at);
    // The runtime refuses what overlaps memory that is still open, though its owner has freed it.
    for (auto& [place, other] : entries_) {
      if (other.mapping && other.mapping->is_in_place_of(allocation)) {
        other.mapping.reset();
      }
    }
    try {
      entry.mapping = std::make_shared<Mapping>(allocation);
    } catch (const Error&) {
      // The overlapping memory can be a block that the runtime cut up, beyond the allocation: try again with nothing
      // kept open.
      for (auto& [place, other] : entries_) {
        if (place.first == allocation.owner && other.mapping.use_count() == 1) {
          other.mapping.reset();
        }
      }
      entry.mapping = std::make_shared<Mapping>(allocation);
    }
  }
  entry.last_use = operations_;
  return entry.mapping;
}

std::uint64_t Mappings::kept_for(const Place& place, const vendor::Export& allocation) const {
  const auto found = closed_.find(place);
  if (found == closed_.end() || !Mapping::same(found->second.allocation, allocation)) return kept_operations;
  const std::uint64_t missed = operations_ - found->second.last_use;
  return std::min(std::max(found->second.kept, 2 * missed), most_kept_operations);
}

void Mappings::release() {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const auto& one) { return one.second.mapping.use_count() <= 1; });
}

void Mappings::end_operation() {
  const std::lock_guard lock(mutex_);
  ++operations_;
  std::erase_if(closed_, [&](const auto& one) { return one.second.last_use + most_kept_operations < operations_; });
  std::erase_if(entries_, [&](const auto& one) {
    const Entry& entry = one.second;
    if (entry.mapping && entry.last_use + entry.kept >= operations_) return false;
    if (entry.mapping)
      closed_.insert_or_assign(one.first, Closed{entry.mapping->allocation(), entry.last_use, entry.kept});
    return true;
  });
}

}  // namespace heddle::impl
