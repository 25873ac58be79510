// State of cuBLAS and cuSOLVER that a context keeps, and its origin: handles take about a millisecond to make,
// longer than many a call that makes a context of its own.
#pragma once

#include "blas/backend.hpp"
#include <heddle/core/error.hpp>

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::blas {

/// Throws Error(computation) where `status` is a failure to do `what`.
void check(const char* what, cublasStatus_t status);
void check_solver(const char* what, cusolverStatus_t status);

/// A scalar in the libraries of CUDA: its type, and their number for it.
template <Scalar T> struct CudaScalar;
template <> struct CudaScalar<float> {
  using Element = float;
  static constexpr cudaDataType type = CUDA_R_32F;
};
template <> struct CudaScalar<double> {
  using Element = double;
  static constexpr cudaDataType type = CUDA_R_64F;
};
template <> struct CudaScalar<Kokkos::complex<float>> {
  using Element = cuComplex;
  static constexpr cudaDataType type = CUDA_C_32F;
};
template <> struct CudaScalar<Kokkos::complex<double>> {
  using Element = cuDoubleComplex;
  static constexpr cudaDataType type = CUDA_C_64F;
};

/// A handle of cuSOLVER with its parameters, and the memory of the last call.
struct Solver {
  Solver();
  ~Solver();
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  /// Grow the two workspaces to at least these sizes.
  void reserve(std::size_t device_bytes, std::size_t host_bytes);

  cusolverDnHandle_t handle = nullptr;
  cusolverDnParams_t parameters = nullptr;
  Kokkos::View<std::byte*, MemorySpace> workspace;
  Kokkos::View<int, MemorySpace> info;
  std::vector<std::byte> host_workspace;
};

struct Context::State {
  explicit State(const ExecutionSpace& space);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Bind the handles to the instance's stream, behind all their earlier work.
  void bind(const ExecutionSpace& space, MathMode math);
  /// Marks the end of what was ordered on the stream; false where CUDA refuses that.
  [[nodiscard]] bool mark(const ExecutionSpace& space) noexcept;
  /// cuSOLVER's handle, made when it is first asked for.
  Solver& solver(const ExecutionSpace& space);

  cublasHandle_t handle = nullptr;
  cudaEvent_t used = nullptr;
  Kokkos::View<std::byte*, MemorySpace> workspace;
  Kokkos::View<std::byte*, MemorySpace> copies;   // Copies of operands whose layout cuBLAS would look at.
  Kokkos::View<std::uint32_t, MemorySpace> next;  // Next tile of hopper_products().
  std::unique_ptr<Solver> eigensolver;
};

}  // namespace heddle::blas
