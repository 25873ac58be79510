// Batches of matrices in memory: who works on which of them, and how many there are at a time.
#pragma once

#include "eigen/dense/matrices.hpp"

#include <algorithm>

namespace heddle::eigen::impl {

using MatrixTeams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::LaunchBounds<256, 2>>;
using MatrixTeam = MatrixTeams::member_type;

/// A team for each of `count` matrices: one thread of a CPU, 8 x 32 of a GPU.
inline MatrixTeams matrix_teams(const ExecutionSpace& space, int count) {
  return heddle::impl::on_host ? MatrixTeams(space, count, 1) : MatrixTeams(space, count, 8, 32);
}

/// How many matrices of so many bytes are worked on together: enough for any device, and no more than 512 MiB of them.
inline int matrices_at_once(Index bytes_of_one, Index count) {
  constexpr Index room = Index{512} << 20;
  return static_cast<int>(std::clamp<Index>(room / std::max<Index>(bytes_of_one, 1), 1, std::max<Index>(count, 1)));
}

/// The squared length of each column, `rows` long: columns x matrices.
template <Scalar T>
Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> squared_lengths(
    const ExecutionSpace& space, const Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>& X, int rows, int columns,
    int count) {
  const Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> squares(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::squares"),
      static_cast<std::size_t>(columns), static_cast<std::size_t>(count));
  Kokkos::parallel_for(
      "heddle::eigen::squared_lengths", column_teams(space, static_cast<Index>(count) * columns),
      KOKKOS_LAMBDA(const ColumnTeam& team) {
        const int slot = team.league_rank() / columns;
        const int j = team.league_rank() % columns;
        double sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, rows),
            [&](int i, double& part) {
              const T& x = X(i, j, slot);
              const double re = real_of<double>(x);
              const double im = imaginary_of<double>(x);
              part += re * re + im * im;
            },
            sum);
        Kokkos::single(Kokkos::PerTeam(team), [&] { squares(j, slot) = sum; });
      });
  return squares;
}

}  // namespace heddle::eigen::impl
