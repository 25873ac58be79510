// Tiles of C on one rank: from here to their owners, and from others into this rank's C. Nothing here blocks, and the
// order of the device is kept as in bands.hpp.
#pragma once

#include "gemm/run/bands.hpp"

namespace heddle::impl {

/// Finished tiles: those of this rank on their way to the owners, those of others on their way into this rank's C.
///
/// With several layers, the partial tiles of the first go into C, those of the others each into a copy of this rank's
/// part of C, whenever they come; in the end these are added to C one layer after the other. So no tile waits for
/// another one, and the order of the sums is always the same.
template <Scalar T> class TileExchange {
 public:
  /// schedules[rank]: what each rank computes. `buffers`: tiles held at once, see tile_buffers(). `setting` outlives
  /// it. Allocates the memory that every product needs; the first product with beta other than 0 allocates what only
  /// these need.
  TileExchange(const Setting& setting, const Product& product, const std::vector<RankSchedule>& schedules,
               std::size_t buffers);
  ~TileExchange();
  TileExchange(const TileExchange&) = delete;
  TileExchange& operator=(const TileExchange&) = delete;

  /// Begins a product into this rank's part of C, which messages may write after `ready`.
  void start(T beta, const MatrixView<T>& local, const Event& ready);
  /// bus_taken: own tiles that go to host memory wait, while there is another buffer.
  void progress(bool bus_taken);
  /// Ends what has been sent; gives nothing to an instance.
  void progress_sent();
  /// Whether the buffer of the next tile is free.
  [[nodiscard]] bool buffer_free();
  /// View in which work on the lane computes the tile of `step`: of C itself if possible, else of a buffer.
  [[nodiscard]] MatrixView<T> target(const Step& step, std::size_t lane);
  /// Sends the tile that the lane computes into target(step, lane), or adds it to C.
  void deliver(const Step& step, std::size_t lane);
  /// Replace target(), deliver() and all calls below on a rank that owns all of C on its device. The tile is computed
  /// and put into C by work on one instance, that of the lane.
  [[nodiscard]] MatrixView<T> own_target(const Step& step, std::size_t lane);
  void put_own(const Step& step, std::size_t lane, const ExecutionSpace& space);
  [[nodiscard]] bool idle() const;
  /// Work on the communicator's instance, which is behind all the others, from now on sees this rank's C, as far as
  /// idle() says that it is there.
  void finish();

 private:
  struct Sent {
    Request request;
    double posted = 0.0;
    int peer = 0;
    double bytes = 0.0;
    Step step;
  };
  struct Departure {
    Buffer<T> tile;
    Buffer<T> packed;
    std::vector<Sent> sent;
    std::vector<Event> events;  // The tile is read until these are past.
  };
  // Own piece of a tile on its way to a C in host memory.
  struct Homecoming {
    std::size_t departure = 0;
    vendor::Block to;
    vendor::Block from;
    Event computed;
    Step step;
  };
  struct Expected {
    Piece piece;
    Step step;
  };
  struct Source {
    int rank = 0;
    std::vector<Expected> pieces;  // Pieces of this rank, in the order in which `rank` computes them.
    Index largest = 0;             // Elements of the largest piece.
    std::size_t posted = 0;
    std::size_t done = 0;
    bool lands = false;  // All of them land in place.
    std::vector<Buffer<T>> landings;
    std::vector<Request> requests;
    std::vector<double> times;
  };
  [[nodiscard]] bool computed_in_place(const Step& step, const Region& region, const Piece& mine) const;
  // Whether messages land in C or a layer of it: their columns may lie apart and nothing is to be added.
  [[nodiscard]] bool lands_in_place(const Step& step) const { return product_.blocks && beta_of(step) == T{0}; }
  // Block of C itself, to which the first layer goes, or of a later layer's copy.
  [[nodiscard]] MatrixView<T> block_of_c(const Step& step, const Piece& piece) const;
  [[nodiscard]] T beta_of(const Step& step) const { return step.layer == 0 ? beta_ : T{0}; }
  [[nodiscard]] MatrixView<T> copy_of_c(int layer) const;
  [[nodiscard]] MatrixView<T> tile_of(const Departure& departure, const Region& region) const;
  // Allocate missing buffers: for tiles, for the pieces of tiles, for pieces from a rank.
  void hold(Buffer<T> Departure::*buffer);
  void hold_landings(Source& source);
  void post(Source& source);
  [[nodiscard]] std::span<const Event> ready() const { return {&ready_, ready_.state() ? std::size_t{1} : 0}; }
  void keep(const MatrixView<const T>& tile, const Step& step, const Piece& mine, const Event& computed);
  void copy_home();

  const Setting& setting_;
  Product product_;
  std::vector<Departure> departures_;
  std::size_t current_ = 0;
  std::vector<Source> sources_;
  std::deque<Homecoming> waiting_;
  CopyQueue to_host_;
  std::vector<Buffer<T>> layers_;  // Copies of all layers but the first.
  T beta_{};
  MatrixView<T> local_;
  Event ready_;
};

}  // namespace heddle::impl
