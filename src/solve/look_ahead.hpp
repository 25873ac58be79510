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
  LookAhead(const ExecutionSpace& space, const Communicator* comm, const LuSchedule& schedule, Arithmetic arithmetic)
      : space_(space), ahead_(space), schedule_(schedule) {
    if (comm != nullptr && comm->size() > 1) exchange_ = std::make_unique<PanelExchange<T>>(*comm, schedule);
    divides_ = exchange_ != nullptr || arithmetic == Arithmetic::native;
  }

  /// Where panels are factored.
  [[nodiscard]] const ExecutionSpace& space_of_panels() const { return ahead_.space(); }
  [[nodiscard]] int rank() const { return exchange_ ? exchange_->rank() : 0; }
  /// Null on one rank.
  [[nodiscard]] const PanelExchange<T>* exchange() const { return exchange_.get(); }

  /// For each panel in turn: factor(p, panel), on space_of_panels() of the rank that has it, then arrived(p) and
  /// apply(update), on every rank on the other instance; the exchange has the panel then. `owned(p)`: an OwnedPanel;
  /// `numbers(p)`: what travels with panel p.
  template <class Owned, class Numbers, class Factor, class Arrived, class Apply>
  void run(Watch& watch, const Owned& owned, const Numbers& numbers, const Factor& factor, const Arrived& arrived,
           const Apply& apply) {
    const auto begin = [&](Index p) {
      const OwnedPanel<T> of = owned(p);
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
      if (exchange_) watch.exchange(p, owned(p).owner, exchange_->bytes(p), [&] { exchange_->end(p); });
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
  std::unique_ptr<PanelExchange<T>> exchange_;
  bool divides_ = false;
  Event factored_;
};

}  // namespace heddle::impl
