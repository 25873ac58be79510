#include "comm/tags.hpp"
#include "core/instantiate.hpp"
#include "gemm/exchange.hpp"
#include "gemm/predict.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/comm/transport.hpp>
#include <heddle/gemm/gemm.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace heddle {
namespace {

using impl::Product;
using impl::RankSchedule;

template <Scalar T> constexpr impl::ElementCost element_cost{sizeof(T), flops_per_multiply_add<T>};

void require_shapes(const Product& product) {
  const auto rows = [](Operation op, const Placement& p) { return op == Operation::none ? p.rows() : p.columns(); };
  const auto columns = [](Operation op, const Placement& p) { return op == Operation::none ? p.columns() : p.rows(); };
  require(columns(product.op_a, product.a) == rows(product.op_b, product.b) &&
              rows(product.op_a, product.a) == product.c.rows() &&
              columns(product.op_b, product.b) == product.c.columns(),
          "gemm: op(A) is ", rows(product.op_a, product.a), " x ", columns(product.op_a, product.a), ", op(B) is ",
          rows(product.op_b, product.b), " x ", columns(product.op_b, product.b), ", C is ", product.c.rows(), " x ",
          product.c.columns());
  for (const Placement* placement : {&product.a, &product.b, &product.c}) {
    require(placement->rank_end() <= product.ranks, "gemm: ", placement->describe(), " needs rank ",
            placement->rank_end() - 1, "; there are ", product.ranks, " ranks");
  }
}

// The rates the model works with: given, kept from `heddle tune`, or measured now where a tile must be chosen.
template <Scalar T> std::optional<MachineRates> find_rates(const Communicator& comm, const GemmOptions& options) {
  if (options.rates) {
    return options.rates;
  }
  if (auto kept = load_rates<T>(comm)) {
    return kept;
  }
  return options.tile == 0 ? std::optional(measure_rates<T>(comm, 0.2)) : std::nullopt;
}

std::vector<impl::Region> regions_of(const Product& product, const std::vector<impl::Load>& loads,
                                     impl::Region (*band)(const Product&, int)) {
  std::vector<impl::Region> regions;
  regions.reserve(loads.size());
  for (const impl::Load& load : loads) {
    regions.push_back(band(product, load.band));
  }
  return regions;
}

}  // namespace

template <Scalar T> struct GemmPlan<T>::State {
  State(const Communicator& communicator, const Product& wanted, const GemmOptions& options);

  void run(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
           const DistributedMatrix<T>& C);

  // Lets every stream go on until `done`.
  template <class Done> void progress_until(const Done& done) {
    if (done()) {
      return;
    }
    const Kokkos::Timer timer;
    do {
      progress();
    } while (!done());
    waited += timer.seconds();
  }
  void progress() {
    sender_a->progress();
    sender_b->progress();
    tiles->progress();
  }

  Communicator comm;
  Product product;
  RankSchedule schedule;
  int bands_per_pass = 1;
  std::optional<double> predicted;
  double bytes_received = 0.0;
  double waited = 0.0;
  std::optional<impl::BandReceiver<T>> receiver_a;
  std::optional<impl::BandReceiver<T>> receiver_b;
  std::optional<impl::BandSender<T>> sender_a;
  std::optional<impl::BandSender<T>> sender_b;
  std::optional<impl::TileExchange<T>> tiles;
};

template <Scalar T>
GemmPlan<T>::State::State(const Communicator& communicator, const Product& wanted, const GemmOptions& options)
    : comm(communicator), product(wanted) {
  require_shapes(product);
  require(options.tile >= 0, "gemm: tile ", options.tile, "; expected at least 1, or 0 for the model's choice");
  require(options.bands_per_pass >= 0, "gemm: bands_per_pass ", options.bands_per_pass, "; expected at least 0");
  const auto rates = find_rates<T>(comm, options);
  product.tile = options.tile;
  if (options.tile == 0) {
    product.tile = choose_tile(*rates, element_cost<T>, product, options.bands_per_pass, options.workspace_bytes);
  }
  bands_per_pass = options.bands_per_pass > 0 ? std::min(options.bands_per_pass, impl::most_bands(product))
                                              : impl::bands_that_fit(product, sizeof(T), options.workspace_bytes);
  if (rates) {
    predicted = impl::predicted_seconds(*rates, element_cost<T>, product, bands_per_pass);
  }
  for (const impl::Workload& work : impl::workloads(product, bands_per_pass)) {
    bytes_received += sizeof(T) * (work.elements_in + work.elements_home);
  }

  std::vector<RankSchedule> schedules;
  std::vector<std::vector<impl::Piece>> wanted_a(static_cast<std::size_t>(comm.size()));
  std::vector<std::vector<impl::Piece>> wanted_b(static_cast<std::size_t>(comm.size()));
  const auto pieces_wanted = [&](const Placement& placement, const std::vector<impl::Region>& regions,
                                 std::vector<impl::Piece>& pieces) {
    for (const impl::Region& region : regions) {
      if (const impl::Piece mine = impl::piece_of(placement, region, comm.rank()); mine.size() > 0) {
        pieces.push_back(mine);
      }
    }
  };
  for (int rank = 0; rank < comm.size(); ++rank) {
    schedules.push_back(impl::make_schedule(product, bands_per_pass, rank));
    if (rank != comm.rank()) {
      const auto number = static_cast<std::size_t>(rank);
      pieces_wanted(product.a, regions_of(product, schedules.back().loads_a, impl::band_of_a), wanted_a[number]);
      pieces_wanted(product.b, regions_of(product, schedules.back().loads_b, impl::band_of_b), wanted_b[number]);
    }
  }
  schedule = schedules[static_cast<std::size_t>(comm.rank())];

  const std::shared_ptr<Transport> transport = make_transport(comm);
  receiver_a.emplace(comm, transport, product.a, impl::tag_gemm_a, schedule.loads_a,
                     regions_of(product, schedule.loads_a, impl::band_of_a), schedule.slots_a);
  receiver_b.emplace(comm, transport, product.b, impl::tag_gemm_b, schedule.loads_b,
                     regions_of(product, schedule.loads_b, impl::band_of_b), schedule.slots_b);
  sender_a.emplace(comm, transport, impl::tag_gemm_a, wanted_a);
  sender_b.emplace(comm, transport, impl::tag_gemm_b, wanted_b);
  tiles.emplace(comm, transport, product, schedules);
}

template <Scalar T>
void GemmPlan<T>::State::run(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                             const DistributedMatrix<T>& C) {
  if (alpha == T{0} || product.inner() == 0) {
    if (beta == T{0}) {
      fill(C, T{0});
    } else {
      scale(beta, C);
    }
    return;
  }
  tiles->start(beta, C.local());
  receiver_a->start(A.local());
  receiver_b->start(B.local());
  sender_a->start(A.local());
  sender_b->start(B.local());
  for (int number = 0; number < static_cast<int>(schedule.steps.size()); ++number) {
    const impl::Step& step = schedule.steps[static_cast<std::size_t>(number)];
    receiver_a->post_before(number);
    receiver_b->post_before(number);
    progress_until([&] {
      // Both are asked, so that both are unpacked as they come.
      const bool a = receiver_a->ready(step.load_a);
      const bool b = receiver_b->ready(step.load_b);
      return a && b && tiles->buffer_free();
    });
    blas::gemm<T>(comm.space(), product.op_a, product.op_b, alpha, receiver_a->band(step.load_a),
                  receiver_b->band(step.load_b), T{0}, tiles->target(step));
    tiles->deliver(step);
    progress();
  }
  progress_until([&] { return sender_a->idle() && sender_b->idle() && tiles->idle(); });
}

template <Scalar T>
GemmPlan<T>::GemmPlan(const Communicator& comm, Operation op_a, const Placement& a, Operation op_b, const Placement& b,
                      const Placement& c, const GemmOptions& options)
    : state_(std::make_unique<State>(comm, Product{op_a, op_b, a, b, c, 1, comm.size()}, options)) {}

template <Scalar T> GemmPlan<T>::~GemmPlan() = default;
template <Scalar T> GemmPlan<T>::GemmPlan(GemmPlan&&) noexcept = default;
template <Scalar T> GemmPlan<T>& GemmPlan<T>::operator=(GemmPlan&&) noexcept = default;

template <Scalar T> Index GemmPlan<T>::tile() const {
  return state_->product.tile;
}

template <Scalar T>
GemmReport GemmPlan<T>::execute(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                                const DistributedMatrix<T>& C) {
  State& state = *state_;
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm");
  const auto require_planned = [](const char* name, const Placement& planned, const Placement& given) {
    require(planned == given, "gemm: ", name, " is ", given.describe(), "; the plan is for ", planned.describe());
  };
  require_planned("A", state.product.a, A.placement());
  require_planned("B", state.product.b, B.placement());
  require_planned("C", state.product.c, C.placement());

  const ExecutionSpace& space = state.comm.space();
  space.fence("heddle::gemm::begin");
  const Kokkos::Timer timer;
  state.waited = 0.0;
  state.run(alpha, A, B, beta, C);
  space.fence("heddle::gemm::end");

  GemmReport report;
  std::array<double, 2> times{timer.seconds(), state.waited};
  state.comm.all_reduce(std::span<double>(times), Reduction::maximum);
  report.seconds = times[0];
  report.wait_seconds = times[1];
  report.tile = state.product.tile;
  report.bands_per_pass = state.bands_per_pass;
  report.predicted_seconds = state.predicted;
  const double multiply_adds =
      static_cast<double>(C.rows()) * static_cast<double>(C.columns()) * static_cast<double>(state.product.inner());
  report.gflops = report.seconds > 0.0 ? flops_per_multiply_add<T> * multiply_adds / report.seconds / 1e9 : 0.0;
  report.bytes_received = alpha == T{0} ? 0.0 : state.bytes_received;
  return report;
}

template <Scalar T>
GemmReport gemm(const Communicator& comm, Operation op_a, Operation op_b, T alpha, const DistributedMatrix<T>& A,
                const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C, const GemmOptions& options) {
  GemmPlan<T> plan(comm, op_a, A.placement(), op_b, B.placement(), C.placement(), options);
  return plan.execute(alpha, A, B, beta, C);
}

#define HEDDLE_INSTANTIATE(T)                                                                            \
  template class GemmPlan<T>;                                                                            \
  template GemmReport gemm<T>(const Communicator&, Operation, Operation, T, const DistributedMatrix<T>&, \
                              const DistributedMatrix<T>&, T, const DistributedMatrix<T>&, const GemmOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
