// Matrices for tests: reproducible entries by global index, and comparisons of whole matrices.
#pragma once

#include <heddle/core/random.hpp>
#include <heddle/dist/matrix.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <utility>

namespace heddle::test {

/// The communicator of the whole job, one for a test program.
inline Communicator world() {
  return Communicator(MPI_COMM_WORLD);
}

/// A number in (-1, 1) with all its digits in use, from two indices and a seed.
KOKKOS_INLINE_FUNCTION double random_number(Index i, Index j, int seed) {
  return unit_from(mixed_bits(static_cast<std::uint64_t>(i) * golden_step +
                              static_cast<std::uint64_t>(j) * 0xD1B54A32D192ED03ULL +
                              static_cast<std::uint64_t>(seed) * 0x8CB92BA72F3D8DD7ULL));
}

template <Scalar T> struct RandomEntries {
  int seed;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    if constexpr (is_complex<T>) {
      return T(static_cast<Real<T>>(random_number(i, j, seed)), static_cast<Real<T>>(random_number(j, i, seed + 1000)));
    } else {
      return static_cast<T>(random_number(i, j, seed));
    }
  }
};

/// Entries of a real symmetric matrix.
struct SymmetricEntries {
  int seed;
  KOKKOS_INLINE_FUNCTION double operator()(Index i, Index j) const {
    return random_number(i < j ? i : j, i < j ? j : i, seed);
  }
};

template <Scalar T> DistributedMatrix<T> random_matrix(const Communicator& comm, const Placement& placement, int seed) {
  DistributedMatrix<T> matrix(comm, placement, "random");
  fill(matrix, RandomEntries<T>{seed});
  return matrix;
}

/// On the host, element by element.
template <Scalar T, class Entry> HostMatrix<T> host_matrix(Index rows, Index columns, const Entry& entry) {
  HostMatrix<T> matrix("heddle::test::host", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) matrix(i, j) = entry(i, j);
  }
  return matrix;
}
template <Scalar T> HostMatrix<T> host_random(Index rows, Index columns, int seed) {
  return host_matrix<T>(rows, columns, RandomEntries<T>{seed});
}

/// The matrix on the device, inside a larger one: a leading dimension of its own.
template <Scalar T> MatrixView<T> padded_on_device(const HostMatrix<T>& host) {
  const LocalMatrix<T> parent("heddle::test::parent", host.extent(0) + 3, host.extent(1));
  const auto mirror = Kokkos::create_mirror_view(parent);
  for (std::size_t j = 0; j < host.extent(1); ++j) {
    for (std::size_t i = 0; i < host.extent(0); ++i) mirror(i + 2, j) = host(i, j);
  }
  Kokkos::deep_copy(parent, mirror);
  return Kokkos::subview(parent, std::pair<std::size_t, std::size_t>(2, 2 + host.extent(0)), Kokkos::ALL);
}
template <Scalar T> HostMatrix<T> to_host(const MatrixView<T>& view) {
  const LocalMatrix<T> dense("heddle::test::dense", view.extent(0), view.extent(1));
  Kokkos::deep_copy(dense, view);
  HostMatrix<T> host("heddle::test::host", view.extent(0), view.extent(1));
  Kokkos::deep_copy(host, dense);
  return host;
}

template <class T> struct OnesBut {
  Index row;
  Index column;
  T element;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const { return i == row && j == column ? element : T(1); }
};
/// Ones, but for one element.
template <Scalar T> void fill_ones_but(const DistributedMatrix<T>& A, Index row, Index column, T element) {
  fill(A, OnesBut<T>{row, column, element});
}

using Complex = std::complex<double>;

/// A number in T, the imaginary part left out where T is real; and a number of T in double precision.
template <Scalar T> T narrow(const Complex& value) {
  if constexpr (is_complex<T>) {
    return T(static_cast<Real<T>>(value.real()), static_cast<Real<T>>(value.imag()));
  } else {
    return static_cast<T>(value.real());
  }
}
template <Scalar T> Complex widen(const T& value) {
  return {static_cast<double>(Kokkos::real(value)), static_cast<double>(Kokkos::imag(value))};
}

/// Whether all elements are the same bits.
template <Scalar T> bool same_bits(const HostMatrix<T>& left, const HostMatrix<T>& right) {
  if (left.extent(0) != right.extent(0) || left.extent(1) != right.extent(1)) {
    return false;
  }
  for (std::size_t j = 0; j < left.extent(1); ++j) {
    if (left.extent(0) > 0 && std::memcmp(&left(0, j), &right(0, j), left.extent(0) * sizeof(T)) != 0) {
      return false;
    }
  }
  return true;
}

/// Placements to go through: whole on any rank, both bands, cyclic over every grid of the ranks, ragged blocks, grids
/// numbered along columns and begun in their middle.
inline std::vector<Placement> placements_of(Index rows, Index columns, int ranks) {
  std::vector<Placement> placements;
  placements.reserve(3 * static_cast<std::size_t>(ranks) + 3);
  for (int rank = 0; rank < ranks; ++rank) {
    placements.push_back(Placement::on_rank(rows, columns, rank));
  }
  placements.push_back(Placement::row_bands(rows, columns, ranks));
  placements.push_back(Placement::column_bands(rows, columns, ranks));
  placements.push_back(Placement::row_bands(rows, columns, ranks).in(Residence::host));
  for (int height = 1; height <= ranks; ++height) {
    placements.push_back(Placement::block_cyclic(rows, columns, 3, 5, height, ranks / height));
    placements.push_back(Placement::block_cyclic(rows, columns, 7, 2, height, ranks / height, ranks % height)
                             .in_order(GridOrder::column_major)
                             .begun_at(height / 2, ranks / height / 2));
  }
  return placements;
}

using AllScalars = ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;

}  // namespace heddle::test
