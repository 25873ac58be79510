// The transpose B = alpha op(A) of a distributed matrix.
#pragma once

#include <heddle/core/operation.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/transpose/transpose.hpp>

#include <memory>
#include <type_traits>

namespace heddle {

/// The transpose B = alpha op(A) for repeated use: the elements that each pair of ranks shares, and the workspace.
///
/// Workspace: up to four panels for each partner, and as many again where a part of A is not contiguous in memory. A
/// panel is a sixteenth of the elements that the two ranks share, and between 32 and 128 MiB (1 and 4 MiB on CPUs). The
/// workspace is made by the first execute() and given back with the plan.
template <Scalar T> class TransposePlan {
 public:
  /// Makes a plan for A, m x n in placement `a`, and B, n x m (m x n for Operation::none) in placement `b`. Collective.
  /// Throws Error(argument), on every rank alike, for shapes that don't fit, options that the device can't run, and
  /// arguments that differ between ranks, which one reduction of three numbers finds out. `options`: how a rank
  /// transposes the elements that it keeps and the panels that come; where it has partners, each of the two takes half
  /// of `device_share`.
  TransposePlan(const Communicator& comm, const Placement& a, Operation op, const Placement& b,
                const TransposeOptions& options = {});
  ~TransposePlan();
  TransposePlan(TransposePlan&&) noexcept;
  TransposePlan& operator=(TransposePlan&&) noexcept;

  /// Computes B = alpha op(A). Elements that two ranks share travel in panels, of which the last is transposed while
  /// the next are under way, so that on GPUs the link is the limit. Throws Error(argument), on every rank alike, where
  /// a placement is not the plan's or B shares storage with A. Collective, blocks. Bits: those of transpose() of the
  /// whole matrix on one rank, for any ranks, placements and transports.
  void execute(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Computes B = alpha op(A) once, by a TransposePlan of its own. alpha may be of any type that converts to T.
template <Scalar T>
void transpose(const Communicator& comm, std::type_identity_t<T> alpha, const DistributedMatrix<T>& A, Operation op,
               const DistributedMatrix<T>& B, const TransposeOptions& options = {});

}  // namespace heddle
