// On the host: vectorised sums of many terms.
#pragma once

#include "exact/sums/terms.hpp"

#include <cstdint>
#include <memory>

namespace heddle::exact::impl {

/// Parallel sums, each an unevaluated sum of `levels` doubles: each double takes the rounding error of the one before,
/// and the accumulator that of the last (R. Iakymchuk, S. Graillat, D. Defour, E. Quintana-Orti, "Hierarchical approach
/// for deriving a reproducible unblocked LU factorization", 2019).
template <int lanes, int levels> class Expansions {
 public:
  explicit Expansions(Accumulator<double>& rest) : rest_(rest) {}

  /// Adds one number to each lane, from `level` on; most numbers need few levels.
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

/// add_range() with vectors of expansions.
template <int levels, class Terms>
void add_vectors(const Terms& terms, Index begin, Index end, Accumulator<double>& sum) {
  // The fastest of 16, 32 and 64 lanes for every kind of data.
  constexpr int lanes = 64;
  const auto off_stack = std::make_unique<Expansions<lanes, levels>>(sum);
  Expansions<lanes, levels>& expansions = *off_stack;
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
      // An error is some 53 bits below its value.
      expansions.add(errors, 1);
    }
  }
  for (; k < end; ++k) {
    terms.template add_to<false>(sum, k);
  }
  expansions.flush();
}

/// Adds terms by expansions of `levels` doubles; 0: every term goes into the accumulator.
template <int levels, class Terms>
void add_range(const Terms& terms, Index begin, Index end, Accumulator<double>& sum) {
  if constexpr (levels == 0) {
    for (Index k = begin; k < end; ++k) {
      terms.template add_to<false>(sum, k);
    }
  } else {
    add_vectors<levels>(terms, begin, end, sum);
  }
}

/// Returns the sum of the terms from `begin` to `end` in twice the precision, in vector lanes.
template <class Terms> Compensated compensated_range(const Terms& terms, Index begin, Index end) {
  // As many lanes as the registers of AVX2 hold.
  constexpr int lanes = 16;
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

/// Returns the sum of the terms from `begin` to `end`; every term and every sum is rounded.
template <class Terms> typename Terms::Number plain_range(const Terms& terms, Index begin, Index end) {
  constexpr int lanes = 32;
  using T = typename Terms::Number;
  alignas(64) T sums[lanes] = {};
  Index k = begin;
  for (; k + lanes <= end; k += lanes) {
    for (int l = 0; l < lanes; ++l) {
      sums[l] += terms.rounded(k + l);
    }
  }
  T total = T(0);
  for (; k < end; ++k) {
    total += terms.rounded(k);
  }
  for (const T sum : sums) {
    total += sum;
  }
  return total;
}

}  // namespace heddle::exact::impl
