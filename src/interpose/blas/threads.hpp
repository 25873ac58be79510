// Work in parts, by threads that end with it.
#pragma once

#include "interpose/blas/arithmetic.hpp"
#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace heddle::impl::interpose {

/// As many threads as a product takes: what OMP_NUM_THREADS says, or as many as the process may run at once.
[[nodiscard]] int usual_threads();

/// body(begin, end) for parts of 0 ... count - 1, each by a thread of its own, of which the caller is one. Exceptions
/// that others raise are raised by the caller.
template <class Body> void in_parts(Index count, int threads, const Body& body) {
  const Index parts = std::clamp<Index>(threads, 1, std::max<Index>(1, count));
  std::vector<std::thread> others;
  std::atomic<int> raised{0};
  for (Index part = 1; part < parts; ++part) {
    others.emplace_back([&body, &raised, begin = count * part / parts, end = count * (part + 1) / parts] {
      body(begin, end);
      raised |= exceptions_raised();
    });
  }
  body(Index{0}, count / parts);
  for (std::thread& other : others) other.join();
  if (parts > 1) raise_exceptions(raised);
}

}  // namespace heddle::impl::interpose
