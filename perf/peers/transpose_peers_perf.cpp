// The transpose on CPUs beside OpenBLAS's and Eigen's, in turn.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include "support/transposes.hpp"
#include <heddle/transpose/transpose.hpp>

#ifdef HEDDLE_EIGEN
#include <Eigen/Core>
#endif

#include <array>

// OpenBLAS's out-of-place copy, where the host BLAS is OpenBLAS: CblasColMajor is 102, CblasTrans 112.
extern "C" __attribute__((weak)) void cblas_domatcopy(int order, int trans, int rows, int columns, double alpha,
                                                      const double* A, int lda, double* B, int ldb);

namespace heddle::perf {
namespace {

using Theirs = void (*)(const LocalMatrix<double>& A, const LocalMatrix<double>& B);

void by_openblas(const LocalMatrix<double>& A, const LocalMatrix<double>& B) {
  const auto m = static_cast<int>(A.extent(0));
  const auto n = static_cast<int>(A.extent(1));
  cblas_domatcopy(102, 112, m, n, 1.0, A.data(), m, B.data(), n);
}

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
          {"heddle", [&] { return seconds_of([&] { transpose(space, 1.0, A, Operation::transpose, B); }); }},
          {name, [&] { return seconds_of([&] { theirs(A, C); }); }}, "gbytes");
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
    if (cblas_domatcopy != nullptr) {
      add(shape, "openblas", by_openblas);
    }
#ifdef HEDDLE_EIGEN
    add(shape, "eigen", by_eigen);
#endif
  }
  return true;
}();

}  // namespace
}  // namespace heddle::perf
