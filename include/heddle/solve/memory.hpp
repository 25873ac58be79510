// Memory that factorizations and solutions take on a rank, known before anything is computed.
#pragma once

#include <heddle/solve/solve.hpp>

namespace heddle {

// All numbers are those of the rank that needs most, in bytes, and count what an operation allocates itself. Not
// counted: the matrices that it is given, memory kept by vendors' libraries and MPI (cuBLAS: 32 MiB for each of up to
// three instances, and a copy of a factor if a product has one row or column), and some ten kilobytes of bookkeeping,
// 300 on GPUs. The numbers follow from shape, number of ranks, options and type alone; neither MPI nor a device is
// queried. An operation that needs more than FactorOptions::memory_limit, or than the devices have free, throws an
// Error that names both numbers before it begins. Each function throws Error(argument) as the operation does, and if
// `ranks` is not positive.

/// Return the memory of lu(): the workspace of LuPlan and, unless A is `placed` in LuPlan::placement(), the copy that
/// is factored. For a matrix in host memory (`residence`) it is the least that is enough, with the smallest slabs of
/// columns; more is taken if FactorOptions::memory_limit, or the devices' free memory, allows it. Copies in host memory
/// are not counted.
template <Scalar T>
[[nodiscard]] double lu_memory(Index rows, Index columns, int ranks, const FactorOptions& options = {},
                               bool placed = false, Residence residence = Residence::device);

/// Return the memory of cholesky(), likewise.
template <Scalar T>
[[nodiscard]] double cholesky_memory(Index order, int ranks, const FactorOptions& options = {}, bool placed = false,
                                     Residence residence = Residence::device);

/// Return the memory of trsm() with any triangle of this order, in memory `residence`, and so many right-hand sides:
/// its workspace and, unless both matrices are `placed` where it wants them, copies of them. The copy of a triangle in
/// host memory is in host memory as well.
template <Scalar T>
[[nodiscard]] double trsm_memory(Index order, Index right_hand_sides, int ranks, Operation op = Operation::none,
                                 const FactorOptions& options = {}, bool placed = false,
                                 Residence residence = Residence::device);

/// Return the memory of solve() with A in memory `residence`; for A in host memory, the least that is enough. With a
/// certificate it is an upper bound.
template <Scalar T>
[[nodiscard]] double solve_memory(Index order, Index right_hand_sides, int ranks, const SolveOptions& options = {},
                                  Residence residence = Residence::device);

}  // namespace heddle
