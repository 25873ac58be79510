// `heddle faces`: the external faces of a mesh from a file or generated.
#include "drivers/commands.hpp"
#include "drivers/search/faces_list.hpp"
#include "drivers/search/faces_mesh.hpp"
#include "drivers/search/search_settings.hpp"
#include "drivers/support/outputs.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/search/distributed.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace heddle::driver {
namespace {

struct Options {
  std::string input;
  GeneratedMesh generated;
  std::string save, output, nonmanifold;
  MeshEncoding encoding = MeshEncoding::compressed;
  search::GhostCells ghosts = search::GhostCells::hide;
  std::string surface_cells = "keep";
  std::string quadratic = "corners";
  SearchSettings search;

  [[nodiscard]] bool writes() const { return !save.empty() || !output.empty() || !nonmanifold.empty(); }
};

const Choice<search::GhostCells>& ghosts_kind() {
  using search::GhostCells;
  static const Choice<GhostCells> kind = {
      "NAME", {{GhostCells::hide, "hide"}, {GhostCells::drop, "drop"}, {GhostCells::keep, "keep"}}};
  return kind;
}

OptionTable<Options> file_options() {
  return {
      {"--save", &Options::save, Text{}, "File to write the mesh to: .vtu", {.was = "--save-mesh"}},
      {"--output,-o", &Options::output, Text{},
       "File to write the external faces to, by cell, then side: .vtp (polygons), .vtu, .stl, .ply or .msh"},
      {"--nonmanifold", &Options::nonmanifold, Text{},
       "File to write the sides of faces of three cells or more to, with these faces' numbers; endings as above"},
      {"--encoding", &Options::encoding,
       choice<MeshEncoding>("NAME", {MeshEncoding::ascii, MeshEncoding::binary, MeshEncoding::compressed}),
       "Of the files written: ascii, binary or compressed (.vtp and .vtu alone; else binary)"},
      {"--surface-cells", &Options::surface_cells, choice({"keep", "drop", "refuse"}),
       "Cells of two dimensions: keep (they go to --output, beside the faces), drop or refuse"},
      {"--quadratic", &Options::quadratic, choice({"corners", "curved"}),
       "Faces of cells of second order: corners alone, or curved (with all nodes in .vtu and .msh, as triangles of "
       "them elsewhere)"},
      {"--ghosts", &Options::ghosts, ghosts_kind(),
       "Cells that vtkGhostType marks: hide (they make faces internal, and have none), drop (they are not there) or "
       "keep (they are like others)"},
  };
}

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table =
      OptionTable<Options>{
          {"--input,-i", &Options::input, Text{},
           "File of the mesh: .vtu, .vtp, .vti, .pvtu or .vtk (VTK), .msh (Gmsh), .stl or .ply"},
      }
          .include(&Options::generated, generated_mesh_options())
          .include(itself, file_options())
          .include(&Options::search, search_options());
  return table;
}

// Results over all ranks; the lists are on rank 0.
struct Found {
  HostFaces external;
  HostFaces nonmanifold;
  std::vector<Index> nonmanifold_face;
  search::ExternalFacesReport report;
  double seconds = 0;
};

template <PointId Id, class Space>
Found search_over(const Communicator& comm, const Mesh<Id, Space>& whole, search::GhostCells ghosts,
                  const SearchSettings& settings) {
  const search::ExternalFacesOptions options = {settings.options(), ghosts};
  const Mesh<Id, Space> mesh = share_of(whole, comm);
  search::ExternalFaces<Id> result;
  const auto median = median_of_runs(comm, settings.repeat, [&] {
    result = {};
    result = comm.size() == 1 ? search::external_faces(comm.space(), mesh, options)
                              : search::external_faces(comm, mesh, options);
    return result.report;
  });
  return {gathered(comm, result.external), gathered(comm, result.nonmanifold), gathered(comm, result.nonmanifold_face),
          median.report, median.seconds};
}

// Remove the faces of marked cells. The search over ranks cannot hide cells; keeping them as cells and then removing
// their faces gives the same result.
void hide_ghosts(const Communicator& comm, const MeshFile::HostMesh& mesh, Found& found) {
  std::array<Index, 3> counts{};
  comm.on_rank(0, [&] {
    const auto seen = [&](const HostFaces& faces) {
      std::vector<bool> keep(faces.cell.extent(0));
      for (std::size_t face = 0; face < keep.size(); ++face) keep[face] = mesh.ghosts(faces.cell(face)) == 0;
      return keep;
    };
    found.external = chosen(found.external, seen(found.external));
    const std::vector<bool> keep = seen(found.nonmanifold);
    // Renumber in order of first occurrence.
    std::vector<Index> number(keep.size(), -1);
    std::vector<Index> faces;
    Index count = 0;
    for (std::size_t side = 0; side < keep.size(); ++side) {
      if (!keep[side]) continue;
      Index& face = number[static_cast<std::size_t>(found.nonmanifold_face[side])];
      if (face < 0) face = count++;
      faces.push_back(face);
    }
    found.nonmanifold = chosen(found.nonmanifold, keep);
    found.nonmanifold_face = std::move(faces);
    counts = {found.external.size(), found.nonmanifold.size(), count};
  });
  comm.broadcast(std::span<Index>(counts), 0);
  found.report.external = counts[0];
  found.report.nonmanifold_sides = counts[1];
  found.report.nonmanifold_faces = counts[2];
}

// Search for faces of polyhedra, on one rank only.
Found search_polyhedra(const Communicator& comm, const MeshFile& file, const Options& options) {
  search::ExternalFaces<Index> result;
  auto [seconds, report] = median_of_runs(comm, options.search.repeat, [&] {
    comm.on_rank(0, [&] {
      result = search::external_faces(comm.space(), file.mesh(), file.polyhedra(),
                                      {options.search.options(), options.ghosts});
    });
    return result.report;
  });
  std::array<Index, 6> counts = {
      report.cells,           report.faces, report.external, report.nonmanifold_sides, report.nonmanifold_faces,
      report.degenerate_sides};
  comm.broadcast(std::span<Index>(counts), 0);
  report.cells = counts[0];
  report.faces = counts[1];
  report.external = counts[2];
  report.nonmanifold_sides = counts[3];
  report.nonmanifold_faces = counts[4];
  report.degenerate_sides = counts[5];
  return {gathered(comm, result.external), gathered(comm, result.nonmanifold), gathered(comm, result.nonmanifold_face),
          report, seconds};
}

Found search_file(const Communicator& comm, const MeshFile& file, const Options& options, const CellCounts& counts) {
  if (!file.polyhedra().empty()) return search_polyhedra(comm, file, options);
  const auto ghosts = options.ghosts;
  const bool hidden = ghosts == search::GhostCells::hide && counts.ghosts > 0 && comm.size() > 1;
  Found found = search_over(comm, file.mesh(), hidden ? search::GhostCells::keep : ghosts, options.search);
  if (hidden) hide_ghosts(comm, file.mesh(), found);
  return found;
}

template <PointId Id> Found search_generated(const Communicator& comm, const Options& options, Report& report) {
  const auto start = std::chrono::steady_clock::now();
  const Mesh<Id> mesh = connectivity_of<Id>(comm.space(), options.generated);
  comm.space().fence("heddle::driver::faces");
  report.times()["connectivity"] = seconds_since(start);
  return search_over(comm, mesh, options.ghosts, options.search);
}

Found search_mesh(const Communicator& comm, const std::optional<MeshFile>& file, const Options& options,
                  const CellCounts& counts, Report& report) {
  if (!options.input.empty()) return search_file(comm, *file, options, counts);
  return options.generated.fits_32_bits() ? search_generated<std::int32_t>(comm, options, report)
                                          : search_generated<Index>(comm, options, report);
}

std::string quadratic_words(const Options& options) {
  return options.quadratic == "curved" ? "with all their nodes" : "by their corners";
}

void say_found(const Context& context, const Found& found, const CellCounts& counts, const Options& options) {
  const auto number = [](Index value) { return static_cast<long long>(value); };
  const auto plural = [](Index value) { return value == 1 ? "" : "s"; };
  const search::ExternalFacesReport& report = found.report;
  const Communicator& comm = context.comm();
  context.say(format("faces: %lld cell%s, %lld side%s, %lld external face%s; %s, %d rank%s: %.4g s, %.4g cells/s",
                     number(report.cells), plural(report.cells), number(report.faces), plural(report.faces),
                     number(report.external), plural(report.external), name_of(report.search).c_str(), comm.size(),
                     plural(comm.size()), found.seconds, static_cast<double>(report.cells) / found.seconds));
  context.say(course_of(report.search));
  if (options.search.phases) context.say(phases_of(report.search));
  if (counts.surface > 0) {
    context.say(format("surface: %lld cell%s of two dimensions, %s", number(counts.surface), plural(counts.surface),
                       options.surface_cells == "keep" ? "kept beside the external faces" : "left out"));
  }
  if (const Index lower = counts.flat - counts.surface; lower > 0) {
    context.say(format("ignored: %lld cell%s of fewer than two dimensions", number(lower), plural(lower)));
  }
  if (counts.second_order) context.say("second order: faces are written " + quadratic_words(options));
  if (counts.ghosts > 0) {
    context.say(format("ghosts: %lld cell%s marked as copies: %s", number(counts.ghosts), plural(counts.ghosts),
                       ghosts_kind().show(options.ghosts).c_str()));
  }
  if (report.nonmanifold_faces > 0) {
    context.say(format("non-manifold: %lld face%s that three cells or more share, %lld sides of them",
                       number(report.nonmanifold_faces), plural(report.nonmanifold_faces),
                       number(report.nonmanifold_sides)));
  }
  if (report.degenerate_sides > 0) {
    context.say(format("degenerate: %lld side%s of fewer than three points", number(report.degenerate_sides),
                       plural(report.degenerate_sides)));
  }
}

// Return the faces that --output writes.
HostFaces surface_faces(const MeshFile& mesh, const Found& found, const Options& options) {
  if (options.surface_cells != "keep") return found.external;
  return with_surface_cells(mesh, found.external, options.ghosts == search::GhostCells::keep);
}

// Report a file without cells of three dimensions: there is no search to check, but the faces passed on can be checked
// for being closed.
void say_passed_on(const Context& context, const std::optional<MeshFile>& mesh, const Found& found,
                   const Options& options, Report& report) {
  const Communicator& comm = context.comm();
  std::array<Index, 2> seen = {0, -1};
  comm.on_rank(0, [&] {
    const HostFaces faces = surface_faces(*mesh, found, options);
    seen = {faces.size(), lone_edges(comm.space(), faces).value_or(-1)};
  });
  comm.broadcast(std::span<Index>(seen), 0);
  const auto [faces, open] = seen;
  const auto plural = [](Index value) { return value == 1 ? "" : "s"; };
  context.say(format("no cells of three dimensions: %lld face%s of the file itself passed on, nothing is checked",
                     static_cast<long long>(faces), plural(faces)));
  if (open < 0 || faces == 0) return;
  report.results()["open_edges"] = open;
  context.say(format("closed: %s; %lld edge%s of one face only", open == 0 ? "yes" : "no", static_cast<long long>(open),
                     plural(open)));
}

// The boundary of a boundary is empty if no face was left out; see open_edges().
void check_closed(const Context& context, const Found& found, const CellCounts& counts, search::GhostCells ghosts,
                  Report& report) {
  const Communicator& comm = context.comm();
  if (found.report.nonmanifold_faces > 0 || (counts.ghosts > 0 && ghosts == search::GhostCells::hide)) {
    context.say(std::string("closed: not looked at, since ") +
                (found.report.nonmanifold_faces > 0 ? "there are non-manifold faces" : "ghost cells are hidden"));
    return;
  }
  Index open = -1;
  comm.on_rank(0, [&] { open = open_edges(comm.space(), found.external).value_or(-1); });
  comm.broadcast(std::span(&open, 1), 0);
  if (open < 0) {
    context.say("closed: not looked at, since there are too many faces");
    return;
  }
  report.results()["open_edges"] = open;
  if (counts.simplices || open == 0) {
    report.check_at_most("closed", static_cast<double>(open), 0.0);
  } else {
    context.say(
        format("closed: not decided; %lld edge%s of an odd number of external faces, as where quadrilaterals "
               "of the mesh share their points, but not their edges",
               static_cast<long long>(open), open == 1 ? "" : "s"));
  }
}

void write_faces(const std::string& path, const MeshFile& mesh, const HostFaces& faces, const Options& options,
                 const std::vector<Index>* numbers = nullptr) {
  SurfaceOptions surface;
  surface.encoding = options.encoding;
  surface.curved = options.quadratic == "curved";
  if (numbers != nullptr) {
    surface.arrays.push_back({"NonManifoldFace", ArrayValues<std::int64_t>(numbers->data(), numbers->size(), 1)});
  }
  write_surface(path, mesh, faces, surface);
}

void require_options(const Context& context, const Options& options) {
  require(options.input.empty() != options.generated.kind.empty(),
          "give the mesh with --input, or make one with --generate, not both");
  require(options.generated.kind.empty() || !options.generated.cubes.empty(), "--generate needs --size");
  require(options.generated.cubes.empty() || !options.generated.kind.empty(), "--size is for --generate");
  if (!options.input.empty()) require_mesh_ending(options.input);
  for (const std::string& path : {options.output, options.nonmanifold}) {
    if (!path.empty()) require_surface_ending(path);
  }
  require(options.save.empty() || options.save.ends_with(".vtu"), options.save, ": a mesh is written as .vtu");
  context.comm().on_rank(0, [&] {
    require_distinct_outputs({{"--json", context.options().json_file()},
                              {"--output", options.output},
                              {"--nonmanifold", options.nonmanifold},
                              {"--save", options.save}});
    require_inputs_kept(
        {{"--input", options.input}},
        {{"--output", options.output}, {"--nonmanifold", options.nonmanifold}, {"--save", options.save}});
  });
  for (const std::string& path : {options.save, options.output, options.nonmanifold}) {
    if (!path.empty()) context.comm().on_rank(0, [&] { const PendingFile probe(path); });
  }
}

void require_surface_cells(const Options& options, const CellCounts& counts) {
  if (options.surface_cells != "refuse" || counts.surface == 0) return;
  throw Error(ErrorKind::input,
              message_of(options.input, ": has ", counts.surface, counts.surface == 1 ? " cell" : " cells",
                         " of two dimensions, which ", "--surface-cells refuse does not take"));
}

int run(Context& context, const Options& options) {
  require_options(context, options);
  const Communicator& comm = context.comm();
  auto report = context.report("faces");
  auto& inputs = report.inputs();
  all_options().enter(options, inputs);
  if (options.input.empty()) {
    const StructuredGrid grid = options.generated.grid();
    inputs["size"] = {grid.x, grid.y, grid.z};
  }

  // Only rank 0 needs coordinates, and a generated mesh in host memory; every rank needs a file's connectivity.
  auto start = std::chrono::steady_clock::now();
  std::optional<MeshFile> mesh;
  if (!options.input.empty()) {
    mesh = MeshFile::read(options.input);
  } else if (options.writes() && context.root()) {
    mesh = file_of(comm.space(), options.generated);
  }
  report.times()["mesh"] = seconds_since(start);
  const CellCounts counts = options.input.empty() ? CellCounts{} : counts_of(*mesh);
  require_surface_cells(options, counts);
  const Found found = search_mesh(comm, mesh, options, counts, report);

  auto& results = report.results();
  results["cells"] = found.report.cells;
  results["flat_cells"] = counts.flat;
  results["surface_cells"] = counts.surface;
  results["ghost_cells"] = counts.ghosts;
  results["faces"] = found.report.faces;
  results["external_faces"] = found.report.external;
  results["nonmanifold_faces"] = found.report.nonmanifold_faces;
  results["nonmanifold_sides"] = found.report.nonmanifold_sides;
  results["degenerate_sides"] = found.report.degenerate_sides;
  enter_search(results, found.report.search);
  results["seconds"] = found.seconds;
  results["cells_per_second"] = static_cast<double>(found.report.cells) / found.seconds;
  std::string digest;
  comm.on_rank(0, [&] { digest = digest_of(found.external); });
  comm.broadcast(digest, 0);
  results["sha256"] = digest;
  say_found(context, found, counts, options);
  context.say("sha256 " + digest);
  if (options.input.empty()) {
    const Index expected = options.generated.external_faces();
    report.check("external_faces", found.report.external == expected, found.report.external, expected);
  }
  if (!options.input.empty() && mesh->mesh().cells() == counts.flat) {
    say_passed_on(context, mesh, found, options, report);
  } else {
    check_closed(context, found, counts, options.ghosts, report);
  }

  start = std::chrono::steady_clock::now();
  comm.on_rank(0, [&] {
    if (!options.save.empty()) write_mesh(options.save, *mesh, options.encoding);
    if (!options.output.empty()) write_faces(options.output, *mesh, surface_faces(*mesh, found, options), options);
    if (!options.nonmanifold.empty()) {
      write_faces(options.nonmanifold, *mesh, found.nonmanifold, options, &found.nonmanifold_face);
    }
  });
  if (options.writes()) report.times()["write"] = seconds_since(start);
  for (const std::string& path : {options.save, options.output, options.nonmanifold}) {
    if (!path.empty()) context.say("written to " + path);
  }
  return context.finish(report);
}

}  // namespace

void add_faces(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"faces", "External faces of a mesh: the sides that no two cells share",
               "  heddle faces --input mesh.vtu --output surface.vtp\n"
               "  mpirun -n 2 heddle faces --generate tetrahedra --size 100 --randomised --repeat 3"},
              all_options(), run);
}

}  // namespace heddle::driver
