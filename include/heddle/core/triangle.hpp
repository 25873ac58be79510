// The triangle of a matrix, as in level-3 BLAS.
#pragma once

namespace heddle {

/// Which triangle of a matrix is read.
enum class Triangle { lower, upper };
/// Whether the diagonal of a triangular matrix is taken as ones and not read, or is the stored one.
enum class Diagonal { unit, stored };

}  // namespace heddle
