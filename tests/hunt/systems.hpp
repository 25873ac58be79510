// Linear systems that eliminations find hard.
#pragma once

#include "hunt/case.hpp"
#include "hunt/operation.hpp"
#include <heddle/solve/lu.hpp>

#include <string>
#include <vector>

namespace heddle::hunt {

/// m x n: random, graded by powers of two along rows and columns, near singular, of low rank, Hilbert's, Vandermonde's,
/// Wilkinson's with its growth, with equal pivots, equal rows and columns, zeros, denormals, the largest numbers, and
/// products of triangles of small whole numbers, of which every step is exact.
void fill_system(Random& random, Type type, Array& A);
/// Hermitian, mostly positive definite: dominant diagonals, graded ones, Hilbert's, products L L^H of small whole
/// numbers with and without zeros on the diagonal, and those of fill_hermitian(), which need not be definite.
void fill_definite(Random& random, Type type, Array& A);
/// Rows and columns times powers of two, up to 2^most either way; with `alike`, both by the same ones.
void scale_by_powers(Random& random, Type type, Array& A, int most, bool alike);

/// An order: mostly small, now and then one at which native products are calls of the BLAS.
Index system_order(Random& random, Index most);
/// Block, group and arithmetic, and placements of the arrays that are named.
void add_solve_knobs(Random& random, Case& one, const std::vector<std::string>& placed);
LuOptions lu_options_of(const Case& one);
/// Whether products are emulated, which promises the same bits on one thread too.
[[nodiscard]] bool emulates(const Case& one);
[[nodiscard]] const Communicator& one_rank(const World& world, const Case& one);
[[nodiscard]] const char* same_bits_on_one(const Case& one);

}  // namespace heddle::hunt
