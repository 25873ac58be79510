// Code shared by plans and functions of factorizations: schedules and distributions that follow from options.
#pragma once

#include "blas/layout.hpp"
#include "comm/vendor/vendor.hpp"
#include "dist/arguments.hpp"
#include "solve/grid/placed_matrix.hpp"
#include "solve/grid/rank_grid.hpp"
#include "solve/grid/watch.hpp"
#include "solve/lu/schedule.hpp"
#include "solve/system/memory.hpp"
#include <heddle/solve/lu.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

namespace heddle::impl {

/// Return the options with an arithmetic that is native or emulated.
[[nodiscard]] FactorOptions with_arithmetic(FactorOptions options);
[[nodiscard]] LuSchedule schedule_for(Index rows, Index columns, const FactorOptions& options);
/// Throws Error(argument) for invalid options; `of` names the function that was called.
void require_lu_options(const char* of, Index rows, Index columns, const FactorOptions& options);
/// Number of panels of a run on one rank, for factorizations over `ranks` columns of ranks: many in a row, beside
/// updates of other columns, if there are so many runs that the other ranks need not wait for one. One rank gains
/// nothing: work beside an update there takes multiprocessors from the update (docs/notes/solve.md).
[[nodiscard]] Index panels_together(const LuSchedule& schedule, int ranks);
/// Blocks of columns, dealt out to the ranks in turn.
[[nodiscard]] CyclicAxis columns_of(const LuSchedule& schedule, int ranks);
/// Distribution of rows and columns while a matrix is factored on `ranks` ranks, of which FactorOptions::grid_rows make
/// a column of the grid.
[[nodiscard]] RankGrid grid_of(const LuSchedule& schedule, const FactorOptions& options, int ranks, int rank);
/// Throws Error(argument) if FactorOptions::grid_rows doesn't divide the number of ranks.
void require_grid(const char* of, const FactorOptions& options, int ranks);
/// The placement of a matrix with its columns dealt out by this axis.
[[nodiscard]] inline Placement placement_of_columns(Index rows, const CyclicAxis& columns) {
  return Placement::block_cyclic(rows, columns.extent, std::max<Index>(rows, 1), columns.block, 1, columns.processes);
}

/// A plan over the ranks of a communicator, or for one rank without a communicator.
template <Scalar T> struct PlannedFactorization {
  /// `residence` is that of the matrices. Throws Error(memory), on every rank alike, if the workspace exceeds the
  /// allowed bytes.
  PlannedFactorization(const ExecutionSpace& given, const Communicator* comm, Index rows, Index columns,
                       const FactorOptions& options, const char* of, WorkspaceBytes workspace,
                       Residence residence = Residence::device, FactorizationKind kind = FactorizationKind::lu)
      : space(given),
        communicator(comm != nullptr ? std::optional<Communicator>(*comm) : std::nullopt),
        taken(with_arithmetic(options)),
        schedule(schedule_for(rows, columns, taken)),
        grid(grid_of(schedule, taken, comm != nullptr ? comm->size() : 1, comm != nullptr ? comm->rank() : 0)),
        runs(schedule.in_runs(panels_together(schedule, grid.columns.processes))),
        axis(grid.columns),
        placement(grid.placement()),
        memory_bytes(workspace(schedule, grid, taken.arithmetic)),
        watch(given, runs, taken) {
    const auto limit = static_cast<double>(taken.memory_limit);
    if (goes_by_slabs(residence, grid)) {
      placement = placement.in(Residence::host);
      const ColumnSlabs found = fewest_slabs<T>(schedule, axis, kind, taken.arithmetic, allowed_bytes(comm, limit));
      const double needed = slab_bytes<T>(found, kind, taken.arithmetic);
      // On CPUs a matrix that fits is factored in place.
      if (!on_host || found.count() > 1 || (limit > 0 && needed > limit)) {
        slabs = found;
        memory_bytes = needed;
      }
    }
    require_memory(of, comm, memory_bytes, limit);
  }

  /// Whether matrices are in host memory; device memory is then held only during a factorization.
  [[nodiscard]] bool in_host_memory() const { return placement.residence() == Residence::host; }

  [[nodiscard]] int rank() const { return communicator ? communicator->rank() : 0; }
  [[nodiscard]] double over_ranks(double value) const {
    return communicator ? communicator->all_reduce(value, Reduction::maximum) : value;
  }
  /// Runs `work`, which blocks, and enters its arithmetic, time and rate in the report of a factorization of `flops`
  /// flops.
  template <class Work> void measure(FactorizationReport& report, double flops, const Work& work) {
    report.arithmetic = taken.arithmetic;
    report.block = schedule.block;
    report.group = schedule.group;
    report.memory_bytes = memory_bytes;
    space.fence("heddle::solve::before");
    if (communicator && taken.record_timeline) communicator->barrier();
    watch.start();
    const auto start = std::chrono::steady_clock::now();
    work();
    const double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.timeline = watch.finish(mine);
    report.seconds = over_ranks(mine);
    report.gflops = report.seconds > 0 ? flops / report.seconds / 1e9 : 0.0;
  }
  /// Runs work(matrix) in place, or on a copy with columns aligned as native products want them: products would copy
  /// misaligned operands each time, with the same bits, which takes as long as the products do. The copy is made if
  /// there is room for it. Collective.
  template <class Work> void on_aligned(FactorizationReport& report, const MatrixView<T>& matrix, const Work& work) {
    const auto rows = static_cast<Index>(matrix.extent(0));
    const auto columns = static_cast<Index>(matrix.extent(1));
    const GemmLayout layout = gemm_layout<T>(2, 2);
    const bool lies_well = rows < 2 || columns < 2 || taken.arithmetic != Arithmetic::native ||
                           layout.fits(matrix.data(), rows, static_cast<Index>(matrix.stride(1)));
    const double bytes = lies_well ? 0.0 : sizeof(T) * static_cast<double>(layout.leading(rows)) * columns;
    const bool held = bytes > 0 && static_cast<double>(aligned.size()) * sizeof(T) >= bytes;
    const bool copies = held || (bytes > 0 && has_room(bytes));
    if constexpr (!on_host) report.memory_bytes += over_ranks(copies ? bytes : 0.0);
    if (!copies) return work(matrix);
    if (!held) {
      aligned = LocalMatrix<T>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::aligned"),
                               static_cast<std::size_t>(layout.leading(rows)), static_cast<std::size_t>(columns));
    }
    const MatrixView<T> copy = matrix_view(aligned.data(), rows, columns, layout.leading(rows));
    copy_elements<T>(space, "heddle::solve::align", matrix, copy);
    work(copy);
    copy_elements<T>(space, "heddle::solve::align", copy, matrix);
    space.fence("heddle::solve::aligned");
    if (in_host_memory()) aligned = {};
  }
  [[nodiscard]] bool has_room(double bytes) const {
    const auto limit = static_cast<double>(taken.memory_limit);
    if (limit > 0) return memory_bytes + bytes <= limit;
    const auto memory = vendor::memory_info();
    return memory.total == 0 || 1.1 * bytes <= static_cast<double>(memory.free);
  }

  /// Runs factor(this rank's part) for A in any placement. Collective. Throws Error(argument), on every rank alike, if
  /// A's shape is not the plan's.
  template <class Factor> auto in_place(const char* of, const DistributedMatrix<T>& A, const Factor& factor) {
    const Communicator& comm = *communicator;
    return comm.together([&] {
      require_alike(comm, of, std::vector<Argument>{argument("A", A.placement())}, [&] {
        require_same_ranks(of, "A", A, comm);
        require(A.rows() == schedule.rows && A.columns() == schedule.columns, of, ": A is ", A.rows(), " x ",
                A.columns(), "; the plan is for ", schedule.rows, " x ", schedule.columns);
      });
      // One rank has all columns, in order, in any placement.
      if (comm.size() == 1 || A.placement() == placement) return factor(A.local());
      if (!(brought.placement() == placement)) {
        const double more = in_host_memory() ? bytes_of_messages<T>(grid) : bytes_of_copy<T>(grid);
        const double all = in_host_memory() ? std::max(memory_bytes, more) : memory_bytes + more;
        const auto limit = static_cast<double>(taken.memory_limit);
        require_memory(of, &comm, limit > 0 ? all : more, limit);
        memory_bytes = all;
        brought = DistributedMatrix<T>(comm, placement, "heddle::solve::brought");
      }
      redistribute(A, brought);
      const auto report = factor(brought.local());
      redistribute(brought, A);
      return report;
    });
  }

  ExecutionSpace space;
  std::optional<Communicator> communicator;
  FactorOptions taken;
  LuSchedule schedule;
  RankGrid grid;
  LuSchedule runs;  // Schedule with runs in place of panels.
  CyclicAxis axis;  // Axis of the matrix's columns.
  Placement placement;
  double memory_bytes;  // Bytes of the rank that needs most.
  Watch watch;
  std::optional<ColumnSlabs> slabs;  // Set for matrices in host memory, except for those that CPUs factor in place.
  DistributedMatrix<T> brought;      // Copy of matrices that come in another placement.
  LocalMatrix<T> aligned;            // Copy with aligned columns.
};

/// Options that must be the same on all ranks.
[[nodiscard]] inline std::vector<Argument> arguments_of(const FactorOptions& options) {
  return {argument("arithmetic", to_string(options.arithmetic)),
          argument("block", options.block),
          argument("group", options.group),
          argument("grid_rows", options.grid_rows),
          argument("memory_limit", options.memory_limit),
          argument("record_timeline", options.record_timeline)};
}

}  // namespace heddle::impl
