// Helpers of the benchmarks that call cuBLAS directly.
#pragma once

#include <heddle/core/error.hpp>

#include <cublas_v2.h>

namespace heddle::perf {

inline void check(cublasStatus_t status) {
  require(status == CUBLAS_STATUS_SUCCESS, "cuBLAS: ", cublasGetStatusString(status));
}

}  // namespace heddle::perf
