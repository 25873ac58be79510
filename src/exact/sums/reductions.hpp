// Sums of the terms of a whole vector, on the host or on a device.
#pragma once

#include "core/elementwise.hpp"
#include "core/launch_bounds.hpp"
#include "exact/products/inner.hpp"
#include "exact/sums/arithmetic.hpp"
#include "exact/sums/binned_sums.hpp"
#include "exact/sums/exponent_sums.hpp"
#include "exact/sums/ranges.hpp"
#include "exact/sums/threefold.hpp"
#include <heddle/exact/reduce.hpp>

#include <algorithm>
#include <array>
#include <type_traits>

namespace heddle::exact::impl {

using heddle::impl::on_host;
/// Adds a thread's share of a part, with an expansion in registers, or with none if `levels` is 0.
template <int levels, class Terms>
KOKKOS_INLINE_FUNCTION void add_strided(const Terms& terms, Index begin, Index end, Index step,
                                        Accumulator<double>& sum) {
  if constexpr (levels == 0) {
    for (Index k = begin; k < end; k += step) {
      terms.template add_to<true>(sum, k);
    }
    return;
  }
  Expansion<levels == 0 ? 2 : levels> expansion;
  const auto add = [&](double x, int level) {
    const double left = expansion.add(x, level);
    if (left != 0) {
      sum.add_atomically(left);
    }
  };
  for (Index k = begin; k < end; k += step) {
    double value = 0;
    double error = 0;
    terms.load(k, value, error);
    if (!terms.is_tame(k, value)) {
      terms.template add_to<true>(sum, k);
      continue;
    }
    add(value, 0);
    if constexpr (Terms::parts == 2) {
      add(error, 1);
    }
  }
  for (int level = 0; level < levels; ++level) {
    if (expansion.part(level) != 0) {
      sum.add_atomically(expansion.part(level));
    }
  }
}

using DevicePolicy = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<256, 4>>;
inline constexpr int device_threads = 256;

/// Returns the number of teams that run at once.
inline Index device_teams(const ExecutionSpace& space, Index n) {
  return std::clamp<Index>(n / (16 * device_threads), 1, std::max(1, space.concurrency() / device_threads));
}

/// Adds the terms of a team's part to its sum, by expansions of `levels` doubles.
template <int levels, class Terms> struct AddPart {
  Terms terms;
  Index n;
  Index teams;
  Partials partials;

  KOKKOS_INLINE_FUNCTION void operator()(const typename DevicePolicy::member_type& team) const {
    const Index part = team.league_rank();
    add_strided<levels>(terms, n * part / teams + team.team_rank(), n * (part + 1) / teams, device_threads,
                        partials(part));
  }
};
/// Returns the exact sums of parts, by expansions of `levels` doubles.
template <int levels, class Terms> Partials partial_sums(const ExecutionSpace& space, const Terms& terms, Index n) {
  if constexpr (on_host) {
    const Index parts = std::clamp<Index>(n / 4096, 1, space.concurrency());
    Partials partials(Kokkos::view_alloc(space, "heddle::exact::partials"), static_cast<std::size_t>(parts));
    Kokkos::parallel_for("heddle::exact::reduce",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, parts),
                         [=](Index part) {
                           const DefaultArithmetic arithmetic;
                           add_range<levels>(terms, n * part / parts, n * (part + 1) / parts, partials(part));
                         });
    return partials;
  } else {
    const Index teams = device_teams(space, n);
    Partials partials(Kokkos::view_alloc(space, "heddle::exact::partials"), static_cast<std::size_t>(teams));
    Kokkos::parallel_for("heddle::exact::reduce", DevicePolicy(space, static_cast<int>(teams), device_threads),
                         AddPart<levels, Terms>{terms, n, teams, partials});
    return partials;
  }
}

/// The sum of the first pass; a second pass forms the sums that it cannot round. On a device doubles saturate the
/// memory, so that three times the precision costs nothing.
template <class Terms>
using QuickSum = std::conditional_t<on_host || sizeof(typename Terms::Number) == 4, Compensated, Threefold>;

/// Adds one term.
template <class Terms> KOKKOS_FORCEINLINE_FUNCTION void add_term(Compensated& sum, double value, double error) {
  sum.add(value, error);
}
template <class Terms> KOKKOS_FORCEINLINE_FUNCTION void add_term(Threefold& sum, double value, double error) {
  if constexpr (Terms::parts == 1) {
    sum.add(value);
  } else {
    sum.add(value, error);
  }
}

/// A sum, and whether the errors of all products in it are exact.
template <class Sum> struct Quick {
  Sum sum;
  bool tame = true;

  KOKKOS_INLINE_FUNCTION void merge(const Quick& other) {
    sum.merge(other.sum);
    tame = tame && other.tame;
  }
};

/// Sums every step-th term, with several loads in flight.
template <class Sum, class Terms>
KOKKOS_INLINE_FUNCTION Quick<Sum> quick_strided(const Terms& terms, Index begin, Index end, Index step) {
  constexpr int at_once = Terms::parts == 1 ? 8 : 4;
  constexpr bool asks = std::is_same_v<Sum, Threefold> && Terms::parts == 2;
  Quick<Sum> quick;
  Index k = begin;
  for (; k + (at_once - 1) * step < end; k += at_once * step) {
    double values[at_once];
    double errors[at_once];
    for (int s = 0; s < at_once; ++s) {
      terms.load(k + s * step, values[s], errors[s]);
      quick.tame = quick.tame && (!asks || terms.is_tame(k + s * step, values[s]));
    }
    for (int s = 0; s < at_once; ++s) {
      add_term<Terms>(quick.sum, values[s], errors[s]);
    }
  }
  for (; k < end; k += step) {
    double value = 0;
    double error = 0;
    terms.load(k, value, error);
    quick.tame = quick.tame && (!asks || terms.is_tame(k, value));
    add_term<Terms>(quick.sum, value, error);
  }
  return quick;
}

/// Kokkos's reducer of sums that bound their errors.
template <class Sum> struct Merged {
  using reducer = Merged;
  using value_type = Quick<Sum>;
  using result_view_type = Kokkos::View<Quick<Sum>, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  Quick<Sum>* result;
  KOKKOS_INLINE_FUNCTION void join(Quick<Sum>& to, const Quick<Sum>& from) const { to.merge(from); }
  KOKKOS_INLINE_FUNCTION void init(Quick<Sum>& value) const { value = {}; }
  KOKKOS_INLINE_FUNCTION Quick<Sum>& reference() const { return *result; }
  [[nodiscard]] result_view_type view() const { return result_view_type(result); }
};

/// Bound of the additions that one number goes through in quick_sum(): in 16 or more parallel sums, threads and teams.
inline Index additions_in_a_row(Index n) {
  return n / 16 + 8192;
}
/// Returns a bound of the loss of n terms to underflow in quick_sum().
template <class Terms> double lost_in(Index n) {
  return Terms::parts == 2 ? Compensated::underflow(n) : 0;
}
/// Sums the terms of a team's part in the precision of `Sum`.
template <class Sum, class Terms> struct SumPart {
  Terms terms;
  Index n;
  Index teams;
  Kokkos::View<Quick<Sum>*, MemorySpace> parts;

  KOKKOS_INLINE_FUNCTION void operator()(const typename DevicePolicy::member_type& team) const {
    const Index part = team.league_rank();
    // The reducer gets a copy: the address of the sum itself would keep it out of registers.
    const Quick<Sum> mine =
        quick_strided<Sum>(terms, n * part / teams + team.team_rank(), n * (part + 1) / teams, device_threads);
    Quick<Sum> all = mine;
    team.team_reduce(Merged<Sum>{&all});
    if (team.team_rank() == 0) {
      parts(part) = all;
    }
  }
};
template <class Sum> struct MergePart {
  Kokkos::View<Quick<Sum>*, MemorySpace> parts;
  KOKKOS_INLINE_FUNCTION void operator()(Index part, Quick<Sum>& sum) const { sum.merge(parts(part)); }
};
/// Sums all terms in the precision of `Sum`.
template <class Sum, class Terms> Quick<Sum> quick_sum(const ExecutionSpace& space, const Terms& terms, Index n) {
  Quick<Sum> total;
  if constexpr (on_host) {
    const Index parts = std::clamp<Index>(n / 4096, 1, space.concurrency());
    Kokkos::parallel_reduce(
        "heddle::exact::compensated", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, parts),
        [=](Index part, Quick<Sum>& mine) {
          const DefaultArithmetic arithmetic;
          mine.merge({compensated_range(terms, n * part / parts, n * (part + 1) / parts)});
        },
        Merged<Sum>{&total});
  } else {
    const Index teams = device_teams(space, n);
    const Kokkos::View<Quick<Sum>*, MemorySpace> parts(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::parts"),
        static_cast<std::size_t>(teams));
    Kokkos::parallel_for("heddle::exact::compensated", DevicePolicy(space, static_cast<int>(teams), device_threads),
                         SumPart<Sum, Terms>{terms, n, teams, parts});
    Kokkos::parallel_reduce("heddle::exact::compensated",
                            Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, teams),
                            MergePart<Sum>{parts}, Merged<Sum>{&total});
  }
  return total;
}
/// Sums all terms in twice the precision.
template <class Terms> Compensated compensated(const ExecutionSpace& space, const Terms& terms, Index n) {
  return quick_sum<Compensated>(space, terms, n).sum;
}
/// Returns true if one pass decides how the sum of n terms rounds, and sets `result` to it; n > 0.
template <RealScalar T, class Terms>
bool rounds_quickly(const ExecutionSpace& space, const Terms& terms, Index n, T& result) {
  using Sum = QuickSum<Terms>;
  const Quick<Sum> quick = quick_sum<Sum>(space, terms, n);
  const bool exact_products = std::is_same_v<Sum, Threefold> && quick.tame;
  return quick.sum.rounds_to(additions_in_a_row(n), exact_products ? 0 : lost_in<Terms>(n), result);
}

/// Merges the sums of parts.
inline Accumulator<double> merged(const ExecutionSpace& space, const Partials& partials) {
  const auto host = Kokkos::create_mirror_view(partials);
  Kokkos::deep_copy(space, host, partials);
  space.fence("heddle::exact::reduce");
  Accumulator<double> sum;
  for (std::size_t part = 0; part < host.extent(0); ++part) {
    sum.merge(host(part));
  }
  return sum;
}

/// Returns the exact sum, by expansions of `levels` doubles, which do not record the sign of zeros.
template <int levels, class Terms>
Accumulator<double> accumulated_by(const ExecutionSpace& space, const Terms& terms, Index n) {
  return merged(space, partial_sums<levels>(space, terms, n));
}
/// Returns the exact sum, by ExponentSums on the host and by Bins on a device.
template <class Terms> Accumulator<double> accumulated(const ExecutionSpace& space, const Terms& terms, Index n) {
  if constexpr (on_host) {
    const Index parts = std::clamp<Index>(n / 4096, 1, space.concurrency());
    const Partials partials(Kokkos::view_alloc(space, "heddle::exact::partials"), static_cast<std::size_t>(parts));
    Kokkos::parallel_for("heddle::exact::reduce",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, parts),
                         [=](Index part) {
                           const DefaultArithmetic arithmetic;
                           add_exactly(terms, n * part / parts, n * (part + 1) / parts, partials(part));
                         });
    return merged(space, partials);
  } else {
    return merged(space, binned_sums(space, terms, n));
  }
}

/// Calls f(terms) for the numbers of a vector, or their magnitudes, or for one part of complex ones.
template <bool magnitudes, RealScalar T, class F> auto with_numbers(const T* x, Index stride, const F& f) {
  return stride == 1 ? f(Numbers<T, magnitudes, true>{x, stride}) : f(Numbers<T, magnitudes, false>{x, stride});
}
template <bool magnitudes, Scalar T, class F> auto with_numbers(const StridedVector<const T>& x, int part, const F& f) {
  return with_numbers<magnitudes, Real<T>>(reinterpret_cast<const Real<T>*>(x.data()) + part,
                                           static_cast<Index>(x.stride(0)) * parts_of_scalar<T>, f);
}
template <Scalar T> T scalar_of(const std::array<Real<T>, parts_of_scalar<T>>& parts) {
  if constexpr (is_complex<T>) {
    return T(parts[0], parts[1]);
  } else {
    return parts[0];
  }
}

}  // namespace heddle::exact::impl
