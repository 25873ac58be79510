// Explicit instantiation for the types that transpose() moves.
#pragma once

#include "core/instantiate.hpp"

/// INSTANTIATE(T); for each of the six types.
#define HEDDLE_FOR_EACH_TRANSPOSABLE(INSTANTIATE) \
  HEDDLE_FOR_EACH_SCALAR(INSTANTIATE);            \
  INSTANTIATE(std::int32_t);                      \
  INSTANTIATE(std::int64_t)
