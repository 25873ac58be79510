// B = alpha op(A) over all ranks.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>

#include <memory>
#include <type_traits>

namespace heddle {

/// B = alpha op(A) again and again: which elements each pair of ranks shares, and the workspace.
///
/// Workspace: up to four panels for each partner, each a sixteenth of what the two share and between 32 and 128 MiB (1
/// and 4 on CPUs), and as many again where a part of A is not one run of memory; made by the first execute(), given
/// back with the plan.
template <Scalar T> class TransposePlan {
 public:
  /// A is m x n in placement `a`, B is n x m (m x n for Operation::none) in `b`. Throws Error(argument), on every rank
  /// alike, for shapes that don't fit or that differ between ranks, which one reduction of three numbers tells.
  TransposePlan(const Communicator& comm, const Placement& a, Operation op, const Placement& b);
  ~TransposePlan();
  TransposePlan(TransposePlan&&) noexcept;
  TransposePlan& operator=(TransposePlan&&) noexcept;

  /// Collective. What two ranks share travels in panels, of which the last is transposed while the next are under way,
  /// so that on GPUs the link is the limit. Blocks. Bits: those of transpose() of the whole matrix on one rank, for any
  /// ranks, placements and transports. Throws Error(argument), on every rank alike, where a placement is not the plan's
  /// or B shares storage with A.
  void execute(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// B = alpha op(A) once, by a plan of its own. alpha is whatever converts to T.
template <Scalar T>
void transpose(const Communicator& comm, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A, Operation op,
               const DistributedMatrix<T>& B);

}  // namespace heddle
