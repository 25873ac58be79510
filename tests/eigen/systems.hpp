// Computed eigensystems, and checks of their documented bounds.
#pragma once

#include "eigen/problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace heddle::eigen {

template <Scalar T> struct System {
  std::vector<double> w;
  Host<T> V;
  JacobiReport report;
};

template <Scalar T> System<T> solve(const Host<T>& A, const JacobiOptions& options = {}) {
  const Device<T> matrix = to_device<T>(A);
  const Device<T> V("V", A.extent(0), A.extent(0));
  const Kokkos::View<Real<T>*, MemorySpace> w("w", A.extent(0));
  System<T> system;
  system.report = jacobi(ExecutionSpace(), matrix, w, V, options);
  system.V = to_host(V);
  const auto values = to_host(w);
  for (std::size_t i = 0; i < values.extent(0); ++i) {
    system.w.push_back(static_cast<double>(values(i)));
  }
  return system;
}

template <Scalar T> void expect_good(const Host<T>& A, const System<T>& system) {
  EXPECT_TRUE(system.report.converged);
  EXPECT_TRUE(std::is_sorted(system.w.begin(), system.w.end()));
  const Quality found = quality<T>(A, system.V, system.w);
  EXPECT_LE(found.residual, 10);
  EXPECT_LE(found.orthogonality, 10);
}

}  // namespace heddle::eigen
