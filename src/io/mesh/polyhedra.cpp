// Lists of the faces of polyhedra, as files have them.
#include "io/mesh/polyhedra.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::impl {

namespace {

HostIndices moved(Chunks<Index>& chunks) {
  const auto list = host_list<Index>("heddle::io::polyhedra", static_cast<Index>(chunks.size()));
  chunks.move_to(list.data());
  return list;
}

}  // namespace

PolyhedraBuilder::PolyhedraBuilder() {
  cells_.append(0);
  offsets_.append(0);
}

void PolyhedraBuilder::add_face(std::span<const Index> points, Index first) {
  for (const Index point : points) points_.append(first + point);
  offsets_.append(static_cast<Index>(points_.size()));
}

bool PolyhedraBuilder::add_stream(std::span<const Index> stream, Index first) {
  if (stream.empty()) return false;
  const Index count = stream.front();
  stream = stream.subspan(1);
  for (Index face = 0; face < count; ++face) {
    if (stream.empty() || stream.front() < 0 || static_cast<std::size_t>(stream.front()) >= stream.size()) return false;
    const auto size = static_cast<std::size_t>(stream.front());
    add_face(stream.subspan(1, size), first);
    stream = stream.subspan(size + 1);
  }
  return count > 0 && stream.empty();
}

PolyhedronFaces PolyhedraBuilder::take() {
  if (!any()) return {};
  return {moved(cells_), moved(offsets_), moved(points_)};
}

std::string split_streams(FileCells& cells, PolyhedronFaces& faces) {
  const CellKind* const kinds = cells.kinds.data();
  const std::size_t count = cells.kinds.extent(0);
  if (std::find(kinds, kinds + count, CellKind::polyhedron) == kinds + count) return "";
  PolyhedraBuilder polyhedra;
  Chunks<Index> corners;
  const auto offsets = host_list<Index>("heddle::io::offsets", static_cast<Index>(count) + 1);
  offsets(0) = 0;
  std::vector<Index> own;
  for (std::size_t cell = 0; cell < count; ++cell) {
    const std::span<const Index> stream(cells.points.data() + cells.offsets(cell),
                                        static_cast<std::size_t>(cells.offsets(cell + 1) - cells.offsets(cell)));
    own.assign(stream.begin(), stream.end());
    if (kinds[cell] == CellKind::polyhedron) {
      if (!polyhedra.add_stream(stream)) {
        return message_of("cell ", cell, ", a polyhedron, is no list of faces: ", stream.size(), " numbers that begin ",
                          "with the number of faces, and each of these with the number of its points, are expected");
      }
      own.clear();
      for (std::size_t at = 1; at < stream.size(); at += 1 + static_cast<std::size_t>(stream[at])) {
        own.insert(own.end(), stream.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                   stream.begin() + static_cast<std::ptrdiff_t>(at) + 1 + stream[at]);
      }
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    polyhedra.end_cell();
    for (const Index corner : own) corners.append(corner);
    offsets(cell + 1) = static_cast<Index>(corners.size());
  }
  faces = polyhedra.take();
  cells.offsets = offsets;
  cells.points = host_list<Index>("heddle::io::corners", static_cast<Index>(corners.size()));
  corners.move_to(cells.points.data());
  return "";
}

}  // namespace heddle::impl
