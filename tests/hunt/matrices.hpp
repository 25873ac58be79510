// Square matrices that functions of matrices and eigensolvers find hard.
#pragma once

#include "hunt/case.hpp"

namespace heddle::hunt {

/// With parts in [-1, 1).
[[nodiscard]] Value entry(Random& random, Type type);
/// Each element an entry().
void fill_random(Random& random, Type type, Array& A);
/// Each element to the nearest number of the type.
void round_to(Type type, Array& A);

/// Any matrix: random, graded, Kahan's, Forsythe's, companions, chains, Jordan blocks, nilpotent, circulant,
/// triangular,
/// [[0, x], [1/x, 0]] and its like, near-defective, block diagonal, scaled by D . D^-1, Hermitian and skew-Hermitian;
/// its 1-norm mostly between 1e-3 and `largest`.
void fill_general(Random& random, Type type, Array& A, double largest);

/// Hermitian: random, of a given spectrum (clustered, repeated, of rank one), graded D H D with D over the range of the
/// type, Hilbert's, Wilkinson's, arrows, blocks, diagonals with ties, tiny elements off the diagonal.
void fill_hermitian(Random& random, Type type, Array& A);
/// Such matrices of 1 to 5 rows each, some of them the same one, whose rows are dealt out in a random order; all of
/// them graded and positive definite in half of the drawings.
void fill_hermitian_parts(Random& random, Type type, Array& A);

/// Rectangular: random, graded by columns or rows over the range of the type, of few different columns or rows, of rank
/// one, signed permutations, any mood; square ones as fill_general() has them, too. Anywhere in the range.
void fill_rectangle(Random& random, Type type, Array& A);

}  // namespace heddle::hunt
