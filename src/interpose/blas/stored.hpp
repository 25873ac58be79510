// Locations of elements of symmetric and triangular matrices in memory.
#pragma once

#include <heddle/core/scalar.hpp>

#include <algorithm>

namespace heddle::impl::interpose {

/// For each, at(i, j) is the place of an element of the triangle that is stored, and elements more than reach() off the
/// diagonal are zeros, which are not stored.

/// In columns of a whole matrix.
struct Dense {
  Index leading;
  Index n;
  bool lower;
  [[nodiscard]] Index at(Index i, Index j) const { return i + j * leading; }
  [[nodiscard]] Index reach() const { return n; }
};
/// In columns of so many diagonals beside the main one, the highest first.
struct Banded {
  Index leading;
  Index width;
  bool lower;
  [[nodiscard]] Index at(Index i, Index j) const { return (lower ? 0 : width) + i - j + j * leading; }
  [[nodiscard]] Index reach() const { return width; }
};
/// The columns of the triangle one after the other.
struct Packed {
  Index n;
  bool lower;
  [[nodiscard]] Index at(Index i, Index j) const { return i + (lower ? j * (2 * n - j - 1) : j * (j + 1)) / 2; }
  [[nodiscard]] Index reach() const { return n; }
};

/// Indices [begin, end) around the diagonal's i that may be other than zero.
struct Around {
  Index begin;
  Index end;
  Around(Index i, Index n, Index reach)
      : begin(std::max<Index>(0, i - reach)), end(i + std::min(n - i - 1, reach) + 1) {}
};

/// Rows [begin, end) of a column that lie in a triangle, 'L' or 'U', of n x n.
struct TriangleRows {
  Index begin;
  Index end;
  TriangleRows(char triangle, Index n, Index column)
      : begin(triangle == 'L' ? column : 0), end(triangle == 'L' ? n : column + 1) {}
};

}  // namespace heddle::impl::interpose
