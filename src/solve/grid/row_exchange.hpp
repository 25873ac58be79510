// Exchange of matrix rows between the ranks of a column of the grid.
#pragma once

#include "core/elementwise.hpp"
#include "solve/grid/rank_grid.hpp"
#include <heddle/comm/transport.hpp>

#include <array>
#include <vector>

namespace heddle::impl {

/// A row that moves: row `source` of a matrix becomes row `target`.
struct RowMove {
  Index target;
  Index source;
};
/// The moves equivalent to interchanging rows k and pivots[k] for k = first, ..., last - 1 in turn, each row being a
/// target at most once. `order` holds r at each place r, before and after.
[[nodiscard]] std::vector<RowMove> moves_of(const std::vector<Index>& pivots, Index first, Index last,
                                            std::vector<Index>& order);

/// Rows of a matrix that the ranks of a column of the grid want, by their numbers in the matrix.
struct WantedRows {
  std::vector<Index> common;               ///< Rows that every rank wants.
  std::vector<std::vector<Index>> by_row;  ///< Further rows that the rank in each row of the grid wants.
};

/// Rows that a rank sends, and places of those it receives.
struct RowPlan {
  std::vector<Index> numbers;              ///< Local rows, and places among the rows that are wanted here.
  Range common;                            ///< Range of `numbers`: local rows for every rank.
  std::vector<Range> others;               ///< Likewise, local rows for the rank of each row of the grid.
  std::vector<std::array<Range, 2>> from;  ///< Places of the rows that each of them sends: the common rows, and others.
  Index wanted = 0;                        ///< Number of rows that are wanted here.
};
/// The plan of the rank in row `here` of the grid; `rows`: distribution of rows.
[[nodiscard]] RowPlan plan_rows(const CyclicAxis& rows, int here, const WantedRows& wanted);

/// Sends rows of a matrix, whose rows are dealt out, to the ranks that want them.
template <Scalar T> class RowExchange {
 public:
  /// For up to `common` rows that every rank wants in one call, and `others` further ones over all ranks, of local
  /// matrices of up to `columns` columns.
  RowExchange(const Communicator& comm, const RankGrid& grid, Index common, Index others, Index columns);

  /// Bytes that it allocates.
  [[nodiscard]] static double bytes(Index common, Index others, Index columns) {
    const auto rows = static_cast<double>(common + others);
    return 3.0 * sizeof(T) * rows * static_cast<double>(columns) + 2.0 * lists * sizeof(Index) * rows;
  }
  [[nodiscard]] const ExecutionSpace& space() const { return comm_.space(); }
  /// Return the wanted rows of the matrix of which this rank has `local`: those of WantedRows::common, then this rank's
  /// others. Ordered on the communicator's instance, valid until the next call. Blocks until rows are on their way into
  /// this rank's memory. Collective over the ranks of a column of the grid.
  [[nodiscard]] MatrixView<T> fetch(const MatrixView<T>& local, const WantedRows& wanted);
  /// Copies row begin + k of `from` to row targets[k] of `to`, a local number.
  void put(const MatrixView<T>& from, Index begin, const std::vector<Index>& targets, const MatrixView<T>& to);
  /// Blocks until all messages of this rank are sent.
  void finish();

 private:
  using Memory = Kokkos::View<T*, MemorySpace>;
  using Numbers = Kokkos::View<Index*, MemorySpace>;
  /// Numbers copied to the device, and the event after which their host memory may be written again.
  struct List {
    Numbers device;
    Kokkos::View<Index*, Kokkos::SharedHostPinnedSpace> host;
    Event read;
  };
  static constexpr int lists = 2;

  [[nodiscard]] Numbers on_device(const std::vector<Index>& numbers);

  Communicator comm_;
  RankGrid grid_;
  Transport transport_;
  Memory outgoing_;
  Memory incoming_;
  Memory rows_;
  std::array<List, lists> numbers_;
  std::size_t list_ = 0;
  std::vector<Request> sends_;
};

}  // namespace heddle::impl
