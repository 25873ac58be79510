// Scaling of columns by powers of two, and back.
#include "solve/qr/columns.hpp"

#include "core/instantiate.hpp"
#include "emulation/quantised.hpp"
#include "exact/products/quotient.hpp"

namespace heddle::impl {
namespace {

template <Scalar T> KOKKOS_INLINE_FUNCTION T by_power_of_two(const T& x, int power) {
  using R = Real<T>;
  if constexpr (is_complex<T>) {
    return T(by_power_of_two(x.real(), power), by_power_of_two(x.imag(), power));
  } else {
    return static_cast<R>(exact::impl::scaled(static_cast<double>(x), power));
  }
}

// A team scales a column.
template <Scalar T> struct ScaleColumn {
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  Elements<T> A;
  Index rows;
  int bearable;
  double* powers;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Index j = team.league_rank();
    T* const column = &A(0, j);
    std::uint64_t most = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, rows),
        [&](Index i, std::uint64_t& local) {
          const std::uint64_t bits = magnitude_bits(column[i]);
          local = bits > local ? bits : local;
        },
        Kokkos::Max<std::uint64_t>(most));
    int power = most == 0 || most >= exact::bits::Format<double>::exponent_mask ? 0 : exponent_of(most);
    if (power >= -bearable && power <= bearable) power = 0;
    Kokkos::single(Kokkos::PerTeam(team), [&]() { powers[j] = power; });
    if (power == 0) return;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows),
                         [&](Index i) { column[i] = by_power_of_two(column[i], -power); });
  }
};

template <Scalar T> struct ScaleTriangleBack {
  using Team = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  Elements<T> A;
  Index rows;
  CyclicAxis columns;
  int rank;
  const double* powers;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Index j = team.league_rank();
    const auto power = static_cast<int>(powers[j]);
    if (power == 0) return;
    const Index below = columns.global(rank, j) + 1;
    T* const column = &A(0, j);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, below < rows ? below : rows),
                         [&](Index i) { column[i] = by_power_of_two(column[i], power); });
  }
};

}  // namespace

template <Scalar T>
void scale_columns(const ExecutionSpace& space, const MatrixView<T>& A, int bearable,
                   const Kokkos::View<double*, MemorySpace>& powers) {
  if (A.extent(1) == 0) return;
  Kokkos::parallel_for("heddle::solve::scale_columns",
                       Kokkos::TeamPolicy<ExecutionSpace>(space, static_cast<int>(A.extent(1)), Kokkos::AUTO),
                       ScaleColumn<T>{Elements<T>(A), static_cast<Index>(A.extent(0)), bearable, powers.data()});
}

template <Scalar T>
void scale_triangle_back(const ExecutionSpace& space, const MatrixView<T>& A, const CyclicAxis& columns, int rank,
                         const Kokkos::View<double*, MemorySpace>& powers) {
  if (A.extent(1) == 0) return;
  Kokkos::parallel_for(
      "heddle::solve::scale_back",
      Kokkos::TeamPolicy<ExecutionSpace>(space, static_cast<int>(A.extent(1)), Kokkos::AUTO),
      ScaleTriangleBack<T>{Elements<T>(A), static_cast<Index>(A.extent(0)), columns, rank, powers.data()});
}

#define HEDDLE_INSTANTIATE(T)                                                                               \
  template void scale_columns<T>(const ExecutionSpace&, const MatrixView<T>&, int,                          \
                                 const Kokkos::View<double*, MemorySpace>&);                                \
  template void scale_triangle_back<T>(const ExecutionSpace&, const MatrixView<T>&, const CyclicAxis&, int, \
                                       const Kokkos::View<double*, MemorySpace>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
