// Products that are given to an instance, one after the other, and not waited for.
#pragma once

#include "comm/vendor/queue.hpp"
#include "gemm/run/executor.hpp"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::impl {

/// Products of a plan that were not waited for. Each begins when the last one is over, on whatever instances they are:
/// they share the plan's workspace.
template <Scalar T> class ProductQueue {
 public:
  /// `setting` and `executor` outlive it.
  ProductQueue(const Setting& setting, Executor<T>& executor) : setting_(setting), executor_(executor) {}
  /// Waits, since the workspace is in use until then.
  ~ProductQueue();
  ProductQueue(const ProductQueue&) = delete;
  ProductQueue& operator=(const ProductQueue&) = delete;

  /// C = alpha op(A) op(B) + beta C on `space`. Collective over several ranks.
  void add(const ExecutionSpace& space, T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
           const DistributedMatrix<T>& C);
  /// Work given to `space` from now on comes after all products.
  void before(const ExecutionSpace& space) const;
  /// Mark all products as complete, because the caller knows that they are.
  void settle() { last_.reset(); }
  /// Blocks until all products are complete. Throws Error(computation) where one of them failed on the device.
  void wait();

  /// Number and time of products.
  struct Done {
    Index products = 0;
    double seconds = 0.0;  ///< From the first add() until now.
    Index moved = 0;       ///< Those with alpha other than 0, for which A and B were read.
  };
  /// Return the products since the last take(), which are complete.
  [[nodiscard]] Done take();

 private:
  using Clock = std::chrono::steady_clock;

  void add_local(const ExecutionSpace& space, T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                 T beta, const DistributedMatrix<T>& C);
  void count(T alpha);
  // The BLAS's context on an instance. A few are kept: making one takes longer than a small product, and memory.
  [[nodiscard]] const blas::Context& context_on(const ExecutionSpace& space);

  static constexpr std::size_t most_contexts = 4;

  const Setting& setting_;
  Executor<T>& executor_;
  std::vector<blas::Context> contexts_;  // The one that was made last is at the end.
  Mark mark_;
  std::optional<ExecutionSpace> last_;  // Instance of the last product, until that was waited for.
  Done done_;
  Clock::time_point begin_;
};

}  // namespace heddle::impl
