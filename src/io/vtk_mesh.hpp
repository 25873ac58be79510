// Unstructured grids in VTK's files, by VTK's own library. Neither VTK's types nor Kokkos's: the one source that
// includes VTK is compiled for the host alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace heddle::impl {

/// Types of an array's elements, in the order of MeshArray's alternatives.
enum class ElementType : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

/// A grid that VTK has read whole, handed over part by part.
class VtkGrid {
 public:
  struct Array {
    std::string name;
    ElementType type = ElementType::int8;
    std::int64_t tuples = 0;
    std::int64_t components = 0;
  };

  /// Reads .vtu or .vtk. Throws Error(input) with VTK's reason.
  explicit VtkGrid(const std::filesystem::path& path);
  ~VtkGrid();
  VtkGrid(const VtkGrid&) = delete;
  VtkGrid& operator=(const VtkGrid&) = delete;

  [[nodiscard]] std::int64_t points() const;
  [[nodiscard]] std::int64_t cells() const;
  /// Corners of all cells together.
  [[nodiscard]] std::int64_t corners() const;
  [[nodiscard]] const std::vector<Array>& point_arrays() const;
  [[nodiscard]] const std::vector<Array>& cell_arrays() const;

  // Each copies its part to where there is room for it, and gives VTK's own back; once only.
  void take_points(double* to);
  void take_kinds(std::uint8_t* to);
  /// One more than cells; their end is corners().
  void take_offsets(std::int64_t* to);
  void take_corners(std::int64_t* to);
  void take_point_array(std::size_t which, void* to);
  void take_cell_array(std::size_t which, void* to);

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

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
