#include "core/shared_storage.hpp"

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

struct Steps {
  Index count;
  Index stride;
};

// Whether body(v) holds for any v = j one.stride - k other.stride in [least, most], 0 <= j < one.count, 0 <= k <
// other.count.
template <class Body> bool any_difference(Steps one, Steps other, Index least, Index most, const Body& body) {
  if (one.count == 1) one.stride = other.stride;
  if (other.count == 1) other.stride = one.stride;
  if (one.stride == other.stride) {
    const Index end = std::min(one.count - 1, quotient_down(most, one.stride));
    for (Index t = std::max(1 - other.count, quotient_up(least, one.stride)); t <= end; ++t) {
      if (body(t * one.stride)) return true;
    }
    return false;
  }
  // Through the fewer steps, for the range of the others.
  const bool swapped = one.count < other.count;
  const Steps& few = swapped ? one : other;
  const Steps& many = swapped ? other : one;
  for (Index k = 0; k < few.count; ++k) {
    const Index shift = k * few.stride;
    const Index end = std::min(many.count - 1, quotient_down((swapped ? -least : most) + shift, many.stride));
    for (Index j = std::max<Index>(0, quotient_up((swapped ? -most : least) + shift, many.stride)); j <= end; ++j) {
      const Index difference = j * many.stride - shift;
      if (body(swapped ? -difference : difference)) return true;
    }
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
    // The stride of one element, or of none at all, says nothing.
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
  // [x, + a) and [y, + b) have a byte in common where -a < y - x < b: here y - x is `apart` less a difference of steps.
  const auto length = [](const Storage& of, std::size_t dimensions) {
    Index bytes = of.width;
    for (std::size_t d = 0; d < dimensions; ++d) bytes += (of.count[d] - 1) * of.stride[d];
    return bytes;
  };
  const auto meet = [&](const auto& again, std::size_t dimensions, Index apart) -> bool {
    while (dimensions > 0 && one.count[dimensions - 1] == 1 && other.count[dimensions - 1] == 1) --dimensions;
    const Index a = length(one, dimensions);
    const Index b = length(other, dimensions);
    if (apart >= a || -apart >= b) return false;
    if (dimensions == 0) return true;
    const std::size_t d = dimensions - 1;
    return any_difference({one.count[d], one.stride[d]}, {other.count[d], other.stride[d]}, apart - length(one, d) + 1,
                          apart + length(other, d) - 1, [&](Index step) { return again(again, d, apart - step); });
  };
  return meet(meet, 3, other.first - one.first);
}

}  // namespace heddle::impl
