// Triangular systems on a GPU: a diagonal block by one team, the rows that wait for it by the whole device.
#pragma once

#include "exact/device_sums.hpp"

namespace heddle::exact::impl {

/// Rows of a diagonal block, which lies in the fast memory of one team (33 KB of double, 17 of complex double). A step
/// in it takes as long as one element takes to round, to divide and to reach the other threads; more rows mean fewer
/// launches, and more threads at every step's barrier.
template <Scalar T> inline constexpr Index solve_block = sizeof(T) <= 8 ? 64 : 32;

/// A triangular system and the sums of its rows, those of what is known of x. Sum: InnerSum<T>, where roundings
/// may be left open, TwiceSum<T> or PlainSum<T>.
template <Scalar T, class Sum> struct DeviceSystem {
  Operand<T> A;
  bool lower;
  bool unit;
  Kokkos::View<const T*, MemorySpace> b;
  Kokkos::View<T*, MemorySpace> x;
  Kokkos::View<Sum*, MemorySpace> sums;

  /// b_i less its exact inner product with the elements of x that were found before it.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T rounded(Index i, const Sum& sum) const {
    if constexpr (std::is_same_v<Sum, InnerSum<T>>) {
      T value;
      if (!sum.rounds_to(A.rows, value)) {
        const auto& found = x;
        ExactSum<T> exact = exact_sum(
            A, i, [&](Index k) { return -found(k); }, lower ? 0 : i + 1, lower ? i : A.rows);
        exact.add(b(i));
        value = exact.value();
      }
      return value;
    } else {
      return sum.finished({T(1), T(0)}, T(0));
    }
  }
  /// Takes the products of row i with x in [first, last).
  KOKKOS_INLINE_FUNCTION void add_products(Sum& sum, Index i, Index first, Index last) const {
    if constexpr (std::is_same_v<Sum, InnerSum<T>>) {
      const auto& found = x;
      sum.merge(strided_sum<16>(
          A, i, [&](Index k) { return -found(k); }, first, last, 1));
    } else {
      for (Index k = first; k < last; ++k) {
        sum.add_product(A(i, k), -x(k));
      }
    }
  }
  /// Columns of row i that are read.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index begin(Index i) const { return lower ? 0 : unit ? i + 1 : i; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index end(Index i) const { return !lower ? A.rows : unit ? i : i + 1; }
  /// Element i of b - A x; `sum` has the products.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T residual(Index i, Sum& sum) const {
    const auto minus = [&](Index k) { return -x(k); };
    sum.add(b(i));
    if (unit) {
      sum.add(minus(i));
    }
    if constexpr (std::is_same_v<Sum, InnerSum<T>>) {
      T value;
      if (!sum.rounds_to(A.rows, value)) {
        ExactSum<T> exact = exact_sum(A, i, minus, begin(i), end(i));
        exact.add(b(i));
        if (unit) {
          exact.add(minus(i));
        }
        value = exact.value();
      }
      return value;
    } else {
      return sum.finished({T(1), T(0)}, T(0));
    }
  }
};

/// Solves for rows [begin, begin + count), whose sums have all of x that was found before.
template <Scalar T, class Sum>
void solve_diagonal(const ExecutionSpace& space, const DeviceSystem<T, Sum>& system, Index begin, Index count) {
  constexpr Index block = solve_block<T>;
  // Odd, so that neither a row nor a column of the block lies in one bank.
  constexpr Index leading = block + 1;
  using Teams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<2 * block, 1>>;
  using Team = typename Teams::member_type;
  using Block = Kokkos::View<T*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  const auto bytes = Block::shmem_size(leading * block) + Block::shmem_size(block);
  const auto teams = Teams(space, 1, 2 * block).set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes)));
  Kokkos::parallel_for(
      "heddle::exact::trsv_diagonal", teams, KOKKOS_LAMBDA(const Team& team) {
        const Block a(team.team_scratch(0), leading * block);
        const Block solved(team.team_scratch(0), block);
        const Index rank = team.team_rank();
        const auto row = [&](Index step) { return system.lower ? begin + step : begin + count - 1 - step; };
        const bool by_columns = system.A.row_stride == 1;
        for (Index at = rank; at < count * count; at += team.team_size()) {
          const Index r = by_columns ? at % count : at / count;
          const Index s = by_columns ? at / count : at % count;
          if (s <= r) {
            a(r + leading * s) = system.A(row(r), row(s));
          }
        }
        Sum sum;
        if (rank < count) {
          sum = system.sums(row(rank));
        }
        team.team_barrier();
        for (Index step = 0; step < count; ++step) {
          if (rank == step) {
            const Index i = row(step);
            const T value = system.rounded(i, sum);
            const T found = system.unit ? value : quotient(value, a(step + leading * step));
            system.x(i) = found;
            solved(step) = -found;
          }
          team.team_barrier();
          if (rank > step && rank < count) {
            sum.add_product(a(rank + leading * step), solved(step));
          }
        }
      });
}

/// add_solved() where neighbouring elements are those of a row: a few threads for each.
template <Scalar T>
void add_solved_to_rows(const ExecutionSpace& space, const DeviceSystem<T, InnerSum<T>>& system, Index begin, Index end,
                        Index first, Index last) {
  constexpr int rows = 8;
  constexpr int lanes = 32;
  using Teams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<rows * lanes, 2>>;
  using Team = typename Teams::member_type;
  const auto teams = static_cast<int>((last - first + rows - 1) / rows);
  Kokkos::parallel_for(
      "heddle::exact::trsv_rows", Teams(space, teams, rows, lanes), KOKKOS_LAMBDA(const Team& team) {
        const Index i = first + Index{team.league_rank()} * rows + team.team_rank();
        if (i >= last) {
          return;
        }
        InnerSum<T> sum;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, end - begin),
            [&](Index k, InnerSum<T>& mine) { mine.add_product(system.A(i, begin + k), -system.x(begin + k)); },
            MergedInner<T>{&sum});
        Kokkos::single(Kokkos::PerThread(team), [&] { system.sums(i).merge(sum); });
      });
}

/// Takes the products with x in [begin, end) into the sums of rows [first, last).
template <Scalar T, class Sum>
void add_solved(const ExecutionSpace& space, const DeviceSystem<T, Sum>& system, Index begin, Index end, Index first,
                Index last) {
  if (first == last) {
    return;
  }
  constexpr bool merges = std::is_same_v<Sum, InnerSum<T>>;
  if (!merges || system.A.row_stride == 1) {
    Kokkos::parallel_for(
        "heddle::exact::trsv_rows",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>, Kokkos::LaunchBounds<128, 2>>(space, first, last),
        KOKKOS_LAMBDA(Index i) {
          Sum sum = system.sums(i);
          system.add_products(sum, i, begin, end);
          system.sums(i) = sum;
        });
    return;
  }
  if constexpr (merges) {
    add_solved_to_rows(space, system, begin, end, first, last);
  }
}

/// x = A^-1 b for triangular A.
template <Scalar T, class Sum> void device_solve_once(const ExecutionSpace& space, const DeviceSystem<T, Sum>& system) {
  const Index n = system.A.rows;
  Kokkos::parallel_for(
      "heddle::exact::trsv_begin", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n),
      KOKKOS_LAMBDA(Index i) {
        Sum sum;
        sum.add(system.b(i));
        system.sums(i) = sum;
      });
  for (Index done = 0; done < n; done += solve_block<T>) {
    const Index count = std::min(solve_block<T>, n - done);
    const Index begin = system.lower ? done : n - done - count;
    solve_diagonal(space, system, begin, count);
    add_solved(space, system, begin, begin + count, system.lower ? begin + count : 0, system.lower ? n : begin);
  }
}

/// r = b - A x for triangular A, each element correctly rounded where the algorithm is exact.
template <Scalar T, class Sum>
void device_residual(const ExecutionSpace& space, const DeviceSystem<T, Sum>& system,
                     const Kokkos::View<T*, MemorySpace>& r) {
  const Index n = system.A.rows;
  if constexpr (std::is_same_v<Sum, InnerSum<T>>) {
    Kokkos::parallel_for(
        "heddle::exact::residual", DeviceTeams(space, static_cast<int>(n), threads_of_device_team),
        KOKKOS_LAMBDA(const DeviceTeam& team) {
          const Index i = team.league_rank();
          const Index begin = system.begin(i);
          const Index end = system.end(i);
          const InnerSum<T> mine = strided_sum(
              system.A, i, [&](Index k) { return -system.x(k); }, begin + team.team_rank(), end, team.team_size());
          InnerSum<T> sum = team_sum(team, mine);
          if (team.team_rank() == 0) {
            r(i) = system.residual(i, sum);
          }
        });
  } else {
    Kokkos::parallel_for(
        "heddle::exact::residual", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n),
        KOKKOS_LAMBDA(Index i) {
          Sum sum;
          system.add_products(sum, i, system.begin(i), system.end(i));
          r(i) = system.residual(i, sum);
        });
  }
}

template <Scalar T, class Sum>
void device_solve(const ExecutionSpace& space, const Operand<T>& A, bool lower, bool unit, const StridedVector<T>& x,
                  int refinements) {
  using Vector = Kokkos::View<T*, MemorySpace>;
  const auto vector = [&](const std::string& label) {
    return Vector(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), x.extent(0));
  };
  const Vector b = vector("heddle::exact::b");
  const Vector found = vector("heddle::exact::x");
  const Kokkos::View<Sum*, MemorySpace> sums(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::sums"), x.extent(0));
  heddle::impl::copy_vector<T>(space, x, strided(b));
  const DeviceSystem<T, Sum> system{A, lower, unit, b, found, sums};
  device_solve_once(space, system);
  if (refinements > 0) {
    const Vector rest = vector("heddle::exact::residual");
    const Vector correction = vector("heddle::exact::correction");
    for (int round = 0; round < refinements; ++round) {
      device_residual(space, system, rest);
      device_solve_once(space, DeviceSystem<T, Sum>{A, lower, unit, rest, correction, sums});
      Kokkos::parallel_for(
          "heddle::exact::correct", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, A.rows),
          KOKKOS_LAMBDA(Index i) { found(i) = found(i) + correction(i); });
    }
  }
  heddle::impl::copy_vector<T>(space, strided(found), x);
  space.fence("heddle::exact::trsv");
}

/// Solves op(A) x = b in place, by Algorithm::automatic, twice or plain.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void device_solve(Algorithm algorithm, const ExecutionSpace& space, const Operand<T>& A, bool lower, bool unit,
                  const StridedVector<T>& x, int refinements) {
  if (A.rows == 0) {
    return;
  }
  if (algorithm == Algorithm::plain) {
    device_solve<T, PlainSum<T>>(space, A, lower, unit, x, refinements);
  } else if (algorithm == Algorithm::twice) {
    device_solve<T, TwiceSum<T>>(space, A, lower, unit, x, refinements);
  } else {
    // Accumulators in these kernels take nvcc a quarter of an hour to compile.
    require(algorithm == Algorithm::automatic, "exact::trsv: the algorithm ", to_string(algorithm),
            " is there on CPUs alone");
    device_solve<T, InnerSum<T>>(space, A, lower, unit, x, refinements);
  }
}

}  // namespace heddle::exact::impl
