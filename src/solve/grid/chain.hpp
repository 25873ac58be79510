// Products and triangular systems in which every element is one chain of fused multiply-adds, in the order of the inner
// dimension: the same bits on any machine, for any number of threads and any partition of the work.
#pragma once

#include <heddle/core/triangle.hpp>

namespace heddle::impl {

/// The order in which an inner dimension is traversed: from its first index, or from its last.
enum class Along { up, down };

/// C = C - A B for A of m x k, B of k x n: c_ij is multiply_add(-a_ip, b_pj, c_ij) for p = 0, 1, ..., k - 1 in turn, or
/// for p = k - 1, ..., 0. Cutting the inner dimension into consecutive runs changes no bit. Ordered on `space`; does
/// not block on GPUs. Cost: 2mnk flops (8mnk complex) by vectors, not by matrix units.
template <Scalar T>
void chain_subtract(const ExecutionSpace& space, const MatrixView<const T>& A, const MatrixView<const T>& B,
                    const MatrixView<T>& C, Along along = Along::up);

/// X = M^-1 X for a triangle M of an n x n matrix, by chains: x_i is multiply_add(-m_ip, x_p, x_i) for the p whose x_p
/// are already computed, in the order of computation (up from 0, or down from n - 1), and is then divided by m_ii
/// (PivotDivisor) unless the diagonal is Diagonal::unit. The other triangle, and a unit diagonal, are not read. Ordered
/// on `space`; does not block on GPUs.
template <Scalar T>
void chain_solve(const ExecutionSpace& space, Triangle triangle, Diagonal diagonal, const MatrixView<const T>& M,
                 const MatrixView<T>& X);

}  // namespace heddle::impl
