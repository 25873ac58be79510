// Calls of MPI whose errors are not ignored, and of buffers that MPI may still touch after one.
#pragma once

#include <any>

namespace heddle::impl {

/// Throws Error(computation) with MPI's own words where a call of MPI failed. The library's communicators return errors
/// (MPI_ERRORS_RETURN), whatever the caller's do.
void checked(int code, const char* call);

/// Keeps what MPI may still read or write, as nobody waits for it any more, until the process ends.
void keep_forever(std::any buffers) noexcept;

}  // namespace heddle::impl
