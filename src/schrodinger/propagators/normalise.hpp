// Eigenvectors become wave functions.
#pragma once

#include <heddle/schrodinger/eigenstates.hpp>

namespace heddle::impl {

/// Vectors of 2-norm 1 with sum phi^2 dx = 1 instead, and the sign that lowest_eigenstates() promises.
void normalise(const schrodinger::Grid& grid, schrodinger::Eigenstates& states);

}  // namespace heddle::impl
