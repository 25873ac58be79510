// Receivers and senders of bands of one operand.
#include "gemm/run/bands.hpp"

#include "comm/failures/checked.hpp"
#include "core/instantiate.hpp"
#include "gemm/run/transfers.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace heddle::impl {
namespace {

// Events after all products and assemblies of bands given to the instances so far.
std::vector<Event> events_on(const Instances& instances) {
  std::vector<Event> events;
  events.reserve(instances.lanes.size() + 1);
  for (const blas::Context& lane : instances.lanes) {
    events.push_back(Event::on(lane.space()));
  }
  events.push_back(Event::on(instances.assembly));
  return events;
}

}  // namespace

// ---- bands coming in

template <Scalar T>
BandReceiver<T>::BandReceiver(const Setting& setting, const OperandSide& side, const Product& product,
                              const Relays& relays, const RankSchedule& schedule)
    : setting_(setting),
      side_(side),
      bands_of_layer_((product.*side.bands_of_layer)()),
      placement_(product.*side.placement),
      slots_(static_cast<std::size_t>(schedule.*side.slots)),
      landings_(static_cast<std::size_t>(schedule.*side.slots)) {
  const int rank = setting.comm.rank();
  const Placement& placement = placement_;
  const bool streamed = is_streamed(placement);
  std::vector<Index> slot_size(slots_.size(), 0);
  std::vector<Index> landing_size(slots_.size(), 0);
  for (const Load& load : schedule.*side.loads) {
    const Region region = side.band(product, load.band);
    Arrival arrival{load, region, piece_of(placement, region, rank), false, false, false, false, {}, {}, {}};
    const auto slot = static_cast<std::size_t>(load.slot);
    arrival.in_place = !streamed && arrival.mine.size() == arrival.region.size();
    Index landing = 0;
    for (const Piece& piece : pieces_of(placement, arrival.region)) {
      if (piece.owner == rank && !streamed) {
        continue;
      }
      Incoming incoming;
      incoming.piece = piece;
      incoming.source = relays.source(rank, load.band, piece.owner);
      arrival.far = arrival.far || !product.on_one_node(rank, incoming.source);
      incoming.landing = landing;
      if (is_block(placement, arrival.region, piece, !setting.transport.takes_blocks())) {
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

template <Scalar T> void BandReceiver<T>::start(const MatrixView<const T>& local, const Event& begin) {
  local_ = local;
  posted_ = 0;
  far_under_way_.clear();
  free_.assign(slots_.size(), {begin});
}

template <Scalar T> void BandReceiver<T>::used(int load, int step) {
  const Load& band = arrivals_[static_cast<std::size_t>(load)].load;
  if (band.last_use == step) {
    free_[static_cast<std::size_t>(band.slot)] = events_on(setting_.instances);
  }
}

template <Scalar T> std::optional<int> BandReceiver<T>::next_use(int step) const {
  if (posted_ == arrivals_.size() || arrivals_[posted_].load.post_before > step) {
    return {};
  }
  return arrivals_[posted_].load.first_use;
}

template <Scalar T> void BandReceiver<T>::post_next(bool may_copy) {
  post(arrivals_[posted_]);
  if (may_copy) put_in_place(arrivals_[posted_]);
  if (arrivals_[posted_].far) far_under_way_.push_back(static_cast<int>(posted_));
  ++posted_;
}

template <Scalar T> void BandReceiver<T>::post(Arrival& arrival) {
  arrival.ordered.assign(setting_.instances.lanes.size(), arrival.in_place);
  if (arrival.in_place) {
    return;
  }
  arrival.events.clear();
  arrival.copied = false;
  const auto slot_number = static_cast<std::size_t>(arrival.load.slot);
  const std::vector<Event>& free = free_[slot_number];
  for (Incoming& incoming : arrival.pieces) {
    incoming.request =
        setting_.transport.template receive<T>(place_of(arrival, incoming), incoming.source, side_.tag, free);
    incoming.done = false;
    incoming.in_place = incoming.landing < 0;
    incoming.posted = records_transfers(setting_) ? setting_.recorder->now() : 0.0;
  }
  arrival.mine_to_copy = arrival.mine.size() > 0 && !is_streamed(placement_);
}

template <Scalar T> bool BandReceiver<T>::take(Arrival& arrival) {
  bool all = true;
  for (Incoming& incoming : arrival.pieces) {
    if (incoming.done) {
      continue;
    }
    if (!incoming.request.test()) {
      all = false;
      continue;
    }
    if (incoming.landing < 0) arrival.events.push_back(incoming.request.event());
    incoming.done = true;
    if (records_transfers(setting_)) {
      TimelineInterval interval{
          TimelineKind::receive, incoming.posted, 0.0, side_.name, -1, -1, incoming.source, 0.0, 0};
      side_.enter(arrival.load.band, bands_of_layer_, interval);
      interval.bytes = static_cast<double>(incoming.piece.size()) * sizeof(T);
      record_transfer(setting_, interval, incoming.request);
    }
  }
  return all;
}

template <Scalar T> void BandReceiver<T>::put_in_place(Arrival& arrival) {
  const ExecutionSpace& assembly = setting_.instances.assembly;
  const auto slot_number = static_cast<std::size_t>(arrival.load.slot);
  if (std::exchange(arrival.mine_to_copy, false)) {
    for (const Event& event : free_[slot_number]) {
      event.before(assembly);
    }
    piece_to_region<T>(assembly, PieceMap(placement_, arrival.region, arrival.mine), part_of(local_, arrival.mine),
                       slot(arrival));
    arrival.copied = true;
  }
  for (Incoming& incoming : arrival.pieces) {
    if (!incoming.done || std::exchange(incoming.in_place, true)) continue;
    const T* data = landings_[slot_number].data() + incoming.landing;
    incoming.request.event().before(assembly);
    piece_to_region<T>(assembly, PieceMap(placement_, arrival.region, incoming.piece),
                       packed_view(data, incoming.piece), slot(arrival));
    arrival.copied = true;
  }
}

template <Scalar T> bool BandReceiver<T>::ready(int load) {
  if (load >= static_cast<int>(posted_)) {
    return false;
  }
  Arrival& arrival = arrivals_[static_cast<std::size_t>(load)];
  const bool all = take(arrival);
  put_in_place(arrival);
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

template <Scalar T> MatrixView<T> BandReceiver<T>::place_of(const Arrival& arrival, const Incoming& incoming) const {
  const Piece& piece = incoming.piece;
  if (incoming.landing >= 0) {
    return packed_view(landings_[static_cast<std::size_t>(arrival.load.slot)].data() + incoming.landing, piece);
  }
  return block_of(slot(arrival), incoming.row, incoming.row + piece.rows.size(), incoming.column,
                  incoming.column + piece.columns.size());
}

template <Scalar T> void BandReceiver<T>::take_far(bool may_copy) {
  std::erase_if(far_under_way_,
                [&](int load) { return may_copy ? ready(load) : take(arrivals_[static_cast<std::size_t>(load)]); });
}

template <Scalar T>
std::optional<typename BandReceiver<T>::Arrived> BandReceiver<T>::arrived(int load, int owner) const {
  if (load >= static_cast<int>(posted_)) return {};
  const Arrival& arrival = arrivals_[static_cast<std::size_t>(load)];
  const auto found = std::find_if(arrival.pieces.begin(), arrival.pieces.end(),
                                  [&](const Incoming& incoming) { return incoming.piece.owner == owner; });
  if (!found->done) return {};
  return Arrived{place_of(arrival, *found), found->request.event()};
}

template <Scalar T> std::vector<Buffer<T>> BandReceiver<T>::buffers() const {
  std::vector<Buffer<T>> all = slots_;
  all.insert(all.end(), landings_.begin(), landings_.end());
  return all;
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
BandSender<T>::BandSender(const Setting& setting, const OperandSide& side, const Product& product, const Relays& relays,
                          const std::vector<RankSchedule>& schedules, const BandReceiver<T>& receiver)
    : setting_(setting), side_(side), bands_of_layer_((product.*side.bands_of_layer)()), receiver_(receiver) {
  const Placement& placement = product.*side.placement;
  const int mine = setting.comm.rank();
  const int ranks = setting.comm.size();
  const std::vector<Load>& loads = schedules[static_cast<std::size_t>(mine)].*side.loads;
  for (std::size_t k = 0; k < loads.size(); ++k) load_of_band_.emplace(loads[k].band, static_cast<int>(k));
  // The next rank first, so that not all ranks serve rank 0 first; this one last, as it can share what others are sent.
  for (int step = 1; step <= ranks; ++step) {
    Queue queue;
    queue.destination = (mine + step) % ranks;
    // A rank does not send itself data that it owns on its own device.
    if (queue.destination == mine && !is_streamed(placement)) {
      continue;
    }
    for (const Load& load : schedules[static_cast<std::size_t>(queue.destination)].*side.loads) {
      want(product, relays, load, queue);
    }
    if (!queue.pieces.empty()) {
      queues_.push_back(std::move(queue));
    }
  }
  // Copies that a local part without gaps needs; start() allocates those that other local parts need.
  for (Copy& copy : copies_) {
    if (is_copied(copy.piece, placement.local_rows(mine))) grow(setting_, copy.buffer, copy.piece.size());
  }
}

// Pieces that this rank sends of a load of the queue's destination: its own piece, and what it passes on, in the order
// of their owners.
template <Scalar T>
void BandSender<T>::want(const Product& product, const Relays& relays, const Load& load, Queue& queue) {
  const Placement& placement = product.*side_.placement;
  const Region region = side_.band(product, load.band);
  const int mine = setting_.comm.rank();
  const auto want_own = [&](const Piece& piece) {
    const auto [found, fresh] = copy_of_band_.try_emplace(load.band, copies_.size());
    if (fresh) copies_.push_back({piece, {}, {}, false});
    queue.pieces.push_back({piece, load.band, -1, found->second});
  };
  if (!relays.passes_on(mine, load.band) || !product.on_one_node(mine, queue.destination)) {
    const Piece piece = piece_of(placement, region, mine);
    if (piece.size() > 0 && relays.source(queue.destination, load.band, mine) == mine) want_own(piece);
    return;
  }
  for (const Piece& piece : pieces_of(placement, region)) {
    if (piece.owner == mine) {
      want_own(piece);
    } else if (relays.source(queue.destination, load.band, piece.owner) == mine) {
      queue.pieces.push_back({piece, load.band, load_of_band_.at(load.band), 0});
    }
  }
}

template <Scalar T> bool BandSender<T>::may_send(const Queue& queue, bool may_copy) const {
  if (queue.sent == queue.pieces.size() || queue.under_way.size() == window) return false;
  const Wanted& next = queue.pieces[queue.sent];
  if (next.load >= 0) return receiver_.arrived(next.load, next.piece.owner).has_value();
  return may_copy || copies_[next.copy].made || !is_copied(next.piece, static_cast<Index>(local_.stride(1)));
}

template <Scalar T> BandSender<T>::~BandSender() {
  if (std::uncaught_exceptions() == 0 || idle()) return;
  // Receivers may read messages under way until they have given up, too.
  keep_forever(local_);
  for (const Copy& copy : copies_) keep_forever(copy.buffer);
  const bool passes_on = std::any_of(queues_.begin(), queues_.end(), [](const Queue& queue) {
    return std::any_of(queue.pieces.begin(), queue.pieces.end(), [](const Wanted& wanted) { return wanted.load >= 0; });
  });
  if (passes_on) keep_forever(receiver_.buffers());
}

template <Scalar T> void BandSender<T>::start(const MatrixView<const T>& local, const Event& ready) {
  local_ = local;
  ready_ = ready;
  for (Queue& queue : queues_) {
    queue.sent = 0;
  }
  for (Copy& copy : copies_) {
    copy.made = false;
    if (is_copied(copy.piece, static_cast<Index>(local.stride(1)))) grow(setting_, copy.buffer, copy.piece.size());
  }
}

template <Scalar T> void BandSender<T>::begin(Queue& queue) {
  const Wanted& next = queue.pieces[queue.sent];
  const double posted = records_transfers(setting_) ? setting_.recorder->now() : 0.0;
  queue.under_way.push_back({send(queue), posted, static_cast<double>(next.piece.size()) * sizeof(T), next.band});
  ++queue.sent;
}

template <Scalar T> void BandSender<T>::send_next() {
  for (Queue& queue : queues_) {
    if (may_send(queue, true)) {
      begin(queue);
    }
  }
}

template <Scalar T> void BandSender<T>::progress(bool may_copy) {
  for (Queue& queue : queues_) {
    while (!queue.under_way.empty() && queue.under_way.front().request.test()) {
      if (records_transfers(setting_)) {
        const Outgoing& over = queue.under_way.front();
        TimelineInterval interval{TimelineKind::send, over.posted, setting_.recorder->now(),
                                  side_.name,         -1,          -1,
                                  queue.destination,  over.bytes,  0};
        side_.enter(over.band, bands_of_layer_, interval);
        setting_.recorder->add(interval);
      }
      queue.under_way.pop_front();
    }
    while (may_send(queue, may_copy)) {
      begin(queue);
    }
  }
}

template <Scalar T> Request BandSender<T>::send(const Queue& queue) {
  const Wanted& wanted = queue.pieces[queue.sent];
  if (wanted.load >= 0) {
    const auto arrived = receiver_.arrived(wanted.load, wanted.piece.owner);
    return setting_.transport.template send<T>(arrived->data, queue.destination, side_.tag, arrived->event);
  }
  const MatrixView<const T> block = part_of(local_, wanted.piece);
  if (setting_.transport.takes_blocks() || is_contiguous(block)) {
    return setting_.transport.template send<T>(block, queue.destination, side_.tag, ready_);
  }
  Copy& copy = copies_[wanted.copy];
  const MatrixView<T> packed = packed_view(copy.buffer.data(), wanted.piece);
  if (!copy.made) {
    const ExecutionSpace& space = setting_.instances.assembly;
    copy_elements<T>(space, "heddle::gemm::pack_band", block, packed);
    copy.ready = Event::on(space);
    copy.made = true;
  }
  return setting_.transport.template send<T>(MatrixView<const T>(packed), queue.destination, side_.tag, copy.ready);
}

template <Scalar T> bool BandSender<T>::idle() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return queue.sent == queue.pieces.size() && queue.under_way.empty(); });
}

#define HEDDLE_INSTANTIATE(T)     \
  template class BandReceiver<T>; \
  template class BandSender<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
