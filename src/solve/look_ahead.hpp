// Panels that are factored, and travel, while other columns are still updated.
#pragma once

#include "comm/urgent.hpp"
#include "solve/panel_exchange.hpp"
#include "solve/watch.hpp"
#include <heddle/comm/event.hpp>

#include <memory>

namespace heddle::impl {

/// The order of a factorization on each rank, with a look-ahead of one panel: what panel p leaves is applied to the
/// columns of panel p + 1 first; that panel is factored then, on an instance of its own, and goes to the other ranks,
/// while the update goes on in all other columns.
///
/// Emulated factors of one rank do without it: dividing their products costs more than it hides (docs/notes/solve.md).
/// Native ones have it on any number of ranks, since the products that are divided have other bits.
template <Scalar T> class LookAhead {
 public:
  /// `columns`: who has which columns; blocks are multiples of the schedule's. `comm` may be null.
  LookAhead(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule,
            const CyclicAxis& columns, Arithmetic arithmetic)
      : space_(space), ahead_(space), schedule_(schedule), columns_(columns) {
    if (comm != nullptr && comm->size() > 1) exchange_ = std::make_unique<PanelExchange<T>>(*comm, schedule);
    divides_ = exchange_ != nullptr || arithmetic == Arithmetic::native;
  }

  /// Where panels are factored.
  [[nodiscard]] const ExecutionSpace& space_of_panels() const { return ahead_.space(); }
  [[nodiscard]] int rank() const { return exchange_ ? exchange_->rank() : 0; }
  /// Panels [first, last) of the matrix of which `local` has this rank's columns, by rows and columns: where they were
  /// factored, or where they were received.
  [[nodiscard]] MatrixView<T> panels(const MatrixView<T>& local, Index first, Index last) const {
    if (exchange_) return exchange_->panels(first, last);
    return block_of(local, 0, schedule_.rows, first * schedule_.block, schedule_.panel(last - 1).end);
  }
  /// Whether panels() are copies.
  [[nodiscard]] bool copies_panels() const { return exchange_ != nullptr; }
  /// Lets messages under way make progress. Does not block.
  void progress() const {
    if (exchange_) exchange_->progress();
  }

  /// For each panel in turn: factor(p, panel), on space_of_panels() of the rank that has it, then arrived(p) and
  /// apply(update), on every rank on the other instance; panels() has the panel then. `numbers(p)`: what travels with
  /// panel p.
  template <class Numbers, class Factor, class Arrived, class Apply>
  void run(Watch& watch, const MatrixView<T>& local, const Numbers& numbers, const Factor& factor,
           const Arrived& arrived, const Apply& apply) {
    const auto begin = [&](Index p) {
      const OwnedPanel<T> of = owned_panel<T>(schedule_, columns_, rank(), local, p);
      if (of.owner == rank()) {
        Event::on(space_).before(ahead_.space());
        watch.panel(p, ahead_.space(), [&] { factor(p, of.panel); });
        factored_ = Event::on(ahead_.space());
      }
      if (exchange_) exchange_->begin(p, of.owner, of.panel, numbers(p), ahead_.space());
    };
    if (schedule_.panels() > 0) begin(0);
    for (Index p = 0; p < schedule_.panels(); ++p) {
      factored_.before(space_);
      factored_ = {};
      if (exchange_) {
        watch.exchange(p, columns_.owner(schedule_.panel(p).begin), exchange_->bytes(p), [&] { exchange_->end(p); });
      }
      arrived(p);
      const LuSchedule::Update update = schedule_.update_after(p);
      const auto take = [&](const LuSchedule::Update& part) {
        if (!part.columns.empty()) watch.update(part.first, part.last, [&] { apply(part); });
      };
      take(divides_ ? schedule_.before_next_panel(update) : update);
      if (p + 1 < schedule_.panels()) begin(p + 1);
      if (divides_) take(schedule_.beside_next_panel(update));
      watch.done(p);
    }
    if (exchange_) exchange_->finish();
  }

 private:
  ExecutionSpace space_;
  UrgentInstance ahead_;
  LuSchedule schedule_;
  CyclicAxis columns_;
  std::unique_ptr<PanelExchange<T>> exchange_;  // Null on one rank.
  bool divides_ = false;
  Event factored_;
};

}  // namespace heddle::impl
