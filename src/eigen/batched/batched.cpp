#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include "eigen/dense/graded.hpp"
#include "eigen/dense/small.hpp"
#include "eigen/simd/batched_host.hpp"
#include <heddle/eigen/batched.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace heddle::eigen::compiled {
namespace {

using namespace impl;

using heddle::impl::on_host;

using Teams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
using Team = typename Teams::member_type;

template <Scalar T, int fixed_pairs> struct SmallMatrices {
  using R = Real<T>;
  StridedBatch<const T> A;
  StridedMatrix<R> w;
  StridedBatch<T> V;
  bool vectors;
  bool upper;
  JacobiAccuracy accuracy;
  Criterion<R> limits;
  int most_sweeps;
  Kokkos::View<Outcome*, MemorySpace> outcomes;
  Kokkos::View<R*, MemorySpace> history;  // Of one matrix; else without elements.

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Index b = team.league_rank();
    const int n = static_cast<int>(A.extent(0));
    const int pairs = fixed_pairs > 0 ? fixed_pairs : (n + 1) / 2;
    const int m = 2 * pairs;
    SmallProblem<T> problem =
        SmallProblem<T>::in(team.team_scratch(1).get_shmem(static_cast<int>(SmallProblem<T>::bytes(pairs))), pairs);
    problem.begin(team);
    R largest = 0;
    R square = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, m * m),
        [&](int at, R& most) {
          const int i = at % m;
          const int j = at / m;
          if (i > j) {
            return;
          }
          T value = T(0);
          if (j < n) {
            value = i == j ? T(real_part(A(i, i, b))) : upper ? A(i, j, b) : conjugate(A(j, i, b));
          }
          problem.set(i, j, value);
          most = larger(most, value);
        },
        Kokkos::Max<R>(largest));
    team.team_barrier();
    const bool finite = Kokkos::isfinite(largest);
    // Powers of two: nothing is rounded.
    const int exponent = largest > 0 && finite ? exponent_of(largest) : 0;
    R least = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, n),
        [&](int i, R& lowest) { lowest = Kokkos::fmin(lowest, real_part(A(i, i, b))); }, Kokkos::Min<R>(least));
    team.team_barrier();
    const bool too_graded =
        finite && least > 0 && accuracy != JacobiAccuracy::norm && exponent - exponent_of(least) > small_spread<R>;
    const R first = power_of_two<R>(-(exponent / 2));
    const R second = power_of_two<R>(-(exponent - exponent / 2));
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, m * m),
        [&](int at, R& sum) {
          const int i = at % m;
          const int j = at / m;
          if (i > j) {
            return;
          }
          const T value = problem.get(i, j) * first * second;
          problem.set(i, j, value);
          const R size = magnitude(value);
          sum += (i == j ? 1 : 2) * size * size;
        },
        square);
    team.team_barrier();
    Criterion<R> criterion{limits.least, limits.tolerance, Kokkos::sqrt(square), accuracy != JacobiAccuracy::norm};
    const R tolerance = limits.tolerance;
    Outcome outcome{0, static_cast<int>(JacobiEnd::sweep_limit), 0, 0};
    note(team, problem, m, outcome.sweeps);
    if (!finite) {
      outcome.end = end_not_finite;
    } else if (too_graded && off_diagonal(team, b, n) > 0) {
      outcome.end = end_too_graded;
    }
    while (outcome.end >= 0 && outcome.sweeps < most_sweeps) {
      if (criterion.relative && accuracy == JacobiAccuracy::automatic && !positive(team, problem, n)) {
        criterion.relative = false;
      }
      const SweepCounts<R> counts = problem.template sweep<fixed_pairs>(team, criterion);
      ++outcome.sweeps;
      outcome.rotations += counts.rotations;
      note(team, problem, m, outcome.sweeps);
      if (!(counts.largest > tolerance)) {
        outcome.end = static_cast<int>(outcome.rotations == 0 ? JacobiEnd::diagonal : JacobiEnd::tolerance);
        break;
      }
      if (counts.leaves_less_than(tolerance, n, criterion.relative)) {
        outcome.end = static_cast<int>(JacobiEnd::quadratic);
        break;
      }
    }
    outcome.relative = criterion.relative && positive(team, problem, n) ? 1 : 0;
    // Ranks by counting; equal ones in the order of their labels. A diagonal is returned as it was given: scaled, the
    // least of it might vanish.
    const bool as_given = outcome.end == static_cast<int>(JacobiEnd::diagonal);
    const R back_first = as_given ? R(1) : power_of_two<R>(exponent / 2);
    const R back_second = as_given ? R(1) : power_of_two<R>(exponent - exponent / 2);
    const auto value_of = [&](int p) {
      const int label = problem.label[p];
      return as_given ? real_part(A(label, label, b)) : problem.diagonal(p);
    };
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, m), [&](int p) {
      const int label = problem.label[p];
      if (label >= n) {
        return;
      }
      const R value = value_of(p);
      int rank = 0;
      for (int q = 0; q < m; ++q) {
        const int other = problem.label[q];
        const R beside = other < n ? value_of(q) : R(0);
        rank += other < n && (beside < value || (beside == value && other < label)) ? 1 : 0;
      }
      Kokkos::single(Kokkos::PerThread(team), [&] { w(rank, b) = value * back_first * back_second; });
      if (vectors) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n),
                             [&](int i) { V(i, rank, b) = problem.Q[i + label * m]; });
      }
    });
    Kokkos::single(Kokkos::PerTeam(team), [&] { outcomes(b) = outcome; });
  }

 private:
  static KOKKOS_INLINE_FUNCTION R larger(R most, const T& value) {
    if constexpr (is_complex<T>) {
      return larger_of(larger_of(most, value.real()), value.imag());
    } else {
      return larger_of(most, value);
    }
  }
  // Infinity for a NaN.
  static KOKKOS_INLINE_FUNCTION R larger_of(R most, R value) {
    const R size = Kokkos::abs(value);
    return size != size ? Kokkos::Experimental::infinity_v<R> : Kokkos::fmax(most, size);
  }
  static KOKKOS_INLINE_FUNCTION int exponent_of(R value) { return static_cast<int>(Kokkos::logb(value)) + 1; }
  static KOKKOS_INLINE_FUNCTION bool positive(const Team& team, const SmallProblem<T>& problem, int n) {
    const int m = 2 * problem.pairs;
    int wrong = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, m),
        [&](int p, int& count) { count += problem.label[p] < n && !(problem.diagonal(p) > 0) ? 1 : 0; }, wrong);
    team.team_barrier();
    return wrong == 0;
  }
  // The largest element off the diagonal of those given, not scaled.
  KOKKOS_INLINE_FUNCTION R off_diagonal(const Team& team, Index b, int n) const {
    R off = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, n * n),
        [&](int at, R& most) {
          const int i = at % n;
          const int j = at / n;
          if (upper ? i < j : i > j) {
            most = larger(most, A(i, j, b));
          }
        },
        Kokkos::Max<R>(off));
    team.team_barrier();
    return off;
  }
  KOKKOS_INLINE_FUNCTION void note(const Team& team, const SmallProblem<T>& problem, int m, int sweep) const {
    if (history.extent(0) == 0) {
      return;
    }
    R off = 0;
    R diagonal = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, m * m),
        [&](int at, R& sum) {
          const R size = at % m < at / m ? magnitude(problem.get(at % m, at / m)) : R(0);
          sum += 2 * size * size;
        },
        off);
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, m), [&](int p, R& sum) { sum += problem.diagonal(p) * problem.diagonal(p); },
        diagonal);
    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team),
                   [&] { history(sweep) = off > 0 ? Kokkos::sqrt(off / (off + diagonal)) : R(0); });
  }
};

template <Scalar T, int fixed_pairs> void launch(const ExecutionSpace& space, SmallMatrices<T, fixed_pairs>& kernel) {
  const auto count = static_cast<int>(kernel.A.extent(2));
  const int pairs = (static_cast<int>(kernel.A.extent(0)) + 1) / 2;
  const int bytes = static_cast<int>(SmallProblem<T>::bytes(pairs)) + 64;
  Kokkos::parallel_for("heddle::eigen::batched", Teams(space, count, 1).set_scratch_size(1, Kokkos::PerTeam(bytes)),
                       kernel);
}

template <Scalar T, int N> void launch_columns(const ExecutionSpace& space, const SmallMatrices<T, 0>& any) {
  // Two columns of a thread are to fit its registers.
  constexpr int registers = N * static_cast<int>(sizeof(T)) / 2;
  constexpr int split = registers <= 128 ? 1 : registers <= 256 ? 2 : 4;
  using Kernel = SmallColumns<T, N, split>;
  const Kernel kernel{
      any.A,           any.w,        any.V,      any.vectors, any.upper, any.accuracy, any.limits.tolerance,
      any.most_sweeps, any.outcomes, any.history};
  const auto count = static_cast<int>(any.A.extent(2));
  Kokkos::parallel_for(
      "heddle::eigen::batched",
      typename Kernel::Policy(space, (count + Kernel::at_once - 1) / Kernel::at_once, Kernel::team_threads)
          .set_scratch_size(0, Kokkos::PerTeam(Kernel::bytes)),
      kernel);
}

template <Scalar T, int fixed_pairs> void launch_as(const ExecutionSpace& space, const SmallMatrices<T, 0>& any) {
  SmallMatrices<T, fixed_pairs> kernel{any.A,        any.w,      any.V,           any.vectors,  any.upper,
                                       any.accuracy, any.limits, any.most_sweeps, any.outcomes, any.history};
  launch<T, fixed_pairs>(space, kernel);
}

// Teams with a matrix each: two-sided on CPUs, one-sided in registers on GPUs.
template <Scalar T> void launch_for(const ExecutionSpace& space, SmallMatrices<T, 0>& kernel) {
  const std::size_t n = kernel.A.extent(0);
  if constexpr (on_host) {
    switch ((n + 1) / 2) {
      case 4:
        launch_as<T, 4>(space, kernel);
        break;
      case 8:
        launch_as<T, 8>(space, kernel);
        break;
      case 16:
        launch_as<T, 16>(space, kernel);
        break;
      case 32:
        launch_as<T, 32>(space, kernel);
        break;
      default:
        launch<T, 0>(space, kernel);
    }
  } else if (n <= 8) {
    launch_columns<T, 8>(space, kernel);
  } else if (n <= 16) {
    launch_columns<T, 16>(space, kernel);
  } else if (n <= 32) {
    launch_columns<T, 32>(space, kernel);
  } else {
    launch_columns<T, 64>(space, kernel);
  }
}

// A matrix of the batch whose diagonal spans too much for its neighbours' arithmetic.
template <Scalar T>
JacobiReport solve_graded_one(const ExecutionSpace& space, const StridedBatch<const T>& A,
                              const StridedMatrix<Real<T>>& w, const StridedBatch<T>* V,
                              const JacobiBatchOptions& options, JacobiMethod method, std::size_t b) {
  const auto all = Kokkos::ALL;
  JacobiOptions one;
  one.method = method;
  one.upper = options.upper;
  one.tolerance = options.tolerance;
  one.sweeps = options.sweeps;
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
        {JacobiAccuracy::norm, options.upper, options.tolerance, options.sweeps}, &report, method));
  }
  return report;
}

}  // namespace

template <Scalar T>
JacobiBatchReport jacobi_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                 const StridedMatrix<Real<T>>& w, const StridedBatch<T>* V,
                                 const JacobiBatchOptions& options, JacobiReport* history, JacobiMethod method) {
  using R = Real<T>;
  const Kokkos::Profiling::ScopedRegion region("heddle::eigen::jacobi_batched");
  const auto n = static_cast<Index>(A.extent(0));
  const auto count = A.extent(2);
  require(A.extent(1) == A.extent(0), "eigen::jacobi_batched: A is ", A.extent(0), " x ", A.extent(1),
          " each; expected square matrices");
  require(n <= largest_batched, "eigen::jacobi_batched: n = ", n, "; expected at most ", largest_batched);
  require(w.extent(0) == A.extent(0) && w.extent(1) == count, "eigen::jacobi_batched: w is ", w.extent(0), " x ",
          w.extent(1), "; expected ", n, " x ", count);
  require(V == nullptr || (V->extent(0) == A.extent(0) && V->extent(1) == A.extent(0) && V->extent(2) == count),
          "eigen::jacobi_batched: V must have the shape of A, ", n, " x ", n, " x ", count);
  require(options.sweeps > 0, "eigen::jacobi_batched: ", options.sweeps, " sweeps; expected at least 1");
  require(options.tolerance >= 0, "eigen::jacobi_batched: a tolerance of ", options.tolerance);
  JacobiBatchReport report;
  if (n == 0 || count == 0) {
    return report;
  }
  const Kokkos::View<Outcome*, MemorySpace> outcomes(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::outcomes"), count);
  SmallMatrices<T, 0> kernel;
  kernel.A = A;
  kernel.w = w;
  kernel.vectors = V != nullptr;
  if (V != nullptr) {
    kernel.V = *V;
  }
  kernel.upper = options.upper;
  kernel.accuracy = options.accuracy;
  kernel.limits = criterion_for<T>(options.tolerance, n);
  kernel.most_sweeps = options.sweeps;
  kernel.outcomes = outcomes;
  if (history != nullptr) {
    kernel.history = Kokkos::View<R*, MemorySpace>(Kokkos::view_alloc(space, "heddle::eigen::history"),
                                                   static_cast<std::size_t>(options.sweeps) + 1);
  }
  std::vector<double> lane_history;
  const bool in_lanes = on_host && !is_complex<T> && method == JacobiMethod::automatic;
  if (in_lanes) {
    if constexpr (on_host && !is_complex<T>) {
      solve_lanes<T>(
          space, HostBatch<T>{A, w, kernel.V, kernel.vectors, options.upper, options.accuracy, kernel.limits.tolerance,
                              options.sweeps, outcomes, history != nullptr ? &lane_history : nullptr});
    }
  } else {
    launch_for<T>(space, kernel);
  }
  const auto found = Kokkos::create_mirror_view(Kokkos::HostSpace(), outcomes);
  Kokkos::deep_copy(space, found, outcomes);
  space.fence("heddle::eigen::jacobi_batched");
  std::optional<JacobiReport> of_graded;  // Of the last of these, which is the one where there is a history.
  for (std::size_t b = 0; b < count; ++b) {
    Outcome& outcome = found(b);
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
    const Outcome& outcome = found(0);
    require(outcome.end >= 0, "eigen: A has elements that are NaN or infinite in the triangle that is read");
    history->end = static_cast<JacobiEnd>(outcome.end);
    history->converged = report.converged();
    history->sweeps = outcome.sweeps;
    history->rotations = outcome.rotations;
    history->accuracy = outcome.relative != 0 ? JacobiAccuracy::relative : JacobiAccuracy::norm;
    if (in_lanes) {
      history->off_norms = lane_history;
      if (outcome.relative == 0 && outcome.sweeps > 0 && lanes_begin_ahead(n)) {
        history->method = JacobiMethod::preconditioned;
      }
    } else {
      std::vector<R> norms(kernel.history.extent(0));
      Kokkos::deep_copy(space, Kokkos::View<R*, Kokkos::HostSpace>(norms.data(), norms.size()), kernel.history);
      space.fence("heddle::eigen::jacobi_batched");
      history->off_norms.assign(norms.begin(), norms.begin() + outcome.sweeps + (on_host ? 1 : 0));
    }
  }
  return report;
}

#define HEDDLE_INSTANTIATE(T)                                                                         \
  template JacobiBatchReport jacobi_batched<T>(const ExecutionSpace&, const StridedBatch<const T>&,   \
                                               const StridedMatrix<Real<T>>&, const StridedBatch<T>*, \
                                               const JacobiBatchOptions&, JacobiReport*, JacobiMethod)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::compiled
