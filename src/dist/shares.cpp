// Elements that two ranks have in common under two placements of a matrix.
#include "dist/shares.hpp"

namespace heddle::impl {
namespace {

Locals make_locals(const ExecutionSpace& space, const std::vector<Index>& indices) {
  Locals locals;
  locals.count = static_cast<Index>(indices.size());
  if (indices.empty()) {
    return locals;
  }
  locals.first = indices.front();
  if (indices.back() - indices.front() + 1 != locals.count) {
    const Kokkos::View<Index*, MemorySpace> list(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::dist::indices"), indices.size());
    Kokkos::deep_copy(space, list,
                      Kokkos::View<const Index*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                          indices.data(), indices.size()));
    space.fence("heddle::dist::indices");
    locals.list = list;
  }
  return locals;
}

// Local indices of `mine` (owned by `process`), sorted by who owns the same global index in `other`. Within one owner
// they rise with the global index.
std::vector<Locals> by_other_owner(const ExecutionSpace& space, const CyclicAxis& mine, int process,
                                   const CyclicAxis& other) {
  std::vector<std::vector<Index>> lists(static_cast<std::size_t>(other.processes));
  for (Index k = 0; k < mine.count(process); ++k) {
    lists[static_cast<std::size_t>(other.owner(mine.global(process, k)))].push_back(k);
  }
  std::vector<Locals> result;
  result.reserve(lists.size());
  for (const auto& list : lists) {
    result.push_back(make_locals(space, list));
  }
  return result;
}

}  // namespace

Shares::Shares(const Communicator& comm, const Placement& mine, const Placement& other, bool crossed)
    : inside_(mine.in_grid(comm.rank())), crossed_(crossed), other_(other) {
  if (inside_) {
    rows_ = by_other_owner(comm.space(), mine.row_axis(), mine.grid_row(comm.rank()),
                           crossed ? other.column_axis() : other.row_axis());
    columns_ = by_other_owner(comm.space(), mine.column_axis(), mine.grid_column(comm.rank()),
                              crossed ? other.row_axis() : other.column_axis());
  }
}

Share Shares::with(int rank) const {
  if (!inside_ || !other_.in_grid(rank)) {
    return {};
  }
  const auto row = static_cast<std::size_t>(crossed_ ? other_.grid_column(rank) : other_.grid_row(rank));
  const auto column = static_cast<std::size_t>(crossed_ ? other_.grid_row(rank) : other_.grid_column(rank));
  return {rows_[row], columns_[column]};
}

}  // namespace heddle::impl
