// Sums over the rows of a panel in a fixed order, on CPUs and GPUs.
#include "solve/qr/sums.hpp"

#include "core/instantiate.hpp"
#include "core/simd.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

// Sums of runs; those of one element are contiguous.
template <Scalar T> struct RunSums {
  T* data;
  Index runs;
  Index rows;  // Rows of S.
  KOKKOS_INLINE_FUNCTION T& operator()(Index run, Index i, Index j) const { return data[run + runs * (i + rows * j)]; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T total(Index i, Index j) const {
    T sum(0);
    for (Index run = 0; run < runs; ++run) sum = sum + (*this)(run, i, j);
    return sum;
  }
};

// On CPUs: sums of columns [i, i + left) of X with all of Y in one run.
template <Scalar T, int left>
void host_sums(const Elements<const T>& X, const Elements<const T>& Y, Index i, Index columns, Index first, Index last,
               Index run, const RunSums<T>& sums) {
  constexpr int right = SumTile<T>::right;
  Index j = 0;
  for (; j + right <= columns; j += right) {
    T found[left][right];
    add_run<T, left, right>(&X(0, i), X.leading, &Y(0, j), Y.leading, first, last, found);
    for (int a = 0; a < left; ++a) {
      for (int b = 0; b < right; ++b) sums(run, i + a, j + b) = found[a][b];
    }
  }
  for (; j < columns; ++j) {
    T found[left][1];
    add_run<T, left, 1>(&X(0, i), X.leading, &Y(0, j), Y.leading, first, last, found);
    for (int a = 0; a < left; ++a) sums(run, i + a, j) = found[a][0];
  }
}

template <Scalar T>
void sums_on_host(const ExecutionSpace& space, const Elements<const T>& X, const Elements<const T>& Y, Index begin,
                  Index rows, Index columns, const RunSums<T>& sums) {
  constexpr int left = SumTile<T>::left;
  const Index tiles = (sums.rows + left - 1) / left;
  Kokkos::parallel_for("heddle::solve::row_sums",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, sums.runs * tiles),
                       [=](Index task) {
                         const Index run = task / tiles;
                         const Index start = (begin / sum_run + run) * sum_run;
                         const Index first = std::max(begin, start);
                         const Index last = std::min(rows, start + sum_run);
                         const Index i = task % tiles * left;
                         if (i + left <= sums.rows) {
                           host_sums<T, left>(X, Y, i, columns, first, last, run, sums);
                         } else {
                           for (Index k = i; k < sums.rows; ++k)
                             host_sums<T, 1>(X, Y, k, columns, first, last, run, sums);
                         }
                       });
}

// On GPUs: a team takes a run of 8 columns of X and 8 or 16 of Y; a thread, a chain of one column of Y with each of
// X's.
template <Scalar T> struct DeviceRowSums {
  static constexpr int left = 8;
  static constexpr int right = sizeof(T) == 16 ? 8 : 16;  // Limited so that fast memory holds all chains.
  static constexpr int threads = right * sum_lanes;
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Lanes = Kokkos::View<T[right][left][sum_lanes + 1], typename ExecutionSpace::scratch_memory_space,
                             Kokkos::MemoryUnmanaged>;

  Elements<const T> X;
  Elements<const T> Y;
  Index begin;
  Index rows;
  Index columns;
  RunSums<T> sums;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Lanes lanes(team.team_scratch(0));
    const Index run = team.league_rank() % sums.runs;
    const Index tile = team.league_rank() / sums.runs;
    const Index tiles = (sums.rows + left - 1) / left;
    const Index first_i = tile % tiles * left;
    const Index first_j = tile / tiles * right;
    const Index start = (begin / sum_run + run) * sum_run;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, threads), [&](int t) {
      const int lane = t % sum_lanes;
      const Index j = first_j + t / sum_lanes;
      T sum[left];
      HEDDLE_UNROLL
      for (int a = 0; a < left; ++a) sum[a] = T(0);
      for (Index r = start; r < start + sum_run && r < rows; r += sum_lanes) {
        if (r + sum_lanes <= begin) continue;
        const bool here = r + lane >= begin && r + lane < rows;
        const T y = here && j < columns ? Y(r + lane, j) : T(0);
        HEDDLE_UNROLL
        for (int a = 0; a < left; ++a) {
          const T x = here && first_i + a < sums.rows ? X(r + lane, first_i + a) : T(0);
          sum[a] = multiply_add(conjugate(x), y, sum[a]);
        }
      }
      HEDDLE_UNROLL
      for (int a = 0; a < left; ++a) lanes(t / sum_lanes, a, lane) = sum[a];
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, left * right), [&](int t) {
      const Index i = first_i + t % left;
      const Index j = first_j + t / left;
      if (i >= sums.rows || j >= columns) return;
      T sum[sum_lanes];
      HEDDLE_UNROLL
      for (int l = 0; l < sum_lanes; ++l) sum[l] = lanes(t / left, t % left, l);
      sums(run, i, j) = sum_of_lanes(sum);
    });
  }
};

template <Scalar T> void add_up(const ExecutionSpace& space, const RunSums<T>& sums, const MatrixView<T>& S) {
  const Elements<T> s(S);
  for_each_element(
      space, "heddle::solve::add_runs", static_cast<Index>(S.extent(0)), static_cast<Index>(S.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { s(i, j) = -sums.total(i, j); });
}

}  // namespace

template <Scalar T>
RowSums<T>::RowSums(const ExecutionSpace& space, Index rows, Index elements)
    : runs_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::run_sums"),
            static_cast<std::size_t>(runs_of(0, rows) * elements)) {}

template <Scalar T>
void RowSums<T>::operator()(const ExecutionSpace& space, const MatrixView<const T>& X, const MatrixView<const T>& Y,
                            Index begin, const MatrixView<T>& S) const {
  const auto rows = static_cast<Index>(X.extent(0));
  const auto columns = static_cast<Index>(S.extent(1));
  const RunSums<T> sums{runs_.data(), runs_of(begin, rows), static_cast<Index>(S.extent(0))};
  if (sums.rows == 0 || columns == 0) return;
  if constexpr (on_host) {
    sums_on_host<T>(space, Elements<const T>(X), Elements<const T>(Y), begin, rows, columns, sums);
  } else if (sums.runs > 0) {
    using Sums = DeviceRowSums<T>;
    const Index tiles = (sums.rows + Sums::left - 1) / Sums::left * ((columns + Sums::right - 1) / Sums::right);
    Kokkos::TeamPolicy<ExecutionSpace> policy(space, static_cast<int>(tiles * sums.runs), Sums::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Sums::Lanes::shmem_size())));
    Kokkos::parallel_for("heddle::solve::row_sums", policy,
                         Sums{Elements<const T>(X), Elements<const T>(Y), begin, rows, columns, sums});
  }
  add_up<T>(space, sums, S);
}

#define HEDDLE_INSTANTIATE(T) template class RowSums<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
