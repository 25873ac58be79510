// The sides of cells, in VTK's order, each from outside.
#pragma once

#include <heddle/core/mesh.hpp>

namespace heddle::impl {

KOKKOS_INLINE_FUNCTION constexpr int sides_of(CellKind kind) {
  switch (kind) {
    case CellKind::tetrahedron:
      return 4;
    case CellKind::wedge:
    case CellKind::pyramid:
      return 5;
    case CellKind::voxel:
    case CellKind::hexahedron:
      return 6;
    default:
      return 0;
  }
}

/// Corners of a side, one a hexadecimal digit from the lowest on, and how many above them.
KOKKOS_INLINE_FUNCTION constexpr unsigned side_corners(CellKind kind, int side) {
  // A row holds the sides of a kind, and zeros up to six.
  constexpr unsigned table[5][6] = {
      {0x3310, 0x3321, 0x3302, 0x3120, 0, 0},                  // tetrahedron
      {0x42640, 0x45731, 0x44510, 0x43762, 0x41320, 0x46754},  // voxel
      {0x43740, 0x45621, 0x44510, 0x42673, 0x41230, 0x47654},  // hexahedron
      {0x3210, 0x3453, 0x41430, 0x42541, 0x40352, 0},          // wedge
      {0x41230, 0x3410, 0x3421, 0x3432, 0x3403, 0},            // pyramid
  };
  return table[static_cast<int>(kind) - static_cast<int>(CellKind::tetrahedron)][side];
}
KOKKOS_INLINE_FUNCTION constexpr int corner_count(unsigned corners) {
  return corners >= 0x40000 ? 4 : 3;
}
KOKKOS_INLINE_FUNCTION constexpr int corner(unsigned corners, int number) {
  return static_cast<int>((corners >> (4 * number)) & 0xF);
}

}  // namespace heddle::impl
