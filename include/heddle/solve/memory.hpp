// What factorizations and solutions take of a rank's memory, known before anything is computed.
#pragma once

#include <heddle/solve/solve.hpp>

namespace heddle {

// All numbers are of the rank that needs most, in bytes, and count what an operation allocates itself: not the matrices
// that it is given, nor what libraries of vendors and MPI keep (cuBLAS 32 MiB for each of up to three instances, and a
// copy of a factor where a product has one row or column), nor some ten kilobytes of bookkeeping, 300 on GPUs.
// They follow from shape, number of ranks, options and type alone, and nothing is asked of MPI or a device. An
// operation that needs more than LuOptions::memory_limit, or than the devices have free, throws an Error that names
// both numbers before it begins. Each function throws Error(argument) as the operation does, and for no rank.

/// Of lu(): the workspace of LuPlan, and, unless A is `placed` in LuPlan::placement(), the copy that is factored. Of a
/// matrix in host memory (`residence`) it is the least with which it can be factored, in the smallest slabs of columns;
/// more is taken where LuOptions::memory_limit, or the devices' free memory, allows it, and copies in host memory are
/// not counted.
template <Scalar T>
[[nodiscard]] double lu_memory(Index rows, Index columns, int ranks, const LuOptions& options = {}, bool placed = false,
                               Residence residence = Residence::device);

/// Of cholesky(), likewise.
template <Scalar T>
[[nodiscard]] double cholesky_memory(Index order, int ranks, const CholeskyOptions& options = {}, bool placed = false,
                                     Residence residence = Residence::device);

/// Of trsm() with any triangle of this order, in such memory, and so many right-hand sides: its workspace, and, unless
/// both matrices are `placed` where it wants them, copies of them, which of one in host memory are there as well.
template <Scalar T>
[[nodiscard]] double trsm_memory(Index order, Index right_hand_sides, int ranks, Operation op = Operation::none,
                                 const LuOptions& options = {}, bool placed = false,
                                 Residence residence = Residence::device);

/// Of solve(), with A in such memory: of one in host memory the least with which the system can be solved. With a
/// certificate it is an upper bound.
template <Scalar T>
[[nodiscard]] double solve_memory(Index order, Index right_hand_sides, int ranks, const SolveOptions& options = {},
                                  Residence residence = Residence::device);

}  // namespace heddle
