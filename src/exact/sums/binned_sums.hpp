// On GPUs: the exact sum of the terms of a whole vector in one pass, whatever their exponents.
#pragma once

#include "core/launch_bounds.hpp"
#include "exact/products/inner.hpp"
#include "exact/sums/bins.hpp"
#include "exact/sums/terms.hpp"

#include <algorithm>

namespace heddle::exact::impl {

using Partials = Kokkos::View<Accumulator<double>*, MemorySpace>;

/// Adds every `step`-th term to bins. Returns whether any but -0 is among them; sets `wild` if a term is out of the
/// bins' range and is left to add_wild().
template <class Terms>
KOKKOS_INLINE_FUNCTION bool add_to_bins(const Terms& terms, Index begin, Index end, Index step, const Bins& bins,
                                        bool& wild) {
  constexpr int at_once = Terms::parts == 1 ? 8 : 4;
  constexpr std::uint64_t negative_zero = bits::Format<double>::sign_bit;
  std::uint64_t others = 0;
  const auto add = [&](double value, double error) {
    others |= Kokkos::bit_cast<std::uint64_t>(value) ^ negative_zero;
    bins.add(value);
    if constexpr (Terms::parts == 2) {
      bins.add(error);
    }
  };
  const auto load = [&](Index k, double& value, double& error) {
    terms.load(k, value, error);
    if (!terms.is_tame(k, value)) {
      wild = true;
      value = 0;
      error = 0;
    }
  };
  Index k = begin;
  for (; k + (at_once - 1) * step < end; k += at_once * step) {
    double values[at_once];
    double errors[at_once];
    for (int s = 0; s < at_once; ++s) {
      load(k + s * step, values[s], errors[s]);
    }
    for (int s = 0; s < at_once; ++s) {
      add(values[s], errors[s]);
    }
  }
  for (; k < end; k += step) {
    double value = 0;
    double error = 0;
    load(k, value, error);
    add(value, error);
  }
  return others != 0;
}
/// Adds those of every `step`-th term that are out of the bins' range.
template <class Terms>
HEDDLE_APART KOKKOS_INLINE_FUNCTION void add_wild(const Terms& terms, Index begin, Index end, Index step,
                                                  Accumulator<double>& sum) {
  for (Index k = begin; k < end; k += step) {
    double value = 0;
    double error = 0;
    terms.load(k, value, error);
    if (!terms.is_tame(k, value)) {
      terms.template add_to<true>(sum, k);
    }
  }
}

// Bins of 64 threads fill the fast memory available to one team, 26 KB; eight such teams fill a multiprocessor's.
inline constexpr int bin_threads = 64;
using BinPolicy = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<bin_threads, 8>>;
using BinTeam = typename BinPolicy::member_type;

/// Adds the bins of a team's threads to `sum`; each thread adds up one bin over all threads. Between barriers.
KOKKOS_INLINE_FUNCTION void give_bins(const BinTeam& team, const double* bins, Accumulator<double>& sum) {
  for (int i = team.team_rank(); i < Bins::count; i += bin_threads) {
    std::int64_t units = 0;
    for (int thread = 0; thread < bin_threads; ++thread) {
      // Threads start at different bins, in different memory banks.
      units += Bins::units(i, bins[i * bin_threads + (thread + i) % bin_threads]);
    }
    if (units != 0) {
      sum.add_scaled_atomically(units, Bins::unit(i));
    }
  }
}

/// Adds the terms of a team's part to one of the sums, by bins for each thread.
template <class Terms> struct AddByBins {
  using Places = Kokkos::View<double*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  static constexpr int places = Bins::count * bin_threads;
  // Few enough to be merged quickly, enough that teams seldom wait for one another.
  static constexpr Index sums = 8;
  static constexpr Index at_once = Bins::most / Terms::parts;

  Terms terms;
  Index n;
  Index teams;
  Partials partials;

  KOKKOS_INLINE_FUNCTION void operator()(const BinTeam& team) const {
    const Places all(team.team_scratch(0), places);
    const Bins mine(all.data() + team.team_rank(), bin_threads);
    const Index part = team.league_rank();
    const Index end = n * (part + 1) / teams;
    Accumulator<double>& sum = partials(part % sums);
    bool others = false;
    for (Index begin = n * part / teams; begin < end; begin += at_once * bin_threads) {
      const Index first = begin + team.team_rank();
      const Index last = Kokkos::min(begin + at_once * bin_threads, end);
      bool wild = false;
      mine.clear();
      const bool found = add_to_bins(terms, first, last, bin_threads, mine, wild);
      others = others || found;
      if (wild) {
        add_wild(terms, first, last, bin_threads, sum);
      }
      team.team_barrier();
      give_bins(team, all.data(), sum);
      team.team_barrier();
    }
    // The sign of a sum of zeros.
    if (others) {
      sum.add_scaled_atomically(0, 0);
    } else if (n * part / teams + team.team_rank() < end) {
      sum.add_atomically(-0.0);
    }
  }
};
/// On devices: exact sums of all terms in one pass, bins for each thread.
template <class Terms> Partials binned_sums(const ExecutionSpace& space, const Terms& terms, Index n) {
  using Add = AddByBins<Terms>;
  const Index teams =
      std::clamp<Index>(n / (16 * bin_threads), 1, std::max(1, space.concurrency() / (4 * bin_threads)));
  const Partials partials(Kokkos::view_alloc(space, "heddle::exact::partials"), static_cast<std::size_t>(Add::sums));
  BinPolicy policy(space, static_cast<int>(teams), bin_threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Add::Places::shmem_size(Add::places))));
  Kokkos::parallel_for("heddle::exact::reduce", policy, Add{terms, n, teams, partials});
  return partials;
}

}  // namespace heddle::exact::impl
