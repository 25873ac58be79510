// Batches of small Hermitian eigenproblems, and the choice of kernels for each size.
#include "core/instantiate.hpp"
#include "eigen/batched/batch.hpp"
#include "eigen/batched/small_columns.hpp"
#include "eigen/batched/team_matrices.hpp"
#include <heddle/eigen/batched.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <optional>

namespace heddle::eigen::compiled {
namespace {

using namespace impl;

using heddle::impl::on_host;

template <Scalar T, int fixed_pairs> void launch_teams(const ExecutionSpace& space, const Batch<T>& batch) {
  const int bytes = static_cast<int>(SmallProblem<T>::bytes((batch.rows() + 1) / 2)) + 64;
  Kokkos::parallel_for(
      "heddle::eigen::batched",
      BatchTeams(space, static_cast<int>(batch.count()), 1).set_scratch_size(1, Kokkos::PerTeam(bytes)),
      TeamMatrices<T, fixed_pairs>{batch});
}

template <Scalar T, int N> void launch_columns(const ExecutionSpace& space, const Batch<T>& batch) {
  // Two columns must fit the registers of a thread.
  constexpr int registers = N * static_cast<int>(sizeof(T)) / 2;
  constexpr int split = registers <= 128 ? 1 : registers <= 256 ? 2 : 4;
  using Kernel = SmallColumns<T, N, split>;
  const auto count = static_cast<int>(batch.count());
  Kokkos::parallel_for(
      "heddle::eigen::batched",
      typename Kernel::Policy(space, (count + Kernel::at_once - 1) / Kernel::at_once, Kernel::team_threads)
          .set_scratch_size(0, Kokkos::PerTeam(Kernel::bytes)),
      Kernel{{}, batch});
}

// Two-sided rotations on CPUs, one-sided ones in registers on GPUs.
template <Scalar T> void launch_for(const ExecutionSpace& space, const Batch<T>& batch) {
  const int n = batch.rows();
  if constexpr (on_host) {
    switch ((n + 1) / 2) {
      case 4:
        launch_teams<T, 4>(space, batch);
        break;
      case 8:
        launch_teams<T, 8>(space, batch);
        break;
      case 16:
        launch_teams<T, 16>(space, batch);
        break;
      case 32:
        launch_teams<T, 32>(space, batch);
        break;
      default:
        launch_teams<T, 0>(space, batch);
    }
  } else if (n <= 8) {
    launch_columns<T, 8>(space, batch);
  } else if (n <= 16) {
    launch_columns<T, 16>(space, batch);
  } else if (n <= 32) {
    launch_columns<T, 32>(space, batch);
  } else {
    launch_columns<T, 64>(space, batch);
  }
}

// Solve one matrix of the batch whose diagonal spans too much for the kernels.
template <Scalar T>
JacobiReport solve_graded_one(const ExecutionSpace& space, const StridedBatch<const T>& A,
                              const StridedMatrix<Real<T>>& w, const StridedBatch<T>* V,
                              const JacobiBatchedOptions& options, JacobiMethod method, std::size_t b) {
  const auto all = Kokkos::ALL;
  JacobiOptions one;
  one.method = method;
  one.upper = options.upper;
  one.tolerance = options.tolerance;
  one.sweeps = options.sweeps;
  one.reproducible = true;
  JacobiReport report;
  report.method = JacobiMethod::round_robin;
  StridedMatrix<T> vectors;
  if (V != nullptr) {
    vectors = Kokkos::subview(*V, all, all, b);
  }
  if (!solve_graded<T>(space, Kokkos::subview(A, all, all, b), Kokkos::subview(w, all, b),
                       V != nullptr ? &vectors : nullptr, one, report)) {
    const auto only = Kokkos::make_pair(b, b + 1);
    StridedBatch<T> batch;
    if (V != nullptr) {
      batch = Kokkos::subview(*V, all, all, only);
    }
    static_cast<void>(jacobi_batched<T>(
        space, Kokkos::subview(A, all, all, only), Kokkos::subview(w, all, only), V != nullptr ? &batch : nullptr,
        {JacobiAccuracy::norm, options.upper, options.tolerance, options.sweeps, options.reproducible}, &report,
        method));
  }
  return report;
}

template <Scalar T>
void require_arguments(const StridedBatch<const T>& A, const StridedMatrix<Real<T>>& w, const StridedBatch<T>* V,
                       const JacobiBatchedOptions& options) {
  const std::size_t n = A.extent(0);
  const std::size_t count = A.extent(2);
  require(A.extent(1) == n, "eigen::jacobi_batched: A is ", n, " x ", A.extent(1), " each; expected square matrices");
  require(w.extent(0) == n && w.extent(1) == count, "eigen::jacobi_batched: w is ", w.extent(0), " x ", w.extent(1),
          "; expected ", n, " x ", count);
  require(V == nullptr || (V->extent(0) == n && V->extent(1) == n && V->extent(2) == count),
          "eigen::jacobi_batched: V must have the shape of A, ", n, " x ", n, " x ", count);
  require(options.sweeps > 0, "eigen::jacobi_batched: ", options.sweeps, " sweeps; expected at least 1");
  require(options.tolerance >= 0, "eigen::jacobi_batched: a tolerance of ", options.tolerance);
}

// Translate the outcome of one matrix to the report of jacobi().
template <Scalar T>
void describe(const ExecutionSpace& space, const Batch<T>& batch, const Outcome& outcome, bool in_lanes,
              JacobiReport& report) {
  require(outcome.end >= 0, "eigen: A has elements that are NaN or infinite in the triangle that is read");
  report.end = static_cast<JacobiEnd>(outcome.end);
  report.sweeps = outcome.sweeps;
  report.rotations = outcome.rotations;
  report.accuracy = outcome.relative != 0 ? JacobiAccuracy::relative : JacobiAccuracy::norm;
  if (in_lanes && outcome.relative == 0 && outcome.sweeps > 0 && lanes_begin_ahead(batch.rows())) {
    report.method = JacobiMethod::preconditioned;
  }
  // Two-sided rotations begin with the norm before the first sweep.
  const bool two_sided = on_host && !in_lanes;
  const auto norms = to_host(space, "heddle::eigen::jacobi_batched", batch.history);
  report.off_norms.assign(norms.begin(), norms.begin() + outcome.sweeps + (two_sided ? 1 : 0));
}

}  // namespace

template <Scalar T>
JacobiBatchedReport jacobi_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                   const StridedMatrix<Real<T>>& w, const StridedBatch<T>* V,
                                   const JacobiBatchedOptions& options, JacobiReport* history, JacobiMethod method) {
  using R = Real<T>;
  const Kokkos::Profiling::ScopedRegion region("heddle::eigen::jacobi_batched");
  const auto n = static_cast<Index>(A.extent(0));
  const auto count = A.extent(2);
  require_arguments<T>(A, w, V, options);
  JacobiBatchedReport report;
  if (n == 0 || count == 0) {
    return report;
  }
  const Kokkos::View<Outcome*, MemorySpace> outcomes(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::outcomes"), count);
  Values<R> norms;
  if (history != nullptr) {
    norms =
        Values<R>(Kokkos::view_alloc(space, "heddle::eigen::history"), static_cast<std::size_t>(options.sweeps) + 1);
  }
  const Batch<T> batch{A,
                       w,
                       V != nullptr ? *V : StridedBatch<T>(),
                       V != nullptr,
                       options.upper,
                       options.reproducible,
                       options.accuracy,
                       criterion_for<T>(options.tolerance, n),
                       options.sweeps,
                       n <= largest_small ? small_spread<R> : large_spread<R>,
                       outcomes,
                       norms};
  const bool in_lanes = on_host && !is_complex<T> && method == JacobiMethod::automatic;
  if (n > largest_small) {
    solve_blocks<T>(space, batch);
  } else if constexpr (on_host && !is_complex<T>) {
    in_lanes ? solve_lanes<T>(space, batch) : launch_for<T>(space, batch);
  } else {
    launch_for<T>(space, batch);
  }
  std::vector<Outcome> found = to_host(space, "heddle::eigen::jacobi_batched", outcomes);
  std::optional<JacobiReport> of_graded;  // Of the last of these, which is the one where there is a history.
  for (std::size_t b = 0; b < count; ++b) {
    Outcome& outcome = found[b];
    if (outcome.end == end_too_graded) {
      of_graded = solve_graded_one<T>(space, A, w, V, options, method, b);
      outcome = {of_graded->sweeps, static_cast<int>(of_graded->end),
                 of_graded->accuracy == JacobiAccuracy::relative ? 1 : 0, of_graded->rotations};
    }
    report.sweeps = std::max(report.sweeps, outcome.sweeps);
    report.rotations += outcome.rotations;
    const bool failed = outcome.end < 0 || outcome.end == static_cast<int>(JacobiEnd::sweep_limit) ||
                        (options.accuracy == JacobiAccuracy::relative && outcome.relative == 0);
    if (failed) {
      report.first_failed = report.not_converged == 0 ? static_cast<Index>(b) : report.first_failed;
      ++report.not_converged;
    }
  }
  if (history != nullptr && of_graded) {
    *history = *of_graded;
  } else if (history != nullptr) {
    describe<T>(space, batch, found[0], in_lanes, *history);
    history->converged = report.converged();
  }
  return report;
}

#define HEDDLE_INSTANTIATE(T)                                                                           \
  template JacobiBatchedReport jacobi_batched<T>(const ExecutionSpace&, const StridedBatch<const T>&,   \
                                                 const StridedMatrix<Real<T>>&, const StridedBatch<T>*, \
                                                 const JacobiBatchedOptions&, JacobiReport*, JacobiMethod)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::compiled
