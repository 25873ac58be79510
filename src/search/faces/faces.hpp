// External faces of one rank's cells: inspection, search and lists.
#pragma once

#include "search/duplicates/duplicates.hpp"
#include "search/duplicates/search.hpp"
#include "search/faces/listing.hpp"
#include "search/faces/point_lists.hpp"
#include <heddle/search/faces.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace heddle::search::impl {

template <PointId Id, class Space> void require_arrays(const Mesh<Id, Space>& mesh) {
  const auto size = static_cast<Index>(mesh.points.extent(0));
  if (mesh.mixed()) {
    require(mesh.offsets.extent(0) == mesh.kinds.extent(0) + 1, "external_faces: ", mesh.offsets.extent(0),
            " offsets for ", mesh.kinds.extent(0), " kinds of cells; expected one more");
  } else {
    const int corners = corners_of(mesh.kind);
    require(corners > 0, "external_faces: cells of kind ", static_cast<int>(mesh.kind), ", which is none of CellKind");
    require(mesh.kinds.extent(0) == 0, "external_faces: kinds of cells without offsets");
    require(size % corners == 0, "external_faces: ", size, " points of cells of kind ", to_string(mesh.kind),
            ": expected a multiple of ", corners);
  }
  require(mesh.ghosts.extent(0) == 0 || static_cast<Index>(mesh.ghosts.extent(0)) == mesh.cells(),
          "external_faces: ", mesh.ghosts.extent(0), " ghost marks for ", mesh.cells(), " cells");
}

/// Writes a side's points as a key: sorted by insertion, each once, then -1.
template <PointId Id> struct SortPoints {
  static constexpr int words = 4;
  FaceList<Id> list;
  Kokkos::View<Id*, MemorySpace> keys;

  KOKKOS_INLINE_FUNCTION void operator()(Index face) const {
    const Index begin = list.offsets(face);
    const auto corners = static_cast<int>(list.offsets(face + 1) - begin);
    Id point[words] = {-1, -1, -1, -1};
    int count = 0;
    for (int k = 0; k < corners; ++k) {
      const Id more = list.points(begin + k);
      int at = count;
      while (at > 0 && point[at - 1] > more) --at;
      if (at > 0 && point[at - 1] == more) continue;
      for (int j = count; j > at; --j) point[j] = point[j - 1];
      point[at] = more;
      ++count;
    }
    for (int k = 0; k < words; ++k) keys(words * face + k) = point[k];
  }
};

/// Returns which sides of a list are the same face.
template <PointId Id>
Duplicates faces_of_sides(Workspace& workspace, const FaceList<Id>& list, const SearchOptions& options) {
  const ExecutionSpace& space = workspace.space();
  const Index sides = list.size();
  constexpr int words = SortPoints<Id>::words;
  const auto keys = workspace.take<Id>("heddle::search::sides", words * sides);
  Kokkos::parallel_for("heddle::search::sides",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, sides),
                       SortPoints<Id>{list, keys});
  const compiled::KeyArray array{keys.data(), sides, words, words, 1, static_cast<int>(sizeof(Id)), true};
  return duplicates_in(workspace, array, options);
}

/// One search in a mesh of a known shape.
template <Shape shape, PointId Id, class Space> class FaceSearch {
 public:
  using Source = FaceSource<Id, shape>;

  /// `workspace`, the source of its memory and that of the lists, and `report` must outlive it.
  FaceSearch(Workspace& workspace, const Mesh<Id, Space>& mesh, const ExternalFacesOptions& options,
             ExternalFacesReport& report)
      : workspace_(workspace),
        mesh_(mesh),
        options_(options),
        report_(report),
        recorder_(workspace, report.search, options.search.time_phases),
        blocks_(workspace, mesh) {}

  /// Throws Error(argument) if the mesh is invalid; `whose` follows the number of the cell in the message.
  void inspect(const std::string& whose = "") {
    blocks_.each([&](const Mesh<Id>& block, Index first) {
      const MeshFacts here = inspected(workspace_.space(), source_of<Id, shape>(block, first, drops(), 0, 64));
      if (here.bad_cell != MeshFacts::above_all) refuse_cell(mesh_, here.bad_cell, whose);
      facts_ += here;
    });
    recorder_.phase("inspect");
    report_.cells = facts_.cells;
    report_.faces = facts_.sides;
    report_.degenerate_sides = facts_.flat_sides;
    if (facts_.cells == 0) facts_.least = facts_.largest = 0;
  }

  /// Marks the sides that are alone and those that at least two others equal, except sides whose points are all in
  /// `shared`.
  void search(const SharedPoints& shared = {}) {
    shared_ = shared;
    marks_ = recorder_.template array<std::uint32_t>("heddle::search::marks", (mesh_.cells() + 1) / 2);
    const auto forget = [&] { Kokkos::deep_copy(workspace_.space(), marks_, 0U); };
    forget();
    if constexpr (on_host) {
      if (search_by_points()) return;
    }
    const auto whole = [&] { return source(blocks_.whole(), 0); };
    const auto blocks = [&](const auto& f) { each_source(f); };
    const KeyCounts counts{mesh_.cells() * Source::per_item,
                           shared.bits.extent(0) > 0 ? -1 : facts_.sides - facts_.flat_sides};
    search_keys<Source>(
        recorder_,
        SearchedKeys{blocks, whole, counts, std::vector<int>(static_cast<std::size_t>(Source::words()), bits())},
        options_.search, side_marks(), forget);
  }

  /// Calls f(source) for the blocks of cells in order.
  template <class F> void each_source(const F& f) const {
    blocks_.each([&](const Mesh<Id>& block, Index first) { f(source(block, first)); });
  }
  [[nodiscard]] SideMarks side_marks() const { return {marks_, Source::per_item}; }
  [[nodiscard]] const MeshFacts& facts() const { return facts_; }

  /// Makes both lists from the marks.
  void list(ExternalFaces<Id>& result) {
    Listing<Id, shape> listing(workspace_, marks_, options_.ghosts == GhostCells::hide);
    blocks_.each([&](const Mesh<Id>& block, Index first) { listing.count(block, first); });
    listing.allocate();
    blocks_.each([&](const Mesh<Id>& block, Index first) { listing.write(block, first); });
    result.external = listing.alone();
    result.nonmanifold = listing.many();
    report_.external = result.external.size();
    report_.nonmanifold_sides = result.nonmanifold.size();
  }
  SearchRecorder& recorder() { return recorder_; }

 private:
  // Searches by lists of points if they suit the mesh; they take less memory than buckets. Returns false if they don't
  // suit.
  bool search_by_points() {
    const Algorithm asked = options_.search.algorithm;
    const Index sides = facts_.sides - facts_.flat_sides;
    const std::int64_t points = facts_.largest - facts_.least + 1;
    using Lists = PointLists<Id, shape>;
    if ((asked != Algorithm::automatic && asked != Algorithm::partition) || options_.search.memory != 0 ||
        shared_.bits.extent(0) > 0 || sides == 0 || !Lists::are_for(workspace_.space(), sides, points)) {
      return false;
    }
    const Source all = source(blocks_.whole(), 0);
    if (!cells_are_near(all, points) || !Lists(recorder_, all, sides, points).search(side_marks())) return false;
    report_.search.algorithm = Algorithm::partition;
    report_.search.passes = 1;
    return true;
  }

  [[nodiscard]] bool drops() const { return options_.ghosts == GhostCells::drop; }
  [[nodiscard]] int bits() const {
    const auto span = static_cast<Word>(facts_.largest - facts_.least);
    return std::max(1, bits_of(shape == Shape::tetrahedra ? span : span + 1));
  }
  [[nodiscard]] Source source(const Mesh<Id>& block, Index first) const {
    Source made = source_of<Id, shape>(block, first, drops(), facts_.least, bits());
    made.shared = shared_;
    return made;
  }

  Workspace& workspace_;
  Mesh<Id, Space> mesh_;
  ExternalFacesOptions options_;
  ExternalFacesReport& report_;
  SearchRecorder recorder_;
  CellBlocks<Id, Space> blocks_;
  MeshFacts facts_;
  SharedPoints shared_;
  Marks marks_;
};

/// Counts what keeps a mixed mesh from being one of `kind` without gaps.
template <class Space> struct CountOther {
  Kokkos::View<const CellKind*, Space> kinds;
  Kokkos::View<const Index*, Space> offsets;
  Index cells;
  CellKind kind;
  Index corners;

  KOKKOS_INLINE_FUNCTION void operator()(Index cell, Index& sum) const {
    sum += (cell < cells && kinds(cell) != kind) || offsets(cell) != cell * corners ? 1 : 0;
  }
};

/// Returns a mixed mesh as one of a single kind if all kinds are the same and offsets have no gaps: kernels then know
/// the number of corners.
template <PointId Id, class Space>
Mesh<Id, Space> of_one_kind(const ExecutionSpace& space, const Mesh<Id, Space>& mesh) {
  const Index cells = mesh.cells();
  if (!mesh.mixed() || cells == 0) return mesh;
  CellKind kind{};
  Kokkos::deep_copy(space, Kokkos::View<CellKind, Kokkos::HostSpace>(&kind), Kokkos::subview(mesh.kinds, 0));
  space.fence("heddle::search::kind");
  const Index corners = corners_of(kind);
  if (corners == 0 || static_cast<Index>(mesh.points.extent(0)) != cells * corners) return mesh;
  Index others = 0;
  Kokkos::parallel_reduce("heddle::search::kinds",
                          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, cells + 1),
                          CountOther<Space>{mesh.kinds, mesh.offsets, cells, kind, corners}, others);
  if (others > 0) return mesh;
  Mesh<Id, Space> single;
  single.kind = kind;
  single.points = mesh.points;
  single.ghosts = mesh.ghosts;
  return single;
}

/// Calls work(shape) with the mesh's shape as a compile-time constant.
template <PointId Id, class Space, class Work> auto with_shape(const Mesh<Id, Space>& mesh, const Work& work) {
  if (!mesh.mixed() && mesh.kind == CellKind::tetrahedron) {
    return work(std::integral_constant<Shape, Shape::tetrahedra>());
  }
  if (!mesh.mixed() && mesh.kind == CellKind::hexahedron) {
    return work(std::integral_constant<Shape, Shape::hexahedra>());
  }
  return work(std::integral_constant<Shape, Shape::mixed>());
}

template <Shape shape, PointId Id, class Space>
ExternalFaces<Id> faces_of(Workspace& workspace, const Mesh<Id, Space>& mesh, const ExternalFacesOptions& options) {
  ExternalFaces<Id> result;
  FaceSearch<shape, Id, Space> search(workspace, mesh, options, result.report);
  search.inspect();
  search.search();
  search.list(result);
  if (result.nonmanifold.size() > 0) {
    const Duplicates same = faces_of_sides(workspace, result.nonmanifold, options.search);
    result.nonmanifold_face = same.group;
    result.report.nonmanifold_faces = same.groups();
  }
  workspace.space().fence("heddle::search::external_faces");
  search.recorder().phase("list");
  return result;
}

template <PointId Id, class Space>
ExternalFaces<Id> faces_in(Workspace& workspace, const Mesh<Id, Space>& mesh, const ExternalFacesOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::search::external_faces");
  require_arrays(mesh);
  Mesh<Id, Space> known = mesh;
  if constexpr (CellBlocks<Id, Space>::direct) known = of_one_kind(workspace.space(), mesh);
  return with_shape(known, [&](auto shape) { return faces_of<decltype(shape)::value>(workspace, known, options); });
}

}  // namespace heddle::search::impl

namespace heddle::search {

template <PointId Id, class Space>
ExternalFaces<Id> external_faces(const ExecutionSpace& space, const Mesh<Id, Space>& mesh,
                                 const ExternalFacesOptions& options) {
  impl::Workspace workspace(space, false);
  return impl::faces_in(workspace, mesh, options);
}

template <PointId Id> struct ExternalFacesPlan<Id>::State {
  impl::Workspace workspace;
  ExternalFacesOptions options;
  ExternalFaces<Id> result;
};

template <PointId Id>
ExternalFacesPlan<Id>::ExternalFacesPlan(const ExecutionSpace& space, const ExternalFacesOptions& options)
    : state_(new State{{space, true}, options, {}}) {}
template <PointId Id> ExternalFacesPlan<Id>::~ExternalFacesPlan() = default;
template <PointId Id> ExternalFacesPlan<Id>::ExternalFacesPlan(ExternalFacesPlan&&) noexcept = default;
template <PointId Id> ExternalFacesPlan<Id>& ExternalFacesPlan<Id>::operator=(ExternalFacesPlan&&) noexcept = default;

template <PointId Id>
template <class Space>
const ExternalFaces<Id>& ExternalFacesPlan<Id>::execute(const Mesh<Id, Space>& mesh) {
  State& state = *state_;
  // Releases lists that the caller does not hold, for reuse.
  state.result = {};
  state.result = impl::faces_in(state.workspace, mesh, state.options);
  return state.result;
}

template <PointId Id> Index ExternalFacesPlan<Id>::memory() const {
  return state_->workspace.bytes();
}

}  // namespace heddle::search
