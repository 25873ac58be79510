// Memory of factorizations, substitutions and solutions, computed from shapes.
#include "solve/system/memory.hpp"

#include "comm/failures/release.hpp"
#include "comm/vendor/vendor.hpp"
#include "core/gibibytes.hpp"
#include "core/instantiate.hpp"
#include "dist/exchange.hpp"
#include "exact/products/inner.hpp"
#include "solve/cholesky/elimination.hpp"
#include "solve/grid/host_columns.hpp"
#include "solve/lu/elimination.hpp"
#include "solve/system/inverse_norm.hpp"
#include "solve/system/system.hpp"
#include <heddle/solve/memory.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>
#include <string>

namespace heddle {
namespace impl {
namespace {

std::string amount(double bytes) {
  char text[64];
  static_cast<void>(std::snprintf(text, sizeof(text), "%.0f bytes (", bytes));
  return text + gibibytes(bytes) + ")";
}

// Shape, options and schedule of an operation.
struct Shape {
  FactorOptions options;
  LuSchedule schedule;
  RankGrid grid;
  CyclicAxis columns;  // Used if columns alone are dealt out.
};
Shape shape_of(const char* of, Index rows, Index columns, int ranks, const FactorOptions& given) {
  require(ranks >= 1, of, ": ", ranks, " ranks; expected 1 or more");
  require_lu_options(of, rows, columns, given);
  require_grid(of, given, ranks);
  Shape shape;
  shape.options = with_arithmetic(given);
  shape.schedule = schedule_for(rows, columns, shape.options);
  shape.grid = grid_of(shape.schedule, shape.options, ranks, 0);
  shape.columns = columns_of(shape.schedule, ranks);
  return shape;
}

template <Scalar T> WorkspaceBytes factoring_bytes(FactorizationKind kind) {
  return kind == FactorizationKind::lu ? Elimination<T>::bytes : CholeskyElimination<T>::bytes;
}

template <Scalar T> double bytes_of_part(const RankGrid& grid) {
  return sizeof(T) * most_of_ranks(grid, [](const RankGrid& here) {
           return size_of_matrix(here.row_count(), here.column_count());
         });
}

}  // namespace

template <Scalar T> double bytes_of_local(Index rows, const CyclicAxis& columns) {
  return bytes_of_part<T>(RankGrid::of_columns(rows, columns, 0));
}

template <Scalar T> double bytes_of_messages(const RankGrid& grid) {
  const int ranks = grid.rows.processes * grid.columns.processes;
  const double message = bytes_of_part<T>(grid) / ranks;
  const double panel =
      std::clamp(message / 16.0, static_cast<double>(smallest_panel_bytes), static_cast<double>(largest_panel_bytes));
  const double under_way = std::min(message, panel * static_cast<double>(panels_under_way));
  // Packed, received, and reordered.
  return 3.0 * under_way * (ranks - 1);
}

template <Scalar T> double bytes_of_copy(const RankGrid& grid) {
  if (grid.rows.processes * grid.columns.processes == 1) return 0.0;
  return bytes_of_part<T>(grid) + bytes_of_messages<T>(grid);
}

template <Scalar T> double slab_bytes(const ColumnSlabs& slabs, FactorizationKind kind, Arithmetic arithmetic) {
  const LuSchedule& schedule = slabs.schedule;
  const bool by_lu = kind == FactorizationKind::lu;
  const Range first = slabs.slab(0);
  const CyclicAxis columns = slabs.columns_of(first);
  const double slab = bytes_of_local<T>(schedule.rows, columns);
  const double factoring =
      factoring_bytes<T>(kind)(slabs.schedule_of(first), RankGrid::of_columns(schedule.rows, columns, 0), arithmetic);
  if (slabs.count() == 1) return slab + factoring;

  // A slab with panels on its left; for Cholesky it has the rows from the slab's own on.
  const Index rows = by_lu ? schedule.rows : schedule.rows - first.end;
  const Index longest = schedule.longest_inner();
  std::set<Index> inner{longest};
  if (by_lu) Subtraction<T>::add_inner(longest, schedule.block, Triangle::lower, inner);
  if (const Index rest = schedule.steps() % longest; by_lu && rest > 0 && schedule.columns > schedule.steps()) {
    inner.insert(rest);
    Subtraction<T>::add_inner(rest, schedule.block, Triangle::lower, inner);
  }
  const double of_products = most_of_ranks(RankGrid::of_columns(rows, columns, 0), [&](const RankGrid& here) {
    const Index count = here.column_count();
    return by_lu ? Subtraction<T>::bytes(arithmetic, schedule.block, std::max(rows, longest), count, count, longest,
                                         inner)
                 : CholeskyUpdate<T>::bytes(arithmetic, schedule, here, longest, inner);
  });
  const double applying = of_products + sizeof(T) * PanelStream<T>::elements(rows, slabs.batch());
  const double of_panels =
      by_lu ? sizeof(Index) * size_of_matrix(schedule.panels(), PanelResult::extent(schedule.block)) : 0.0;
  return slab + std::max(factoring, applying) + of_panels;
}

template <Scalar T>
ColumnSlabs fewest_slabs(const LuSchedule& schedule, const CyclicAxis& columns, FactorizationKind kind,
                         Arithmetic arithmetic, double allowed) {
  const Index unit = ColumnSlabs::unit(schedule, columns, arithmetic);
  const Index most = std::max<Index>(1, (schedule.columns + unit - 1) / unit);
  const auto of = [&](Index units) { return ColumnSlabs{schedule, columns, units * unit}; };
  for (Index slabs = 1; slabs < most; ++slabs) {
    const ColumnSlabs found = of((most + slabs - 1) / slabs);
    if (slab_bytes<T>(found, kind, arithmetic) <= allowed) return found;
  }
  return of(1);
}

double allowed_bytes(const Communicator* comm, double limit) {
  double allowed = limit > 0 ? limit : std::numeric_limits<double>::infinity();
  if (vendor::memory_info().total == 0) return allowed;
  if (comm != nullptr) release_mappings(*comm);
  const double mine = 0.95 * static_cast<double>(vendor::memory_info().free);
  return std::min(allowed, comm != nullptr ? comm->all_reduce(mine, Reduction::minimum) : mine);
}

void require_memory(const char* of, const Communicator* comm, double needed, double limit) {
  if (limit > 0 && needed > limit) {
    throw Error(ErrorKind::memory, message_of(of, ": needs ", amount(needed), " of memory on a rank; ", amount(limit),
                                              " are allowed (memory_limit)"));
  }
  const auto total = static_cast<double>(vendor::memory_info().total);
  if (total == 0) return;
  const auto least_free = [&] {
    const auto mine = static_cast<double>(vendor::memory_info().free);
    return comm != nullptr ? comm->all_reduce(mine, Reduction::minimum) : mine;
  };
  double free = least_free();
  if (free < needed && comm != nullptr) {
    release_mappings(*comm);
    free = least_free();
  }
  if (free >= needed) return;
  throw Error(ErrorKind::memory, message_of(of, ": needs ", amount(needed), " of device memory on a rank; ",
                                            amount(free), " of ", gibibytes(total), " are free"));
}

namespace {

// Bytes of a factorization, with the smallest slabs; also of the messages that bring the matrix, and of its copy if it
// does not go by slabs, unless it is `placed`.
template <Scalar T>
double bytes_of_factoring(const Shape& shape, FactorizationKind kind, bool placed, Residence residence) {
  const Arithmetic arithmetic = shape.options.arithmetic;
  if (goes_by_slabs(residence, shape.grid)) {
    const ColumnSlabs slabs = fewest_slabs<T>(shape.schedule, shape.columns, kind, arithmetic, 0.0);
    return std::max(slab_bytes<T>(slabs, kind, arithmetic), placed ? 0.0 : bytes_of_messages<T>(shape.grid));
  }
  return factoring_bytes<T>(kind)(shape.schedule, shape.grid, arithmetic) +
         (placed ? 0.0 : bytes_of_copy<T>(shape.grid));
}

}  // namespace
}  // namespace impl

template <Scalar T>
double lu_memory(Index rows, Index columns, int ranks, const FactorOptions& options, bool placed, Residence residence) {
  return impl::bytes_of_factoring<T>(impl::shape_of("lu_memory", rows, columns, ranks, options),
                                     impl::FactorizationKind::lu, placed, residence);
}

template <Scalar T>
double cholesky_memory(Index order, int ranks, const FactorOptions& options, bool placed, Residence residence) {
  return impl::bytes_of_factoring<T>(impl::shape_of("cholesky_memory", order, order, ranks, options),
                                     impl::FactorizationKind::cholesky, placed, residence);
}

template <Scalar T>
double trsm_memory(Index order, Index right_hand_sides, int ranks, Operation op, const FactorOptions& options,
                   bool placed, Residence residence) {
  FactorOptions by_columns = options;
  by_columns.grid_rows = 1;
  const impl::Shape shape = impl::shape_of("trsm_memory", order, order, ranks, by_columns);
  require(right_hand_sides >= 0, "trsm_memory: ", right_hand_sides, " right-hand sides; expected 0 or more");
  const CyclicAxis right = impl::right_hand_sides(right_hand_sides, ranks);
  const double copies =
      placed ? 0.0 : impl::bytes_of_copy<T>(order, shape.columns, residence) + impl::bytes_of_copy<T>(order, right);
  return copies +
         impl::Substitution<T>::bytes(shape.schedule, shape.columns, right, op, shape.options.arithmetic, residence);
}

template <Scalar T>
double solve_memory(Index order, Index right_hand_sides, int ranks, const SolveOptions& options, Residence residence) {
  const impl::Shape shape = impl::shape_of("solve_memory", order, order, ranks, options.factorization);
  require(right_hand_sides >= 0, "solve_memory: ", right_hand_sides, " right-hand sides; expected 0 or more");
  require(options.refinements >= 0, "solve_memory: ", options.refinements, " refinements; expected 0 or more");
  const bool by_lu = options.method == SolveMethod::lu;
  const Arithmetic arithmetic = shape.options.arithmetic;
  const auto kind = by_lu ? impl::FactorizationKind::lu : impl::FactorizationKind::cholesky;
  const double factors = residence == Residence::host ? 0.0 : impl::bytes_of_local<T>(order, shape.columns);
  const double factoring = impl::bytes_of_factoring<T>(shape, kind, !shape.grid.divides_rows(), residence);
  const auto solving = [&](const CyclicAxis& right, Operation op) {
    return impl::Substitution<T>::bytes(shape.schedule, shape.columns, right, op, arithmetic, residence);
  };
  const CyclicAxis right = impl::right_hand_sides(right_hand_sides, ranks);
  const double of_right = impl::bytes_of_local<T>(order, right);
  // GPUs keep exact sums of residuals whose rounding is open, for one right-hand side at a time.
  const double of_sums = impl::on_host ? 0.0 : sizeof(exact::impl::ExactSum<T>) * static_cast<double>(order);
  // x, b and r; rows are reordered in a copy.
  const double system = (by_lu ? 4.0 : 3.0) * of_right +
                        std::max(solving(right, by_lu ? Operation::none : Operation::conjugate_transpose), of_sums);
  const double messages = impl::bytes_of_copy<T>(order, shape.columns, Residence::host);
  const double conditions =
      options.condition ? impl::InverseNorm<T>::memory(shape.schedule, shape.columns, by_lu, arithmetic, residence) : 0;
  double most = std::max({messages, factoring, system, conditions});
  if (options.certificate || options.rounding == Rounding::correct) {
    // The inverse, a copy with rows in another order, I - R A, and the bands, tiles and messages of their product.
    const double inverse = impl::bytes_of_local<T>(order, impl::right_hand_sides(order, ranks));
    const double beside =
        ranks == 1 ? 3.0 * inverse : 6.0 * inverse + impl::certificate_product(order, ranks, sizeof(T));
    const double inverting = solving(impl::right_hand_sides(order, ranks), Operation::conjugate_transpose);
    most = std::max(most, system + inverting + beside);
  }
  return factors + most;
}

#define HEDDLE_INSTANTIATE(T)                                                                          \
  template double impl::bytes_of_local<T>(Index, const CyclicAxis&);                                   \
  template double impl::bytes_of_copy<T>(const impl::RankGrid&);                                       \
  template double impl::bytes_of_messages<T>(const impl::RankGrid&);                                   \
  template double impl::slab_bytes<T>(const impl::ColumnSlabs&, impl::FactorizationKind, Arithmetic);  \
  template impl::ColumnSlabs impl::fewest_slabs<T>(const impl::LuSchedule&, const CyclicAxis&,         \
                                                   impl::FactorizationKind, Arithmetic, double);       \
  template double lu_memory<T>(Index, Index, int, const FactorOptions&, bool, Residence);              \
  template double cholesky_memory<T>(Index, int, const FactorOptions&, bool, Residence);               \
  template double trsm_memory<T>(Index, Index, int, Operation, const FactorOptions&, bool, Residence); \
  template double solve_memory<T>(Index, Index, int, const SolveOptions&, Residence)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
