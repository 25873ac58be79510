// A handle of rocBLAS, and what becomes of its failures; included by sources for AMD GPUs alone.
#pragma once

#include <heddle/core/error.hpp>

#include <rocblas/rocblas.h>

namespace heddle::impl {

/// Throw Error(computation) unless `library` managed to do `what`.
inline void check_rocblas(const char* library, const char* what, rocblas_status status) {
  if (status != rocblas_status_success) {
    throw Error(ErrorKind::computation,
                message_of(library, " failed to ", what, ": ", rocblas_status_to_string(status)));
  }
}

/// A handle that is destroyed with its object.
struct RocblasHandle {
  RocblasHandle() { check_rocblas("rocBLAS", "start", rocblas_create_handle(&value)); }
  ~RocblasHandle() { rocblas_destroy_handle(value); }
  RocblasHandle(const RocblasHandle&) = delete;
  RocblasHandle& operator=(const RocblasHandle&) = delete;
  rocblas_handle value = nullptr;
};

}  // namespace heddle::impl
