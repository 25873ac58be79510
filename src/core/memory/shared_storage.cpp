// Test whether two strided arrays share a byte.
#include "core/memory/shared_storage.hpp"

#include <algorithm>
#include <ranges>

namespace heddle::impl {
namespace {

Index quotient_down(Index a, Index b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
Index quotient_up(Index a, Index b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

// Whether body(v) holds for any v = (j - k) stride in [least, most], 0 <= j < one, 0 <= k < other.
template <class Body>
bool any_difference(Index one, Index other, Index stride, Index least, Index most, const Body& body) {
  const Index end = std::min(one - 1, quotient_down(most, stride));
  for (Index t = std::max(1 - other, quotient_up(least, stride)); t <= end; ++t) {
    if (body(t * stride)) return true;
  }
  return false;
}

}  // namespace

Storage::Storage(const void* data, Index bytes, Three extent, Three steps)
    : first(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data))) {
  if (std::ranges::count(extent, 0) > 0) return;
  width = bytes;
  std::array<std::size_t, 3> order{0, 1, 2};
  std::ranges::sort(order, {}, [&](std::size_t d) { return steps[d]; });
  std::size_t used = 0;
  for (const std::size_t d : order) {
    // Extents of 1 and strides of 0 add no addresses.
    if (extent[d] == 1 || steps[d] == 0) continue;
    if (used == 0 && steps[d] * bytes <= width) {
      width += (extent[d] - 1) * steps[d] * bytes;
    } else {
      count[used] = extent[d];
      stride[used] = steps[d] * bytes;
      ++used;
    }
  }
}

bool share(const Storage& one, const Storage& other) {
  if (one.width == 0 || other.width == 0) return false;
  const auto used = [](const Storage& of) {
    return static_cast<std::size_t>(std::ranges::count_if(of.count, [](Index count) { return count > 1; }));
  };
  const auto length = [](const Storage& of, std::size_t dimensions) {
    Index bytes = of.width;
    for (std::size_t d = 0; d < dimensions; ++d) bytes += (of.count[d] - 1) * of.stride[d];
    return bytes;
  };
  // [x, + a) and [y, + b) have a byte in common where -b < y - x < a: here y - x is `apart` less a difference of steps.
  // The longest steps come first, those of both where they are equal.
  const auto meet = [&](const auto& again, std::size_t of_one, std::size_t of_other, Index apart) -> bool {
    if (apart >= length(one, of_one) || -apart >= length(other, of_other)) return false;
    if (of_one == 0 && of_other == 0) return true;
    const Index step = of_one > 0 ? one.stride[of_one - 1] : 0;
    const Index other_step = of_other > 0 ? other.stride[of_other - 1] : 0;
    const Index count = step >= other_step ? one.count[--of_one] : 1;
    const Index other_count = other_step >= step ? other.count[--of_other] : 1;
    return any_difference(count, other_count, std::max(step, other_step), apart - length(one, of_one) + 1,
                          apart + length(other, of_other) - 1,
                          [&](Index by) { return again(again, of_one, of_other, apart - by); });
  };
  return meet(meet, used(one), used(other), other.first - one.first);
}

}  // namespace heddle::impl
