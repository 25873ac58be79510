#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "dist/arguments.hpp"
#include "solve/elimination.hpp"
#include "solve/factorization.hpp"
#include <heddle/solve/lu.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

namespace heddle {
namespace impl {
namespace {

// One for all backends where bits are to be the same.
constexpr Index emulated_block = 256;
constexpr Index emulated_group = 16;
constexpr Index native_block = on_host ? 256 : 512;
constexpr Index native_group = on_host ? 1 : 1;

}  // namespace

LuSchedule schedule_for(Index rows, Index columns, const LuOptions& options) {
  const bool native = options.arithmetic == Arithmetic::native;
  LuSchedule schedule{rows, columns, options.block, options.group};
  if (schedule.block == 0) schedule.block = native ? native_block : emulated_block;
  if (schedule.group == 0) schedule.group = native ? native_group : emulated_group;
  return schedule;
}

void require_lu_options(Index rows, Index columns, const LuOptions& options) {
  require(rows >= 0 && columns >= 0, "lu: a matrix of ", rows, " x ", columns);
  require(options.block >= 0, "lu: block ", options.block, "; expected a number of columns, or 0");
  require(options.group >= 0 && (options.group & (options.group - 1)) == 0, "lu: group ", options.group,
          "; expected a power of two, or 0");
}

// Native factorizations are the faster ones on every machine that was measured, GPUs included (docs/notes/solve.md).
LuOptions with_arithmetic(LuOptions options) {
  if (options.arithmetic == Arithmetic::automatic) options.arithmetic = Arithmetic::native;
  return options;
}

// Blocks of columns that ranks take in turn: some sixteen, so that ranks have work to the end, of whole panels.
CyclicAxis columns_of(const LuSchedule& schedule, int ranks) {
  constexpr Index blocks = 16;
  constexpr Index widest = 2048;
  const Index wanted = std::min((schedule.columns + blocks - 1) / blocks, widest);
  const Index panels = std::max<Index>(1, (wanted + schedule.block - 1) / schedule.block);
  return {schedule.columns, panels * schedule.block, ranks};
}

namespace {

// The largest part of a number; a NaN where either is.
template <Scalar T> KOKKOS_INLINE_FUNCTION double part_size(const T& x) {
  const double re = Kokkos::abs(real_of<double>(x));
  const double im = Kokkos::abs(imaginary_of<double>(x));
  return re > im || re != re ? re : im;
}

// Of elements [0, count) of a column, on the host.
template <Scalar T> double largest_of_column(const T* x, Index count) {
  double most = 0.0;
  bool all_numbers = true;
  HEDDLE_SIMD_MOST
  for (Index i = 0; i < count; ++i) {
    const double size = part_size(x[i]);
    most = size > most ? size : most;
  }
  for (Index i = 0; i < count && all_numbers; ++i) all_numbers = part_size(x[i]) <= most;
  return all_numbers ? most : std::numeric_limits<double>::quiet_NaN();
}

// The larger of both, or a NaN.
struct LargerOrNan {
  double value = 0.0;
  KOKKOS_INLINE_FUNCTION LargerOrNan& operator+=(const LargerOrNan& other) {
    value = other.value > value || other.value != other.value ? other.value : value;
    return *this;
  }
};

// The largest part of an element of U, or, with `all`, of the whole local matrix.
template <Scalar T>
double largest_part(const ExecutionSpace& space, const MatrixView<T>& local, const CyclicAxis& axis, int rank,
                    bool all) {
  const Elements<T> a(local);
  const auto rows = static_cast<Index>(local.extent(0));
  const auto columns = static_cast<Index>(local.extent(1));
  LargerOrNan most;
  if (rows == 0 || columns == 0) return most.value;
  if constexpr (on_host) {
    Kokkos::parallel_reduce(
        "heddle::solve::largest_part", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, columns),
        [=](Index j, LargerOrNan& largest) {
          largest += {largest_of_column(&a(0, j), all ? rows : std::min(rows, axis.global(rank, j) + 1))};
        },
        most);
  } else {
    Kokkos::parallel_reduce(
        "heddle::solve::largest_part",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
        KOKKOS_LAMBDA(Index e, LargerOrNan & largest) {
          const Index j = e / rows;
          const Index i = e - j * rows;
          if (all || i <= axis.global(rank, j)) largest += LargerOrNan{part_size(a(i, j))};
        },
        most);
  }
  return most.value;
}

template <Scalar T> double lu_flops(Index rows, Index columns) {
  const auto m = static_cast<double>(rows);
  const auto n = static_cast<double>(columns);
  const double k = std::min(m, n);
  return flops_per_multiply_add<T> * (m * n * k - (m + n) * k * k / 2.0 + k * k * k / 3.0);
}

}  // namespace

/// A plan, over the ranks of a communicator or of one rank without any.
template <Scalar T> struct LuFactorization {
  LuFactorization(const ExecutionSpace& given, const Communicator* comm, Index rows, Index columns,
                  const LuOptions& options)
      : space(given),
        communicator(comm != nullptr ? std::optional<Communicator>(*comm) : std::nullopt),
        taken(with_arithmetic(options)),
        schedule(schedule_for(rows, columns, taken)),
        axis(columns_of(schedule, comm != nullptr ? comm->size() : 1)),
        placement(placement_of_columns(rows, axis)),
        elimination(space, comm, schedule, axis, taken.arithmetic) {}

  [[nodiscard]] int rank() const { return communicator ? communicator->rank() : 0; }
  [[nodiscard]] double over_ranks(double value) const {
    return communicator ? communicator->all_reduce(value, Reduction::maximum) : value;
  }
  LuReport factor(const MatrixView<T>& local) {
    LuReport report;
    report.arithmetic = taken.arithmetic;
    report.block = schedule.block;
    report.group = schedule.group;
    const double before = over_ranks(largest_part<T>(space, local, axis, rank(), true));
    space.fence("heddle::solve::before");
    const auto start = std::chrono::steady_clock::now();
    elimination.run(local, report.pivots, report.info);
    report.seconds = over_ranks(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    report.gflops = report.seconds > 0 ? lu_flops<T>(schedule.rows, schedule.columns) / report.seconds / 1e9 : 0.0;
    const double after = over_ranks(largest_part<T>(space, local, axis, rank(), false));
    report.growth = before == 0 ? 1.0 : after / before;
    return report;
  }

  ExecutionSpace space;
  std::optional<Communicator> communicator;
  LuOptions taken;
  LuSchedule schedule;
  CyclicAxis axis;
  Placement placement;
  Elimination<T> elimination;
  DistributedMatrix<T> brought;  // Where matrices come in another placement.
};

}  // namespace impl

template <Scalar T> struct LuPlan<T>::State : impl::LuFactorization<T> {
  using impl::LuFactorization<T>::LuFactorization;
};

template <Scalar T> LuPlan<T>::LuPlan(const Communicator& comm, Index rows, Index columns, const LuOptions& options) {
  comm.together([&] {
    impl::require_alike(comm, "lu",
                        {impl::argument("rows", rows), impl::argument("columns", columns),
                         impl::argument("arithmetic", to_string(options.arithmetic)),
                         impl::argument("block", options.block), impl::argument("group", options.group)},
                        [&] { impl::require_lu_options(rows, columns, options); });
    state_ = std::make_unique<State>(comm.space(), &comm, rows, columns, options);
  });
}
template <Scalar T> LuPlan<T>::~LuPlan() = default;
template <Scalar T> LuPlan<T>::LuPlan(LuPlan&&) noexcept = default;
template <Scalar T> LuPlan<T>& LuPlan<T>::operator=(LuPlan&&) noexcept = default;

template <Scalar T> const Placement& LuPlan<T>::placement() const {
  return state_->placement;
}

template <Scalar T> LuReport LuPlan<T>::execute(const DistributedMatrix<T>& A) {
  State& state = *state_;
  const Communicator& comm = *state.communicator;
  return comm.together([&] {
    impl::require_alike(comm, "lu", std::vector<impl::Argument>{impl::argument("A", A.placement())}, [&] {
      require(A.rows() == state.schedule.rows && A.columns() == state.schedule.columns, "lu: A is ", A.rows(), " x ",
              A.columns(), "; the plan is for ", state.schedule.rows, " x ", state.schedule.columns);
    });
    // One rank has all columns, in order, whatever the placement says.
    if (comm.size() == 1 || A.placement() == state.placement) return state.factor(A.local());
    if (!(state.brought.placement() == state.placement)) {
      state.brought = DistributedMatrix<T>(comm, state.placement, "heddle::solve::lu");
    }
    redistribute(A, state.brought);
    const LuReport report = state.factor(state.brought.local());
    redistribute(state.brought, A);
    return report;
  });
}

template <Scalar T> LuReport lu(const Communicator& comm, const DistributedMatrix<T>& A, const LuOptions& options) {
  return LuPlan<T>(comm, A.rows(), A.columns(), options).execute(A);
}

template <Scalar T> LuReport lu(const ExecutionSpace& space, const MatrixView<T>& A, const LuOptions& options) {
  const auto rows = static_cast<Index>(A.extent(0));
  const auto columns = static_cast<Index>(A.extent(1));
  impl::require_lu_options(rows, columns, options);
  require(rows == 0 || columns == 0 || A.stride(0) == 1, "lu: A's columns are ", A.stride(0),
          " elements apart within; expected a column-major matrix");
  impl::LuFactorization<T> state(space, nullptr, rows, columns, options);
  return state.factor(A);
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template class LuPlan<T>;                                                                    \
  template LuReport lu<T>(const Communicator&, const DistributedMatrix<T>&, const LuOptions&); \
  template LuReport lu<T>(const ExecutionSpace&, const MatrixView<T>&, const LuOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
