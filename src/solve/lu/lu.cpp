// LU factorizations over all ranks or on one, their options and schedules.
#include "core/instantiate.hpp"
#include "core/simd.hpp"
#include "solve/grid/factorization.hpp"
#include "solve/lu/elimination.hpp"
#include "solve/lu/lu_slabs.hpp"
#include "solve/system/residuals.hpp"
#include <heddle/solve/lu.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace heddle {
namespace impl {
namespace {

// One value for all backends, so that bits are the same.
constexpr Index emulated_block = 256;
constexpr Index emulated_group = 16;
constexpr Index native_block = on_host ? 256 : 512;

}  // namespace

LuSchedule schedule_for(Index rows, Index columns, const FactorOptions& options) {
  const bool native = options.arithmetic == Arithmetic::native;
  LuSchedule schedule{rows, columns, options.block, options.group};
  if (schedule.block == 0) schedule.block = native ? native_block : emulated_block;
  if (schedule.group == 0) schedule.group = native ? 1 : emulated_group;
  // Blocks and groups larger than the matrix would only enlarge workspaces.
  schedule.block = std::min(schedule.block, std::max(schedule.steps(), emulated_block));
  while (schedule.group > emulated_group && schedule.group / 2 >= schedule.panels()) schedule.group /= 2;
  if (!native) schedule.most_together = schedule.group;
  return schedule;
}

void require_lu_options(const char* of, Index rows, Index columns, const FactorOptions& options) {
  require(rows >= 0 && columns >= 0, of, ": a matrix of ", rows, " x ", columns);
  // Panels are counted one by one before memory is asked for.
  require(std::min(rows, columns) < Index{1} << 31, of, ": a matrix of ", rows, " x ", columns,
          "; expected fewer than 2^31 rows or columns");
  require(options.block >= 0, of, ": block ", options.block, "; expected a number of columns, or 0");
  require(options.group >= 0 && (options.group & (options.group - 1)) == 0, of, ": group ", options.group,
          "; expected a power of two, or 0");
  require(options.grid_rows >= 1, of, ": grid_rows ", options.grid_rows, "; expected 1 or more");
}

// Native factorizations are the faster ones on every machine that was measured, GPUs included (docs/notes/solve.md).
FactorOptions with_arithmetic(FactorOptions options) {
  if (options.arithmetic == Arithmetic::automatic) options.arithmetic = Arithmetic::native;
  return options;
}

Index panels_together(const LuSchedule& schedule, int ranks) {
  const Index together = schedule.most_together;
  if (ranks == 1) return 1;
  const Index runs_of_a_rank = on_host ? 4 : 2;
  return schedule.panels() >= runs_of_a_rank * ranks * together ? together : 1;
}

// Blocks of columns, dealt out to the ranks in turn: some sixteen blocks, of whole panels, so that ranks have work to
// the end.
CyclicAxis columns_of(const LuSchedule& schedule, int ranks) {
  constexpr Index blocks = 16;
  constexpr Index widest = 1024;
  const Index wanted = std::min((schedule.columns + blocks - 1) / blocks, widest);
  const Index run = panels_together(schedule, ranks) * schedule.block;
  const Index runs = std::max<Index>(1, (wanted + run - 1) / run);
  return {schedule.columns, runs * run, ranks};
}

RankGrid grid_of(const LuSchedule& schedule, const FactorOptions& options, int ranks, int rank) {
  const CyclicAxis columns = columns_of(schedule, ranks / options.grid_rows);
  if (options.grid_rows == 1) return RankGrid::of_columns(schedule.rows, columns, rank);
  return {{schedule.rows, columns.block, options.grid_rows}, columns, rank};
}

void require_grid(const char* of, const FactorOptions& options, int ranks) {
  require(ranks % options.grid_rows == 0, of, ": grid_rows ", options.grid_rows, "; expected a divisor of ", ranks,
          ranks == 1 ? " rank" : " ranks");
}

namespace {

// Return the largest part of elements [0, count) of a column, on the host.
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

// Reducer: the larger of both, or a NaN.
struct LargerOrNan {
  double value = 0.0;
  KOKKOS_INLINE_FUNCTION LargerOrNan& operator+=(const LargerOrNan& other) {
    value = other.value > value || other.value != other.value ? other.value : value;
    return *this;
  }
};

// Return the largest part of an element of U, or, with `all`, of any element, of this rank's columns from number
// `first` on.
template <Scalar T>
double largest_part(const ExecutionSpace& space, const MatrixView<T>& local, const RankGrid& grid, bool all,
                    Index first = 0) {
  const Elements<T> a(local);
  const auto rows = static_cast<Index>(local.extent(0));
  const auto columns = static_cast<Index>(local.extent(1));
  const CyclicAxis axis = grid.columns;
  const CyclicAxis row_axis = grid.rows;
  const int column = grid.column();
  const int row = grid.row();
  LargerOrNan most;
  if (rows == 0 || columns == 0) return most.value;
  if constexpr (on_host) {
    Kokkos::parallel_reduce(
        "heddle::solve::largest_part", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, columns),
        [=](Index j, LargerOrNan& largest) {
          largest += {largest_of_column(
              &a(0, j),
              all ? rows : row_axis.count_below(row, std::min(row_axis.extent, axis.global(column, first + j) + 1)))};
        },
        most);
  } else {
    Kokkos::parallel_reduce(
        "heddle::solve::largest_part",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
        KOKKOS_LAMBDA(Index e, LargerOrNan & largest) {
          const Index j = e / rows;
          const Index i = e - j * rows;
          if (all || row_axis.global(row, i) <= axis.global(column, first + j))
            largest += LargerOrNan{part_size(a(i, j))};
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

template <Scalar T> struct LuFactorization : PlannedFactorization<T> {
  LuFactorization(const ExecutionSpace& given, const Communicator* comm, Index rows, Index columns,
                  const FactorOptions& options, Residence residence = Residence::device)
      : PlannedFactorization<T>(given, comm, rows, columns, options, "lu", Elimination<T>::bytes, residence) {
    if (!this->in_host_memory()) prepare();
  }
  void prepare() {
    const Communicator* const comm = this->communicator ? &*this->communicator : nullptr;
    elimination.emplace(this->space, comm, this->schedule, this->grid, this->taken.arithmetic);
  }

  LuReport factor(const MatrixView<T>& local) {
    if (this->slabs) return factor_by_slabs(local);
    if (!elimination) prepare();
    LuReport report;
    const double before = over_all(largest_part<T>(this->space, local, this->grid, true));
    this->measure(report, lu_flops<T>(this->schedule.rows, this->schedule.columns), [&] {
      this->on_aligned(report, local, [&](const MatrixView<T>& matrix) {
        elimination->run(matrix, report.pivots, report.info, this->watch);
      });
    });
    if (this->in_host_memory()) elimination.reset();
    const double after = over_all(largest_part<T>(this->space, local, this->grid, false));
    report.growth = before == 0 ? 1.0 : after / before;
    return report;
  }
  LuReport factor_by_slabs(const MatrixView<T>& local) {
    LuReport report;
    LargerOrNan before;
    LargerOrNan after;
    LuSlabs<T> by_slabs(*this->communicator, *this->slabs, this->taken.arithmetic);
    this->measure(report, lu_flops<T>(this->schedule.rows, this->schedule.columns), [&] {
      by_slabs.run(local, report.pivots, report.info, this->watch,
                   [&](const MatrixView<T>& columns, Index first, bool factored) {
                     (factored ? after : before) +=
                         LargerOrNan{largest_part<T>(this->space, columns, this->grid, !factored, first)};
                   });
    });
    const double most = over_all(before.value);
    const double found = over_all(after.value);
    report.growth = most == 0 ? 1.0 : found / most;
    return report;
  }
  // MPI's maximum of a number and a NaN may be either.
  double over_all(double mine) {
    const bool numbers = this->over_ranks(std::isnan(mine) ? 1.0 : 0.0) == 0.0;
    const double most = this->over_ranks(std::isnan(mine) ? 0.0 : mine);
    return numbers ? most : std::numeric_limits<double>::quiet_NaN();
  }

  std::optional<Elimination<T>> elimination;  // For matrices in host memory it exists only during a factorization.
};

}  // namespace impl

template <Scalar T> struct LuPlan<T>::State : impl::LuFactorization<T> {
  using impl::LuFactorization<T>::LuFactorization;
};

template <Scalar T>
LuPlan<T>::LuPlan(const Communicator& comm, Index rows, Index columns, const FactorOptions& options,
                  Residence residence) {
  comm.together([&] {
    std::vector<impl::Argument> arguments = impl::arguments_of(options);
    arguments.push_back(impl::argument("rows", rows));
    arguments.push_back(impl::argument("columns", columns));
    arguments.push_back(impl::argument("in host memory", residence == Residence::host));
    impl::require_alike(comm, "lu", arguments, [&] {
      impl::require_lu_options("lu", rows, columns, options);
      impl::require_grid("lu", options, comm.size());
    });
    state_ = std::make_unique<State>(comm.space(), &comm, rows, columns, options, residence);
  });
}
template <Scalar T> LuPlan<T>::~LuPlan() = default;
template <Scalar T> LuPlan<T>::LuPlan(LuPlan&&) noexcept = default;
template <Scalar T> LuPlan<T>& LuPlan<T>::operator=(LuPlan&&) noexcept = default;

template <Scalar T> const Placement& LuPlan<T>::placement() const {
  return state_->placement;
}

template <Scalar T> LuReport LuPlan<T>::execute(const DistributedMatrix<T>& A) {
  return state_->in_place("lu", A, [&](const MatrixView<T>& local) { return state_->factor(local); });
}

template <Scalar T> LuReport lu(const Communicator& comm, const DistributedMatrix<T>& A, const FactorOptions& options) {
  return LuPlan<T>(comm, A.rows(), A.columns(), options, A.placement().residence()).execute(A);
}

template <Scalar T> LuReport lu(const ExecutionSpace& space, const MatrixView<T>& A, const FactorOptions& options) {
  const impl::PlacedMatrix<T> a(space, "lu", "A", A);
  impl::require_lu_options("lu", a.rows(), a.columns(), options);
  impl::require_grid("lu", options, 1);
  return impl::LuFactorization<T>(space, nullptr, a.rows(), a.columns(), options).factor(a.local());
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template class LuPlan<T>;                                                                        \
  template LuReport lu<T>(const Communicator&, const DistributedMatrix<T>&, const FactorOptions&); \
  template LuReport lu<T>(const ExecutionSpace&, const MatrixView<T>&, const FactorOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
