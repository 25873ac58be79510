// Many small real symmetric eigenproblems on a CPU: a matrix in each lane of a vector, so that nothing is shuffled and
// angles are found side by side. One-sided rotations, as SmallColumns makes them on GPUs.
#include "eigen/batched/batch.hpp"
#include "eigen/simd/lane_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heddle::eigen::impl {
namespace {

template <class R> Vector<R> larger(const Vector<R>& x, const Vector<R>& y) {
  return x > y ? x : y;
}

// The matrices of one vector's lanes, n x n vectors, column-major.
template <RealScalar R> class LaneEngine {
 public:
  LaneEngine(const Batch<R>& batch, Index first, Vector<R>* memory)
      : batch_(batch),
        n_(batch.rows()),
        columns_(memory),
        given_(memory + room(n_)),
        spare_(memory + 2 * room(n_)),
        first_(first),
        count_(static_cast<int>(std::min<Index>(lanes, batch.count() - first))) {}
  // Vectors of one matrix, and the number of matrices.
  static std::ptrdiff_t room(int n) { return lane_column(n, n); }
  static constexpr std::size_t rooms = 4;

  template <class Body> void each(const Body& body) {
    for (int lane = 0; lane < lanes; ++lane) {
      body(lane, progress_[static_cast<std::size_t>(lane)]);
    }
  }

  // A lane without a matrix has one of zeros.
  Extremes<R> look(int lane) {
    R largest = 0;
    R off = 0;
    R least = std::numeric_limits<R>::max();
    bool finite = true;
    for (int j = 0; j < n_ && lane < count_; ++j) {
      for (int i = batch_.upper ? 0 : j; i < (batch_.upper ? j + 1 : n_); ++i) {
        const R size = std::abs(batch_.A(i, j, first_ + lane));
        finite = finite && size <= std::numeric_limits<R>::max();
        largest = std::max(largest, size);
        off = i == j ? off : std::max(off, size);
      }
      least = std::min(least, batch_.A(j, j, first_ + lane));
    }
    order_columns(lane, finite && off > 0 && takes_largest_first(batch_.accuracy, largest, least));
    return {finite ? largest : std::numeric_limits<R>::infinity(), least, !(off > 0)};
  }

  void prepare() {
    for (int lane = 0; lane < lanes; ++lane) {
      read(lane);
    }
    std::copy_n(columns_, room(n_), given_);
    relative_ = batch_.accuracy != JacobiAccuracy::norm ? factor() : Vector<R>{};
    begin_again();
  }

  bool unfinished() {
    bool any = false;
    for (int lane = 0; lane < lanes; ++lane) {
      const bool done = progress_[static_cast<std::size_t>(lane)].done();
      done_[lane] = done ? R(1) : R(0);
      any = any || !done;
    }
    return any;
  }

  [[nodiscard]] SweepCounts<R> counts(int lane) const {
    return {std::sqrt(worst_[lane]), sine_[lane], static_cast<Index>(rotations_[lane])};
  }
  // Pairs that turned are told by their digits, the largest cosine by few.
  [[nodiscard]] bool found_nothing(int lane) const { return !(rotations_[lane] > 0); }
  void note(int lane) const {
    if (lane == 0 && batch_.history.extent(0) > 0) {
      batch_.history(progress_[0].outcome.sweeps - 1) = std::sqrt(worst_[0]);
    }
  }

  void sweep() {
    for (int j = 0; j < n_; ++j) {
      squares_[j] = square_of(j);
    }
    worst_ = Vector<R>{};
    sine_ = Vector<R>{};
    rotations_ = Vector<R>{};
    const R tolerance = batch_.limits.tolerance;
    tolerance_square_ = all<R>(tolerance * tolerance);
    // Four rows of pairs at a time, each a column behind the one above it, so that none of four pairs share a column.
    int p = 0;
    for (; p + 4 < n_; p += 4) {
      for (int q = p + 1; q < p + 4; ++q) {
        for (int k = p; k < q; ++k) {
          rotate_pairs<1>({k}, {q});
        }
      }
      const int end = n_ + 3;
      for (int j = p + 4; j < end; ++j) {
        if (j - 3 >= p + 4 && j < n_) {
          rotate_pairs<4>({p, p + 1, p + 2, p + 3}, {j, j - 1, j - 2, j - 3});
          continue;
        }
        for (int row = 0; row < 4; ++row) {
          if (j - row >= p + 4 && j - row < n_) {
            rotate_pairs<1>({p + row}, {j - row});
          }
        }
      }
    }
    for (; p < n_; ++p) {
      for (int q = p + 1; q < n_; ++q) {
        rotate_pairs<1>({p}, {q});
      }
    }
  }

  void finish() {
    const auto size = static_cast<std::size_t>(n_);
    std::vector<R> values(size);
    std::vector<R> factors(size);
    std::vector<int> order(size);
    for (int j = 0; j < n_; ++j) {
      squares_[j] = root<R>(square_of(j));
    }
    for (int lane = 0; lane < count_; ++lane) {
      const auto at = static_cast<std::size_t>(lane);
      const Index b = first_ + lane;
      const Progress<R>& progress = progress_[at];
      const bool is_diagonal = progress.is_diagonal();
      for (int j = 0; j < n_; ++j) {
        const R length = squares_[j][lane];
        values[static_cast<std::size_t>(j)] =
            is_diagonal ? batch_.A(label(lane, j), label(lane, j), b) : progress.value(length);
        factors[static_cast<std::size_t>(j)] = length > 0 ? 1 / length : R(0);
        order[static_cast<std::size_t>(j)] = j;
      }
      std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
        return values[static_cast<std::size_t>(i)] < values[static_cast<std::size_t>(j)];
      });
      const PowerOfTwo<R> up = progress.up();
      for (int place = 0; place < n_; ++place) {
        const int j = order[static_cast<std::size_t>(place)];
        batch_.w(place, b) = up.times(values[static_cast<std::size_t>(j)]);
        if (batch_.vectors) {
          const R factor = factors[static_cast<std::size_t>(j)];
          for (int i = 0; i < n_; ++i) {
            // Lanes that are done are multiplied by identities while others go on, and 0 z + 1 (-0) is +0: without
            // the sign of a zero nothing of that is left. No other number depends on such signs.
            batch_.V(label(lane, i), place, b) = is_diagonal ? R(i == j ? 1 : 0) : column(j)[i][lane] * factor + R(0);
          }
        }
      }
      batch_.outcomes(b) = progress.outcome;
    }
  }

 private:
  static constexpr int lanes = Lanes<R>::count;

  Vector<R>* column(int j) const { return column(columns_, j); }
  Vector<R>* column(Vector<R>* matrix, int j) const { return matrix + lane_column(n_, j); }

  // Elements times a power of two that makes the largest of the matrix less than 1.
  void read(int lane) {
    const Progress<R>& progress = progress_[static_cast<std::size_t>(lane)];
    const PowerOfTwo<R> down = progress.down();
    const bool present = lane < count_ && progress.outcome.end >= 0;
    for (int j = 0; j < n_; ++j) {
      for (int i = j; i < n_; ++i) {
        const R value = present ? down.times(given(lane, i, j)) : R(0);
        column(j)[i][lane] = value;
        column(i)[j][lane] = value;
      }
    }
  }

  // Column of the matrix in each place: in the given order, or the largest diagonal element first.
  void order_columns(int lane, bool sorted) {
    std::array<int, static_cast<std::size_t>(largest_small)>& label = labels_[static_cast<std::size_t>(lane)];
    std::iota(label.begin(), label.begin() + n_, 0);
    sorted_[static_cast<std::size_t>(lane)] = sorted;
    if (sorted) {
      std::stable_sort(label.begin(), label.begin() + n_,
                       [&](int i, int j) { return batch_.A(i, i, first_ + lane) > batch_.A(j, j, first_ + lane); });
    }
  }
  [[nodiscard]] int label(int lane, int place) const {
    return labels_[static_cast<std::size_t>(lane)][static_cast<std::size_t>(place)];
  }
  // The element in row i and column j <= i of places.
  [[nodiscard]] R given(int lane, int i, int j) const {
    int row = i;
    int column = j;
    if (sorted_[static_cast<std::size_t>(lane)]) {
      row = std::max(label(lane, i), label(lane, j));
      column = std::min(label(lane, i), label(lane, j));
    }
    return batch_.upper ? batch_.A(column, row, first_ + lane) : batch_.A(row, column, first_ + lane);
  }

  // Replace A by L, A = L L^T, in lanes with a positive definite matrix; return these lanes.
  Vector<R> factor() {
    Vector<R> positive = all<R>(1);
    for (int j = 0; j < n_; ++j) {
      Vector<R>* const l = column(j);
      const Vector<R> pivot = l[j];
      positive = pivot > 0 ? positive : Vector<R>{};
      const Vector<R> safe = positive > 0 ? pivot : all<R>(1);
      const Vector<R> inverse = 1 / safe;
      for (int k = j + 1; k < n_; ++k) {
        const Vector<R> by = l[k] * inverse;
        Vector<R>* const to = column(k);
        for (int i = k; i < n_; ++i) {
          to[i] -= l[i] * by;
        }
      }
      const Vector<R> scale = 1 / root<R>(safe);
      for (int i = 0; i < n_; ++i) {
        l[i] = i < j ? Vector<R>{} : l[i] * scale;
      }
    }
    return positive;
  }
  // (A + shift I) Q in lanes that have no factor, Q the eigenvectors of A as tridiagonalisation finds them.
  void begin_again() {
    bool all_factored = true;
    for (int lane = 0; lane < lanes; ++lane) {
      Progress<R>& progress = progress_[static_cast<std::size_t>(lane)];
      progress.outcome.relative = relative_[lane] > 0 ? 1 : 0;
      all_factored = all_factored && (progress.relative() || progress.done());
    }
    if (all_factored) {
      return;
    }
    Vector<R> square{};
    for (int j = 0; j < n_; ++j) {
      for (int i = 0; i < n_; ++i) {
        const Vector<R> value = column(given_, j)[i];
        square += value * value;
      }
    }
    const Vector<R> added = R(1.5) * root<R>(square);
    for (int lane = 0; lane < lanes; ++lane) {
      progress_[static_cast<std::size_t>(lane)].shift = added[lane];
    }
    const bool ahead = lanes_begin_ahead(n_);
    Vector<R>* const Q = spare_;
    if (ahead) {
      LaneVectors<R>(n_).find(given_, spare_ + room(n_), Q);
    }
    for (int j = 0; j < n_; ++j) {
      int i = 0;
      for (; i + 8 <= n_; i += 8) {
        shifted_product<8>(Q, i, j, added, ahead);
      }
      for (; i < n_; ++i) {
        shifted_product<1>(Q, i, j, added, ahead);
      }
    }
  }
  // Elements i ... of column j of (A + shift I) Q, in lanes that have no factor.
  template <int rows> void shifted_product(Vector<R>* Q, int i, int j, const Vector<R>& added, bool ahead) const {
    Vector<R> sums[rows];
    for (int r = 0; r < rows; ++r) {
      const Vector<R> at = ahead ? column(Q, j)[i + r] : i + r == j ? all<R>(1) : Vector<R>{};
      sums[r] = added * at + (ahead ? Vector<R>{} : column(given_, j)[i + r]);
    }
    for (int k = 0; ahead && k < n_; ++k) {
      const Vector<R> by = column(Q, j)[k];
      const Vector<R>* const from = column(given_, k) + i;
      for (int r = 0; r < rows; ++r) {
        sums[r] += from[r] * by;
      }
    }
    for (int r = 0; r < rows; ++r) {
      column(j)[i + r] = relative_ > 0 ? column(j)[i + r] : sums[r];
    }
  }

  // `many` pairs of different columns in all lanes, stage by stage: one alone would wait for its quotients and roots.
  template <int many> void rotate_pairs(const std::array<int, many>& p, const std::array<int, many>& q) {
    Vector<R> b[many];
    Vector<R> t[many];
    Vector<R> s[many];
    Vector<R> tau[many];
    Vector<R> turns[many];
    for (int at = 0; at < many; ++at) {
      const Vector<R>* const x = column(p[at]);
      const Vector<R>* const y = column(q[at]);
      Vector<R> parts[4] = {};
      int i = 0;
      for (; i + 4 <= n_; i += 4) {
        for (int part = 0; part < 4; ++part) {
          parts[part] += x[i + part] * y[i + part];
        }
      }
      for (; i < n_; ++i) {
        parts[0] += x[i] * y[i];
      }
      b[at] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    }
    const auto active = done_ <= 0;
    Vector<R> turned{};
    for (int at = 0; at < many; ++at) {
      const Vector<R> a = squares_[p[at]];
      const Vector<R> d = squares_[q[at]];
      worst_ = larger<R>(worst_, active ? rough_quotient(b[at], a, d) : Vector<R>{});
      turns[at] = (b[at] * b[at] > tolerance_square_ * (a * d)) & active ? all<R>(1) : Vector<R>{};
      turned += turns[at];
    }
    if (is_zero(turned)) {
      return;
    }
    rotations_ += turned;
    for (int at = 0; at < many; ++at) {
      const Vector<R> a = squares_[p[at]];
      const Vector<R> d = squares_[q[at]];
      const Vector<R> square = b[at] * b[at];
      // tan(theta) = 2 b / ((d - a) +- sqrt((d - a)^2 + 4 b^2))
      const Vector<R> difference = d - a;
      const Vector<R> below = size_of<R>(difference) + root<R>(difference * difference + 4 * square);
      const Vector<R> signed_twice = difference < 0 ? -2 * b[at] : 2 * b[at];
      t[at] = turns[at] > 0 ? signed_twice / (below > 0 ? below : all<R>(1)) : Vector<R>{};
    }
    for (int at = 0; at < many; ++at) {
      // r = 1 / cos(theta); s = t / r and tau = t / (1 + r) by one quotient.
      const Vector<R> r = root<R>(t[at] * t[at] + 1);
      const Vector<R> inverse = 1 / (r * (r + 1));
      s[at] = t[at] * (r + 1) * inverse;
      tau[at] = t[at] * r * inverse;
      sine_ = larger<R>(sine_, size_of<R>(s[at]));
    }
    for (int at = 0; at < many; ++at) {
      if (is_zero(s[at])) {
        continue;
      }
      Vector<R>* const x = column(p[at]);
      Vector<R>* const y = column(q[at]);
      const Vector<R> sine = s[at];
      const Vector<R> half = tau[at];
      for (int k = 0; k < n_; ++k) {
        const Vector<R> u = x[k];
        const Vector<R> v = y[k];
        x[k] = u - sine * (v + half * u);
        y[k] = v + sine * (u - half * v);
      }
      squares_[p[at]] -= t[at] * b[at];
      squares_[q[at]] += t[at] * b[at];
    }
  }
  static bool is_zero(const Vector<R>& x) {
    bool zero = true;
    for (int lane = 0; lane < lanes; ++lane) {
      zero = zero && x[lane] == 0;
    }
    return zero;
  }
  // b^2 / (a d) to a few digits, by the narrower type's quotients; 1 where that type has no such numbers.
  static Vector<R> rough_quotient(const Vector<R>& b, const Vector<R>& a, const Vector<R>& d) {
    using Narrow __attribute__((vector_size(lanes * sizeof(float)))) = float;
    const Narrow least = Narrow{} + std::numeric_limits<float>::min();
    const Narrow size = __builtin_convertvector(size_of<R>(b), Narrow);
    const Narrow first = __builtin_convertvector(a, Narrow);
    const Narrow second = __builtin_convertvector(d, Narrow);
    const Narrow lower = first < second ? first : second;
    const Narrow smallest = size < lower ? size : lower;
    const Narrow one = Narrow{} + 1.0F;
    const Narrow quotient = (size / (first > 0 ? first : one)) * (size / (second > 0 ? second : one));
    const Narrow share = smallest >= least ? quotient : one;
    return b == 0 ? Vector<R>{} : __builtin_convertvector(share, Vector<R>);
  }
  [[nodiscard]] Vector<R> square_of(int j) const {
    Vector<R> sum{};
    const Vector<R>* const x = column(j);
    for (int i = 0; i < n_; ++i) {
      sum += x[i] * x[i];
    }
    return sum;
  }

  const Batch<R>& batch_;
  int n_;
  Vector<R>* columns_;  // Columns that are rotated.
  Vector<R>* given_;    // The matrices, scaled.
  Vector<R>* spare_;
  Index first_;
  int count_;
  std::array<Progress<R>, static_cast<std::size_t>(lanes)> progress_{};
  std::array<std::array<int, static_cast<std::size_t>(largest_small)>, static_cast<std::size_t>(lanes)> labels_{};
  std::array<bool, static_cast<std::size_t>(lanes)> sorted_{};
  std::array<Vector<R>, static_cast<std::size_t>(largest_small)> squares_;
  Vector<R> done_{};
  Vector<R> relative_{};
  Vector<R> worst_{};
  Vector<R> sine_{};
  Vector<R> rotations_{};
  Vector<R> tolerance_square_{};
};

}  // namespace

template <RealScalar R> void solve_lanes(const ExecutionSpace& space, const Batch<R>& batch) {
  constexpr Index lanes = Lanes<R>::count;
  const Index count = batch.count();
  const int n = batch.rows();
  const auto room = LaneEngine<R>::rooms * static_cast<std::size_t>(LaneEngine<R>::room(n));
  const Kokkos::Experimental::UniqueToken<ExecutionSpace> tokens;
  // Aligned as vectors are.
  const Kokkos::View<R*, Kokkos::HostSpace> memory(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::eigen::lanes"),
      (static_cast<std::size_t>(tokens.size()) * room + 1) * static_cast<std::size_t>(lanes));
  const std::size_t past = reinterpret_cast<std::uintptr_t>(memory.data()) % sizeof(Vector<R>);
  auto* const aligned =
      reinterpret_cast<Vector<R>*>(memory.data() + (sizeof(Vector<R>) - past) % sizeof(Vector<R>) / sizeof(R));
  Kokkos::parallel_for("heddle::eigen::batched",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>, Kokkos::Schedule<Kokkos::Dynamic>>(
                           space, 0, (count + lanes - 1) / lanes, Kokkos::ChunkSize(1)),
                       [&](Index at) {
                         const int token = tokens.acquire();
                         LaneEngine<R> engine(batch, at * lanes, aligned + static_cast<std::size_t>(token) * room);
                         solve_by(engine, batch);
                         tokens.release(token);
                       });
}

template void solve_lanes<float>(const ExecutionSpace&, const Batch<float>&);
template void solve_lanes<double>(const ExecutionSpace&, const Batch<double>&);

}  // namespace heddle::eigen::impl
