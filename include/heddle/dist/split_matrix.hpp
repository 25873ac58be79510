// A complex matrix that is kept as two real ones.
#pragma once

#include <heddle/dist/matrix.hpp>

#include <optional>

namespace heddle {

/// A complex matrix X = real + i imaginary. Its parts may have different placements, on one communicator. A part that
/// is left out is exactly zero and costs nothing.
template <RealScalar T> struct SplitMatrix {
  std::optional<DistributedMatrix<T>> real;
  std::optional<DistributedMatrix<T>> imaginary;
};

/// The real and imaginary parts of a complex matrix, both in its placement. Does not block.
template <RealScalar T> [[nodiscard]] SplitMatrix<T> split(const DistributedMatrix<Kokkos::complex<T>>& A);

/// Copies the parts into A; a part in another placement than A's is redistributed. Blocks.
template <RealScalar T> void join(const SplitMatrix<T>& parts, const DistributedMatrix<Kokkos::complex<T>>& A);

}  // namespace heddle
