// Arguments of BLAS 2, as its names pass them.
#pragma once

#include "interpose/blas/vectors.hpp"
#include "interpose/names/symbols.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace heddle::impl::interpose {

/// The position of the first argument that is wrong, or 0.
constexpr int first_wrong(std::initializer_list<std::pair<bool, int>> checks) {
  for (const auto& [wrong, position] : checks) {
    if (wrong) return position;
  }
  return 0;
}
inline bool is_operation(char op) {
  return op == 'N' || op == 'T' || op == 'C';
}
/// op(A) of a matrix by columns, or by rows, whose transpose is in memory.
inline Taken taken_as(char op, bool by_rows) {
  return {(op != 'N') != by_rows, op == 'C'};
}

}  // namespace heddle::impl::interpose
