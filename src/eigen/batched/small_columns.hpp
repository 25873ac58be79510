// Many small Hermitian eigenproblems on a GPU: one-sided rotations of columns that live in registers. A thread, or a
// few of them, has two columns, of which it makes a pair orthogonal; then columns move on through scratch memory.
#pragma once

#include "core/launch_bounds.hpp"
#include "eigen/batched/batch.hpp"
#include "eigen/dense/rotation.hpp"

namespace heddle::eigen::impl {

/// How teams share matrices of up to N rows, `split` threads to a column.
template <Scalar T, int N, int split> struct ColumnsShape {
  using R = Real<T>;
  static constexpr int pairs = N / 2;
  static constexpr int rows = N / split;         // Of a thread.
  static constexpr int threads = pairs * split;  // To a matrix.
  static constexpr int team_threads = threads > 32 ? threads : 32;
  static constexpr int at_once = team_threads / threads;  // Matrices of a team.
  // 128 registers hold two columns; what else there is wants 40.
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<team_threads, 384 / team_threads>>;
  using Team = typename Policy::member_type;
  // Rows of both columns of every thread that move at a time, and a number of each column.
  static constexpr int moved_rows =
      team_threads * 2 * rows * static_cast<int>(sizeof(T)) <= 40 * 1024 ? rows : rows / 2;
  static constexpr int bytes =
      team_threads * (2 * moved_rows * static_cast<int>(sizeof(T)) + 2 * static_cast<int>(sizeof(R))) +
      at_once * N * static_cast<int>(sizeof(int));
};

/// One thread's part of a matrix: its rows of two columns are `top` and `bottom`. These are arrays of the caller's, and
/// every function is inlined, so that compilers can keep all of it in registers. All threads of a team make the same
/// calls, whether they have a matrix or not. Positive definite matrices are solved by their Cholesky factor, whose
/// singular values squared are the eigenvalues, to relative accuracy; others by A + shift I, which is well conditioned.
template <Scalar T, int N, int split> class ColumnsEngine : ColumnsShape<T, N, split> {
  using Shape = ColumnsShape<T, N, split>;
  using Shape::at_once;
  using Shape::bytes;
  using Shape::moved_rows;
  using Shape::pairs;
  using Shape::rows;
  using Shape::team_threads;
  using Shape::threads;

 public:
  using R = Real<T>;
  using Team = typename Shape::Team;

  KOKKOS_FORCEINLINE_FUNCTION ColumnsEngine(const Team& team, const Batch<T>& batch, T* top, T* bottom)
      : team_(team),
        batch_(batch),
        n_(batch.rows()),
        rank_(team.team_rank()),
        slot_(rank_ / threads),
        pair_(rank_ % threads / split),
        part_(rank_ % split),
        b_(static_cast<Index>(team.league_rank()) * at_once + slot_),
        active_(b_ < batch.count()),
        top_(top),
        bottom_(bottom),
        tops_(static_cast<T*>(team.team_shmem().get_shmem(int{bytes}))),
        bottoms_(tops_ + team_threads * moved_rows),
        numbers_(reinterpret_cast<R*>(bottoms_ + team_threads * moved_rows)),
        others_(numbers_ + team_threads),
        labels_(reinterpret_cast<int*>(others_ + team_threads) + slot_ * N) {
    if (part_ == 0) {
      order_columns(pair_);
      order_columns(pairs + pair_);
    }
    team_.team_barrier();
  }

  template <class Body> KOKKOS_FORCEINLINE_FUNCTION void each(const Body& body) { body(slot_, progress_); }

  KOKKOS_FORCEINLINE_FUNCTION Extremes<R> look(int /*slot*/) {
    R largest = 0;
    R off = 0;
    for (int r = 0; r < rows; ++r) {
      const int i = part_ * rows + r;
      top_[r] = element(i, pair_);
      bottom_[r] = element(i, pairs + pair_);
      largest = Kokkos::fmax(largest, Kokkos::fmax(largest_part(top_[r]), largest_part(bottom_[r])));
      off = (i != pair_ && top_[r] != T(0)) || (i != pairs + pair_ && bottom_[r] != T(0)) ? R(1) : off;
    }
    largest = all_of(largest, false);
    // The least is the largest of what is negative.
    const auto negative = [&](int j) { return j < n_ ? -real_part(element(j, j)) : -largest; };
    const R least = -all_of(Kokkos::fmax(negative(pair_), negative(pairs + pair_)), false);
    return {largest, least, !(all_of(off, false) > 0)};
  }

  KOKKOS_FORCEINLINE_FUNCTION void prepare() {
    const PowerOfTwo<R> down = progress_.down();
    R square = 0;
    for (int r = 0; r < rows; ++r) {
      top_[r] = down.times(top_[r]);
      bottom_[r] = down.times(bottom_[r]);
      const R left = magnitude(top_[r]);
      const R right = magnitude(bottom_[r]);
      square += left * left + right * right;
    }
    const R norm = Kokkos::sqrt(all_of(square, true));
    const bool is_diagonal = progress_.is_diagonal();
    progress_.outcome.relative = batch_.accuracy != JacobiAccuracy::norm && factor() ? 1 : 0;
    if (!is_diagonal && progress_.relative()) {
      return;
    }
    // The eigenvalues of a diagonal are there, signs too.
    const R shift = is_diagonal ? R(0) : R(1.5) * norm;
    progress_.shift = shift;
    for (int r = 0; r < rows; ++r) {
      const int i = part_ * rows + r;
      const bool above = i == pair_ && i < n_;
      const bool below = i == pairs + pair_ && i < n_;
      if (is_diagonal) {
        top_[r] = above ? element(i, i) : T(0);
        bottom_[r] = below ? element(i, i) : T(0);
      } else {
        top_[r] = down.times(element(i, pair_)) + (above ? T(shift) : T(0));
        bottom_[r] = down.times(element(i, pairs + pair_)) + (below ? T(shift) : T(0));
      }
    }
  }

  // Whether any matrix of the team is.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool unfinished() const {
    numbers_[rank_] = active_ && !progress_.done() ? R(1) : R(0);
    team_.team_barrier();
    bool any = false;
    for (int at = 0; at < team_threads; at += threads) {
      any = any || numbers_[at] != R(0);
    }
    team_.team_barrier();
    return any;
  }

  KOKKOS_FORCEINLINE_FUNCTION void sweep() {
    const bool rotates = active_ && !progress_.done();
    R worst = 0;
    R sine = 0;
    int rotations = 0;
    left_square_ = real_part(of_pair(T(square_of(top_))));
    right_square_ = real_part(of_pair(T(square_of(bottom_))));
    for (int step = 0; step < N - 1; ++step) {
      T inner = T(0);
      for (int r = 0; r < rows; ++r) {
        inner = multiply_add<T>(conjugate(top_[r]), bottom_[r], inner);
      }
      inner = of_pair(inner);
      const R size = magnitude(inner);
      // |inner| / (|x| |y|) without a root: squared, but for what would underflow.
      const R share = size > 0 ? size / (Kokkos::sqrt(left_square_) * Kokkos::sqrt(right_square_)) : R(0);
      worst = Kokkos::fmax(worst, share);
      if (rotates && share > batch_.limits.tolerance) {
        const Rotation<T> turn = rotation_of<T>(left_square_, inner, size, right_square_);
        sine = Kokkos::fmax(sine, magnitude(turn.s));
        ++rotations;
        left_square_ -= turn.shift;
        right_square_ += turn.shift;
        for (int r = 0; r < rows; ++r) {
          rotate<T>(turn.s, turn.tau, top_[r], bottom_[r]);
        }
      }
      move();
    }
    counts_.largest = all_of(worst, false);
    counts_.sine = all_of(sine, false);
    counts_.rotations = static_cast<Index>(all_of(static_cast<R>(rotations), true)) / split;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION const SweepCounts<R>& counts(int /*slot*/) const { return counts_; }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool found_nothing(int /*slot*/) const {
    return !(counts_.largest > batch_.limits.tolerance);
  }
  KOKKOS_FORCEINLINE_FUNCTION void note(int /*slot*/) const {
    if (rank_ == 0 && batch_.history.extent(0) > 0) {
      batch_.history(progress_.outcome.sweeps - 1) = counts_.largest;
    }
  }

  // Lengths, eigenvalues, their ranks by counting, equal ones as they stand.
  KOKKOS_FORCEINLINE_FUNCTION void finish() {
    const R left = Kokkos::sqrt(real_part(of_pair(T(square_of(top_)))));
    const R right = Kokkos::sqrt(real_part(of_pair(T(square_of(bottom_)))));
    const R low = value_of(left, top_, pair_);
    const R high = value_of(right, bottom_, pairs + pair_);
    numbers_[rank_] = low;
    others_[rank_] = high;
    team_.team_barrier();
    if (active_) {
      store(low, left, top_, pair_);
      store(high, right, bottom_, pairs + pair_);
      if (pair_ == 0 && part_ == 0) {
        batch_.outcomes(b_) = progress_.outcome;
      }
    }
  }

 private:
  // Enters column j of the matrix at its place: its own, or by the diagonal, the largest first, where all of that is
  // positive and spans more than sorted_spread. Every thread sees the same diagonal.
  KOKKOS_FORCEINLINE_FUNCTION void order_columns(int j) const {
    if (!active_ || j >= n_) {
      return;
    }
    const R mine = real_part(batch_.A(j, j, b_));
    R least = mine;
    R most = mine;
    bool positive = true;
    int place = 0;
    for (int k = 0; k < n_; ++k) {
      const R other = real_part(batch_.A(k, k, b_));
      positive = positive && other > 0;
      least = Kokkos::fmin(least, other);
      most = Kokkos::fmax(most, other);
      place += other > mine || (other == mine && k < j) ? 1 : 0;
    }
    labels_[positive && takes_largest_first(batch_.accuracy, most, least) ? place : j] = j;
  }
  // The element in a row and a column of places; zero outside the matrix.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T element(int row, int column) const {
    if (!active_ || row >= n_ || column >= n_) {
      return T(0);
    }
    const int i = labels_[row];
    const int j = labels_[column];
    const bool here = batch_.upper ? i <= j : i >= j;
    const T value = here ? batch_.A(i, j, b_) : conjugate(batch_.A(j, i, b_));
    return i == j ? T(real_part(value)) : value;
  }
  // The sum, or the largest, of a number of each thread of this matrix.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION R all_of(R mine, bool sum) const {
    numbers_[rank_] = mine;
    team_.team_barrier();
    R result = sum ? R(0) : numbers_[slot_ * threads];
    for (int at = sum ? 0 : 1; at < threads; ++at) {
      const R other = numbers_[slot_ * threads + at];
      result = sum ? result + other : other > result || other != other ? other : result;
    }
    team_.team_barrier();
    return result;
  }
  // The sum over the threads of a column pair.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T of_pair(T mine) const {
    if (split == 1) {
      return mine;
    }
    tops_[rank_] = mine;
    team_.team_barrier();
    T result = T(0);
    for (int at = 0; at < split; ++at) {
      result += tops_[rank_ - part_ + at];
    }
    team_.team_barrier();
    return result;
  }
  static KOKKOS_FORCEINLINE_FUNCTION R square_of(const T* column) {
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
  // The eigenvalue of column j; of a diagonal matrix the one thread that has it gives it to all of the column.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION R value_of(R length, const T* column, int j) const {
    R given = 0;
    for (int r = 0; r < rows; ++r) {
      given += part_ * rows + r == j ? real_part(column[r]) : R(0);
    }
    given = real_part(of_pair(T(given)));
    return progress_.is_diagonal() ? given : progress_.value(length);
  }

  // Columns of L L^H = A in the place of those of A; false where A is not positive definite.
  KOKKOS_FORCEINLINE_FUNCTION bool factor() {
    bool positive = true;
    T* const column = tops_ + slot_ * N;
    for (int j = 0; j < n_; ++j) {
      const bool mine_top = pair_ == j;
      const bool mine_bottom = pairs + pair_ == j;
      for (int r = 0; r < rows; ++r) {
        if (mine_top || mine_bottom) {
          column[part_ * rows + r] = mine_top ? top_[r] : bottom_[r];
        }
      }
      team_.team_barrier();
      const R pivot = real_part(column[j]);
      positive = positive && pivot > 0;
      const R inverse = positive ? 1 / pivot : R(0);
      const R root = positive ? 1 / Kokkos::sqrt(pivot) : R(0);
      const T left = pair_ > j ? conjugate(column[pair_]) * inverse : T(0);
      const T right = pairs + pair_ > j && pairs + pair_ < n_ ? conjugate(column[pairs + pair_]) * inverse : T(0);
      for (int r = 0; r < rows; ++r) {
        const int i = part_ * rows + r;
        const T value = column[i];
        top_[r] = mine_top ? (i < j ? T(0) : value * root) : multiply_add<T>(-left, value, top_[r]);
        bottom_[r] = mine_bottom ? (i < j ? T(0) : value * root) : multiply_add<T>(-right, value, bottom_[r]);
      }
      team_.team_barrier();
    }
    return positive;
  }

  // Columns, with their squared lengths, to where the order of Brent and Luk has them next.
  KOKKOS_FORCEINLINE_FUNCTION void move() {
    const bool from_below = pair_ == 1;
    const int above = pair_ == 0 ? rank_ : rank_ - split;
    const T* const source = from_below ? bottoms_ : tops_;
    const bool from_top = pair_ == pairs - 1;
    const int below = from_top ? rank_ : rank_ + split;
    const T* const other = from_top ? tops_ : bottoms_;
    numbers_[rank_] = left_square_;
    others_[rank_] = right_square_;
    for (int begin = 0; begin < rows; begin += moved_rows) {
      for (int r = 0; r < moved_rows; ++r) {
        tops_[r * team_threads + rank_] = top_[begin + r];
        bottoms_[r * team_threads + rank_] = bottom_[begin + r];
      }
      team_.team_barrier();
      for (int r = 0; r < moved_rows; ++r) {
        top_[begin + r] = source[r * team_threads + above];
        bottom_[begin + r] = other[r * team_threads + below];
      }
      if (begin == 0) {
        left_square_ = from_below ? others_[above] : numbers_[above];
        right_square_ = from_top ? numbers_[below] : others_[below];
      }
      team_.team_barrier();
    }
  }

  // Column j, to the place that its eigenvalue has among all.
  KOKKOS_FORCEINLINE_FUNCTION void store(R value, R length, const T* column, int j) const {
    if (j >= n_) {
      return;
    }
    int place = 0;
    for (int k = 0; k < n_; ++k) {
      const R other =
          k < pairs ? numbers_[slot_ * threads + k * split] : others_[slot_ * threads + (k - pairs) * split];
      place += other < value || (other == value && k < j) ? 1 : 0;
    }
    if (part_ == 0) {
      batch_.w(place, b_) = progress_.up().times(value);
    }
    if (batch_.vectors) {
      const R factor = length > 0 ? 1 / length : R(0);
      const bool is_diagonal = progress_.is_diagonal();
      for (int r = 0; r < rows; ++r) {
        const int i = part_ * rows + r;
        if (i < n_) {
          batch_.V(labels_[i], place, b_) = is_diagonal ? (i == j ? T(1) : T(0)) : column[r] * factor;
        }
      }
    }
  }

  const Team& team_;
  const Batch<T>& batch_;
  int n_;
  int rank_;  // The thread among those of the team.
  int slot_;  // Its matrix among those of the team.
  int pair_;  // Its two columns,
  int part_;  // and its rows of these.
  Index b_;
  bool active_;  // Whether there is such a matrix.
  T* top_;
  T* bottom_;
  T* tops_;
  T* bottoms_;
  R* numbers_;
  R* others_;
  int* labels_;
  R left_square_ = 0;
  R right_square_ = 0;
  SweepCounts<R> counts_;
  Progress<R> progress_;
};

template <Scalar T, int N, int split> struct SmallColumns : ColumnsShape<T, N, split> {
  Batch<T> batch;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const typename ColumnsShape<T, N, split>::Team& team) const {
    T top[N / split];
    T bottom[N / split];
    ColumnsEngine<T, N, split> engine(team, batch, top, bottom);
    solve_by(engine, batch);
  }
};

}  // namespace heddle::eigen::impl
