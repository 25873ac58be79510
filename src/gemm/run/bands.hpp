// Bands of one operand of a distributed product, on their way between the ranks: those coming in and those going out.
// Nothing here blocks; the executor calls progress() until what it waits for is there. On GPUs the host runs ahead of
// the device: a band that is said to be there is so for work that is given to the device later, and events keep copies,
// products and kernels in order.
#pragma once

#include "comm/transports/tags.hpp"
#include "comm/vendor/queue.hpp"
#include "gemm/plan/memory.hpp"
#include "gemm/plan/relays.hpp"
#include "gemm/plan/schedule.hpp"
#include "gemm/run/instances.hpp"
#include "gemm/run/pieces.hpp"
#include "gemm/run/recorder.hpp"
#include <heddle/comm/transport.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::impl {

template <Scalar T> using Buffer = Kokkos::View<T*, MemorySpace>;

/// State that the streams of one plan share.
struct Setting {
  Communicator comm;
  Transport transport;
  Instances instances;
  TimelineRecorder* recorder = nullptr;  ///< Recorder of the timeline.
};

/// Further differences between A and B: name, tag of the messages, and where steps and the timeline keep what belongs
/// to the operand.
struct OperandSide : PlanOperand {
  char name;
  int tag;
  int Step::*load;
  int TimelineInterval::*band_number;

  /// Enters a band, by its number among those of all layers, into an interval of the timeline.
  void enter(int band, int bands_of_each_layer, TimelineInterval& interval) const {
    interval.*band_number = band % bands_of_each_layer;
    interval.layer = band / bands_of_each_layer;
  }
};
inline constexpr OperandSide side_a{operand_a, 'A', tag_gemm_a, &Step::load_a, &TimelineInterval::row_band};
inline constexpr OperandSide side_b{operand_b, 'B', tag_gemm_b, &Step::load_b, &TimelineInterval::column_band};

/// Bands of one operand, arriving into slots in the order of the rank's loads.
template <Scalar T> class BandReceiver {
 public:
  /// `setting` and `side` outlive it.
  BandReceiver(const Setting& setting, const OperandSide& side, const Product& product, const Relays& relays,
               const RankSchedule& schedule);

  /// Begins a product with this rank's part of the operand; the slots are free after `begin`.
  void start(const MatrixView<const T>& local, const Event& begin);
  /// Set the part alone, on a rank that owns every band on its device: nothing is posted.
  void show(const MatrixView<const T>& local) { local_ = local; }
  /// Step that first uses the next load, if that may be posted before `step`, whose predecessors have been given to the
  /// lanes.
  [[nodiscard]] std::optional<int> next_use(int step) const;
  /// may_copy: this rank's own piece of the band is put in place at once, and not only when the band is asked for.
  void post_next(bool may_copy);
  /// Whether anything of the next load comes from another node, and how many such loads are posted and not complete.
  [[nodiscard]] bool next_is_far() const { return arrivals_[posted_].far; }
  [[nodiscard]] std::size_t far_under_way() const { return far_under_way_.size(); }
  /// Takes what has arrived from other nodes; may_copy: and puts it in place.
  void take_far(bool may_copy);
  /// Data of a band that an owner has sent, and the event after which they are there; arrived() is empty before that.
  struct Arrived {
    MatrixView<const T> data;
    Event event;
  };
  [[nodiscard]] std::optional<Arrived> arrived(int load, int owner) const;
  /// Buffers that bands arrive in.
  [[nodiscard]] std::vector<Buffer<T>> buffers() const;
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
    int source = 0;      // Sender: its owner, or another rank of this node.
    Index landing = -1;  // Place in the slot's landing buffer; -1: straight into the band.
    Index row = 0;       // Place in the band, for those.
    Index column = 0;
    Request request;
    bool done = false;
    bool in_place = false;  // Where it belongs in the band, or on its way there on the assembly instance.
    double posted = 0.0;
  };
  struct Arrival {
    Load load;
    Region region;
    Piece mine;
    bool in_place = false;  // This rank owns all of it: nothing travels, nothing is copied.
    bool far = false;       // Some of it comes from another node.
    bool copied = false;    // Something is put in place on the assembly instance.
    bool mine_to_copy = false;
    std::vector<Incoming> pieces;
    std::vector<Event> events;  // The band is complete after these.
    std::vector<bool> ordered;  // By lane.
  };

  void post(Arrival& arrival);
  // Take the messages that have come; return true if all have. Gives nothing to an instance.
  bool take(Arrival& arrival);
  // Puts in place what has come, and what this rank owns.
  void put_in_place(Arrival& arrival);
  [[nodiscard]] MatrixView<T> slot(const Arrival& arrival) const;
  [[nodiscard]] MatrixView<T> place_of(const Arrival& arrival, const Incoming& incoming) const;

  const Setting& setting_;
  const OperandSide& side_;
  int bands_of_layer_;
  Placement placement_;
  std::vector<Arrival> arrivals_;
  std::vector<Buffer<T>> slots_;
  std::vector<std::vector<Event>> free_;  // A slot's last band is used until these are past.
  std::vector<Buffer<T>> landings_;
  MatrixView<const T> local_;
  std::size_t posted_ = 0;
  std::vector<int> far_under_way_;
};

/// This rank's pieces of the bands that others load, and those that it passes on to others of its node, sent in the
/// order in which each of them posts its loads.
template <Scalar T> class BandSender {
 public:
  /// schedules[rank]: what each rank loads. `setting`, `side` and `receiver`, which has what is passed on, outlive it.
  BandSender(const Setting& setting, const OperandSide& side, const Product& product, const Relays& relays,
             const std::vector<RankSchedule>& schedules, const BandReceiver<T>& receiver);
  ~BandSender();
  BandSender(const BandSender&) = delete;
  BandSender& operator=(const BandSender&) = delete;

  /// Begins a product with this rank's part of the operand, which is there after `ready`.
  void start(const MatrixView<const T>& local, const Event& ready);
  /// Begins one more message to each rank, as far as may be.
  void send_next();
  /// Begins as many as may be under way, and ends what is over; unless may_copy, none that is to be copied first.
  void progress(bool may_copy);
  [[nodiscard]] bool idle() const;

 private:
  // Messages under way to one rank: enough for it to find the next one sent while this rank computes a tile.
  static constexpr std::size_t window = 4;
  // A piece and its band.
  struct Wanted {
    Piece piece;
    int band = 0;
    int load = -1;         // For another rank's piece, this rank's load that brings it.
    std::size_t copy = 0;  // For this rank's own piece, its place in copies_; many ranks want the same.
  };
  // A piece in a run of memory of its own, for messages whose columns can't lie apart: made once for all receivers.
  struct Copy {
    Piece piece;
    Buffer<T> buffer;
    Event ready;
    bool made = false;
  };
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
  };
  [[nodiscard]] bool may_send(const Queue& queue, bool may_copy) const;
  void want(const Product& product, const Relays& relays, const Load& load, Queue& queue);
  void begin(Queue& queue);
  [[nodiscard]] Request send(const Queue& queue);
  // Whether the piece is not sent as it lies in a local part whose columns are `leading` apart.
  [[nodiscard]] bool is_copied(const Piece& piece, Index leading) const {
    return !setting_.transport.takes_blocks() && piece.columns.size() > 1 && piece.rows.size() < leading;
  }

  const Setting& setting_;
  const OperandSide& side_;
  int bands_of_layer_;
  const BandReceiver<T>& receiver_;
  std::deque<Queue> queues_;
  std::vector<Copy> copies_;
  std::map<int, std::size_t> copy_of_band_;
  std::map<int, int> load_of_band_;
  MatrixView<const T> local_;
  Event ready_;
};

}  // namespace heddle::impl
