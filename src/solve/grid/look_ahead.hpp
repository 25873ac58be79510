// Look-ahead: panels that are factored and sent while other columns are updated.
#pragma once

#include "comm/vendor/urgent.hpp"
#include "solve/grid/panel_exchange.hpp"
#include "solve/grid/watch.hpp"
#include <heddle/comm/event.hpp>

#include <memory>

namespace heddle::impl {

/// The order of a factorization on each rank, with a look-ahead of one panel: panel p is applied to the columns of
/// panel p + 1 first; that panel is then factored, on an instance of its own, and sent to the other ranks while the
/// update continues in all other columns.
///
/// On one rank without `divides`, updates are not divided, and nothing overlaps with a panel.
template <Scalar T> class LookAhead {
 public:
  /// `grid`: distribution of rows and columns; blocks of columns are multiples of the schedule's. `comm` may be null.
  LookAhead(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule, const RankGrid& grid,
            PanelSide side, bool divides)
      : space_(space), ahead_(space), schedule_(schedule), grid_(grid) {
    if (comm != nullptr && comm->size() > 1) {
      exchange_ = std::make_unique<PanelExchange<T>>(*comm, schedule, grid, side);
    }
    divides_ = exchange_ != nullptr || divides;
  }

  /// The instance on which panels are factored.
  [[nodiscard]] const ExecutionSpace& space_of_panels() const { return ahead_.space(); }
  /// This rank's rows of panels [first, last) of the matrix of which it has `local`: the factored or received ones.
  [[nodiscard]] MatrixView<T> panels(const MatrixView<T>& local, Index first, Index last) const {
    if (exchange_) return exchange_->panels(first, last);
    return block_of(local, 0, schedule_.rows, first * schedule_.block, schedule_.panel(last - 1).end);
  }
  /// The rows of PanelSide of panels [first, last) of one group, if rows are dealt out.
  [[nodiscard]] MatrixView<T> sides(Index first, Index last) const { return exchange_->sides(first, last); }
  /// Whether panels() are copies.
  [[nodiscard]] bool copies_panels() const { return exchange_ != nullptr; }
  /// Lets messages under way make progress. Does not block.
  void progress() const {
    if (exchange_) exchange_->progress();
  }
  /// Orders work given to `space` from now on after the numbers of the panel that arrived last.
  void numbers_before(const ExecutionSpace& space) const {
    if (exchange_) exchange_->numbers_arrived().before(space);
  }

  /// For each panel in turn calls factor(p, panel), on space_of_panels() of its owner, then arrived(p) and
  /// apply(update), on every rank on the other instance; panels() has the panel then. numbers(p) returns the numbers
  /// sent with panel p.
  template <class Numbers, class Factor, class Arrived, class Apply>
  void run(Watch& watch, const MatrixView<T>& local, const Numbers& numbers, const Factor& factor,
           const Arrived& arrived, const Apply& apply) {
    // While the host waits for the rows of a panel, it can give no other work to a device.
    const bool gathers_late = grid_.divides_rows() && !on_host;
    const auto begin = [&](Index p) {
      MatrixView<T> panel = matrix_view<T>(nullptr, 0, 0, 1);
      if (owner(p) == grid_.rank) {
        updated_.before(ahead_.space());
        panel = grid_.divides_rows() ? exchange_->gathered(p, ahead_.space()) : own_panel(local, p);
        watch.panel(p, ahead_.space(), [&] { factor(p, panel); });
        factored_ = Event::on(ahead_.space());
      }
      if (exchange_) exchange_->begin(p, panel, numbers(p), ahead_.space());
    };
    if (schedule_.panels() > 0) {
      prepare(local, 0);
      begin(0);
    }
    for (Index p = 0; p < schedule_.panels(); ++p) {
      factored_.before(space_);
      factored_ = {};
      if (exchange_) receive(watch, local, p);
      arrived(p);
      const LuSchedule::Update update = schedule_.update_after(p);
      const auto take = [&](const LuSchedule::Update& part) {
        if (!part.columns.empty()) watch.update(part.first, part.last, [&] { apply(part); });
      };
      take(divides_ ? schedule_.before_next_panel(update) : update);
      const bool more = p + 1 < schedule_.panels();
      if (more) prepare(local, p + 1);
      if (more && !gathers_late) begin(p + 1);
      if (divides_) take(schedule_.beside_next_panel(update));
      if (more && gathers_late) begin(p + 1);
      watch.done(p);
    }
    if (exchange_) exchange_->finish();
  }

 private:
  [[nodiscard]] int owner(Index p) const { return grid_.owner(schedule_.panel(p).begin, schedule_.panel(p).begin); }
  // Panel p from its first row on, for a rank that has all its rows.
  [[nodiscard]] MatrixView<T> own_panel(const MatrixView<T>& local, Index p) const {
    const Range of = schedule_.panel(p);
    const Range mine = grid_.local_columns(of);
    return block_of(local, of.begin, schedule_.rows, mine.begin, mine.end);
  }
  // Let panel p be factored once the work given so far is done.
  void prepare(const MatrixView<T>& local, Index p) {
    if (grid_.divides_rows()) exchange_->begin_gather(p, local);
    updated_ = Event::on(space_);
  }
  void receive(Watch& watch, const MatrixView<T>& local, Index p) {
    watch.exchange(p, exchange_->relay_of_rows(p), exchange_->received_bytes(p), [&] { exchange_->end(p); });
    if (!grid_.divides_rows() || grid_.column() != grid_.column_of(owner(p))) return;
    const Range rows = grid_.local_rows({schedule_.panel(p).begin, schedule_.rows});
    const Range columns = grid_.local_columns(schedule_.panel(p));
    copy_elements<T>(space_, "heddle::solve::keep_panel",
                     block_of(exchange_->panels(p, p + 1), rows.begin, rows.end, 0, columns.size()),
                     block_of(local, rows.begin, rows.end, columns.begin, columns.end));
  }

  ExecutionSpace space_;
  UrgentInstance ahead_;
  LuSchedule schedule_;
  RankGrid grid_;
  std::unique_ptr<PanelExchange<T>> exchange_;  // Null on one rank.
  bool divides_ = false;
  Event updated_;
  Event factored_;
};

}  // namespace heddle::impl
