// Broadcast of factored panels from the rank that factors them to all others.
#pragma once

#include "core/elementwise.hpp"
#include "solve/grid/rank_grid.hpp"
#include "solve/lu/schedule.hpp"
#include <heddle/comm/transport.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace heddle::impl {

/// Number of panels that each rank has room for: those of two groups, so that one can arrive while the other is used.
[[nodiscard]] inline Index kept_panels(const LuSchedule& schedule) {
  return std::min(2 * schedule.group, std::max<Index>(schedule.panels(), 1));
}

/// Rows of panels that ranks need besides their own if rows are dealt out: `group`, those of the panel's group, on
/// every rank, with the triangle that LU solves with; or `columns`, those with the numbers of a rank's columns, whose
/// transpose Cholesky multiplies by.
enum class PanelSide { group, columns };

/// The rows of a PanelSide as an axis, and their storage.
struct SideRows {
  CyclicAxis axis;  ///< One process, or a process for each column of the grid.
  bool by_group;    ///< Whether they are those of the panel's group.
  Index kept_rows;  ///< Rows that this rank has room for.
  [[nodiscard]] int processes() const { return axis.processes; }
  [[nodiscard]] int process(int grid_column) const { return grid_column % axis.processes; }
  [[nodiscard]] Range of_panel(const LuSchedule& schedule, Index p) const {
    const Index begin = schedule.panel(p).begin;
    return {begin, by_group ? std::min(group_end(schedule, p), schedule.rows) : axis.extent};
  }
  /// The first row that is kept.
  [[nodiscard]] Index first_kept(const LuSchedule& schedule, Index p) const {
    return by_group ? schedule.group_begin(p) * schedule.block : 0;
  }
  [[nodiscard]] static Index group_end(const LuSchedule& schedule, Index p) {
    return (schedule.group_begin(p) + schedule.group) * schedule.block;
  }
};
[[nodiscard]] SideRows side_rows(PanelSide side, const LuSchedule& schedule, const RankGrid& grid);

/// Room for the panels of two groups on each rank, and the messages that fill it.
///
/// A panel is factored by the rank that has its first element. If rows are dealt out, the ranks of the panel's column
/// of the grid first send it their rows. Each rank receives its own rows of the panel, and those of its PanelSide: the
/// owner sends the former to one rank of each row of the grid, and the latter to one of each column, which forward
/// them.
template <Scalar T> class PanelExchange {
 public:
  PanelExchange(const Communicator& comm, const LuSchedule& schedule, const RankGrid& grid, PanelSide side);

  /// Bytes that it allocates, on the rank of the grid that needs most.
  [[nodiscard]] static double bytes(const LuSchedule& schedule, const RankGrid& grid, PanelSide side);

  [[nodiscard]] int rank() const { return comm_.rank(); }
  /// The rank that factors panel p.
  [[nodiscard]] int owner(Index p) const { return grid_.owner(schedule_.panel(p).begin, schedule_.panel(p).begin); }
  /// Sends this rank's rows of panel p, from its part `local` of the matrix, to the panel's owner, once the work given
  /// to the communicator's instance so far is done. If rows are dealt out, it must precede gathered() and begin().
  /// Blocks only until earlier messages in the same memory are sent.
  void begin_gather(Index p, const MatrixView<T>& local);
  /// All rows of panel p, from its first row on, ordered on `space` of its owner. Blocks until they are on their way
  /// into this rank's memory.
  [[nodiscard]] MatrixView<T> gathered(Index p, const ExecutionSpace& space);
  /// Sends panel p, in `panel` on its owner with its first row first and ordered on `space` there, and `numbers` to
  /// every rank. Collective; end() of the previous panel must precede it.
  void begin(Index p, const MatrixView<const T>& panel, const Kokkos::View<Index*, MemorySpace>& numbers,
             const ExecutionSpace& space);
  /// After end(), panels() and sides() have panel p, ordered on the communicator's instance. Blocks until it is on its
  /// way into this rank's memory.
  void end(Index p);
  /// Event after which the numbers of the panel of the last end() are there; empty on its owner.
  [[nodiscard]] const Event& numbers_arrived() const { return numbers_arrived_; }
  /// Blocks until all messages of this rank are sent: a message may wait for an event of its sender, which the sender
  /// polls.
  void finish();
  /// Lets messages under way make progress, and forwards received ones. Does not block.
  void progress();
  /// begin(), end() and finish() on the communicator's instance.
  void share(Index p, const MatrixView<const T>& panel, const Kokkos::View<Index*, MemorySpace>& numbers) {
    begin(p, panel, numbers, comm_.space());
    end(p);
    finish();
  }
  /// Bytes of panel p that this rank receives.
  [[nodiscard]] double received_bytes(Index p) const;
  /// The relay of this rank's rows of panel p.
  [[nodiscard]] Relay relay_of_rows(Index p) const;
  /// This rank's rows of panels [first, last); those above each panel's first row are undefined.
  [[nodiscard]] MatrixView<T> panels(Index first, Index last) const;
  /// The rows of PanelSide of panels [first, last) of one group, from SideRows::first_kept() on.
  [[nodiscard]] MatrixView<T> sides(Index first, Index last) const;

 private:
  /// A message that this rank receives and forwards.
  struct Incoming {
    Request received;
    std::vector<int> to;
    std::function<void(int, const Event&)> send;
  };
  using Memory = Kokkos::View<T*, MemorySpace>;

  [[nodiscard]] static std::size_t turn(Index p) { return static_cast<std::size_t>(p % 2); }
  [[nodiscard]] Index slot(Index p) const { return p % (2 * schedule_.group); }
  [[nodiscard]] MatrixView<T> kept(const MatrixView<T>& all, Index first, Index last) const;
  [[nodiscard]] Range rows_of(Index p) const { return {schedule_.panel(p).begin, schedule_.rows}; }
  /// Process q's part of rows `of` of a panel, in a message that has the parts of all processes of an axis.
  [[nodiscard]] MatrixView<T> part(const Memory& message, const CyclicAxis& axis, Range of, Index width, int q) const;
  [[nodiscard]] MatrixView<T> row_part(Index p, int grid_row) const {
    return part(row_messages_[turn(p)], grid_.rows, rows_of(p), schedule_.panel(p).size(), grid_row);
  }
  [[nodiscard]] MatrixView<T> side_part(Index p, int process) const {
    return part(side_messages_[turn(p)], side_.axis, side_.of_panel(schedule_, p), schedule_.panel(p).size(), process);
  }
  [[nodiscard]] Relay relay_of_side(Index p) const;
  void pack(Index p, const MatrixView<const T>& panel, const ExecutionSpace& space);
  void expect(Index p, const Kokkos::View<Index*, MemorySpace>& numbers);
  void send_all(Index p, const Kokkos::View<Index*, MemorySpace>& numbers);
  void pass_on(Incoming& message);
  template <class Element> void send(const MatrixView<Element>& block, int to, int tag, const Event& ready);

  Communicator comm_;
  LuSchedule schedule_;
  RankGrid grid_;
  SideRows side_;
  Transport transport_;
  MatrixView<T> kept_;        // This rank's rows x (kept_panels() block)
  MatrixView<T> kept_sides_;  // SideRows::kept_rows x (kept_panels() block)
  Memory storage_;
  Memory side_storage_;
  Memory whole_;                         // A panel, on the rank that factors it, if rows are dealt out.
  Memory own_rows_;                      // This rank's rows on their way to that rank.
  std::array<Memory, 2> row_messages_;   // Messages with rows, alternating by panel.
  std::array<Memory, 2> side_messages_;  // Messages with side rows, likewise.
  std::array<std::vector<Request>, 2> sends_;
  std::vector<Incoming> receives_;
  std::vector<Request> gathers_;
  Request gather_sent_;
  std::size_t sending_ = 0;  // Index into sends_ of forwarded messages.
  Event packed_;
  std::array<Event, 2> unpacked_;  // Events after which the messages of panels may be overwritten.
  Event numbers_arrived_;
};

}  // namespace heddle::impl
