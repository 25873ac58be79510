// Measurement of the rates of the tile model.
#include "comm/transports/progress_thread.hpp"
#include "comm/transports/tags.hpp"
#include "comm/vendor/queue.hpp"
#include "comm/vendor/vendor.hpp"
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "gemm/run/instances.hpp"
#include "tuning/measuring.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/comm/transport.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/tuning/rates.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>
#include <thread>

namespace heddle {
namespace {

using impl::best_of;
using impl::make_operand;
using impl::slowest;

// Ranks that a rank sends to and receives from.
struct Neighbours {
  int next;
  int previous;
};
// On its own node, round the ranks of it; or, where that is asked for, the ranks of other nodes that come in the same
// place when all ranks are counted node by node.
Neighbours neighbours_of(const Communicator& comm, bool on_other_nodes) {
  std::vector<int> order(static_cast<std::size_t>(comm.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int left, int right) { return comm.node_of(left) < comm.node_of(right); });
  const auto is_here = [&](int rank) { return comm.node_of(rank) == comm.node_of(comm.rank()); };
  const auto first = on_other_nodes ? order.begin() : std::find_if(order.begin(), order.end(), is_here);
  const int count = on_other_nodes ? comm.size() : comm.node_size();
  const auto mine = static_cast<int>(std::find(first, order.end(), comm.rank()) - first);
  // The largest node's ranks must all leave it.
  int step = 1;
  if (on_other_nodes) step = std::min(comm.all_reduce(comm.node_size(), Reduction::maximum), count - 1);
  return {first[(mine + step) % count], first[(mine + count - step) % count]};
}

// A message to the next rank and one from the previous; bytes of each.
template <Scalar T> class Ring {
 public:
  Ring(const Communicator& comm, Index elements, Neighbours neighbours)
      : comm_(comm),
        transport_(transport_of(comm)),
        neighbours_(neighbours),
        from_(make_operand<T>(comm, elements, 1)),
        to_(make_operand<T>(comm, elements, 1)) {}
  void exchange() {
    exchange([](Request&, Request&) {});
  }
  /// Beside `count` times product(): on CPUs of several nodes messages go on during each and between them, as they do
  /// during and between the tiles of a distributed product.
  template <class Product> void exchange_beside(int count, const Product& product) {
    exchange([&](Request& in, Request& out) {
      const auto go_on = [&] {
        static_cast<void>(in.test());
        static_cast<void>(out.test());
      };
      const bool goes_on = impl::on_host && comm_.nodes() > 1;
      std::optional<impl::ProgressThread> thread;
      if (goes_on && impl::ProgressThread::is_allowed()) thread.emplace(go_on);
      for (int k = 0; k < count; ++k) {
        if (thread) {
          thread->during(product);
        } else {
          product();
        }
        if (goes_on) go_on();
      }
    });
  }
  [[nodiscard]] double bytes() const { return static_cast<double>(to_.size() * sizeof(T)); }

 private:
  template <class Meanwhile> void exchange(const Meanwhile& meanwhile) {
    using In = Kokkos::View<T*, MemorySpace>;
    using Out = Kokkos::View<const T*, MemorySpace>;
    Request in = transport_.receive<T>(In(to_.data(), to_.size()), neighbours_.previous, impl::tag_measure);
    Request out = transport_.send<T>(Out(from_.data(), from_.size()), neighbours_.next, impl::tag_measure);
    meanwhile(in, out);
    in.wait();
    out.wait();
    transport_.drain();
  }

  Communicator comm_;
  Transport transport_;
  Neighbours neighbours_;
  LocalMatrix<T> from_;
  LocalMatrix<T> to_;
};

// The matrices that all measured products share.
template <Scalar T> struct Operands {
  Operands(const Communicator& comm, Index rows)
      : A(make_operand<T>(comm, rows, impl::measured_inner)),
        B(make_operand<T>(comm, impl::measured_inner, rows)),
        C(make_operand<T>(comm, rows, rows)) {}
  [[nodiscard]] Index largest_tile() const { return static_cast<Index>(A.extent(0)) / 2; }

  LocalMatrix<T> A;
  LocalMatrix<T> B;
  LocalMatrix<T> C;
};

// Products N_i x inner by inner x N_i as a schedule has them: through all bands of a matrix too large for a cache, then
// with the next band of B, the lanes in turn. That costs a BLAS more than the same small product again and again.
template <Scalar T> class Products {
 public:
  Products(const Communicator& comm, const impl::Instances& instances, const Operands<T>& operands, Index tile)
      : comm_(comm), instances_(instances), A_(operands.A), B_(operands.B), C_(operands.C), tile_(tile) {}
  /// Tiles until a band of B comes back.
  [[nodiscard]] int round() const { return 2 * bands(); }
  void run(int count) {
    impl::fork(comm_.space(), instances_);
    for (int k = 0; k < count; ++k) {
      const Index row = next_ % bands() * tile_;
      const Index column = next_ / bands() % 2 * tile_;
      const auto inner = static_cast<Index>(A_.extent(1));
      const auto lane = static_cast<std::size_t>(next_) % instances_.lanes.size();
      blas::gemm<T>(instances_.lanes[lane], Operation::none, Operation::none, T{1},
                    impl::block_of<T>(A_, row, row + tile_, 0, inner),
                    impl::block_of<T>(B_, 0, inner, column, column + tile_), T{0},
                    impl::block_of<T>(C_, row, row + tile_, column, column + tile_));
      ++next_;
    }
    impl::join(instances_, comm_.space());
  }
  [[nodiscard]] double flops() const {
    return flops_per_multiply_add<T> * static_cast<double>(tile_) * static_cast<double>(tile_) *
           static_cast<double>(A_.extent(1));
  }

 private:
  [[nodiscard]] int bands() const { return static_cast<int>(static_cast<Index>(A_.extent(0)) / tile_); }

  Communicator comm_;
  const impl::Instances& instances_;
  LocalMatrix<T> A_;
  LocalMatrix<T> B_;
  LocalMatrix<T> C_;
  Index tile_;
  int next_ = 0;
};

// Products that a GPU does at the clock it has when it was idle: it lowers it within tens of milliseconds.
constexpr double burst_seconds = 0.004;

// Products at work without a pause for as long as a GPU takes to get warm, and how long each of them is measured then.
constexpr double warming_seconds = 1.2;
constexpr double warm_seconds = 0.1;

template <Scalar T>
void measure_warmth(const Communicator& comm, std::deque<Products<T>>& products, MachineRates& rates);

// The rate of each tile within about `seconds`, the tiles in turn; on GPUs in bursts, with a pause as long after each,
// and then, if `warm`, when they are warm.
template <Scalar T>
void measure_products(const Communicator& comm, const impl::Instances& instances, const Operands<T>& operands,
                      double seconds, bool warm, MachineRates& rates,
                      const std::function<void(double share_done)>& progress) {
  const std::vector<Index> tiles = impl::on_host
                                       ? std::vector<Index>{32, 64, 128, 256, 512, 1024}
                                       : std::vector<Index>{256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192};
  const double budget = seconds / static_cast<double>(tiles.size());
  std::deque<Products<T>> products;
  std::vector<int> counts;
  std::vector<std::vector<double>> rounds;
  const Kokkos::Timer timer;
  double one = 0.0;  // The last tile's product.
  for (const Index tile : tiles) {
    // A larger tile than the time allows, which has four times the work, is left to the last rate measured.
    if (4.0 * one > budget || tile > operands.largest_tile()) break;
    products.emplace_back(comm, instances, operands, tile);
    products.back().run(1);
    constexpr int few = impl::on_host ? 1 : 4;
    one = slowest(comm, [&] { products.back().run(few); }) / few;
    // If ranks share cores, run as much of a whole round as time allows; the next runs go on from there.
    const double burst = impl::on_host ? budget / 2 : burst_seconds;
    counts.push_back(
        std::clamp(static_cast<int>(std::lround(burst / one)), impl::on_host ? 1 : 2, products.back().round()));
    rounds.push_back({slowest(comm, [&] { products.back().run(counts.back()); })});
    progress(0.5 * static_cast<double>(rounds.size()) / static_cast<double>(tiles.size()));
  }
  // Rank 0's clock decides how many rounds there are, on all ranks.
  for (int go_on = 1; go_on != 0 && rounds.front().size() < 20;) {
    for (std::size_t k = 0; k < products.size(); ++k) {
      if constexpr (!impl::on_host) {
        std::this_thread::sleep_for(std::chrono::duration<double>(burst_seconds));
      }
      rounds[k].push_back(slowest(comm, [&] { products[k].run(counts[k]); }));
    }
    const double share = timer.seconds() / seconds;
    go_on = share < 1.0 ? 1 : 0;
    comm.broadcast(std::span<int>(&go_on, 1), 0);
    progress(std::clamp(share, 0.5, 1.0));
  }
  for (std::size_t k = 0; k < products.size(); ++k) {
    // On shared cores the shortest time is the one that nothing else disturbed.
    std::sort(rounds[k].begin(), rounds[k].end());
    const double time = impl::on_host ? rounds[k].front() : rounds[k][rounds[k].size() / 2];
    rates.gemm.push_back({tiles[k], counts[k] * products[k].flops() / time, 0.0});
  }
  if (warm) {
    measure_warmth<T>(comm, products, rates);
  }
}

// How the rate of a device falls with the time at work, and where it ends.
template <Scalar T>
void measure_warmth(const Communicator& comm, std::deque<Products<T>>& products, MachineRates& rates) {
  const auto count_of = [&](std::size_t k, double seconds) {
    return std::max(static_cast<int>(std::lround(seconds * rates.gemm[k].flops / products[k].flops())), 1);
  };
  // A tile of which a window takes several, and the smallest that long products are cut into.
  const auto smaller = static_cast<std::size_t>(std::count_if(
      rates.gemm.begin(), rates.gemm.end(), [](const MachineRates::GemmPoint& point) { return point.tile < 1024; }));
  const std::size_t curve = std::min(smaller, products.size() - 1);
  constexpr double window = 0.02;
  const int count = count_of(curve, window);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  std::vector<std::pair<double, double>> rates_by_time;
  double elapsed = 0.0;
  double since = 0.0;
  int windows = 0;
  for (double next = 0.0; elapsed < warming_seconds;) {
    const double time = slowest(comm, [&] { products[curve].run(count); });
    elapsed += time;
    since += time;
    ++windows;
    // A GPU's clock swings: the mean since the last point.
    if (elapsed >= next || elapsed >= warming_seconds) {
      rates_by_time.emplace_back(elapsed, windows * count * products[curve].flops() / since);
      next = 1.5 * elapsed;
      since = 0.0;
      windows = 0;
    }
  }
  // In turn, as it still gets warmer.
  std::vector<std::vector<double>> rounds(products.size());
  for (int round = 0; round < 5; ++round) {
    for (std::size_t k = curve; k < products.size(); ++k) {
      const int many = count_of(k, warm_seconds);
      rounds[k].push_back(many * products[k].flops() / slowest(comm, [&] { products[k].run(many); }));
    }
  }
  for (std::size_t k = curve; k < products.size(); ++k) {
    std::sort(rounds[k].begin(), rounds[k].end());
    rates.gemm[k].warm_flops = std::min(rounds[k][rounds[k].size() / 2], rates.gemm[k].flops);
  }
  for (std::size_t k = 0; k < curve; ++k) {
    rates.gemm[k].warm_flops = rates.gemm[k].flops * rates.gemm[curve].warm_flops / rates.gemm[curve].flops;
  }
  const double cold = rates.gemm[curve].flops;
  const double lost = cold - rates.gemm[curve].warm_flops;
  for (const auto& [time, rate] : rates_by_time) {
    // Noise where nothing is lost.
    rates.warm.push_back({time, lost > 0.01 * cold ? std::clamp((cold - rate) / lost, 0.0, 1.0) : 1.0});
  }
}

// How much of a transfer hides behind products: about as much work as the transfer takes, alone and beside it.
template <Scalar T>
double measured_overlap(const Communicator& comm, const impl::Instances& instances, const Operands<T>& operands,
                        Neighbours neighbours, double bandwidth, const MachineRates& rates) {
  // Copy engines share nothing with products.
  if constexpr (!impl::on_host) return 1.0;
  // As long as a band, but over a slow link no longer than this takes.
  constexpr double longest = 0.1;
  const double bytes = std::min(0x1p23, longest * bandwidth);
  Ring<T> ring(comm, std::max(static_cast<Index>(bytes / sizeof(T)), Index{1}), neighbours);
  const double alone = best_of(comm, 7, [&] { ring.exchange(); });
  const Index tile = 128;
  Products<T> products(comm, instances, operands, tile);
  const int count = std::max(static_cast<int>(std::lround(alone * rates.flops_at(tile) / products.flops())), 1);
  const double product = best_of(comm, 7, [&] { products.run(count); });
  const double both = best_of(comm, 7, [&] { ring.exchange_beside(count, [&] { products.run(1); }); });
  return std::clamp((alone + product - both) / std::min(alone, product), 0.0, 1.0);
}

template <Scalar T>
void measure_link(const Communicator& comm, const impl::Instances& instances, const Operands<T>& operands,
                  double memory, MachineRates& rates) {
  rates.overlap = impl::on_host ? 0.0 : 1.0;
  if (comm.size() == 1) {
    return;
  }
  // As long as a band: short messages don't reach a GPU link's rate.
  const double bytes = impl::on_host ? 0x1p23 : std::min(0x1p28, memory / 4.0);
  const auto elements = static_cast<Index>(bytes) / static_cast<Index>(sizeof(T));
  // If a rank is alone on its node, every link is one between nodes.
  const bool has_company = comm.all_reduce(comm.node_size(), Reduction::minimum) > 1;
  const Neighbours neighbours = neighbours_of(comm, !has_company);
  if (has_company && comm.nodes() > 1) {
    const Neighbours others = neighbours_of(comm, true);
    Ring<T> away(comm, elements, others);
    rates.node_bandwidth = away.bytes() / best_of(comm, 7, [&] { away.exchange(); });
    rates.node_overlap = measured_overlap<T>(comm, instances, operands, others, rates.node_bandwidth, rates);
  }
  Ring<T> small(comm, 1, neighbours);
  Ring<T> large(comm, elements, neighbours);
  rates.latency = best_of(comm, 21, [&] { small.exchange(); });
  rates.link_bandwidth = large.bytes() / best_of(comm, 7, [&] { large.exchange(); });
  rates.overlap = measured_overlap<T>(comm, instances, operands, neighbours, rates.link_bandwidth, rates);
}

// Between pinned host memory and the device, to it and both ways, on all ranks at once.
void measure_bus(const Communicator& comm, MachineRates& rates) {
  if constexpr (!impl::on_host) {
    const std::size_t bytes = std::size_t{128} << 20;
    using Device = Kokkos::View<std::byte*, MemorySpace>;
    using Pinned = Kokkos::View<std::byte*, Kokkos::SharedHostPinnedSpace>;
    const Device device(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::gemm::measure"),
                        2 * bytes);
    const Pinned pinned(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::gemm::measure"), 2 * bytes);
    const auto half = [&](std::byte* data, std::size_t number) {
      return impl::vendor::Block{data + number * bytes, bytes, 1, bytes};
    };
    impl::CopyQueue in;
    impl::CopyQueue out;
    const auto copy = [&](bool both_ways) {
      in.copy(half(device.data(), 0), half(pinned.data(), 0));
      if (both_ways) {
        out.copy(half(pinned.data(), 1), half(device.data(), 1));
      }
      in.event().before(comm.space());
      out.event().before(comm.space());
    };
    rates.host_bandwidth = static_cast<double>(bytes) / best_of(comm, 3, [&] { copy(false); });
    rates.host_bandwidth_both_ways = static_cast<double>(bytes) / best_of(comm, 3, [&] { copy(true); });
  }
}

}  // namespace

Index impl::measured_rows(std::size_t bytes_of_element, double memory) {
  if (on_host) return 2048;
  const auto bytes = [&](Index rows) {
    return static_cast<double>(bytes_of_element) * static_cast<double>(rows) *
           static_cast<double>(2 * measured_inner + rows);
  };
  Index rows = 16384;
  while (rows > 2048 && bytes(rows) > memory) rows /= 2;
  return rows;
}

template <Scalar T>
MachineRates measure_rates(const Communicator& comm, double seconds,
                           const std::function<void(double share_done)>& progress, MathMode math) {
  return comm.together([&] {
    const std::string trouble = blas::trouble_with<T>(math);
    require(trouble.empty(), "measure_rates: ", trouble);
    require(std::isfinite(seconds), "measure_rates: ", seconds, " seconds; expected a finite number");
    const Kokkos::Profiling::ScopedRegion region("heddle::gemm::measure_rates");
    const auto report = [&](double share) {
      if (progress) {
        progress(share);
      }
    };
    MachineRates rates;
    const impl::Instances instances = impl::make_instances(comm.space(), math);
    // Others may be at work on the device meanwhile.
    const double memory =
        0.25 * comm.all_reduce(static_cast<double>(impl::vendor::memory_info().free), Reduction::minimum);
    const Operands<T> operands(comm, impl::measured_rows(sizeof(T), memory));
    measure_products<T>(comm, instances, operands, 0.8 * std::max(seconds, 0.2), !impl::on_host && seconds >= 1.0,
                        rates, [&](double share) { report(0.8 * share); });
    {
      // Well beyond any cache; on GPUs several times in a row, beside which a kernel's launch is short.
      const double bytes = impl::on_host ? 0x1p26 : std::min(0x1p28, memory / 4.0);
      constexpr int copies = impl::on_host ? 1 : 4;
      const auto elements = static_cast<Index>(bytes) / static_cast<Index>(sizeof(T));
      const auto from = make_operand<T>(comm, elements, 1);
      const auto to = make_operand<T>(comm, elements, 1);
      const double time = best_of(comm, 3, [&] {
        for (int k = 0; k < copies; ++k) {
          impl::copy_elements<T>(comm.space(), "heddle::gemm::measure_copy", from, to);
        }
      });
      rates.memory_bandwidth = 2.0 * copies * static_cast<double>(elements) * sizeof(T) / time;
    }
    report(0.9);
    measure_link<T>(comm, instances, operands, memory, rates);
    measure_bus(comm, rates);
    if (seconds >= 1.0) {
      rates.emulated = impl::measure_emulated<T>(comm, 0.5 * seconds);
    }
    report(1.0);
    return rates;
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template MachineRates measure_rates<T>(const Communicator&, double, const std::function<void(double)>&, MathMode)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
