// All that ranks owe each other when a matrix changes its placement, in panels: one is packed while others travel.
#pragma once

#include "dist/shares.hpp"
#include <heddle/comm/transport.hpp>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace heddle::impl {

/// Panels of one partner under way at once: while one is packed, the next are on the link or just handed over.
inline constexpr std::size_t panels_under_way = 4;
/// Of a panel. Packing and the handshake of the next take less time than the transfer of one.
inline constexpr Index panel_bytes = on_host ? Index{1} << 22 : Index{1} << 25;
/// Shorter runs than these are unpacked by a kernel, which is faster than a copy engine at them.
inline constexpr Index shortest_run_bytes = 4096;

/// The columns of a height x width message that travel together.
template <class T> Index panel_width(Index height) {
  return std::max<Index>(1, panel_bytes / static_cast<Index>(sizeof(T)) / std::max<Index>(1, height));
}

template <Scalar T> using PanelBuffer = Kokkos::View<T*, MemorySpace>;

template <Scalar T> PanelBuffer<T> panel_buffer(const ExecutionSpace& space, Index size) {
  return PanelBuffer<T>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::dist::panel"),
                        static_cast<std::size_t>(size));
}

/// A message cut into panels, and where its next one begins.
struct Panels {
  int rank = 0;
  Index height = 0;
  Index width = 0;
  Index at_once = 1;
  Index next = 0;

  [[nodiscard]] bool finished() const { return next == width; }
  [[nodiscard]] Range take() {
    const Range range{next, std::min(next + at_once, width)};
    next = range.end;
    return range;
  }
};

/// What comes from one rank: where B has room for whole runs, it lands there, else beside it.
template <Scalar T> class Inbox {
 public:
  Inbox(const Communicator& comm, Transport& transport, const Part& part, const MatrixView<T>& B, int rank, int tag,
        Event begin)
      : comm_(comm),
        transport_(transport),
        part_(part),
        B_(B),
        tag_(tag),
        begin_(std::move(begin)),
        panels_{rank, part.rows.count, part.columns.count, panel_width<T>(part.rows.count), 0},
        lands_(part.is_contiguous(B) || (part.is_block() && transport.takes_blocks() &&
                                         part.rows.count * static_cast<Index>(sizeof(T)) >= shortest_run_bytes)) {}

  [[nodiscard]] bool idle() const { return panels_.finished() && arrivals_.empty(); }
  void progress() {
    while (!panels_.finished() && arrivals_.size() < panels_under_way) {
      post();
    }
    while (!arrivals_.empty() && arrivals_.front().request.test()) {
      finish(arrivals_.front());
      arrivals_.pop_front();
    }
  }

 private:
  struct Arrival {
    Part part;
    PanelBuffer<T> landing;
    Request request;
  };

  void post() {
    const Range range = panels_.take();
    Arrival arrival{{part_.rows, part_.columns.part(range)}, {}, {}};
    if (lands_) {
      // Nothing that was given to the space since then touches it.
      arrival.request = transport_.receive<T>(arrival.part.block(B_), panels_.rank, tag_, std::span(&begin_, 1));
    } else {
      if (spare_.empty()) {
        arrival.landing = panel_buffer<T>(comm_.space(), panels_.height * panels_.at_once);
      } else {
        arrival.landing = std::move(spare_.back());
        spare_.pop_back();
      }
      arrival.request = transport_.receive<T>(
          matrix_view(arrival.landing.data(), panels_.height, range.size(), panels_.height), panels_.rank, tag_);
    }
    arrivals_.push_back(std::move(arrival));
  }
  void finish(Arrival& arrival) {
    if (lands_) {
      arrival.request.event().before(comm_.space());
      return;
    }
    const T* const data = arrival.landing.data();
    unpack(comm_.space(), matrix_view(data, panels_.height, arrival.part.columns.count, panels_.height), arrival.part,
           B_);
    spare_.push_back(std::move(arrival.landing));
  }

  const Communicator& comm_;
  Transport& transport_;
  Part part_;
  MatrixView<T> B_;
  int tag_;
  Event begin_;
  Panels panels_;
  bool lands_;
  std::deque<Arrival> arrivals_;
  std::vector<PanelBuffer<T>> spare_;
};

/// What goes to one rank.
template <Scalar T, class Source> class Outbox {
 public:
  Outbox(const Communicator& comm, Transport& transport, const Source& source, const Part& part, int rank, int tag)
      : comm_(comm),
        transport_(transport),
        source_(source),
        part_(part),
        tag_(tag),
        panels_{rank, source.height(part), source.width(part), panel_width<T>(source.height(part)), 0} {}

  [[nodiscard]] bool idle() const { return panels_.finished() && departures_.empty(); }
  /// Sends one panel more if it may; whether it did.
  [[nodiscard]] bool send_next() {
    while (!departures_.empty() && departures_.front().request.test()) {
      if (departures_.front().packed.data() != nullptr) {
        spare_.push_back(std::move(departures_.front().packed));
      }
      departures_.pop_front();
    }
    if (panels_.finished() || departures_.size() == panels_under_way) {
      return false;
    }
    const Range range = panels_.take();
    const Part part = source_.panel(part_, range);
    Departure departure;
    MatrixView<const T> message;
    if (source_.is_ready(part)) {
      message = source_.ready(part);
    } else {
      if (spare_.empty()) {
        departure.packed = panel_buffer<T>(comm_.space(), panels_.height * panels_.at_once);
      } else {
        departure.packed = std::move(spare_.back());
        spare_.pop_back();
      }
      const MatrixView<T> packed = matrix_view(departure.packed.data(), panels_.height, range.size(), panels_.height);
      source_.pack(comm_.space(), part, packed);
      message = packed;
    }
    departure.request = transport_.send<T>(message, panels_.rank, tag_);
    departures_.push_back(std::move(departure));
    return true;
  }

 private:
  struct Departure {
    PanelBuffer<T> packed;
    Request request;
  };

  const Communicator& comm_;
  Transport& transport_;
  const Source& source_;
  Part part_;
  int tag_;
  Panels panels_;
  std::deque<Departure> departures_;
  std::vector<PanelBuffer<T>> spare_;
};

/// What a rank keeps: panel by panel, so that it fills the gaps between those that travel.
template <Scalar T, class Source> class OwnShare {
 public:
  OwnShare(const ExecutionSpace& space, const Source& source, const Part& from, const Part& to, const MatrixView<T>& B,
           bool alone)
      : space_(space),
        source_(source),
        from_(from),
        to_(to),
        B_(B),
        panels_{0, to.rows.count, to.columns.count, alone ? to.columns.count : panel_width<T>(to.rows.count), 0} {}

  [[nodiscard]] bool finished() const { return panels_.finished() || panels_.height == 0; }
  void place_next() {
    if (finished()) {
      return;
    }
    const Range range = panels_.take();
    const Part from = source_.panel(from_, range);
    const Part to{to_.rows, to_.columns.part(range)};
    if (to.is_block()) {
      source_.pack(space_, from, to.block(B_));
      return;
    }
    if (packed_.data() == nullptr) {
      packed_ = panel_buffer<T>(space_, panels_.height * panels_.at_once);
    }
    source_.pack(space_, from, matrix_view(packed_.data(), panels_.height, range.size(), panels_.height));
    const T* const data = packed_.data();
    unpack(space_, matrix_view(data, panels_.height, range.size(), panels_.height), to, B_);
  }

 private:
  const ExecutionSpace& space_;
  const Source& source_;
  Part from_;
  Part to_;
  MatrixView<T> B_;
  Panels panels_;
  PanelBuffer<T> packed_;
};

/// B = what `source` makes of this and other ranks' parts. Blocks.
///
/// A Source has, of a Part of its local matrix: height() and width() of the message that it makes of it, panel(part,
/// range) for the part behind some of the message's columns, pack(space, part, view) and, for what travels as it lies,
/// is_ready(part) and ready(part).
template <Scalar T, class Source>
void exchange(const Communicator& comm, const Source& source, const Shares& outgoing, const Shares& incoming,
              const MatrixView<T>& B, int tag) {
  const ExecutionSpace& space = comm.space();
  const auto transport = transport_of(comm);
  const Event begin = Event::on(space);
  std::deque<Inbox<T>> inboxes;
  std::deque<Outbox<T, Source>> outboxes;
  // Partners by rising distance, so that not all ranks turn to the same one first.
  for (int step = 1; step < comm.size(); ++step) {
    const int from = (comm.rank() + comm.size() - step) % comm.size();
    if (!incoming.empty(from)) {
      inboxes.emplace_back(comm, *transport, incoming.with(from), B, from, tag, begin);
    }
    const int to = (comm.rank() + step) % comm.size();
    if (!outgoing.empty(to)) {
      outboxes.emplace_back(comm, *transport, source, outgoing.with(to), to, tag);
    }
  }
  OwnShare<T, Source> own(space, source, outgoing.with(comm.rank()), incoming.with(comm.rank()), B,
                          inboxes.empty() && outboxes.empty());
  const auto idle = [](const auto& box) { return box.idle(); };
  for (bool busy = true; busy;) {
    for (Inbox<T>& inbox : inboxes) {
      inbox.progress();
    }
    bool sent = false;
    for (Outbox<T, Source>& outbox : outboxes) {
      sent = outbox.send_next() || sent;
    }
    if (sent) {
      own.place_next();
    }
    transport->progress();
    busy = !std::all_of(inboxes.begin(), inboxes.end(), idle) || !std::all_of(outboxes.begin(), outboxes.end(), idle);
  }
  while (!own.finished()) {
    own.place_next();
  }
  transport->drain();
  space.fence("heddle::dist::exchange");
}

}  // namespace heddle::impl
