// Equal keys in memory that a plan may keep.
#pragma once

#include "search/duplicates/workspace.hpp"
#include <heddle/search/duplicates.hpp>

namespace heddle::search::impl {

/// find_duplicates() with all arrays, including the result's, from `workspace`.
[[nodiscard]] Duplicates duplicates_in(Workspace& workspace, const compiled::KeyArray& keys,
                                       const SearchOptions& options);

}  // namespace heddle::search::impl
