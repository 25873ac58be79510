// Exchange of the elements of a matrix that changes its placement, in panels: some travel while others are put in
// place.
#pragma once

#include "comm/failures/checked.hpp"
#include "dist/shares.hpp"
#include <heddle/comm/transport.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>
#include <vector>

namespace heddle::impl {

/// Panels of one partner under way at once: while one is unpacked, the next are on the link or just asked for.
inline constexpr std::size_t panels_under_way = 4;
/// A sixteenth of a message makes a panel, between these: its handshake takes little time beside its transfer, and the
/// last one, unpacked when no other is under way, little beside all.
inline constexpr Index smallest_panel_bytes = on_host ? Index{1} << 20 : Index{1} << 25;
inline constexpr Index largest_panel_bytes = on_host ? Index{1} << 22 : Index{1} << 27;

/// Bytes of another rank's memory that one kernel reads: over two gigabytes the link runs at a twentieth of its rate,
/// as the addresses outrun what the device keeps of their translation.
inline constexpr Index reach_of_a_kernel = Index{1} << 27;

template <Scalar T> using PanelBuffer = Kokkos::View<T*, MemorySpace>;

/// Buffers that panels need for a while.
template <Scalar T> class PanelPool {
 public:
  /// One of at least `size` elements.
  [[nodiscard]] PanelBuffer<T> take(const ExecutionSpace& space, Index size) {
    const auto fits = [&](const PanelBuffer<T>& buffer) { return static_cast<Index>(buffer.size()) >= size; };
    const auto found = std::find_if(spare_.begin(), spare_.end(), fits);
    if (found == spare_.end()) {
      return PanelBuffer<T>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::dist::exchange"),
                            static_cast<std::size_t>(size));
    }
    PanelBuffer<T> buffer = std::move(*found);
    spare_.erase(found);
    return buffer;
  }
  /// Work given to `space` so far may still use it: the next to take it works on the same instance.
  void give(PanelBuffer<T> buffer) { spare_.push_back(std::move(buffer)); }

 private:
  std::vector<PanelBuffer<T>> spare_;
};

/// A message of height x width elements, cut into panels of whole columns, and how far it is.
template <Scalar T> class Panels {
 public:
  Panels(Index height, Index width)
      : height_(height),
        width_(height == 0 ? 0 : width),
        at_once_(
            std::max<Index>(1, std::min(elements_at_once(height_ * width_) / std::max<Index>(1, height_), width_))) {}

  [[nodiscard]] bool finished() const { return next_ == width_; }
  [[nodiscard]] Range take() {
    const Range range{next_, std::min(next_ + at_once_, width_)};
    next_ = range.end;
    return range;
  }
  void all_at_once() { at_once_ = std::max<Index>(1, width_); }
  [[nodiscard]] Index height() const { return height_; }
  /// Elements of the largest panel.
  [[nodiscard]] Index size() const { return height_ * at_once_; }
  /// A panel of `width` columns in a buffer.
  template <class U> [[nodiscard]] MatrixView<U> view(U* data, Index width) const {
    return matrix_view(data, height_, width, height_);
  }

 private:
  static Index elements_at_once(Index all) {
    constexpr auto size = static_cast<Index>(sizeof(T));
    return std::clamp(all / 16, smallest_panel_bytes / size, largest_panel_bytes / size);
  }

  Index height_;
  Index width_;
  Index at_once_;
  Index next_ = 0;
};

/// How messages of one exchange travel.
template <Scalar T> struct Route {
  const Communicator& comm;
  Transport transport;
  PanelPool<T>& pool;
  int tag;
  bool crossed;   ///< Columns of a message are rows of the result.
  bool in_place;  ///< The result is the matrix that messages are taken from.

  /// Whether messages with this rank are read where they lie.
  [[nodiscard]] bool shown(int rank) const { return crossed && transport.shows_blocks(rank); }
};

/// Elements that go to one rank: shown in place, if they are a block that the receiver reads there; else sent in place,
/// if they are one run of memory that does not change; else packed, which takes less time than copy engines lose on
/// columns that lie apart.
template <Scalar T> class Outbox {
 public:
  Outbox(const Route<T>& route, const MatrixView<const T>& A, const Share& part, int rank)
      : route_(route),
        A_(A),
        part_(part),
        rank_(rank),
        panels_(part.rows.count, part.columns.count),
        as_it_lies_(route.shown(rank) ? part.is_block() : !route.in_place && part.is_contiguous(A)) {
    if (route.shown(rank)) {
      panels_.all_at_once();
    }
  }

  // Receivers may read what is under way until they have given up, too.
  ~Outbox() {
    if (std::uncaught_exceptions() == 0 || departures_.empty()) return;
    keep_forever(A_);
    for (const Departure& departure : departures_) keep_forever(departure.packed);
  }
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  [[nodiscard]] bool idle() const { return panels_.finished() && departures_.empty(); }
  void progress() {
    while (!departures_.empty() && departures_.front().request.test()) {
      if (departures_.front().packed.data() != nullptr) {
        route_.pool.give(std::move(departures_.front().packed));
      }
      departures_.pop_front();
    }
    while (!panels_.finished() && departures_.size() < panels_under_way) {
      send_next();
    }
  }

 private:
  struct Departure {
    PanelBuffer<T> packed;
    Request request;
  };

  void send_next() {
    const Range range = panels_.take();
    const Share part = part_.of_columns(range);
    Departure departure;
    if (as_it_lies_) {
      departure.request = route_.transport.template send<T>(part.block(A_), rank_, route_.tag);
    } else {
      departure.packed = route_.pool.take(route_.comm.space(), panels_.size());
      const MatrixView<T> packed = panels_.view(departure.packed.data(), range.size());
      pack(route_.comm.space(), A_, part, packed);
      departure.request = route_.transport.template send<T>(MatrixView<const T>(packed), rank_, route_.tag);
    }
    departures_.push_back(std::move(departure));
  }

  const Route<T>& route_;
  MatrixView<const T> A_;
  Share part_;
  int rank_;
  Panels<T> panels_;
  bool as_it_lies_;
  std::deque<Departure> departures_;
};

/// The part of the sink's matrix behind some columns of a message for `part` of it.
template <class Sink> Share panel_of(const Sink& sink, const Share& part, Range range) {
  return sink.crossed() ? part.of_rows(range) : part.of_columns(range);
}

/// Elements that come from one rank: read in place there, if `shown`; else received in the sink's matrix itself, if the
/// sink changes nothing and has one run of memory for them; else in a buffer.
template <Scalar T, class Sink> class Inbox {
 public:
  Inbox(const Route<T>& route, const Sink& sink, const Share& part, int rank, Event begin)
      : route_(route),
        sink_(sink),
        part_(part),
        rank_(rank),
        begin_(std::move(begin)),
        panels_(sink.crossed() ? part.columns.count : part.rows.count,
                sink.crossed() ? part.rows.count : part.columns.count),
        shown_(route.shown(rank)),
        in_place_(sink.takes_as_it_is() && part.is_contiguous(sink.matrix())) {
    if (shown_) {
      panels_.all_at_once();
    }
  }

  [[nodiscard]] bool shown() const { return shown_; }
  [[nodiscard]] bool idle() const { return panels_.finished() && arrivals_.empty(); }
  /// Make progress, and return true if a panel has arrived.
  [[nodiscard]] bool progress() {
    while (!panels_.finished() && arrivals_.size() < panels_under_way) {
      post_next();
    }
    bool any = false;
    for (; !arrivals_.empty() && arrivals_.front().request.test(); any = true) {
      finish(arrivals_.front());
      arrivals_.pop_front();
    }
    return any;
  }

 private:
  struct Arrival {
    Range range;
    PanelBuffer<T> landing;
    Request request;
  };

  void post_next() {
    Arrival arrival{panels_.take(), {}, {}};
    if (shown_) {
      const Range range = arrival.range;
      arrival.request = route_.transport.template receive_by<T>(
          panels_.height(), range.size(), rank_, route_.tag,
          [this, range](const MatrixView<const T>& block) { read_there(block, range); });
    } else if (in_place_) {
      // Nothing that was given to the instance since then touches it.
      arrival.request = route_.transport.template receive<T>(
          panel_of(sink_, part_, arrival.range).block(sink_.matrix()), rank_, route_.tag, std::span(&begin_, 1));
    } else {
      arrival.landing = route_.pool.take(route_.comm.space(), panels_.size());
      arrival.request = route_.transport.template receive<T>(panels_.view(arrival.landing.data(), arrival.range.size()),
                                                             rank_, route_.tag);
    }
    arrivals_.push_back(std::move(arrival));
  }
  void read_there(const MatrixView<const T>& block, Range range) {
    const Index span = std::max<Index>(1, static_cast<Index>(block.stride(1)) * static_cast<Index>(sizeof(T)));
    const Index step = std::max<Index>(1, reach_of_a_kernel / span);
    for (Index begin = 0; begin < range.size(); begin += step) {
      const Index end = std::min(begin + step, range.size());
      sink_.place(route_.comm.space(), route_.pool, block_of(block, 0, panels_.height(), begin, end),
                  panel_of(sink_, part_, {range.begin + begin, range.begin + end}));
    }
  }
  void finish(Arrival& arrival) {
    if (shown_) {
      return;
    }
    if (in_place_) {
      arrival.request.event().before(route_.comm.space());
      return;
    }
    const T* const data = arrival.landing.data();
    sink_.place(route_.comm.space(), route_.pool, panels_.view(data, arrival.range.size()),
                panel_of(sink_, part_, arrival.range));
    route_.pool.give(std::move(arrival.landing));
  }

  const Route<T>& route_;
  const Sink& sink_;
  Share part_;
  int rank_;
  Event begin_;
  Panels<T> panels_;
  bool shown_;
  bool in_place_;
  std::deque<Arrival> arrivals_;
};

/// Elements that a rank keeps: panel by panel, so that it fills the gaps between those that come.
template <Scalar T, class Sink> class OwnShare {
 public:
  OwnShare(const ExecutionSpace& space, PanelPool<T>& pool, const MatrixView<const T>& A, const Share& from,
           const Sink& sink, const Share& to)
      : space_(space),
        pool_(pool),
        A_(A),
        from_(from),
        sink_(sink),
        to_(to),
        panels_(from.rows.count, from.columns.count) {}

  [[nodiscard]] bool finished() const { return panels_.finished(); }
  void all_at_once() { panels_.all_at_once(); }
  void place_next() {
    const Range range = panels_.take();
    const Share from = from_.of_columns(range);
    const Share to = panel_of(sink_, to_, range);
    if (from.is_block()) {
      sink_.place(space_, pool_, from.block(A_), to);
      return;
    }
    PanelBuffer<T> packed = pool_.take(space_, panels_.size());
    pack(space_, A_, from, panels_.view(packed.data(), range.size()));
    const T* const data = packed.data();
    sink_.place(space_, pool_, panels_.view(data, range.size()), to);
    pool_.give(std::move(packed));
  }

 private:
  const ExecutionSpace& space_;
  PanelPool<T>& pool_;
  MatrixView<const T> A_;
  Share from_;
  const Sink& sink_;
  Share to_;
  Panels<T> panels_;
};

/// On GPUs a new instance beside `space`; on CPUs `space` itself.
inline ExecutionSpace instance_beside(const ExecutionSpace& space) {
  if constexpr (on_host) {
    return space;
  } else {
    return Kokkos::Experimental::partition_space(space, 1)[0];
  }
}

/// Buffers of an exchange. Elements that a rank keeps are put in their place on an instance with buffers of its own, or
/// with those of the rest.
template <Scalar T> struct ExchangeBuffers {
  PanelPool<T>& pool;
  const ExecutionSpace& space_beside;
  PanelPool<T>& pool_beside;
};

/// Brings the parts of A to the ranks whose sinks take them. Blocks.
///
/// If kernels can read other ranks' memory, those of a sink that turns columns into rows do: on two H200s they bring
/// half as much again as copy engines do, which stand still while transposes take the memory's bandwidth. A Sink has
/// matrix(), this rank's part of the result; crossed(), whether columns of a message are rows of it; takes_as_it_is(),
/// whether a message may land in it as it comes; and place(space, pool, block, part), which puts a block of a message
/// there and does not block. Its matrix may be A itself, if it writes no element that any rank's sink takes from
/// another.
template <Scalar T, class Sink>
void exchange(const Communicator& comm, const MatrixView<const T>& A, const Shares& outgoing, const Sink& sink,
              const Shares& incoming, int tag, const ExchangeBuffers<T>& buffers) {
  const ExecutionSpace& space = comm.space();
  const auto transport = transport_of(comm);
  const Route<T> route{comm, transport, buffers.pool, tag, sink.crossed(), A.data() == sink.matrix().data()};
  const Event begin = Event::on(space);
  begin.before(buffers.space_beside);
  std::deque<Inbox<T, Sink>> inboxes;
  std::deque<Outbox<T>> outboxes;
  // Partners by rising distance, so that not all ranks turn to the same one first.
  for (int step = 1; step < comm.size(); ++step) {
    const int from = (comm.rank() + comm.size() - step) % comm.size();
    if (!incoming.empty(from)) {
      inboxes.emplace_back(route, sink, incoming.with(from), from, begin);
    }
    const int to = (comm.rank() + step) % comm.size();
    if (!outgoing.empty(to)) {
      outboxes.emplace_back(route, A, outgoing.with(to), to);
    }
  }
  OwnShare<T, Sink> own(buffers.space_beside, buffers.pool_beside, A, outgoing.with(comm.rank()), sink,
                        incoming.with(comm.rank()));
  // Kernels that read other ranks' memory leave no gaps between them.
  const auto is_shown = [&](const auto& inbox) { return inbox.shown(); };
  const bool all_shown = std::all_of(inboxes.begin(), inboxes.end(), is_shown);
  if (all_shown) {
    own.all_at_once();
  }
  const auto idle = [](const auto& box) { return box.idle(); };
  for (bool busy = true; busy;) {
    for (Outbox<T>& outbox : outboxes) {
      outbox.progress();
    }
    bool any = false;
    for (Inbox<T, Sink>& inbox : inboxes) {
      any = inbox.progress() || any;
    }
    if (!own.finished() && (any || all_shown)) {
      own.place_next();
    }
    transport.progress();
    busy = !std::all_of(inboxes.begin(), inboxes.end(), idle) || !std::all_of(outboxes.begin(), outboxes.end(), idle);
  }
  while (!own.finished()) {
    own.place_next();
  }
  transport.drain();
  buffers.space_beside.fence("heddle::dist::exchange");
  space.fence("heddle::dist::exchange");
}

}  // namespace heddle::impl
