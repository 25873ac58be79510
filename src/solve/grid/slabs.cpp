// Widths, work and updates of slabs of columns.
#include "solve/grid/slabs.hpp"

#include <numeric>

namespace heddle::impl {
namespace {

// The integral of (m - t) (n - t) from 0 to k.
double rectangles(double m, double n, double k) {
  return m * n * k - (m + n) * k * k / 2.0 + k * k * k / 3.0;
}

// Multiply-adds of an LU factorization of the first `before` columns of a matrix of m rows, and of `steps` steps in the
// columns of a slab behind them.
double lu_work(double m, double before, double width, double steps) {
  const double above = std::min(steps, before);
  const double within = std::max(steps - before, 0.0);
  return rectangles(m, before, std::min(m, before)) + width * (m * above - above * above / 2.0) +
         rectangles(std::max(m - before, 0.0), width, within);
}
// The same for Cholesky's method and a matrix of n rows: column j takes j steps of n - j rows.
double cholesky_work(double n, double before, double width, double steps) {
  const double above = std::min(steps, before);
  const double within = std::max(steps - before, 0.0);
  const double rest = width - within;
  return n * before * before / 2.0 - before * before * before / 3.0 +
         above * (width * (n - before) - width * width / 2.0) + rectangles(n - before, width, within) -
         (width * width * width - rest * rest * rest) / 6.0;
}

}  // namespace

Index ColumnSlabs::unit(const LuSchedule& schedule, const CyclicAxis& columns, Arithmetic arithmetic) {
  const Index group = schedule.group * schedule.block;
  if (columns.processes == 1 && arithmetic == Arithmetic::emulated) return group;
  return std::lcm(group, columns.block * columns.processes);
}

std::vector<bool> ColumnSlabs::owners(Range slab) const {
  std::vector<bool> have;
  for (int rank = 0; rank < columns.processes; ++rank) have.push_back(!columns.locals(rank, slab).empty());
  return have;
}

Index ColumnSlabs::batch() const {
  const Index group = schedule.group * schedule.block;
  return group * std::max<Index>(1, columns.block / group);
}

std::vector<Range> ColumnSlabs::batches_before(Range slab) const {
  std::vector<Range> batches;
  const Index end = std::min(slab.begin, schedule.steps());
  for (Index begin = 0; begin < end; begin += batch()) batches.push_back({begin, std::min(begin + batch(), end)});
  return batches;
}

std::vector<LuSchedule::Update> ColumnSlabs::updates(Range batch, Range slab, Arithmetic arithmetic) const {
  std::vector<LuSchedule::Update> all;
  const Index end = (batch.end + schedule.block - 1) / schedule.block;
  for (Index first = batch.begin / schedule.block; first < end; first += schedule.group) {
    const Index last = std::min(first + schedule.group, end);
    const bool before_next = last * schedule.block == slab.begin && last < schedule.panels();
    if (before_next && arithmetic == Arithmetic::native) {
      const Index next = std::min(schedule.panel(last).end, slab.end);
      all.push_back({first, last, {slab.begin, next}});
      if (next < slab.end) all.push_back({first, last, {next, slab.end}});
    } else {
      all.push_back({first, last, slab});
    }
  }
  return all;
}

double ColumnSlabs::share_done(FactorizationKind kind, Range slab, Index panels) const {
  const auto work = kind == FactorizationKind::lu ? lu_work : cholesky_work;
  const auto of = [&](Index before, Index width, Index steps) {
    return work(static_cast<double>(schedule.rows), static_cast<double>(before), static_cast<double>(width),
                static_cast<double>(steps));
  };
  const Index steps = std::min({panels * schedule.block, schedule.steps(), slab.end});
  const double all = of(schedule.columns, 0, schedule.steps());
  return all > 0 ? std::min(1.0, of(slab.begin, slab.size(), steps) / all) : 1.0;
}

}  // namespace heddle::impl
