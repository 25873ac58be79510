// B = alpha op(A) over all ranks.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>

namespace heddle {

/// B = alpha op(A): A is m x n, B is n x m (m x n for Operation::none), each in any placement. Collective.
///
/// A rank transposes what it owes another in panels, of which one is transposed while others travel, so that on GPUs
/// the link is the limit. Blocks. Workspace: at most eight panels of 32 MiB (4 MiB on CPUs) for each partner. Bits:
/// those of transpose() of the whole matrix on one rank, for any ranks, placements and transports. Throws
/// Error(argument), on every rank alike, for shapes that don't fit and where B is A.
template <Scalar T>
void transpose(const Communicator& comm, T alpha, const DistributedMatrix<T>& A, Operation op,
               const DistributedMatrix<T>& B);

}  // namespace heddle
