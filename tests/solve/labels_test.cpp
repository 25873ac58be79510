// Kernel names and instances of factorizations and solutions, as Kokkos Tools reports them: names begin with heddle::,
// and only the communicator's instance is used (on GPUs never the default one).
#include "support/labels.hpp"

#include "support/matrices.hpp"
#include <heddle/solve/qr.hpp>
#include <heddle/solve/solve.hpp>

#include <gtest/gtest.h>

namespace heddle::labels_test {
namespace {

TEST(Solve, LabelsBeginWithHeddleAndNoOtherInstanceIsTouched) {
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1);
  const Communicator comm(MPI_COMM_WORLD, instances[0]);
  const Index n = 700;  // Enough rows for threads to share them.
  const Placement bands = Placement::row_bands(n, n, comm.size());
  const Placement of_right = Placement::row_bands(n, 3, comm.size());
  test::listen();
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    const FactorOptions options{.arithmetic = arithmetic, .block = 64, .group = 4};
    const auto A = test::random_matrix<double>(comm, bands, 1);
    const auto B = test::random_matrix<double>(comm, of_right, 2);
    const DistributedMatrix<double> X(comm, of_right);
    EXPECT_EQ(solve<double>(comm, A, B, X, {.factorization = options}).factorization.info, 0);
    const LuReport factors = lu(comm, A, options);
    lu_solve(comm, Operation::transpose, A, factors, X, options);
    EXPECT_GT(condition(comm, A, factors, 1.0, options), 0.0);
    EXPECT_NE(determinant(comm, A, factors).mantissa, 0.0);
    EXPECT_EQ(inverse(comm, test::random_matrix<double>(comm, bands, 3), options).info, 0);
    EXPECT_TRUE(
        inverse(comm, test::random_matrix<double>(comm, bands, 3), options, Rounding::correct).correctly_rounded);
    EXPECT_TRUE(
        determinant(comm, test::random_matrix<float>(comm, bands, 3), options, Rounding::correct).correctly_rounded);
    const auto positive = test::random_matrix<double>(comm, bands, 4);
    add_identity(4.0 * static_cast<double>(n), positive);
    EXPECT_EQ(solve<double>(comm, positive, B, X, {.method = SolveMethod::cholesky, .factorization = options})
                  .factorization.info,
              0);
    const QrOptions of_qr{.arithmetic = arithmetic, .block = 64};
    const Placement high = Placement::row_bands(n, 90, comm.size());
    const auto tall = test::random_matrix<double>(comm, high, 5);
    const DistributedMatrix<double> of_unknowns(comm, Placement::row_bands(90, 3, comm.size()));
    EXPECT_EQ(least_squares(comm, tall, B, of_unknowns, {.qr = of_qr, .condition = true}).qr.info, 0);
    const QrReport<double> reflections = qr(comm, tall, of_qr);
    qr_form(comm, tall, reflections.tau, DistributedMatrix<double>(comm, high), of_qr);
  }
  test::stop_listening();
  test::expect_labels(instances[0]);
}

}  // namespace
}  // namespace heddle::labels_test
