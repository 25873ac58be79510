// Benchmarks of the transpose against OpenBLAS's and Eigen's on CPUs and cuBLAS's on GPUs, in turn.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include "support/transposes.hpp"
#include <heddle/transpose/transpose.hpp>

#ifdef HEDDLE_EIGEN
#include <Eigen/Core>
#endif
#ifdef KOKKOS_ENABLE_CUDA
#include <cublas_v2.h>
#endif

#include <array>

#ifndef KOKKOS_ENABLE_CUDA
// OpenBLAS's out-of-place copy, defined if the host BLAS is OpenBLAS: CblasColMajor is 102, CblasTrans 112.
extern "C" __attribute__((weak)) void cblas_domatcopy(int order, int trans, int rows, int columns, double alpha,
                                                      const double* A, int lda, double* B, int ldb);
#endif

namespace heddle::perf {
namespace {

using Theirs = void (*)(const LocalMatrix<double>& A, const LocalMatrix<double>& B);

#ifdef KOKKOS_ENABLE_CUDA
void by_cublas(const LocalMatrix<double>& A, const LocalMatrix<double>& B) {
  static const cublasHandle_t handle = [] {
    cublasHandle_t created = nullptr;
    require(cublasCreate(&created) == CUBLAS_STATUS_SUCCESS &&
                cublasSetStream(created, world().space().cuda_stream()) == CUBLAS_STATUS_SUCCESS,
            "cuBLAS: it did not start");
    return created;
  }();
  const auto m = static_cast<int>(A.extent(0));
  const auto n = static_cast<int>(A.extent(1));
  const double one = 1.0;
  const double zero = 0.0;
  const cublasStatus_t status =
      cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, &one, A.data(), m, &zero, B.data(), n, B.data(), n);
  require(status == CUBLAS_STATUS_SUCCESS, "cuBLAS: ", cublasGetStatusString(status));
}
#else
void by_openblas(const LocalMatrix<double>& A, const LocalMatrix<double>& B) {
  const auto m = static_cast<int>(A.extent(0));
  const auto n = static_cast<int>(A.extent(1));
  cblas_domatcopy(102, 112, m, n, 1.0, A.data(), m, B.data(), n);
}
#endif

#ifdef HEDDLE_EIGEN
void by_eigen(const LocalMatrix<double>& A, const LocalMatrix<double>& B) {
  const auto m = static_cast<Eigen::Index>(A.extent(0));
  const auto n = static_cast<Eigen::Index>(A.extent(1));
  Eigen::Map<Eigen::MatrixXd>(B.data(), n, m).noalias() = Eigen::Map<const Eigen::MatrixXd>(A.data(), m, n).transpose();
}
#endif

void beside(benchmark::State& state, const Shape& shape, const char* name, Theirs theirs) {
  const Index m = extent(shape.rows);
  const Index n = extent(shape.columns);
  const ExecutionSpace& space = world().space();
  const LocalMatrix<double> A = random_local<double>(space, m, n, 1);
  const LocalMatrix<double> B("heddle::perf::B", static_cast<std::size_t>(n), static_cast<std::size_t>(m));
  const LocalMatrix<double> C("heddle::perf::C", static_cast<std::size_t>(n), static_cast<std::size_t>(m));
  compare(state, bytes_moved(A),
          {"heddle", [&] { return seconds_of_one([&] { transpose(space, 1.0, A, Operation::transpose, B); }); }},
          {name, [&] { return seconds_of_one([&] { theirs(A, C); }); }}, "gbytes");
  if (!is_transpose(A, B) || !is_transpose(A, C)) {
    fail(state, "not the transpose of A");
  }
}

[[maybe_unused]] const bool added = [] {
  constexpr std::array<Shape, 3> shapes = {{{8192, 8192}, {8191, 8193}, {64, 1000000}}};
  const auto add = [](const Shape& shape, const char* name, Theirs theirs) {
    benchmark::RegisterBenchmark(benchmark_name(name, shape).c_str(),
                                 [=](benchmark::State& state) { beside(state, shape, name, theirs); })
        ->Iterations(5)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const Shape& shape : shapes) {
#ifdef KOKKOS_ENABLE_CUDA
    add(shape, "cublas", by_cublas);
#else
    if (cblas_domatcopy != nullptr) {
      add(shape, "openblas", by_openblas);
    }
#endif
#ifdef HEDDLE_EIGEN
    add(shape, "eigen", by_eigen);
#endif
  }
#ifdef KOKKOS_ENABLE_CUDA
  add({32768, 32768}, "cublas", by_cublas);
#endif
  return true;
}();

}  // namespace
}  // namespace heddle::perf
