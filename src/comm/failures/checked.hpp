// Checks of MPI calls, and a place for buffers that MPI may still touch after an error.
#pragma once

#include <mpi.h>

#include <any>
#include <exception>
#include <utility>

namespace heddle::impl {

/// Throws Error(computation) with MPI's own message if a call of MPI failed. The library's communicators return errors
/// (MPI_ERRORS_RETURN), whatever the caller's do.
void checked(int code, const char* call);

/// Whether a request is over; lets MPI make progress, and does not block.
[[nodiscard]] inline bool is_over(MPI_Request& request) {
  int over = 0;
  checked(MPI_Test(&request, &over, MPI_STATUS_IGNORE), "MPI_Test");
  return over != 0;
}

/// The communicator of a Fortran handle.
[[nodiscard]] MPI_Comm communicator_of(MPI_Fint handle);

/// Keeps buffers that MPI may still read or write, and that nobody waits for, until the process ends.
void keep_forever(std::any buffers) noexcept;

/// Keeps send buffers if an exception passes: receivers may read them until they have given up, too.
class KeptWhereFailed {
 public:
  explicit KeptWhereFailed(std::any buffers) : buffers_(std::move(buffers)), exceptions_(std::uncaught_exceptions()) {}
  ~KeptWhereFailed() {
    if (std::uncaught_exceptions() > exceptions_) keep_forever(std::move(buffers_));
  }
  KeptWhereFailed(const KeptWhereFailed&) = delete;
  KeptWhereFailed& operator=(const KeptWhereFailed&) = delete;

 private:
  std::any buffers_;
  int exceptions_;
};

}  // namespace heddle::impl
