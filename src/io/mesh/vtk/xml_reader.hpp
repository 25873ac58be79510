// Parts that VTK's XML files of all kinds of meshes share: pieces, arrays on points and cells, and points.
#pragma once

#include "io/matrix/text_reader.hpp"
#include "io/mesh/mesh_parts.hpp"
#include "io/mesh/vtk/vtu_data.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace heddle::impl {

/// A number as another type; what that can't hold becomes -1, which is no point, offset or kind.
template <class Number> Index index_from(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    return value >= 0 && value < Number(0x1p62) && value == std::floor(value) ? static_cast<Index>(value) : -1;
  } else {
    return std::in_range<Index>(value) ? static_cast<Index>(value) : -1;
  }
}

class XmlReader {
 public:
  /// Reads the structure of a file whose dataset is, as UnstructuredGrid, of that name.
  XmlReader(const std::filesystem::path& path, const std::string& dataset)
      : path_(path), grid_(read_xml_grid(path, dataset)), data_(path, grid_) {}

  /// One array of one piece.
  struct Found {
    ElementType type = ElementType::int8;
    VtuData::Place place;
  };

  [[nodiscard]] const std::vector<XmlPiece>& pieces() const noexcept { return grid_.pieces; }
  [[nodiscard]] const XmlElement& element() const noexcept { return grid_.grid; }

  /// Throws Error(input).
  template <class... Parts> [[noreturn]] void refuse(const Parts&... parts) const {
    throw Error(ErrorKind::input, message_of(path_.string(), ": can't be read: ", parts...));
  }
  /// The same without "can't be read": for what is read, but is no mesh.
  void require_right(const std::string& wrong) const {
    if (!wrong.empty()) throw Error(ErrorKind::input, message_of(path_.string(), ": ", wrong));
  }

  /// A piece's attribute that is a number of things.
  [[nodiscard]] Index count_of(const XmlPiece& piece, const char* name) const;
  /// The arrays that all pieces have in the element `list`, each read piece after piece: so many tuples of each.
  [[nodiscard]] std::vector<MeshArray> read_arrays(const char* of, const char* list, const std::vector<Index>& tuples);
  /// The points of all pieces, of which each has so many.
  [[nodiscard]] NewPoints read_points(const std::vector<Index>& counts);

  /// An array of one number a tuple; refused where there is none.
  [[nodiscard]] Found find_numbers(std::size_t piece, const char* list, const char* name);
  [[nodiscard]] bool has(std::size_t piece, const char* list, const char* name) const;
  [[nodiscard]] static bool may_hold(const Found& found, Index tuples, Index components);
  /// Numbers of any type, each handed to `take` with its place; false where there are fewer.
  template <class Take> bool read_as(const Found& found, Index count, const Take& take) {
    return with_type(found.type, [&](auto number) {
      std::vector<decltype(number)> values(static_cast<std::size_t>(count));
      if (!data_.read(found.place, found.type, static_cast<std::uint64_t>(count), values.data())) return false;
      for (std::size_t i = 0; i < values.size(); ++i) take(i, values[i]);
      return true;
    });
  }
  /// A list of whole numbers of that name, behind `first` of its own; refused where the file has no room for it.
  [[nodiscard]] Kokkos::View<Index*, Kokkos::HostSpace> read_list(std::size_t piece, const char* list, const char* name,
                                                                  Index count, Index room_before = 0);
  /// Ends of runs, with the 0 that the first begins with; refused where they don't grow.
  [[nodiscard]] Kokkos::View<Index*, Kokkos::HostSpace> read_ends(std::size_t piece, const char* list, const char* name,
                                                                  Index count);

 private:
  [[nodiscard]] Index components_of(const XmlElement& array, const std::string& what) const;
  [[nodiscard]] ElementType type_of(const XmlElement& array, const std::string& what) const;
  [[nodiscard]] MeshArray read_array(const XmlElement& first, const char* of, const char* list,
                                     const std::vector<Index>& tuples);
  [[nodiscard]] bool before_version_2() const;

  std::filesystem::path path_;
  XmlGrid grid_;
  VtuData data_;
};

/// The sum of the first `end`; of sizes that the file can hold, none overflows.
[[nodiscard]] Index sum_of(const std::vector<Index>& counts, std::size_t end);
[[nodiscard]] inline Index sum_of(const std::vector<Index>& counts) {
  return sum_of(counts, counts.size());
}

/// read(), with what it throws beside Error as Error(input): all that a file says that it holds may be more than this
/// machine does.
template <class Read> MeshParts read_with_room(const std::filesystem::path& path, const Read& read) {
  try {
    return read();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorKind::input, message_of(path.string(), ": can't be read: it announces what there is no room for (",
                                             printable(error.what()), ")"));
  }
}

}  // namespace heddle::impl
