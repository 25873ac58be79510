// Whether the two sides of a transposition share elements.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/strided.hpp>

#include <algorithm>
#include <cstdint>

namespace heddle::impl {

/// The bytes of one side: [begin, end), gaps included.
struct Footprint {
  std::uintptr_t begin;
  std::uintptr_t end;
};
template <class T> [[nodiscard]] Footprint footprint(const StridedBatch<T>& view) {
  const auto last = [&](int r) { return (view.extent(r) - 1) * view.stride(r); };
  const auto begin = reinterpret_cast<std::uintptr_t>(view.data());
  return {begin, begin + (last(0) + last(1) + last(2) + 1) * sizeof(T)};
}

/// Whether two views share an element. Blocks of one column- or row-major matrix are told apart; else views whose memory
/// interlocks count as overlapping.
template <class T> [[nodiscard]] bool overlap(const StridedBatch<const T>& A, const StridedBatch<T>& B) {
  if (A.size() == 0 || B.size() == 0) return false;
  const Footprint a = footprint(A);
  const Footprint b = footprint(B);
  if (a.end <= b.begin || b.end <= a.begin) {
    return false;
  }
  for (int unit = 0; unit < 2; ++unit) {
    const int other = 1 - unit;
    const auto leading = static_cast<Index>(A.stride(other));
    if (A.extent(2) > 1 || A.stride(unit) != 1 || B.stride(unit) != 1 || B.stride(other) != A.stride(other) ||
        leading < static_cast<Index>(std::max(A.extent(unit), B.extent(unit)))) {
      continue;
    }
    // B begins `down` elements along a column and `across` columns after A, 0 <= down < leading.
    const Index distance = B.data() - A.data();
    const Index down = (distance % leading + leading) % leading;
    const Index across = (distance - down) / leading;
    const auto meets = [&](Index row, Index column) {
      return row < static_cast<Index>(A.extent(unit)) && row + static_cast<Index>(B.extent(unit)) > 0 &&
             column < static_cast<Index>(A.extent(other)) && column + static_cast<Index>(B.extent(other)) > 0;
    };
    // The same element of memory is also `leading` further up in the next column.
    return meets(down, across) || meets(down - leading, across + 1);
  }
  return true;
}

template <class T> void require_no_overlap(const StridedBatch<const T>& A, const StridedBatch<T>& B) {
  require(!overlap(A, B), "transpose: A and B overlap; transpose_in_place() takes a square matrix");
}

}  // namespace heddle::impl
