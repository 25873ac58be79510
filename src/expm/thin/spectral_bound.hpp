// A bound of the spectrum of a Hermitian matrix.
#pragma once

#include "expm/arithmetic/parts.hpp"

namespace heddle::impl {

/// A number that very probably bounds ||A||_2 for Hermitian A in row bands: Ritz values and residuals of 10 Lanczos
/// steps from a fixed random vector (Y. Zhou, R.-C. Li, Linear Algebra Appl. 435 (2011)), with a margin of a 64th,
/// rounded up to 7 bits, so that sums in another order give the same number. Collective; blocks; 10 passes over A.
template <RealScalar T> [[nodiscard]] double spectral_bound(const Communicator& comm, const Parts<T>& A);

}  // namespace heddle::impl
