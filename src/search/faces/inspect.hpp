// Inspection of a mesh before a search: validity, and the range of its point numbers.
#pragma once

#include "search/faces/cell_blocks.hpp"
#include "search/faces/face_source.hpp"
#include <heddle/core/error.hpp>

#include <string>

namespace heddle::search::impl {

/// Facts about some cells; `+=` joins those about others.
struct MeshFacts {
  static constexpr std::int64_t above_all = 0x7fff'ffff'ffff'ffff;

  Index cells = 0;  // Cells of three dimensions that are not dropped.
  Index sides = 0;
  Index flat_sides = 0;
  std::int64_t least = above_all;  // Points of these cells.
  std::int64_t largest = -1;
  Index bad_cell = above_all;  // First invalid cell; above_all: none.

  KOKKOS_INLINE_FUNCTION MeshFacts& operator+=(const MeshFacts& other) {
    cells += other.cells;
    sides += other.sides;
    flat_sides += other.flat_sides;
    least = other.least < least ? other.least : least;
    largest = other.largest > largest ? other.largest : largest;
    bad_cell = other.bad_cell < bad_cell ? other.bad_cell : bad_cell;
    return *this;
  }
};

template <PointId Id, Shape shape> struct InspectCell {
  FaceSource<Id, shape> source;

  KOKKOS_INLINE_FUNCTION void operator()(Index item, MeshFacts& seen) const {
    const auto held = static_cast<Index>(source.points.extent(0));
    const CellKind kind = source.kind_of(item);
    const Index begin = source.begin_of(item);
    Index corners = corners_of(kind);
    bool fits = true;
    if constexpr (shape == Shape::mixed) {
      const Index given = source.offsets.extent(0) == 0 ? corners : source.offsets(item + 1) - begin;
      if (kind == CellKind::polygon) corners = given;
      fits = given == corners;
    }
    bool good = fits && corners > 0 && begin >= 0 && corners <= held && begin <= held - corners;
    MeshFacts cell;
    if (good) {
      for (Index k = 0; k < corners; ++k) {
        const std::int64_t point = source.points(begin + k);
        cell.least = point < cell.least ? point : cell.least;
        cell.largest = point > cell.largest ? point : cell.largest;
      }
      good = cell.least >= 0;
    }
    if (!good) {
      const Index here = source.first + item;
      seen.bad_cell = here < seen.bad_cell ? here : seen.bad_cell;
      return;
    }
    if (sides_of(kind) == 0 || source.is_dropped(item)) return;
    cell.cells = 1;
    cell.sides = sides_of(kind);
    bool twice = false;
    for (Index k = 1; k < corners; ++k) {
      for (Index j = 0; j < k; ++j) twice = twice || source.points(begin + j) == source.points(begin + k);
    }
    if (twice) cell.flat_sides = source.all_sides(item, [](int, const SidePoints&) {});
    seen += cell;
  }
};

/// Returns the facts about one block. Its bad cell is the first of invalid kind, offsets or points.
template <PointId Id, Shape shape>
MeshFacts inspected(const ExecutionSpace& space, const FaceSource<Id, shape>& source) {
  MeshFacts facts;
  Kokkos::parallel_reduce("heddle::search::inspect",
                          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, source.items),
                          InspectCell<Id, shape>{source}, facts);
  return facts;
}

/// Throws an Error(argument) that describes what is wrong with a cell; `whose` follows its number.
template <PointId Id, class Space>
[[noreturn]] void refuse_cell(const Mesh<Id, Space>& mesh, Index cell, const std::string& whose) {
  const auto at = [](const auto& view, Index i) {
    typename std::decay_t<decltype(view)>::non_const_value_type value{};
    Kokkos::deep_copy(value, Kokkos::subview(view, i));
    return value;
  };
  const std::string name = message_of("cell ", cell, whose);
  CellKind kind = mesh.kind;
  Index corners = corners_of(kind);
  Index begin = cell * corners;
  if (mesh.mixed()) {
    kind = at(mesh.kinds, cell);
    begin = at(mesh.offsets, cell);
    const Index end = at(mesh.offsets, cell + 1);
    const auto size = static_cast<Index>(mesh.points.extent(0));
    require(kind != CellKind::polyhedron, "external_faces: ", name,
            " is a polyhedron, whose sides a Mesh does not say");
    corners = kind == CellKind::polygon ? std::max<Index>(end - begin, 1) : corners_of(kind);
    require(corners > 0, "external_faces: ", name, " is of kind ", static_cast<int>(kind),
            ", which is none of CellKind");
    require(end - begin == corners && begin >= 0 && end <= size, "external_faces: ", name, ", a ", to_string(kind),
            ", has points ", begin, " to ", end, " of ", size, " by its offsets; expected ", corners, " of them");
  }
  for (Index k = 0; k < corners; ++k) {
    const std::int64_t point = at(mesh.points, begin + k);
    require(point >= 0, "external_faces: ", name, ", a ", to_string(kind), ", has the point ", point,
            "; expected 0 or more");
  }
  throw Error(ErrorKind::argument, message_of("external_faces: ", name, " can't be read"));
}

}  // namespace heddle::search::impl
