// Determinants whose parts are the numbers nearest to the exact ones.
#pragma once

#include "solve/grid/placed_matrix.hpp"
#include <heddle/solve/solve.hpp>

#include <optional>

namespace heddle::impl {

/// Return the determinant of A, square, each part of its mantissa rounded once from the exact value, ties to even; none
/// if that cannot be proven.
///
/// For factors L U of P S, S being A scaled by powers of two, X = U^-1 and Y = L^-1 are computed, their rows and
/// columns brought to one size, and cut to so few digits that V = X Y is computed exactly; its determinant is the
/// product of their diagonals. E = V P S - I follows from long products (LongProduct) with a bound of its error, and
///
///     det(I + E) = exp(tr E - tr E^2 / 2 + tr E^3 / 3 - ...),
///
/// where the terms after the K-th are at most f^(K + 1) / ((K + 1) (1 - f)) in all, f < 1 being the Frobenius norm of E
/// (|tr E^k| <= f^k for k > 1). A second attempt takes more digits. A determinant that stays undecided, as zero, a tie
/// or that of a matrix too near to a singular one, is computed modulo primes if that is cheap (modular.hpp).
///
/// All arithmetic is that of double. A in any placement. Collective. Bits: a proven determinant depends on A alone.
/// Cost: a factorization, two solutions with n right-hand sides, and some 25 products of order n, or 60.
template <Scalar T>
[[nodiscard]] std::optional<Determinant<T>> round_determinant(const PlacedMatrix<T>& A, const FactorOptions& options);

}  // namespace heddle::impl
