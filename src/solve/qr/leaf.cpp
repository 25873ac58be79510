// QR factorization of a few columns of a panel, one after the other, on CPUs and GPUs.
#include "solve/qr/leaf.hpp"

#include "core/instantiate.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

constexpr int leaf_most = static_cast<int>(qr_leaf_width);

// Sums of one step; column c counts from the step's own column.
template <Scalar T> struct LeafSums {
  T* data;
  Index runs;
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T& of(Index run, int c) const { return data[run + runs * c]; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T total(int c) const {
    T sum(0);
    for (Index run = 0; run < runs; ++run) sum = sum + of(run, c);
    return sum;
  }
};

template <Scalar T> std::uint64_t largest_of_run(const T* x, Index first, Index last) {
  std::uint64_t most = 0;
  HEDDLE_SIMD_MOST
  for (Index i = first; i < last; ++i) {
    const std::uint64_t bits = magnitude_bits(x[i]);
    most = bits > most ? bits : most;
  }
  return most;
}

// On CPUs: add a run's contribution to the sums of step j, for `count` columns.
template <Scalar T>
void host_leaf_sums(const Elements<T>& P, Index j, int count, Real<T> down, Index run, Index first, Index last,
                    const LeafSums<T>& sums) {
  T scaled[sum_run];
  T* const x = scaled - run * sum_run;
  const T* const column = &P(0, j);
  for (Index i = first; i < last; ++i) x[i] = times_real(column[i], down);
  const Index slot = run - j / sum_run;
  T found[1][1];
  add_run<T, 1, 1>(x, 0, x, 0, first, last, found);
  sums.of(slot, 0) = found[0][0];
  int c = 1;
  constexpr int abreast = 4;
  for (; c + abreast <= count; c += abreast) {
    T some[1][abreast];
    add_run<T, 1, abreast>(x, 0, &P(0, j + c), P.leading, first, last, some);
    for (int k = 0; k < abreast; ++k) sums.of(slot, c + k) = some[0][k];
  }
  for (; c < count; ++c) {
    add_run<T, 1, 1>(x, 0, &P(0, j + c), P.leading, first, last, found);
    sums.of(slot, c) = found[0][0];
  }
}

// On CPUs: apply the reflection to rows [first, last); returns the largest part of the next column.
template <Scalar T>
std::uint64_t host_reflect(const Elements<T>& P, Index j, int count, Real<T> down, const Reflector<T>& reflector,
                           const T* shares, Index first, Index last) {
  T* const v = &P(0, j);
  HEDDLE_SIMD
  for (Index i = first; i < last; ++i) v[i] = reflector.vector(times_real(v[i], down));
  for (int c = 1; c < count; ++c) {
    const T share = shares[c];
    T* const x = &P(0, j + c);
    HEDDLE_SIMD
    for (Index i = first; i < last; ++i) x[i] = multiply_add(v[i], share, x[i]);
  }
  return count > 1 ? largest_of_run(&P(0, j + 1), first, last) : 0;
}

// On GPUs a team takes a run; a first kernel computes the sums of a step, a second one applies the reflection.
template <Scalar T> struct DeviceLeafStep {
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  Elements<T> P;
  Index j;
  Index rows;
  int count;  // Columns of the leaf from j on.
  LeafSums<T> sums;
  T* heads;
  std::uint64_t* largest;  // Bits of the largest parts of columns from j on.
  Elements<T> triangle;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index start_of(Index run) const { return (j / sum_run + run) * sum_run; }
};
template <Scalar T> struct DeviceLeafSums : DeviceLeafStep<T> {
  static constexpr int threads = leaf_most * sum_lanes;
  using typename DeviceLeafStep<T>::Team;
  using Lanes =
      Kokkos::View<T[leaf_most][sum_lanes + 1], typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Lanes lanes(team.team_scratch(0));
    const Index run = team.league_rank();
    const Index start = this->start_of(run);
    const Real<T> down = two_to_the<T>(-power_of_column<T>(*this->largest));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, threads), [&](int t) {
      const int lane = t % sum_lanes;
      const int c = t / sum_lanes;
      T sum(0);
      for (Index r = start; r < start + sum_run && r < this->rows; r += sum_lanes) {
        if (r + sum_lanes <= this->j + 1) continue;
        const bool here = r + lane > this->j && r + lane < this->rows && c < this->count;
        const T x = here ? times_real(this->P(r + lane, this->j), down) : T(0);
        const T y = !here ? T(0) : c == 0 ? x : this->P(r + lane, this->j + c);
        sum = multiply_add(conjugate(x), y, sum);
      }
      lanes(c, lane) = sum;
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, this->count), [&](int c) {
      T sum[sum_lanes];
      HEDDLE_UNROLL
      for (int l = 0; l < sum_lanes; ++l) sum[l] = lanes(c, l);
      this->sums.of(run, c) = sum_of_lanes(sum);
      // The second kernel's teams write this row while others still read it.
      if (run == 0) this->heads[c] = this->P(this->j, this->j + c);
    });
  }
};
template <Scalar T> struct DeviceLeafReflect : DeviceLeafStep<T> {
  static constexpr int threads = 256;
  using typename DeviceLeafStep<T>::Team;
  using Totals = Kokkos::View<T[leaf_most], typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Totals totals(team.team_scratch(0));
    const Index j = this->j;
    const int count = this->count;
    const Index start = this->start_of(team.league_rank());
    const Index first = start > j ? start : j;
    const Index end = start + sum_run < this->rows ? start + sum_run : this->rows;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int c) { totals(c) = this->sums.total(c); });
    team.team_barrier();
    const int power = power_of_column<T>(*this->largest);
    const Reflector<T> reflector(this->heads[0], totals(0), power);
    const Real<T> down = two_to_the<T>(-power);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 1, count),
                         [&](int c) { totals(c) = reflector.minus_share(this->heads[c], totals(c)); });
    team.team_barrier();
    std::uint64_t most = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, first, end),
        [&](Index r, std::uint64_t& local) {
          const bool is_head = r == j;
          const T v = is_head ? T(1) : reflector.vector(times_real(this->P(r, j), down));
          this->P(r, j) = is_head ? reflector.beta : v;
          for (int c = 1; c < count; ++c) {
            const T x = is_head ? this->heads[c] + totals(c) : multiply_add(v, totals(c), this->P(r, j + c));
            this->P(r, j + c) = x;
            const std::uint64_t bits = c == 1 && !is_head ? magnitude_bits(x) : 0;
            local = bits > local ? bits : local;
          }
        },
        Kokkos::Max<std::uint64_t>(most));
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      if (count > 1) Kokkos::atomic_max(&this->largest[1], most);
      if (first == j) this->triangle(j, j) = conjugate(reflector.tau);
    });
  }
};

template <Scalar T>
void device_largest(const ExecutionSpace& space, const Elements<T>& P, Index begin, Index rows,
                    const Kokkos::View<std::uint64_t*, MemorySpace>& largest) {
  Kokkos::deep_copy(space, largest, std::uint64_t{0});
  Kokkos::parallel_for(
      "heddle::solve::qr_largest", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, begin, rows),
      KOKKOS_LAMBDA(Index r) {
        const std::uint64_t bits = magnitude_bits(P(r, begin));
        if (bits > largest(0)) Kokkos::atomic_max(&largest(0), bits);
      });
}

template <Scalar T> void device_step(const ExecutionSpace& space, const DeviceLeafStep<T>& step) {
  using Sums = DeviceLeafSums<T>;
  using Reflect = DeviceLeafReflect<T>;
  const auto teams = static_cast<int>(step.sums.runs);
  Kokkos::TeamPolicy<ExecutionSpace> summing(space, teams, Sums::threads);
  summing.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Sums::Lanes::shmem_size())));
  Kokkos::parallel_for("heddle::solve::qr_sums", summing, Sums{step});
  Kokkos::TeamPolicy<ExecutionSpace> reflecting(space, teams, Reflect::threads);
  reflecting.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Reflect::Totals::shmem_size())));
  Kokkos::parallel_for("heddle::solve::qr_reflect", reflecting, Reflect{step});
}

}  // namespace

template <Scalar T>
QrLeaf<T>::QrLeaf(const ExecutionSpace& space, Index rows)
    : sums_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::leaf_sums"),
            static_cast<std::size_t>(runs_of(0, rows) * qr_leaf_width)),
      heads_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::leaf_heads"),
             static_cast<std::size_t>(qr_leaf_width)),
      largest_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::solve::leaf_largest"),
               static_cast<std::size_t>(std::max(qr_leaf_width, runs_of(0, rows)))) {}

template <Scalar T>
void QrLeaf<T>::factor_on_host(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
                               const MatrixView<T>& triangle) {
  const Elements<T> P(panel);
  const auto rows = static_cast<Index>(panel.extent(0));
  std::uint64_t most = largest_of_run(&P(0, begin), begin, rows);
  for (Index j = begin; j < end; ++j) {
    const auto count = static_cast<int>(end - j);
    const int power = power_of_column<T>(most);
    const Real<T> down = two_to_the<T>(-power);
    // From the run of row j on, even if it has no row below.
    const LeafSums<T> sums{sums_.data(), runs_of(j, rows)};
    for (int c = 0; c < count; ++c) sums.of(0, c) = T(0);
    for_sum_runs(space, "heddle::solve::qr_sums", j + 1, rows, count, [=](Index run, Index first, Index last) {
      host_leaf_sums<T>(P, j, count, down, run, first, last, sums);
    });
    const Reflector<T> reflector(P(j, j), sums.total(0), power);
    T shares[leaf_most];
    P(j, j) = reflector.beta;
    triangle(j, j) = conjugate(reflector.tau);
    for (int c = 1; c < count; ++c) {
      shares[c] = reflector.minus_share(P(j, j + c), sums.total(c));
      P(j, j + c) = P(j, j + c) + shares[c];
    }
    std::uint64_t* const largest = largest_.data();
    const T* const added = shares;
    for_sum_runs(space, "heddle::solve::qr_reflect", j + 1, rows, count, [=](Index run, Index first, Index last) {
      largest[run] = host_reflect<T>(P, j, count, down, reflector, added, first, last);
    });
    most = 0;
    for (Index run = (j + 1) / sum_run; run < runs_of(0, rows); ++run) most = std::max(most, largest[run]);
  }
}

template <Scalar T>
void QrLeaf<T>::factor(const ExecutionSpace& space, const MatrixView<T>& panel, Index begin, Index end,
                       const MatrixView<T>& triangle) {
  if constexpr (on_host) {
    factor_on_host(space, panel, begin, end, triangle);
  } else {
    const Elements<T> P(panel);
    const auto rows = static_cast<Index>(panel.extent(0));
    device_largest<T>(space, P, begin, rows, largest_);
    for (Index j = begin; j < end; ++j) {
      device_step<T>(space, {P, j, rows, static_cast<int>(end - j), LeafSums<T>{sums_.data(), runs_of(j, rows)},
                             heads_.data(), largest_.data() + (j - begin), Elements<T>(triangle)});
    }
  }
}

#define HEDDLE_INSTANTIATE(T) template class QrLeaf<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
