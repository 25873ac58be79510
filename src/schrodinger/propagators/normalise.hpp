// Conversion of eigenvectors to wave functions.
#pragma once

#include <heddle/schrodinger/eigenstates.hpp>

namespace heddle::impl {

/// Scale vectors of 2-norm 1 to sum phi^2 dx = 1, and give them the sign of lowest_eigenstates().
void normalise(const schrodinger::Grid& grid, schrodinger::Eigenstates& states);

}  // namespace heddle::impl
