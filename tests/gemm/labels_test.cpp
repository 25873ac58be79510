// Kernel names and instances of the library, as Kokkos Tools reports them: names begin with heddle::, and only the
// communicator's instance is used (on GPUs also those that a plan creates, never the default one).
#include "support/labels.hpp"

#include "support/matrices.hpp"
#include <heddle/expm/expm.hpp>
#include <heddle/gemm/gemm.hpp>
#include <heddle/tuning/rates.hpp>

#include <gtest/gtest.h>

namespace heddle::labels_test {
namespace {

TEST(Kokkos, LabelsBeginWithHeddleAndNoOtherInstanceIsTouched) {
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1);
  const Communicator comm(MPI_COMM_WORLD, instances[0]);
  const int ranks = comm.size();
  const Placement bands = Placement::row_bands(24, 24, ranks);
  test::listen();
  {
    const auto A = test::random_matrix<double>(comm, bands, 1);
    const DistributedMatrix<double> B(comm, Placement::block_cyclic(24, 24, 3, 4, 1, ranks));
    redistribute(A, B);
    const auto whole = gather(B, 0);
    scatter(whole, 0, B);
    for (const Norm kind : {Norm::one, Norm::infinity, Norm::frobenius, Norm::maximum}) {
      static_cast<void>(norm(B, kind));
    }
    static_cast<void>(trace(B));
    const DistributedMatrix<double> C(comm, Placement::on_rank(24, 24, 0));
    gemm<double>(comm, Operation::transpose, Operation::none, 1.0, A, B, 0.0, C, {.tile = 7});
    gemm<double>(comm, Operation::none, Operation::none, 0.0, B, B, 2.0, A, {.tile = 7});
    gemm<double>(comm, Operation::none, Operation::none, 1.0, B, B, 0.5, C, {.tile = 7, .layers = 2});
    {
      GemmPlan<double> plan(comm, Operation::none, bands, Operation::none, B.placement(), bands, {.tile = 7});
      const DistributedMatrix<double> D(comm, bands);
      plan.enqueue(1.0, A, B, 0.0, D);
      plan.enqueue(1.0, A, B, 0.5, D);
      static_cast<void>(plan.report());
    }
    ExpmOptions options;
    options.gemm.tile = 7;
    options.residual = true;
    const DistributedMatrix<double> E(comm, bands);
    expm(comm, A, E, options);
    using Complex = Kokkos::complex<double>;
    const DistributedMatrix<Complex> Z(comm, bands);
    fill(Z, Complex(0.1, 0.2));
    const DistributedMatrix<Complex> exp_z(comm, bands);
    expm(comm, Z, exp_z, options);
    static_cast<void>(measure_rates<float>(comm, 0.2));
  }
  test::stop_listening();
  test::expect_labels(instances[0]);
}

}  // namespace
}  // namespace heddle::labels_test
