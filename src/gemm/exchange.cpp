#include "gemm/exchange.hpp"

#include "comm/tags.hpp"
#include "core/instantiate.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

template <Scalar T> Buffer<T> make_buffer(const Communicator& comm, Index size) {
  return Buffer<T>(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::gemm::buffer"),
                   static_cast<std::size_t>(size));
}

template <Scalar T> Buffer<T> part_of(const Buffer<T>& buffer, Index begin, Index size) {
  return Kokkos::subview(buffer, std::pair(begin, begin + size));
}

}  // namespace

// ---- bands coming in

template <Scalar T>
BandReceiver<T>::BandReceiver(const Communicator& comm, std::shared_ptr<Transport> transport,
                              const Placement& placement, int tag, const std::vector<Load>& loads,
                              const std::vector<Region>& regions, int slots)
    : comm_(comm),
      transport_(std::move(transport)),
      placement_(placement),
      tag_(tag),
      slots_(static_cast<std::size_t>(slots)),
      landings_(static_cast<std::size_t>(slots)) {
  std::vector<Index> slot_size(slots_.size(), 0);
  std::vector<Index> landing_size(slots_.size(), 0);
  for (std::size_t k = 0; k < loads.size(); ++k) {
    Arrival arrival{loads[k], regions[k], piece_of(placement, regions[k], comm.rank()), false, {}};
    const auto slot = static_cast<std::size_t>(loads[k].slot);
    const Index height = arrival.region.rows.size();
    arrival.in_place = arrival.mine.size() == arrival.region.size();
    Index landing = 0;
    for (const Piece& piece : pieces_of(placement, arrival.region)) {
      if (piece.owner == comm.rank()) {
        continue;
      }
      Incoming incoming{piece, landing, 0, {}, false};
      if (is_column_range(placement, arrival.region, piece)) {
        incoming.landing = -1;
        incoming.offset = PieceMap(placement, arrival.region, piece).column(0) * height;
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
    slots_[slot] = make_buffer<T>(comm, slot_size[slot]);
    landings_[slot] = make_buffer<T>(comm, landing_size[slot]);
  }
}

template <Scalar T> void BandReceiver<T>::start(const MatrixView<const T>& local) {
  local_ = local;
  posted_ = 0;
}

template <Scalar T> void BandReceiver<T>::post_before(int step) {
  while (posted_ < arrivals_.size() && arrivals_[posted_].load.post_before <= step) {
    post(arrivals_[posted_]);
    ++posted_;
  }
}

template <Scalar T> void BandReceiver<T>::post(Arrival& arrival) {
  if (arrival.in_place) {
    return;
  }
  const auto slot_number = static_cast<std::size_t>(arrival.load.slot);
  for (Incoming& incoming : arrival.pieces) {
    const Buffer<T> to = incoming.landing < 0
                             ? part_of(slots_[slot_number], incoming.offset, incoming.piece.size())
                             : part_of(landings_[slot_number], incoming.landing, incoming.piece.size());
    incoming.request = transport_->template receive<T>(to, incoming.piece.owner, tag_);
    incoming.done = false;
  }
  if (const Piece& mine = arrival.mine; mine.size() > 0) {
    piece_to_region<T>(comm_.space(), PieceMap(placement_, arrival.region, mine),
                       block_of(local_, mine.rows.begin, mine.rows.end, mine.columns.begin, mine.columns.end),
                       slot(arrival));
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
    if (incoming.landing >= 0) {
      const Piece& piece = incoming.piece;
      const T* data = landings_[static_cast<std::size_t>(arrival.load.slot)].data() + incoming.landing;
      piece_to_region<T>(comm_.space(), PieceMap(placement_, arrival.region, piece),
                         matrix_view(data, piece.rows.size(), piece.columns.size(), piece.rows.size()), slot(arrival));
    }
    incoming.done = true;
  }
  return all;
}

template <Scalar T> MatrixView<T> BandReceiver<T>::slot(const Arrival& arrival) const {
  return matrix_view(slots_[static_cast<std::size_t>(arrival.load.slot)].data(), arrival.region.rows.size(),
                     arrival.region.columns.size(), arrival.region.rows.size());
}

template <Scalar T> MatrixView<const T> BandReceiver<T>::band(int load) const {
  const Arrival& arrival = arrivals_[static_cast<std::size_t>(load)];
  if (arrival.in_place) {
    const Piece& mine = arrival.mine;
    return block_of(local_, mine.rows.begin, mine.rows.end, mine.columns.begin, mine.columns.end);
  }
  return slot(arrival);
}

// ---- bands going out

template <Scalar T>
BandSender<T>::BandSender(const Communicator& comm, std::shared_ptr<Transport> transport, int tag,
                          const std::vector<std::vector<Piece>>& wanted)
    : comm_(comm), transport_(std::move(transport)), tag_(tag) {
  // The next rank first, so that not all ranks serve rank 0 first.
  for (int step = 1; step < comm.size(); ++step) {
    const int destination = (comm.rank() + step) % comm.size();
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
  for (Queue& queue : queues_) {
    queue.sent = 0;
  }
  progress();
}

template <Scalar T> void BandSender<T>::progress() {
  for (Queue& queue : queues_) {
    while (!queue.under_way.empty() && queue.under_way.front().test()) {
      queue.under_way.pop_front();
    }
    while (queue.sent < queue.pieces.size() && queue.under_way.size() < window) {
      queue.under_way.push_back(send(queue));
      ++queue.sent;
    }
  }
}

template <Scalar T> Request BandSender<T>::send(Queue& queue) {
  const Piece& piece = queue.pieces[queue.sent];
  const MatrixView<const T> block =
      block_of(local_, piece.rows.begin, piece.rows.end, piece.columns.begin, piece.columns.end);
  if (piece.columns.size() == 1 || static_cast<Index>(block.stride(1)) == piece.rows.size()) {
    using Unowned = Kokkos::View<const T*, MemorySpace>;
    return transport_->template send<T>(Unowned(block.data(), static_cast<std::size_t>(piece.size())),
                                        queue.destination, tag_);
  }
  Buffer<T>& packed = queue.packed[queue.sent % window];
  if (static_cast<Index>(packed.size()) < piece.size()) {
    packed = make_buffer<T>(comm_, piece.size());
  }
  copy_elements<T>(comm_.space(), "heddle::gemm::pack_band", block,
                   matrix_view(packed.data(), piece.rows.size(), piece.columns.size(), piece.rows.size()));
  return transport_->template send<T>(part_of(packed, 0, piece.size()), queue.destination, tag_);
}

template <Scalar T> bool BandSender<T>::idle() const {
  return std::all_of(queues_.begin(), queues_.end(),
                     [](const Queue& queue) { return queue.sent == queue.pieces.size() && queue.under_way.empty(); });
}

// ---- tiles of C

template <Scalar T>
TileExchange<T>::TileExchange(const Communicator& comm, std::shared_ptr<Transport> transport, const Product& product,
                              const std::vector<RankSchedule>& schedules)
    : comm_(comm), transport_(std::move(transport)), product_(product) {
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank()) {
      continue;
    }
    Source source;
    source.rank = rank;
    for (const Step& step : schedules[static_cast<std::size_t>(rank)].steps) {
      const Piece mine = piece_of(product.c, tile_of_c(product, step.row_band, step.column_band), comm.rank());
      if (mine.size() > 0) {
        source.pieces.push_back(mine);
      }
    }
    if (!source.pieces.empty()) {
      sources_.push_back(std::move(source));
    }
  }
}

template <Scalar T> void TileExchange<T>::start(T beta, const MatrixView<T>& local) {
  beta_ = beta;
  local_ = local;
  for (Source& source : sources_) {
    source.posted = 0;
    source.done = 0;
    post(source);
  }
}

template <Scalar T> void TileExchange<T>::post(Source& source) {
  while (source.posted < source.pieces.size() && source.posted < source.done + source.landings.size()) {
    const Index size = source.pieces[source.posted].size();
    Buffer<T>& landing = source.landings[source.posted % source.landings.size()];
    if (static_cast<Index>(landing.size()) < size) {
      landing = make_buffer<T>(comm_, size);
    }
    source.requests[source.posted % source.requests.size()] =
        transport_->template receive<T>(part_of(landing, 0, size), source.rank, tag_gemm_c);
    ++source.posted;
  }
}

template <Scalar T> void TileExchange<T>::progress() {
  for (Source& source : sources_) {
    while (source.done < source.posted && source.requests[source.done % source.requests.size()].test()) {
      const Piece& piece = source.pieces[source.done];
      const T* data = source.landings[source.done % source.landings.size()].data();
      accumulate<T>(comm_.space(), matrix_view(data, piece.rows.size(), piece.columns.size(), piece.rows.size()), beta_,
                    block_of(local_, piece.rows.begin, piece.rows.end, piece.columns.begin, piece.columns.end));
      ++source.done;
      post(source);
    }
  }
  for (Departure& departure : departures_) {
    std::erase_if(departure.requests, [](Request& request) { return request.test(); });
  }
}

template <Scalar T> bool TileExchange<T>::buffer_free() {
  return departures_[current_].requests.empty();
}

template <Scalar T> bool TileExchange<T>::computed_in_place(const Region& region, const Piece& mine) const {
  return beta_ == T{0} && mine.size() == region.size();
}

template <Scalar T> MatrixView<T> TileExchange<T>::target(const Step& step) {
  const Region region = tile_of_c(product_, step.row_band, step.column_band);
  const Piece mine = piece_of(product_.c, region, comm_.rank());
  if (computed_in_place(region, mine)) {
    return block_of(local_, mine.rows.begin, mine.rows.end, mine.columns.begin, mine.columns.end);
  }
  Buffer<T>& tile = departures_[current_].tile;
  if (static_cast<Index>(tile.size()) < region.size()) {
    tile = make_buffer<T>(comm_, region.size());
  }
  return matrix_view(tile.data(), region.rows.size(), region.columns.size(), region.rows.size());
}

template <Scalar T> void TileExchange<T>::deliver(const Step& step) {
  const Region region = tile_of_c(product_, step.row_band, step.column_band);
  const Piece mine = piece_of(product_.c, region, comm_.rank());
  if (computed_in_place(region, mine)) {
    return;
  }
  Departure& departure = departures_[current_];
  const MatrixView<const T> tile = target(step);
  if (static_cast<Index>(departure.packed.size()) < region.size()) {
    departure.packed = make_buffer<T>(comm_, region.size());
  }
  Index packed = 0;
  for (const Piece& piece : pieces_of(product_.c, region)) {
    Buffer<T> message = departure.tile;
    Index begin = 0;
    if (piece.size() != region.size()) {
      message = departure.packed;
      begin = packed;
      packed += piece.size();
      region_to_piece<T>(
          comm_.space(), PieceMap(product_.c, region, piece), tile,
          matrix_view(message.data() + begin, piece.rows.size(), piece.columns.size(), piece.rows.size()));
    }
    if (piece.owner == comm_.rank()) {
      const T* data = message.data() + begin;
      accumulate<T>(comm_.space(), matrix_view(data, piece.rows.size(), piece.columns.size(), piece.rows.size()), beta_,
                    block_of(local_, piece.rows.begin, piece.rows.end, piece.columns.begin, piece.columns.end));
    } else {
      departure.requests.push_back(
          transport_->template send<T>(part_of(message, begin, piece.size()), piece.owner, tag_gemm_c));
    }
  }
  current_ = (current_ + 1) % departures_.size();
}

template <Scalar T> bool TileExchange<T>::idle() const {
  return std::all_of(departures_.begin(), departures_.end(),
                     [](const Departure& departure) { return departure.requests.empty(); }) &&
         std::all_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.done == source.pieces.size(); });
}

#define HEDDLE_INSTANTIATE(T)     \
  template class BandReceiver<T>; \
  template class BandSender<T>;   \
  template class TileExchange<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
