// Sinks: the destinations of a search's result for each slot.
#pragma once

#include "core/on_host.hpp"
#include "search/duplicates/packed.hpp"

namespace heddle::search::impl {

using heddle::impl::on_host;

/// Marks of sides that are alone, and of sides that at least two others equal: sixteen bits a cell, the lower eight for
/// sides that are alone. A search for this sink need only tell one, two and more equal keys apart.
struct SideMarks {
  static constexpr bool groups = false;

  Kokkos::View<std::uint32_t*, MemorySpace> marks;  // Two cells each.
  int per_item = 1;

  KOKKOS_INLINE_FUNCTION void alone(Index slot) const { mark(slot, 0); }
  KOKKOS_INLINE_FUNCTION void many(Index slot) const { mark(slot, 8); }
  KOKKOS_INLINE_FUNCTION void found(Index slot, Index, Index equal) const {
    if (equal == 1) alone(slot);
    if (equal > 2) many(slot);
  }

 private:
  KOKKOS_INLINE_FUNCTION void mark(Index slot, int shift) const {
    const Index cell = slot / per_item;
    const int bit = 16 * static_cast<int>(cell & 1) + shift + static_cast<int>(slot % per_item);
    Kokkos::atomic_or(&marks(cell / 2), std::uint32_t{1} << bit);
  }
};

/// The first key equal to each key, and the number of equal keys, stored with the first.
struct Groups {
  static constexpr bool groups = true;

  Kokkos::View<Index*, MemorySpace> first;
  Kokkos::View<Index*, MemorySpace> count;

  KOKKOS_INLINE_FUNCTION void member(Index slot, Index first_of_it) const { first(slot) = first_of_it; }
  KOKKOS_INLINE_FUNCTION void group(Index first_of_it, Index members) const { count(first_of_it) = members; }
  KOKKOS_INLINE_FUNCTION void found(Index slot, Index first_of_it, Index equal) const {
    member(slot, first_of_it);
    if (slot == first_of_it) group(first_of_it, equal);
  }
};

}  // namespace heddle::search::impl
