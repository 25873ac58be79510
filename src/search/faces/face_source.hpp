// The sides of a block of cells, as keys.
#pragma once

#include "core/cell_sides.hpp"
#include "search/duplicates/hash.hpp"

namespace heddle::search::impl {

using heddle::impl::corner;
using heddle::impl::corner_count;
using heddle::impl::side_corners;
using heddle::impl::sides_of;

/// The distinct points of a side, sorted. Unused places are 0.
struct SidePoints {
  Word point[4] = {};
  int count = 0;
};

KOKKOS_INLINE_FUNCTION void order(Word& a, Word& b) {
  const Word low = a < b ? a : b;
  b = a < b ? b : a;
  a = low;
}

/// Points that several ranks have, with false positives that fall on their bits.
struct SharedPoints {
  Kokkos::View<const std::uint32_t*, MemorySpace> bits;  // Empty: no point is shared.
  bool hashed = false;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word bit_of(Word point) const {
    return (hashed ? mixed_bits(point) : point) & (static_cast<Word>(bits.extent(0)) * 32 - 1);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool holds(Word point) const {
    const Word bit = bit_of(point);
    return (bits(static_cast<Index>(bit / 32)) >> (bit % 32) & 1) != 0;
  }
};

/// Kinds of a mesh's cells, known at compile time so that kernels of tetrahedra have no loops over corners.
enum class Shape { tetrahedra, hexahedra, mixed };

template <Shape shape> inline constexpr int sides_each = shape == Shape::tetrahedra ? 4 : 6;

/// Cells [first, first + items) of a mesh, in a kernel's memory. A side's number, its slot, is sides_each * cell +
/// side.
template <PointId Id, Shape shape> struct FaceSource {
  static constexpr int per_item = sides_each<shape>;

  Index items = 0;
  Index first = 0;
  Kokkos::View<const Id*, MemorySpace> points;
  Kokkos::View<const CellKind*, MemorySpace> kinds;
  Kokkos::View<const Index*, MemorySpace> offsets;
  Kokkos::View<const std::uint8_t*, MemorySpace> dropped;
  CellKind kind = CellKind::tetrahedron;
  Id least = 0;         // Least point number; keys count from it.
  SharedPoints shared;  // Sides whose points are all shared are searched elsewhere.
  int bits = 64;        // Bits of a point number in a key, including a value for "none" if sides may have four points.

  [[nodiscard]] KOKKOS_INLINE_FUNCTION CellKind kind_of(Index item) const {
    if constexpr (shape == Shape::tetrahedra) {
      return CellKind::tetrahedron;
    } else if constexpr (shape == Shape::hexahedra) {
      return CellKind::hexahedron;
    } else {
      return kinds.extent(0) > 0 ? kinds(item) : kind;
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index begin_of(Index item) const {
    if constexpr (shape == Shape::tetrahedra) {
      return 4 * item;
    } else if constexpr (shape == Shape::hexahedra) {
      return 8 * item;
    } else {
      return offsets.extent(0) > 0 ? offsets(item) : item * corners_of(kind);
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_dropped(Index item) const {
    return dropped.extent(0) > 0 && dropped(item) != 0;
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION SidePoints side_points(CellKind of, Index begin, int side) const {
    const unsigned corners = side_corners(of, side);
    SidePoints found;
    const bool quad = shape != Shape::tetrahedra && corner_count(corners) == 4;
    Word a = at(begin + corner(corners, 0));
    Word b = at(begin + corner(corners, 1));
    Word c = at(begin + corner(corners, 2));
    Word d = quad ? at(begin + corner(corners, 3)) : c;
    order(a, b);
    if (quad) order(c, d);
    order(a, c);
    order(b, d);
    order(b, c);
    const Word all[4] = {a, b, c, d};
    found.point[0] = a;
    found.count = 1;
    for (int k = 1; k < 4; ++k) {
      if (all[k] != all[k - 1]) found.point[found.count++] = all[k];
    }
    return found;
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_shared(const SidePoints& found) const {
    if (shared.bits.extent(0) == 0) return false;
    for (int k = 0; k < found.count; ++k) {
      if (!shared.holds(found.point[k] + static_cast<Word>(least))) return false;
    }
    return true;
  }

  /// Calls f(side, points) for each side with an area that is searched here; returns the number of sides without area.
  template <class F> KOKKOS_INLINE_FUNCTION int sides(Index item, const F& f) const {
    return all_sides(item, [&](int side, const SidePoints& found) {
      if (!is_shared(found)) f(side, found);
    });
  }
  /// The same, including sides that are searched elsewhere.
  template <class F> KOKKOS_INLINE_FUNCTION int all_sides(Index item, const F& f) const {
    if (is_dropped(item)) return 0;
    const CellKind of = kind_of(item);
    const Index begin = begin_of(item);
    int flat = 0;
    if constexpr (shape == Shape::tetrahedra) {
      // tetrahedron() needs two spare bits for corners, which numbers of 32 bits always leave.
      if (sizeof(Id) <= 4 || bits <= 62) {
        tetrahedron(begin, f, flat);
        return flat;
      }
    }
    const int count = sides_of(of);
    for (int side = 0; side < count; ++side) {
      const SidePoints points_of_side = side_points(of, begin, side);
      if (points_of_side.count < 3) {
        ++flat;
      } else {
        f(side, points_of_side);
      }
    }
    return flat;
  }

  /// Calls f(slot, packed) for each side with an area.
  template <int n, class F> KOKKOS_INLINE_FUNCTION void each(Index item, const F& f) const {
    sides(item, [&](int side, const SidePoints& found) {
      Packed<n> key;
      if constexpr (shape != Shape::tetrahedra) key.push(found.count == 4 ? found.point[3] + 1 : 0, bits);
      for (int k = 0; k < 3; ++k) key.push(found.point[k], bits);
      f((first + item) * per_item + side, key);
    });
  }
  /// Calls f(slot, packed hash) for each side with an area.
  template <class F> KOKKOS_INLINE_FUNCTION void each_hashed(Index item, const F& f) const {
    sides(item, [&](int side, const SidePoints& found) {
      Packed<1> key;
      for (int k = 0; k < found.count; ++k) key.word[0] = mixed_bits(key.word[0] + found.point[k] + 1);
      f((first + item) * per_item + side, key);
    });
  }
  [[nodiscard]] int key_bits() const { return words() * bits; }

  // Access by slot, for a source whose block is the whole mesh.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index slots() const { return items * per_item; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION SidePoints at_slot(Index slot) const {
    const Index item = slot / per_item;
    return side_points(kind_of(item), begin_of(item), static_cast<int>(slot % per_item));
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool exists(Index slot) const {
    const Index item = slot / per_item;
    if (is_dropped(item)) return false;
    const CellKind of = kind_of(item);
    const int side = static_cast<int>(slot % per_item);
    if (side >= sides_of(of)) return false;
    const SidePoints found = side_points(of, begin_of(item), side);
    return found.count >= 3 && !is_shared(found);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool same(Index slot, Index other) const {
    const SidePoints a = at_slot(slot);
    const SidePoints b = at_slot(other);
    bool equal = a.count == b.count;
    for (int k = 0; k < 4; ++k) equal = equal && a.point[k] == b.point[k];
    return equal;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint32_t hash(HashFunction function, Index slot) const {
    const SidePoints found = at_slot(slot);
    Hasher hasher(function);
    for (int k = 0; k < found.count; ++k) hasher.add(found.point[k] + static_cast<Word>(least));
    return hasher.value();
  }
  [[nodiscard]] static constexpr int words() { return shape == Shape::tetrahedra ? 3 : 4; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int word_bits(int) const { return bits; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word word(Index slot, int k) const {
    const SidePoints found = at_slot(slot);
    return k < 3 ? found.point[k] : (found.count == 4 ? found.point[3] + 1 : 0);
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Word at(Index place) const {
    return static_cast<Word>(points(place)) - static_cast<Word>(least);
  }
  // Sorts the corners once, each point above its corner's number: a side is all corners but one. Takes numbers of 62
  // bits.
  template <class F> KOKKOS_INLINE_FUNCTION void tetrahedron(Index begin, const F& f, int& flat) const {
    Word a = at(begin) << 2;
    Word b = at(begin + 1) << 2 | 1;
    Word c = at(begin + 2) << 2 | 2;
    Word d = at(begin + 3) << 2 | 3;
    order(a, b);
    order(c, d);
    order(a, c);
    order(b, d);
    order(b, c);
    without(d, a, b, c, f, flat);
    without(c, a, b, d, f, flat);
    without(b, a, c, d, f, flat);
    without(a, b, c, d, f, flat);
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void without(Word left, Word x, Word y, Word z, const F& f, int& flat) const {
    SidePoints found;
    found.point[0] = x >> 2;
    found.point[1] = y >> 2;
    found.point[2] = z >> 2;
    found.count = 3;
    if (found.point[0] == found.point[1] || found.point[1] == found.point[2]) {
      ++flat;
      return;
    }
    // The sides without corners 0 to 3 are 1, 2, 0 and 3.
    f(static_cast<int>((0xC9U >> (2 * (left & 3))) & 3U), found);
  }
};

}  // namespace heddle::search::impl
