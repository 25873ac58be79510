// Small square matrices in a team's scratch memory: real and imaginary parts are separate and columns padded with
// zeros, so that products consist of whole tiles in registers and vectorise for any scalar.
#pragma once

#include "core/on_host.hpp"

#include <type_traits>

namespace heddle::impl {

/// Consecutive elements of a column in a tile: a vector register on CPUs, registers on GPUs.
template <class R, int count> struct HostRows {
  // NOLINTNEXTLINE(modernize-use-using): GPUs' compilers read it too.
  typedef R Type __attribute__((vector_size(count * sizeof(R)), aligned(alignof(R)), may_alias));
};
template <class R, int count> struct DeviceRows {
  struct Type {
    R values[count];
    KOKKOS_INLINE_FUNCTION R& operator[](int r) { return values[r]; }
    KOKKOS_INLINE_FUNCTION const R& operator[](int r) const { return values[r]; }
  };
};

/// A matrix: element (i, j) at i + leading j, its imaginary part `plane` elements later.
template <Scalar T> struct SmallMatrices {
  using R = Real<T>;
  static constexpr int parts = is_complex<T> ? 2 : 1;
  /// Size of a tile of a product. On CPUs one thread computes all tiles, on GPUs the threads of a team share them.
  static constexpr int tile_rows = on_host ? 8 : 2;
  static constexpr int tile_columns = on_host ? 8 : 2;

  int n;
  int leading;
  int plane;

  KOKKOS_INLINE_FUNCTION explicit SmallMatrices(int size)
      : n(size), leading((size + tile_rows - 1) / tile_rows * tile_rows), plane(leading * size) {}
  /// Number of elements of R of a matrix.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION int elements() const { return parts * plane; }

  /// C = A B, or C += A B; C must not overlap A and B. Each element of C is one sum in the order of k.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void multiply(const Team& team, const R* A, const R* B, bool add, R* C) const {
    if constexpr (on_host) {
      for (int j = 0; j < n;) {
        const int left = n - j;
        for (int i = 0; i < leading; i += tile_rows) {
          if (left >= 8) {
            tile<8>(A, B, add, C, i, j);
          } else if (left >= 4) {
            tile<4>(A, B, add, C, i, j);
          } else if (left >= 2) {
            tile<2>(A, B, add, C, i, j);
          } else {
            tile<1>(A, B, add, C, i, j);
          }
        }
        j += left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
      }
    } else {
      const int down = leading / tile_rows;
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, down * ((n + 1) / 2)), [&](int at) {
        const int i = at % down * tile_rows;
        const int j = at / down * tile_columns;
        if (j + 1 < n) {
          tile<2>(A, B, add, C, i, j);
        } else {
          tile<1>(A, B, add, C, i, j);
        }
      });
      team.team_barrier();
    }
  }

  /// body(at, i, j) for all elements of a plane, at = i + leading j, padding included; then a barrier of the team.
  template <class Team, class Body> KOKKOS_INLINE_FUNCTION void for_each(const Team& team, const Body& body) const {
    if constexpr (on_host) {
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < leading; ++i) {
          body(i + leading * j, i, j);
        }
      }
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, plane), [&](int at) { body(at, at % leading, at / leading); });
      team.team_barrier();
    }
  }

  /// Number of elements for which `is` holds, without padding.
  template <class Team, class Predicate> KOKKOS_INLINE_FUNCTION int count(const Team& team, const Predicate& is) const {
    int found = 0;
    if constexpr (on_host) {
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
          found += is(i + leading * j, i, j) ? 1 : 0;
        }
      }
    } else {
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team, n * n),
          [&](int at, int& mine) { mine += is(at % n + leading * (at / n), at % n, at / n) ? 1 : 0; }, found);
      team.team_barrier();
    }
    return found;
  }

  /// body(i) for all rows, or columns; then a barrier of the team.
  template <class Team, class Body> KOKKOS_INLINE_FUNCTION void for_each_row(const Team& team, const Body& body) const {
    if constexpr (on_host) {
      for (int i = 0; i < n; ++i) {
        body(i);
      }
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), body);
      team.team_barrier();
    }
  }

  /// The largest value_of(j) of all columns, or rows, and zero.
  template <class Team, class Value>
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R largest_of_all(const Team& team, const Value& value_of) const {
    R largest = 0;
    const auto take = [&](int j, R& most) {
      const R value = value_of(j);
      most = value > most ? value : most;
    };
    if constexpr (on_host) {
      for (int j = 0; j < n; ++j) {
        take(j, largest);
      }
    } else {
      Kokkos::parallel_reduce(Kokkos::TeamVectorRange(team, n), take, Kokkos::Max<R>(largest));
      team.team_barrier();
    }
    return largest;
  }

  /// ||A||_1.
  template <class Team> [[nodiscard]] KOKKOS_INLINE_FUNCTION R norm1(const Team& team, const R* A) const {
    return largest_of_all(team, [&](int j) {
      R sum = 0;
      for (int i = 0; i < n; ++i) {
        sum += size(A, i + leading * j);
      }
      return sum;
    });
  }

  /// max(|re|, |im|) of an element.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R largest_part(const R* A, int at) const {
    const R real = Kokkos::abs(A[at]);
    if constexpr (is_complex<T>) {
      return Kokkos::fmax(real, Kokkos::abs(A[at + plane]));
    } else {
      return real;
    }
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R size(const R* A, int at) const {
    if constexpr (is_complex<T>) {
      const R re = Kokkos::abs(A[at]);
      const R im = Kokkos::abs(A[at + plane]);
      const R square = re * re + im * im;
      // Within sqrt(2) of the modulus if squares leave the range.
      return square > Kokkos::Experimental::norm_min_v<R> && square <= Kokkos::Experimental::finite_max_v<R>
                 ? Kokkos::sqrt(square)
                 : re + im;
    } else {
      return Kokkos::abs(A[at]);
    }
  }

  using Rows = typename std::conditional_t<on_host, HostRows<R, tile_rows>, DeviceRows<R, tile_rows>>::Type;
  static KOKKOS_INLINE_FUNCTION const Rows& rows_at(const R* from) { return *reinterpret_cast<const Rows*>(from); }
  static KOKKOS_INLINE_FUNCTION Rows fma(const Rows& a, R b, Rows c) {
#pragma GCC unroll 8
    for (int r = 0; r < tile_rows; ++r) {
      c[r] = Kokkos::fma(a[r], b, c[r]);
    }
    return c;
  }
  static KOKKOS_INLINE_FUNCTION void put(Rows value, bool add, R* to) {
    if (add) value = fma(rows_at(to), R(1), value);
    *reinterpret_cast<Rows*>(to) = value;
  }

  // Rows i ... i + tile_rows of `columns` columns from j.
  template <int columns> KOKKOS_INLINE_FUNCTION void tile(const R* A, const R* B, bool add, R* C, int i, int j) const {
    Rows re[columns] = {};
    Rows im[is_complex<T> ? columns : 1] = {};
    for (int k = 0; k < n; ++k) {
      const R* const a = A + i + leading * k;
      const R* const b = B + k + leading * j;
#pragma GCC unroll 8
      for (int c = 0; c < columns; ++c) {
        re[c] = fma(rows_at(a), b[leading * c], re[c]);
        if constexpr (is_complex<T>) {
          re[c] = fma(rows_at(a + plane), -b[leading * c + plane], re[c]);
          im[c] = fma(rows_at(a), b[leading * c + plane], im[c]);
          im[c] = fma(rows_at(a + plane), b[leading * c], im[c]);
        }
      }
    }
#pragma GCC unroll 8
    for (int c = 0; c < columns; ++c) {
      R* const to = C + i + leading * (j + c);
      put(re[c], add, to);
      if constexpr (is_complex<T>) {
        put(im[c], add, to + plane);
      }
    }
  }
};

}  // namespace heddle::impl
