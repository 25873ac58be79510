// The factorization on the host, by the panel.
#pragma once

#include "exact/chunks.hpp"
#include "exact/columns.hpp"
#include "exact/quotient.hpp"
#include <heddle/exact/lu.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::exact::impl {

using namespace bits;

/// Of zero; that of a NaN is 0.
inline constexpr std::uint64_t pivot_rank_of_zero = 1;

/// An integer that is larger where |x|, or |real| + |imaginary| rounded once, is: what pivots are chosen by. A sum that
/// overflows has its place between the numbers and infinity; a NaN is below all.
template <Scalar T> KOKKOS_INLINE_FUNCTION std::uint64_t pivot_rank(const T& x) {
  using F = Format<double>;
  double size = 0;
  bool is_beyond = false;
  if constexpr (is_complex<T>) {
    const double re = Kokkos::abs(static_cast<double>(x.real()));
    const double im = Kokkos::abs(static_cast<double>(x.imag()));
    size = static_cast<double>(static_cast<Real<T>>(re + im));
    if (is_finite(re) && is_finite(im) && !is_finite(size)) {
      // Half of it, which is rounded alike.
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
  // The bits of positive numbers are in the order of the numbers. One more in the exponent doubles.
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

/// One matrix, column-major, m x n.
template <Scalar T> class HostLu {
 public:
  HostLu(const ExecutionSpace& space, T* data, Index m, Index n, Index leading, Index block, bool threads)
      : space_(space), data_(data), m_(m), n_(n), leading_(leading), block_(block), threads_(threads) {}

  LuResult factor() {
    const Index steps = std::min(m_, n_);
    result_.pivots.resize(static_cast<std::size_t>(steps));
    sums_.reserve(static_cast<std::size_t>(block_));
    for (Index begin = 0; begin < n_; begin += block_) {
      const Index end = std::min(begin + block_, n_);
      sums_.clear();
      for (Index j = begin; j < end; ++j) {
        sums_.emplace_back(m_);
        for (Index i = 0; i < m_; ++i) {
          sums_.back().set(i, at(i, j));
        }
      }
      panel_ = begin;
      for (Index k = 0; k < std::min(begin, steps); k += block_) {
        apply(k, std::min({k + block_, begin, steps}), end);
      }
      factor_panel(begin, end, steps);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] T& at(Index i, Index j) const { return data_[i + j * leading_]; }
  [[nodiscard]] Rows<T>& sums(Index j) { return sums_[static_cast<std::size_t>(j - panel_)]; }
  [[nodiscard]] Operand<T> rows_of(Index column, Index count) const {
    Operand<T> part;
    part.data = data_ + column * leading_;
    part.rows = m_;
    part.columns = count;
    part.column_stride = leading_;
    return part;
  }

  // a_ij minus the inner product of the first `known` elements of L's row i and U's column j, which A still holds as it
  // was.
  [[nodiscard]] T finished(Index i, Index j, Index known) {
    T value;
    if (!sums(j).get(i).rounds_to(known, value)) {
      ExactSum<T> exact;
      exact.add(at(i, j));
      for (Index k = 0; k < known; ++k) {
        exact.add_product(at(i, k), -at(k, j));
      }
      value = exact.value();
    }
    return value;
  }

  // Columns [begin, end) of L, finished, on the panel's: rows [begin, end) of U, and the sums below.
  void apply(Index begin, Index end, Index panel_end) {
    for_each(panel_, panel_end, 1, (end - begin) * (end - begin), [&](Index j, Index) {
      for (Index i = begin; i < end; ++i) {
        at(i, j) = finished(i, j, i);
        const T factor = -at(i, j);
        sums(j).add(i + 1, end, rows_of(i, 1), [=](Index) { return factor; });
      }
    });
    // Rows of L that stay in the second cache meet every column of the panel.
    constexpr Index chunk = 256;
    for_each(end, m_, chunk, chunk * (end - begin) * (panel_end - panel_), [&](Index first, Index last) {
      for (Index j = panel_; j < panel_end; ++j) {
        sums(j).add(first, last, rows_of(begin, end - begin), [&](Index k) { return -at(begin + k, j); });
      }
    });
  }

  void factor_panel(Index begin, Index end, Index steps) {
    for (Index j = begin; j < std::min(end, steps); ++j) {
      constexpr Index chunk = 512;
      for_each(j, m_, chunk, 32 * chunk, [&](Index first, Index last) {
        for (Index i = first; i < last; ++i) {
          at(i, j) = finished(i, j, j);
        }
      });
      const Index pivot = pivot_of(j);
      result_.pivots[static_cast<std::size_t>(j)] = pivot;
      if (pivot != j) {
        swap_rows(j, pivot, j, end);
      }
      const bool singular = at(j, j) == T(0);
      if (singular && result_.info == 0) {
        result_.info = j + 1;
      }
      for_each(j + 1, m_, chunk, chunk * (end - j), [&](Index first, Index last) {
        if (!singular) {
          const T by = at(j, j);
          for (Index i = first; i < last; ++i) {
            at(i, j) = quotient(at(i, j), by);
          }
        }
      });
      for (Index c = j + 1; c < end; ++c) {
        at(j, c) = finished(j, c, j);
      }
      for_each(j + 1, m_, chunk, chunk * (end - j), [&](Index first, Index last) {
        for (Index c = j + 1; c < end; ++c) {
          const T factor = -at(j, c);
          sums(c).add(first, last, rows_of(j, 1), [=](Index) { return factor; });
        }
      });
    }
  }
  [[nodiscard]] Index pivot_of(Index j) const {
    return first_of_largest(j, m_, [&](Index i) -> const T& { return at(i, j); });
  }
  void swap_rows(Index i, Index k, Index column, Index panel_end) {
    for (Index j = 0; j < n_; ++j) {
      std::swap(at(i, j), at(k, j));
    }
    for (Index j = column + 1; j < panel_end; ++j) {
      sums(j).swap(i, k);
    }
  }

  // body(first, last) for parts of [begin, end), `work` products each.
  template <class Body> void for_each(Index begin, Index end, Index chunk, Index work, const Body& body) const {
    const Index chunks = (end - begin + chunk - 1) / chunk;
    const bool worth_it = threads_ && chunks >= 2 && chunks * work >= 40000;
    for_each_chunk(space_, "heddle::exact::lu", begin, end, chunk, worth_it, body);
  }

  ExecutionSpace space_;
  T* data_;
  Index m_;
  Index n_;
  Index leading_;
  Index block_;
  bool threads_;
  Index panel_ = 0;
  std::vector<Rows<T>> sums_;
  LuResult result_;
};

}  // namespace heddle::exact::impl
