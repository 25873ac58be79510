// Exchange of matrix rows between the ranks of a column of the grid.
#include "solve/grid/row_exchange.hpp"

#include "core/instantiate.hpp"

#include <string>
#include <utility>

namespace heddle::impl {
namespace {

constexpr int row_tag = 16;

// Copy rows numbers[0], ... of `from`.
template <Scalar T>
void take_listed(const ExecutionSpace& space, const MatrixView<const T>& from,
                 const Kokkos::View<const Index*, MemorySpace>& numbers, const MatrixView<T>& to) {
  const Elements<const T> source(from);
  const Elements<T> target(to);
  for_each_element(
      space, "heddle::solve::take_listed", static_cast<Index>(to.extent(0)), static_cast<Index>(to.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { target(i, j) = source(numbers(i), j); });
}
// Copy the rows of `from` to rows numbers[0], ...
template <Scalar T>
void put_listed(const ExecutionSpace& space, const MatrixView<const T>& from,
                const Kokkos::View<const Index*, MemorySpace>& numbers, const MatrixView<T>& to) {
  const Elements<const T> source(from);
  const Elements<T> target(to);
  for_each_element(
      space, "heddle::solve::put_listed", static_cast<Index>(from.extent(0)), static_cast<Index>(from.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { target(numbers(i), j) = source(i, j); });
}

}  // namespace

std::vector<RowMove> moves_of(const std::vector<Index>& pivots, Index first, Index last, std::vector<Index>& order) {
  const auto at = [&](Index r) -> Index& { return order[static_cast<std::size_t>(r)]; };
  const auto pivot = [&](Index k) { return pivots[static_cast<std::size_t>(k)]; };
  for (Index k = first; k < last; ++k) std::swap(at(k), at(pivot(k)));
  std::vector<RowMove> moves;
  const auto take = [&](Index r) {
    if (at(r) != r) moves.push_back({r, at(r)});
    at(r) = r;  // Each row is counted once.
  };
  for (Index k = first; k < last; ++k) {
    take(k);
    take(pivot(k));
  }
  return moves;
}

template <Scalar T>
RowExchange<T>::RowExchange(const Communicator& comm, const RankGrid& grid, Index common, Index others, Index columns)
    : comm_(comm), grid_(grid), transport_(transport_of(comm)) {
  const Index most = common + others;
  const auto memory = [&](const std::string& label) {
    return Memory(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, label),
                  static_cast<std::size_t>(most * columns));
  };
  outgoing_ = memory("heddle::solve::rows_sent");
  incoming_ = memory("heddle::solve::rows_received");
  rows_ = memory("heddle::solve::rows_wanted");
  for (List& list : numbers_) {
    list.device = Numbers(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::solve::row_numbers"),
                          static_cast<std::size_t>(2 * most));
    list.host = Kokkos::create_mirror_view(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::SharedHostPinnedSpace()), list.device);
  }
}

template <Scalar T> typename RowExchange<T>::Numbers RowExchange<T>::on_device(const std::vector<Index>& numbers) {
  List& list = numbers_[list_];
  list_ = (list_ + 1) % lists;
  list.read.wait();
  const std::pair<std::size_t, std::size_t> all(0, numbers.size());
  std::copy(numbers.begin(), numbers.end(), list.host.data());
  const auto device = Kokkos::subview(list.device, all);
  Kokkos::deep_copy(comm_.space(), device, Kokkos::subview(list.host, all));
  list.read = Event::on(comm_.space());
  return device;
}

RowPlan plan_rows(const CyclicAxis& rows, int here, const WantedRows& wanted) {
  RowPlan plan;
  const auto place = [&] { return static_cast<Index>(plan.numbers.size()); };
  const auto others = [&](int row) -> const std::vector<Index>& {
    return wanted.by_row[static_cast<std::size_t>(row)];
  };
  const auto list = [&](const std::vector<Index>& wants, int from, Index position, bool local) {
    const Index begin = place();
    for (const Index row : wants) {
      if (rows.owner(row) == from) plan.numbers.push_back(local ? rows.local(row) : position);
      ++position;
    }
    return Range{begin, place()};
  };
  plan.common = list(wanted.common, here, 0, true);
  for (int row = 0; row < rows.processes; ++row) plan.others.push_back(list(others(row), here, 0, true));
  const auto common = static_cast<Index>(wanted.common.size());
  for (int row = 0; row < rows.processes; ++row) {
    plan.from.push_back({list(wanted.common, row, 0, false), list(others(here), row, common, false)});
  }
  plan.wanted = common + static_cast<Index>(others(here).size());
  return plan;
}

template <Scalar T> MatrixView<T> RowExchange<T>::fetch(const MatrixView<T>& local, const WantedRows& wanted) {
  const ExecutionSpace& space = comm_.space();
  const auto columns = static_cast<Index>(local.extent(1));
  const int here = grid_.row();
  const RowPlan plan = plan_rows(grid_.rows, here, wanted);
  const MatrixView<T> rows = matrix_view(rows_.data(), plan.wanted, columns, std::max<Index>(plan.wanted, 1));
  if (columns == 0) return rows;
  finish();
  const Numbers numbers = on_device(plan.numbers);
  const auto listed = [&](Range of) {
    return Kokkos::View<const Index*, MemorySpace>(
        Kokkos::subview(numbers, Kokkos::pair<Index, Index>(of.begin, of.end)));
  };
  const auto sent = [&](Range of) {
    return matrix_view(outgoing_.data() + of.begin * columns, of.size(), columns, std::max<Index>(of.size(), 1));
  };
  take_listed<T>(space, MatrixView<const T>(local), listed(plan.common), sent(plan.common));
  for (const Range others : plan.others)
    take_listed<T>(space, MatrixView<const T>(local), listed(others), sent(others));
  const Event packed = Event::on(space);
  for (int row = 0; row < grid_.rows.processes; ++row) {
    if (row == here) continue;
    for (const Range of : {plan.common, plan.others[static_cast<std::size_t>(row)]}) {
      if (of.empty()) continue;
      sends_.push_back(
          transport_.send<T>(MatrixView<const T>(sent(of)), grid_.rank_of(row, grid_.column()), row_tag, packed));
    }
  }
  struct Expected {
    Request received;
    MatrixView<T> block;
    Range positions;
  };
  std::vector<Expected> expected;
  Index before = 0;
  for (int row = 0; row < grid_.rows.processes; ++row) {
    if (row == here) continue;
    for (const Range of : plan.from[static_cast<std::size_t>(row)]) {
      if (of.empty()) continue;
      const MatrixView<T> block = matrix_view(incoming_.data() + before * columns, of.size(), columns, of.size());
      expected.push_back({transport_.receive<T>(block, grid_.rank_of(row, grid_.column()), row_tag), block, of});
      before += of.size();
    }
  }
  const auto own = plan.from[static_cast<std::size_t>(here)];
  put_listed<T>(space, MatrixView<const T>(sent(plan.common)), listed(own[0]), rows);
  put_listed<T>(space, MatrixView<const T>(sent(plan.others[static_cast<std::size_t>(here)])), listed(own[1]), rows);
  for (Expected& one : expected) {
    one.received.wait();
    put_listed<T>(space, MatrixView<const T>(one.block), listed(one.positions), rows);
  }
  return rows;
}

template <Scalar T>
void RowExchange<T>::put(const MatrixView<T>& from, Index begin, const std::vector<Index>& targets,
                         const MatrixView<T>& to) {
  const auto columns = static_cast<Index>(to.extent(1));
  const auto count = static_cast<Index>(targets.size());
  if (count == 0 || columns == 0) return;
  put_listed<T>(comm_.space(), block_of<const T>(MatrixView<const T>(from), begin, begin + count, 0, columns),
                on_device(targets), to);
}

template <Scalar T> void RowExchange<T>::finish() {
  for (Request& sent : sends_) sent.wait();
  sends_.clear();
}

#define HEDDLE_INSTANTIATE(T) template class RowExchange<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
