// C = A B of matrices in rank 0's host memory by cublasXt, which drives several GPUs from one process.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>

#include <cublasXt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace heddle::driver {

/// One process's handle on several devices.
class CublasXt {
 public:
  explicit CublasXt(std::vector<int> devices) : devices_(std::move(devices)) {
    cudaGetDevice(&own_device_);
    check(cublasXtCreate(&handle_));
    check(cublasXtDeviceSelect(handle_, static_cast<int>(devices_.size()), devices_.data()));
  }
  ~CublasXt() {
    cublasXtDestroy(handle_);
    cudaSetDevice(own_device_);
  }
  CublasXt(const CublasXt&) = delete;
  CublasXt& operator=(const CublasXt&) = delete;

  /// Multiply n x n matrices, column by column without gaps, in tiles of `block`. Blocks.
  template <Scalar T> void multiply(int block, std::size_t n, const T* A, const T* B, T* C) const {
    const T one(1);
    const T zero(0);
    check(cublasXtSetBlockDim(handle_, block));
    const auto call = [&](auto* gemm, auto element) {
      using Element = decltype(element);
      check(gemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, reinterpret_cast<const Element*>(&one),
                 reinterpret_cast<const Element*>(A), n, reinterpret_cast<const Element*>(B), n,
                 reinterpret_cast<const Element*>(&zero), reinterpret_cast<Element*>(C), n));
    };
    if constexpr (std::is_same_v<T, float>) {
      call(&cublasXtSgemm, float());
    } else if constexpr (std::is_same_v<T, double>) {
      call(&cublasXtDgemm, double());
    } else if constexpr (std::is_same_v<T, Kokkos::complex<float>>) {
      call(&cublasXtCgemm, cuComplex());
    } else {
      call(&cublasXtZgemm, cuDoubleComplex());
    }
    // cublasXt changes the current device; Kokkos expects its own.
    cudaSetDevice(own_device_);
  }

  /// The device of this process.
  [[nodiscard]] static int current_device() {
    int device = 0;
    cudaGetDevice(&device);
    return device;
  }

 private:
  static void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) {
      throw Error(ErrorKind::computation, message_of("cublasXt: ", cublasGetStatusString(status)));
    }
  }

  std::vector<int> devices_;
  int own_device_ = 0;
  cublasXtHandle_t handle_ = nullptr;
};

/// Return each device once, in ascending order.
[[nodiscard]] inline std::vector<int> each_once(std::vector<int> devices) {
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace heddle::driver
