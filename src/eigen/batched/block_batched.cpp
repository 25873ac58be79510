// Many Hermitian eigenproblems whose matrices are too large for a team's scratch memory: block columns of all of them
// are rotated side by side, and no matrix affects another.
#include "core/instantiate.hpp"
#include "eigen/batched/block_group.hpp"
#include "eigen/batched/library_vectors.hpp"
#include "eigen/batched/tridiagonal.hpp"
#include "eigen/dense/columns.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace heddle::eigen::impl {
namespace {

// Workspace for groups of at most `at_once` matrices, shared by one group after another.
template <Scalar T> struct Bench {
  Bench(const ExecutionSpace& space, Index n, int at_once)
      : kept(space, true), scratch(space, &kept), columns(scratch, n, n, 0, at_once) {}

  heddle::impl::Workspace kept;
  Scratch scratch;
  BlockColumns<T> columns;
  std::optional<blas::Context> context;  // Where a library's vectors are asked for.
  // Made when they are needed.
  std::optional<Beginning<T>> beginning;
  std::optional<Tridiagonals<T>> tridiagonals;
  std::optional<Refinement<T>> refinement;
};

// A group as an engine of solve_by(), which runs on the host here: what decides is a few numbers of each matrix.
template <Scalar T> class BlockEngine {
 public:
  using R = Real<T>;

  BlockEngine(Bench<T>& bench, const Batch<T>& batch, Index first, int count)
      : bench_(bench),
        scratch_(bench.scratch),
        space_(scratch_.space()),
        group_{batch, first, bench.columns.memory(),
               scratch_.template values<Member<R>>("heddle::eigen::members", static_cast<std::size_t>(count)),
               scratch_.template shaped<Kokkos::View<int**, Kokkos::LayoutLeft, MemorySpace>>("heddle::eigen::labels",
                                                                                              batch.rows(), count)},
        count_(count),
        progress_(static_cast<std::size_t>(count)),
        members_(static_cast<std::size_t>(count)),
        extremes_(to_host(space_, "heddle::eigen::extremes", looked<T>(scratch_, group_, count))),
        extremes_at_(extremes_.data()),
        tolerance_(batch.limits.tolerance) {}

  template <class Body> void each(const Body& body) {
    for (int slot = 0; slot < count_; ++slot) {
      body(slot, progress_[static_cast<std::size_t>(slot)]);
    }
  }

  // Kokkos functions, as other engines' are, of numbers that the host has.
  [[nodiscard]] KOKKOS_FUNCTION const Extremes<R>& look(int slot) const { return extremes_at_[slot]; }

  void prepare() {
    std::vector<int> factored;
    each([&](int slot, const Progress<R>& progress) {
      Member<R>& member = member_of(slot);
      member.exponent = progress.exponent;
      member.way = progress.is_diagonal()                   ? Way::diagonal
                   : progress.outcome.end == end_not_finite ? Way::not_finite
                                                            : Way::none;
      if (!progress.done() && may_be_definite(slot) && !(bench_.context && is_mild(slot))) {
        factored.push_back(slot);
      }
    });
    factor(factored, group_.columns);
    shift_others();
  }

  [[nodiscard]] bool unfinished() const {
    return std::any_of(progress_.begin(), progress_.end(), [](const Progress<R>& one) { return !one.done(); });
  }
  void sweep() {
    bench_.columns.choose(going_on([](const Progress<R>&) { return true; }));
    bench_.columns.all_steps(group_.batch.limits.tolerance);
    counts_ = bench_.columns.counts_of_each();
    counts_at_ = counts_.data();
  }
  [[nodiscard]] KOKKOS_FUNCTION const SweepCounts<R>& counts(int slot) const { return counts_at_[slot]; }
  [[nodiscard]] KOKKOS_FUNCTION bool found_nothing(int slot) const { return !(counts(slot).largest > tolerance_); }
  // Only small matrices have a history.
  KOKKOS_FUNCTION void note(int /*slot*/) const {}

  void finish() {
    store_columns<T>(
        scratch_, group_, count_, bench_.refinement ? bench_.refinement->w : Vectors<R>(),
        std::all_of(members_.begin(), members_.end(), [](const Member<R>& one) { return one.way == Way::refined; }));
    std::vector<Outcome> outcomes;
    for (const Progress<R>& one : progress_) {
      outcomes.push_back(one.outcome);
    }
    const auto begin = static_cast<std::size_t>(group_.first);
    Kokkos::deep_copy(space_, Kokkos::subview(group_.batch.outcomes, Kokkos::make_pair(begin, begin + outcomes.size())),
                      Kokkos::View<const Outcome*, Kokkos::HostSpace>(outcomes.data(), outcomes.size()));
    space_.fence("heddle::eigen::batched_vectors");
  }

 private:
  Member<R>& member_of(int slot) { return members_[static_cast<std::size_t>(slot)]; }
  void give_members() const {
    Kokkos::deep_copy(space_, group_.members,
                      Kokkos::View<const Member<R>*, Kokkos::HostSpace>(members_.data(), members_.size()));
    space_.fence("heddle::eigen::members");
  }
  [[nodiscard]] bool may_be_definite(int slot) const {
    return group_.batch.accuracy != JacobiAccuracy::norm && look(slot).least > 0;
  }
  // Whether diagonal elements differ so little that errors of a share of |A| are within those that accuracy `relative`
  // allows where A is positive definite: A = D S D, so the condition of A is at most that of S times their ratio.
  [[nodiscard]] bool is_mild(int slot) const {
    constexpr R ratio = 16;
    return group_.batch.accuracy == JacobiAccuracy::automatic && look(slot).largest <= ratio * look(slot).least;
  }
  // Cholesky factors of these matrices, of those that have one.
  void factor(const std::vector<int>& slots, const Matrices<T>& to) {
    for (const int slot : slots) {
      member_of(slot).way = Way::factored;
      member_of(slot).sorted = takes_largest_first(group_.batch.accuracy, look(slot).largest, look(slot).least) ? 1 : 0;
    }
    give_members();
    label_rows<T>(space_, group_, count_);
    if (slots.empty()) {
      return;
    }
    const Values<int> chosen = on_device(scratch_, "heddle::eigen::chosen", slots);
    fill_columns<T>(space_, group_, chosen, to);
    const std::vector<int> positive =
        to_host(space_, "heddle::eigen::positive", factor_columns<T>(scratch_, to, group_.rows(), chosen));
    for (std::size_t at = 0; at < slots.size(); ++at) {
      progress_[static_cast<std::size_t>(slots[at])].outcome.relative = positive[at];
    }
  }
  // Matrices that are not done and of which the predicate holds.
  template <class Predicate> std::vector<int> going_on(const Predicate& holds) {
    std::vector<int> slots;
    each([&](int slot, const Progress<R>& progress) {
      if (!progress.done() && holds(progress)) {
        slots.push_back(slot);
      }
    });
    return slots;
  }
  // Refined vectors or (A + shift I) Q where there is no factor: well conditioned, and nearly orthogonal already.
  void shift_others() {
    std::vector<int> others = going_on([](const Progress<R>& progress) { return !progress.relative(); });
    if (others.empty()) {
      return;
    }
    for (const int slot : others) {
      member_of(slot).way = Way::shifted;
      member_of(slot).sorted = 0;
    }
    give_members();
    label_rows<T>(space_, group_, count_);
    if (!bench_.beginning) {
      bench_.beginning.emplace(scratch_, group_.rows(), static_cast<int>(group_.columns.extent(2)));
    }
    const Beginning<T>& work = *bench_.beginning;
    fill_columns<T>(space_, group_, on_device(scratch_, "heddle::eigen::chosen", others), work.W);
    std::vector<R> bounds;
    if constexpr (heddle::impl::backend_has_batches) {
      if (bench_.context) {
        bounds = begin_at_library(others);
      }
    }
    if (!bench_.context) {
      bounds = begin_alone(others);
    }
    if (others.empty()) {
      give_members();
      return;
    }
    for (const int slot : others) {
      R& shift = bounds[static_cast<std::size_t>(slot)];
      shift *= R(1.5);
      member_of(slot).shift = shift;
    }
    give_members();
    const Values<int> chosen = on_device(scratch_, "heddle::eigen::chosen", others);
    fill_columns<T>(space_, group_, chosen, work.W);
    shifted_products<T>(space_, work, on_device(scratch_, "heddle::eigen::shifts", bounds), chosen, group_.columns);
  }
  // The vectors of a tridiagonalisation, for matrices that are filled in; gives bounds of the eigenvalues.
  std::vector<R> begin_alone(const std::vector<int>& slots) {
    if (!bench_.tridiagonals) {
      bench_.tridiagonals.emplace(scratch_, *bench_.beginning);
    }
    find_vectors<T>(space_, *bench_.tridiagonals, on_device(scratch_, "heddle::eigen::chosen", slots));
    return to_host(space_, "heddle::eigen::bounds", bench_.tridiagonals->bound);
  }
  // Replaces `others`, whose matrices are filled in, by those that still need rotations, with orthonormal vectors to
  // begin at in Q, and returns bounds of their eigenvalues. The rest is done.
  std::vector<R> begin_at_library(std::vector<int>& others) {
    if (!bench_.refinement) {
      bench_.refinement.emplace(scratch_, bench_.beginning->W, bench_.beginning->Q, group_.columns);
    }
    const Refined refined = library_vectors<T>(scratch_, *bench_.context, *bench_.refinement, others, tolerance_);
    const auto found = to_host(space_, "heddle::eigen::corrections", bench_.refinement->found);
    take_refined(refined.right, found);
    std::vector<R> bounds(group_.columns.extent(2));
    if (!refined.lost.empty()) {
      bounds = begin_alone(refined.lost);
    }
    for (const int slot : refined.orthonormal) {
      bounds[static_cast<std::size_t>(slot)] = found[static_cast<std::size_t>(slot)].norm;
    }
    others = refined.orthonormal;
    others.insert(others.end(), refined.lost.begin(), refined.lost.end());
    return bounds;
  }

  // These are done, but for those that may be positive definite and whose least eigenvalue came out as zero or less:
  // where they have Cholesky factors, rotations of these find it.
  void take_refined(const std::vector<int>& right, const std::vector<Correction<R>>& found) {
    std::vector<int> doubtful;
    for (const int slot : right) {
      member_of(slot).way = Way::refined;
      const Correction<R>& of = found[static_cast<std::size_t>(slot)];
      progress_[static_cast<std::size_t>(slot)].outcome.relative = is_mild(slot) && of.least > 0 ? 1 : 0;
      const R error = 10 * static_cast<R>(group_.rows()) * unit_roundoff<T> * of.norm;
      if (is_mild(slot) && of.least <= 0 && of.least >= -error) {
        doubtful.push_back(slot);
      }
    }
    if (!doubtful.empty()) {
      factor(doubtful, bench_.beginning->W);
      std::vector<int> definite;
      for (const int slot : doubtful) {
        if (progress_[static_cast<std::size_t>(slot)].relative()) {
          definite.push_back(slot);
        } else {
          member_of(slot).way = Way::refined;
          member_of(slot).sorted = 0;
        }
      }
      give_members();
      label_rows<T>(space_, group_, count_);
      copy_columns<T>(space_, bench_.beginning->W, group_.columns,
                      on_device(scratch_, "heddle::eigen::chosen", definite));
    }
    for (const int slot : right) {
      if (member_of(slot).way == Way::refined) {
        progress_[static_cast<std::size_t>(slot)].outcome.end = static_cast<int>(JacobiEnd::tolerance);
      }
    }
  }

  Bench<T>& bench_;
  const Scratch& scratch_;
  ExecutionSpace space_;
  Group<T> group_;
  int count_;
  std::vector<Progress<R>> progress_;
  std::vector<Member<R>> members_;
  std::vector<Extremes<R>> extremes_;
  std::vector<SweepCounts<R>> counts_;
  const Extremes<R>* extremes_at_;
  const SweepCounts<R>* counts_at_ = nullptr;
  R tolerance_;
};

}  // namespace

template <Scalar T> void solve_blocks(const ExecutionSpace& space, const Batch<T>& batch) {
  const Index n = batch.rows();
  const Index bytes = BlockColumns<T>::bytes_of_one(n, n, 0) + Tridiagonals<T>::bytes_of_one(n);
  std::optional<blas::Context> context;
  int at_once = 0;
  if constexpr (heddle::impl::backend_has_batches) {
    if (!batch.reproducible) {
      context.emplace(space);
      at_once = with_library_at_once<T>(*context, n, bytes + Refinement<T>::bytes_of_one(n), batch.count());
    }
  }
  if (!context) {
    at_once = matrices_at_once(bytes, batch.count());
  }
  Bench<T> bench(space, n, at_once);
  bench.context = context;
  for (Index first = 0; first < batch.count(); first += at_once) {
    BlockEngine<T> engine(bench, batch, first, static_cast<int>(std::min<Index>(at_once, batch.count() - first)));
    solve_by(engine, batch);
  }
}

#define HEDDLE_INSTANTIATE(T) template void solve_blocks<T>(const ExecutionSpace&, const Batch<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
