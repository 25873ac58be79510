// Many small Hermitian eigenproblems on a GPU: one-sided rotations of columns that live in registers. A thread, or a
// few of them, has two columns, of which it makes a pair orthogonal; then columns move on through scratch memory.
#pragma once

#include "eigen/dense/convergence.hpp"
#include "eigen/dense/graded.hpp"
#include "eigen/dense/rotation.hpp"
#include <heddle/eigen/batched.hpp>

namespace heddle::eigen::impl {

// Ends of a matrix that nothing was done with: NaN or infinity in it, or a diagonal that spans more than small_spread.
inline constexpr int end_not_finite = -1;
inline constexpr int end_too_graded = -2;

// What became of one matrix.
struct Outcome {
  int sweeps;
  int end;  // JacobiEnd, or one of these.
  int relative;
  Index rotations;
};

template <class R> KOKKOS_INLINE_FUNCTION R power_of_two(int exponent) {
  return static_cast<R>(::ldexp(1.0, exponent));
}

/// Of matrices with up to N rows, `split` threads to a column. Positive definite ones by their Cholesky factor, whose
/// singular values squared are the eigenvalues, to relative accuracy; others by A + shift I, well conditioned.
template <Scalar T, int N, int split> struct SmallColumns {
  using R = Real<T>;
  static constexpr int pairs = N / 2;
  static constexpr int rows = N / split;         // Of a thread.
  static constexpr int threads = pairs * split;  // To a matrix.
  static constexpr int team_threads = threads > 32 ? threads : 32;
  static constexpr int at_once = team_threads / threads;  // Matrices of a team.
  // 128 registers hold two columns; what else there is wants 40.
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_threads, 384 / team_threads>>;
  using Team = typename Policy::member_type;
  // Rows of both columns of every thread that move at a time, and a number of each column.
  static constexpr int moved_rows =
      team_threads * 2 * rows * static_cast<int>(sizeof(T)) <= 40 * 1024 ? rows : rows / 2;
  static constexpr int bytes =
      team_threads * (2 * moved_rows * static_cast<int>(sizeof(T)) + 2 * static_cast<int>(sizeof(R))) +
      at_once * N * static_cast<int>(sizeof(int));

  StridedBatch<const T> A;
  StridedMatrix<R> w;
  StridedBatch<T> V;
  bool vectors;
  bool upper;
  JacobiAccuracy accuracy;
  R tolerance;
  int most_sweeps;
  Kokkos::View<Outcome*, MemorySpace> outcomes;
  Kokkos::View<R*, MemorySpace> history;  // Of one matrix; else without elements.

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int rank = team.team_rank();
    const int slot = rank / threads;
    const int pair = rank % threads / split;
    const int part = rank % split;
    const Index b = static_cast<Index>(team.league_rank()) * at_once + slot;
    const bool active = b < static_cast<Index>(A.extent(2));
    const int n = static_cast<int>(A.extent(0));
    T* const tops = static_cast<T*>(team.team_shmem().get_shmem(int{bytes}));
    T* const bottoms = tops + team_threads * moved_rows;
    R* const numbers = reinterpret_cast<R*>(bottoms + team_threads * moved_rows);
    R* const others = numbers + team_threads;
    int* const labels = reinterpret_cast<int*>(others + team_threads) + slot * N;
    if (part == 0) {
      order_columns(n, b, active, pair, labels);
      order_columns(n, b, active, pairs + pair, labels);
    }
    team.team_barrier();
    T top[rows];
    T bottom[rows];

    // The sum, or the largest, of a number of each thread of this matrix.
    const auto all_of = [&](R mine, bool sum) {
      numbers[rank] = mine;
      team.team_barrier();
      R result = 0;
      for (int at = 0; at < threads; ++at) {
        const R other = numbers[slot * threads + at];
        result = sum ? result + other : other > result || other != other ? other : result;
      }
      team.team_barrier();
      return result;
    };
    // The sum over the threads of a column pair.
    const auto of_pair = [&](T mine) {
      if (split == 1) {
        return mine;
      }
      tops[rank] = mine;
      team.team_barrier();
      T result = T(0);
      for (int at = 0; at < split; ++at) {
        result += tops[rank - part + at];
      }
      team.team_barrier();
      return result;
    };
    const auto element = [&](int row, int column) {
      if (!active || row >= n || column >= n) {
        return T(0);
      }
      const int i = labels[row];
      const int j = labels[column];
      const bool here = upper ? i <= j : i >= j;
      const T value = here ? A(i, j, b) : conjugate(A(j, i, b));
      return i == j ? T(real_part(value)) : value;
    };

    R largest = 0;
    for (int r = 0; r < rows; ++r) {
      top[r] = element(part * rows + r, pair);
      bottom[r] = element(part * rows + r, pairs + pair);
      for (const T& value : {top[r], bottom[r]}) {
        const R size = Kokkos::fmax(Kokkos::abs(real_part(value)), magnitude(T(value - T(real_part(value)))));
        largest = size > largest || size != size ? size : largest;
        largest = value != value ? Kokkos::Experimental::quiet_NaN_v<R> : largest;
      }
    }
    largest = all_of(largest, false);
    const bool finite = Kokkos::isfinite(largest);
    const int exponent = largest > 0 && finite ? static_cast<int>(Kokkos::logb(largest)) + 1 : 0;
    // In two steps, neither of which over- or underflows.
    const R first = power_of_two<R>(-(exponent / 2));
    const R second = power_of_two<R>(-(exponent - exponent / 2));
    R square = 0;
    R off = 0;
    for (int r = 0; r < rows; ++r) {
      const int i = part * rows + r;
      off = (i != pair && top[r] != T(0)) || (i != pairs + pair && bottom[r] != T(0)) ? R(1) : off;
      top[r] = top[r] * first * second;
      bottom[r] = bottom[r] * first * second;
      const R left = magnitude(top[r]);
      const R right = magnitude(bottom[r]);
      square += left * left + right * right;
    }
    // Powers of two between the diagonal's elements; endless where one is not positive.
    constexpr R endless = R(1e6);
    const auto below_largest = [&](int j) {
      if (j >= n || j / rows != part || !(largest > 0)) {
        return R(0);
      }
      const R corner = real_part(element(j, j));
      return corner > 0 ? Kokkos::logb(largest) - Kokkos::logb(corner) : endless;
    };
    const R spread = all_of(Kokkos::fmax(below_largest(pair), below_largest(pairs + pair)), false);
    const bool too_graded =
        accuracy != JacobiAccuracy::norm && spread > static_cast<R>(small_spread<R>) && spread < endless;
    const R norm = Kokkos::sqrt(all_of(square, true));
    const bool is_diagonal = !(all_of(off, false) > 0);

    bool relative = accuracy != JacobiAccuracy::norm;
    if (relative) {
      relative = factor(team, n, slot, pair, part, tops, top, bottom);
    }
    R shift = 0;
    if (is_diagonal) {
      // The eigenvalues are there; signs too.
      for (int r = 0; r < rows; ++r) {
        const int i = part * rows + r;
        top[r] = i == pair && i < n ? element(i, i) : T(0);
        bottom[r] = i == pairs + pair && i < n ? element(i, i) : T(0);
      }
    } else if (!relative) {
      shift = R(1.5) * norm;
      for (int r = 0; r < rows; ++r) {
        const int i = part * rows + r;
        top[r] = element(i, pair) * first * second + (i == pair && i < n ? T(shift) : T(0));
        bottom[r] = element(i, pairs + pair) * first * second + (i == pairs + pair && i < n ? T(shift) : T(0));
      }
    }

    Outcome outcome{0, static_cast<int>(JacobiEnd::sweep_limit), relative ? 1 : 0, 0};
    bool done = false;
    if (!finite || is_diagonal || too_graded || !active) {
      outcome.end = !finite ? end_not_finite : is_diagonal ? static_cast<int>(JacobiEnd::diagonal) : end_too_graded;
      done = true;
    }
    R left_square = 0;
    R right_square = 0;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      if (!(all_done(team, numbers, rank, done) == 0)) {
        break;
      }
      R worst = 0;
      R sine = 0;
      int rotations = 0;
      left_square = real_part(of_pair(T(square_of(top))));
      right_square = real_part(of_pair(T(square_of(bottom))));
      for (int step = 0; step < N - 1; ++step) {
        T inner = T(0);
        for (int r = 0; r < rows; ++r) {
          inner = multiply_add<T>(conjugate(top[r]), bottom[r], inner);
        }
        inner = of_pair(inner);
        const R size = magnitude(inner);
        // |inner| / (|x| |y|) without a root: squared, but for what would underflow.
        const R share = size > 0 ? size / (Kokkos::sqrt(left_square) * Kokkos::sqrt(right_square)) : R(0);
        worst = Kokkos::fmax(worst, share);
        if (!done && share > tolerance) {
          const Rotation<T> turn = rotation_of<T>(left_square, inner, size, right_square);
          sine = Kokkos::fmax(sine, magnitude(turn.s));
          ++rotations;
          left_square -= turn.shift;
          right_square += turn.shift;
          for (int r = 0; r < rows; ++r) {
            rotate<T>(turn.s, turn.tau, top[r], bottom[r]);
          }
        }
        move(team, rank, pair, tops, bottoms, numbers, others, top, bottom, left_square, right_square);
      }
      worst = all_of(worst, false);
      sine = all_of(sine, false);
      const auto turned = static_cast<Index>(all_of(static_cast<R>(rotations), true)) / split;
      if (!done) {
        ++outcome.sweeps;
        outcome.rotations += turned;
        note(rank, worst, outcome.sweeps - 1);
        if (!(worst > tolerance)) {
          outcome.end = static_cast<int>(JacobiEnd::tolerance);
          done = true;
        } else if (SweepCounts<R>{worst, sine, turned}.leaves_less_than(tolerance, n, relative)) {
          outcome.end = static_cast<int>(JacobiEnd::quadratic);
          done = true;
        }
      }
    }

    // Lengths, eigenvalues, their ranks by counting, equal ones as they stand.
    const R left = Kokkos::sqrt(real_part(of_pair(T(square_of(top)))));
    const R right = Kokkos::sqrt(real_part(of_pair(T(square_of(bottom)))));
    const auto value_of = [&](R length, const T* column, int j) {
      if (is_diagonal) {
        R value = 0;
        for (int r = 0; r < rows; ++r) {
          value += part * rows + r == j ? real_part(column[r]) : R(0);
        }
        return value;
      }
      return relative ? length * length : length - shift;
    };
    const R low = real_part(of_diagonal(of_pair, is_diagonal, value_of(left, top, pair)));
    const R high = real_part(of_diagonal(of_pair, is_diagonal, value_of(right, bottom, pairs + pair)));
    numbers[rank] = low;
    others[rank] = high;
    team.team_barrier();
    if (active) {
      const R back_first = is_diagonal ? R(1) : power_of_two<R>(exponent / 2);
      const R back_second = is_diagonal ? R(1) : power_of_two<R>(exponent - exponent / 2);
      finish(b, n, slot, pair, part, low, left, is_diagonal, top, labels, numbers, others, back_first, back_second,
             false);
      finish(b, n, slot, pair, part, high, right, is_diagonal, bottom, labels, numbers, others, back_first, back_second,
             true);
      if (pair == 0 && part == 0) {
        outcomes(b) = outcome;
      }
    }
  }

 private:
  // Enters column j of the matrix at its place: its own, or by the diagonal, the largest first, where all of that is
  // positive and spans more than sorted_spread. Every thread sees the same diagonal.
  KOKKOS_INLINE_FUNCTION void order_columns(int n, Index b, bool active, int j, int* labels) const {
    if (!active || j >= n) {
      return;
    }
    const R mine = real_part(A(j, j, b));
    R least = mine;
    R most = mine;
    bool positive = accuracy != JacobiAccuracy::norm;
    int place = 0;
    for (int k = 0; k < n; ++k) {
      const R other = real_part(A(k, k, b));
      positive = positive && other > 0;
      least = Kokkos::fmin(least, other);
      most = Kokkos::fmax(most, other);
      place += other > mine || (other == mine && k < j) ? 1 : 0;
    }
    const bool sorted = positive && Kokkos::logb(most) - Kokkos::logb(least) > static_cast<R>(sorted_spread);
    labels[sorted ? place : j] = j;
  }
  static KOKKOS_INLINE_FUNCTION R square_of(const T* column) {
    R sum = 0;
    for (int r = 0; r < rows; ++r) {
      const R re = real_part(column[r]);
      sum = Kokkos::fma(re, re, sum);
      if constexpr (is_complex<T>) {
        sum = Kokkos::fma(column[r].imag(), column[r].imag(), sum);
      }
    }
    return sum;
  }
  template <class OfPair>
  static KOKKOS_INLINE_FUNCTION T of_diagonal(const OfPair& of_pair, bool is_diagonal, R value) {
    // Of a diagonal matrix one thread of a column has it; else all do.
    const T sum = of_pair(T(value));
    return is_diagonal ? sum : T(value);
  }
  KOKKOS_INLINE_FUNCTION void note(int rank, R value, int sweep) const {
    if (rank == 0 && history.extent(0) > 0) {
      history(sweep) = value;
    }
  }
  static KOKKOS_INLINE_FUNCTION int all_done(const Team& team, R* numbers, int rank, bool done) {
    numbers[rank] = done ? R(1) : R(0);
    team.team_barrier();
    int all = 1;
    for (int at = 0; at < team_threads; at += threads) {
      all = numbers[at] == R(0) ? 0 : all;
    }
    team.team_barrier();
    return all;
  }

  // Columns of L L^H = A in the place of those of A; false where A is not positive definite.
  KOKKOS_INLINE_FUNCTION bool factor(const Team& team, int n, int slot, int pair, int part, T* scratch, T* top,
                                     T* bottom) const {
    bool positive = true;
    T* const column = scratch + slot * N;
    for (int j = 0; j < n; ++j) {
      const bool mine_top = pair == j;
      const bool mine_bottom = pairs + pair == j;
      for (int r = 0; r < rows; ++r) {
        if (mine_top || mine_bottom) {
          column[part * rows + r] = mine_top ? top[r] : bottom[r];
        }
      }
      team.team_barrier();
      const R pivot = real_part(column[j]);
      positive = positive && pivot > 0;
      const R inverse = positive ? 1 / pivot : R(0);
      const R root = positive ? 1 / Kokkos::sqrt(pivot) : R(0);
      const T left = pair > j ? conjugate(column[pair]) * inverse : T(0);
      const T right = pairs + pair > j && pairs + pair < n ? conjugate(column[pairs + pair]) * inverse : T(0);
      for (int r = 0; r < rows; ++r) {
        const int i = part * rows + r;
        const T value = column[i];
        top[r] = mine_top ? (i < j ? T(0) : value * root) : multiply_add<T>(-left, value, top[r]);
        bottom[r] = mine_bottom ? (i < j ? T(0) : value * root) : multiply_add<T>(-right, value, bottom[r]);
      }
      team.team_barrier();
    }
    return positive;
  }

  // Columns, with their squared lengths, to where the order of Brent and Luk has them next.
  KOKKOS_INLINE_FUNCTION void move(const Team& team, int rank, int pair, T* tops, T* bottoms, R* numbers, R* others,
                                   T* top, T* bottom, R& left, R& right) const {
    const bool from_below = pair == 1;
    const int above = pair == 0 ? rank : rank - split;
    const T* const source = from_below ? bottoms : tops;
    const bool from_top = pair == pairs - 1;
    const int below = from_top ? rank : rank + split;
    const T* const other = from_top ? tops : bottoms;
    numbers[rank] = left;
    others[rank] = right;
    for (int begin = 0; begin < rows; begin += moved_rows) {
      for (int r = 0; r < moved_rows; ++r) {
        tops[r * team_threads + rank] = top[begin + r];
        bottoms[r * team_threads + rank] = bottom[begin + r];
      }
      team.team_barrier();
      for (int r = 0; r < moved_rows; ++r) {
        top[begin + r] = source[r * team_threads + above];
        bottom[begin + r] = other[r * team_threads + below];
      }
      if (begin == 0) {
        left = from_below ? others[above] : numbers[above];
        right = from_top ? numbers[below] : others[below];
      }
      team.team_barrier();
    }
  }

  KOKKOS_INLINE_FUNCTION void finish(Index b, int n, int slot, int pair, int part, R value, R length, bool is_diagonal,
                                     const T* column, const int* labels, const R* lows, const R* highs, R back_first,
                                     R back_second, bool is_bottom) const {
    const int j = is_bottom ? pairs + pair : pair;
    if (j >= n) {
      return;
    }
    int place = 0;
    for (int k = 0; k < n; ++k) {
      const R other = k < pairs ? lows[slot * threads + k * split] : highs[slot * threads + (k - pairs) * split];
      place += other < value || (other == value && k < j) ? 1 : 0;
    }
    if (part == 0) {
      w(place, b) = value * back_first * back_second;
    }
    if (vectors) {
      const R factor = length > 0 ? 1 / length : R(0);
      for (int r = 0; r < rows; ++r) {
        const int i = part * rows + r;
        if (i < n) {
          V(labels[i], place, b) = is_diagonal ? (i == j ? T(1) : T(0)) : column[r] * factor;
        }
      }
    }
  }
};

}  // namespace heddle::eigen::impl
