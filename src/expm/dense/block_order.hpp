// The order of indices in which a reducible matrix is block upper triangular.
#pragma once

#include "expm/arithmetic/complex_arithmetic.hpp"

#include <vector>

namespace heddle::impl {

/// Return an order in which A is block upper triangular: a_ij with i = order[k], j = order[l] is zero if the block of k
/// comes after that of l. Blocks are the strongly connected components of the graph of A's nonzero elements, so that
/// none can be divided further, and so are those of every polynomial of A. Empty if A has that form already or is
/// irreducible.
///
/// A in row bands. The same on all ranks. Collective; blocks for one pass over A. Memory: two bits for each element of
/// A on the host of every rank; time: at most a few steps for each nonzero element on the host. Source: R. Tarjan,
/// Depth-first search and linear graph algorithms (1972).
template <RealScalar T> [[nodiscard]] std::vector<Index> block_order(const Communicator& comm, const Parts<T>& A);

/// B with b_kl = x_(order[k], order[l]), in row bands, for X in row bands. Collective; blocks.
template <RealScalar T>
[[nodiscard]] WorkParts<T> reordered(const Communicator& comm, ComplexArithmetic<T>& arithmetic, const Parts<T>& X,
                                     const std::vector<Index>& order);

/// The order that undoes `order`.
[[nodiscard]] std::vector<Index> inverse_of(const std::vector<Index>& order);

}  // namespace heddle::impl
