// One operand of a distributed product on its way: its bands into this rank's slots, this rank's pieces to all others.
#pragma once

#include "gemm/run/bands.hpp"

namespace heddle::impl {

/// The stream of one operand, A or B. A product with it: start(), then, for each step of the schedule, progress() and
/// ready() until the step's band is there, order(), band(), and used() once the step's local product has been given to
/// a lane; at last progress() until idle(). Nothing blocks.
template <Scalar T> class OperandStream {
 public:
  /// schedules[rank]: what each rank loads. `setting` and `side` outlive it.
  OperandStream(const Setting& setting, const OperandSide& side, const Product& product,
                const std::vector<RankSchedule>& schedules)
      : OperandStream(setting, side, product, Relays(product, side, schedules), schedules) {}
  OperandStream(const OperandStream&) = delete;
  OperandStream& operator=(const OperandStream&) = delete;

  /// Begins a product with this rank's part of the operand. The slots are free, and the part is there for work on the
  /// instances, after `begin`; for messages it is there after `ready`.
  void start(const MatrixView<const T>& local, const Event& begin, const Event& ready) {
    receiver_.start(local, begin);
    sender_.start(local, ready);
  }
  /// Replaces start() and all other calls but band() on a rank that owns every band on its device.
  void show(const MatrixView<const T>& local) { receiver_.show(local); }
  /// Begins one more message to each rank that wants one, as far as messages may be under way.
  void send_next() { sender_.send_next(); }
  /// Begins as many messages as may be under way, and ends those that are over; unless may_copy, nothing is given to
  /// an instance.
  void progress(bool may_copy) {
    receiver_.take_far(may_copy);
    sender_.progress(may_copy);
  }
  /// Whether all that others want of this rank has been sent.
  [[nodiscard]] bool idle() const { return sender_.idle(); }

  /// The step that first uses the next band to be received, where that may be posted before step `number`.
  [[nodiscard]] std::optional<int> next_use(int number) const { return receiver_.next_use(number); }
  void post_next(bool may_copy) { receiver_.post_next(may_copy); }
  [[nodiscard]] bool next_is_far() const { return receiver_.next_is_far(); }
  [[nodiscard]] std::size_t far_under_way() const { return receiver_.far_under_way(); }
  [[nodiscard]] bool last_is_ready() { return receiver_.last_is_ready(); }
  /// Whether the step's band is posted and complete; unpacks what has arrived.
  [[nodiscard]] bool ready(const Step& step) { return receiver_.ready(step.*side_.load); }
  /// Work given to a lane from now on runs after the step's band is complete.
  void order(const Step& step, std::size_t lane) { receiver_.order(step.*side_.load, lane); }
  /// The step's band as the operand is stored, not op() of it.
  [[nodiscard]] MatrixView<const T> band(const Step& step) const { return receiver_.band(step.*side_.load); }
  /// Step `number`, which is `step`, has been given to a lane: a band used for the last time leaves its slot after it.
  void used(const Step& step, int number) { receiver_.used(step.*side_.load, number); }

 private:
  OperandStream(const Setting& setting, const OperandSide& side, const Product& product, const Relays& relays,
                const std::vector<RankSchedule>& schedules)
      : side_(side),
        receiver_(setting, side, product, relays, schedules[static_cast<std::size_t>(setting.comm.rank())]),
        sender_(setting, side, product, relays, schedules, receiver_) {}

  const OperandSide& side_;
  BandReceiver<T> receiver_;
  BandSender<T> sender_;
};

/// Posts the loads that may be posted before step `number`, in the order of their use; ties_to_a: if a band of A and
/// one of B are for the same step, A's is first. Within a node every other rank sets it, so that the owners of both are
/// busy. Between nodes all set it: ranks of a row of the grid then exchange A among themselves, and those of a column
/// B, so that each link brings from where it sends to, and is full both ways.
///
/// Only one load with pieces from other nodes is on the way at a time, so that the band used first has the link, which
/// a node's ranks share; on GPUs two, as a fast link would stand idle between them. They wait for nothing but their
/// owners, so that what this rank's node expects of them comes.
///
/// in_turn: each load is posted once the last one is ready, so that a device that copies one band after the other does
/// so in the order of use, not in the order in which the owners answer.
template <Scalar T>
void post_loads(bool ties_to_a, OperandStream<T>& a, OperandStream<T>& b, int number, bool in_turn, bool may_copy) {
  constexpr std::size_t most_far = on_host ? 1 : 2;
  while (!in_turn || (a.last_is_ready() && b.last_is_ready())) {
    const std::optional<int> use_a = a.next_use(number);
    const std::optional<int> use_b = b.next_use(number);
    if (!use_a && !use_b) {
      return;
    }
    const bool a_first = use_a && (!use_b || (ties_to_a ? *use_a <= *use_b : *use_a < *use_b));
    OperandStream<T>& next = a_first ? a : b;
    if (next.next_is_far() && a.far_under_way() + b.far_under_way() >= most_far) return;
    next.post_next(may_copy);
  }
}

}  // namespace heddle::impl
