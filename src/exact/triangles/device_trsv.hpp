// Triangular systems on a GPU, in one kernel: a team for each block of rows, which uses x as other teams find it.
#pragma once

#include "core/launch_bounds.hpp"
#include "core/simd.hpp"
#include "exact/products/device_sums.hpp"
#include "exact/products/divisor.hpp"

namespace heddle::exact::impl {

/// Rows of a block, one for each thread of a team. The diagonal block is in the team's fast memory (33 KB of double, 17
/// of complex double).
template <Scalar T> inline constexpr int solve_block = sizeof(T) <= 8 ? 64 : 32;

/// Progress of a solution: two counters in the device's memory, both zero when a kernel begins.
struct SolveProgress {
  Kokkos::View<int[2], MemorySpace> counters;
  /// Returns the block of a team: blocks are taken in the order of solution, so that every block waited for is already
  /// running.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int take() const { return Kokkos::atomic_fetch_add(&counters(0), 1); }
  /// Number of blocks whose x is in memory.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int found() const { return Kokkos::atomic_load(&counters(1)); }
  KOKKOS_INLINE_FUNCTION void set_found(int blocks) const { Kokkos::atomic_store(&counters(1), blocks); }
};

/// A triangular system. Sum: InnerSum<T>, which leaves open roundings to exact sums, or one of device_sums.hpp.
template <Scalar T, class Sum> struct DeviceSystem {
  Operand<T> A;
  bool lower;
  bool unit;
  Kokkos::View<const T*, MemorySpace> b;
  Kokkos::View<T*, MemorySpace> x;
  SolveProgress progress;

  /// Returns the row solved after `position` others.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index row(Index position) const {
    return lower ? position : A.rows - 1 - position;
  }

  /// Adds the products of row i with every step-th x found before it, from the `first` on, to a shared sum.
  HEDDLE_APART KOKKOS_INLINE_FUNCTION void add_exactly(ExactSum<T>& sum, Index i, int first, int step) const {
    const Index known_begin = lower ? 0 : i + 1;
    const Index known_end = lower ? i : A.rows;
    for (Index k = known_begin + first; k < known_end; k += step) {
      for_each_product(A(i, k), -x(k), [&](int p, Real<T> left, Real<T> right) {
        sum.part[p].add_product_atomically(static_cast<double>(left), static_cast<double>(right));
      });
    }
  }
  /// Adds the products of row i with x in [first, last).
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
  /// Columns [begin(i), end(i)) of row i are read.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index begin(Index i) const { return lower ? 0 : unit ? i + 1 : i; }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index end(Index i) const { return !lower ? A.rows : unit ? i : i + 1; }
  /// Returns element i of b - A x; `sum` has the products.
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

/// Solution of one block of rows by a team.
template <Scalar T, class Sum, class Team> class BlockSolve {
 public:
  using Block = Kokkos::View<T*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  using Exact = Kokkos::View<ExactSum<T>, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;
  static constexpr int block = solve_block<T>;
  // Odd, so that neither a row nor a column of the block falls into one bank.
  static constexpr int leading = block + 1;
  [[nodiscard]] static int scratch_bytes() {
    return static_cast<int>(Block::shmem_size(leading * block) + Block::shmem_size(block + 1) + Exact::shmem_size());
  }

  KOKKOS_INLINE_FUNCTION BlockSolve(const DeviceSystem<T, Sum>& system, const Team& team, int number)
      : BlockSolve(system, team, Index{number} * block,
                   static_cast<int>(Kokkos::min<Index>(block, system.A.rows - Index{number} * block))) {
    number_ = number;
  }
  /// For solve(): `rows` rows, at most a block, that are solved from the begin-th on.
  KOKKOS_INLINE_FUNCTION BlockSolve(const DeviceSystem<T, Sum>& system, const Team& team, Index begin, int rows)
      : system_(system),
        team_(team),
        number_(0),
        rank_(team.team_rank()),
        begin_(begin),
        rows_(rows),
        diagonal_(team.team_scratch(0), leading * block),
        minus_x_(team.team_scratch(0), block + 1),
        exact_(team.team_scratch(0)) {}

  KOKKOS_INLINE_FUNCTION void run() const {
    load_diagonal();
    Sum sum;
    if (rank_ < rows_) {
      sum.add(system_.b(row(rank_)));
    }
    int found = 0;
    for (int other = 0; other < number_; ++other) {
      add_block(other, found, sum);
    }
    solve(sum);
    Kokkos::memory_fence();
    team_.team_barrier();
    if (rank_ == 0) {
      system_.progress.set_found(number_ + 1);
    }
  }
  /// Finds x of this block from each row's b less the products with the known x; call load_diagonal() first.
  KOKKOS_INLINE_FUNCTION void solve(const Sum& sum) const {
    team_.team_barrier();
    const DivisorOf<T> divisor(rank_ < rows_ && !system_.unit ? diagonal_(rank_ + leading * rank_) : T(1));
    const Sum whole = solve_steps(sum, divisor);
    if constexpr (std::is_same_v<Sum, InnerSum<T>>) {
      solve_open(whole, sum, divisor);
    }
    if (rank_ < rows_) {
      system_.x(row(rank_)) = -minus_x_(rank_);
    }
  }
  KOKKOS_INLINE_FUNCTION void load_diagonal() const {
    const bool by_columns = system_.A.row_stride == 1;
    for (int k = 0; k < rows_; ++k) {
      const int r = by_columns ? rank_ : k;
      const int s = by_columns ? k : rank_;
      if (s <= r && r < rows_ && (s < r || !system_.unit)) {
        diagonal_(r + leading * s) = system_.A(row(r), row(s));
      }
    }
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index row(int k) const { return system_.row(begin_ + k); }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T solution(const T& rounded, const DivisorOf<T>& divisor) const {
    return system_.unit ? rounded : divisor.quotient(rounded);
  }
  KOKKOS_INLINE_FUNCTION void add_step(int step, Sum& sum) const {
    if (rank_ > step && rank_ < rows_) {
      sum.add_product(diagonal_(rank_ + leading * step), minus_x_(step));
    }
  }
  /// Solves row by row, each rounded from its sum in twice the precision. Each step waits for the one before, so it
  /// does nothing else: open sums come afterwards, and only the division branches on the row. Threads with a finished
  /// row, or none, compute values that are never read. Returns the sums with the products of this block.
  KOKKOS_INLINE_FUNCTION Sum solve_steps(Sum sum, const DivisorOf<T>& divisor) const {
    T next = diagonal_(rank_);
    for (int step = 0; step < rows_; ++step) {
      const T element = next;
      if (rank_ == step) {
        minus_x_(step) = -solution(sum.value(), divisor);
      }
      next = diagonal_(rank_ + leading * Kokkos::min(step + 1, block - 1));
      team_.team_barrier();
      Sum more = sum;
      more.add_product(element, minus_x_(step));
      if (rank_ > step) {
        sum = more;
      }
    }
    return sum;
  }
  /// Adds the products with the x of another block, once it is found. Elements of A are read before the wait.
  KOKKOS_INLINE_FUNCTION void add_block(int other, int& found, Sum& sum) const {
    const Index first = Index{other} * block;
    const Index i = rank_ < rows_ ? row(rank_) : row(0);
    T a[block];
    HEDDLE_UNROLL
    for (int k = 0; k < block; ++k) {
      a[k] = system_.A(i, system_.row(first + k));
    }
    if (rank_ == 0 && found <= other) {
      do {
        found = system_.progress.found();
      } while (found <= other);
      Kokkos::memory_fence();
    }
    // This also ends the reads of the previous x.
    team_.team_barrier();
    minus_x_(rank_) = -system_.x(system_.row(first + rank_));
    team_.team_barrier();
    HEDDLE_UNROLL
    for (int k = 0; k < block; ++k) {
      sum.add_product(a[k], minus_x_(k));
    }
  }
  /// Solves from the first row on that `whole` leaves open: row by row, exactly if needed. `before` has the products
  /// with other blocks.
  KOKKOS_INLINE_FUNCTION void solve_open(const Sum& whole, Sum before, const DivisorOf<T>& divisor) const {
    T value;
    const bool is_known = rank_ >= rows_ || (whole.rounds_to(system_.A.rows, value) && value == whole.value() &&
                                             (system_.unit || divisor.is_right(value)));
    int open = is_known ? rows_ : rank_;
    team_.team_reduce(Kokkos::Min<int>(open));
    if (open == rows_) {
      return;
    }
    for (int step = 0; step < rows_; ++step) {
      if (step >= open) {
        solve_row(step, before);
      } else if (rank_ == step) {
        system_.x(row(step)) = -minus_x_(step);
      }
      team_.team_barrier();
      add_step(step, before);
    }
  }
  KOKKOS_INLINE_FUNCTION void solve_row(int step, const Sum& sum) const {
    T value;
    if (rank_ == step) {
      const bool is_known = sum.rounds_to(system_.A.rows, value);
      minus_x_(block) = is_known ? T(1) : T(0);
      exact_() = {};
    }
    team_.team_barrier();
    const bool is_known = minus_x_(block) == T(1);
    if (!is_known) {
      system_.add_exactly(exact_(), row(step), rank_, block);
      team_.team_barrier();
    }
    if (rank_ == step) {
      if (!is_known) {
        exact_().add(system_.b(row(step)));
        value = exact_().value();
      }
      const T found = system_.unit ? value : impl::quotient(value, diagonal_(step + leading * step));
      minus_x_(step) = -found;
      system_.x(row(step)) = found;
    }
  }

  const DeviceSystem<T, Sum>& system_;
  const Team& team_;
  int number_;
  int rank_;
  Index begin_;
  int rows_;
  Block diagonal_;
  Block minus_x_;  // The last element: whether one is known.
  Exact exact_;
};

/// Solves the next block of rows by a team.
template <Scalar T, class Sum> struct SolveNextBlock {
  static constexpr int block = solve_block<T>;
  using Teams = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<block, 2>>;
  using Team = typename Teams::member_type;
  using Solve = BlockSolve<T, Sum, Team>;

  DeviceSystem<T, Sum> system;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    int number = 0;
    Kokkos::single(
        Kokkos::PerTeam(team), [&](int& taken) { taken = system.progress.take(); }, number);
    Solve(system, team, number).run();
  }
};
/// Computes x = A^-1 b for triangular A.
template <Scalar T, class Sum> void device_solve_once(const ExecutionSpace& space, const DeviceSystem<T, Sum>& system) {
  using SolveNext = SolveNextBlock<T, Sum>;
  constexpr int block = SolveNext::block;
  const auto blocks = static_cast<int>((system.A.rows + block - 1) / block);
  Kokkos::deep_copy(space, system.progress.counters, 0);
  Kokkos::parallel_for("heddle::exact::trsv",
                       typename SolveNext::Teams(space, blocks, block)
                           .set_scratch_size(0, Kokkos::PerTeam(SolveNext::Solve::scratch_bytes())),
                       SolveNext{system});
}

template <Scalar T> struct ResidualByTeam {
  DeviceSystem<T, InnerSum<T>> system;
  Kokkos::View<T*, MemorySpace> r;

  KOKKOS_INLINE_FUNCTION void operator()(const DeviceTeam& team) const {
    const Index i = team.league_rank();
    const Index begin = system.begin(i);
    const Index end = system.end(i);
    const InnerSum<T> mine = strided_sum(
        system.A, i, [&](Index k) { return -system.x(k); }, begin + team.team_rank(), end, team.team_size());
    InnerSum<T> sum = team_sum(team, mine);
    if (team.team_rank() == 0) {
      r(i) = system.residual(i, sum);
    }
  }
};
template <Scalar T, class Sum> struct ResidualByThread {
  DeviceSystem<T, Sum> system;
  Kokkos::View<T*, MemorySpace> r;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    Sum sum;
    system.add_products(sum, i, system.begin(i), system.end(i));
    r(i) = system.residual(i, sum);
  }
};
/// Computes r = b - A x for triangular A, each element correctly rounded if the algorithm is exact.
template <Scalar T, class Sum>
void device_residual(const ExecutionSpace& space, const DeviceSystem<T, Sum>& system,
                     const Kokkos::View<T*, MemorySpace>& r) {
  const Index n = system.A.rows;
  if constexpr (std::is_same_v<Sum, InnerSum<T>>) {
    Kokkos::parallel_for("heddle::exact::residual", DeviceTeams(space, static_cast<int>(n), threads_of_device_team),
                         ResidualByTeam<T>{system, r});
  } else {
    Kokkos::parallel_for("heddle::exact::residual",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n),
                         ResidualByThread<T, Sum>{system, r});
  }
}

template <Scalar T> struct CorrectElement {
  Kokkos::View<T*, MemorySpace> found;
  Kokkos::View<T*, MemorySpace> correction;

  KOKKOS_INLINE_FUNCTION void operator()(Index i) const { found(i) = found(i) + correction(i); }
};
template <Scalar T, class Sum>
void device_solve(const ExecutionSpace& space, const Operand<T>& A, bool lower, bool unit, const StridedVector<T>& x,
                  int refinements) {
  using Vector = Kokkos::View<T*, MemorySpace>;
  const auto vector = [&](const std::string& label) {
    return Vector(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), x.extent(0));
  };
  const Vector b = vector("heddle::exact::b");
  const Vector found = vector("heddle::exact::x");
  heddle::impl::copy_vector<T>(space, x, strided(b));
  const SolveProgress progress{Kokkos::View<int[2], MemorySpace>(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::progress"))};
  const DeviceSystem<T, Sum> system{A, lower, unit, b, found, progress};
  device_solve_once(space, system);
  if (refinements > 0) {
    const Vector rest = vector("heddle::exact::residual");
    const Vector correction = vector("heddle::exact::correction");
    for (int round = 0; round < refinements; ++round) {
      device_residual(space, system, rest);
      device_solve_once(space, DeviceSystem<T, Sum>{A, lower, unit, rest, correction, progress});
      Kokkos::parallel_for("heddle::exact::correct",
                           Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, A.rows),
                           CorrectElement<T>{found, correction});
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
    // nvcc takes a quarter of an hour to compile accumulators in these kernels.
    require(trsv_takes(algorithm), "exact::trsv: the algorithm ", to_string(algorithm), " is there on CPUs alone");
    device_solve<T, InnerSum<T>>(space, A, lower, unit, x, refinements);
  }
}

}  // namespace heddle::exact::impl
