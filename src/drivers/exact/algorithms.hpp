// The ways to form exact sums, as options name them.
#pragma once

#include <heddle/exact/algorithm.hpp>

#include <string>
#include <vector>

namespace heddle::driver {

/// The names of all of exact::Algorithm.
[[nodiscard]] inline const std::vector<std::string>& exact_algorithms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int k = 0; k <= static_cast<int>(exact::Algorithm::plain); ++k) {
      all.emplace_back(to_string(static_cast<exact::Algorithm>(k)));
    }
    return all;
  }();
  return names;
}

}  // namespace heddle::driver
