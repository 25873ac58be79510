// Triangular systems over all ranks.
#pragma once

#include "solve/grid/subtraction.hpp"
#include "solve/lu/schedule.hpp"
#include <heddle/comm/transport.hpp>

#include <array>
#include <optional>
#include <vector>

namespace heddle::impl {

/// X = op(M)^-1 X for a triangle M of an n x n matrix whose columns are dealt out in blocks, and right-hand sides whose
/// columns are dealt out likewise, with its workspace.
///
/// M is sent in groups of panels: each goes to the ranks that have right-hand sides, which solve with the group's
/// triangle and subtract its products from the remaining rows. Bits: a column of X depends on M, its own column and the
/// schedule alone if products are chains or emulated; native products have shapes that follow from the schedule and the
/// pieces of the right-hand sides.
template <Scalar T> class Substitution {
 public:
  /// `columns`: distribution of columns of M, in multiples of the schedule's blocks; `right`: distribution of columns
  /// of X. `comm` may be null.
  Substitution(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule,
               const CyclicAxis& columns, const CyclicAxis& right, Arithmetic arithmetic);

  /// Bytes that it allocates to solve with op(M), M in memory `residence`, on the rank that needs most.
  [[nodiscard]] static double bytes(const LuSchedule& schedule, const CyclicAxis& columns, const CyclicAxis& right,
                                    Operation op, Arithmetic arithmetic, Residence residence = Residence::device);

  /// `M` and `X`: this rank's columns. `in_host_memory`: M's are there, and groups of panels are copied to the devices
  /// in turn. Collective; on one rank it does not block on GPUs.
  void solve(Triangle triangle, Operation op, Diagonal diagonal, const MatrixView<T>& M, const MatrixView<T>& X,
             bool in_host_memory = false);

 private:
  [[nodiscard]] int rank() const { return comm_ ? comm_->rank() : 0; }
  [[nodiscard]] bool wanted_by(int rank) const { return right_.count(rank) > 0; }
  /// Copies rows and columns of M into the device memory of every rank that has right-hand sides.
  [[nodiscard]] MatrixView<T> bring(const MatrixView<T>& M, Range rows, Range columns);
  void bring_run(const MatrixView<T>& M, Range rows, Range run, const MatrixView<T>& place);
  void solve_group(const MatrixView<T>& M, Range group, bool lower, Diagonal diagonal, const MatrixView<T>& X);
  void solve_group_transposed(const MatrixView<T>& M, Range group, bool lower, Operation op, Diagonal diagonal,
                              const MatrixView<T>& X);

  std::optional<Communicator> comm_;
  std::optional<Transport> transport_;
  LuSchedule schedule_;
  CyclicAxis columns_;
  CyclicAxis right_;
  Subtraction<T> subtract_;
  bool in_host_memory_ = false;
  Kokkos::View<T*, MemorySpace> brought_;
  Kokkos::View<T*, MemorySpace> transposed_;  // Created on first use.
  std::array<Kokkos::View<T*, MemorySpace>, 2> messages_;
  std::array<std::vector<Request>, 2> sends_;
  std::size_t turn_ = 0;
};

}  // namespace heddle::impl
