// Memory that a study of external faces needs, planned before it begins.
#pragma once

#include <heddle/search/algorithm.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

/// A method by its name, and how it searches.
struct FacesMethod {
  std::string name;     ///< Algorithm, and hash function where it has one: "sort+fnv1a", "partition".
  std::string sorting;  ///< "radix" or "merge"; empty: the method does not sort.
  search::SearchOptions options;

  /// For people: "sort+fnv1a", "sort+fnv1a (merge)".
  [[nodiscard]] std::string label() const;
};

/// Return the methods of these names; one that sorts appears once for each of the sorts. Throws Error(argument) for an
/// unknown name.
[[nodiscard]] std::vector<FacesMethod> faces_methods(const std::vector<std::string>& names,
                                                     const std::vector<search::Sorting>& sorts);

/// One size of the mesh.
struct FacesPlan {
  Index cells = 0;
  Index fixed = 0;            ///< Bytes of the meshes, the marks of one search, and the faces that are kept.
  std::vector<Index> bounds;  ///< SearchOptions::memory of each method: 0 if one pass fits.
};

/// Plan searches in `meshes` meshes of per_cube cubes^3 tetrahedra with numbers of 32 bits, held together, with
/// `available` bytes free; a sixteenth of them is reserved. A method that does not fit in one pass and has no bound of
/// its own gets the rest. Throws Error(argument), naming the bytes needed and free, if the meshes don't fit, or if a
/// method would need more than 64 passes or its own bound does not fit.
[[nodiscard]] FacesPlan plan_faces(Index cubes, int per_cube, int meshes, const std::vector<FacesMethod>& methods,
                                   double available);

}  // namespace heddle::driver
