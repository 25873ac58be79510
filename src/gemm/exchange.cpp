#include "gemm/exchange.hpp"

#include "comm/tags.hpp"
#include "core/instantiate.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

template <Scalar T> Buffer<T> make_buffer(const Setting& setting, Index size) {
  return Buffer<T>(Kokkos::view_alloc(setting.comm.space(), Kokkos::WithoutInitializing, "heddle::gemm::buffer"),
                   static_cast<std::size_t>(size));
}

// A buffer that holds `size` elements from now on.
template <Scalar T> void grow(const Setting& setting, Buffer<T>& buffer, Index size) {
  if (static_cast<Index>(buffer.size()) < size) {
    buffer = make_buffer<T>(setting, size);
  }
}

// A piece as it lies in a buffer of its own.
template <class T> MatrixView<T> packed_view(T* data, const Piece& piece) {
  return matrix_view(data, piece.rows.size(), piece.columns.size(), piece.rows.size());
}

template <class T> MatrixView<T> part_of(const MatrixView<T>& local, const Piece& piece) {
  return block_of(local, piece.rows.begin, piece.rows.end, piece.columns.begin, piece.columns.end);
}

template <class T> bool is_contiguous(const MatrixView<T>& view) {
  return view.extent(1) <= 1 || view.stride(1) == view.extent(0);
}

// All work given to the instances so far.
std::vector<Event> events_on(const Instances& instances) {
  std::vector<Event> events;
  for (const blas::Context& lane : instances.lanes) {
    events.push_back(Event::on(lane.space()));
  }
  events.push_back(Event::on(instances.assembly));
  return events;
}

// An interval of a transfer, by the device's clock where it is known.
void record_transfer(const Setting& setting, const TraceInterval& interval, const Request& request) {
  if (request.begin().state()) {
    setting.recorder->add(interval, request.begin(), request.event());
  } else {
    TraceInterval timed = interval;
    timed.end = setting.recorder->now();
    setting.recorder->add(timed);
  }
}

bool traces_transfers(const Setting& setting) {
  return setting.recorder != nullptr && setting.recorder->everything();
}

}  // namespace

// ---- bands coming in

template <Scalar T>
BandReceiver<T>::BandReceiver(const Setting& setting, const Placement& placement, char operand, int tag,
                              const std::vector<Load>& loads, const std::vector<Region>& regions, int slots)
    : setting_(setting),
      placement_(placement),
      operand_(operand),
      tag_(tag),
      slots_(static_cast<std::size_t>(slots)),
      landings_(static_cast<std::size_t>(slots)) {
  const int rank = setting.comm.rank();
  const bool streamed = is_streamed(placement);
  std::vector<Index> slot_size(slots_.size(), 0);
  std::vector<Index> landing_size(slots_.size(), 0);
  for (std::size_t k = 0; k < loads.size(); ++k) {
    Arrival arrival{loads[k], regions[k], piece_of(placement, regions[k], rank), false, false, {}, {}, {}};
    const auto slot = static_cast<std::size_t>(loads[k].slot);
    arrival.in_place = !streamed && arrival.mine.size() == arrival.region.size();
    Index landing = 0;
    for (const Piece& piece : pieces_of(placement, arrival.region)) {
      if (piece.owner == rank && !streamed) {
        continue;
      }
      Incoming incoming;
      incoming.piece = piece;
      incoming.landing = landing;
      if (is_block(placement, arrival.region, piece, !setting.transport->takes_blocks())) {
        const PieceMap map(placement, arrival.region, piece);
        incoming.landing = -1;
        incoming.row = map.row(0);
        incoming.column = map.column(0);
      } else {
        landing += piece.size();
      }
      arrival.pieces.push_back(std::move(incoming));
    }
    if (!arrival.in_place) {
      slot_size[slot] = std::max(slot_size[slot], arrival.region.size());
    }
    landing_size[slot] = std::max(landing_size[slot], landing);
    arrivals_.push_back(std::move(arrival));
  }
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    slots_[slot] = make_buffer<T>(setting, slot_size[slot]);
    landings_[slot] = make_buffer<T>(setting, landing_size[slot]);
  }
}

template <Scalar T> void BandReceiver<T>::start(const MatrixView<const T>& local) {
  local_ = local;
  posted_ = 0;
}

template <Scalar T> std::optional<int> BandReceiver<T>::next_use(int step) const {
  if (posted_ == arrivals_.size() || arrivals_[posted_].load.post_before > step) {
    return {};
  }
  return arrivals_[posted_].load.first_use;
}

template <Scalar T> void BandReceiver<T>::post_next() {
  post(arrivals_[posted_]);
  ++posted_;
}

template <Scalar T> void BandReceiver<T>::post(Arrival& arrival) {
  arrival.ordered.assign(setting_.instances.lanes.size(), arrival.in_place);
  if (arrival.in_place) {
    return;
  }
  // The slot's last band is used by products under way, its landing buffer by what puts that together.
  const std::vector<Event> free = events_on(setting_.instances);
  arrival.events.clear();
  arrival.copied = false;
  const auto slot_number = static_cast<std::size_t>(arrival.load.slot);
  for (Incoming& incoming : arrival.pieces) {
    const Piece& piece = incoming.piece;
    const MatrixView<T> to = incoming.landing < 0
                                 ? block_of(slot(arrival), incoming.row, incoming.row + piece.rows.size(),
                                            incoming.column, incoming.column + piece.columns.size())
                                 : packed_view(landings_[slot_number].data() + incoming.landing, piece);
    incoming.request = setting_.transport->template receive<T>(to, piece.owner, tag_, free);
    incoming.done = false;
    incoming.posted = traces_transfers(setting_) ? setting_.recorder->now() : 0.0;
  }
  if (const Piece& mine = arrival.mine; mine.size() > 0 && !is_streamed(placement_)) {
    for (const Event& event : free) {
      event.before(setting_.instances.assembly);
    }
    piece_to_region<T>(setting_.instances.assembly, PieceMap(placement_, arrival.region, mine), part_of(local_, mine),
                       slot(arrival));
    arrival.copied = true;
  }
}

template <Scalar T> bool BandReceiver<T>::ready(int load) {
  Arrival& arrival = arrivals_[static_cast<std::size_t>(load)];
  bool all = true;
  for (Incoming& incoming : arrival.pieces) {
    if (incoming.done) {
      continue;
    }
    if (!incoming.request.test()) {
      all = false;
      continue;
    }
    const Piece& piece = incoming.piece;
    if (incoming.landing >= 0) {
      const T* data = landings_[static_cast<std::size_t>(arrival.load.slot)].data() + incoming.landing;
      incoming.request.event().before(setting_.instances.assembly);
      piece_to_region<T>(setting_.instances.assembly, PieceMap(placement_, arrival.region, piece),
                         packed_view(data, piece), slot(arrival));
      arrival.copied = true;
    } else {
      arrival.events.push_back(incoming.request.event());
    }
    incoming.done = true;
    if (traces_transfers(setting_)) {
      TraceInterval interval{TraceKind::receive, incoming.posted, 0.0, operand_, -1, -1, piece.owner, 0.0, 0};
      (operand_ == 'A' ? interval.row_band : interval.column_band) = arrival.load.band;
      interval.bytes = static_cast<double>(piece.size()) * sizeof(T);
      record_transfer(setting_, interval, incoming.request);
    }
  }
  if (all && arrival.copied) {
    arrival.events.push_back(Event::on(setting_.instances.assembly));
    arrival.copied = false;
  }
  return all;
}

template <Scalar T> void BandReceiver<T>::order(int load, std::size_t lane) {
  Arrival& arrival = arrivals_[static_cast<std::size_t>(load)];
  if (!arrival.ordered[lane]) {
    for (const Event& event : arrival.events) {
      event.before(setting_.instances.lanes[lane].space());
    }
    arrival.ordered[lane] = true;
  }
}

template <Scalar T> MatrixView<T> BandReceiver<T>::slot(const Arrival& arrival) const {
  return matrix_view(slots_[static_cast<std::size_t>(arrival.load.slot)].data(), arrival.region.rows.size(),
                     arrival.region.columns.size(), arrival.region.rows.size());
}

template <Scalar T> MatrixView<const T> BandReceiver<T>::band(int load) const {
  const Arrival& arrival = arrivals_[static_cast<std::size_t>(load)];
  if (arrival.in_place) {
    return part_of(local_, arrival.mine);
  }
  return slot(arrival);
}

// ---- bands going out

template <Scalar T>
BandSender<T>::BandSender(const Setting& setting, char operand, int tag, const std::vector<std::vector<Wanted>>& wanted)
    : setting_(setting), operand_(operand), tag_(tag) {
  // The next rank first, so that not all ranks serve rank 0 first; this one last, as it can share what others are sent.
  const int ranks = setting.comm.size();
  for (int step = 1; step <= ranks; ++step) {
    const int destination = (setting.comm.rank() + step) % ranks;
    if (const auto& pieces = wanted[static_cast<std::size_t>(destination)]; !pieces.empty()) {
      Queue queue;
      queue.destination = destination;
      queue.pieces = pieces;
      queues_.push_back(std::move(queue));
    }
  }
}

template <Scalar T> void BandSender<T>::start(const MatrixView<const T>& local) {
  local_ = local;
  ready_ = Event::on(setting_.comm.space());
  for (Queue& queue : queues_) {
    queue.sent = 0;
  }
  progress();
}

template <Scalar T> void BandSender<T>::progress() {
  for (Queue& queue : queues_) {
    while (!queue.under_way.empty() && queue.under_way.front().request.test()) {
      if (traces_transfers(setting_)) {
        const Outgoing& over = queue.under_way.front();
        TraceInterval interval{
            TraceKind::send, over.posted, setting_.recorder->now(), operand_, -1, -1, queue.destination, over.bytes, 0};
        (operand_ == 'A' ? interval.row_band : interval.column_band) = over.band;
        setting_.recorder->add(interval);
      }
      queue.under_way.pop_front();
    }
    while (queue.sent < queue.pieces.size() && queue.under_way.size() < window) {
      const Wanted& next = queue.pieces[queue.sent];
      const double posted = traces_transfers(setting_) ? setting_.recorder->now() : 0.0;
      queue.under_way.push_back({send(queue), posted, static_cast<double>(next.piece.size()) * sizeof(T), next.band});
      ++queue.sent;
    }
  }
}

template <Scalar T> Request BandSender<T>::send(Queue& queue) {
  const Piece& piece = queue.pieces[queue.sent].piece;
  const MatrixView<const T> block = part_of(local_, piece);
  if (setting_.transport->takes_blocks() || is_contiguous(block)) {
    return setting_.transport->template send<T>(block, queue.destination, tag_, ready_);
  }
  const ExecutionSpace& space = setting_.instances.assembly;
  Buffer<T>& packed = queue.packed[queue.sent % window];
  if (static_cast<Index>(packed.size()) < piece.size()) {
    // All at once, so that a second product allocates nothing.
    Index most = 0;
    for (const Wanted& wanted : queue.pieces) {
      most = std::max(most, wanted.piece.size());
    }
    for (Buffer<T>& buffer : queue.packed) {
      grow(setting_, buffer, most);
    }
  }
  copy_elements<T>(space, "heddle::gemm::pack_band", block, packed_view(packed.data(), piece));
  return setting_.transport->template send<T>(MatrixView<const T>(packed_view(packed.data(), piece)), queue.destination,
                                              tag_, Event::on(space));
}

template <Scalar T> bool BandSender<T>::idle() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return queue.sent == queue.pieces.size() && queue.under_way.empty(); });
}

// ---- tiles of C

template <Scalar T>
TileExchange<T>::TileExchange(const Setting& setting, const Product& product,
                              const std::vector<RankSchedule>& schedules)
    : setting_(setting), product_(product), departures_(departures_for(setting, product)) {
  for (int rank = 0; rank < setting.comm.size(); ++rank) {
    if (rank == setting.comm.rank()) {
      continue;
    }
    Source source;
    source.rank = rank;
    for (const Step& step : schedules[static_cast<std::size_t>(rank)].steps) {
      const Piece mine = piece_of(product.c, tile_of_c(product, step.row_band, step.column_band), setting.comm.rank());
      if (mine.size() > 0) {
        source.pieces.push_back({mine, step});
      }
    }
    if (!source.pieces.empty()) {
      sources_.push_back(std::move(source));
    }
  }
}

// One buffer is filled on each lane, one is on its way, and one is spare. On GPUs more, while they are small: at the
// beginning the owner of C has its copy engine full of bands, and comes to the tiles late.
template <Scalar T> std::size_t TileExchange<T>::departures_for(const Setting& setting, const Product& product) {
  const std::size_t least = setting.instances.lanes.size() + 2;
  const double tile_bytes = sizeof(T) * static_cast<double>(product.tile) * static_cast<double>(product.tile);
  return on_host ? least : std::max(least, static_cast<std::size_t>(std::min(16.0, 0x1p29 / tile_bytes)));
}

template <Scalar T> MatrixView<T> TileExchange<T>::block_of_c(const Piece& piece) const {
  return part_of(local_, piece);
}

template <Scalar T> void TileExchange<T>::start(T beta, const MatrixView<T>& local) {
  beta_ = beta;
  local_ = local;
  started_ = Event::on(setting_.comm.space());
  // A landing buffer is taken by one tile while the last is added; without one, C itself has room for all.
  const std::size_t window = lands_in_place() ? 8 : 2;
  for (Source& source : sources_) {
    source.posted = 0;
    source.done = 0;
    source.requests.resize(window);
    source.landings.resize(std::max(source.landings.size(), lands_in_place() ? 0 : window));
    source.times.resize(window);
    post(source);
  }
}

template <Scalar T> void TileExchange<T>::post(Source& source) {
  const std::size_t window = source.requests.size();
  while (source.posted < source.pieces.size() && source.posted < source.done + window) {
    const Piece& piece = source.pieces[source.posted].piece;
    Request& request = source.requests[source.posted % window];
    source.times[source.posted % window] = traces_transfers(setting_) ? setting_.recorder->now() : 0.0;
    if (lands_in_place()) {
      request =
          setting_.transport->template receive<T>(block_of_c(piece), source.rank, tag_gemm_c, std::span(&started_, 1));
    } else {
      Buffer<T>& landing = source.landings[source.posted % window];
      if (static_cast<Index>(landing.size()) < piece.size()) {
        const auto largest = std::max_element(
            source.pieces.begin(), source.pieces.end(),
            [](const Expected& one, const Expected& other) { return one.piece.size() < other.piece.size(); });
        grow(setting_, landing, largest->piece.size());
      }
      const Event free = Event::on(setting_.instances.home);
      request = setting_.transport->template receive<T>(packed_view(landing.data(), piece), source.rank, tag_gemm_c,
                                                        std::span(&free, 1));
    }
    ++source.posted;
  }
}

template <Scalar T> void TileExchange<T>::progress() {
  for (Source& source : sources_) {
    const std::size_t window = source.requests.size();
    while (source.done < source.posted && source.requests[source.done % window].test()) {
      const auto& [piece, step] = source.pieces[source.done];
      const Request& request = source.requests[source.done % window];
      request.event().before(setting_.instances.home);
      if (!lands_in_place()) {
        const T* data = source.landings[source.done % window].data();
        accumulate<T>(setting_.instances.home, packed_view(data, piece), beta_, block_of_c(piece));
      }
      if (traces_transfers(setting_)) {
        record_transfer(setting_,
                        {TraceKind::receive, source.times[source.done % window], 0.0, 'C', step.row_band,
                         step.column_band, source.rank, static_cast<double>(piece.size()) * sizeof(T), 0},
                        request);
      }
      ++source.done;
      post(source);
    }
  }
  for (Departure& departure : departures_) {
    std::erase_if(departure.sent, [&](Sent& sent) {
      if (!sent.request.test()) {
        return false;
      }
      if (traces_transfers(setting_)) {
        setting_.recorder->add({TraceKind::send, sent.posted, setting_.recorder->now(), 'C', sent.step.row_band,
                                sent.step.column_band, sent.peer, sent.bytes, 0});
      }
      return true;
    });
  }
}

template <Scalar T> bool TileExchange<T>::buffer_free() {
  return departures_[current_].sent.empty();
}

template <Scalar T> bool TileExchange<T>::computed_in_place(const Region& region, const Piece& mine) const {
  return beta_ == T{0} && mine.size() == region.size() && !is_streamed(product_.c);
}

template <Scalar T> MatrixView<T> TileExchange<T>::tile_of(Departure& departure, const Region& region) {
  if (static_cast<Index>(departure.tile.size()) < region.size()) {
    // All at once, so that a second product allocates nothing.
    const Index most = std::min(product_.tile, product_.rows()) * std::min(product_.tile, product_.columns());
    for (Departure& other : departures_) {
      grow(setting_, other.tile, most);
    }
  }
  return matrix_view(departure.tile.data(), region.rows.size(), region.columns.size(), region.rows.size());
}

template <Scalar T> MatrixView<T> TileExchange<T>::target(const Step& step, std::size_t lane) {
  const Region region = tile_of_c(product_, step.row_band, step.column_band);
  const Piece mine = piece_of(product_.c, region, setting_.comm.rank());
  if (computed_in_place(region, mine)) {
    return block_of_c(mine);
  }
  Departure& departure = departures_[current_];
  for (const Event& event : departure.events) {
    event.before(setting_.instances.lanes[lane].space());
  }
  departure.events.clear();
  return tile_of(departure, region);
}

template <Scalar T>
void TileExchange<T>::keep(Departure& departure, const MatrixView<const T>& tile, const Region& region,
                           const Piece& mine, const Event& computed) {
  const MatrixView<T> home = block_of_c(mine);
  const PieceMap map(product_.c, region, mine);
  if (is_streamed(product_.c) && beta_ == T{0} && is_block(product_.c, region, mine, false)) {
    const Index row = map.row(0);
    const Index column = map.column(0);
    to_host_.after(std::span(&computed, 1));
    to_host_.copy(block_of_bytes(home),
                  block_of_bytes(block_of(tile, row, row + mine.rows.size(), column, column + mine.columns.size())));
    departure.events.push_back(to_host_.event());
    return;
  }
  computed.before(setting_.instances.home);
  accumulate_region<T>(setting_.instances.home, map, tile, beta_, home);
  departure.events.push_back(Event::on(setting_.instances.home));
}

template <Scalar T> void TileExchange<T>::deliver(const Step& step, std::size_t lane) {
  const Region region = tile_of_c(product_, step.row_band, step.column_band);
  const Piece mine = piece_of(product_.c, region, setting_.comm.rank());
  if (computed_in_place(region, mine)) {
    return;
  }
  Departure& departure = departures_[current_];
  const MatrixView<const T> tile = tile_of(departure, region);
  const Event computed = Event::on(setting_.instances.lanes[lane].space());
  Index packed = 0;
  for (const Piece& piece : pieces_of(product_.c, region)) {
    if (piece.owner == setting_.comm.rank()) {
      keep(departure, tile, region, piece, computed);
      continue;
    }
    const PieceMap map(product_.c, region, piece);
    MatrixView<const T> message = tile;
    Event ready = computed;
    if (product_.blocks && is_block(product_.c, region, piece, false)) {
      message = block_of(tile, map.row(0), map.row(0) + piece.rows.size(), map.column(0),
                         map.column(0) + piece.columns.size());
    } else if (piece.size() != region.size()) {
      grow(setting_, departure.packed, static_cast<Index>(departure.tile.size()));
      const MatrixView<T> place = packed_view(departure.packed.data() + packed, piece);
      packed += piece.size();
      computed.before(setting_.instances.home);
      region_to_piece<T>(setting_.instances.home, map, tile, place);
      ready = Event::on(setting_.instances.home);
      message = place;
    }
    const double posted = traces_transfers(setting_) ? setting_.recorder->now() : 0.0;
    departure.sent.push_back({setting_.transport->template send<T>(message, piece.owner, tag_gemm_c, ready), posted,
                              piece.owner, static_cast<double>(piece.size()) * sizeof(T), step});
  }
  current_ = (current_ + 1) % departures_.size();
}

template <Scalar T> bool TileExchange<T>::idle() const {
  return std::all_of(departures_.begin(), departures_.end(),
                     [](const Departure& departure) { return departure.sent.empty(); }) &&
         std::all_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.done == source.pieces.size(); });
}

template <Scalar T> void TileExchange<T>::finish() {
  to_host_.event().before(setting_.comm.space());
}

#define HEDDLE_INSTANTIATE(T)     \
  template class BandReceiver<T>; \
  template class BandSender<T>;   \
  template class TileExchange<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
