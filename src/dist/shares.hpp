// Elements that two ranks have in common under two placements of a matrix.
#pragma once

#include "core/elementwise.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/dist/placement.hpp>

#include <vector>

namespace heddle::impl {

/// Some local indices, rising: a range, or a list where they have gaps.
struct Locals {
  Index first = 0;
  Index count = 0;
  Kokkos::View<const Index*, MemorySpace> list;  ///< Only where there are gaps.

  [[nodiscard]] bool is_range() const { return list.data() == nullptr; }
  /// Those numbered [range.begin, range.end).
  [[nodiscard]] Locals part(Range range) const {
    return is_range() ? Locals{first + range.begin, range.size(), {}}
                      : Locals{first, range.size(), Kokkos::subview(list, Kokkos::make_pair(range.begin, range.end))};
  }
};

/// One of them, in a kernel.
struct Position {
  Index first;
  const Index* list;
  explicit Position(const Locals& locals)
      : first(locals.first), list(locals.is_range() ? nullptr : locals.list.data()) {}
  KOKKOS_INLINE_FUNCTION Index operator()(Index k) const { return list == nullptr ? first + k : list[k]; }
};

/// Local rows and columns: a part of a local matrix.
struct Share {
  Locals rows;
  Locals columns;

  [[nodiscard]] Index size() const { return rows.count * columns.count; }
  [[nodiscard]] Share of_rows(Range range) const { return {rows.part(range), columns}; }
  [[nodiscard]] Share of_columns(Range range) const { return {rows, columns.part(range)}; }
  [[nodiscard]] bool is_block() const { return rows.is_range() && columns.is_range(); }
  template <class T> [[nodiscard]] MatrixView<T> block(const MatrixView<T>& local) const {
    return block_of(local, rows.first, rows.first + rows.count, columns.first, columns.first + columns.count);
  }
  /// Whether it is one run of memory, which travels as it lies.
  template <class T> [[nodiscard]] bool is_contiguous(const MatrixView<T>& local) const {
    return is_block() && (columns.count == 1 || rows.count == static_cast<Index>(local.stride(1)));
  }
};

/// packed(i, j) = the element of a part at (i, j), and the reverse.
template <class T> struct PackElement {
  Elements<const T> from;
  Elements<T> to;
  Position row;
  Position column;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { to(i, j) = from(row(i), column(j)); }
};
template <class T> struct UnpackElement {
  Elements<const T> from;
  Elements<T> to;
  Position row;
  Position column;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { to(row(i), column(j)) = from(i, j); }
};

/// packed = part of local, in the order of its indices; does not block.
template <class T>
void pack(const ExecutionSpace& space, const MatrixView<const T>& local, const Share& part,
          const MatrixView<T>& packed) {
  if (part.is_block()) {
    copy_elements<T>(space, "heddle::dist::pack", part.block(local), packed);
    return;
  }
  for_each_element(
      space, "heddle::dist::pack", part.rows.count, part.columns.count,
      PackElement<T>{Elements<const T>(local), Elements<T>(packed), Position(part.rows), Position(part.columns)});
}

/// part of local = packed; does not block.
template <class T>
void unpack(const ExecutionSpace& space, const MatrixView<const T>& packed, const Share& part,
            const MatrixView<T>& local) {
  if (part.is_block()) {
    copy_elements<T>(space, "heddle::dist::unpack", packed, part.block(local));
    return;
  }
  for_each_element(
      space, "heddle::dist::unpack", part.rows.count, part.columns.count,
      UnpackElement<T>{Elements<const T>(packed), Elements<T>(local), Position(part.rows), Position(part.columns)});
}

/// One rank's side of an exchange between its placement `mine` of a matrix and another's: the elements that it shares
/// with each rank. `crossed`: `other` places the transpose. Sender and receiver list the same elements in the same
/// order.
class Shares {
 public:
  Shares(const Communicator& comm, const Placement& mine, const Placement& other, bool crossed = false);

  /// Part of this rank's local matrix that `rank` has in the other placement.
  [[nodiscard]] Share with(int rank) const;
  [[nodiscard]] bool empty(int rank) const { return with(rank).size() == 0; }

 private:
  bool inside_;
  bool crossed_;
  Placement other_;
  std::vector<Locals> rows_;
  std::vector<Locals> columns_;
};

}  // namespace heddle::impl
