#include "dist/elementwise.hpp"
#include "exact/arithmetic.hpp"
#include "exact/terms.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>

#ifdef __FAST_MATH__
#error "exact/reduce.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::impl {
namespace {

using heddle::impl::on_host;
using Partials = Kokkos::View<Accumulator<double>*, MemorySpace>;

/// Neighbouring sums side by side, each an unevaluated sum of `levels` doubles: what one loses to rounding the next
/// takes, and what the last loses the accumulator (R. Iakymchuk, S. Graillat, D. Defour, E. Quintana-Orti,
/// "Hierarchical approach for deriving a reproducible unblocked LU factorization", 2019).
template <int lanes> class Expansions {
 public:
  // Numbers of 1200 binary places in all; unused ones cost nothing.
  static constexpr int levels = 24;

  explicit Expansions(Accumulator<double>& rest) : rest_(rest) {}

  /// Adds one number to each lane, from `level` on; most need few levels.
  void add(double (&x)[lanes], int level) {
    for (; level < levels; ++level) {
      double* const sums = sums_[level];
      std::uint64_t lost = 0;
      for (int l = 0; l < lanes; ++l) {
        two_sum(sums[l], x[l]);
        lost |= Kokkos::bit_cast<std::uint64_t>(x[l]);
      }
      if (lost << 1 == 0) {
        return;
      }
    }
    give_up(x);
  }
  void flush() {
    for (const auto& level : sums_) {
      give_up(level);
    }
  }

 private:
  void give_up(const double (&x)[lanes]) {
    for (const double left : x) {
      if (left != 0) {
        rest_.add(left);
      }
    }
  }

  alignas(64) double sums_[levels][lanes] = {};
  Accumulator<double>& rest_;
};

template <class Terms> void add_range(const Terms& terms, Index begin, Index end, Accumulator<double>& sum) {
  // Of 16, 32 and 64, the fastest for every kind of data.
  constexpr int lanes = 64;
  Expansions<lanes> expansions(sum);
  Index k = begin;
  for (; k + lanes <= end; k += lanes) {
    alignas(64) double values[lanes];
    alignas(64) double errors[lanes];
    int tame = 1;
    for (int l = 0; l < lanes; ++l) {
      terms.load(k + l, values[l], errors[l]);
      tame &= static_cast<int>(terms.is_tame(k + l, values[l]));
    }
    if (tame == 0) {
      for (int l = 0; l < lanes; ++l) {
        terms.template add_to<false>(sum, k + l);
      }
      continue;
    }
    expansions.add(values, 0);
    if constexpr (Terms::parts == 2) {
      // Some 53 bits further down.
      expansions.add(errors, 1);
    }
  }
  for (; k < end; ++k) {
    terms.template add_to<false>(sum, k);
  }
  expansions.flush();
}

/// A thread's share of a part, with a short expansion in registers.
template <class Terms>
KOKKOS_INLINE_FUNCTION void add_strided(const Terms& terms, Index begin, Index end, Index step,
                                        Accumulator<double>& sum) {
  constexpr int levels = 4;
  Expansion<levels> expansion;
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

using DevicePolicy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<256, 4>>;
constexpr int device_threads = 256;

// As many as run at once.
Index device_teams(const ExecutionSpace& space, Index n) {
  return std::clamp<Index>(n / (16 * device_threads), 1, std::max(1, space.concurrency() / device_threads));
}

template <class Terms> Partials partial_sums(const ExecutionSpace& space, const Terms& terms, Index n) {
  if constexpr (on_host) {
    const Index parts = std::clamp<Index>(n / 4096, 1, space.concurrency());
    const Partials partials("heddle::exact::partials", static_cast<std::size_t>(parts));
    Kokkos::parallel_for("heddle::exact::reduce",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, parts),
                         [=](Index part) {
                           const DefaultArithmetic arithmetic;
                           add_range(terms, n * part / parts, n * (part + 1) / parts, partials(part));
                         });
    return partials;
  } else {
    const Index teams = device_teams(space, n);
    const Partials partials("heddle::exact::partials", static_cast<std::size_t>(teams));
    Kokkos::parallel_for(
        "heddle::exact::reduce", DevicePolicy(space, static_cast<int>(teams), device_threads),
        KOKKOS_LAMBDA(const typename DevicePolicy::member_type& team) {
          const Index part = team.league_rank();
          add_strided(terms, n * part / teams + team.team_rank(), n * (part + 1) / teams, device_threads,
                      partials(part));
        });
    return partials;
  }
}

/// Every step-th term, several loads in flight.
template <class Terms>
KOKKOS_INLINE_FUNCTION Compensated compensated_strided(const Terms& terms, Index begin, Index end, Index step) {
  constexpr int at_once = 4;
  Compensated sum;
  Index k = begin;
  for (; k + (at_once - 1) * step < end; k += at_once * step) {
    double values[at_once];
    double errors[at_once];
    for (int s = 0; s < at_once; ++s) {
      terms.load(k + s * step, values[s], errors[s]);
    }
    for (int s = 0; s < at_once; ++s) {
      sum.add(values[s], errors[s]);
    }
  }
  for (; k < end; k += step) {
    double value = 0;
    double error = 0;
    terms.load(k, value, error);
    sum.add(value, error);
  }
  return sum;
}

/// The terms from `begin` to `end` in twice the precision, side by side.
template <class Terms> Compensated compensated_range(const Terms& terms, Index begin, Index end) {
  constexpr int lanes = 32;
  alignas(64) double sums[lanes] = {};
  alignas(64) double lost[lanes] = {};
  alignas(64) double sizes[lanes] = {};
  Index k = begin;
  for (; k + lanes <= end; k += lanes) {
    for (int l = 0; l < lanes; ++l) {
      double value = 0;
      double error = 0;
      terms.load(k + l, value, error);
      Compensated::add(sums[l], lost[l], sizes[l], value, error);
    }
  }
  Compensated total;
  for (; k < end; ++k) {
    double value = 0;
    double error = 0;
    terms.load(k, value, error);
    total.add(value, error);
  }
  for (int l = 0; l < lanes; ++l) {
    total.merge({sums[l], lost[l], sizes[l]});
  }
  return total;
}

/// Kokkos's reducer of sums that know their errors.
struct Merged {
  using reducer = Merged;
  using value_type = Compensated;
  using result_view_type = Kokkos::View<Compensated, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  Compensated* result;
  KOKKOS_INLINE_FUNCTION void join(Compensated& to, const Compensated& from) const { to.merge(from); }
  KOKKOS_INLINE_FUNCTION void init(Compensated& value) const { value = {}; }
  KOKKOS_INLINE_FUNCTION Compensated& reference() const { return *result; }
  [[nodiscard]] result_view_type view() const { return result_view_type(result); }
};

template <class Terms> Compensated compensated(const ExecutionSpace& space, const Terms& terms, Index n) {
  Compensated total;
  if constexpr (on_host) {
    const Index parts = std::clamp<Index>(n / 4096, 1, space.concurrency());
    Kokkos::parallel_reduce(
        "heddle::exact::compensated", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, parts),
        [=](Index part, Compensated& sum) {
          const DefaultArithmetic arithmetic;
          sum.merge(compensated_range(terms, n * part / parts, n * (part + 1) / parts));
        },
        Merged{&total});
  } else {
    const Index teams = device_teams(space, n);
    const Kokkos::View<Compensated*, MemorySpace> parts(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::parts"),
        static_cast<std::size_t>(teams));
    Kokkos::parallel_for(
        "heddle::exact::compensated", DevicePolicy(space, static_cast<int>(teams), device_threads),
        KOKKOS_LAMBDA(const typename DevicePolicy::member_type& team) {
          const Index part = team.league_rank();
          Compensated mine =
              compensated_strided(terms, n * part / teams + team.team_rank(), n * (part + 1) / teams, device_threads);
          team.team_reduce(Merged{&mine});
          if (team.team_rank() == 0) {
            parts(part) = mine;
          }
        });
    Kokkos::parallel_reduce(
        "heddle::exact::compensated", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, teams),
        KOKKOS_LAMBDA(Index part, Compensated & sum) { sum.merge(parts(part)); }, Merged{&total});
  }
  return total;
}

// Whether every term is -0: expansions do not tell.
template <class Terms> bool all_negative_zeros(const ExecutionSpace& space, const Terms& terms, Index n) {
  Index others = 0;
  Kokkos::parallel_reduce(
      "heddle::exact::zeros", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n),
      KOKKOS_LAMBDA(Index k, Index & count) { count += terms.is_negative_zero(k) ? 0 : 1; }, others);
  return n > 0 && others == 0;
}

template <RealScalar T, class Terms> T reduced(const ExecutionSpace& space, const Terms& terms, Index n) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::reduce");
  const DefaultArithmetic arithmetic;
  T rounded;
  // Twice the terms: what threads, lanes and parts add besides is less.
  if (n > 0 && compensated(space, terms, n).rounds_to(2 * n + 4096, Terms::parts == 2 ? n : 0, rounded)) {
    return rounded;
  }
  const Partials partials = partial_sums(space, terms, n);
  const auto host = Kokkos::create_mirror_view(partials);
  Kokkos::deep_copy(space, host, partials);
  space.fence("heddle::exact::reduce");
  Accumulator<double> sum;
  for (std::size_t part = 0; part < host.extent(0); ++part) {
    sum.merge(host(part));
  }
  const T value = sum.value<T>();
  return value == T(0) && sum.sign() == 0 && all_negative_zeros(space, terms, n) ? -T(0) : value;
}

}  // namespace

template <RealScalar T> T sum(const ExecutionSpace& space, const VectorView<const T>& x) {
  return reduced<T>(space, Numbers<T, false>{x.data(), static_cast<Index>(x.stride(0))},
                    static_cast<Index>(x.extent(0)));
}
template <RealScalar T> T asum(const ExecutionSpace& space, const VectorView<const T>& x) {
  return reduced<T>(space, Numbers<T, true>{x.data(), static_cast<Index>(x.stride(0))},
                    static_cast<Index>(x.extent(0)));
}
template <RealScalar T> T dot(const ExecutionSpace& space, const VectorView<const T>& x, const VectorView<const T>& y) {
  require(x.extent(0) == y.extent(0), "exact::dot: vectors of ", x.extent(0), " and ", y.extent(0), " elements");
  return reduced<T>(space,
                    Products<T>{x.data(), static_cast<Index>(x.stride(0)), y.data(), static_cast<Index>(y.stride(0))},
                    static_cast<Index>(x.extent(0)));
}

#define HEDDLE_INSTANTIATE(T)                                            \
  template T sum<T>(const ExecutionSpace&, const VectorView<const T>&);  \
  template T asum<T>(const ExecutionSpace&, const VectorView<const T>&); \
  template T dot<T>(const ExecutionSpace&, const VectorView<const T>&, const VectorView<const T>&)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::impl
