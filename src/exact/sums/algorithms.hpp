// Dispatch from an Algorithm to its code.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/exact/algorithm.hpp>

#include <type_traits>

namespace heddle::exact::impl {

/// Expansions of `levels` doubles before an accumulator; the accumulator alone if `levels` is 0.
template <int levels> using Levels = std::integral_constant<int, levels>;

/// Calls f(Levels<levels>()) for an exact algorithm other than Algorithm::automatic.
template <class F> auto with_levels(Algorithm algorithm, const F& f) {
  switch (algorithm) {
    case Algorithm::accumulator:
      return f(Levels<0>());
    case Algorithm::expansion_2:
      return f(Levels<2>());
    case Algorithm::expansion_3:
      return f(Levels<3>());
    case Algorithm::expansion_4:
      return f(Levels<4>());
    case Algorithm::expansion_5:
      return f(Levels<5>());
    case Algorithm::expansion_6:
      return f(Levels<6>());
    case Algorithm::expansion_7:
      return f(Levels<7>());
    case Algorithm::expansion_8:
      return f(Levels<8>());
    default:
      throw Error(ErrorKind::argument, "exact: this algorithm has no accumulator");
  }
}

}  // namespace heddle::exact::impl
