// Factored panels on their way from the rank that has them to all others.
#pragma once

#include "dist/elementwise.hpp"
#include "solve/schedule.hpp"
#include <heddle/comm/transport.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace heddle::impl {

/// A panel, from its first row on, on the rank that has it, and nothing on the others.
template <Scalar T> struct OwnedPanel {
  int owner;
  MatrixView<T> panel;
};
/// Panel p of a matrix of which `local` has this rank's columns.
template <Scalar T>
[[nodiscard]] OwnedPanel<T> owned_panel(const LuSchedule& schedule, const CyclicAxis& columns, int rank,
                                        const MatrixView<T>& local, Index p) {
  const Range of = schedule.panel(p);
  const int owner = columns.owner(of.begin);
  if (owner != rank) return {owner, block_of(local, schedule.rows, schedule.rows, 0, 0)};
  const Range mine = columns.locals(rank, of);
  return {owner, block_of(local, of.begin, schedule.rows, mine.begin, mine.end)};
}

/// Panels that each rank has room for: those of two groups, so that one can arrive while the other is used.
[[nodiscard]] inline Index kept_panels(const LuSchedule& schedule) {
  return std::min(2 * schedule.group, std::max<Index>(schedule.panels(), 1));
}

/// Room for the panels of two groups on each rank, and the messages that fill it.
template <Scalar T> class PanelExchange {
 public:
  PanelExchange(const Communicator& comm, const LuSchedule& schedule);

  [[nodiscard]] int rank() const { return comm_.rank(); }
  /// Sends panel p, in `panel` on rank `owner` with its first row first and ordered on `space` there, and `numbers` to
  /// every rank. Collective; end() of the panel before has to come first.
  void begin(Index p, int owner, const MatrixView<const T>& panel, const Kokkos::View<Index*, MemorySpace>& numbers,
             const ExecutionSpace& space);
  /// panels() has panel p from here on, ordered on the communicator's instance. Blocks until it is on its way into this
  /// rank's memory.
  void end(Index p);
  /// Blocks until nothing that this rank sent is under way any more: a message may wait for an event of its sender's,
  /// who sees that it is past only when it looks.
  void finish() {
    for (auto& sends : sends_) {
      for (Request& sent : sends) sent.wait();
      sends.clear();
    }
  }
  /// Lets messages under way make progress. Does not block.
  void progress() const { transport_.progress(); }
  /// begin(), end() and finish() on the communicator's instance.
  void share(Index p, int owner, const MatrixView<const T>& panel, const Kokkos::View<Index*, MemorySpace>& numbers) {
    begin(p, owner, panel, numbers, comm_.space());
    end(p);
    finish();
  }
  /// Of panel p as a message.
  [[nodiscard]] double bytes(Index p) const {
    return sizeof(T) * static_cast<double>((schedule_.rows - schedule_.panel(p).begin) * schedule_.panel(p).size());
  }
  /// Panels [first, last), all rows of the matrix, of which those above each panel's first are not defined.
  [[nodiscard]] MatrixView<T> panels(Index first, Index last) const;

 private:
  [[nodiscard]] Index slot(Index p) const { return p % (2 * schedule_.group); }
  /// Panel p from its first row on, as it travels.
  [[nodiscard]] MatrixView<T> message(Index p) const;

  Communicator comm_;
  LuSchedule schedule_;
  Transport transport_;
  MatrixView<T> kept_;  // rows x kept_panels() block
  Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> storage_;
  std::array<Kokkos::View<T*, MemorySpace>, 2> messages_;  // Of panels in turn.
  std::array<std::vector<Request>, 2> sends_;
  std::vector<Request> receives_;
  Event packed_;
};

}  // namespace heddle::impl
