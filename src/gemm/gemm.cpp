#include "comm/tags.hpp"
#include "comm/vendor.hpp"
#include "core/instantiate.hpp"
#include "core/scalar_name.hpp"
#include "gemm/emulation/emulated_bands.hpp"
#include "gemm/plan/arguments.hpp"
#include "gemm/plan/memory.hpp"
#include "gemm/plan/predict.hpp"
#include "gemm/run/tiles.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/comm/transport.hpp>
#include <heddle/gemm/gemm.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <array>

namespace heddle {
namespace {

using impl::Product;
using impl::RankSchedule;

template <Scalar T> constexpr impl::ElementCost element_cost{sizeof(T), flops_per_multiply_add<T>};

}  // namespace

template <Scalar T> struct GemmPlan<T>::State {
  State(const Communicator& communicator, const Product& wanted, const GemmOptions& options);

  // A way to do it.
  struct Choice {
    Product product;
    int bands_per_pass = 1;
    std::optional<double> seconds;
  };
  void choose_arithmetic(const GemmOptions& options, std::size_t workspace_bytes);
  void make_streams(double workspace_bytes);
  void run(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
           const DistributedMatrix<T>& C);
  // Looks at the factors of an emulated product, and decides how it is done.
  void look(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
  // tile = alpha op(A) op(B) of a step.
  void multiply(const blas::Context& context, const impl::Step& step, T alpha, const MatrixView<const T>& A,
                const MatrixView<const T>& B, const MatrixView<T>& tile);
  void start_bands(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
  // body(step, lane) when the bands of a step are there, and may_go() too.
  template <class MayGo, class Body> void for_each_step(const MayGo& may_go, const Body& body);

  // Lets every stream go on until `done`.
  template <class Done> void progress_until(const Done& done) {
    while (!done()) {
      progress();
    }
  }
  void progress() {
    setting.transport->progress();
    sender_a->progress();
    sender_b->progress();
    tiles->progress(tiles_wait && !(sender_a->idle() && sender_b->idle()));
  }

  impl::Recorder recorder;
  impl::Setting setting;
  Product product;
  RankSchedule schedule;
  int bands_per_pass = 1;
  bool tiles_wait = false;  // For the bands, where both cross a bus.
  MachineRates rates;       // Given, or typical ones.
  std::optional<double> predicted;
  double multiply_adds = 0.0;
  double bytes_received = 0.0;
  double band_bytes_received = 0.0;  // Of these.
  bool by_integers = false;
  EmulationOptions emulation;
  EmulationReport emulation_report;  // Of the last product.
  std::optional<impl::EmulatedBands<T>> emulated;
  Trace trace;
  std::optional<impl::BandReceiver<T>> receiver_a;
  std::optional<impl::BandReceiver<T>> receiver_b;
  std::optional<impl::BandSender<T>> sender_a;
  std::optional<impl::BandSender<T>> sender_b;
  std::optional<impl::TileExchange<T>> tiles;
};

template <Scalar T>
GemmPlan<T>::State::State(const Communicator& communicator, const Product& wanted, const GemmOptions& options)
    : recorder(options.trace),
      setting{communicator, transport_of(communicator), impl::make_instances(communicator.space()), &recorder},
      product(wanted) {
  impl::require_plan(setting.comm, std::string(impl::scalar_name<T>), product, options);
  product.blocks = setting.transport->takes_blocks();
  const std::size_t workspace_bytes =
      options.workspace_bytes > 0 ? options.workspace_bytes : impl::default_workspace_bytes(setting.comm);
  choose_arithmetic(options, workspace_bytes);
  const std::vector<impl::Workload> workloads = impl::workloads(product, bands_per_pass);
  if (!by_integers) {
    tiles_wait = impl::tiles_wait_for_bands(rates, element_cost<T>, product, workloads);
  }
  for (const impl::Workload& work : workloads) {
    multiply_adds += work.multiply_adds;
    band_bytes_received += sizeof(T) * work.elements_in;
    bytes_received += sizeof(T) * (work.elements_in + work.elements_home);
  }
  make_streams(static_cast<double>(workspace_bytes));
}

template <Scalar T>
void GemmPlan<T>::State::choose_arithmetic(const GemmOptions& options, std::size_t workspace_bytes) {
  const bool may_be_native = options.arithmetic != Arithmetic::emulated;
  const bool may_be_emulated = options.arithmetic != Arithmetic::native;
  emulation = options.emulation;
  const bool by_residues = emulation.scheme == EmulationScheme::residues;
  rates = options.rates ? *options.rates : typical_rates<T>(setting.comm);
  // The best plan of each kind.
  const auto planned = [&](bool integers, int moduli) {
    State::Choice choice{product, 1, {}};
    choice.product.tile = options.tile;
    if (options.tile == 0) {
      choice.product.tile = integers
                                ? impl::emulated_tile(product, impl::ResidueSystem::planes(impl::field_of<T>, moduli),
                                                      impl::memory_for_residues(setting.comm))
                                : choose_tile(rates, element_cost<T>, product, options.bands_per_pass, workspace_bytes);
    }
    choice.bands_per_pass = options.bands_per_pass > 0
                                ? std::min(options.bands_per_pass, impl::most_bands(choice.product))
                                : impl::bands_that_fit(choice.product, sizeof(T), workspace_bytes);
    if (integers && options.bands_per_pass == 0 && !impl::on_host) {
      // The automatic tile has room for the residues of three bands of A.
      choice.bands_per_pass = std::min(choice.bands_per_pass, 3);
    }
    impl::hold_bands_of_b(choice.product, choice.bands_per_pass, sizeof(T), workspace_bytes);
    if (!integers || (by_residues && !rates.emulated.empty())) {
      const MachineRates& used = integers ? impl::emulated_rates(rates) : rates;
      choice.seconds = impl::predicted_seconds(used, element_cost<T>, choice.product, choice.bands_per_pass);
    }
    return choice;
  };
  Choice choice;
  if (may_be_native) {
    choice = planned(false, 0);
  }
  if (may_be_emulated) {
    const int usual = emulation_moduli<T>(product.inner());
    const int moduli = impl::moduli_of<T>(product.inner(), emulation);
    Choice integers = planned(true, moduli);
    if (integers.seconds) {
      // By products of 8-bit integers; a look costs two more.
      const double each = *integers.seconds / impl::ResidueSystem::planes(impl::field_of<T>, usual);
      const auto seconds_of = [&](int count) {
        return each * (impl::ResidueSystem::planes(impl::field_of<T>, count) + (impl::looks(emulation) ? 2 : 0));
      };
      *integers.seconds = seconds_of(moduli);
      if (may_be_native && *integers.seconds < *choice.seconds) {
        by_integers = true;
        // With more moduli than this the BLAS is as fast.
        int worth = moduli;
        while (worth < emulation.most_moduli && seconds_of(worth + 1) <= *choice.seconds) ++worth;
        emulation.most_moduli = worth;
        emulation.fallback = Fallback::native;
      }
    }
    by_integers = by_integers || !may_be_native;
    if (by_integers) choice = integers;
  }
  product = choice.product;
  bands_per_pass = choice.bands_per_pass;
  if (options.rates) predicted = choice.seconds;
}

template <Scalar T> void GemmPlan<T>::State::make_streams(double workspace_bytes) {
  const Communicator& comm = setting.comm;
  std::vector<RankSchedule> schedules;
  using Wanted = typename impl::BandSender<T>::Wanted;
  std::vector<std::vector<Wanted>> wanted_a(static_cast<std::size_t>(comm.size()));
  std::vector<std::vector<Wanted>> wanted_b(static_cast<std::size_t>(comm.size()));
  const auto pieces_wanted = [&](const Placement& placement, int rank, const std::vector<impl::Load>& loads,
                                 impl::Region (*band)(const Product&, int), std::vector<Wanted>& pieces) {
    if (rank == comm.rank() && !impl::is_streamed(placement)) {
      return;
    }
    for (const impl::Load& load : loads) {
      const impl::Piece mine = impl::piece_of(placement, band(product, load.band), comm.rank());
      if (mine.size() > 0) {
        pieces.push_back({mine, load.band});
      }
    }
  };
  for (int rank = 0; rank < comm.size(); ++rank) {
    schedules.push_back(impl::make_schedule(product, bands_per_pass, rank));
    const auto number = static_cast<std::size_t>(rank);
    pieces_wanted(product.a, rank, schedules.back().loads_a, impl::band_of_a, wanted_a[number]);
    pieces_wanted(product.b, rank, schedules.back().loads_b, impl::band_of_b, wanted_b[number]);
  }
  schedule = schedules[static_cast<std::size_t>(comm.rank())];

  const double bands = impl::bytes_of_bands(product, schedule, sizeof(T), comm.rank());
  const std::size_t buffers =
      impl::TileExchange<T>::buffers_for(setting, product, schedule, tiles_wait ? workspace_bytes - bands : 0.0);
  const int moduli = by_integers ? impl::moduli_of<T>(product.inner(), emulation) : 0;
  const auto residues = [&](int count) {
    return by_integers ? impl::EmulatedBands<T>::bytes(product, bands_per_pass, count, emulation) : 0.0;
  };
  const double tiles_bytes =
      sizeof(T) * static_cast<double>(buffers) *
      static_cast<double>(std::min(product.tile, product.rows()) * std::min(product.tile, product.columns()));
  // Copies that a vendor's BLAS needs of bands and tiles whose columns lie oddly.
  const double copies = by_integers ? 0.0
                                    : static_cast<double>(setting.instances.lanes.size()) *
                                          impl::bytes_of_copies<T>(product, comm.rank());
  impl::require_memory(comm, product, bands + residues(moduli) + tiles_bytes + copies);
  if (by_integers && impl::vendor::memory_info().total > 0) {
    // No look leads to more than fits, on any rank.
    const double free = comm.all_reduce(static_cast<double>(impl::vendor::memory_info().free), Reduction::minimum);
    const double others = comm.all_reduce(bands + tiles_bytes, Reduction::maximum);
    int& most = emulation.most_moduli;
    while (most > moduli && others + residues(most) > free) --most;
  }
  receiver_a.emplace(setting, product.a, 'A', impl::tag_gemm_a, schedule.loads_a,
                     impl::regions_of(product, schedule.loads_a, impl::band_of_a), schedule.slots_a);
  receiver_b.emplace(setting, product.b, 'B', impl::tag_gemm_b, schedule.loads_b,
                     impl::regions_of(product, schedule.loads_b, impl::band_of_b), schedule.slots_b);
  sender_a.emplace(setting, 'A', impl::tag_gemm_a, wanted_a);
  sender_b.emplace(setting, 'B', impl::tag_gemm_b, wanted_b);
  tiles.emplace(setting, product, schedules, buffers);
  if (by_integers) {
    emulated.emplace(setting.instances.lanes.front().space(), product, bands_per_pass, moduli, emulation);
  }
}

template <Scalar T>
void GemmPlan<T>::State::run(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                             const DistributedMatrix<T>& C) {
  emulation_report = {};
  if (alpha == T{0} || product.inner() == 0) {
    if (beta == T{0}) {
      fill(C, T{0});
    } else {
      scale(beta, C);
    }
    return;
  }
  const ExecutionSpace& space = setting.comm.space();
  setting.transport->set_timed(recorder.everything());
  if (by_integers) {
    emulated->start();
    look(A, B);
  }
  impl::fork(space, setting.instances);
  tiles->start(beta, C.local());
  start_bands(A, B);
  for_each_step([&] { return tiles->buffer_free(); },
                [&](const impl::Step& step, std::size_t lane) {
                  const blas::Context& context = setting.instances.lanes[lane];
                  const MatrixView<T> tile = tiles->target(step, lane);
                  const Event product_begins = Event::on(context.space(), true);
                  multiply(context, step, alpha, receiver_a->band(step.load_a), receiver_b->band(step.load_b), tile);
                  recorder.add({TraceKind::product, 0.0, 0.0, 'C', step.row_band, step.column_band, -1, 0.0,
                                static_cast<int>(lane)},
                               product_begins, Event::on(context.space(), true));
                  return [&, lane] { tiles->deliver(step, lane); };
                });
  progress_until([&] { return sender_a->idle() && sender_b->idle() && tiles->idle(); });
  setting.transport->drain();
  impl::join(setting.instances, space);
  tiles->finish();
}

template <Scalar T> void GemmPlan<T>::State::start_bands(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  const Event begin = Event::on(setting.comm.space());
  receiver_a->start(A.local(), begin);
  receiver_b->start(B.local(), begin);
  sender_a->start(A.local());
  sender_b->start(B.local());
  // The first bands of both before the second of either: what comes from host memory crosses the bus in this order.
  for (int k = 0; k < 2; ++k) {
    sender_a->send_next();
    sender_b->send_next();
  }
}

template <Scalar T>
template <class MayGo, class Body>
void GemmPlan<T>::State::for_each_step(const MayGo& may_go, const Body& body) {
  const bool in_turn = setting.transport->kind() == TransportKind::peer;
  for (int number = 0; number < static_cast<int>(schedule.steps.size()); ++number) {
    const impl::Step& step = schedule.steps[static_cast<std::size_t>(number)];
    // Emulated products fill the device, and share one workspace.
    const std::size_t lane = by_integers ? 0 : static_cast<std::size_t>(number) % setting.instances.lanes.size();
    progress_until([&] {
      impl::post_loads(setting.comm.rank(), *receiver_a, *receiver_b, number, in_turn);
      // Both are asked, so that both are unpacked as they come.
      const bool a = receiver_a->ready(step.load_a);
      const bool b = receiver_b->ready(step.load_b);
      return a && b && may_go();
    });
    receiver_a->order(step.load_a, lane);
    receiver_b->order(step.load_b, lane);
    const auto deliver = body(step, lane);
    receiver_a->used(step.load_a, number);
    receiver_b->used(step.load_b, number);
    deliver();
    progress();
  }
}

template <Scalar T> void GemmPlan<T>::State::look(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  const Communicator& comm = setting.comm;
  if (!impl::looks(emulation)) {
    const int moduli = impl::moduli_of<T>(product.inner(), emulation);
    emulation_report = {moduli, emulation_error<T>(product.inner(), moduli), 0.0, {}};
    return;
  }
  impl::fork(comm.space(), setting.instances);
  start_bands(A, B);
  const Index elements = product.rows() * product.columns();
  impl::Spread spread;
  for_each_step([] { return true; },
                [&](const impl::Step& step, std::size_t lane) {
                  // What one rank has left undecided may be too much for all, and is for each.
                  const Index decided = impl::worth_deciding(elements) - spread.undecided;
                  const impl::Spread found =
                      emulated->look(setting.instances.lanes[lane], step, receiver_a->band(step.load_a),
                                     receiver_b->band(step.load_b), decided);
                  spread.ratio = std::max(spread.ratio, found.ratio);
                  spread.undecided += found.undecided;
                  return [] {};
                });
  progress_until([&] { return sender_a->idle() && sender_b->idle(); });
  setting.transport->drain();
  impl::join(setting.instances, comm.space());
  spread.ratio = comm.all_reduce(spread.ratio, Reduction::maximum);
  spread.undecided = comm.all_reduce(spread.undecided, Reduction::sum);
  emulation_report = impl::choose_emulation<T>(product.inner(), elements, spread, emulation);
  if (emulation_report.moduli > 0) {
    emulated->set_moduli(setting.instances.lanes.front().space(), emulation_report.moduli);
  }
}

template <Scalar T>
void GemmPlan<T>::State::multiply(const blas::Context& context, const impl::Step& step, T alpha,
                                  const MatrixView<const T>& A, const MatrixView<const T>& B,
                                  const MatrixView<T>& tile) {
  if (!by_integers) {
    blas::gemm<T>(context, product.op_a, product.op_b, alpha, A, B, T{0}, tile);
  } else if (emulation_report.fallback) {
    impl::multiply_instead<T>(context, *emulation_report.fallback, product.op_a, product.op_b, alpha, A, B, T{0}, tile);
  } else {
    emulated->multiply(context, step, alpha, A, B, tile);
  }
}

template <Scalar T>
GemmPlan<T>::GemmPlan(const Communicator& comm, Operation op_a, const Placement& a, Operation op_b, const Placement& b,
                      const Placement& c, const GemmOptions& options)
    : state_(std::make_unique<State>(
          comm, Product{op_a, op_b, a, b, c, 1, comm.size(), 2, 2, false, options.tiles == GemmTiles::half}, options)) {
}

template <Scalar T> GemmPlan<T>::~GemmPlan() = default;
template <Scalar T> GemmPlan<T>::GemmPlan(GemmPlan&&) noexcept = default;
template <Scalar T> GemmPlan<T>& GemmPlan<T>::operator=(GemmPlan&&) noexcept = default;

template <Scalar T> Index GemmPlan<T>::tile() const {
  return state_->product.tile;
}

template <Scalar T> Arithmetic GemmPlan<T>::arithmetic() const {
  return state_->by_integers ? Arithmetic::emulated : Arithmetic::native;
}

template <Scalar T> const Trace& GemmPlan<T>::trace() const {
  return state_->trace;
}

template <Scalar T>
GemmReport GemmPlan<T>::execute(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                                const DistributedMatrix<T>& C) {
  State& state = *state_;
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm");
  const Communicator& comm = state.setting.comm;
  impl::require_operands<T>(comm, state.product, alpha, A, B, beta, C);
  comm.space().fence("heddle::gemm::begin");
  // Of a trace, all ranks' beginnings are the same moment, as near as may be.
  if (state.recorder.everything()) comm.barrier();
  state.recorder.start(comm.space());
  const Kokkos::Timer timer;
  state.run(alpha, A, B, beta, C);
  comm.space().fence("heddle::gemm::end");
  const double seconds = timer.seconds();
  state.trace = state.recorder.finish(seconds);

  GemmReport report;
  std::array<double, 2> times{seconds, impl::seconds_waited(state.trace)};
  comm.all_reduce(std::span<double>(times), Reduction::maximum);
  report.seconds = times[0];
  report.wait_seconds = times[1];
  report.tile = state.product.tile;
  report.bands_per_pass = state.bands_per_pass;
  report.predicted_seconds = state.predicted;
  report.gflops = report.seconds > 0.0 ? flops_per_multiply_add<T> * state.multiply_adds / report.seconds / 1e9 : 0.0;
  // A look has the bands travel once more.
  const bool looked = state.by_integers && impl::looks(state.emulation);
  report.bytes_received = alpha == T{0} ? 0.0 : state.bytes_received + (looked ? state.band_bytes_received : 0.0);
  const bool native = !state.by_integers || state.emulation_report.fallback == Fallback::native;
  report.arithmetic = native ? Arithmetic::native : Arithmetic::emulated;
  report.emulation = state.emulation_report;
  return report;
}

template <Scalar T>
GemmReport gemm(const Communicator& comm, Operation op_a, Operation op_b, std::type_identity_t<T> alpha,
                const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, std::type_identity_t<T> beta,
                const DistributedMatrix<T>& C, const GemmOptions& options) {
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
