// Sums over the rows of a panel, in an order that is part of the definition of QR factors.
#pragma once

#include "core/elementwise.hpp"

#include <algorithm>
#include <string>

namespace heddle::impl {

/// Rows of a run, which one team of threads sums.
inline constexpr Index sum_run = 512;
/// Chains of a run, each of which takes every sum_lanes-th row.
inline constexpr int sum_lanes = 16;

/// Adds the sums of the chains: the second half is added to the first until one is left.
template <class Number> KOKKOS_INLINE_FUNCTION Number sum_of_lanes(Number (&sums)[sum_lanes]) {
  for (int half = sum_lanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) sums[l] = sums[l] + sums[l + half];
  }
  return sums[0];
}

/// Number of runs that contain rows [begin, rows); the first of them is begin / sum_run.
[[nodiscard]] KOKKOS_INLINE_FUNCTION Index runs_of(Index begin, Index rows) {
  return rows <= begin ? 0 : (rows - 1) / sum_run - begin / sum_run + 1;
}

/// S = -X^H Y over rows [begin, rows) of two column-major matrices.
///
/// An element is the sum of conj(x_r) y_r in this order: rows are cut into runs of sum_run, counted from row 0, and
/// dealt out within a run to sum_lanes chains in turn; each chain is multiply_add(conj(x_r), y_r, sum) from zero on, in
/// the order of the rows; sum_of_lanes() adds the chains of a run, and runs are added to zero one after the other. Rows
/// are taken in aligned sets of sum_lanes: if one row of a set is in [begin, rows), the others take part as zeros. The
/// result is then negated.
template <Scalar T> class RowSums {
 public:
  /// For up to `rows` rows and `elements` elements of S.
  RowSums(const ExecutionSpace& space, Index rows, Index elements);
  /// Ordered on `space`, does not block on GPUs.
  void operator()(const ExecutionSpace& space, const MatrixView<const T>& X, const MatrixView<const T>& Y, Index begin,
                  const MatrixView<T>& S) const;

 private:
  Kokkos::View<T*, MemorySpace> runs_;  // Sums of each run; those of one element of S are contiguous.
};

/// Columns of X and of Y whose sums a CPU keeps in registers: some sixteen vectors of 64 bytes.
template <Scalar T> struct SumTile {
  static constexpr int bytes = sum_lanes * static_cast<int>(sizeof(T));
  static constexpr int right = bytes == 64 ? 4 : 2;
  static constexpr int left = bytes == 256 ? 2 : 4;
};

/// On CPUs: adds the contribution of a run's rows [first, last) to left x right elements of X^H Y, one chain's sums
/// after the other.
template <Scalar T, int left, int right>
inline void add_run(const T* x, Index leading_x, const T* y, Index leading_y, Index first, Index last,
                    T (&result)[left][right]) {
  using R = Real<T>;
  constexpr int parts = is_complex<T> ? 2 : 1;
  R sum[left][right][parts][sum_lanes] = {};
  const auto add = [&sum](const T* from_x, Index step_x, const T* from_y, Index step_y)
#if defined(__GNUC__) && !defined(__CUDACC__)
      __attribute__((always_inline))
#endif
  {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC unroll 8
#endif
    for (int a = 0; a < left; ++a) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#pragma GCC unroll 8
#endif
      for (int b = 0; b < right; ++b) {
        const T* const p = from_x + a * step_x;
        const T* const q = from_y + b * step_y;
        for (int l = 0; l < sum_lanes; ++l) {
          if constexpr (is_complex<T>) {
            const R re = p[l].real();
            const R im = p[l].imag();
            sum[a][b][0][l] = Kokkos::fma(im, q[l].imag(), Kokkos::fma(re, q[l].real(), sum[a][b][0][l]));
            sum[a][b][1][l] = Kokkos::fma(-im, q[l].real(), Kokkos::fma(re, q[l].imag(), sum[a][b][1][l]));
          } else {
            sum[a][b][0][l] = Kokkos::fma(p[l], q[l], sum[a][b][0][l]);
          }
        }
      }
    }
  };
  // An incomplete set of rows is copied and padded with zeros.
  const auto add_some = [&](Index row) {
    T some_x[left][sum_lanes] = {};
    T some_y[right][sum_lanes] = {};
    for (Index r = row > first ? row : first; r < row + sum_lanes && r < last; ++r) {
      for (int a = 0; a < left; ++a) some_x[a][r - row] = x[r + a * leading_x];
      for (int b = 0; b < right; ++b) some_y[b][r - row] = y[r + b * leading_y];
    }
    add(some_x[0], sum_lanes, some_y[0], sum_lanes);
  };
  Index row = first - first % sum_lanes;
  if (row < first) {
    add_some(row);
    row += sum_lanes;
  }
  for (; row + sum_lanes <= last; row += sum_lanes) add(x + row, leading_x, y + row, leading_y);
  if (row < last) add_some(row);
  for (int a = 0; a < left; ++a) {
    for (int b = 0; b < right; ++b) {
      if constexpr (is_complex<T>) {
        result[a][b] = T(sum_of_lanes(sum[a][b][0]), sum_of_lanes(sum[a][b][1]));
      } else {
        result[a][b] = sum_of_lanes(sum[a][b][0]);
      }
    }
  }
}

/// On CPUs: calls body(run, first, last) for the runs that contain rows [begin, rows), with several threads if
/// `columns` columns are enough work.
template <class Body>
void for_sum_runs(const ExecutionSpace& space, const std::string& label, Index begin, Index rows, Index columns,
                  const Body& body) {
  if constexpr (on_host) {
    const Index first_run = begin / sum_run;
    const Index count = runs_of(begin, rows);
    const auto take = [=](Index k) {
      const Index start = (first_run + k) * sum_run;
      body(first_run + k, std::max(start, begin), std::min(start + sum_run, rows));
    };
    if (count * columns < 64) {
      for (Index k = 0; k < count; ++k) take(k);
    } else {
      Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, count), take);
    }
  }
}

}  // namespace heddle::impl
