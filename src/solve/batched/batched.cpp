// Batches of systems, inverses and determinants: small matrices by the threads of a CPU, the others one after the
// other.
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "core/on_host.hpp"
#include "solve/batched/small_system.hpp"
#include "solve/grid/factorization.hpp"
#include <heddle/solve/batched.hpp>
#include <heddle/transpose/transpose.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <vector>

namespace heddle::compiled {
namespace {

using namespace impl;

template <class T> StridedMatrix<T> matrix_of(const StridedBatch<T>& batch, Index b) {
  return StridedMatrix<T>(batch.data() + b * static_cast<Index>(batch.stride(2)),
                          Kokkos::LayoutStride(batch.extent(0), batch.stride(0), batch.extent(1), batch.stride(1)));
}
template <class T> SmallView<T> small_view_of(const StridedBatch<T>& batch, Index b) {
  return {batch.data() + b * static_cast<Index>(batch.stride(2)), static_cast<Index>(batch.stride(0)),
          static_cast<Index>(batch.stride(1))};
}

/// A column-major copy of a matrix of a batch.
template <Scalar T> class Columns {
 public:
  Columns(const ExecutionSpace& space, Index rows, Index columns)
      : space_(space),
        copy_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::columns"),
              static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)) {}
  void take(const StridedMatrix<const T>& M) const { transpose(space_, T(1), M, Operation::none, copy_); }
  void give(const StridedMatrix<T>& M) const { transpose(space_, T(1), copy_, Operation::none, M); }
  [[nodiscard]] MatrixView<T> view() const {
    return matrix_view(copy_.data(), static_cast<Index>(copy_.extent(0)), static_cast<Index>(copy_.extent(1)),
                       std::max<Index>(static_cast<Index>(copy_.extent(0)), 1));
  }

 private:
  ExecutionSpace space_;
  LocalMatrix<T> copy_;
};

/// Outcomes of the matrices of a batch, and the report of progress. Pieces of a batch are launched one after the other,
/// so that progress and interruptions are heard between them.
class Batch {
 public:
  Batch(const ExecutionSpace& space, Index order, Index count, const FactorOptions& options)
      : space_(space),
        order_(order),
        count_(count),
        options_(options),
        outcomes_(static_cast<std::size_t>(count), SmallOutcome::open) {}

  /// Whether one panel holds a matrix, and threads work on the host: the bits of small systems are then those of
  /// chains.
  [[nodiscard]] bool is_small() const {
    return on_host && order_ > 0 && order_ <= largest_small_system && options_.memory_limit == 0 &&
           (options_.block == 0 || options_.block >= order_);
  }
  /// Sets the outcome of each small matrix: make() returns a thread's worker, and work(worker, b) the outcome.
  template <class Make, class Work> void by_threads(Index columns, const Make& make, const Work& work) {
    if constexpr (on_host) {
      const double cost = 1000.0 + 20.0 * static_cast<double>(order_ * order_ * (order_ + columns));
      const auto at_once = [&](double operations) { return std::max<Index>(1, static_cast<Index>(operations / cost)); };
      const Index task = at_once(1e6);
      const Index piece = std::max(at_once(2e9), task);
      SmallOutcome* const outcomes = outcomes_.data();
      for (Index begin = 0; begin < count_; begin += piece) {
        const Index end = std::min(begin + piece, count_);
        Kokkos::parallel_for(
            "heddle::solve::batched",
            Kokkos::RangePolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>(
                space_, 0, (end - begin + task - 1) / task, Kokkos::ChunkSize(1)),
            [=, &make, &work](Index t) {
              auto worker = make();
              const Index first = begin + t * task;
              for (Index b = first; b < std::min(first + task, end); ++b) outcomes[b] = work(worker, b);
            });
        space_.fence("heddle::solve::batched");
        done_ = end;
        report(std::count(outcomes + begin, outcomes + end, SmallOutcome::open));
      }
    }
  }
  /// Calls work(b) for the matrices that are left, in order.
  template <class Work> void one_by_one(const Work& work) {
    for (Index b = 0; b < count_; ++b) {
      if (outcomes_[static_cast<std::size_t>(b)] != SmallOutcome::open) continue;
      work(b);
      if (done_ < count_) ++done_;
      report(0);
    }
  }
  [[nodiscard]] bool has_open() const {
    return std::find(outcomes_.begin(), outcomes_.end(), SmallOutcome::open) != outcomes_.end();
  }
  /// Options for one matrix of the batch.
  [[nodiscard]] FactorOptions of_one() const {
    FactorOptions options = options_;
    options.progress = {};
    return options;
  }

 private:
  void report(Index open) {
    done_ -= open;
    if (options_.progress) options_.progress(static_cast<double>(done_) / static_cast<double>(count_));
  }

  ExecutionSpace space_;
  Index order_;
  Index count_;
  FactorOptions options_;
  std::vector<SmallOutcome> outcomes_;
  Index done_ = 0;
};

// Calls work.template operator()<fixed>() with the order if it is among the smallest, whose loops are then known to the
// compiler, or 0.
template <class Work> void with_order(Index order, const Work& work) {
  switch (order) {
    case 2:
      return work.template operator()<2>();
    case 3:
      return work.template operator()<3>();
    case 4:
      return work.template operator()<4>();
    default:
      return work.template operator()<0>();
  }
}

template <class View> Index extent_of(const View& view, int axis) {
  return static_cast<Index>(view.extent(axis));
}
template <class View> void require_square_batch(const char* of, const View& A, const FactorOptions& options) {
  const Index n = extent_of(A, 0);
  require(extent_of(A, 1) == n, of, ": A is ", n, " x ", A.extent(1), " each; expected square matrices");
  require_lu_options(of, n, n, options);
  require_grid(of, options, 1);
}
template <class View>
void require_shape(const char* of, const char* name, const View& M, Index rows, Index columns, Index count) {
  require(extent_of(M, 0) == rows && extent_of(M, 1) == columns && extent_of(M, 2) == count, of, ": ", name, " is ",
          M.extent(0), " x ", M.extent(1), " x ", M.extent(2), "; expected ", rows, " x ", columns, " x ", count);
}

// Results of a stride of 0 would be written over each other.
template <class View> void require_own_elements(const char* of, const View& X) {
  for (int axis = 0; axis < 3; ++axis) {
    require(X.size() == 0 || extent_of(X, axis) <= 1 || X.stride(axis) != 0, of, ": X has a stride of 0 along extent ",
            axis, "; expected an element of its own for each result");
  }
}

// Whether each matrix of X has the elements of its own matrix of A, which is read before X is written.
template <class T> bool is_in_place_of(const StridedBatch<const T>& A, const StridedBatch<T>& X) {
  const bool alike = A.stride(0) == X.stride(0) && A.stride(1) == X.stride(1);
  const bool turned = A.stride(0) == X.stride(1) && A.stride(1) == X.stride(0);
  return A.data() == X.data() && A.extent(1) == X.extent(1) && A.stride(2) == X.stride(2) && (alike || turned);
}

// Merge the matrices without a pivot, which no function for one matrix has seen, with the others.
std::vector<BatchedSystem> in_order(const std::vector<Index>& infos, const std::vector<BatchedSystem>& others) {
  std::vector<BatchedSystem> found;
  auto other = others.begin();
  for (std::size_t b = 0; b < infos.size(); ++b) {
    if (other != others.end() && other->matrix == static_cast<Index>(b)) {
      found.push_back(*other++);
    } else if (infos[b] != 0) {
      found.push_back({.matrix = static_cast<Index>(b), .info = infos[b]});
    }
  }
  return found;
}

}  // namespace

template <Scalar T>
SolveBatchedReport solve_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                 const StridedBatch<const T>& B, const StridedBatch<T>& X,
                                 const SolveOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::solve_batched");
  const Index n = extent_of(A, 0);
  const Index columns = extent_of(B, 1);
  const Index count = extent_of(A, 2);
  require_square_batch("solve_batched", A, options.factorization);
  require_shape("solve_batched", "B", B, n, columns, count);
  require_shape("solve_batched", "X", X, n, columns, count);
  require(options.refinements >= 0, "solve_batched: ", options.refinements, " refinements; expected 0 or more");
  require(!options.certificate, "solve_batched: certificate is set; certificates are solve()'s");
  require(options.rounding == Rounding::computed, "solve_batched: rounding is correct; expected computed");
  require_own_elements("solve_batched", X);
  if (!is_in_place_of(A, X)) heddle::impl::require_apart("solve_batched", "A", A, "X", X);
  if (!is_in_place_of(B, X)) heddle::impl::require_apart("solve_batched", "B", B, "X", X);

  std::vector<Index> infos(static_cast<std::size_t>(count), 0);
  Batch batch(space, n, count, options.factorization);
  if (batch.is_small()) {
    Index* const info = infos.data();
    with_order(n, [&]<Index fixed>() {
      batch.by_threads(
          columns, [=] { return SmallSystem<T, fixed>(n, columns); },
          [=, &options](SmallSystem<T, fixed>& system, Index b) {
            return system.solve(small_view_of(A, b), small_view_of(B, b), small_view_of(X, b), options, info[b]);
          });
    });
  }
  std::vector<BatchedSystem> others;
  if (batch.has_open()) {
    const Columns<T> a(space, n, n);
    const Columns<T> right(space, n, columns);
    const Columns<T> x(space, n, columns);
    SolveOptions one = options;
    one.factorization = batch.of_one();
    one.measure = false;
    batch.one_by_one([&](Index b) {
      a.take(matrix_of(A, b));
      right.take(matrix_of(B, b));
      const SolveReport found = solve<T>(space, a.view(), right.view(), x.view(), one);
      infos[static_cast<std::size_t>(b)] = 0;
      if (found.factorization.info == 0) x.give(matrix_of(X, b));
      if (found.factorization.info != 0 || found.ill_conditioned || found.overflow != 0) {
        others.push_back({b, found.factorization.info, found.ill_conditioned, found.scaled_condition, found.overflow});
      }
    });
    space.fence("heddle::solve::batched");
  }
  return {in_order(infos, others)};
}

template <Scalar T>
SolveBatchedReport inverse_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                   const StridedBatch<T>& X, const FactorOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::inverse_batched");
  const Index n = extent_of(A, 0);
  const Index count = extent_of(A, 2);
  require_square_batch("inverse_batched", A, options);
  require_shape("inverse_batched", "X", X, n, n, count);
  require_own_elements("inverse_batched", X);
  if (!is_in_place_of(A, X)) heddle::impl::require_apart("inverse_batched", "A", A, "X", X);

  std::vector<Index> infos(static_cast<std::size_t>(count), 0);
  Batch batch(space, n, count, options);
  if (batch.is_small()) {
    Index* const info = infos.data();
    with_order(n, [&]<Index fixed>() {
      batch.by_threads(
          n, [=] { return SmallSystem<T, fixed>(n, n); },
          [=](SmallSystem<T, fixed>& system, Index b) {
            return system.invert(small_view_of(A, b), small_view_of(X, b), info[b]);
          });
    });
  }
  std::vector<BatchedSystem> others;
  if (batch.has_open()) {
    const Columns<T> a(space, n, n);
    const FactorOptions one = batch.of_one();
    batch.one_by_one([&](Index b) {
      a.take(matrix_of(A, b));
      const InverseReport found = inverse<T>(space, a.view(), one);
      infos[static_cast<std::size_t>(b)] = found.info;
      if (found.info == 0) a.give(matrix_of(X, b));
      if (found.ill_conditioned) others.push_back({b, 0, true, found.scaled_condition, 0});
    });
    space.fence("heddle::solve::batched");
  }
  return {in_order(infos, others)};
}

template <Scalar T>
std::vector<Determinant<T>> determinant_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                                                const FactorOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::determinant_batched");
  const Index n = extent_of(A, 0);
  const Index count = extent_of(A, 2);
  require_square_batch("determinant_batched", A, options);

  std::vector<Determinant<T>> found(static_cast<std::size_t>(count));
  Batch batch(space, n, count, options);
  if (batch.is_small()) {
    Determinant<T>* const results = found.data();
    with_order(n, [&]<Index fixed>() {
      batch.by_threads(
          0, [=] { return SmallSystem<T, fixed>(n, 0); },
          [=](SmallSystem<T, fixed>& system, Index b) { return system.determinant(small_view_of(A, b), results[b]); });
    });
  }
  if (batch.has_open()) {
    const Columns<T> a(space, n, n);
    const FactorOptions one = batch.of_one();
    batch.one_by_one([&](Index b) {
      a.take(matrix_of(A, b));
      found[static_cast<std::size_t>(b)] = determinant<T>(space, a.view(), one);
    });
  }
  return found;
}

#define HEDDLE_INSTANTIATE(T)                                                                                      \
  template SolveBatchedReport solve_batched<T>(const ExecutionSpace&, const StridedBatch<const T>&,                \
                                               const StridedBatch<const T>&, const StridedBatch<T>&,               \
                                               const SolveOptions&);                                               \
  template SolveBatchedReport inverse_batched<T>(const ExecutionSpace&, const StridedBatch<const T>&,              \
                                                 const StridedBatch<T>&, const FactorOptions&);                    \
  template std::vector<Determinant<T>> determinant_batched<T>(const ExecutionSpace&, const StridedBatch<const T>&, \
                                                              const FactorOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::compiled
