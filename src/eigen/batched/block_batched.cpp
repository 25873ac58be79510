// Many Hermitian eigenproblems whose matrices are too large for a team's scratch memory: block columns of all of them
// are rotated side by side, and what goes on in one matrix, no other sees.
#include "core/instantiate.hpp"
#include "eigen/batched/batch.hpp"
#include "eigen/batched/tridiagonal.hpp"
#include "eigen/dense/columns.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace heddle::eigen::impl {
namespace {

// What is done with a matrix, and how its eigenvalues follow from its columns.
enum class Way : int { none, not_finite, diagonal, factored, shifted };

template <class R> struct Member {
  Way way = Way::none;
  int sorted = 0;  // Whether rows and columns are taken by the diagonal's elements, the largest first.
  int exponent = 0;
  R shift = 0;
};

// A group of the batch's matrices on its way: those from `first` on.
template <Scalar T> struct Group {
  using R = Real<T>;
  Batch<T> batch;
  Index first;
  Matrices<T> columns;
  Kokkos::View<Member<R>*, MemorySpace> members;
  Kokkos::View<int**, Kokkos::LayoutLeft, MemorySpace> labels;  // Which row of the matrix is in a place.

  [[nodiscard]] KOKKOS_INLINE_FUNCTION int rows() const { return batch.rows(); }
  // Element (i, j) of a matrix as it was given, both triangles.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T given(int i, int j, int slot) const {
    const Index b = first + slot;
    if (i == j) {
      return T(real_part(batch.A(i, i, b)));
    }
    return (i < j) == batch.upper ? batch.A(i, j, b) : conjugate(batch.A(j, i, b));
  }
};

template <Scalar T> Values<Extremes<Real<T>>> looked(const ExecutionSpace& space, const Group<T>& group, int count) {
  using R = Real<T>;
  const int n = group.rows();
  const Values<Extremes<R>> found(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::extremes"),
                                  static_cast<std::size_t>(count));
  Kokkos::parallel_for(
      "heddle::eigen::batched_look", matrix_teams(space, count), KOKKOS_LAMBDA(const MatrixTeam& team) {
        const int slot = team.league_rank();
        R largest = 0;
        R off = 0;
        R least = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, n * n),
            [&](int at, R& most, R& beside, R& lowest) {
              const int i = at % n;
              const int j = at / n;
              if (i < j) {
                return;
              }
              const T value = group.given(i, j, slot);
              const R size = largest_part(value);
              most = Kokkos::fmax(most, size);
              if (i == j) {
                lowest = Kokkos::fmin(lowest, real_part(value));
              } else {
                beside = Kokkos::fmax(beside, size);
              }
            },
            Kokkos::Max<R>(largest), Kokkos::Max<R>(off), Kokkos::Min<R>(least));
        Kokkos::single(Kokkos::PerTeam(team), [&] { found(slot) = {Kokkos::fmax(largest, R(0)), least, !(off > 0)}; });
      });
  return found;
}

// Which row and column is in which place: by the diagonal's elements in descending order, or as they stand.
template <Scalar T> void label_rows(const ExecutionSpace& space, const Group<T>& group, int count) {
  using R = Real<T>;
  const int n = group.rows();
  Kokkos::parallel_for(
      "heddle::eigen::batched_labels", matrix_teams(space, count), KOKKOS_LAMBDA(const MatrixTeam& team) {
        const int slot = team.league_rank();
        const bool sorted = group.members(slot).sorted != 0;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
          const R value = real_part(group.given(i, i, slot));
          int place = sorted ? 0 : i;
          for (int k = 0; sorted && k < n; ++k) {
            const R other = real_part(group.given(k, k, slot));
            place += other > value || (other == value && k < i) ? 1 : 0;
          }
          group.labels(place, slot) = i;
        });
      });
}

// The chosen matrices, scaled, their rows and columns in the order of the labels.
template <Scalar T>
void fill_columns(const ExecutionSpace& space, const Group<T>& group, const Values<int>& chosen,
                  const Matrices<T>& to) {
  using R = Real<T>;
  const int n = group.rows();
  Kokkos::parallel_for(
      "heddle::eigen::batched_columns", column_teams(space, static_cast<Index>(chosen.extent(0)) * n),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const int slot = chosen(team.league_rank() / n);
        const int j = team.league_rank() % n;
        const Member<R> member = group.members(slot);
        const PowerOfTwo<R> down(-member.exponent);
        const int column = group.labels(j, slot);
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
          to(i, j, slot) = down.times(group.given(group.labels(i, slot), column, slot));
        });
      });
}

// L L^H = A in the place of A, for each chosen matrix; 1 where it is positive definite.
template <Scalar T>
Values<int> factor_columns(const ExecutionSpace& space, const Group<T>& group, const Values<int>& chosen) {
  using R = Real<T>;
  constexpr int panel = 8;
  const int n = group.rows();
  const Values<int> positive(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::positive"),
                             chosen.extent(0));
  const auto columns = group.columns;
  Kokkos::parallel_for(
      "heddle::eigen::batched_cholesky", matrix_teams(space, static_cast<int>(chosen.extent(0))),
      KOKKOS_LAMBDA(const MatrixTeam& team) {
        const auto A = Kokkos::subview(columns, Kokkos::ALL, Kokkos::ALL, chosen(team.league_rank()));
        for (int begin = 0; begin < n; begin += panel) {
          const int end = begin + panel < n ? begin + panel : n;
          for (int j = begin; j < end; ++j) {
            const R pivot = real_part(A(j, j));
            team.team_barrier();
            if (!(pivot > 0)) {
              Kokkos::single(Kokkos::PerTeam(team), [&] { positive(team.league_rank()) = 0; });
              return;
            }
            const R root = Kokkos::sqrt(pivot);
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, j, n),
                                 [&](int i) { A(i, j) = i == j ? T(root) : A(i, j) / root; });
            team.team_barrier();
            for (int k = j + 1; k < end; ++k) {
              const T by = -conjugate(A(k, j));
              Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k, n),
                                   [&](int i) { A(i, k) = multiply_add<T>(A(i, j), by, A(i, k)); });
            }
            team.team_barrier();
          }
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, end, n), [&](int k) {
            Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, k, n), [&](int i) {
              T sum = A(i, k);
              for (int at = begin; at < end; ++at) {
                sum = multiply_add<T>(A(i, at), -conjugate(A(k, at)), sum);
              }
              A(i, k) = sum;
            });
          });
          team.team_barrier();
        }
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 1, n), [&](int j) {
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, j), [&](int i) { A(i, j) = T(0); });
        });
        Kokkos::single(Kokkos::PerTeam(team), [&] { positive(team.league_rank()) = 1; });
      });
  return positive;
}

// Eigenvalues in order, and columns of length 1 in the places of their vectors.
template <Scalar T> void store_columns(const ExecutionSpace& space, const Group<T>& group, int count) {
  using R = Real<T>;
  const int n = group.rows();
  const auto squares = squared_lengths<T>(space, group.columns, n, n, count);
  const Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> values(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::values"), static_cast<std::size_t>(n),
      static_cast<std::size_t>(count));
  Kokkos::parallel_for(
      "heddle::eigen::batched_values", Kokkos::RangePolicy<ExecutionSpace>(space, 0, count * n), KOKKOS_LAMBDA(int at) {
        const int slot = at / n;
        const int j = at % n;
        const Member<R> member = group.members(slot);
        const double square = squares(j, slot);
        // A diagonal is returned as it was given: scaled, the least of it might vanish.
        values(j, slot) = member.way == Way::diagonal   ? static_cast<double>(real_part(group.given(j, j, slot)))
                          : member.way == Way::factored ? square
                                                        : Kokkos::sqrt(square) - static_cast<double>(member.shift);
      });
  Kokkos::parallel_for(
      "heddle::eigen::batched_vectors", column_teams(space, static_cast<Index>(count) * n),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const int slot = team.league_rank() / n;
        const int j = team.league_rank() % n;
        const Index b = group.first + slot;
        const Member<R> member = group.members(slot);
        if (member.way == Way::none) {
          return;
        }
        if (member.way == Way::not_finite) {
          const R nothing = Kokkos::Experimental::quiet_NaN_v<R>;
          Kokkos::single(Kokkos::PerTeam(team), [&] { group.batch.w(j, b) = nothing; });
          if (group.batch.vectors) {
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) { group.batch.V(i, j, b) = T(nothing); });
          }
          return;
        }
        const double value = values(j, slot);
        int place = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, n),
            [&](int k, int& before) {
              const double other = values(k, slot);
              before += other < value || (other == value && k < j) ? 1 : 0;
            },
            place);
        const bool diagonal = member.way == Way::diagonal;
        const PowerOfTwo<double> up(diagonal ? 0 : member.exponent);
        Kokkos::single(Kokkos::PerTeam(team), [&] { group.batch.w(place, b) = static_cast<R>(up.times(value)); });
        if (group.batch.vectors) {
          const double square = squares(j, slot);
          const R factor = square > 0 ? static_cast<R>(1 / Kokkos::sqrt(square)) : R(0);
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
            const T element = diagonal ? (i == j ? T(1) : T(0)) : group.columns(i, j, slot) * factor;
            group.batch.V(diagonal ? i : group.labels(i, slot), place, b) = element;
          });
        }
      });
}

// A group as an engine of solve_by(), which runs on the host here: what decides is a few numbers of each matrix.
template <Scalar T> class BlockEngine {
 public:
  using R = Real<T>;

  BlockEngine(const ExecutionSpace& space, BlockColumns<T>& columns, std::optional<Tridiagonals<T>>& tridiagonals,
              const Batch<T>& batch, Index first, int count)
      : space_(space),
        columns_(columns),
        tridiagonals_(tridiagonals),
        group_{
            batch, first, columns.memory(),
            Kokkos::View<Member<R>*, MemorySpace>(
                Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::members"), count),
            Kokkos::View<int**, Kokkos::LayoutLeft, MemorySpace>(
                Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::labels"), batch.rows(), count)},
        count_(count),
        progress_(static_cast<std::size_t>(count)),
        members_(static_cast<std::size_t>(count)),
        extremes_(to_host(space, "heddle::eigen::extremes", looked<T>(space, group_, count))),
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
      const Extremes<R>& found = look(slot);
      Member<R>& member = member_of(slot);
      member.exponent = progress.exponent;
      member.way = progress.is_diagonal()                   ? Way::diagonal
                   : progress.outcome.end == end_not_finite ? Way::not_finite
                                                            : Way::none;
      if (!progress.done() && group_.batch.accuracy != JacobiAccuracy::norm && found.least > 0) {
        member.way = Way::factored;
        member.sorted = takes_largest_first(group_.batch.accuracy, found.largest, found.least) ? 1 : 0;
        factored.push_back(slot);
      }
    });
    give_members();
    label_rows<T>(space_, group_, count_);
    if (!factored.empty()) {
      const Values<int> chosen = on_device(space_, "heddle::eigen::chosen", factored);
      fill_columns<T>(space_, group_, chosen, group_.columns);
      const std::vector<int> positive =
          to_host(space_, "heddle::eigen::positive", factor_columns<T>(space_, group_, chosen));
      for (std::size_t at = 0; at < factored.size(); ++at) {
        progress_[static_cast<std::size_t>(factored[at])].outcome.relative = positive[at];
      }
    }
    shift_others();
  }

  [[nodiscard]] bool unfinished() const {
    return std::any_of(progress_.begin(), progress_.end(), [](const Progress<R>& one) { return !one.done(); });
  }
  void sweep() {
    columns_.choose(going_on([](const Progress<R>&) { return true; }));
    columns_.all_steps(group_.batch.limits.tolerance);
    counts_ = columns_.counts_of_each();
    counts_at_ = counts_.data();
  }
  [[nodiscard]] KOKKOS_FUNCTION const SweepCounts<R>& counts(int slot) const { return counts_at_[slot]; }
  [[nodiscard]] KOKKOS_FUNCTION bool found_nothing(int slot) const { return !(counts(slot).largest > tolerance_); }
  // Only small matrices have a history.
  KOKKOS_FUNCTION void note(int /*slot*/) const {}

  void finish() {
    store_columns<T>(space_, group_, count_);
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
  // (A + shift I) Q where there is no factor: well conditioned, and nearly orthogonal already.
  void shift_others() {
    const std::vector<int> others = going_on([](const Progress<R>& progress) { return !progress.relative(); });
    if (others.empty()) {
      return;
    }
    for (const int slot : others) {
      member_of(slot).way = Way::shifted;
      member_of(slot).sorted = 0;
    }
    give_members();
    label_rows<T>(space_, group_, count_);
    if (!tridiagonals_) {
      tridiagonals_.emplace(space_, group_.rows(), static_cast<int>(group_.columns.extent(2)));
    }
    const Values<int> chosen = on_device(space_, "heddle::eigen::chosen", others);
    fill_columns<T>(space_, group_, chosen, tridiagonals_->W);
    find_vectors<T>(space_, *tridiagonals_, chosen);
    std::vector<R> shifts = to_host(space_, "heddle::eigen::bounds", tridiagonals_->bound);
    for (const int slot : others) {
      R& shift = shifts[static_cast<std::size_t>(slot)];
      shift *= R(1.5);
      member_of(slot).shift = shift;
    }
    give_members();
    fill_columns<T>(space_, group_, chosen, tridiagonals_->W);
    shifted_products<T>(space_, *tridiagonals_, on_device(space_, "heddle::eigen::shifts", shifts), chosen,
                        group_.columns);
  }

  ExecutionSpace space_;
  BlockColumns<T>& columns_;
  std::optional<Tridiagonals<T>>& tridiagonals_;  // Made when they are needed, and kept for the next group.
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
  const int at_once =
      matrices_at_once(BlockColumns<T>::bytes_of_one(n, n, 0) + Tridiagonals<T>::bytes_of_one(n), batch.count());
  std::optional<Tridiagonals<T>> tridiagonals;
  BlockColumns<T> columns(space, n, n, 0, at_once);
  for (Index first = 0; first < batch.count(); first += at_once) {
    BlockEngine<T> engine(space, columns, tridiagonals, batch, first,
                          static_cast<int>(std::min<Index>(at_once, batch.count() - first)));
    solve_by(engine, batch);
  }
}

#define HEDDLE_INSTANTIATE(T) template void solve_blocks<T>(const ExecutionSpace&, const Batch<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
