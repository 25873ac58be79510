// Planning and execution of distributed matrix products.
#include "comm/failures/release.hpp"
#include "comm/vendor/vendor.hpp"
#include "core/instantiate.hpp"
#include "core/report_line.hpp"
#include "core/scalar_name.hpp"
#include "gemm/plan/arguments.hpp"
#include "gemm/plan/choose.hpp"
#include "gemm/plan/memory.hpp"
#include "gemm/run/executor.hpp"
#include "gemm/run/product_queue.hpp"
#include <heddle/comm/transport.hpp>
#include <heddle/gemm/gemm.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <array>

namespace heddle {
namespace {

using impl::PlanFacts;
using impl::Planned;
using impl::Product;
using impl::Setting;

impl::MemoryLimits memory_limits(const Communicator& comm, const GemmOptions& options) {
  impl::MemoryLimits limits;
  limits.workspace_bytes = options.workspace_bytes > 0 ? options.workspace_bytes : impl::default_workspace_bytes(comm);
  if (options.arithmetic != Arithmetic::native && options.tile == 0) {
    limits.residue_bytes = impl::memory_for_residues(comm);
  }
  return limits;
}

// Everything that is decided before anything is allocated. Collective: ranks agree about memory and typical rates.
template <Scalar T> Planned planned_product(const Setting& setting, Product shape, const GemmOptions& options) {
  const Communicator& comm = setting.comm;
  impl::require_plan(comm, std::string(impl::scalar_name<T>), shape, options);
  const std::string trouble = blas::trouble_with<T>(options.math);
  require(trouble.empty(), "gemm: ", trouble);
  shape.blocks = setting.transport.takes_blocks();
  if (comm.nodes() > 1) shape.node_of = comm.nodes_of_ranks();
  const impl::MemoryLimits memory = memory_limits(comm, options);
  const MachineRates rates = options.rates ? *options.rates : typical_rates<T>(comm);
  Planned planned{impl::choose_plan<T>(shape, options, rates, memory), {}, 0};
  PlanFacts& facts = planned.facts;
  planned.schedules = impl::make_schedules(facts.product, facts.bands_per_pass);

  const impl::RankSchedule& mine = planned.schedules[static_cast<std::size_t>(comm.rank())];
  const std::size_t lanes = setting.instances.lanes.size();
  const double bands = impl::bytes_of_bands(facts.product, mine, sizeof(T), comm.rank());
  const double room = facts.tiles_wait ? static_cast<double>(memory.workspace_bytes) - bands : 0.0;
  planned.tile_buffers = impl::tile_buffers(facts.product, mine, sizeof(T), lanes, room);
  const impl::Footprint needs =
      impl::footprint_of<T>(facts, planned.schedules, comm.rank(), lanes, planned.tile_buffers);
  impl::require_memory(comm, facts.product, needs.total());
  if (facts.arithmetic.emulated() && impl::vendor::memory_info().total > 0) {
    const double free = comm.all_reduce(static_cast<double>(impl::vendor::memory_info().free), Reduction::minimum);
    const double others = comm.all_reduce(needs.bands + needs.tiles, Reduction::maximum);
    facts = impl::limited_to_memory<T>(facts, free, others);
  }
  return planned;
}

}  // namespace

template <Scalar T> struct GemmPlan<T>::State {
  State(const Communicator& comm, const Product& shape, const GemmOptions& options)
      : recorder(options.record_timeline),
        setting{comm, transport_of(comm), impl::make_instances(comm.space(), options.math), &recorder},
        executor(executor_of(setting, shape, options)),
        queue(setting, *executor) {}

  static std::unique_ptr<impl::Executor<T>> executor_of(const Setting& setting, const Product& shape,
                                                        const GemmOptions& options) {
    const impl::Planned planned = planned_product<T>(setting, shape, options);
    return impl::allocate_together(setting.comm, [&] { return std::make_unique<impl::Executor<T>>(setting, planned); });
  }

  impl::TimelineRecorder recorder;
  const Setting setting;
  std::unique_ptr<impl::Executor<T>> executor;
  impl::ProductQueue<T> queue;
  Timeline timeline;  // Timeline of the last product that was executed.
};

namespace {

// The report of so many products that took so many seconds together, `moved` of them with alpha other than 0.
template <Scalar T>
GemmReport report_of(const impl::Executor<T>& executor, Index products, Index moved, double seconds) {
  const PlanFacts& facts = executor.facts();
  const impl::Traffic& traffic = facts.traffic;
  GemmReport report;
  report.products = products;
  report.seconds = seconds;
  report.tile = facts.product.tile;
  report.bands_per_pass = facts.bands_per_pass;
  report.grid = {facts.product.grid_rows(), facts.product.grid_columns};
  report.layers = facts.product.layers;
  report.predicted_seconds = facts.predicted_seconds;
  const double flops = flops_per_multiply_add<T> * traffic.multiply_adds * static_cast<double>(products);
  report.gflops = seconds > 0.0 ? flops / seconds / 1e9 : 0.0;
  report.emulation = executor.emulation_report();
  report.emulation_taken = facts.arithmetic.emulation_taken;
  // The bands travel once more for a probe.
  const bool emulated = facts.arithmetic.emulated();
  const bool probed = emulated && impl::wants_probe(facts.arithmetic.emulation_taken);
  const auto times = static_cast<double>(moved);
  report.bytes_received = times * (traffic.bytes_received + (probed ? traffic.band_bytes_received : 0.0));
  report.bytes_between_nodes =
      times * (traffic.bytes_between_nodes + (probed ? traffic.band_bytes_between_nodes : 0.0));
  const bool native = !emulated || report.emulation.fallback == Fallback::native;
  report.arithmetic = native ? Arithmetic::native : Arithmetic::emulated;
  return report;
}

}  // namespace

template <Scalar T>
GemmPlan<T>::GemmPlan(const Communicator& comm, Operation op_a, const Placement& a, Operation op_b, const Placement& b,
                      const Placement& c, const GemmOptions& options)
    : state_(comm.together([&] {
        return std::make_unique<State>(
            comm, Product{op_a, op_b, a, b, c, 1, comm.size(), 2, 2, false, options.tiles == GemmTiles::half}, options);
      })) {}

template <Scalar T> GemmPlan<T>::~GemmPlan() = default;
template <Scalar T> GemmPlan<T>::GemmPlan(GemmPlan&&) noexcept = default;
template <Scalar T> GemmPlan<T>& GemmPlan<T>::operator=(GemmPlan&&) noexcept = default;

template <Scalar T> Index GemmPlan<T>::tile() const {
  return state_->executor->facts().product.tile;
}

template <Scalar T> int GemmPlan<T>::layers() const {
  return state_->executor->facts().product.layers;
}

template <Scalar T> Arithmetic GemmPlan<T>::arithmetic() const {
  return state_->executor->facts().arithmetic.taken;
}

template <Scalar T> const Timeline& GemmPlan<T>::timeline() const {
  return state_->timeline;
}

template <Scalar T>
GemmReport GemmPlan<T>::execute(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                                const DistributedMatrix<T>& C) {
  return state_->setting.comm.together([&] {
    State& state = *state_;
    const Kokkos::Profiling::ScopedRegion region("heddle::gemm");
    const Communicator& comm = state.setting.comm;
    impl::require_operands<T>(comm, state.executor->facts().product, alpha, A, B, beta, C);
    state.queue.before(comm.space());
    comm.space().fence("heddle::gemm::begin");
    state.queue.settle();
    // All ranks' timelines begin at the same moment, as near as may be.
    if (state.recorder.records_everything()) comm.barrier();
    const Kokkos::Timer timer;  // No later than the recorder's: waits are a part of these seconds.
    state.recorder.start(comm.space());
    state.executor->run(alpha, A, B, beta, C);
    comm.space().fence("heddle::gemm::end");
    const double seconds = timer.seconds();
    state.timeline = state.recorder.finish(seconds);

    std::array<double, 2> times{seconds, impl::seconds_waited(state.timeline)};
    comm.all_reduce(std::span<double>(times), Reduction::maximum);
    GemmReport report = report_of<T>(*state.executor, 1, alpha != T{0} ? 1 : 0, times[0]);
    report.wait_seconds = times[1];
    return report;
  });
}

template <Scalar T>
void GemmPlan<T>::enqueue(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                          const DistributedMatrix<T>& C) {
  enqueue(state_->setting.comm.space(), alpha, A, B, beta, C);
}

template <Scalar T>
void GemmPlan<T>::enqueue(const ExecutionSpace& space, T alpha, const DistributedMatrix<T>& A,
                          const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C) {
  state_->setting.comm.together([&] { state_->queue.add(space, alpha, A, B, beta, C); });
}

template <Scalar T> void GemmPlan<T>::wait() {
  state_->queue.wait();
}

template <Scalar T> GemmReport GemmPlan<T>::report() {
  const Communicator& comm = state_->setting.comm;
  return comm.together([&] {
    state_->queue.wait();
    const auto done = state_->queue.take();
    return report_of<T>(*state_->executor, done.products, done.moved,
                        comm.all_reduce(done.seconds, Reduction::maximum));
  });
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
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

std::ostream& operator<<(std::ostream& out, const GemmReport& report) {
  return out << heddle::impl::ReportLine("GemmReport")
                    .field("products", report.products)
                    .field("tile", report.tile)
                    .field("grid", message_of(report.grid.rows, " x ", report.grid.columns))
                    .field("layers", report.layers)
                    .field("bands_per_pass", report.bands_per_pass)
                    .field("seconds", report.seconds)
                    .field("predicted_seconds", report.predicted_seconds)
                    .field("gflops", report.gflops)
                    .field("bytes_received", report.bytes_received)
                    .field("bytes_between_nodes", report.bytes_between_nodes)
                    .field("wait_seconds", report.wait_seconds)
                    .field("arithmetic", report.arithmetic)
                    .field("emulation", report.emulation);
}

}  // namespace heddle
