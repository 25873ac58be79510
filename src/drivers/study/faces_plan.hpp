// What a study of external faces will hold, before it begins.
#pragma once

#include <heddle/search/algorithm.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

/// A method by its name, and how it searches.
struct FacesMethod {
  std::string name;     ///< Algorithm, and hash function where it has one: "sort+fnv1a", "partition".
  std::string sorting;  ///< "radix" or "merge"; empty: it sorts nothing.
  search::SearchOptions options;

  /// For people: "sort+fnv1a", "sort+fnv1a (merge)".
  [[nodiscard]] std::string label() const;
};

/// The methods of these names, each once for each of the sorts where it sorts. Throws Error(argument) for a name that
/// is none.
[[nodiscard]] std::vector<FacesMethod> faces_methods(const std::vector<std::string>& names,
                                                     const std::vector<search::Sorting>& sorts);

/// One size of the mesh.
struct FacesPlan {
  Index cells = 0;
  Index fixed = 0;            ///< Bytes of the meshes, the marks of one search, and the faces that are kept.
  std::vector<Index> bounds;  ///< For each method SearchOptions::memory: 0 where one pass fits.
};

/// Plans searches in `meshes` meshes of per_cube cubes^3 tetrahedra with numbers of 32 bits, that are held together,
/// where `available` bytes are free, of which a sixteenth is left alone. A method that does not fit in one pass, and
/// that has no bound of its own, gets what is left. Throws Error(argument), naming what is needed and free, where the
/// meshes don't fit, or where a method would need more than 64 passes or its own bound does not fit.
[[nodiscard]] FacesPlan plan_faces(Index cubes, int per_cube, int meshes, const std::vector<FacesMethod>& methods,
                                   double available);

}  // namespace heddle::driver
