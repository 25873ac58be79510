// Square matrices that functions of matrices and eigensolvers find hard.
#pragma once

#include "hunt/case.hpp"

namespace heddle::hunt {

/// Return a number with parts in [-1, 1).
[[nodiscard]] Value entry(Random& random, Type type);
/// Set each element to an entry().
void fill_random(Random& random, Type type, Array& A);
/// Round each element to the nearest number of the type.
void round_to(Type type, Array& A);

/// Fill A with any matrix: random, graded, Kahan's, Forsythe's, companions, chains, Jordan blocks, nilpotent,
/// circulant, triangular, [[0, x], [1/x, 0]] and similar, near-defective, block diagonal, scaled by D . D^-1, Hermitian
/// and skew-Hermitian; its 1-norm mostly between 1e-3 and `largest`.
void fill_general(Random& random, Type type, Array& A, double largest);

/// Fill A with a Hermitian matrix: random, of a given spectrum (clustered, repeated, of rank one), graded D H D with D
/// over the range of the type, Hilbert's, Wilkinson's, arrows, blocks, diagonals with ties, tiny elements off the
/// diagonal.
void fill_hermitian(Random& random, Type type, Array& A);
/// Fill A with Hermitian blocks of 1 to 5 rows each, some of them equal, with rows in a random order; in half of the
/// drawings all blocks are graded and positive definite.
void fill_hermitian_parts(Random& random, Type type, Array& A);

/// Fill A with a rectangular matrix: random, graded by columns or rows over the range of the type, of few different
/// columns or rows, of rank one, signed permutations, any mood; square ones also by fill_general(). Its size is
/// anywhere in the range.
void fill_rectangle(Random& random, Type type, Array& A);

}  // namespace heddle::hunt
