#include "core/shared_storage.hpp"

#include <algorithm>

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

Storage::Storage(const void* data, Index bytes, std::array<Index, 2> extent, std::array<Index, 2> steps)
    : first(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data))) {
  if (extent[0] == 0 || extent[1] == 0) return;
  width = bytes;
  const std::size_t inner = steps[0] <= steps[1] ? 0 : 1;
  std::size_t used = 0;
  for (const std::size_t d : {inner, 1 - inner}) {
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
  const auto steps = [](const Storage& of, std::size_t d) { return Steps{of.count[d], of.stride[d]}; };
  const Index apart = other.first - one.first;
  if (apart >= length(one, 2) || -apart >= length(other, 2)) return false;
  const auto meet = [&](Index distance) {
    return any_difference(steps(one, 0), steps(other, 0), distance - one.width + 1, distance + other.width - 1,
                          [](Index) { return true; });
  };
  return any_difference(steps(one, 1), steps(other, 1), apart - length(one, 1) + 1, apart + length(other, 1) - 1,
                        [&](Index step) { return meet(apart - step); });
}

}  // namespace heddle::impl
