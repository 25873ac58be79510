// Meshes and what tests say about them.
#pragma once

#include "io/temporary_folder.hpp"
#include <heddle/io/mesh_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace heddle::test {

using HostMesh = MeshFile::HostMesh;

inline constexpr std::array all_encodings = {MeshEncoding::ascii, MeshEncoding::binary, MeshEncoding::compressed};

/// A file of tests/io/data, as "gmsh/block-2.2.msh".
inline std::filesystem::path mesh_data(const std::string& name) {
  return std::filesystem::path(HEDDLE_MESH_DATA) / name;
}

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

template <class T> Kokkos::View<T*, Kokkos::HostSpace> list(const std::vector<T>& values) {
  Kokkos::View<T*, Kokkos::HostSpace> view("heddle::test::list", values.size());
  std::copy(values.begin(), values.end(), view.data());
  return view;
}

/// An array of so many components a tuple.
template <class T> MeshArray array(const std::string& name, const std::vector<T>& values, std::size_t components = 1) {
  const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> view("heddle::test::array",
                                                                       values.size() / components, components);
  std::copy(values.begin(), values.end(), view.data());
  return {name, ArrayValues<T>(view)};
}

inline MeshFile::Points points(const std::vector<std::array<double, 3>>& rows) {
  const MeshFile::Points::non_const_type view("heddle::test::points", rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) view(i, axis) = rows[i][axis];
  }
  return view;
}

inline HostMesh mixed_mesh(const std::vector<CellKind>& kinds, const std::vector<std::vector<Index>>& cells) {
  HostMesh mesh;
  std::vector<Index> offsets = {0};
  std::vector<Index> corners;
  for (const auto& cell : cells) {
    corners.insert(corners.end(), cell.begin(), cell.end());
    offsets.push_back(static_cast<Index>(corners.size()));
  }
  mesh.kinds = list(kinds);
  mesh.offsets = list(offsets);
  mesh.points = list(corners);
  return mesh;
}

inline CellKind kind_of(const HostMesh& mesh, Index cell) {
  return mesh.mixed() ? mesh.kinds(cell) : mesh.kind;
}

inline std::vector<Index> corners(const HostMesh& mesh, Index cell) {
  const Index begin = mesh.mixed() ? mesh.offsets(cell) : cell * corners_of(mesh.kind);
  const Index* const first = mesh.points.data() + begin;
  return {first, first + corners_of(kind_of(mesh, cell))};
}

inline const MeshArray* find(const std::vector<MeshArray>& arrays, const std::string& name) {
  for (const MeshArray& array : arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

/// The array's values, which must be of type T; a test fails where there is no such array.
template <class T> std::vector<T> values(const std::vector<MeshArray>& arrays, const std::string& name) {
  const MeshArray* const array = find(arrays, name);
  const auto* const view = array == nullptr ? nullptr : std::get_if<ArrayValues<T>>(&array->values);
  if (view == nullptr) {
    ADD_FAILURE() << "no array " << name << " of that type";
    return {};
  }
  return {view->data(), view->data() + view->size()};
}

inline void expect_same_arrays(const std::vector<MeshArray>& one, const std::vector<MeshArray>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (const MeshArray& array : one) {
    const MeshArray* const same = find(other, array.name);
    ASSERT_NE(same, nullptr) << array.name;
    ASSERT_EQ(array.values.index(), same->values.index()) << array.name;
    ASSERT_EQ(array.size(), same->size()) << array.name;
    ASSERT_EQ(array.components(), same->components()) << array.name;
    std::visit(
        [&](const auto& view) {
          const auto& theirs = std::get<std::remove_cvref_t<decltype(view)>>(same->values);
          for (std::size_t i = 0; i < view.size(); ++i) EXPECT_EQ(view.data()[i], theirs.data()[i]) << array.name;
        },
        array.values);
  }
}

/// Cells, corners and marks equal, and coordinates to within `tolerance`.
inline void expect_same_mesh(const MeshFile& one, const MeshFile& other, double tolerance = 0) {
  ASSERT_EQ(one.mesh().cells(), other.mesh().cells());
  ASSERT_EQ(one.mesh().mixed(), other.mesh().mixed());
  for (Index cell = 0; cell < one.mesh().cells(); ++cell) {
    ASSERT_EQ(kind_of(one.mesh(), cell), kind_of(other.mesh(), cell)) << cell;
    ASSERT_EQ(corners(one.mesh(), cell), corners(other.mesh(), cell)) << cell;
  }
  ASSERT_EQ(one.mesh().ghosts.extent(0), other.mesh().ghosts.extent(0));
  for (std::size_t i = 0; i < one.mesh().ghosts.extent(0); ++i) {
    EXPECT_EQ(one.mesh().ghosts(i), other.mesh().ghosts(i));
  }
  ASSERT_EQ(one.points().extent(0), other.points().extent(0));
  for (std::size_t i = 0; i < one.points().extent(0); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      ASSERT_NEAR(one.points()(i, axis), other.points()(i, axis), tolerance) << i;
    }
  }
}

inline void expect_same(const MeshFile& one, const MeshFile& other) {
  expect_same_mesh(one, other);
  expect_same_arrays(one.point_arrays(), other.point_arrays());
  expect_same_arrays(one.cell_arrays(), other.cell_arrays());
}

/// The Error(input) that reading gives, without the file's name before it.
inline std::string refusal(const std::filesystem::path& path) {
  const Error error = error_of([&] { static_cast<void>(MeshFile::read(path)); });
  EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
  const std::string text = error.what();
  EXPECT_EQ(text.substr(0, path.string().size()), path.string());
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  return text.substr(std::min(text.size(), path.string().size()));
}

}  // namespace heddle::test
