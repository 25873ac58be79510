// Reader of VTK's XML image files (.vti).
#include "io/mesh/structured.hpp"
#include "io/mesh/vtk/vtu_mesh.hpp"
#include "io/mesh/vtk/xml_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace heddle::impl {

namespace {

class VtiReader {
 public:
  explicit VtiReader(const std::filesystem::path& path) : file_(path, "ImageData") {}

  MeshParts read() {
    if (file_.pieces().size() != 1) {
      file_.require_right(message_of("has ", file_.pieces().size(), " pieces, where an image in one is expected"));
    }
    const XmlElement& piece = file_.pieces().front().element;
    const auto extent = numbers<Index, 6>(piece.find("Extent") == nullptr ? file_.element() : piece,
                                          piece.find("Extent") == nullptr ? "WholeExtent" : "Extent", nullptr);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      first_[axis] = extent[2 * axis];
      // An image without points has a last number before the first.
      const bool small = first_[axis] > -most_along && first_[axis] < most_along && extent[2 * axis + 1] < most_along;
      if (!small) file_.refuse("an extent of ", first_[axis], " to ", extent[2 * axis + 1], " is beyond ", most_along);
      points_[axis] = std::max<Index>(0, extent[2 * axis + 1] - first_[axis] + 1);
    }
    const Index points = points_in(points_);
    const Index cells = cells_in(points_);
    MeshParts parts;
    parts.point_arrays = file_.read_arrays("point", "PointData", {points});
    parts.cell_arrays = file_.read_arrays("cell", "CellData", {cells});
    // A point without any array takes no byte of the file: there are limits to what one may announce.
    if (points > most_without_arrays && parts.point_arrays.empty() && parts.cell_arrays.empty()) {
      file_.refuse("an image of ", points, " points without any array, where at most ", most_without_arrays,
                   " are taken");
    }
    parts.points = places(points);
    file_.require_right(set_cells(parts, grid_cells(points_, false)));
    return parts;
  }

 private:
  // Numbers of an attribute; `otherwise` if it is missing, or a refusal if no `otherwise` is given.
  template <class Number, std::size_t size>
  std::array<Number, size> numbers(const XmlElement& element, const char* name,
                                   const std::array<Number, size>* otherwise) const {
    const std::string* const text = element.find(name);
    if (text == nullptr && otherwise != nullptr) return *otherwise;
    std::array<Number, size> values{};
    std::string_view rest = text == nullptr ? std::string_view() : *text;
    bool right = text != nullptr;
    for (Number& value : values) {
      right = right && number_from(next_word(rest), value) == NumberFault::none;
      if constexpr (std::is_floating_point_v<Number>) right = right && std::isfinite(value);
    }
    if (!right || !next_word(rest).empty()) {
      file_.refuse(name, " is ", impl::quoted(text == nullptr ? "" : *text), ", where ", size, " numbers are expected");
    }
    return values;
  }

  // Origin + direction (index * spacing).
  [[nodiscard]] NewPoints places(Index count) const {
    constexpr std::array<double, 3> zeros = {};
    constexpr std::array<double, 3> ones = {1, 1, 1};
    constexpr std::array<double, 9> axes = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const auto origin = numbers<double, 3>(file_.element(), "Origin", &zeros);
    const auto spacing = numbers<double, 3>(file_.element(), "Spacing", &ones);
    const auto direction = numbers<double, 9>(file_.element(), "Direction", &axes);
    const NewPoints points = host_points(count);
    for (Index point = 0; point < count; ++point) {
      const std::array<Index, 3> at = {point % points_[0], point / points_[0] % points_[1],
                                       point / points_[0] / points_[1]};
      for (std::size_t row = 0; row < 3; ++row) {
        double sum = origin[row];
        for (std::size_t axis = 0; axis < 3; ++axis) {
          sum += direction[3 * row + axis] * (static_cast<double>(first_[axis] + at[axis]) * spacing[axis]);
        }
        points(point, row) = sum;
      }
    }
    return points;
  }

  XmlReader file_;
  std::array<Index, 3> first_{};
  GridPoints points_{};
};

}  // namespace

MeshParts read_vti(const std::filesystem::path& path) {
  return read_with_room(path, [&] { return VtiReader(path).read(); });
}

}  // namespace heddle::impl
