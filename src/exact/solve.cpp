#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include "exact/arithmetic.hpp"
#include "exact/host_lu.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <cmath>
#include <limits>

namespace heddle::exact::impl {
namespace {

template <Scalar T> using Vector = Kokkos::View<T*, MemorySpace>;
template <Scalar T> using HostVector = Kokkos::View<T*, Kokkos::HostSpace>;

template <Scalar T> HostVector<T> on_the_host(const ExecutionSpace& space, const VectorView<const T>& x) {
  const HostVector<T> host("heddle::exact::host", x.extent(0));
  const Vector<T> dense(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::dense"), x.extent(0));
  Kokkos::deep_copy(space, dense, x);
  Kokkos::deep_copy(space, host, dense);
  space.fence("heddle::exact::solve");
  return host;
}
template <Scalar T> void to_the_device(const ExecutionSpace& space, const HostVector<T>& host, const Vector<T>& x) {
  Kokkos::deep_copy(space, x, host);
  space.fence("heddle::exact::solve");
}

template <Scalar T> double size_of(const T& x) {
  return static_cast<double>(Kokkos::abs(x));
}
template <Scalar T> double largest_of(const HostVector<T>& x) {
  double most = 0;
  for (std::size_t i = 0; i < x.extent(0); ++i) {
    most = std::fmax(most, size_of(x(i)));
  }
  return most;
}

}  // namespace

template <Scalar T>
void lu_solve(const ExecutionSpace& space, Operation op, const StridedView<const T>& LU, const LuResult& result,
              const VectorView<T>& x) {
  const auto n = static_cast<Index>(LU.extent(0));
  require(LU.extent(0) == LU.extent(1) && x.extent(0) == LU.extent(0) && static_cast<Index>(result.pivots.size()) == n,
          "exact::lu_solve: LU is ", LU.extent(0), " x ", LU.extent(1), " with ", result.pivots.size(),
          " pivots, x has ", x.extent(0), " elements");
  require(result.info == 0, "exact::lu_solve: U is singular, its element ", result.info, ", ", result.info, " is zero");
  const DefaultArithmetic arithmetic;
  const Vector<T> dense(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::dense"), x.extent(0));
  const auto permute = [&](bool forwards) {
    const HostVector<T> host = on_the_host<T>(space, vector_of(dense));
    for (Index step = 0; step < n; ++step) {
      const Index k = forwards ? step : n - 1 - step;
      std::swap(host(k), host(result.pivots[static_cast<std::size_t>(k)]));
    }
    to_the_device<T>(space, host, dense);
  };
  Kokkos::deep_copy(space, dense, x);
  if (op == Operation::none) {
    permute(true);
    trsv<T>(space, Triangle::lower, op, Diagonal::unit, LU, vector_to(dense), 0);
    trsv<T>(space, Triangle::upper, op, Diagonal::stored, LU, vector_to(dense), 0);
  } else {
    trsv<T>(space, Triangle::upper, op, Diagonal::stored, LU, vector_to(dense), 0);
    trsv<T>(space, Triangle::lower, op, Diagonal::unit, LU, vector_to(dense), 0);
    permute(false);
  }
  Kokkos::deep_copy(space, x, dense);
  space.fence("heddle::exact::lu_solve");
}

template <Scalar T>
SolveResult solve(const ExecutionSpace& space, const StridedView<const T>& A, const VectorView<const T>& b,
                  const VectorView<T>& x, const SolveOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::solve");
  require(A.extent(0) == A.extent(1) && b.extent(0) == A.extent(0) && x.extent(0) == A.extent(0), "exact::solve: A is ",
          A.extent(0), " x ", A.extent(1), ", b has ", b.extent(0), " elements, x ", x.extent(0));
  require(options.refinements >= 0, "exact::solve: ", options.refinements, " refinements");
  const std::size_t n = A.extent(0);
  const DefaultArithmetic arithmetic;
  const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> LU(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::LU"), n, n);
  Kokkos::deep_copy(space, LU, A);
  const LuResult factors = lu<T>(space, matrix_of(LU), options.lu);
  SolveResult result;
  result.info = factors.info;
  if (result.info != 0 || n == 0) {
    return result;
  }
  const StridedView<const T> lu_view = matrix_of(LU);
  const Vector<T> current("heddle::exact::x", n);
  const Vector<T> rest("heddle::exact::residual", n);
  Kokkos::deep_copy(space, current, b);
  lu_solve<T>(space, Operation::none, lu_view, factors, vector_to(current));
  // |A| |x| + |b|, on magnitudes.
  const Kokkos::View<Real<T>**, Kokkos::LayoutLeft, MemorySpace> sizes("heddle::exact::sizes", n, n);
  Kokkos::parallel_for(
      "heddle::exact::sizes",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(n * n)),
      KOKKOS_LAMBDA(Index at) {
        const auto i = static_cast<std::size_t>(at) % n;
        const auto j = static_cast<std::size_t>(at) / n;
        sizes(i, j) = Kokkos::abs(A(i, j));
      });
  const auto host_b = on_the_host<T>(space, b);
  const auto error_of = [&](const Vector<T>& candidate, const HostVector<T>& residual) {
    const auto host_x = on_the_host<T>(space, vector_of(candidate));
    const HostVector<Real<T>> magnitudes("heddle::exact::magnitudes", n);
    const HostVector<Real<T>> bound("heddle::exact::bound", n);
    for (std::size_t i = 0; i < n; ++i) {
      magnitudes(i) = Kokkos::abs(host_x(i));
      bound(i) = Kokkos::abs(host_b(i));
    }
    const Vector<Real<T>> device_sizes("heddle::exact::magnitudes", n);
    const Vector<Real<T>> device_bound("heddle::exact::bound", n);
    to_the_device<Real<T>>(space, magnitudes, device_sizes);
    to_the_device<Real<T>>(space, bound, device_bound);
    gemv<Real<T>>(space, Operation::none, Real<T>(1), matrix_of(sizes), vector_of(device_sizes), Real<T>(1),
                  vector_to(device_bound));
    const auto host_bound = on_the_host<Real<T>>(space, vector_of(device_bound));
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double of = size_of(residual(i));
      worst = std::fmax(worst, of == 0 ? 0 : of / static_cast<double>(host_bound(i)));
    }
    return worst;
  };
  const auto residual_of = [&](const Vector<T>& candidate) {
    Kokkos::deep_copy(space, rest, b);
    gemv<T>(space, Operation::none, T(-1), A, vector_of(candidate), T(1), vector_to(rest));
    return on_the_host<T>(space, vector_of(rest));
  };
  HostVector<T> residual = residual_of(current);
  result.backward_error = error_of(current, residual);
  const double enough = static_cast<double>(unit_roundoff<T>) / 2;
  while (result.refinements < options.refinements && largest_of<T>(residual) > 0) {
    lu_solve<T>(space, Operation::none, lu_view, factors, vector_to(rest));
    const auto correction = on_the_host<T>(space, vector_of(rest));
    const auto host_x = on_the_host<T>(space, vector_of(current));
    const HostVector<T> better("heddle::exact::better", n);
    bool changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      better(i) = host_x(i) + correction(i);
      changed = changed || better(i) != host_x(i);
    }
    if (!changed) {
      break;
    }
    const Vector<T> candidate("heddle::exact::x", n);
    to_the_device<T>(space, better, candidate);
    const HostVector<T> next = residual_of(candidate);
    const double error = error_of(candidate, next);
    if (!(error < result.backward_error) && !(error <= enough)) {
      break;
    }
    ++result.refinements;
    const bool slow = error > result.backward_error / 2;
    result.backward_error = error;
    Kokkos::deep_copy(space, current, candidate);
    residual = next;
    if (slow && error <= enough) {
      break;
    }
  }
  Kokkos::deep_copy(space, x, current);
  space.fence("heddle::exact::solve");
  return result;
}

template <Scalar T>
double condition(const ExecutionSpace& space, const StridedView<const T>& LU, const LuResult& result, double norm) {
  if (result.info != 0) {
    return std::numeric_limits<double>::infinity();
  }
  const std::size_t n = LU.extent(0);
  if (n == 0) {
    return 0;
  }
  const DefaultArithmetic arithmetic;
  const Vector<T> x("heddle::exact::x", n);
  const auto solved = [&](Operation op, const HostVector<T>& right) {
    to_the_device<T>(space, right, x);
    lu_solve<T>(space, op, LU, result, vector_to(x));
    return on_the_host<T>(space, vector_of(x));
  };
  const auto sum_of_sizes = [](const HostVector<T>& v) {
    double sum = 0;
    for (std::size_t i = 0; i < v.extent(0); ++i) {
      sum += size_of(v(i));
    }
    return sum;
  };
  HostVector<T> right("heddle::exact::right", n);
  for (std::size_t i = 0; i < n; ++i) {
    right(i) = T(Real<T>(1) / static_cast<Real<T>>(n));
  }
  double estimate = 0;
  std::size_t last = n;
  for (int round = 0; round < 5; ++round) {
    const HostVector<T> forwards = solved(Operation::none, right);
    const double found = sum_of_sizes(forwards);
    if (round > 0 && found <= estimate) {
      break;
    }
    estimate = found;
    const HostVector<T> signs("heddle::exact::signs", n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto size = static_cast<Real<T>>(size_of(forwards(i)));
      signs(i) = size == 0 ? T(1) : forwards(i) / size;
    }
    const HostVector<T> backwards = solved(Operation::conjugate_transpose, signs);
    std::size_t best = 0;
    for (std::size_t i = 1; i < n; ++i) {
      best = size_of(backwards(i)) > size_of(backwards(best)) ? i : best;
    }
    if (best == last) {
      break;
    }
    last = best;
    Kokkos::deep_copy(right, T(0));
    right(best) = T(1);
  }
  // Higham's second try, against matrices made to deceive the first.
  for (std::size_t i = 0; i < n; ++i) {
    const auto size = static_cast<Real<T>>(1.0 + static_cast<double>(i) / std::fmax(1.0, static_cast<double>(n - 1)));
    right(i) = T(i % 2 == 0 ? size : -size);
  }
  estimate = std::fmax(estimate, 2 * sum_of_sizes(solved(Operation::none, right)) / (3 * static_cast<double>(n)));
  return estimate * norm;
}

#define HEDDLE_INSTANTIATE(T)                                                                                   \
  template void lu_solve<T>(const ExecutionSpace&, Operation, const StridedView<const T>&, const LuResult&,     \
                            const VectorView<T>&);                                                              \
  template SolveResult solve<T>(const ExecutionSpace&, const StridedView<const T>&, const VectorView<const T>&, \
                                const VectorView<T>&, const SolveOptions&);                                     \
  template double condition<T>(const ExecutionSpace&, const StridedView<const T>&, const LuResult&, double)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::impl
