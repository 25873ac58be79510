// The three streams of a distributed product on one rank: bands coming in, bands going out, tiles of C going home.
// None of them blocks; the executor calls progress() until what it waits for is there.
#pragma once

#include "gemm/pieces.hpp"
#include "gemm/schedule.hpp"
#include <heddle/comm/transport.hpp>

#include <array>
#include <deque>
#include <memory>
#include <vector>

namespace heddle::impl {

template <Scalar T> using Buffer = Kokkos::View<T*, MemorySpace>;

/// Bands of one operand, arriving into slots in the order of the loads.
template <Scalar T> class BandReceiver {
 public:
  BandReceiver(const Communicator& comm, std::shared_ptr<Transport> transport, const Placement& placement, int tag,
               const std::vector<Load>& loads, const std::vector<Region>& regions, int slots);

  /// Begins a product with this rank's part of the operand.
  void start(const MatrixView<const T>& local);
  /// Posts every load that may be posted before `step`.
  void post_before(int step);
  /// Whether the band of a posted load is complete; unpacks what has arrived.
  [[nodiscard]] bool ready(int load);
  [[nodiscard]] MatrixView<const T> band(int load) const;

 private:
  struct Incoming {
    Piece piece;
    Index landing = -1;  // Place in the slot's landing buffer; -1: straight into the band.
    Index offset = 0;    // Place in the band, for those.
    Request request;
    bool done = false;
  };
  struct Arrival {
    Load load;
    Region region;
    Piece mine;
    bool in_place = false;  // This rank owns all of it: nothing travels, nothing is copied.
    std::vector<Incoming> pieces;
  };

  void post(Arrival& arrival);
  [[nodiscard]] MatrixView<T> slot(const Arrival& arrival) const;

  Communicator comm_;
  std::shared_ptr<Transport> transport_;
  Placement placement_;
  int tag_;
  std::vector<Arrival> arrivals_;
  std::vector<Buffer<T>> slots_;
  std::vector<Buffer<T>> landings_;
  MatrixView<const T> local_;
  std::size_t posted_ = 0;
};

/// This rank's pieces of the bands that others load, sent in the order in which each of them posts its loads.
template <Scalar T> class BandSender {
 public:
  /// wanted[rank]: the pieces of this rank that `rank` loads, in order.
  BandSender(const Communicator& comm, std::shared_ptr<Transport> transport, int tag,
             const std::vector<std::vector<Piece>>& wanted);

  void start(const MatrixView<const T>& local);
  void progress();
  [[nodiscard]] bool idle() const;

 private:
  // Messages under way to one rank: enough for it to find the next one sent while this rank computes a tile.
  static constexpr std::size_t window = 4;
  struct Queue {
    int destination = 0;
    std::vector<Piece> pieces;
    std::size_t sent = 0;
    std::deque<Request> under_way;
    std::array<Buffer<T>, window> packed;
  };
  [[nodiscard]] Request send(Queue& queue);

  Communicator comm_;
  std::shared_ptr<Transport> transport_;
  int tag_;
  std::deque<Queue> queues_;
  MatrixView<const T> local_;
};

/// Finished tiles: those of this rank on their way to the owners, those of others on their way into this rank's C.
template <Scalar T> class TileExchange {
 public:
  /// schedules[rank]: what each rank computes.
  TileExchange(const Communicator& comm, std::shared_ptr<Transport> transport, const Product& product,
               const std::vector<RankSchedule>& schedules);

  void start(T beta, const MatrixView<T>& local);
  void progress();
  /// Whether the buffer of the next tile is free.
  [[nodiscard]] bool buffer_free();
  /// Where the tile of `step` is to be computed: in C itself, where it can be, else in a buffer.
  [[nodiscard]] MatrixView<T> target(const Step& step);
  /// Sends the tile that was computed into target(step), or adds it to C.
  void deliver(const Step& step);
  [[nodiscard]] bool idle() const;

 private:
  static constexpr std::size_t buffers = 3;
  struct Departure {
    Buffer<T> tile;
    Buffer<T> packed;
    std::vector<Request> requests;
  };
  struct Source {
    int rank = 0;
    std::vector<Piece> pieces;  // Of this rank, in the order in which `rank` computes them.
    std::size_t posted = 0;
    std::size_t done = 0;
    std::array<Buffer<T>, 2> landings;
    std::array<Request, 2> requests;
  };
  [[nodiscard]] bool computed_in_place(const Region& region, const Piece& mine) const;
  void post(Source& source);

  Communicator comm_;
  std::shared_ptr<Transport> transport_;
  Product product_;
  std::array<Departure, buffers> departures_;
  std::size_t current_ = 0;
  std::vector<Source> sources_;
  T beta_{};
  MatrixView<T> local_;
};

}  // namespace heddle::impl
