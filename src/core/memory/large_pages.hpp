// Memory of large pages.
#pragma once

#include <cstddef>

namespace heddle::impl {

/// Asks the system for large pages where it has not given any of this memory yet: arrays of hundreds of megabytes that
/// are written once take a good part of their time to be given page by page. Nothing where there is no such advice.
void advise_large_pages(void* data, std::size_t bytes);

}  // namespace heddle::impl
