// Equal keys in memory that a plan may keep.
#pragma once

#include "search/workspace.hpp"
#include <heddle/search/duplicates.hpp>

namespace heddle::search::impl {

/// find_duplicates() in arrays of `workspace`, those of the result too.
[[nodiscard]] Duplicates duplicates_in(Workspace& workspace, const compiled::KeyArray& keys,
                                       const SearchOptions& options);

}  // namespace heddle::search::impl
