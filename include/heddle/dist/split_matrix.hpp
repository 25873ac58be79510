// A complex matrix kept as two real ones.
#pragma once

#include <heddle/dist/matrix.hpp>

#include <optional>

namespace heddle {

/// X = real + i imaginary. The parts may have different placements, on one communicator. A part left out is exactly
/// zero and costs nothing.
template <RealScalar T> struct SplitMatrix {
  std::optional<DistributedMatrix<T>> real;
  std::optional<DistributedMatrix<T>> imaginary;
};

/// Parts of a complex matrix, both in its placement. Does not block.
template <RealScalar T> [[nodiscard]] SplitMatrix<T> split(const DistributedMatrix<Kokkos::complex<T>>& A);

/// A = parts, which are redistributed where their placement is another. Blocks.
template <RealScalar T> void join(const SplitMatrix<T>& parts, const DistributedMatrix<Kokkos::complex<T>>& A);

}  // namespace heddle
