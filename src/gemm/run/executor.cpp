// Execution of a planned product on one rank.
#include "gemm/run/executor.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

// Return true if loads of A are posted first when A and B are equally urgent.
bool ties_to_a(const Communicator& comm) {
  return comm.nodes() > 1 || comm.rank() % 2 == 0;
}

// The partial tiles of layers are added at the end, as those of several ranks are.
bool is_local_product(const Product& product) {
  return product.ranks == 1 && product.layers == 1 && !is_streamed(product.a) && !is_streamed(product.b) &&
         !is_streamed(product.c);
}

// C = beta C; beta == 0 does not read C.
template <Scalar T> void scale_all(const ExecutionSpace& space, T beta, const MatrixView<T>& C) {
  const Elements<T> c(C);
  const bool reads = beta != T{0};
  for_each_element(
      space, "heddle::gemm::scale", static_cast<Index>(C.extent(0)), static_cast<Index>(C.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { c(i, j) = reads ? product(beta, c(i, j)) : T{0}; });
}

}  // namespace

template <Scalar T>
Executor<T>::Executor(const Setting& setting, const Planned& planned)
    : setting_(setting),
      facts_(planned.facts),
      schedule_(planned.schedules[static_cast<std::size_t>(setting.comm.rank())]),
      a_(setting, side_a, facts_.product, planned.schedules),
      b_(setting, side_b, facts_.product, planned.schedules),
      tiles_(setting, facts_.product, planned.schedules, planned.tile_buffers),
      local_(is_local_product(facts_.product)) {
  if (facts_.arithmetic.emulated()) {
    emulated_.emplace(setting.instances.lanes.front().space(), facts_.product, facts_.bands_per_pass,
                      facts_.arithmetic.moduli, facts_.arithmetic.emulation_taken);
  }
  // Within a node messages are copies by the same cores, and a GPU's host thread does not compute.
  if (on_host && setting.comm.nodes() > 1 && ProgressThread::is_allowed()) {
    messenger_.emplace([this] { progress_beside(); });
  }
}

template <Scalar T>
void Executor<T>::run(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                      const DistributedMatrix<T>& C, const Event& ready) {
  emulation_report_ = {};
  if (has_no_terms(alpha)) {
    scale_all(setting_.comm.space(), beta, C.local());
    return;
  }
  ready_ = ready;
  setting_.transport.set_timed(setting_.recorder->everything());
  if (emulated_) {
    emulated_->start();
    emulation_report_ = settle_emulation(setting_.instances.lanes.front().space(), [&] { return this->probe(A, B); });
  }
  multiply_all(alpha, A, B, beta, C);
}

template <Scalar T> bool Executor<T>::takes_lanes() const {
  return local_ && !emulated_ && schedule_.steps.size() > 1 && setting_.instances.lanes.size() > 1;
}

template <Scalar T>
void Executor<T>::run_local(std::span<const blas::Context> lanes, T alpha, const DistributedMatrix<T>& A,
                            const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C) {
  const blas::Context& first = lanes.front();
  emulation_report_ = {};
  if (has_no_terms(alpha)) {
    scale_all(first.space(), beta, C.local());
    return;
  }
  a_.show(A.local());
  b_.show(B.local());
  tiles_.start(beta, C.local(), {});
  if (emulated_) {
    emulated_->start();
    emulation_report_ = settle_emulation(first.space(), [&] {
      Spread spread;
      for (const Step& step : schedule_.steps) probe_step(first, step, spread);
      return spread;
    });
  }
  std::size_t lane = 0;
  for (const Step& step : schedule_.steps) {
    multiply(lanes[lane], step, alpha, tiles_.own_target(step, lane));
    tiles_.put_own(step, lane, lanes[lane].space());
    lane = (lane + 1) % lanes.size();
  }
}

template <Scalar T>
void Executor<T>::multiply_all(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                               const DistributedMatrix<T>& C) {
  const ExecutionSpace& space = setting_.comm.space();
  fork(space, setting_.instances);
  tiles_.start(beta, C.local(), ready_);
  start_bands(A, B);
  for_each_step([&] { return tiles_.buffer_free(); },
                [&](const Step& step, std::size_t lane) {
                  const blas::Context& context = setting_.instances.lanes[lane];
                  const MatrixView<T> tile = tiles_.target(step, lane);
                  const bool recorded = setting_.recorder->recording();
                  const Event product_begins = recorded ? Event::on(context.space(), true) : Event();
                  beside_messages([&] { multiply(context, step, alpha, tile); });
                  if (recorded) {
                    setting_.recorder->add({TimelineKind::product, 0.0, 0.0, 'C', step.row_band, step.column_band, -1,
                                            0.0, static_cast<int>(lane), step.layer},
                                           product_begins, Event::on(context.space(), true));
                  }
                  return [this, &step, lane] { tiles_.deliver(step, lane); };
                });
  progress_until([&] { return bands_sent() && tiles_.idle(); });
  setting_.transport.drain();
  join(setting_.instances, space);
  tiles_.finish();
}

template <Scalar T> void Executor<T>::start_bands(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  const Event begin = Event::on(setting_.comm.space());
  a_.start(A.local(), begin, ready_);
  b_.start(B.local(), begin, ready_);
  // The first bands of both before the second of either: what comes from host memory crosses the bus in this order.
  for (int k = 0; k < 2; ++k) {
    a_.send_next();
    b_.send_next();
  }
}

template <Scalar T> void Executor<T>::progress() {
  setting_.transport.progress();
  a_.progress(true);
  b_.progress(true);
  tiles_.progress(facts_.tiles_wait && !bands_sent());
}

template <Scalar T> void Executor<T>::progress_beside() {
  a_.progress(false);
  b_.progress(false);
  tiles_.progress_sent();
  post_loads(ties_to_a(setting_.comm), a_, b_, computed_, false, false);
}

template <Scalar T>
template <class MayGo, class Body>
void Executor<T>::for_each_step(const MayGo& may_go, const Body& body) {
  const bool in_turn = setting_.transport.only(TransportKind::peer);
  for (int number = 0; number < static_cast<int>(schedule_.steps.size()); ++number) {
    const Step& step = schedule_.steps[static_cast<std::size_t>(number)];
    // Emulated products fill the device, and share one workspace.
    const std::size_t lane = emulated_ ? 0 : static_cast<std::size_t>(number) % setting_.instances.lanes.size();
    progress_until([&] {
      post_loads(ties_to_a(setting_.comm), a_, b_, number, in_turn, true);
      // Both are asked, so that both are unpacked as they come.
      const bool a = a_.ready(step);
      const bool b = b_.ready(step);
      return a && b && may_go();
    });
    a_.order(step, lane);
    b_.order(step, lane);
    computed_ = number;
    const auto deliver = body(step, lane);
    a_.used(step, number);
    b_.used(step, number);
    deliver();
    progress();
  }
}

template <Scalar T>
template <class Probe>
EmulationReport Executor<T>::settle_emulation(const ExecutionSpace& space, const Probe& probe) {
  const Index inner = facts_.product.inner();
  const ArithmeticChoice& arithmetic = facts_.arithmetic;
  if (!wants_probe(arithmetic.emulation_taken)) {
    return {arithmetic.moduli, emulation_error<T>(inner, arithmetic.moduli), 0.0, {}};
  }
  const Index elements = facts_.product.rows() * facts_.product.columns();
  EmulationReport report = choose_emulation<T>(inner, elements, probe(), arithmetic.emulation_taken);
  if (report.moduli > 0) emulated_->set_moduli(space, report.moduli);
  return report;
}

template <Scalar T> Spread Executor<T>::probe(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  const Communicator& comm = setting_.comm;
  fork(comm.space(), setting_.instances);
  start_bands(A, B);
  Spread spread;
  for_each_step([] { return true; },
                [&](const Step& step, std::size_t lane) {
                  beside_messages([&] { probe_step(setting_.instances.lanes[lane], step, spread); });
                  return [] {};
                });
  progress_until([&] { return bands_sent(); });
  setting_.transport.drain();
  join(setting_.instances, comm.space());
  spread.ratio = comm.all_reduce(spread.ratio, Reduction::maximum);
  spread.undecided = comm.all_reduce(spread.undecided, Reduction::sum);
  return spread;
}

template <Scalar T> void Executor<T>::probe_step(const blas::Context& context, const Step& step, Spread& spread) {
  const Index elements = facts_.product.rows() * facts_.product.columns();
  // The bound is that of all ranks together: a rank that exceeds it alone exceeds it for all.
  const Index decided = worth_deciding(elements) - spread.undecided;
  const Spread found = emulated_->probe(context, step, a_.band(step), b_.band(step), decided);
  spread.ratio = std::max(spread.ratio, found.ratio);
  spread.undecided += found.undecided;
}

template <Scalar T>
void Executor<T>::multiply(const blas::Context& context, const Step& step, T alpha, const MatrixView<T>& tile) {
  const Product& product = facts_.product;
  const MatrixView<const T> A = a_.band(step);
  const MatrixView<const T> B = b_.band(step);
  if (!emulated_) {
    blas::gemm<T>(context, product.op_a, product.op_b, alpha, A, B, T{0}, tile);
  } else if (emulation_report_.fallback) {
    multiply_instead<T>(context, *emulation_report_.fallback, alpha,
                        {product.op_a, product.op_b, A, B, nullptr, nullptr}, T{0}, tile);
  } else {
    emulated_->multiply(context, step, alpha, A, B, tile);
  }
}

#define HEDDLE_INSTANTIATE(T) template class Executor<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
