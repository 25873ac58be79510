// Unstructured grids and surfaces written as .vtu and .vtp, by VTK's own library. Neither VTK's types nor Kokkos's: the
// sources that include VTK are compiled for the host alone.
#pragma once

#include "io/matrix/element_types.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heddle::impl {

/// What is to be written; VTK reads it where it is.
struct VtkOutput {
  struct Array {
    std::string name;
    ElementType type = ElementType::int8;
    std::int64_t tuples = 0;
    std::int64_t components = 0;
    const void* values = nullptr;
  };
  std::int64_t points = 0;
  const double* coordinates = nullptr;
  std::int64_t cells = 0;
  std::int64_t corners = 0;
  const std::uint8_t* kinds = nullptr;
  const std::int64_t* offsets = nullptr;
  const std::int64_t* connectivity = nullptr;
  std::vector<Array> point_arrays;
  std::vector<Array> cell_arrays;
  bool polygons = false;  ///< A .vtp file, else .vtu; the kinds are then of no use.
  bool text = false;
  bool compressed = false;
};

/// Writes `path`, which becomes `target` later. Throws Error(output), naming `target`.
void write_vtk(const std::filesystem::path& path, const std::filesystem::path& target, const VtkOutput& output);

}  // namespace heddle::impl
