// Benchmarks of the transpose over ranks against the bare exchange of as many bytes between the same ranks, in turn.
#include "support/copy.hpp"
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/comm/transport.hpp>
#include <heddle/transpose/distributed.hpp>

#include <array>
#include <string>
#include <vector>

namespace heddle::perf {
namespace {

using Buffer = Kokkos::View<double*, MemorySpace>;

// The messages between bands of equal height, one per pair, already packed.
class BareExchange {
 public:
  explicit BareExchange(Index n) {
    const auto share = static_cast<std::size_t>((n / world().size()) * (n / world().size()));
    for (int step = 1; step < world().size(); ++step) {
      out_.emplace_back("heddle::perf::out", share);
      in_.emplace_back("heddle::perf::in", share);
    }
  }
  void run() const {
    const auto transport = transport_of(world());
    const int ranks = world().size();
    std::vector<Request> requests;
    for (int step = 1; step < ranks; ++step) {
      const auto s = static_cast<std::size_t>(step - 1);
      requests.push_back(transport.receive<double>(in_[s], (world().rank() + ranks - step) % ranks, tag));
      requests.push_back(transport.send<double>(Kokkos::View<const double*, MemorySpace>(out_[s]),
                                                (world().rank() + step) % ranks, tag));
    }
    for (Request& request : requests) {
      request.wait();
    }
    transport.drain();
  }

 private:
  static constexpr int tag = 77;  // No other message is in flight here.
  std::vector<Buffer> out_;
  std::vector<Buffer> in_;
};

struct Layout {
  const char* name;
  Placement (*of)(Index rows, Index columns, int ranks);
};
constexpr std::array<Layout, 2> layouts = {{{"rows", Placement::row_bands}, {"columns", Placement::column_bands}}};

// Counters: bytes received by all ranks over the seconds of the slowest; on one rank, bytes read and written, against a
// copy.
void beside_exchange(benchmark::State& state, const Layout& layout) {
  const int ranks = world().size();
  const Index n = extent(state.range(0)) / ranks * ranks;
  const auto A = random_distributed(layout.of(n, n, ranks), 1);
  const DistributedMatrix<double> B(world(), layout.of(n, n, ranks));
  const BareExchange exchange(n);
  const LocalMatrix<double> copied("heddle::perf::copied", ranks == 1 ? A.local().extent(0) : 0,
                                   ranks == 1 ? A.local().extent(1) : 0);
  const LocalMatrix<double> whole = ranks == 1 ? random_local(world().space(), n, n, 1) : copied;
  const auto bytes = 8.0 * static_cast<double>(n) * static_cast<double>(n);
  TransposePlan<double> plan(world(), A.placement(), Operation::transpose, B.placement());
  compare(state, ranks == 1 ? 2.0 * bytes : bytes * (ranks - 1) / ranks,
          {"transpose", [&] { return seconds_of([&] { plan.execute(1.0, A, B); }); }},
          {"exchange",
           [&] {
             return seconds_of([&] {
               if (ranks == 1) {
                 streaming_copy<double>(world().space(), whole, copied);
               } else {
                 exchange.run();
               }
             });
           }},
          "gbytes");
  const DistributedMatrix<double> back(world(), A.placement());
  transpose(world(), 1.0, B, Operation::transpose, back);
  add(-1.0, A, back);
  if (norm(back, Norm::maximum) != 0.0) {
    fail(state, "twice the transpose is not A");
  }
}

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

[[maybe_unused]] const bool added = [] {
  const std::vector<std::int64_t> sizes =
      on_host ? std::vector<std::int64_t>{8192} : std::vector<std::int64_t>{8192, 16384, 32768};
  for (const Layout& layout : layouts) {
    for (const std::int64_t n : sizes) {
      benchmark::RegisterBenchmark(("transpose_distributed/double/" + std::string(layout.name)).c_str(),
                                   [&layout](benchmark::State& state) { beside_exchange(state, layout); })
          ->Arg(n)
          ->ArgName("n")
          ->Iterations(5)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf
