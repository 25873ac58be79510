// Rows of a matrix between the ranks of a column of the grid, which have them.
#pragma once

#include "dist/elementwise.hpp"
#include "solve/rank_grid.hpp"
#include <heddle/comm/transport.hpp>

#include <array>
#include <vector>

namespace heddle::impl {

/// A row that changes places: what was row `source` of a matrix becomes row `target`.
struct RowMove {
  Index target;
  Index source;
};
/// The moves that interchanging rows k and pivots[k], for k = first, ..., last - 1 in turn, comes to, each row being a
/// target at most once. `order` holds r at each place r, and does so again afterwards.
[[nodiscard]] std::vector<RowMove> moves_of(const std::vector<Index>& pivots, Index first, Index last,
                                            std::vector<Index>& order);

/// Which rows of a matrix the ranks of a column of the grid want, by their numbers in the matrix.
struct WantedRows {
  std::vector<Index> common;               ///< Every rank.
  std::vector<std::vector<Index>> by_row;  ///< The rank in a row of the grid, besides; by that row.
};

/// Which of its rows a rank sends, and where it puts those that it gets.
struct RowPlan {
  std::vector<Index> numbers;              ///< Local rows, and places among the rows that are wanted here.
  Range common;                            ///< Of `numbers`: local rows for every rank.
  std::vector<Range> others;               ///< Likewise, for the rank of each row of the grid.
  std::vector<std::array<Range, 2>> from;  ///< Places of what each of them sends: of the common rows, and of others.
  Index wanted = 0;                        ///< Rows that are wanted here.
};
/// For the rank in row `here` of the grid; `rows`: who has which rows.
[[nodiscard]] RowPlan plan_rows(const CyclicAxis& rows, int here, const WantedRows& wanted);

/// Brings rows of a matrix, whose rows are dealt out, to the ranks that want them.
template <Scalar T> class RowExchange {
 public:
  /// For up to `common` rows that every rank wants in one call, and `others` besides over all ranks, of local matrices
  /// of up to so many columns.
  RowExchange(const Communicator& comm, const RankGrid& grid, Index common, Index others, Index columns);

  /// Bytes that it allocates.
  [[nodiscard]] static double bytes(Index common, Index others, Index columns) {
    const auto rows = static_cast<double>(common + others);
    return 3.0 * sizeof(T) * rows * static_cast<double>(columns) + 2.0 * lists * sizeof(Index) * rows;
  }
  [[nodiscard]] const ExecutionSpace& space() const { return comm_.space(); }
  /// Of the matrix of which this rank has rows and columns `local`, the rows that are wanted here: those of
  /// WantedRows::common, and then this rank's others. Ordered on the communicator's instance, and there until the next
  /// call. Blocks until rows are on their way into this rank's memory. Collective over the ranks of a column of the
  /// grid.
  [[nodiscard]] MatrixView<T> fetch(const MatrixView<T>& local, const WantedRows& wanted);
  /// Row begin + k of `from` becomes row targets[k] of `to`, counted there.
  void put(const MatrixView<T>& from, Index begin, const std::vector<Index>& targets, const MatrixView<T>& to);
  /// Blocks until nothing that this rank sent is under way any more.
  void finish();

 private:
  using Memory = Kokkos::View<T*, MemorySpace>;
  using Numbers = Kokkos::View<Index*, MemorySpace>;
  /// Numbers on their way to the device, and when the memory of the host that they come from may be written again.
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
