// A small Hermitian eigenproblem by one team of threads, all of it in scratch memory: disjoint rotations side by side,
// in the order of Brent and Luk. Rows and columns move to their next positions as they are written, to a second copy of
// the matrix, so that partners are always pairs positions apart and a step is one pass.
#pragma once

#include "core/on_host.hpp"
#include "eigen/dense/convergence.hpp"
#include "eigen/dense/rotation.hpp"
#include "eigen/dense/round_robin.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace heddle::eigen::impl {

/// On GPUs the upper triangle alone is kept, column after column: half the memory, of which teams have little.
inline constexpr bool keeps_triangle = !heddle::impl::on_host;

/// Memory of one problem with 2 pairs positions; all of a team's scratch, or a thread's.
template <Scalar T> struct SmallProblem {
  using R = Real<T>;
  int pairs;
  T* from;       ///< The matrix by positions, m x m, m = 2 pairs: both triangles or the upper one, see set() and get().
  T* to;         ///< Its second copy.
  T* Q;          ///< The product of the rotations, columns by label.
  T* s;          ///< pairs
  T* tau;        ///< pairs
  R* shift;      ///< pairs
  R* first;      ///< pairs: a_pp
  R* second;     ///< pairs: a_qq
  R* largest;    ///< pairs: of a sweep
  R* sine;       ///< pairs: of a sweep
  int* rotated;  ///< pairs: of a sweep
  int* label;    ///< m: which row and column of the given matrix is in a position.
  int* moved;    ///< m

  static constexpr KOKKOS_INLINE_FUNCTION std::size_t align(std::size_t bytes) { return (bytes + 63) / 64 * 64; }
  static constexpr KOKKOS_INLINE_FUNCTION std::size_t elements(int pairs) {
    const auto m = static_cast<std::size_t>(2 * pairs);
    return keeps_triangle ? m * (m + 1) / 2 : m * m;
  }
  /// Bytes of one problem.
  static constexpr KOKKOS_INLINE_FUNCTION std::size_t bytes(int pairs) {
    const auto m = static_cast<std::size_t>(2 * pairs);
    const auto half = static_cast<std::size_t>(pairs);
    return 64 + align(m * m * sizeof(T)) + 2 * align(elements(pairs) * sizeof(T)) + 2 * align(half * sizeof(T)) +
           5 * align(half * sizeof(R)) + align(half * sizeof(int)) + 2 * align(m * sizeof(int));
  }
  static KOKKOS_INLINE_FUNCTION SmallProblem in(void* memory, int pairs) {
    const auto m = static_cast<std::size_t>(2 * pairs);
    const auto half = static_cast<std::size_t>(pairs);
    auto* at = static_cast<char*>(memory);
    at += (64 - reinterpret_cast<std::size_t>(at) % 64) % 64;
    const auto take = [&at](std::size_t size) {
      char* const here = at;
      at += align(size);
      return static_cast<void*>(here);
    };
    SmallProblem problem;
    problem.pairs = pairs;
    problem.from = static_cast<T*>(take(elements(pairs) * sizeof(T)));
    problem.to = static_cast<T*>(take(elements(pairs) * sizeof(T)));
    problem.Q = static_cast<T*>(take(m * m * sizeof(T)));
    problem.s = static_cast<T*>(take(half * sizeof(T)));
    problem.tau = static_cast<T*>(take(half * sizeof(T)));
    problem.shift = static_cast<R*>(take(half * sizeof(R)));
    problem.first = static_cast<R*>(take(half * sizeof(R)));
    problem.second = static_cast<R*>(take(half * sizeof(R)));
    problem.largest = static_cast<R*>(take(half * sizeof(R)));
    problem.sine = static_cast<R*>(take(half * sizeof(R)));
    problem.rotated = static_cast<int*>(take(half * sizeof(int)));
    problem.label = static_cast<int*>(take(m * sizeof(int)));
    problem.moved = static_cast<int*>(take(m * sizeof(int)));
    return problem;
  }

  [[nodiscard]] KOKKOS_INLINE_FUNCTION int place(int i, int j) const {
    return keeps_triangle ? j * (j + 1) / 2 + i : i + 2 * pairs * j;
  }
  /// Element (i, j) with i <= j, and so (j, i).
  KOKKOS_INLINE_FUNCTION void set(int i, int j, const T& value) const {
    from[place(i, j)] = value;
    if (!keeps_triangle) {
      from[place(j, i)] = conjugate(value);
    }
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T get(int i, int j) const {
    return !keeps_triangle || i <= j ? from[place(i, j)] : conjugate(from[place(j, i)]);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R diagonal(int p) const { return real_part(from[place(p, p)]); }

  /// Q = I, every row where it was given. The caller stores the matrix in `from`.
  template <class Team> KOKKOS_INLINE_FUNCTION void begin(const Team& team) const {
    const int m = 2 * pairs;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, m * m), [&](int at) { Q[at] = at % m == at / m ? T(1) : T(0); });
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, m), [&](int p) { label[p] = p; });
    team.team_barrier();
  }

  /// Rotate every pair once; all threads get the counts.
  template <int fixed_pairs, class Team>
  KOKKOS_INLINE_FUNCTION SweepCounts<R> sweep(const Team& team, const Criterion<R>& criterion) {
    const int half = fixed_pairs > 0 ? fixed_pairs : pairs;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, half), [&](int k) {
      largest[k] = 0;
      sine[k] = 0;
      rotated[k] = 0;
    });
    for (int step = 0; step < 2 * half - 1; ++step) {
      angles<fixed_pairs>(team, criterion);
      team.team_barrier();
      KOKKOS_IF_ON_HOST((host_step<fixed_pairs>();))
      KOKKOS_IF_ON_DEVICE((device_step(team);))
      team.team_barrier();
      T* const written = to;
      to = from;
      from = written;
      int* const names = moved;
      moved = label;
      label = names;
    }
    SweepCounts<R> counts;
    // A loop of its own: g++ 12 for aarch64 can't vectorise a count beside maxima (an internal error).
    int rotations = 0;
    for (int k = 0; k < half; ++k) rotations += rotated[k];
    counts.rotations = rotations;
    for (int k = 0; k < half; ++k) {
      counts.largest = Kokkos::fmax(counts.largest, largest[k]);
      counts.sine = Kokkos::fmax(counts.sine, sine[k]);
    }
    team.team_barrier();
    return counts;
  }

 private:
  template <int fixed_pairs, class Team>
  KOKKOS_INLINE_FUNCTION void angles(const Team& team, const Criterion<R>& criterion) const {
    const int half = fixed_pairs > 0 ? fixed_pairs : pairs;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, half), [&](int k) {
      const R a = diagonal(k);
      const R d = diagonal(half + k);
      const T b = from[place(k, half + k)];
      const R size = magnitude(b);
      const R share = criterion.share(size, a, d);
      const bool small = !(share > criterion.least);
      const Rotation<T> turn = rotation_of<T>(a, b, size, d);
      s[k] = small ? T(0) : turn.s;
      tau[k] = small ? T(0) : turn.tau;
      shift[k] = small ? R(0) : turn.shift;
      first[k] = a;
      second[k] = d;
      largest[k] = share > largest[k] ? share : largest[k];
      const R turned = small ? R(0) : magnitude(turn.s);
      sine[k] = turned > sine[k] ? turned : sine[k];
      rotated[k] += small ? 0 : 1;
    });
  }

  // An element by its new row and column, in whichever triangle.
  KOKKOS_INLINE_FUNCTION void write(int i, int j, const T& value) const {
    const bool upper = i <= j;
    to[upper ? place(i, j) : place(j, i)] = upper ? value : conjugate(value);
  }
  // Blocks of 2 x 2 elements that pairs k <= l meet in.
  template <class Team> KOKKOS_INLINE_FUNCTION void device_step(const Team& team) const {
    const int half = pairs;
    const int m = 2 * half;
    const int blocks = half * (half + 1) / 2;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, blocks), [&](int at) {
      // Rows k = 0 ... l of column l, folded: column l and column half - 1 - l have half + 1 together.
      int l = at / (half + 1);
      int k = at % (half + 1);
      if (k > l) {
        k = half - k;
        l = half - 1 - l;
      }
      const T sl = s[l];
      const T tau_l = tau[l];
      T x00 = from[place(k, l)];
      T x01 = from[place(k, half + l)];
      T x10 = conjugate(from[place(l, half + k)]);
      T x11 = from[place(half + k, half + l)];
      if (k == l) {
        if (sl != T(0)) {
          x00 = T(first[k] - shift[k]);
          x11 = T(second[k] + shift[k]);
          x01 = T(0);
        }
      } else {
        rotate<T>(sl, tau_l, x00, x01);
        rotate<T>(sl, tau_l, x10, x11);
        const T row = conjugate(s[k]);
        const T row_tau = conjugate(tau[k]);
        rotate<T>(row, row_tau, x00, x10);
        rotate<T>(row, row_tau, x01, x11);
      }
      const int top = next_position(k, half);
      const int bottom = next_position(half + k, half);
      const int left = next_position(l, half);
      const int right = next_position(half + l, half);
      write(top, left, x00);
      write(top, right, x01);
      write(bottom, right, x11);
      if (k != l) {
        write(bottom, left, x10);
      }
    });
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, half * m), [&](int at) {
      const int l = at / m;
      const int i = at % m;
      rotate<T>(s[l], tau[l], Q[label[l] * m + i], Q[label[half + l] * m + i]);
    });
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, m), [&](int p) { moved[next_position(p, half)] = label[p]; });
  }

  // The same, in loops that a host compiler makes vectors of: rows leave a buffer in runs.
  template <int fixed_pairs> void host_step() const {
    const int half = fixed_pairs > 0 ? fixed_pairs : pairs;
    const int m = 2 * half;
    constexpr int room = fixed_pairs > 0 ? fixed_pairs : 64;
    for (int l = 0; l < half; ++l) {
      const T sl = s[l];
      const T taul = tau[l];
      const T* const left = from + l * m;
      const T* const right = from + (half + l) * m;
      for (int first_row = 0; first_row < half; first_row += room) {
        alignas(64) std::array<T, room> x00;
        alignas(64) std::array<T, room> x10;
        alignas(64) std::array<T, room> x01;
        alignas(64) std::array<T, room> x11;
        const int rows = fixed_pairs > 0 ? fixed_pairs : (half - first_row < room ? half - first_row : room);
#pragma GCC ivdep
        for (int at = 0; at < rows; ++at) {
          const int k = first_row + at;
          T y00 = left[k];
          T y10 = left[half + k];
          T y01 = right[k];
          T y11 = right[half + k];
          rotate<T>(sl, taul, y00, y01);
          rotate<T>(sl, taul, y10, y11);
          const T row = conjugate(s[k]);
          const T row_tau = conjugate(tau[k]);
          rotate<T>(row, row_tau, y00, y10);
          rotate<T>(row, row_tau, y01, y11);
          x00[at] = y00;
          x10[at] = y10;
          x01[at] = y01;
          x11[at] = y11;
        }
        if (l >= first_row && l < first_row + rows) {
          const int at = l - first_row;
          x00[at] = T(first[l] - shift[l]);
          x11[at] = T(second[l] + shift[l]);
          x01[at] = sl != T(0) ? T(0) : right[l];
          x10[at] = conjugate(x01[at]);
        }
        put(x00.data(), x10.data(), first_row, rows, half, to + next_position(l, half) * m);
        put(x01.data(), x11.data(), first_row, rows, half, to + next_position(half + l, half) * m);
      }
      T* const q_left = Q + label[l] * m;
      T* const q_right = Q + label[half + l] * m;
#pragma GCC ivdep
      for (int i = 0; i < m; ++i) {
        rotate<T>(sl, taul, q_left[i], q_right[i]);
      }
    }
    for (int p = 0; p < m; ++p) {
      moved[next_position(p, half)] = label[p];
    }
  }
  // Rows k = first, ... of both halves of a column to their next positions.
  static void put(const T* top, const T* bottom, int first_row, int rows, int half, T* column) {
    for (int at = 0; at < rows; ++at) {
      const int k = first_row + at;
      if (k > 0 && k < half - 1) {
        column[k + 1] = top[at];
      }
      if (k > 0) {
        column[half + k - 1] = bottom[at];
      }
    }
    if (first_row == 0) {
      column[0] = top[0];
      column[half > 1 ? 1 : half] = bottom[0];
    }
    if (half > 1 && first_row + rows == half) {
      column[2 * half - 1] = top[rows - 1];
    }
  }
};

}  // namespace heddle::eigen::impl
