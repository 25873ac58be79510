// Memory that a study of external faces needs, planned before it begins.
#include "studies/faces/faces_plan.hpp"

#include <heddle/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace heddle::driver {
namespace {

constexpr Index most_automatic_passes = 64;

std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GiB", bytes / 0x1p30);
  return text;
}

FacesMethod method_from(const std::string& name) {
  const auto plus = name.find('+');
  FacesMethod method{name, "", {}};
  search::SearchOptions& options = method.options;
  options.algorithm = search::algorithm_from(name.substr(0, plus));
  const bool hashes =
      options.algorithm == search::Algorithm::hash_fight || options.algorithm == search::Algorithm::sort;
  require(hashes == (plus != std::string::npos) && options.algorithm != search::Algorithm::automatic, "--methods: '",
          name, "': expected partition, sort-by-id, sort+HASH or hash-fight+HASH");
  if (hashes) options.hash = search::hash_function_from(name.substr(plus + 1));
  require(!hashes || options.hash != search::HashFunction::automatic, "--methods: '", name,
          "': name the hash function");
  options.time_phases = true;
  return method;
}

}  // namespace

std::string FacesMethod::label() const {
  return name + (sorting == "merge" ? " (merge)" : "");
}

std::vector<FacesMethod> faces_methods(const std::vector<std::string>& names,
                                       const std::vector<search::Sorting>& sorts) {
  std::vector<FacesMethod> methods;
  for (const std::string& name : names) {
    FacesMethod method = method_from(name);
    const bool sorted = method.options.algorithm == search::Algorithm::sort ||
                        method.options.algorithm == search::Algorithm::sort_by_id;
    if (!sorted) {
      methods.push_back(std::move(method));
      continue;
    }
    for (const search::Sorting sorting : sorts) {
      method.sorting = search::to_string(sorting);
      method.options.sorting = sorting;
      methods.push_back(method);
    }
  }
  return methods;
}

FacesPlan plan_faces(Index cubes, int per_cube, int meshes, const std::vector<FacesMethod>& methods, double available) {
  FacesPlan plan;
  plan.cells = per_cube * cubes * cubes * cubes;
  const Index points = (cubes + 1) * (cubes + 1) * (cubes + 1);
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(points - 1)));
  // Four numbers a cell of each mesh and two bytes of marks; a list of triangles for each mesh and one to compare.
  plan.fixed = (16 * meshes + 2) * plan.cells + 32 * 12 * cubes * cubes * (meshes + 1);
  // A sixteenth is reserved for memory that no plan covers: the scratch memory of a vendor's sort, and other programs
  // on a CPU.
  const double usable = available * 15 / 16;
  require(static_cast<double>(plan.fixed) <= usable, "study faces: ", cubes, " cubes along each axis are ", plan.cells,
          " cells, which take ", gibibytes(static_cast<double>(plan.fixed)), " in ", meshes,
          meshes == 1 ? " mesh; " : " meshes; ", gibibytes(available),
          " of memory are free: expected smaller --sizes, or one of --numberings");
  const double left = std::min(usable - static_cast<double>(plan.fixed), 0x1p62);
  for (const FacesMethod& method : methods) {
    const search::SearchOptions& options = method.options;
    const Index once = search::search_memory(options.algorithm, 4 * plan.cells, 3 * bits);
    const Index held = options.memory > 0 ? std::min(once, options.memory) : once;
    Index bound = options.memory;
    if (static_cast<double>(held) > left) {
      bound = static_cast<Index>(left);
      require(options.memory == 0 && left * most_automatic_passes >= static_cast<double>(once),
              "study faces: ", method.label(), " of ", cubes, " cubes along each axis takes ",
              gibibytes(static_cast<double>(held)), " beside ", gibibytes(static_cast<double>(plan.fixed)),
              " of meshes; ", gibibytes(available),
              " of memory are free: expected a smaller --memory, or smaller --sizes");
    }
    plan.bounds.push_back(bound);
  }
  return plan;
}

}  // namespace heddle::driver
