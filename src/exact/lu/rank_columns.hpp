// Columns of one rank in a matrix that all ranks factor, on the host and on a GPU.
#pragma once

#include "core/elementwise.hpp"
#include "exact/lu/device_lu.hpp"
#include "exact/lu/row_moves.hpp"

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

namespace heddle::exact::impl {

/// All of L, which exact sums need for rows that twice the precision leaves open: row i is the original row i of the
/// matrix, wherever it has moved.
template <Scalar T> using WholeL = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;

/// Columns on the host.
template <Scalar T> class HostRankColumns {
 public:
  HostRankColumns(const ExecutionSpace& space, const MatrixView<T>& local, Index /*block*/, Index /*steps*/,
                  const WholeL<T>& whole)
      : space_(space),
        columns_(space, local.data(), static_cast<Index>(local.extent(0)), leading_of(local), true),
        whole_(whole),
        n_(static_cast<Index>(local.extent(1))),
        order_(local.extent(0)) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      order_[i] = static_cast<Index>(i);
    }
    columns_.set_left({whole_.data(), 1, static_cast<Index>(whole_.stride(1))}, order_.data());
    columns_.begin({0, n_});
  }

  /// Factors columns [row, row + width) of the matrix, stored here from `column` on; rows are interchanged in these
  /// only. Returns the pivots and, last, info.
  [[nodiscard]] std::vector<Index> factor(Index row, Index column, Index width) {
    LuResult result;
    result.pivots.resize(static_cast<std::size_t>(row + width));
    columns_.factor(row, {column, column + width}, width, result, [&](Index i, Index k) { renumber(i, k); });
    std::vector<Index> numbers(result.pivots.begin() + row, result.pivots.end());
    numbers.push_back(result.info);
    return numbers;
  }
  /// Interchanges rows in all columns but `factored`, which is empty on ranks that have not factored the panel.
  void move(Index row, std::span<const Index> pivots, Range factored) {
    // The rank that factored the panel has moved its numbers already.
    for (std::size_t k = 0; k < pivots.size() && factored.empty(); ++k) {
      renumber(row + static_cast<Index>(k), pivots[k]);
    }
    for_each_chunk(space_, "heddle::exact::lu", 0, n_, 8, n_ > 16, [&](Index first, Index last) {
      for (std::size_t k = 0; k < pivots.size(); ++k) {
        const Index i = row + static_cast<Index>(k);
        if (pivots[k] != i) {
          columns_.swap_rows(i, pivots[k], {first, std::min(last, factored.begin)}, factored.begin);
          columns_.swap_rows(i, pivots[k], {std::max(first, factored.end), last}, factored.end);
        }
      }
    });
  }
  /// Stores a panel in the whole L: rows [row, m) of columns [row, row + width) in their new order.
  void keep(const MatrixView<const T>& panel, Index row) {
    const heddle::impl::Elements<const T> from(panel);
    for_each_chunk(space_, "heddle::exact::lu", 0, static_cast<Index>(panel.extent(1)), 1, true,
                   [&](Index first, Index last) {
                     for (Index k = first; k < last; ++k) {
                       for (Index i = 0; i < static_cast<Index>(panel.extent(0)); ++i) {
                         whole_(order_[static_cast<std::size_t>(row + i)], row + k) = from(i, k);
                       }
                     }
                   });
  }
  /// Applies the trailing update of the panel to columns [first, n).
  void apply(const PanelElements<T>& panel, Index row, Index width, Index first) {
    if (first < n_) {
      columns_.apply(panel, row, width, {first, n_});
    }
  }

 private:
  void renumber(Index i, Index k) {
    std::swap(order_[static_cast<std::size_t>(i)], order_[static_cast<std::size_t>(k)]);
  }
  static Index leading_of(const MatrixView<T>& local) {
    return local.extent(1) > 1 ? static_cast<Index>(local.stride(1)) : static_cast<Index>(local.extent(0));
  }

  ExecutionSpace space_;
  HostColumns<T> columns_;
  WholeL<T> whole_;
  Index n_;
  std::vector<Index> order_;
};

template <Scalar T>
void keep_device_panel(const ExecutionSpace& space, const MatrixView<const T>& panel, Index row,
                       const Kokkos::View<Index*, MemorySpace>& order, const WholeL<T>& whole) {
  const heddle::impl::Elements<const T> from(panel);
  heddle::impl::for_each_element(
      space, "heddle::exact::lu_keep", static_cast<Index>(panel.extent(0)), static_cast<Index>(panel.extent(1)),
      KOKKOS_LAMBDA(Index i, Index k) { whole(order(row + i), row + k) = from(i, k); });
}

/// Columns on a GPU.
template <Scalar T> class DeviceRankColumns {
 public:
  DeviceRankColumns(const ExecutionSpace& space, const MatrixView<T>& local, Index block, Index steps,
                    const WholeL<T>& whole)
      : space_(space), factor_(space, strided(local), block, steps), whole_(whole) {
    factor_.set_left({whole_.data(), 1, static_cast<Index>(whole_.stride(1))});
  }
  [[nodiscard]] std::vector<Index> factor(Index row, Index column, Index width) {
    factor_.factor_panel(row, column, width);
    return factor_.numbers(row, width);
  }
  void move(Index row, std::span<const Index> pivots, Range factored) {
    factor_.set_moves(moves_of(row, pivots));
    factor_.move_other_columns(factored);
    // The rank that factored the panel has moved its numbers already.
    if (factored.empty()) {
      factor_.move_numbers();
    }
  }
  void keep(const MatrixView<const T>& panel, Index row) {
    keep_device_panel<T>(space_, panel, row, factor_.order(), whole_);
  }
  void apply(const PanelElements<T>& panel, Index row, Index width, Index first) {
    factor_.apply(panel, row, width, first);
  }

 private:
  ExecutionSpace space_;
  DeviceFactor<T> factor_;
  WholeL<T> whole_;
};

template <Scalar T>
using RankColumns = std::conditional_t<heddle::impl::on_host, HostRankColumns<T>, DeviceRankColumns<T>>;

}  // namespace heddle::exact::impl
