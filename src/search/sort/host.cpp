// Radix sort by threads: from the lowest digit to the highest, each pass counting and then moving.
#include "search/sort/sort.hpp"

#include <algorithm>
#include <utility>

namespace heddle::search::impl {
namespace {

constexpr int digit_bits = 8;
constexpr Index digits = Index{1} << digit_bits;

}  // namespace

template <class Key, class Value>
void sort_pairs(Workspace& workspace, Kokkos::View<Key*, MemorySpace>& keys, Kokkos::View<Value*, MemorySpace>& values,
                int bits) {
  const ExecutionSpace& space = workspace.space();
  const auto n = static_cast<Index>(keys.extent(0));
  const Index pieces = std::clamp<Index>(n / 4096, 1, space.concurrency());
  auto keys_from = keys;
  auto values_from = values;
  auto keys_to = workspace.take<Key>("heddle::search::sorted", n);
  auto values_to = workspace.take<Value>("heddle::search::sorted", n);
  const auto places = workspace.take<Index>("heddle::search::places", pieces * digits);
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>> each_piece(space, 0, pieces);
  for (int shift = 0; shift < bits; shift += digit_bits) {
    const Key mask = static_cast<Key>((Key{1} << std::min(digit_bits, bits - shift)) - 1);
    Kokkos::parallel_for(
        "heddle::search::sort_count", each_piece, KOKKOS_LAMBDA(Index piece) {
          Index* const mine = places.data() + piece * digits;
          std::fill_n(mine, digits, Index{0});
          for (Index i = n * piece / pieces; i < n * (piece + 1) / pieces; ++i) ++mine[(keys_from(i) >> shift) & mask];
        });
    space.fence("heddle::search::sort");
    Index at = 0;
    bool one = false;
    for (Index digit = 0; digit < digits; ++digit) {
      const Index begin = at;
      for (Index piece = 0; piece < pieces; ++piece) at += std::exchange(places(piece * digits + digit), at);
      one = one || at - begin == n;
    }
    if (one) continue;  // Nothing to move.
    Kokkos::parallel_for(
        "heddle::search::sort_move", each_piece, KOKKOS_LAMBDA(Index piece) {
          Index* const next = places.data() + piece * digits;
          for (Index i = n * piece / pieces; i < n * (piece + 1) / pieces; ++i) {
            const Index to = next[(keys_from(i) >> shift) & mask]++;
            keys_to(to) = keys_from(i);
            values_to(to) = values_from(i);
          }
        });
    std::swap(keys_from, keys_to);
    std::swap(values_from, values_to);
  }
  keys = keys_from;
  values = values_from;
}

HEDDLE_INSTANTIATE_SORTS();

}  // namespace heddle::search::impl
