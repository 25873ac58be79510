// Broadcast of factored panels over the ranks of a grid, and gathering of panels to factor.
#include "solve/grid/panel_exchange.hpp"

#include "core/instantiate.hpp"

#include <string>
#include <type_traits>
#include <utility>

namespace heddle::impl {
namespace {

constexpr int panel_tag = 11;
constexpr int result_tag = 12;
constexpr int side_tag = 14;
constexpr int gather_tag = 15;

// Transports send numbers as doubles.
MatrixView<double> as_doubles(const Kokkos::View<Index*, MemorySpace>& numbers) {
  static_assert(sizeof(Index) == sizeof(double));
  const auto count = static_cast<Index>(numbers.extent(0));
  return matrix_view(reinterpret_cast<double*>(numbers.data()), count, 1, count);
}

// Copy the rows of an axis that a process has, from its local row `first` on, out of all rows of a matrix from row
// `begin` on.
template <Scalar T>
void take_rows(const ExecutionSpace& space, const MatrixView<const T>& all, Index begin, const CyclicAxis& axis,
               int process, Index first, const MatrixView<T>& rows) {
  const Elements<const T> from(all);
  const Elements<T> to(rows);
  for_each_element(
      space, "heddle::solve::take_rows", static_cast<Index>(rows.extent(0)), static_cast<Index>(rows.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { to(i, j) = from(axis.global(process, first + i) - begin, j); });
}
// Copy them back.
template <Scalar T>
void put_rows(const ExecutionSpace& space, const MatrixView<const T>& rows, const CyclicAxis& axis, int process,
              Index first, const MatrixView<T>& all, Index begin) {
  const Elements<const T> from(rows);
  const Elements<T> to(all);
  for_each_element(
      space, "heddle::solve::put_rows", static_cast<Index>(rows.extent(0)), static_cast<Index>(rows.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { to(axis.global(process, first + i) - begin, j) = from(i, j); });
}

}  // namespace

SideRows side_rows(PanelSide side, const LuSchedule& schedule, const RankGrid& grid) {
  if (side == PanelSide::columns) return {grid.columns, false, grid.column_count()};
  const Index rows = std::max<Index>(schedule.rows, 1);
  return {{schedule.rows, rows, 1}, true, std::min(schedule.group * schedule.block, schedule.rows)};
}

template <Scalar T>
PanelExchange<T>::PanelExchange(const Communicator& comm, const LuSchedule& schedule, const RankGrid& grid,
                                PanelSide side)
    : comm_(comm),
      schedule_(schedule),
      grid_(grid),
      side_(side_rows(side, schedule, grid)),
      transport_(transport_of(comm)) {
  const Index width = kept_panels(schedule) * schedule.block;
  const auto memory = [&](const std::string& label, Index rows, Index columns) {
    return Memory(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, label),
                  static_cast<std::size_t>(rows * columns));
  };
  const Index rows = grid.row_count();
  storage_ = memory("heddle::solve::panels", rows, width);
  kept_ = matrix_view(storage_.data(), rows, width, std::max<Index>(rows, 1));
  for (auto& message : row_messages_) message = memory("heddle::solve::message", schedule.rows, schedule.block);
  if (!grid.divides_rows()) return;
  side_storage_ = memory("heddle::solve::sides", side_.kept_rows, width);
  kept_sides_ = matrix_view(side_storage_.data(), side_.kept_rows, width, std::max<Index>(side_.kept_rows, 1));
  const Index most = side_.by_group ? side_.kept_rows : side_.axis.extent;
  for (auto& message : side_messages_) message = memory("heddle::solve::side_message", most, schedule.block);
  whole_ = memory("heddle::solve::whole_panel", schedule.rows, schedule.block);
  own_rows_ = memory("heddle::solve::own_rows", rows, schedule.block);
}

template <Scalar T> MatrixView<T> PanelExchange<T>::kept(const MatrixView<T>& all, Index first, Index last) const {
  const Index begin = slot(first) * schedule_.block;
  return block_of(all, 0, static_cast<Index>(all.extent(0)), begin,
                  begin + (schedule_.panel(last - 1).end - first * schedule_.block));
}
template <Scalar T> MatrixView<T> PanelExchange<T>::panels(Index first, Index last) const {
  return kept(kept_, first, last);
}
template <Scalar T> MatrixView<T> PanelExchange<T>::sides(Index first, Index last) const {
  return kept(kept_sides_, first, last);
}

template <Scalar T>
MatrixView<T> PanelExchange<T>::part(const Memory& message, const CyclicAxis& axis, Range of, Index width,
                                     int q) const {
  Index before = 0;
  for (int k = 0; k < q; ++k) before += axis.locals(k, of).size();
  const Index rows = axis.locals(q, of).size();
  return matrix_view(message.data() + before * width, rows, width, std::max<Index>(rows, 1));
}

template <Scalar T> double PanelExchange<T>::received_bytes(Index p) const {
  Index rows = grid_.local_rows(rows_of(p)).size();
  if (grid_.divides_rows()) {
    rows += side_.axis.locals(side_.process(grid_.column()), side_.of_panel(schedule_, p)).size();
  }
  return sizeof(T) * static_cast<double>(rows * schedule_.panel(p).size());
}

template <Scalar T> Relay PanelExchange<T>::relay_of_rows(Index p) const {
  const int column = grid_.column_of(owner(p));
  const auto head = [&](int row) { return grid_.rank_of(row, column); };
  std::vector<int> group;
  for (int j = 0; j < grid_.columns.processes; ++j) group.push_back(grid_.rank_of(grid_.row(), j));
  Relay way = relay(group, comm_.nodes_of_ranks(), head(grid_.row()), rank());
  if (rank() == owner(p)) {
    for (int i = grid_.rows.processes - 1; i >= 0; --i) {
      if (head(i) != rank()) way.to.insert(way.to.begin(), head(i));
    }
  } else if (rank() == head(grid_.row())) {
    way.from = owner(p);
  }
  return way;
}

template <Scalar T> Relay PanelExchange<T>::relay_of_side(Index p) const {
  const int row = grid_.row_of(owner(p));
  const auto head = [&](int column) { return grid_.rank_of(row, column); };
  std::vector<int> group;
  for (int i = 0; i < grid_.rows.processes; ++i) group.push_back(grid_.rank_of(i, grid_.column()));
  Relay way = relay(group, comm_.nodes_of_ranks(), head(grid_.column()), rank());
  if (rank() == owner(p)) {
    for (int j = grid_.columns.processes - 1; j >= 0; --j) {
      if (head(j) != rank()) way.to.insert(way.to.begin(), head(j));
    }
  } else if (rank() == head(grid_.column())) {
    way.from = owner(p);
  }
  return way;
}

template <Scalar T>
template <class Element>
void PanelExchange<T>::send(const MatrixView<Element>& block, int to, int tag, const Event& ready) {
  if (block.size() == 0) return;
  sends_[sending_].push_back(transport_.send<Element>(MatrixView<const Element>(block), to, tag, ready));
}

template <Scalar T> void PanelExchange<T>::begin_gather(Index p, const MatrixView<T>& local) {
  if (grid_.column() != grid_.column_of(owner(p))) return;
  const Range mine = grid_.local_rows(rows_of(p));
  const Range columns = grid_.local_columns(schedule_.panel(p));
  const auto own = block_of<const T>(MatrixView<const T>(local), mine.begin, mine.end, columns.begin, columns.end);
  if (rank() == owner(p)) {
    // Messages in transit here may still be read.
    for (Request& sent : sends_[turn(p)]) sent.wait();
    const Index rows = rows_of(p).size();
    put_rows<T>(comm_.space(), own, grid_.rows, grid_.row(), mine.begin,
                matrix_view(whole_.data(), rows, columns.size(), rows), rows_of(p).begin);
    const Event free = Event::on(comm_.space());
    for (int i = 0; i < grid_.rows.processes; ++i) {
      const MatrixView<T> rows_there = row_part(p, i);
      if (i == grid_.row() || rows_there.size() == 0) continue;
      gathers_.push_back(
          transport_.receive<T>(rows_there, grid_.rank_of(i, grid_.column()), gather_tag, std::span(&free, 1)));
    }
    return;
  }
  gather_sent_.wait();
  if (mine.empty()) return;
  const MatrixView<T> packed = matrix_view(own_rows_.data(), mine.size(), columns.size(), mine.size());
  copy_elements<T>(comm_.space(), "heddle::solve::pack_rows", own, packed);
  gather_sent_ = transport_.send<T>(MatrixView<const T>(packed), owner(p), gather_tag);
}

template <Scalar T> MatrixView<T> PanelExchange<T>::gathered(Index p, const ExecutionSpace& space) {
  const Index rows = rows_of(p).size();
  const MatrixView<T> whole = matrix_view(whole_.data(), rows, schedule_.panel(p).size(), rows);
  for (Request& received : gathers_) {
    received.wait();
    received.event().before(space);
  }
  gathers_.clear();
  for (int i = 0; i < grid_.rows.processes; ++i) {
    if (i == grid_.row()) continue;
    put_rows<T>(space, MatrixView<const T>(row_part(p, i)), grid_.rows, i, grid_.rows.locals(i, rows_of(p)).begin,
                whole, rows_of(p).begin);
  }
  return whole;
}

template <Scalar T>
void PanelExchange<T>::pack(Index p, const MatrixView<const T>& panel, const ExecutionSpace& space) {
  if (!grid_.divides_rows()) {
    copy_elements<T>(space, "heddle::solve::pack_panel", panel, row_part(p, 0));
    return;
  }
  const Index begin = rows_of(p).begin;
  for (int i = 0; i < grid_.rows.processes; ++i) {
    take_rows<T>(space, panel, begin, grid_.rows, i, grid_.rows.locals(i, rows_of(p)).begin, row_part(p, i));
  }
  for (int q = 0; q < side_.processes(); ++q) {
    const Range of = side_.axis.locals(q, side_.of_panel(schedule_, p));
    take_rows<T>(space, panel, begin, side_.axis, q, of.begin, side_part(p, q));
  }
}

template <Scalar T> void PanelExchange<T>::send_all(Index p, const Kokkos::View<Index*, MemorySpace>& numbers) {
  for (const int to : relay_of_rows(p).to) {
    send<double>(as_doubles(numbers), to, result_tag, packed_);
    send<T>(row_part(p, grid_.row_of(to)), to, panel_tag, packed_);
  }
  if (!grid_.divides_rows()) return;
  for (const int to : relay_of_side(p).to) {
    send<T>(side_part(p, side_.process(grid_.column_of(to))), to, side_tag, packed_);
  }
}

template <Scalar T> void PanelExchange<T>::expect(Index p, const Kokkos::View<Index*, MemorySpace>& numbers) {
  const Event& free = unpacked_[turn(p)];
  const auto receive = [&](const auto& block, const Relay& way, int tag) {
    if (block.size() == 0) return;
    using Element = typename std::decay_t<decltype(block)>::value_type;
    receives_.push_back({transport_.receive<Element>(block, way.from, tag, std::span(&free, 1)), way.to,
                         [this, block, tag](int to, const Event& ready) { send<Element>(block, to, tag, ready); }});
  };
  const Relay rows = relay_of_rows(p);
  receive(as_doubles(numbers), rows, result_tag);
  receive(row_part(p, grid_.row()), rows, panel_tag);
  if (grid_.divides_rows()) receive(side_part(p, side_.process(grid_.column())), relay_of_side(p), side_tag);
}

template <Scalar T>
void PanelExchange<T>::begin(Index p, const MatrixView<const T>& panel,
                             const Kokkos::View<Index*, MemorySpace>& numbers, const ExecutionSpace& space) {
  sending_ = turn(p);
  for (Request& sent : sends_[sending_]) sent.wait();
  sends_[sending_].clear();
  if (rank() != owner(p)) {
    expect(p, numbers);
    return;
  }
  unpacked_[turn(p)].before(space);
  pack(p, panel, space);
  packed_ = Event::on(space);
  send_all(p, numbers);
}

template <Scalar T> void PanelExchange<T>::pass_on(Incoming& message) {
  for (const int to : message.to) message.send(to, message.received.event());
  message.to.clear();
}

template <Scalar T> void PanelExchange<T>::progress() {
  transport_.progress();
  for (Incoming& message : receives_) {
    if (!message.to.empty() && message.received.test()) pass_on(message);
  }
}

template <Scalar T> void PanelExchange<T>::end(Index p) {
  numbers_arrived_ = {};
  for (Incoming& message : receives_) {
    message.received.wait();
    pass_on(message);
    message.received.event().before(comm_.space());
  }
  // The receive of the numbers was posted first.
  if (!receives_.empty()) numbers_arrived_ = receives_.front().received.event();
  receives_.clear();
  packed_.before(comm_.space());
  packed_ = {};
  const Index width = schedule_.panel(p).size();
  const Range rows = grid_.local_rows(rows_of(p));
  copy_elements<T>(comm_.space(), "heddle::solve::unpack_panel", row_part(p, grid_.row()),
                   block_of(panels(p, p + 1), rows.begin, rows.end, 0, width));
  if (grid_.divides_rows()) {
    const int process = side_.process(grid_.column());
    const Range of = side_.axis.locals(process, side_.of_panel(schedule_, p));
    const Index first = side_.first_kept(schedule_, p);
    copy_elements<T>(comm_.space(), "heddle::solve::unpack_side", side_part(p, process),
                     block_of(sides(p, p + 1), of.begin - first, of.end - first, 0, width));
  }
  unpacked_[turn(p)] = Event::on(comm_.space());
  transport_.progress();
}

template <Scalar T> void PanelExchange<T>::finish() {
  for (auto& sends : sends_) {
    for (Request& sent : sends) sent.wait();
    sends.clear();
  }
  gather_sent_.wait();
  // A receive that test() completed may still owe its sender an acknowledgement.
  transport_.drain();
}

template <Scalar T> double PanelExchange<T>::bytes(const LuSchedule& schedule, const RankGrid& grid, PanelSide side) {
  if (grid.rows.processes * grid.columns.processes == 1) return 0.0;
  const Index kept = kept_panels(schedule);
  const double rows = most_of_ranks(grid, [&](const RankGrid& here) {
    // Panels that are kept and two in messages.
    Index rows = here.row_count() * kept + 2 * schedule.rows;
    if (here.divides_rows()) {
      const SideRows sides = side_rows(side, schedule, here);
      const Index all = sides.by_group ? sides.kept_rows : sides.axis.extent;
      // With divided rows also a panel on its way to be factored, and the gathered one.
      rows += sides.kept_rows * kept + 2 * all + schedule.rows + here.row_count();
    }
    return rows;
  });
  return sizeof(T) * static_cast<double>(schedule.block) * rows;
}

#define HEDDLE_INSTANTIATE(T) template class PanelExchange<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
