// The transpose on CPUs beside OpenBLAS's and Eigen's, in turn.
#include "support/measure.hpp"
#include "support/operands.hpp"
#include <heddle/transpose/transpose.hpp>

#ifdef HEDDLE_EIGEN
#include <Eigen/Core>
#endif

#include <array>
#include <string>

// OpenBLAS's out-of-place copy, where the host BLAS is OpenBLAS: CblasColMajor is 102, CblasTrans 112.
extern "C" __attribute__((weak)) void cblas_domatcopy(int order, int trans, int rows, int columns, double alpha,
                                                      const double* A, int lda, double* B, int ldb);

namespace heddle::perf {
namespace {

struct Shape {
  Index rows;
  Index columns;
};

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
  const double bytes = 2.0 * static_cast<double>(m) * static_cast<double>(n) * sizeof(double);
  compare(state, bytes,
          {"heddle", [&] { return seconds_of([&] { transpose(space, 1.0, A, Operation::transpose, B); }); }},
          {name, [&] { return seconds_of([&] { theirs(A, C); }); }});
  Index wrong = 0;
  for (Index k = 0; k < m * n; ++k) {
    wrong += B.data()[k] == C.data()[k] ? 0 : 1;
  }
  if (wrong > 0) {
    fail(state, "the two differ");
  }
}

[[maybe_unused]] const bool added = [] {
  constexpr std::array<Shape, 3> shapes = {{{8192, 8192}, {8191, 8193}, {64, 1000000}}};
  const auto add = [](const Shape& shape, const char* name, Theirs theirs) {
    benchmark::RegisterBenchmark(("transpose/double/" + std::string(name) + '/' + std::to_string(shape.rows) + 'x' +
                                  std::to_string(shape.columns))
                                     .c_str(),
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
