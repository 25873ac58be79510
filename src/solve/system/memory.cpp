// Memory of factorizations, substitutions and solutions, computed from shapes.
#include "solve/system/memory.hpp"

#include "comm/failures/release.hpp"
#include "comm/vendor/vendor.hpp"
#include "core/gibibytes.hpp"
#include "core/instantiate.hpp"
#include "dist/exchange.hpp"
#include "emulation/emulated.hpp"
#include "exact/products/inner.hpp"
#include "solve/cholesky/panel_run.hpp"
#include "solve/grid/host_columns.hpp"
#include "solve/grid/panel_exchange.hpp"
#include "solve/lu/divided_rows.hpp"
#include "solve/lu/panel_run.hpp"
#include "solve/qr/leaf.hpp"
#include "solve/qr/sums.hpp"
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

double product_of(Index one, Index other) {
  return static_cast<double>(one) * static_cast<double>(other);
}

// Add the inner dimensions of the products that solve triangles of `size` rows (Subtraction::solve()). A lower triangle
// is solved from its first half, an upper one from its second.
void add_inner_of_triangle(Index size, Index block, bool upper, std::set<Index>& inner) {
  if (size <= block) return;
  const Index half = half_in_blocks(size, block);
  inner.insert(upper ? size - half : half);
  add_inner_of_triangle(half, block, upper, inner);
  add_inner_of_triangle(size - half, block, upper, inner);
}

// Bytes kept for each quantised vector.
constexpr double of_vector = sizeof(int) + 2.0 * sizeof(std::uint64_t);

// Bytes of Subtraction: residues of both factors (`right` vectors on the right) for long inner dimensions, and sums.
template <Scalar T>
double bytes_of_products(Index rows, Index columns, Index right, Index block, Index longest,
                         const std::set<Index>& inner, Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::native || longest <= block) return 0.0;
  const int moduli = emulation_moduli<T>(longest) + factor_moduli_more;
  using Vectors = QuantisedVectors<T>;
  double bytes = 0.0;
  for (const Index k : inner) {
    if (k <= block) continue;
    bytes += Vectors::bytes(rows, k, moduli) + Vectors::bytes(right, k, moduli) +
             of_vector * static_cast<double>(rows + std::max(columns, right));
  }
  if (bytes > 0) {
    bytes += sizeof(std::int32_t) * static_cast<double>(EmulatedProduct<T>::sums_for(rows, columns, moduli, 0));
  }
  return bytes;
}

template <class Bytes> double most_of_ranks(int ranks, const Bytes& bytes) {
  double most = 0.0;
  for (int rank = 0; rank < ranks; ++rank) most = std::max(most, bytes(rank));
  return most;
}
// The most over the ranks of a grid of bytes(grid as a rank sees it).
template <class Bytes> double most_of_grid(RankGrid grid, const Bytes& bytes) {
  return most_of_ranks(grid.rows.processes * grid.columns.processes, [&](int rank) {
    grid.rank = rank;
    return bytes(grid);
  });
}

// Bytes of PanelExchange.
template <Scalar T> double bytes_of_exchange(const LuSchedule& schedule, const RankGrid& grid, PanelSide side) {
  if (grid.rows.processes * grid.columns.processes == 1) return 0.0;
  const Index kept = kept_panels(schedule);
  const double elements = most_of_grid(grid, [&](const RankGrid& here) {
    // Panels that are kept and two in messages.
    double rows = static_cast<double>(here.row_count() * kept + 2 * schedule.rows);
    if (here.divides_rows()) {
      const SideRows sides = side_rows(side, schedule, here);
      const Index all = sides.by_group ? sides.kept_rows : sides.axis.extent;
      // With divided rows also a panel on its way to be factored, and the gathered one.
      rows += static_cast<double>(sides.kept_rows * kept + 2 * all + schedule.rows + here.row_count());
    }
    return rows * static_cast<double>(schedule.block);
  });
  return sizeof(T) * elements;
}

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

}  // namespace

// Bytes of products within a run of panels (PanelRun or CholeskyRun), on the rank that factors most.
template <Scalar T>
double bytes_within_run(const LuSchedule& schedule, Index together, Arithmetic arithmetic, bool solves) {
  std::set<Index> inner;
  for (Index r = 0; r < schedule.in_runs(together).panels(); ++r) {
    const Range columns = schedule.in_runs(together).panel(r);
    const LuSchedule order = schedule.within_run(together, schedule.rows - columns.begin, columns.size());
    for (Index p = 0; p < order.panels(); ++p) {
      const LuSchedule::Update update = order.update_after(p);
      if (update.columns.empty()) continue;
      const Range of = order.rows_of(update);
      if (solves) add_inner_of_triangle(of.size(), schedule.block, false, inner);
      inner.insert(of.size());
    }
  }
  const Index width = together * schedule.block;
  const Index longest = PanelRun<T>::longest_inner(schedule, together);
  if (solves) {
    return bytes_of_products<T>(schedule.rows, width, width, schedule.block, longest, inner, arithmetic);
  }
  const bool takes_rows = schedule.block % QuantisedVectors<T>::vector_padding == 0;
  const Index piece = cholesky_width(schedule, {width, width, 1}, arithmetic);
  const Index right = takes_rows ? (is_complex<T> ? schedule.rows : 0) : piece;
  return bytes_of_products<T>(schedule.rows, piece, right, schedule.block, longest, inner, arithmetic) +
         sizeof(T) * product_of(longest, piece);
}

template <Scalar T> double lu_workspace(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic) {
  const Index together = panels_together(schedule, grid.columns.processes);
  const LuSchedule runs = schedule.in_runs(together);
  const double of_products = most_of_grid(grid, [&](const RankGrid& here) {
    std::set<Index> inner;
    for (Index r = 0; r < runs.panels(); ++r) {
      const LuSchedule::Update update = runs.update_after(r);
      if (here.local_columns(update.columns).empty()) continue;
      const Range of = runs.rows_of(update);
      add_inner_of_triangle(of.size(), schedule.block, false, inner);
      if (of.end < schedule.rows) inner.insert(of.size());
    }
    const double of_rows = here.divides_rows() ? DividedRows<T>::bytes(runs, here.column_count()) : 0.0;
    return of_rows +
           bytes_of_products<T>(rows_of_products(runs, here), here.column_count(), here.column_count(), schedule.block,
                                runs.longest_inner(), inner, arithmetic) +
           bytes_within_run<T>(schedule, together, arithmetic, true);
  });
  // Pivots and moves of each panel, and on GPUs the order of rows.
  const double of_panels = sizeof(Index) * (product_of(schedule.panels(), PanelResult::extent(schedule.block)) +
                                            (on_host ? 0.0 : static_cast<double>(schedule.rows)));
  return of_products + of_panels + bytes_of_exchange<T>(runs, grid, PanelSide::group);
}

template <Scalar T> double cholesky_workspace(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic) {
  const Index together = panels_together(schedule, grid.columns.processes);
  const LuSchedule runs = schedule.in_runs(together);
  const Index width = cholesky_width(schedule, grid.columns, arithmetic);
  const double of_products = most_of_grid(grid, [&](const RankGrid& here) {
    std::set<Index> inner;
    for (Index r = 0; r < runs.panels(); ++r) {
      const LuSchedule::Update update = runs.update_after(r);
      if (!here.local_columns(update.columns).empty()) inner.insert(runs.rows_of(update).size());
    }
    const bool takes_rows = schedule.block % QuantisedVectors<T>::vector_padding == 0;
    return bytes_of_products<T>(here.row_count(), width, takes_rows ? rows_across<T>(here) : width, schedule.block,
                                runs.longest_inner(), inner, arithmetic) +
           bytes_within_run<T>(schedule, together, arithmetic, false);
  });
  // On GPUs also diagonal blocks.
  const double of_turned =
      sizeof(T) * (product_of(runs.longest_inner(), width) + product_of(schedule.block, schedule.block) +
                   (on_host ? 0.0 : product_of(leaf_width<T>, schedule.block)));
  return of_products + of_turned + bytes_of_exchange<T>(runs, grid, PanelSide::columns);
}

template <Scalar T> double qr_workspace(const LuSchedule& schedule, const RankGrid& grid, Arithmetic arithmetic) {
  const Index rows = schedule.rows;
  const Index width = std::min(schedule.block, std::max<Index>(schedule.steps(), 1));
  // The reflections of a panel, the triangles of all, sums over runs of rows, and their operands within a panel.
  const Index within = std::max(qr_leaf_width * qr_leaf_width, width * width / 4);
  const auto runs = static_cast<double>(runs_of(0, rows));
  const double of_panels = product_of(rows, width) + product_of(schedule.panels() * width, width) +
                           runs * static_cast<double>(within + qr_leaf_width) + 2.0 * static_cast<double>(within);
  const double of_products = most_of_grid(grid, [&](const RankGrid& here) {
    const Index targets = here.column_count();
    double bytes =
        sizeof(T) * (2.0 * product_of(width, targets) + product_of(width, width) + static_cast<double>(targets));
    if (arithmetic == Arithmetic::emulated && rows > 0 && targets > 0) {
      const int moduli = emulation_moduli<T>(rows) + factor_moduli_more;
      bytes += QuantisedVectors<T>::bytes(width, rows, moduli) + QuantisedVectors<T>::bytes(targets, rows, moduli) +
               of_vector * static_cast<double>(width + targets) +
               sizeof(std::int32_t) * static_cast<double>(EmulatedProduct<T>::sums_for(width, targets, moduli, 0));
    }
    return bytes;
  });
  return of_products + sizeof(T) * of_panels + bytes_of_exchange<T>(schedule, grid, PanelSide::group);
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): what a Substitution is made of
double substitution_workspace(const LuSchedule& schedule, const CyclicAxis& columns, const CyclicAxis& right,
                              Operation op, Arithmetic arithmetic, Residence residence) {
  const Index n = schedule.rows;
  const Index width = std::max<Index>(1, std::min(schedule.group * schedule.block, n));
  std::set<Index> inner;
  for (Index begin = 0; begin < n; begin += width) {
    const Index size = std::min(width, n - begin);
    for (const bool upper : {false, true}) add_inner_of_triangle(size, schedule.block, upper, inner);
    if (n > width) inner.insert(size);
  }
  const double of_products = most_of_ranks(right.processes, [&](int rank) {
    return right.count(rank) == 0 ? 0.0
                                  : bytes_of_products<T>(n, right.count(rank), right.count(rank), schedule.block, width,
                                                         inner, arithmetic);
  });
  double elements = op == Operation::none ? 0.0 : product_of(n, width);
  if (columns.processes > 1) elements += product_of(n, width + 2 * std::min(columns.block, width));
  if (columns.processes == 1 && residence == Residence::host) elements += product_of(n, width);
  return of_products + sizeof(T) * elements;
}

template <Scalar T> double bytes_of_local(Index rows, const CyclicAxis& columns) {
  return sizeof(T) * most_of_ranks(columns.processes, [&](int rank) { return product_of(rows, columns.count(rank)); });
}

template <Scalar T> double bytes_of_part(const RankGrid& grid) {
  return sizeof(T) *
         most_of_grid(grid, [](const RankGrid& here) { return product_of(here.row_count(), here.column_count()); });
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
      (by_lu ? lu_workspace<T> : cholesky_workspace<T>)(slabs.schedule_of(first),
                                                        RankGrid::of_columns(schedule.rows, columns, 0), arithmetic);
  if (slabs.count() == 1) return slab + factoring;

  // A slab with panels on its left; for Cholesky it has the rows from the slab's own on.
  const Index rows = by_lu ? schedule.rows : schedule.rows - first.end;
  const Index longest = schedule.longest_inner();
  std::set<Index> inner{longest};
  if (by_lu) add_inner_of_triangle(longest, schedule.block, false, inner);
  if (const Index rest = schedule.steps() % longest; by_lu && rest > 0 && schedule.columns > schedule.steps()) {
    inner.insert(rest);
    add_inner_of_triangle(rest, schedule.block, false, inner);
  }
  const Index width = cholesky_width(schedule, columns, arithmetic);
  const Index across = schedule.block % QuantisedVectors<T>::vector_padding == 0
                           ? rows_across<T>(RankGrid::of_columns(rows, columns, 0))
                           : width;
  const double of_products = most_of_ranks(columns.processes, [&](int rank) {
    const Index count = columns.count(rank);
    return by_lu
               ? bytes_of_products<T>(std::max(rows, longest), count, count, schedule.block, longest, inner, arithmetic)
               : bytes_of_products<T>(rows, width, across, schedule.block, longest, inner, arithmetic) +
                     sizeof(T) * product_of(longest, width);
  });
  const double applying = of_products + sizeof(T) * PanelStream<T>::elements(rows, slabs.batch());
  const double of_panels =
      by_lu ? sizeof(Index) * product_of(schedule.panels(), PanelResult::extent(schedule.block)) : 0.0;
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
  const WorkspaceBytes workspace = kind == FactorizationKind::lu ? lu_workspace<T> : cholesky_workspace<T>;
  return workspace(shape.schedule, shape.grid, arithmetic) + (placed ? 0.0 : bytes_of_copy<T>(shape.grid));
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
         impl::substitution_workspace<T>(shape.schedule, shape.columns, right, op, shape.options.arithmetic, residence);
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
  const Operation op = by_lu ? Operation::none : Operation::conjugate_transpose;
  const auto solving = [&](const CyclicAxis& right) {
    return impl::substitution_workspace<T>(shape.schedule, shape.columns, right, op, arithmetic, residence);
  };
  const CyclicAxis right = impl::right_hand_sides(right_hand_sides, ranks);
  const double of_right = impl::bytes_of_local<T>(order, right);
  // GPUs keep exact sums of residuals whose rounding is open, for one right-hand side at a time.
  const double of_sums = impl::on_host ? 0.0 : sizeof(exact::impl::ExactSum<T>) * static_cast<double>(order);
  // x, b and r; rows are reordered in a copy.
  const double system = (by_lu ? 4.0 : 3.0) * of_right + std::max(solving(right), of_sums);
  const double messages = impl::bytes_of_copy<T>(order, shape.columns, Residence::host);
  const double conditions =
      options.condition ? impl::InverseNorm<T>::memory(shape.schedule, shape.columns, by_lu, arithmetic, residence) : 0;
  double most = std::max({messages, factoring, system, conditions});
  if (options.certificate) {
    // The inverse, a copy with rows in another order, I - R A, and the bands, tiles and messages of their product.
    const double inverse = impl::bytes_of_local<T>(order, impl::right_hand_sides(order, ranks));
    const double beside =
        ranks == 1 ? 3.0 * inverse : 6.0 * inverse + impl::certificate_product(order, ranks, sizeof(T));
    most = std::max(most, system + solving(impl::right_hand_sides(order, ranks)) + beside);
  }
  return factors + most;
}

#define HEDDLE_INSTANTIATE(T)                                                                                    \
  template double impl::lu_workspace<T>(const impl::LuSchedule&, const impl::RankGrid&, Arithmetic);             \
  template double impl::cholesky_workspace<T>(const impl::LuSchedule&, const impl::RankGrid&, Arithmetic);       \
  template double impl::qr_workspace<T>(const impl::LuSchedule&, const impl::RankGrid&, Arithmetic);             \
  template double impl::substitution_workspace<T>(const impl::LuSchedule&, const CyclicAxis&, const CyclicAxis&, \
                                                  Operation, Arithmetic, Residence);                             \
  template double impl::bytes_of_local<T>(Index, const CyclicAxis&);                                             \
  template double impl::bytes_of_copy<T>(const impl::RankGrid&);                                                 \
  template double impl::bytes_of_messages<T>(const impl::RankGrid&);                                             \
  template double impl::slab_bytes<T>(const impl::ColumnSlabs&, impl::FactorizationKind, Arithmetic);            \
  template impl::ColumnSlabs impl::fewest_slabs<T>(const impl::LuSchedule&, const CyclicAxis&,                   \
                                                   impl::FactorizationKind, Arithmetic, double);                 \
  template double lu_memory<T>(Index, Index, int, const FactorOptions&, bool, Residence);                        \
  template double cholesky_memory<T>(Index, int, const FactorOptions&, bool, Residence);                         \
  template double trsm_memory<T>(Index, Index, int, Operation, const FactorOptions&, bool, Residence);           \
  template double solve_memory<T>(Index, Index, int, const SolveOptions&, Residence)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
