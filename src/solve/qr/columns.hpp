// Scaling of the columns of one rank's matrix by powers of two.
#pragma once

#include "core/elementwise.hpp"
#include <heddle/dist/placement.hpp>

namespace heddle::impl {

/// Divides each column whose largest part is x, with 2^(e - 1) <= x < 2^e and |e| > `bearable`, by 2^e, and enters e in
/// `powers`; other columns, and those of zeros or with an element that is not finite, have power 0. Ordered on `space`,
/// does not block on GPUs.
template <Scalar T>
void scale_columns(const ExecutionSpace& space, const MatrixView<T>& A, int bearable,
                   const Kokkos::View<double*, MemorySpace>& powers);
/// Reverses it in rows 0 to global(j) of column j, global(j) being its global index.
template <Scalar T>
void scale_triangle_back(const ExecutionSpace& space, const MatrixView<T>& A, const CyclicAxis& columns, int rank,
                         const Kokkos::View<double*, MemorySpace>& powers);

}  // namespace heddle::impl
