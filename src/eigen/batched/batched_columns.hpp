// Batches of matrices in memory: assignment of teams to matrices and columns, and the size of a group.
#pragma once

#include "comm/vendor/vendor.hpp"
#include "core/launch_bounds.hpp"
#include "eigen/dense/matrices.hpp"

#include <algorithm>

namespace heddle::eigen::impl {

using MatrixTeams =
    Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>, heddle::impl::LaunchBounds<256, 2>>;
using MatrixTeam = MatrixTeams::member_type;

/// Threads of a team on a GPU, vectors of which are a thread to Kokkos.
inline constexpr int team_threads = 256;
inline constexpr int vector_threads = 32;

/// A team for each of `count` matrices: one thread of a CPU, 8 x 32 of a GPU.
inline MatrixTeams matrix_teams(const ExecutionSpace& space, int count) {
  return heddle::impl::on_host ? MatrixTeams(space, count, 1)
                               : MatrixTeams(space, count, team_threads / vector_threads, vector_threads);
}

/// Number of columns of a team; a thread (with its vector) takes one column at a time.
inline constexpr int columns_of_team = 32;
/// Teams for all columns of `matrices` matrices: those of a matrix follow one another.
inline MatrixTeams teams_by_columns(const ExecutionSpace& space, int matrices, int columns) {
  return matrix_teams(space, matrices * ((columns + columns_of_team - 1) / columns_of_team));
}

/// body(team, matrix, column) for the columns of a team.
template <class Body> struct VisitColumns {
  int teams;
  int columns;
  Body body;
  KOKKOS_INLINE_FUNCTION void operator()(const MatrixTeam& team) const {
    const int matrix = team.league_rank() / teams;
    const int begin = team.league_rank() % teams * columns_of_team;
    const int end = begin + columns_of_team < columns ? begin + columns_of_team : columns;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, begin, end), [&](int j) { body(team, matrix, j); });
  }
};

/// body(team, matrix, column) for each column, by a thread and its vector.
template <class Body>
void for_each_column(const ExecutionSpace& space, const char* label, int matrices, int columns, const Body& body) {
  const int teams = (columns + columns_of_team - 1) / columns_of_team;
  Kokkos::parallel_for(label, teams_by_columns(space, matrices, columns), VisitColumns<Body>{teams, columns, body});
}

/// Number of matrices, of so many bytes each, in a group: as many as fit 512 MiB on CPUs, and a quarter of the free
/// memory on GPUs.
inline int matrices_at_once(Index bytes_of_one, Index count) {
  const Index room =
      heddle::impl::on_host ? Index{512} << 20 : static_cast<Index>(heddle::impl::vendor::memory_info().free / 4);
  return static_cast<int>(std::clamp<Index>(room / std::max<Index>(bytes_of_one, 1), 1, std::max<Index>(count, 1)));
}

template <Scalar T> struct SquareLength {
  Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace> X;
  Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> squares;
  int rows;
  int columns;
  KOKKOS_INLINE_FUNCTION void operator()(const ColumnTeam& team) const {
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
  }
};

/// The squared length of each column, `rows` long: columns x matrices.
template <Scalar T>
Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> squared_lengths(
    const ExecutionSpace& space, const Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>& X, int rows, int columns,
    int count) {
  const Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> squares(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::squares"),
      static_cast<std::size_t>(columns), static_cast<std::size_t>(count));
  Kokkos::parallel_for("heddle::eigen::squared_lengths", column_teams(space, static_cast<Index>(count) * columns),
                       SquareLength<T>{X, squares, rows, columns});
  return squares;
}

}  // namespace heddle::eigen::impl
