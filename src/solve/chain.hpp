// Products and triangular systems in which every element is one chain of fused multiply-adds, in the order of the inner
// dimension: the same bits on any machine, by any number of threads, and however the work is cut up.
#pragma once

#include <heddle/core/scalar.hpp>

namespace heddle::impl {

/// C = C - A B for A of m x k, B of k x n: c_ij is multiply_add(-a_ip, b_pj, c_ij) for p = 0, 1, ..., k - 1 in turn.
/// Cutting the inner dimension into runs that follow each other changes no bit. Ordered on `space`; does not block on
/// GPUs. Cost: 2mnk flops (8mnk complex) by vectors, not by matrix units.
template <Scalar T>
void chain_subtract(const ExecutionSpace& space, const MatrixView<const T>& A, const MatrixView<const T>& B,
                    const MatrixView<T>& C);

/// X = L^-1 X for the unit lower triangle L of an n x n matrix, by chains: x_i is multiply_add(-l_ip, x_p, x_i) for p =
/// 0, ..., i - 1 in turn. Neither the diagonal nor what is above it is read. Ordered on `space`; does not block on
/// GPUs.
template <Scalar T>
void chain_solve_lower(const ExecutionSpace& space, const MatrixView<const T>& L, const MatrixView<T>& X);

}  // namespace heddle::impl
