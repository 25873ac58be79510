// Estimates of |A|_2 by the power method, on one rank or over all.
#include "eigen/dense/power_method.hpp"

#include "core/instantiate.hpp"
#include "core/product.hpp"
#include "eigen/dense/rotation.hpp"
#include <heddle/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

namespace heddle::eigen::impl {

namespace {

// The numbers of [-1/2, 1/2) that the method begins with, by G. Marsaglia's xorshift (2003).
class StartNumbers {
 public:
  double next() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<double>(state_ >> 11U) * 0x1p-53 - 0.5;
  }

 private:
  std::uint64_t state_ = golden_step;
};

// Return the largest |A x| over some steps with unit x: norm() is the length of the vector, and multiply(length)
// replaces it by A times the vector over that length.
template <class Norm, class Multiply> double power_method(const Norm& norm, const Multiply& multiply) {
  constexpr int steps = 12;
  double estimate = 0;
  for (int step = 0;; ++step) {
    const double length = norm();
    estimate = step > 0 ? std::max(estimate, length) : estimate;
    if (step == steps || length == 0) {
      return estimate;
    }
    multiply(length);
  }
}

// y = A^H x. Products of complex numbers are rounded in a fixed way, as shifts have to be the same on every processor.
template <Scalar T>
void multiply_adjoint(const ExecutionSpace& space, const MatrixView<T>& A, const Values<T>& x, const Values<T>& y) {
  const auto m = static_cast<Index>(A.extent(0));
  Kokkos::parallel_for(
      "heddle::eigen::product", column_teams(space, static_cast<Index>(A.extent(1))),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const Index j = team.league_rank();
        T inner = T(0);
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, m),
            [&](Index i, T& part) { part += heddle::impl::product<T>(conjugate(A(i, j)), x(i)); }, inner);
        Kokkos::single(Kokkos::PerTeam(team), [&] { y(j) = inner; });
      });
}

template <class T> Values<T> values_for(const ExecutionSpace& space, const std::string& label, std::size_t count) {
  return Values<T>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), count);
}

// The power method on a vector of n elements that multiply(x) replaces by A^H x.
template <Scalar T, class Multiply> Real<T> norm_by(std::size_t n, const Multiply& multiply) {
  using R = Real<T>;
  std::vector<T> x(n);
  StartNumbers numbers;
  for (T& element : x) {
    element = T(static_cast<R>(numbers.next()));
  }
  const auto norm = [&] {
    double sum = 0;
    for (const T& element : x) {
      const auto size = static_cast<double>(magnitude(element));
      sum += size * size;
    }
    return static_cast<double>(static_cast<R>(std::sqrt(sum)));
  };
  return static_cast<R>(power_method(norm, [&](double length) {
    for (T& element : x) {
      element = element / static_cast<R>(length);
    }
    multiply(x);
  }));
}

}  // namespace

template <Scalar T> Real<T> norm_estimate(const ExecutionSpace& space, const Dense<T>& A) {
  // Allocated once for all steps: allocating device memory is slow.
  const Values<T> here = values_for<T>(space, "heddle::eigen::x", A.extent(0));
  const Values<T> next = values_for<T>(space, "heddle::eigen::y", A.extent(1));
  return norm_by<T>(A.extent(0), [&](std::vector<T>& x) {
    Kokkos::deep_copy(space, here, Kokkos::View<const T*, Kokkos::HostSpace>(x.data(), x.size()));
    multiply_adjoint<T>(space, A, here, next);
    x = to_host(space, "heddle::eigen::norm_estimate", next);
  });
}

template <Scalar T> Real<T> norm_estimate(const Communicator& comm, Index n, const std::vector<Panel<T>>& panels) {
  constexpr std::size_t parts = is_complex<T> ? 2 : 1;
  const ExecutionSpace& space = comm.space();
  const auto length = static_cast<std::size_t>(n);
  const Values<T> here = values_for<T>(space, "heddle::eigen::x", length);
  const Values<T> next = values_for<T>(space, "heddle::eigen::y", length);
  std::vector<double> numbers(parts * length);
  return norm_by<T>(length, [&](std::vector<T>& x) {
    Kokkos::deep_copy(space, here, Kokkos::View<const T*, Kokkos::HostSpace>(x.data(), x.size()));
    Kokkos::deep_copy(space, next, T(0));
    for (const Panel<T>& panel : panels) {
      if (panel.columns.extent(1) == 0) {
        continue;
      }
      const auto end = static_cast<std::size_t>(panel.begin) + panel.columns.extent(1);
      multiply_adjoint<T>(space, panel.columns, here,
                          Kokkos::subview(next, Kokkos::make_pair(static_cast<std::size_t>(panel.begin), end)));
    }
    x = to_host(space, "heddle::eigen::norm_estimate", next);
    // Each element is another rank's zero but for one, so the sum is exact.
    for (std::size_t i = 0; i < length; ++i) {
      numbers[parts * i] = real_of<double>(x[i]);
      if (is_complex<T>) {
        numbers[parts * i + parts - 1] = imaginary_of<double>(x[i]);
      }
    }
    comm.all_reduce(std::span<double>(numbers), Reduction::sum);
    for (std::size_t i = 0; i < length; ++i) {
      if constexpr (is_complex<T>) {
        x[i] = T(static_cast<Real<T>>(numbers[2 * i]), static_cast<Real<T>>(numbers[2 * i + 1]));
      } else {
        x[i] = static_cast<T>(numbers[i]);
      }
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                                \
  template Real<T> norm_estimate<T>(const ExecutionSpace&, const Dense<T>&); \
  template Real<T> norm_estimate<T>(const Communicator&, Index, const std::vector<Panel<T>>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
