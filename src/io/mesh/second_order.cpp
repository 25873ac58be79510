// Tables of second-order cells: edges, midside nodes, curved sides and their triangles.
#include "io/mesh/second_order.hpp"

#include "core/cell_sides.hpp"

#include <algorithm>
#include <string_view>

namespace heddle::impl {

namespace {

constexpr std::array<SecondOrderType, 13> types = {{{21, CellKind::line, 3},
                                                    {22, CellKind::triangle, 6},
                                                    {23, CellKind::quad, 8},
                                                    {24, CellKind::tetrahedron, 10},
                                                    {25, CellKind::hexahedron, 20},
                                                    {26, CellKind::wedge, 15},
                                                    {27, CellKind::pyramid, 13},
                                                    {28, CellKind::quad, 9},
                                                    {29, CellKind::hexahedron, 27},
                                                    {32, CellKind::wedge, 18},
                                                    {33, CellKind::hexahedron, 24},
                                                    {34, CellKind::triangle, 7},
                                                    {37, CellKind::pyramid, 19}}};

// Two corners for each edge, in the order of the nodes on them.
std::string_view edges_of(CellKind kind) {
  switch (kind) {
    case CellKind::tetrahedron:
      return "011220031323";
    case CellKind::hexahedron:
      return "011223304556677404152637";
    case CellKind::wedge:
      return "011220344553031425";
    case CellKind::pyramid:
      return "0112233004142434";
    default:
      return "";
  }
}

// The node on the edge between two corners.
int node_between(CellKind kind, int one, int other) {
  const std::string_view edges = edges_of(kind);
  for (std::size_t edge = 0; edge < edges.size(); edge += 2) {
    const int first = edges[edge] - '0';
    const int second = edges[edge + 1] - '0';
    if ((first == one && second == other) || (first == other && second == one)) {
      return corners_of(kind) + static_cast<int>(edge / 2);
    }
  }
  return -1;
}

// The node in the middle of a side, or -1.
int middle_of(int type, int side) {
  switch (type) {
    case 29:
      return 20 + side;
    case 32:
      return side < 2 ? -1 : 13 + side;
    case 33:
      return side < 4 ? 20 + side : -1;
    case 37:
      return 13 + side;
    default:
      return -1;
  }
}

}  // namespace

const SecondOrderType* second_order(int type) {
  const auto* const found = std::find_if(types.begin(), types.end(), [&](const auto& one) { return one.type == type; });
  return found == types.end() ? nullptr : found;
}

CurvedSide curved_side(const SecondOrderType& cell, int side) {
  CurvedSide found;
  const auto append = [&](int node) { found.nodes[static_cast<std::size_t>(found.count++)] = node; };
  if (side == whole_cell) {
    for (int node = 0; node < cell.nodes; ++node) append(node);
    found.type = cell.type;
    return found;
  }
  const unsigned digits = side_corners(cell.linear, side);
  const int corners = corner_count(digits);
  for (int k = 0; k < corners; ++k) append(corner(digits, k));
  for (int k = 0; k < corners; ++k) {
    append(node_between(cell.linear, corner(digits, k), corner(digits, (k + 1) % corners)));
  }
  const int middle = middle_of(cell.type, side);
  if (middle >= 0) append(middle);
  found.type = corners == 3 ? (middle >= 0 ? 34 : 22) : (middle >= 0 ? 28 : 23);
  return found;
}

void turn_over(std::span<Index> nodes, int type) {
  const std::size_t corners = type == 5 || type == 22 || type == 34 ? 3 : 4;
  std::reverse(nodes.begin() + 1, nodes.begin() + static_cast<std::ptrdiff_t>(corners));
  if (nodes.size() < 2 * corners) return;
  std::reverse(nodes.begin() + static_cast<std::ptrdiff_t>(corners),
               nodes.begin() + static_cast<std::ptrdiff_t>(2 * corners));
}

std::span<const std::uint8_t> triangles_of(int type) {
  static constexpr std::array<std::uint8_t, 12> triangle = {0, 3, 5, 3, 1, 4, 5, 4, 2, 3, 4, 5};
  static constexpr std::array<std::uint8_t, 18> triangle_with_middle = {0, 3, 6, 6, 3, 4, 6, 4, 5,
                                                                        0, 6, 5, 3, 1, 4, 5, 4, 2};
  static constexpr std::array<std::uint8_t, 18> quad = {0, 4, 7, 4, 1, 5, 5, 2, 6, 6, 3, 7, 4, 5, 6, 4, 6, 7};
  static constexpr std::array<std::uint8_t, 24> quad_with_middle = {0, 4, 7, 4, 1, 5, 5, 2, 6, 6, 3, 7,
                                                                    4, 8, 7, 4, 5, 8, 5, 6, 8, 6, 7, 8};
  switch (type) {
    case 22:
      return triangle;
    case 34:
      return triangle_with_middle;
    case 23:
      return quad;
    case 28:
      return quad_with_middle;
    default:
      return {};
  }
}

}  // namespace heddle::impl
