// Queue of products on an instance, which the host does not wait for.
#include "gemm/run/product_queue.hpp"

#include "core/current_error.hpp"
#include "core/instantiate.hpp"
#include "core/quiet_region.hpp"
#include "gemm/plan/arguments.hpp"

#include <algorithm>

namespace heddle::impl {

template <Scalar T> ProductQueue<T>::~ProductQueue() {
  try {
    wait();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
    // A caller that needs the error has called wait(); a failed product does not use the workspace any more.
  }
}

template <Scalar T> const blas::Context& ProductQueue<T>::context_on(const ExecutionSpace& space) {
  const auto found = std::find_if(contexts_.begin(), contexts_.end(),
                                  [&](const blas::Context& context) { return context.space() == space; });
  if (found != contexts_.end()) return *found;
  // The context that is dropped may be in use.
  if (contexts_.size() == most_contexts) {
    wait();
    contexts_.erase(contexts_.begin());
  }
  return contexts_.emplace_back(space, executor_.facts().math);
}

template <Scalar T> void ProductQueue<T>::before(const ExecutionSpace& space) const {
  if (last_ && !(*last_ == space)) mark_.order(*last_, space);
}

template <Scalar T> void ProductQueue<T>::count(T alpha) {
  if (done_.products == 0) begin_ = Clock::now();
  ++done_.products;
  done_.moved += alpha != T{0} ? 1 : 0;
}

template <Scalar T>
void ProductQueue<T>::add_local(const ExecutionSpace& space, T alpha, const DistributedMatrix<T>& A,
                                const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C) {
  const bool takes_lanes = executor_.takes_lanes();
  const std::vector<blas::Context>& own = setting_.instances.lanes;
  const std::span<const blas::Context> lanes = takes_lanes ? std::span(own) : std::span(&context_on(space), 1);
  before(space);
  count(alpha);
  last_ = space;
  if (!takes_lanes) {
    executor_.run_local(lanes, alpha, A, B, beta, C);
    return;
  }
  for (const blas::Context& lane : lanes) mark_.order(space, lane.space());
  executor_.run_local(lanes, alpha, A, B, beta, C);
  for (const blas::Context& lane : lanes) mark_.order(lane.space(), space);
}

template <Scalar T>
void ProductQueue<T>::add(const ExecutionSpace& space, T alpha, const DistributedMatrix<T>& A,
                          const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C) {
  const QuietRegion region("heddle::gemm::enqueue");
  const Product& product = executor_.facts().product;
  if (executor_.is_local()) {
    require_operands<T>(setting_.comm, product, A, B, C);
    add_local(space, alpha, A, B, beta, C);
    return;
  }
  require_operands<T>(setting_.comm, product, alpha, A, B, beta, C);
  const ExecutionSpace& mine = setting_.comm.space();
  const bool elsewhere = !(space == mine);
  before(space);
  count(alpha);
  if (elsewhere) mark_.order(space, mine);
  // Until it is known to be on `space`.
  last_ = mine;
  setting_.recorder->stop();
  executor_.run(alpha, A, B, beta, C, Event::on(mine));
  if (elsewhere) mark_.order(mine, space);
  last_ = space;
}

template <Scalar T> void ProductQueue<T>::wait() {
  if (!last_) return;
  const ExecutionSpace space = *last_;
  last_.reset();
  try {
    space.fence("heddle::gemm::wait");
  } catch (...) {
    throw current_error();
  }
}

template <Scalar T> typename ProductQueue<T>::Done ProductQueue<T>::take() {
  Done done = std::exchange(done_, Done{});
  if (done.products > 0) done.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  return done;
}

#define HEDDLE_INSTANTIATE(T) template class ProductQueue<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
