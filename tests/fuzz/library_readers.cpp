// Fuzzing targets for the library's readers.
#include "attempt.hpp"
#include <heddle/io/hdf5.hpp>
#include <heddle/io/matrix_file.hpp>
#include <heddle/io/matrix_market.hpp>
#include <heddle/io/mesh_file.hpp>
#include <heddle/io/npy.hpp>
#include <heddle/io/text_list.hpp>
#include <heddle/io/text_matrix.hpp>

#include <array>
#include <cmath>

namespace heddle::test {

namespace {

using std::filesystem::path;

// One rank is enough: the others see nothing of the file. Never destroyed, since MPI and Kokkos end before that.
const Communicator& alone() {
  static const Communicator& comm = *new Communicator(MPI_COMM_SELF);
  return comm;
}

// Placement of a matrix; large ones are refused. A file of a few bytes may be one of many zeros, or of none at all.
Placement place(const path& file, Index rows, Index columns) {
  constexpr Index most = 1 << 20;
  if (rows > most || columns > most || rows * columns > most) {
    throw Error(ErrorKind::input, file.string() + ": larger than this test takes");
  }
  return Placement::on_rank(rows, columns, 0);
}

template <Scalar T> void expect_finite(const DistributedMatrix<T>& A) {
  const HostMatrix<T> local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.local());
  for (std::size_t j = 0; j < local.extent(1); ++j) {
    for (std::size_t i = 0; i < local.extent(0); ++i) {
      if constexpr (is_complex<T>) {
        expect(std::isfinite(local(i, j).real()) && std::isfinite(local(i, j).imag()), "an element is not finite");
      } else {
        expect(std::isfinite(local(i, j)), "an element is not finite");
      }
    }
  }
}

// As T: what is read has the shape that the file was said to have, and real files are read by all.
template <Scalar T, class Info, class Read>
void read_matrix_as(const path& file, const Info& info_of, const Read& read, bool finite) {
  MatrixFileInfo info;
  const bool has_info = done(file, [&] { info = info_of(); });
  done(file, [&] {
    const DistributedMatrix<T> A = read(T(), [&](Index rows, Index columns) { return place(file, rows, columns); });
    expect(has_info, "a matrix was read of a file that has no shape");
    expect(A.rows() == info.rows && A.columns() == info.columns, "a matrix has another shape than its file");
    expect(is_complex<T> || !info.complex, "a complex file was read into a real matrix");
    if (finite) expect_finite(A);
  });
}

template <class Info, class Read>
void read_matrices(const path& file, const Info& info, const Read& read, bool finite) {
  read_matrix_as<double>(file, info, read, finite);
  read_matrix_as<Kokkos::complex<float>>(file, info, read, finite);
  done(file, [&] {
    const auto terms =
        read_matrix_terms<float>(alone(), file, [&](Index rows, Index columns) { return place(file, rows, columns); });
    expect(!terms.empty(), "no terms");
  });
}

void read_matrix_market_file(const path& file) {
  read_matrices(
      file, [&] { return matrix_market_info(alone(), file); },
      [&]<Scalar T>(T, const PlacementChoice& placed) { return read_matrix_market<T>(alone(), file, placed); }, true);
}

void read_text_matrix_file(const path& file) {
  read_matrices(
      file, [&] { return text_matrix_info(alone(), file); },
      [&]<Scalar T>(T, const PlacementChoice& placed) { return read_text_matrix<T>(alone(), file, placed); }, true);
}

void read_hdf5_file(const path& file) {
  read_matrices(
      file, [&] { return hdf5_info(alone(), file); },
      [&]<Scalar T>(T, const PlacementChoice& placed) { return read_hdf5<T>(alone(), file, placed); }, false);
}

void read_npy_file(const path& file) {
  read_matrices(
      file, [&] { return npy_info(alone(), file); },
      [&]<Scalar T>(T, const PlacementChoice& placed) { return read_npy<T>(alone(), file, placed); }, false);
}

template <Scalar T> void read_list_as(const path& file) {
  done(file, [&] {
    const DistributedMatrix<T> A =
        read_text_list<T>(alone(), file, [&](Index rows, Index columns) { return place(file, rows, columns); });
    expect(A.columns() == 1, "a list is not one column");
    expect_finite(A);
    const auto terms =
        read_text_list_terms<T>(alone(), file, [&](Index rows, Index columns) { return place(file, rows, columns); });
    expect(terms.front().rows() == A.rows(), "terms of a list have another length");
  });
}

void read_text_list_file(const path& file) {
  read_list_as<double>(file);
  read_list_as<Kokkos::complex<float>>(file);
}

void read_mesh(const path& file) {
  done(file, [&] {
    const MeshFile mesh = MeshFile::read(file);
    try {
      static_cast<void>(MeshFile(mesh.mesh(), mesh.points(), mesh.point_arrays(), mesh.cell_arrays(), mesh.polyhedra(),
                                 mesh.nodes()));
    } catch (const Error& error) {
      fail(std::string("what was read is no mesh: ") + error.what());
    }
  });
}

}  // namespace

std::span<const Reader> library_readers() {
  static constexpr std::array readers = {
      Reader{"matrix_market", ".mtx", read_matrix_market_file},
      Reader{"text_matrix", ".txt", read_text_matrix_file},
      Reader{"text_list", ".dat", read_text_list_file},
      Reader{"hdf5", ".h5", read_hdf5_file},
      Reader{"npy", ".npy", read_npy_file},
      Reader{"gmsh", ".msh", read_mesh},
      Reader{"stl", ".stl", read_mesh},
      Reader{"ply", ".ply", read_mesh},
      Reader{"vtk_xml", ".vtu", read_mesh},
      Reader{"vtk_polygons", ".vtp", read_mesh},
      Reader{"vtk_image", ".vti", read_mesh},
      Reader{"vtk_legacy", ".vtk", read_mesh},
  };
  return readers;
}

}  // namespace heddle::test
