// Singular values and vectors of many matrices: QR with column pivoting, then rotations of the columns of R^H.
#include "core/instantiate.hpp"
#include "eigen/batched/batch.hpp"
#include "eigen/batched/pivoted_qr.hpp"
#include "eigen/dense/columns.hpp"
#include <heddle/eigen/svd.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

namespace heddle::eigen::impl {
namespace {

// A group of the matrices on its way: those from `first` on, as they are or, of more columns than rows, as adjoints.
template <Scalar T> struct SvdGroup {
  using R = Real<T>;
  StridedBatch<const T> A;
  StridedMatrix<R> s;
  StridedBatch<T> U;
  StridedBatch<T> V;
  bool vectors;
  Index first;
  int count;
  Values<int> exponents;  // Powers of two that elements are divided by.
  Values<int> finite;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_wide() const { return A.extent(0) < A.extent(1); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int rows() const {
    return static_cast<int>(is_wide() ? A.extent(1) : A.extent(0));
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int columns() const {
    return static_cast<int>(is_wide() ? A.extent(0) : A.extent(1));
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T given(int i, int j, int slot) const {
    return is_wide() ? conjugate(A(j, i, first + slot)) : A(i, j, first + slot);
  }
};

// How large elements are, and whether all are finite.
template <Scalar T> void find_scales(const ExecutionSpace& space, const SvdGroup<T>& group) {
  using R = Real<T>;
  const int m = group.rows();
  const int n = group.columns();
  Kokkos::parallel_for(
      "heddle::eigen::svd_scales", matrix_teams(space, group.count), KOKKOS_LAMBDA(const MatrixTeam& team) {
        const int slot = team.league_rank();
        R largest = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, static_cast<Index>(m) * n),
            [&](Index at, R& most) {
              most = Kokkos::fmax(most,
                                  largest_part(group.given(static_cast<int>(at % m), static_cast<int>(at / m), slot)));
            },
            Kokkos::Max<R>(largest));
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          const bool finite = Kokkos::isfinite(largest);
          group.finite(slot) = finite ? 1 : 0;
          group.exponents(slot) = finite && largest > 0 ? exponent_above(largest) : 0;
        });
      });
}

// The chosen matrices, scaled.
template <Scalar T>
void fill_scaled(const ExecutionSpace& space, const SvdGroup<T>& group, const Values<int>& chosen,
                 const Matrices<T>& W) {
  const int m = group.rows();
  const int n = group.columns();
  Kokkos::parallel_for(
      "heddle::eigen::svd_scaled", column_teams(space, static_cast<Index>(chosen.extent(0)) * n),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const int slot = chosen(team.league_rank() / n);
        const int j = team.league_rank() % n;
        const PowerOfTwo<Real<T>> down(-group.exponents(slot));
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, m),
                             [&](int i) { W(i, j, slot) = down.times(group.given(i, j, slot)); });
      });
}

// The columns of R^H, and an identity below them where there are rows for it.
template <Scalar T>
void fill_adjoints(const ExecutionSpace& space, const PivotedQr<T>& qr, const Values<int>& chosen,
                   const BlockColumns<T>& columns, bool vectors) {
  const int n = qr.n;
  const Matrices<T> X = columns.memory();
  const int below = static_cast<int>(columns.carried_begin());
  Kokkos::parallel_for(
      "heddle::eigen::svd_columns", column_teams(space, static_cast<Index>(chosen.extent(0)) * n),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const int slot = chosen(team.league_rank() / n);
        const int j = team.league_rank() % n;
        const Real<T> diagonal = qr.diagonal(j, slot);
        const bool is_zero = diagonal == 0;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
          X(i, j, slot) = is_zero || i < j ? T(0) : i == j ? T(diagonal) : conjugate(qr.W(j, i, slot));
          if (vectors) {
            X(below + i, j, slot) = T(i == j ? 1 : 0);
          }
        });
      });
}

// C = [W; 0], of the products of rotations that lie below the columns.
template <Scalar T>
void take_products(const ExecutionSpace& space, const BlockColumns<T>& columns, const Values<int>& chosen,
                   const Matrices<T>& C) {
  const int m = static_cast<int>(C.extent(0));
  const int n = static_cast<int>(C.extent(1));
  const Matrices<T> X = columns.memory();
  const int below = static_cast<int>(columns.carried_begin());
  Kokkos::parallel_for(
      "heddle::eigen::svd_products", column_teams(space, static_cast<Index>(chosen.extent(0)) * n),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const int slot = chosen(team.league_rank() / n);
        const int j = team.league_rank() % n;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, m),
                             [&](int i) { C(i, j, slot) = i < n ? X(below + i, j, slot) : T(0); });
      });
}

// Singular values in descending order, and their vectors: columns of C, and rows of X where pivoting had them from.
template <Scalar T>
void store_vectors(const ExecutionSpace& space, const SvdGroup<T>& group, const PivotedQr<T>& qr,
                   const Vectors<double>& squares, const Matrices<T>& X, const Matrices<T>& C) {
  using R = Real<T>;
  const int m = group.rows();
  const int n = group.columns();
  Kokkos::parallel_for(
      "heddle::eigen::svd_vectors", column_teams(space, static_cast<Index>(group.count) * n),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const int slot = team.league_rank() / n;
        const int j = team.league_rank() % n;
        const Index b = group.first + slot;
        const bool finite = group.finite(slot) != 0;
        const double square = squares(j, slot);
        int place = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, n),
            [&](int k, int& before) {
              const double other = squares(k, slot);
              before += other > square || (other == square && k < j) ? 1 : 0;
            },
            place);
        place = finite ? place : j;
        const R nothing = Kokkos::Experimental::quiet_NaN_v<R>;
        const PowerOfTwo<double> up(group.exponents(slot));
        Kokkos::single(Kokkos::PerTeam(team),
                       [&] { group.s(place, b) = finite ? static_cast<R>(up.times(Kokkos::sqrt(square))) : nothing; });
        if (!group.vectors) {
          return;
        }
        const StridedBatch<T>& left = group.is_wide() ? group.V : group.U;
        const StridedBatch<T>& right = group.is_wide() ? group.U : group.V;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, m),
                             [&](int i) { left(i, place, b) = finite ? C(i, j, slot) : T(nothing); });
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](int i) {
          right(finite ? qr.labels(i, slot) : i, place, b) = finite ? X(i, j, slot) : T(nothing);
        });
      });
}

// Workspace that all groups share, and the outcomes of all matrices.
template <Scalar T> struct SvdRun {
  const ExecutionSpace& space;
  PivotedQr<T> qr;
  BlockColumns<T> columns;
  Matrices<T> C;
  SvdBatchedOptions options;
  std::vector<Outcome> outcomes;
};

// The columns of the chosen matrices rotated until they are orthogonal.
template <Scalar T> std::vector<Outcome> orthogonalise_all(SvdRun<T>& run, int n, int count, std::vector<int> chosen) {
  using R = Real<T>;
  const R tolerance = criterion_for<T>(run.options.tolerance, n).tolerance;
  std::vector<Progress<R>> progress(static_cast<std::size_t>(count));
  for (Progress<R>& one : progress) {
    one.outcome.end = end_not_finite;
  }
  for (const int slot : chosen) {
    Outcome& outcome = progress[static_cast<std::size_t>(slot)].outcome;
    outcome.end = static_cast<int>(JacobiEnd::sweep_limit);
    outcome.relative = 1;
  }
  for (int sweep = 0; sweep < run.options.sweeps && !chosen.empty(); ++sweep) {
    run.columns.choose(chosen);
    run.columns.all_steps(tolerance);
    const std::vector<SweepCounts<R>> counts = run.columns.counts_of_each();
    std::vector<int> left;
    for (const int slot : chosen) {
      const auto at = static_cast<std::size_t>(slot);
      progress[at].end_sweep(counts[at], !(counts[at].largest > tolerance), tolerance, n);
      if (!progress[at].done()) {
        left.push_back(slot);
      }
    }
    chosen = left;
  }
  std::vector<Outcome> outcomes;
  for (const Progress<R>& one : progress) {
    outcomes.push_back(one.outcome);
  }
  return outcomes;
}

// One group; gives the matrices whose elements span more than their type's squares can.
template <Scalar T> std::vector<int> solve_group(SvdRun<T>& run, const SvdGroup<T>& group) {
  const ExecutionSpace& space = run.space;
  const int m = group.rows();
  const int n = group.columns();
  find_scales<T>(space, group);
  const std::vector<int> finite = to_host(space, "heddle::eigen::svd_scales", group.finite);
  std::vector<int> slots;
  for (int slot = 0; slot < group.count; ++slot) {
    if (finite[static_cast<std::size_t>(slot)] != 0) {
      slots.push_back(slot);
    }
  }
  std::vector<int> spread;
  if (!slots.empty()) {
    const Values<int> chosen = on_device(space, "heddle::eigen::chosen", slots);
    fill_scaled<T>(space, group, chosen, run.qr.W);
    factor<T>(space, run.qr, chosen);
    fill_adjoints<T>(space, run.qr, chosen, run.columns, group.vectors);
    if (std::is_same_v<Real<T>, float>) {
      const std::vector<int> cut = to_host(space, "heddle::eigen::cut", run.qr.cut);
      std::copy_if(slots.begin(), slots.end(), std::back_inserter(spread),
                   [&](int slot) { return cut[static_cast<std::size_t>(slot)] != 0; });
    }
    const std::vector<Outcome> found = orthogonalise_all<T>(run, n, group.count, slots);
    std::copy(found.begin(), found.end(), run.outcomes.begin() + group.first);
  }
  const Matrices<T> X = run.columns.memory();
  const Vectors<double> squares = squared_lengths<T>(space, X, n, n, group.count);
  if (group.vectors && !slots.empty()) {
    const Values<int> chosen = on_device(space, "heddle::eigen::chosen", slots);
    complete_columns<T>(space, X, squares, n, chosen);
    take_products<T>(space, run.columns, chosen, run.C);
    apply_reflectors<T>(space, run.qr.W, run.qr.tau, run.C, chosen, m, n, 0, n, false);
  }
  store_vectors<T>(space, group, run.qr, squares, X, run.C);
  space.fence("heddle::eigen::svd_vectors");
  return spread;
}

}  // namespace

template <Scalar To, Scalar From>
void copy_batch(const ExecutionSpace& space, const StridedBatch<const From>& from, const Values<int>& at, bool gather,
                const StridedBatch<To>& to) {
  const auto rows = static_cast<int>(from.extent(0));
  const auto columns = static_cast<int>(from.extent(1));
  Kokkos::parallel_for(
      "heddle::eigen::svd_widened", column_teams(space, static_cast<Index>(at.extent(0)) * columns),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const int slot = team.league_rank() / columns;
        const int j = team.league_rank() % columns;
        const int source = gather ? at(slot) : slot;
        const int target = gather ? slot : at(slot);
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, rows),
                             [&](int i) { to(i, j, target) = static_cast<To>(from(i, j, source)); });
      });
}

// Those matrices of a batch in double, rounded.
template <Scalar T>
void solve_wider_batch(const ExecutionSpace& space, const SvdGroup<T>& group, const std::vector<int>& which,
                       const SvdBatchedOptions& asked, std::vector<Outcome>& outcomes) {
  using W = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  const std::size_t m = group.A.extent(0);
  const std::size_t n = group.A.extent(1);
  const std::size_t k = std::min(m, n);
  const std::size_t count = which.size();
  const auto with = [&](const char* label) {
    return Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label));
  };
  const Matrices<W> A(with("heddle::eigen::wide"), m, n, count);
  const Matrices<W> U(with("heddle::eigen::wide_left"), m, k, count);
  const Matrices<W> V(with("heddle::eigen::wide_right"), n, k, count);
  const Vectors<double> s(with("heddle::eigen::wide_values"), k, count);
  const Values<int> at = on_device(space, "heddle::eigen::chosen", which);
  copy_batch<W, T>(space, group.A, at, true, strided(A));
  SvdBatchedOptions options = asked;
  options.tolerance = static_cast<double>(criterion_for<T>(asked.tolerance, static_cast<Index>(k)).tolerance);
  const StridedBatch<W> left = strided(U);
  const StridedBatch<W> right = strided(V);
  const SvdBatchedReport found =
      compiled::svd_batched<W>(space, strided(Kokkos::View<const W***, Kokkos::LayoutLeft, MemorySpace>(A)), strided(s),
                               group.vectors ? &left : nullptr, group.vectors ? &right : nullptr, options);
  const auto matrix_of = [](const auto& values) {
    using View = std::decay_t<decltype(values)>;
    using Value = typename View::value_type;
    return Kokkos::View<Value***, Kokkos::LayoutStride, MemorySpace>(
        values.data(),
        Kokkos::LayoutStride(values.extent(0), values.stride(0), 1, 1, values.extent(1), values.stride(1)));
  };
  copy_batch<Real<T>, double>(space, matrix_of(s), at, false, matrix_of(group.s));
  if (group.vectors) {
    copy_batch<T, W>(space, left, at, false, group.U);
    copy_batch<T, W>(space, right, at, false, group.V);
  }
  space.fence("heddle::eigen::svd_widened");
  for (const int b : which) {
    Outcome& outcome = outcomes[static_cast<std::size_t>(b)];
    outcome.sweeps = found.sweeps;
    outcome.rotations = 0;
    outcome.end = static_cast<int>(found.converged() ? JacobiEnd::tolerance : JacobiEnd::sweep_limit);
  }
  outcomes[static_cast<std::size_t>(which.front())].rotations = found.rotations;
}

}  // namespace heddle::eigen::impl

namespace heddle::eigen::compiled {
namespace {

using namespace impl;

template <Scalar T>
void require_arguments(const StridedBatch<const T>& A, const StridedMatrix<Real<T>>& s, const StridedBatch<T>* U,
                       const StridedBatch<T>* V, const SvdBatchedOptions& options) {
  const std::size_t m = A.extent(0);
  const std::size_t n = A.extent(1);
  const std::size_t k = std::min(m, n);
  const std::size_t count = A.extent(2);
  require(s.extent(0) == k && s.extent(1) == count, "eigen::svd_batched: s is ", s.extent(0), " x ", s.extent(1),
          "; expected ", k, " x ", count);
  require(U == nullptr || (U->extent(0) == m && U->extent(1) == k && U->extent(2) == count),
          "eigen::svd_batched: U must be ", m, " x ", k, " x ", count);
  require(V == nullptr || (V->extent(0) == n && V->extent(1) == k && V->extent(2) == count),
          "eigen::svd_batched: V must be ", n, " x ", k, " x ", count);
  require(options.sweeps > 0, "eigen::svd_batched: ", options.sweeps, " sweeps; expected at least 1");
  require(options.tolerance >= 0, "eigen::svd_batched: a tolerance of ", options.tolerance, "; expected at least 0");
}

SvdBatchedReport summary_of(const std::vector<Outcome>& outcomes) {
  SvdBatchedReport report;
  for (std::size_t b = 0; b < outcomes.size(); ++b) {
    const Outcome& outcome = outcomes[b];
    report.sweeps = std::max(report.sweeps, outcome.sweeps);
    report.rotations += outcome.rotations;
    if (outcome.end < 0 || outcome.end == static_cast<int>(JacobiEnd::sweep_limit)) {
      report.first_failed = report.not_converged == 0 ? static_cast<Index>(b) : report.first_failed;
      ++report.not_converged;
    }
  }
  return report;
}

}  // namespace

template <Scalar T>
SvdBatchedReport svd_batched(const ExecutionSpace& space, const StridedBatch<const T>& A,
                             const StridedMatrix<Real<T>>& s, const StridedBatch<T>* U, const StridedBatch<T>* V,
                             const SvdBatchedOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::eigen::svd_batched");
  require_arguments<T>(A, s, U, V, options);
  const auto count = static_cast<Index>(A.extent(2));
  const auto m = static_cast<Index>(std::max(A.extent(0), A.extent(1)));
  const auto n = static_cast<Index>(std::min(A.extent(0), A.extent(1)));
  if (n == 0 || count == 0) {
    return {};
  }
  const bool vectors = U != nullptr;
  const Index carried = vectors ? n : 0;
  const Index bytes =
      BlockColumns<T>::bytes_of_one(n, n, carried) + (vectors ? 2 : 1) * m * n * static_cast<Index>(sizeof(T));
  const int at_once = matrices_at_once(bytes, count);
  SvdRun<T> run{space,
                PivotedQr<T>(space, static_cast<int>(m), static_cast<int>(n), at_once),
                BlockColumns<T>(space, n, n, 0, at_once, carried),
                Matrices<T>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::left_vectors"), m, n,
                            vectors ? at_once : 0),
                options,
                std::vector<Outcome>(A.extent(2))};
  for (Outcome& outcome : run.outcomes) {
    outcome.end = end_not_finite;
  }
  std::vector<int> spread;
  SvdGroup<T> group{A, s, vectors ? *U : StridedBatch<T>(), vectors ? *V : StridedBatch<T>(), vectors, 0, 0, {}, {}};
  for (Index first = 0; first < count; first += at_once) {
    group.first = first;
    group.count = static_cast<int>(std::min<Index>(at_once, count - first));
    const auto slots = static_cast<std::size_t>(group.count);
    group.exponents =
        Values<int>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::exponents"), slots);
    group.finite = Values<int>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::finite"), slots);
    for (const int slot : solve_group<T>(run, group)) {
      spread.push_back(static_cast<int>(first) + slot);
    }
  }
  if constexpr (std::is_same_v<Real<T>, float>) {
    if (!spread.empty()) {
      solve_wider_batch<T>(space, group, spread, options, run.outcomes);
    }
  }
  return summary_of(run.outcomes);
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template SvdBatchedReport svd_batched<T>(const ExecutionSpace&, const StridedBatch<const T>&,   \
                                           const StridedMatrix<Real<T>>&, const StridedBatch<T>*, \
                                           const StridedBatch<T>*, const SvdBatchedOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::compiled
