// The three streams of a distributed product on one rank: bands coming in, bands going out, tiles of C going home.
// None of them blocks; the executor calls progress() until what it waits for is there. On GPUs what they say is there
// is so in the order of the device: the host runs ahead, events keep copies, products and kernels apart.
#pragma once

#include "comm/queue.hpp"
#include "gemm/plan/schedule.hpp"
#include "gemm/run/instances.hpp"
#include "gemm/run/pieces.hpp"
#include "gemm/run/recorder.hpp"
#include <heddle/comm/transport.hpp>

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::impl {

template <Scalar T> using Buffer = Kokkos::View<T*, MemorySpace>;

/// What the streams of one plan share.
struct Setting {
  Communicator comm;
  std::shared_ptr<Transport> transport;
  Instances instances;
  Recorder* recorder = nullptr;  ///< Where a trace is wanted.
};

/// Whether an operand's own part must come to the device like that of other ranks.
[[nodiscard]] inline bool is_streamed(const Placement& placement) {
  return !on_host && placement.residence() == Residence::host;
}

/// Bands of one operand, arriving into slots in the order of the loads.
template <Scalar T> class BandReceiver {
 public:
  BandReceiver(const Setting& setting, const Placement& placement, char operand, int tag,
               const std::vector<Load>& loads, const std::vector<Region>& regions, int slots);

  /// Begins a product with this rank's part of the operand; the slots are free after `begin`.
  void start(const MatrixView<const T>& local, const Event& begin);
  /// First use of the next load, where it may be posted before `step`, whose predecessors have been given to the lanes.
  [[nodiscard]] std::optional<int> next_use(int step) const;
  void post_next();
  [[nodiscard]] bool last_is_ready() { return posted_ == 0 || ready(static_cast<int>(posted_) - 1); }
  /// Whether the load is posted and its band complete, for work after order(); unpacks what has arrived.
  [[nodiscard]] bool ready(int load);
  /// Work given to a lane from now on runs after the band is complete.
  void order(int load, std::size_t lane);
  [[nodiscard]] MatrixView<const T> band(int load) const;
  /// The step's product has been given to a lane: a band used for the last time leaves its slot after it.
  void used(int load, int step);

 private:
  struct Incoming {
    Piece piece;
    Index landing = -1;  // Place in the slot's landing buffer; -1: straight into the band.
    Index row = 0;       // Place in the band, for those.
    Index column = 0;
    Request request;
    bool done = false;
    double posted = 0.0;
  };
  struct Arrival {
    Load load;
    Region region;
    Piece mine;
    bool in_place = false;  // This rank owns all of it: nothing travels, nothing is copied.
    bool copied = false;    // Something is put in place on the assembly instance.
    std::vector<Incoming> pieces;
    std::vector<Event> events;  // The band is complete after these.
    std::vector<bool> ordered;  // By lane.
  };

  void post(Arrival& arrival);
  [[nodiscard]] MatrixView<T> slot(const Arrival& arrival) const;

  const Setting& setting_;
  Placement placement_;
  char operand_;
  int tag_;
  std::vector<Arrival> arrivals_;
  std::vector<Buffer<T>> slots_;
  std::vector<std::vector<Event>> free_;  // A slot's last band is used until these are past.
  std::vector<Buffer<T>> landings_;
  MatrixView<const T> local_;
  std::size_t posted_ = 0;
};

/// Posts the loads that may be posted before `step`, in the order of their use. Of a band of A and one of B for the
/// same step, every other rank takes A first, so that the owners of both are busy.
///
/// in_turn: each only once the last one is ready, so that a device that copies one band after the other does so in the
/// order of use, not in that in which the owners speak up.
template <Scalar T> void post_loads(int rank, BandReceiver<T>& a, BandReceiver<T>& b, int step, bool in_turn) {
  while (!in_turn || (a.last_is_ready() && b.last_is_ready())) {
    const std::optional<int> use_a = a.next_use(step);
    const std::optional<int> use_b = b.next_use(step);
    if (!use_a && !use_b) {
      return;
    }
    if (use_a && (!use_b || (rank % 2 == 0 ? *use_a <= *use_b : *use_a < *use_b))) {
      a.post_next();
    } else {
      b.post_next();
    }
  }
}

/// This rank's pieces of the bands that others load, sent in the order in which each of them posts its loads.
template <Scalar T> class BandSender {
 public:
  /// A piece of this rank, and the band it is of.
  struct Wanted {
    Piece piece;
    int band = 0;
  };
  /// wanted[rank]: what `rank` loads of this rank, in order.
  BandSender(const Setting& setting, char operand, int tag, const std::vector<std::vector<Wanted>>& wanted);

  /// Begins a product with this rank's part of the operand, which nothing under way writes.
  void start(const MatrixView<const T>& local);
  /// Begins one more message to each rank, as far as may be.
  void send_next();
  /// Begins as many as may be under way, and ends what is over.
  void progress();
  [[nodiscard]] bool idle() const;

 private:
  // Messages under way to one rank: enough for it to find the next one sent while this rank computes a tile.
  static constexpr std::size_t window = 4;
  struct Outgoing {
    Request request;
    double posted = 0.0;
    double bytes = 0.0;
    int band = 0;
  };
  struct Queue {
    int destination = 0;
    std::vector<Wanted> pieces;
    std::size_t sent = 0;
    std::deque<Outgoing> under_way;
    std::array<Buffer<T>, window> packed;
  };
  [[nodiscard]] bool may_send(const Queue& queue) const {
    return queue.sent < queue.pieces.size() && queue.under_way.size() < window;
  }
  void begin(Queue& queue);
  [[nodiscard]] Request send(Queue& queue);

  const Setting& setting_;
  char operand_;
  int tag_;
  std::deque<Queue> queues_;
  MatrixView<const T> local_;
};

}  // namespace heddle::impl
