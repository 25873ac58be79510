// Cells of second order: linear cells with a node on each edge, and perhaps in the middle of faces and of the cell.
// Numbers of types and the order of nodes are VTK's.
#pragma once

#include <heddle/core/mesh.hpp>

#include <array>
#include <cstdint>
#include <span>

namespace heddle::impl {

struct SecondOrderType {
  int type = 0;                          ///< VTK's number.
  CellKind linear = CellKind::triangle;  ///< What the cell is without its further nodes.
  int nodes = 0;                         ///< The corners first, then one on each edge, then those in the middle.
};

/// The type of this number, or null.
[[nodiscard]] const SecondOrderType* second_order(int type);

/// A curved side: which of its cell's nodes it has, in the order of a cell of second order in two dimensions.
struct CurvedSide {
  int type = 0;  ///< VTK's number for it.
  int count = 0;
  std::array<int, 9> nodes{};
};

/// Side `side` of a cell of second order, counted as a linear cell's sides are; or the cell itself, where that has two
/// dimensions, for whole_cell.
[[nodiscard]] CurvedSide curved_side(const SecondOrderType& cell, int side);

/// The same triangle or quadrilateral, curved or not, seen from its other side.
void turn_over(std::span<Index> nodes, int type);

/// Triangles with the same nodes as a curved side: numbers among these, three a triangle.
[[nodiscard]] std::span<const std::uint8_t> triangles_of(int type);

}  // namespace heddle::impl
