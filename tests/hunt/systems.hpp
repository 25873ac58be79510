// Linear systems that eliminations find hard.
#pragma once

#include "hunt/case.hpp"
#include "hunt/operation.hpp"
#include <heddle/solve/solve.hpp>

#include <string>
#include <vector>

namespace heddle::hunt {

/// Fill A with an m x n matrix: random, graded by powers of two along rows and columns, near singular, of low rank,
/// Hilbert's, Vandermonde's, Wilkinson's with its growth, with equal pivots, equal rows and columns, zeros, denormals,
/// the largest numbers, and products of triangles of small integers, for which every step is exact.
void fill_system(Random& random, Type type, Array& A);
/// Fill A with a Hermitian, mostly positive definite matrix: dominant diagonals, graded ones, Hilbert's, products L L^H
/// of small integers with and without zeros on the diagonal, and those of fill_hermitian(), which need not be definite.
void fill_definite(Random& random, Type type, Array& A);
/// Multiply rows and columns by powers of two, from 2^-most to 2^most; with `alike`, by the same powers.
void scale_by_powers(Random& random, Type type, Array& A, int most, bool alike);

/// Return an order: mostly small, sometimes large enough for native products to call the BLAS.
Index system_order(Random& random, Index most);
/// Add block, group and arithmetic, and placements of the named arrays.
void add_solve_knobs(Random& random, Case& one, const std::vector<std::string>& placed);
FactorOptions lu_options_of(const Case& one);
/// Return Rounding::correct for a knob "rounded" that is set.
[[nodiscard]] Rounding rounding_of(const Case& one);
/// Return whether products are emulated, which promises the same bits on one thread too.
[[nodiscard]] bool emulates(const Case& one);
[[nodiscard]] const Communicator& one_rank(const World& world, const Case& one);
[[nodiscard]] const char* same_bits_on_one(const Case& one);

}  // namespace heddle::hunt
