// Checks of factors and pivots given as arguments.
#pragma once

#include "solve/grid/placed_matrix.hpp"
#include <heddle/solve/lu.hpp>

namespace heddle::impl {

/// Throws Error(argument) for factors that are not square, and for pivots that can't belong to them.
template <Scalar T> void require_factors(const char* of, const PlacedMatrix<T>& LU, const LuReport& factors) {
  require_square(of, "LU", LU);
  require(static_cast<Index>(factors.pivots.size()) == LU.rows(), of, ": ", factors.pivots.size(), " pivots; expected ",
          LU.rows());
  for (std::size_t k = 0; k < factors.pivots.size(); ++k) {
    require(factors.pivots[k] >= static_cast<Index>(k) && factors.pivots[k] < LU.rows(), of, ": pivot ", k, " is ",
            factors.pivots[k], "; expected ", k, " to ", LU.rows() - 1);
  }
}

}  // namespace heddle::impl
