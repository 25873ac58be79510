// Exchange of finished tiles of C with their owners.
#include "gemm/run/tiles.hpp"

#include "comm/failures/checked.hpp"
#include "comm/transports/tags.hpp"
#include "core/instantiate.hpp"
#include "gemm/run/transfers.hpp"

#include <algorithm>
#include <exception>

namespace heddle::impl {

template <Scalar T>
TileExchange<T>::TileExchange(const Setting& setting, const Product& product,
                              const std::vector<RankSchedule>& schedules, std::size_t buffers)
    : setting_(setting), product_(product), departures_(buffers) {
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
        source.largest = std::max(source.largest, mine.size());
      }
    }
    if (!source.pieces.empty()) {
      sources_.push_back(std::move(source));
    }
  }
  if (!product_.blocks) {
    for (Source& source : sources_) hold_landings(source);
  }
  const RankSchedule& schedule = schedules[static_cast<std::size_t>(setting.comm.rank())];
  const bool all_in_place = std::all_of(schedule.steps.begin(), schedule.steps.end(), [&](const Step& step) {
    const Region region = tile_of_c(product, step.row_band, step.column_band);
    return computed_in_place(step, region, piece_of(product.c, region, setting.comm.rank()));
  });
  if (!all_in_place) hold(&Departure::tile);
  if (sends_packed(product, schedule, setting.comm.rank())) hold(&Departure::packed);
  const int rank = setting.comm.rank();
  for (int layer = 1; layer < product.layers; ++layer) {
    layers_.push_back(make_buffer<T>(setting, product.c.local_rows(rank) * product.c.local_columns(rank)));
  }
}

template <Scalar T> TileExchange<T>::~TileExchange() {
  if (std::uncaught_exceptions() == 0) return;
  // Receivers may read messages under way until they have given up, too.
  for (const Departure& departure : departures_) {
    if (departure.sent.empty()) continue;
    keep_forever(departure.tile);
    keep_forever(departure.packed);
  }
}

template <Scalar T> void TileExchange<T>::hold(Buffer<T> Departure::*buffer) {
  const Index most = std::min(product_.tile, product_.rows()) * std::min(product_.tile, product_.columns());
  for (Departure& departure : departures_) grow(setting_, departure.*buffer, most);
}

template <Scalar T> void TileExchange<T>::hold_landings(Source& source) {
  source.landings.resize(landings_of_a_source);
  for (Buffer<T>& landing : source.landings) grow(setting_, landing, source.largest);
}

template <Scalar T> MatrixView<T> TileExchange<T>::copy_of_c(int layer) const {
  const auto rows = static_cast<Index>(local_.extent(0));
  T* const data = layers_[static_cast<std::size_t>(layer) - 1].data();
  return matrix_view(data, rows, static_cast<Index>(local_.extent(1)), rows);
}

template <Scalar T> MatrixView<T> TileExchange<T>::block_of_c(const Step& step, const Piece& piece) const {
  return part_of(step.layer == 0 ? local_ : copy_of_c(step.layer), piece);
}

template <Scalar T> void TileExchange<T>::start(T beta, const MatrixView<T>& local, const Event& ready) {
  beta_ = beta;
  local_ = local;
  ready_ = ready;
  for (Source& source : sources_) {
    source.lands = std::all_of(source.pieces.begin(), source.pieces.end(),
                               [&](const Expected& expected) { return lands_in_place(expected.step); });
    // One tile lands in a buffer while the last one is added; without buffers, C itself has room for all.
    const std::size_t window = source.lands ? 8 : landings_of_a_source;
    source.posted = 0;
    source.done = 0;
    source.requests.resize(window);
    if (!source.lands) hold_landings(source);
    source.times.resize(window);
    post(source);
  }
}

template <Scalar T> void TileExchange<T>::post(Source& source) {
  const std::size_t window = source.requests.size();
  while (source.posted < source.pieces.size() && source.posted < source.done + window) {
    const auto& [piece, step] = source.pieces[source.posted];
    Request& request = source.requests[source.posted % window];
    source.times[source.posted % window] = records_transfers(setting_) ? setting_.recorder->now() : 0.0;
    if (lands_in_place(step)) {
      request = setting_.transport.template receive<T>(block_of_c(step, piece), source.rank, tag_gemm_c, this->ready());
    } else {
      const Buffer<T>& landing = source.landings[source.posted % window];
      const Event free = Event::on(setting_.instances.home);
      request = setting_.transport.template receive<T>(packed_view(landing.data(), piece), source.rank, tag_gemm_c,
                                                       std::span(&free, 1));
    }
    ++source.posted;
  }
}

template <Scalar T> void TileExchange<T>::progress(bool bus_taken) {
  while (!bus_taken && !waiting_.empty()) {
    copy_home();
  }
  for (Source& source : sources_) {
    const std::size_t window = source.requests.size();
    while (source.done < source.posted && source.requests[source.done % window].test()) {
      const auto& [piece, step] = source.pieces[source.done];
      const Request& request = source.requests[source.done % window];
      request.event().before(setting_.instances.home);
      if (!lands_in_place(step)) {
        const T* data = source.landings[source.done % window].data();
        accumulate<T>(setting_.instances.home, packed_view(data, piece), beta_of(step), block_of_c(step, piece));
      }
      if (records_transfers(setting_)) {
        record_transfer(setting_,
                        {TimelineKind::receive, source.times[source.done % window], 0.0, 'C', step.row_band,
                         step.column_band, source.rank, static_cast<double>(piece.size()) * sizeof(T), 0, step.layer},
                        request);
      }
      ++source.done;
      post(source);
    }
  }
  progress_sent();
}

template <Scalar T> void TileExchange<T>::progress_sent() {
  for (Departure& departure : departures_) {
    std::erase_if(departure.sent, [&](Sent& sent) {
      if (!sent.request.test()) {
        return false;
      }
      if (records_transfers(setting_)) {
        setting_.recorder->add({TimelineKind::send, sent.posted, setting_.recorder->now(), 'C', sent.step.row_band,
                                sent.step.column_band, sent.peer, sent.bytes, 0, sent.step.layer});
      }
      return true;
    });
  }
}

template <Scalar T> bool TileExchange<T>::buffer_free() {
  return departures_[current_].sent.empty();
}

template <Scalar T>
bool TileExchange<T>::computed_in_place(const Step& step, const Region& region, const Piece& mine) const {
  return beta_of(step) == T{0} && mine.size() == region.size() && !is_streamed(product_.c);
}

template <Scalar T> MatrixView<T> TileExchange<T>::tile_of(const Departure& departure, const Region& region) const {
  return matrix_view(departure.tile.data(), region.rows.size(), region.columns.size(), region.rows.size());
}

template <Scalar T> MatrixView<T> TileExchange<T>::target(const Step& step, std::size_t lane) {
  const Region region = tile_of_c(product_, step.row_band, step.column_band);
  const Piece mine = piece_of(product_.c, region, setting_.comm.rank());
  if (computed_in_place(step, region, mine)) {
    return block_of_c(step, mine);
  }
  while (std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Homecoming& tile) { return tile.departure == current_; })) {
    copy_home();
  }
  Departure& departure = departures_[current_];
  for (const Event& event : departure.events) {
    event.before(setting_.instances.lanes[lane].space());
  }
  departure.events.clear();
  if (static_cast<Index>(departure.tile.size()) < region.size()) hold(&Departure::tile);
  return tile_of(departure, region);
}

template <Scalar T>
void TileExchange<T>::keep(const MatrixView<const T>& tile, const Step& step, const Piece& mine,
                           const Event& computed) {
  const Region region = tile_of_c(product_, step.row_band, step.column_band);
  const MatrixView<T> home = block_of_c(step, mine);
  const PieceMap map(product_.c, region, mine);
  if (is_streamed(product_.c) && beta_ == T{0} && is_block(product_.c, region, mine, false)) {
    const Index row = map.row(0);
    const Index column = map.column(0);
    const auto piece = block_of(tile, row, row + mine.rows.size(), column, column + mine.columns.size());
    waiting_.push_back({current_, block_of_bytes(home), block_of_bytes(piece), computed, step});
    return;
  }
  computed.before(setting_.instances.home);
  accumulate_region<T>(setting_.instances.home, map, tile, beta_of(step), home);
  departures_[current_].events.push_back(Event::on(setting_.instances.home));
}

// Copy the tile that has waited longest.
template <Scalar T> void TileExchange<T>::copy_home() {
  const Homecoming& tile = waiting_.front();
  const bool recorded = records_transfers(setting_);
  to_host_.after(std::span(&tile.computed, 1));
  const Event begin = to_host_.event(recorded);
  to_host_.copy(tile.to, tile.from);
  const Event end = to_host_.event(recorded);
  if (recorded) {
    setting_.recorder->add({TimelineKind::send, 0.0, 0.0, 'C', tile.step.row_band, tile.step.column_band,
                            setting_.comm.rank(), static_cast<double>(tile.from.bytes()), 0},
                           begin, end);
  }
  departures_[tile.departure].events.push_back(end);
  waiting_.pop_front();
}

template <Scalar T> void TileExchange<T>::deliver(const Step& step, std::size_t lane) {
  const Region region = tile_of_c(product_, step.row_band, step.column_band);
  const Piece mine = piece_of(product_.c, region, setting_.comm.rank());
  if (computed_in_place(step, region, mine)) {
    return;
  }
  Departure& departure = departures_[current_];
  const MatrixView<const T> tile = tile_of(departure, region);
  const Event computed = Event::on(setting_.instances.lanes[lane].space());
  Index packed = 0;
  for (const Piece& piece : pieces_of(product_.c, region)) {
    if (piece.owner == setting_.comm.rank()) {
      keep(tile, step, piece, computed);
      continue;
    }
    const PieceMap map(product_.c, region, piece);
    MatrixView<const T> message = tile;
    Event ready = computed;
    if (!is_sent_packed(product_, region, piece)) {
      message = block_of(tile, map.row(0), map.row(0) + piece.rows.size(), map.column(0),
                         map.column(0) + piece.columns.size());
    } else {
      const MatrixView<T> place = packed_view(departure.packed.data() + packed, piece);
      packed += piece.size();
      computed.before(setting_.instances.home);
      region_to_piece<T>(setting_.instances.home, map, tile, place);
      ready = Event::on(setting_.instances.home);
      message = place;
    }
    const double posted = records_transfers(setting_) ? setting_.recorder->now() : 0.0;
    departure.sent.push_back({setting_.transport.template send<T>(message, piece.owner, tag_gemm_c, ready), posted,
                              piece.owner, static_cast<double>(piece.size()) * sizeof(T), step});
  }
  current_ = (current_ + 1) % departures_.size();
}

template <Scalar T> MatrixView<T> TileExchange<T>::own_target(const Step& step, std::size_t lane) {
  const Region region = tile_of_c(product_, step.row_band, step.column_band);
  const Piece mine = piece_of(product_.c, region, setting_.comm.rank());
  if (computed_in_place(step, region, mine)) return block_of_c(step, mine);
  grow(setting_, departures_[lane].tile, region.size());
  return tile_of(departures_[lane], region);
}

template <Scalar T> void TileExchange<T>::put_own(const Step& step, std::size_t lane, const ExecutionSpace& space) {
  const Region region = tile_of_c(product_, step.row_band, step.column_band);
  const Piece mine = piece_of(product_.c, region, setting_.comm.rank());
  if (computed_in_place(step, region, mine)) return;
  const MatrixView<const T> tile = tile_of(departures_[lane], region);
  accumulate<T>(space, tile, beta_of(step), block_of_c(step, mine));
}

template <Scalar T> bool TileExchange<T>::idle() const {
  return waiting_.empty() &&
         std::all_of(departures_.begin(), departures_.end(),
                     [](const Departure& departure) { return departure.sent.empty(); }) &&
         std::all_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.done == source.pieces.size(); });
}

template <Scalar T> void TileExchange<T>::finish() {
  to_host_.event().before(setting_.comm.space());
  for (int layer = 1; layer < product_.layers; ++layer) {
    add_layer<T>(setting_.comm.space(), copy_of_c(layer), local_);
  }
}

#define HEDDLE_INSTANTIATE(T) template class TileExchange<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
