// heddle._core: duplicate keys, and external faces of meshes, on one rank.
#include "arrays.hpp"
#include "exported.hpp"
#include "module.hpp"
#include <heddle/search/duplicates.hpp>
#include <heddle/search/faces.hpp>

#include <cstdint>

namespace heddle::python {
namespace {

// SearchOptions as Python gives them.
struct SearchSettings {
  SearchSettings(const std::string& algorithm, const std::string& hash, Index memory)
      : search{.algorithm = search::algorithm_from(algorithm),
               .hash = search::hash_function_from(hash),
               .memory = memory} {}
  search::SearchOptions search;
};

nb::dict search_entries(const search::SearchReport& report) {
  nb::dict entries;
  entries["algorithm"] = std::string(to_string(report.algorithm));
  entries["hash"] = std::string(to_string(report.hash));
  entries["collisions"] = report.collisions;
  entries["iterations"] = report.iterations;
  entries["passes"] = report.passes;
  entries["memory"] = report.memory;
  return entries;
}

nb::dict duplicates(const Input& keys, const SearchSettings& settings) {
  const auto find = [&]<class Word>() {
    return run([&] {
      if (keys.ndim() == 1) {
        const Operand<const Word, 1> words(keys, "keys");
        return search::find_duplicates(space(), *words, settings.search);
      }
      const Operand<const Word, 2> words(keys, "keys");
      return search::find_duplicates(space(), *words, settings.search);
    });
  };
  const search::Duplicates found = with_type_of<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                                std::uint16_t, std::uint32_t, std::uint64_t>(keys.dtype(), find);
  const bool on_host = !reachable(keys.device_type(), keys.device_id());
  nb::dict result;
  result["group"] = exported(found.group, on_host);
  result["first"] = exported(found.first, on_host);
  result["count"] = exported(found.count, on_host);
  result["report"] = search_entries(found.report);
  return result;
}

// A mesh as arrays: either all cells are of one kind, or each has one, and offsets. All of them contiguous.
struct MeshArrays {
  MeshArrays(int one_kind, Input all_points, std::optional<Input> of_cells, std::optional<Input> begins,
             std::optional<Input> copies)
      : kind(static_cast<CellKind>(one_kind)),
        points(std::move(all_points)),
        kinds(std::move(of_cells)),
        offsets(std::move(begins)),
        ghosts(std::move(copies)) {}

  template <class Id, class Space> [[nodiscard]] Mesh<Id, Space> as() const {
    Mesh<Id, Space> mesh;
    mesh.kind = kind;
    mesh.points = list<const Id, Space>(points, "points");
    if (kinds) {
      const auto numbers = list<const std::uint8_t, Space>(*kinds, "kinds");
      static_assert(sizeof(CellKind) == sizeof(std::uint8_t));
      mesh.kinds = decltype(mesh.kinds)(reinterpret_cast<const CellKind*>(numbers.data()), numbers.extent(0));
    }
    if (offsets) mesh.offsets = list<const Index, Space>(*offsets, "offsets");
    if (ghosts) mesh.ghosts = list<const std::uint8_t, Space>(*ghosts, "ghosts");
    return mesh;
  }

  CellKind kind;
  Input points;
  std::optional<Input> kinds, offsets, ghosts;

 private:
  template <class T, class Space> static Kokkos::View<T*, Space> list(const Input& array, const char* name) {
    require(array.dtype() == dtype_of<std::remove_const_t<T>>(), name, ": expected integers of ", 8 * sizeof(T),
            " bits");
    require(array.ndim() == 1 && (array.shape(0) <= 1 || array.stride(0) == 1), name, ": expected a contiguous list");
    return Kokkos::View<T*, Space>(static_cast<T*>(array.data()), array.shape(0));
  }
};

template <PointId Id> nb::dict face_entries(const FaceList<Id>& faces, bool on_host) {
  nb::dict entries;
  entries["cell"] = exported(faces.cell, on_host);
  entries["side"] = exported(faces.side, on_host);
  entries["offsets"] = exported(faces.offsets, on_host);
  entries["points"] = exported(faces.points, on_host);
  return entries;
}

search::GhostCells ghosts_from(const std::string& name) {
  if (name == "hide") return search::GhostCells::hide;
  if (name == "drop") return search::GhostCells::drop;
  require(name == "keep", "external_faces: ghost_cells = ", name, "; expected hide, drop or keep");
  return search::GhostCells::keep;
}

nb::dict external_faces(const MeshArrays& arrays, const std::string& ghosts, const SearchSettings& settings) {
  const search::ExternalFacesOptions options{.search = settings.search, .ghosts = ghosts_from(ghosts)};
  return with_type_of<std::int32_t, std::int64_t>(arrays.points.dtype(), [&]<class Id>() {
    const bool on_host = !reachable(arrays.points.device_type(), arrays.points.device_id());
    const auto found = run([&] {
      // On GPU backends cells in host memory cross the bus in blocks.
      if (!on_host) {
        return search::external_faces(space(), arrays.as<Id, MemorySpace>(), options);
      }
      return search::external_faces(space(), arrays.as<Id, Kokkos::HostSpace>(), options);
    });
    nb::dict report;
    report["search"] = search_entries(found.report.search);
    report["cells"] = found.report.cells;
    report["faces"] = found.report.faces;
    report["external"] = found.report.external;
    report["nonmanifold_sides"] = found.report.nonmanifold_sides;
    report["nonmanifold_faces"] = found.report.nonmanifold_faces;
    report["degenerate_sides"] = found.report.degenerate_sides;
    nb::dict result;
    result["external"] = face_entries(found.external, on_host);
    result["nonmanifold"] = face_entries(found.nonmanifold, on_host);
    result["nonmanifold_face"] = exported(found.nonmanifold_face, on_host);
    result["report"] = report;
    return result;
  });
}

}  // namespace

void bind_search(nb::module_& module) {
  nb::class_<SearchSettings>(module, "SearchOptions")
      .def(nb::init<const std::string&, const std::string&, Index>(), nb::arg("algorithm"), nb::arg("hash"),
           nb::arg("memory"));
  nb::class_<MeshArrays>(module, "Mesh")
      .def(nb::init<int, Input, std::optional<Input>, std::optional<Input>, std::optional<Input>>(), nb::arg("kind"),
           nb::arg("points"), nb::arg("kinds").none(), nb::arg("offsets").none(), nb::arg("ghosts").none());
  module.def("duplicates", duplicates, nb::arg("keys"), nb::arg("options"));
  module.def("external_faces", external_faces, nb::arg("mesh"), nb::arg("ghosts"), nb::arg("options"));
}

}  // namespace heddle::python
