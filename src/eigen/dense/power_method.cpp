// Estimate of |A|_2 by the power method.
#include "eigen/dense/power_method.hpp"

#include "core/instantiate.hpp"
#include "eigen/dense/rotation.hpp"

#include <cmath>
#include <string>

namespace heddle::eigen::impl {

namespace {

// y = A^H x.
template <Scalar T>
void multiply_adjoint(const ExecutionSpace& space, const MatrixView<T>& A, const Values<T>& x, const Values<T>& y) {
  const auto m = static_cast<Index>(A.extent(0));
  Kokkos::parallel_for(
      "heddle::eigen::product", column_teams(space, static_cast<Index>(A.extent(1))),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const Index j = team.league_rank();
        T inner = T(0);
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, m), [&](Index i, T& part) { part += conjugate(A(i, j)) * x(i); }, inner);
        Kokkos::single(Kokkos::PerTeam(team), [&] { y(j) = inner; });
      });
}

template <class T> Values<T> values_for(const ExecutionSpace& space, const std::string& label, std::size_t count) {
  return Values<T>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), count);
}

}  // namespace

template <Scalar T>
std::vector<T> adjoint_product(const ExecutionSpace& space, const MatrixView<T>& A, const Values<T>& x) {
  const Values<T> y = values_for<T>(space, "heddle::eigen::y", A.extent(1));
  multiply_adjoint<T>(space, A, x, y);
  return to_host(space, "heddle::eigen::norm_estimate", y);
}

template <Scalar T> Real<T> norm_estimate(const ExecutionSpace& space, const Dense<T>& A) {
  using R = Real<T>;
  std::vector<T> x(A.extent(0));
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
  // Allocated once for all steps: allocating device memory is slow.
  const Values<T> here = values_for<T>(space, "heddle::eigen::x", A.extent(0));
  const Values<T> next = values_for<T>(space, "heddle::eigen::y", A.extent(1));
  const auto multiply = [&](double length) {
    for (T& element : x) {
      element = element / static_cast<R>(length);
    }
    Kokkos::deep_copy(space, here, Kokkos::View<const T*, Kokkos::HostSpace>(x.data(), x.size()));
    multiply_adjoint<T>(space, A, here, next);
    x = to_host(space, "heddle::eigen::norm_estimate", next);
  };
  return static_cast<R>(power_method(norm, multiply));
}

#define HEDDLE_INSTANTIATE(T)                                                                                \
  template std::vector<T> adjoint_product<T>(const ExecutionSpace&, const MatrixView<T>&, const Values<T>&); \
  template Real<T> norm_estimate<T>(const ExecutionSpace&, const Dense<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
