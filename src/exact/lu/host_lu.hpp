// LU factorization on the host, panel by panel.
#pragma once

#include "exact/products/columns.hpp"
#include "exact/products/quotient.hpp"
#include "exact/sums/chunks.hpp"
#include <heddle/dist/placement.hpp>
#include <heddle/exact/lu.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::exact::impl {

using namespace bits;

/// pivot_rank() of zero; that of a NaN is 0.
inline constexpr std::uint64_t pivot_rank_of_zero = 1;

/// Returns an integer that increases with |x|, or with |real| + |imaginary| rounded once: the criterion for pivots. A
/// sum that overflows ranks between the numbers and infinity; a NaN ranks below all.
template <Scalar T> KOKKOS_INLINE_FUNCTION std::uint64_t pivot_rank(const T& x) {
  using F = Format<double>;
  double size = 0;
  bool is_beyond = false;
  if constexpr (is_complex<T>) {
    const double re = Kokkos::abs(static_cast<double>(x.real()));
    const double im = Kokkos::abs(static_cast<double>(x.imag()));
    size = static_cast<double>(static_cast<Real<T>>(re + im));
    if (is_finite(re) && is_finite(im) && !is_finite(size)) {
      // Half of it has the same rounding.
      size = static_cast<double>(static_cast<Real<T>>(re / 2 + im / 2));
      is_beyond = true;
    }
  } else {
    size = Kokkos::abs(static_cast<double>(x));
  }
  if (size != size) {
    return 0;
  }
  if (!is_finite(size)) {
    return ~std::uint64_t{0};
  }
  // The bits of positive numbers are ordered as the numbers. Adding one to the exponent doubles.
  return F::to_bits(size) + pivot_rank_of_zero + (is_beyond ? std::uint64_t{1} << F::fraction : 0U);
}

/// The first of the largest elements among element(begin) to element(end - 1), by pivot_rank().
template <class Element> Index first_of_largest(Index begin, Index end, const Element& element) {
  Index best = begin;
  std::uint64_t most = pivot_rank(element(begin));
  for (Index i = begin + 1; i < end; ++i) {
    const std::uint64_t rank = pivot_rank(element(i));
    if (rank > most) {
      most = rank;
      best = i;
    }
  }
  return best;
}

/// Elements (i, k) of some columns; i is a row of the whole matrix.
template <Scalar T> struct PanelElements {
  const T* data;
  Index row_stride;
  Index column_stride;
  KOKKOS_INLINE_FUNCTION const T& operator()(Index i, Index k) const {
    return data[i * row_stride + k * column_stride];
  }
};

/// Adjacent columns of a matrix, all m rows of them, and the sums of the columns being updated.
template <Scalar T> class HostColumns {
 public:
  HostColumns(const ExecutionSpace& space, T* data, Index m, Index leading, bool threads)
      : space_(space), data_(data), m_(m), leading_(leading), threads_(threads), left_{data, 1, leading} {}

  [[nodiscard]] T& at(Index i, Index j) const { return data_[i + j * leading_]; }
  /// Columns from `column` on.
  [[nodiscard]] PanelElements<T> panel(Index column) const { return {data_ + column * leading_, 1, leading_}; }
  /// Takes the columns of L from `left` instead of these, row i of them at order[i].
  void set_left(const PanelElements<T>& left, const Index* order) {
    left_ = left;
    order_ = order;
  }

  /// Sets the sums to the elements of these columns.
  void begin(Range columns) {
    first_ = columns.begin;
    sums_.clear();
    for (Index j = columns.begin; j < columns.end; ++j) {
      sums_.emplace_back(m_);
      for (Index i = 0; i < m_; ++i) {
        sums_.back().set(i, at(i, j));
      }
    }
  }

  /// Applies the trailing update of columns [row, row + width) of L, finished, to these: their rows of U, and the sums
  /// below.
  void apply(const PanelElements<T>& panel, Index row, Index width, Range columns) {
    panel_row_ = beyond;
    const Index end = row + width;
    for_each(columns.begin, columns.end, 1, width * width, [&](Index first, Index last) {
      for (Index j = first; j < last; ++j) {
        for (Index i = row; i < end; ++i) {
          at(i, j) = finished(i, j, i);
          const T factor = -at(i, j);
          sums(j).add(i + 1, end, rows_of(panel, i - row, 1), [=](Index) { return factor; });
        }
      }
    });
    // Rows of L that stay in the second-level cache are used for every column.
    constexpr Index chunk = 256;
    for_each(end, m_, chunk, chunk * width * columns.size(), [&](Index first, Index last) {
      for (Index j = columns.begin; j < columns.end; ++j) {
        sums(j).add(first, last, rows_of(panel, 0, width), [&](Index k) { return -at(row + k, j); });
      }
    });
  }

  /// Factors `steps` of the columns of `panel`, whose first is column `row` of the whole matrix, and updates the
  /// others. swap_others(i, k) must interchange rows i and k elsewhere.
  template <class Swap> void factor(Index row, Range panel, Index steps, LuResult& result, const Swap& swap_others) {
    panel_row_ = row;
    panel_column_ = panel.begin;
    constexpr Index chunk = 512;
    for (Index k = 0; k < steps; ++k) {
      const Index j = panel.begin + k;
      const Index r = row + k;
      for_each(r, m_, chunk, 32 * chunk, [&](Index first, Index last) {
        for (Index i = first; i < last; ++i) {
          at(i, j) = finished(i, j, r);
        }
      });
      const Index pivot = first_of_largest(r, m_, [&](Index i) -> const T& { return at(i, j); });
      result.pivots[static_cast<std::size_t>(r)] = pivot;
      if (pivot != r) {
        swap_rows(r, pivot, panel, j + 1);
        swap_others(r, pivot);
      }
      const bool singular = at(r, j) == T(0);
      if (singular && result.info == 0) {
        result.info = r + 1;
      }
      for_each(r + 1, m_, chunk, chunk * (panel.end - j), [&](Index first, Index last) {
        if (!singular) {
          const T by = at(r, j);
          for (Index i = first; i < last; ++i) {
            at(i, j) = quotient(at(i, j), by);
          }
        }
      });
      for (Index c = j + 1; c < panel.end; ++c) {
        at(r, c) = finished(r, c, r);
      }
      const PanelElements<T> column = this->panel(j);
      for_each(r + 1, m_, chunk, chunk * (panel.end - j), [&](Index first, Index last) {
        for (Index c = j + 1; c < panel.end; ++c) {
          const T factor = -at(r, c);
          sums(c).add(first, last, rows_of(column, 0, 1), [=](Index) { return factor; });
        }
      });
    }
  }

  /// Interchanges rows i and k in these columns, and in the sums of those from `sums_from` on.
  void swap_rows(Index i, Index k, Range columns, Index sums_from) {
    for (Index j = columns.begin; j < columns.end; ++j) {
      std::swap(at(i, j), at(k, j));
      if (j >= sums_from) {
        sums(j).swap(i, k);
      }
    }
  }

 private:
  static constexpr Index beyond = Index{1} << 62;

  [[nodiscard]] Rows<T>& sums(Index j) { return sums_[static_cast<std::size_t>(j - first_)]; }
  [[nodiscard]] Operand<T> rows_of(const PanelElements<T>& panel, Index column, Index count) const {
    Operand<T> part;
    part.data = panel.data + column * panel.column_stride;
    part.rows = m_;
    part.columns = count;
    part.column_stride = panel.column_stride;
    return part;
  }
  [[nodiscard]] const T& l(Index i, Index k) const {
    if (k >= panel_row_) {
      return at(i, panel_column_ + (k - panel_row_));
    }
    return left_(order_ == nullptr ? i : order_[i], k);
  }

  // Returns element (i, j) minus the inner product of the first `known` elements of L's row i and U's column j; the
  // matrix still holds the original element.
  [[nodiscard]] T finished(Index i, Index j, Index known) {
    T value;
    if (!sums(j).get(i).rounds_to(known, value)) {
      ExactSum<T> exact;
      exact.add(at(i, j));
      for (Index k = 0; k < known; ++k) {
        exact.add_product(l(i, k), -at(k, j));
      }
      value = exact.value();
    }
    return value;
  }

  // Calls body(first, last) for parts of [begin, end), `work` products each.
  template <class Body> void for_each(Index begin, Index end, Index chunk, Index work, const Body& body) const {
    const Index chunks = (end - begin + chunk - 1) / chunk;
    const bool worth_it = threads_ && chunks >= 2 && chunks * work >= 40000;
    for_each_chunk(space_, "heddle::exact::lu", begin, end, chunk, worth_it, body);
  }

  ExecutionSpace space_;
  T* data_;
  Index m_;
  Index leading_;
  bool threads_;
  PanelElements<T> left_;
  const Index* order_ = nullptr;
  Index panel_row_ = beyond;  // Columns of L from here on are these, from panel_column_ on.
  Index panel_column_ = 0;
  Index first_ = 0;
  std::vector<Rows<T>> sums_;
};

/// LU of one matrix, column-major, m x n, left-looking: each panel is first updated by all columns on its left.
template <Scalar T> class HostLu {
 public:
  HostLu(const ExecutionSpace& space, T* data, Index m, Index n, Index leading, Index block, bool threads)
      : columns_(space, data, m, leading, threads), m_(m), n_(n), block_(block) {}

  LuResult factor() {
    const Index steps = std::min(m_, n_);
    LuResult result;
    result.pivots.resize(static_cast<std::size_t>(steps));
    for (Index begin = 0; begin < n_; begin += block_) {
      const Range panel{begin, std::min(begin + block_, n_)};
      columns_.begin(panel);
      for (Index k = 0; k < std::min(begin, steps); k += block_) {
        columns_.apply(columns_.panel(k), k, std::min({block_, begin - k, steps - k}), panel);
      }
      columns_.factor(begin, panel, std::min(panel.end, steps) - begin, result, [&](Index i, Index k) {
        columns_.swap_rows(i, k, {0, panel.begin}, n_);
        columns_.swap_rows(i, k, {panel.end, n_}, n_);
      });
    }
    return result;
  }

 private:
  HostColumns<T> columns_;
  Index m_;
  Index n_;
  Index block_;
};

}  // namespace heddle::exact::impl
