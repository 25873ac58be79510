// Names and instances of everything that the eigensolvers give to the device.
#include "support/labels.hpp"

#include "eigen/problems.hpp"
#include <heddle/eigen/batched.hpp>
#include <heddle/eigen/distributed.hpp>
#include <heddle/eigen/generalised.hpp>
#include <heddle/eigen/svd.hpp>

#include <gtest/gtest.h>

namespace heddle::eigen::labels_test {
namespace {

TEST(EigenKokkos, LabelsBeginWithHeddleAndNoOtherInstanceIsTouched) {
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1);
  const ExecutionSpace& space = instances[0];
  const Communicator comm(MPI_COMM_WORLD, space);
  const Device<double> A = to_device<double>(random_hermitian<double>(70, 1));
  const Device<double> positive = to_device<double>(graded<double>(70, 1e6, 1));
  const Device<double> V("heddle::V", 70, 70);
  const Kokkos::View<double*, MemorySpace> w("heddle::w", 70);
  const Kokkos::View<double***, Kokkos::LayoutLeft, MemorySpace> batch("heddle::batch", 20, 20, 3);
  const Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> values("heddle::values", 20, 3);
  const Kokkos::View<double***, Kokkos::LayoutLeft, MemorySpace> right("heddle::right", 20, 20, 3);
  const Kokkos::View<double***, Kokkos::LayoutLeft, MemorySpace> large("heddle::large", 70, 70, 2);
  const Kokkos::View<double***, Kokkos::LayoutLeft, MemorySpace> vectors_of_large("heddle::vectors", 70, 70, 2);
  const Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace> values_of_large("heddle::values", 70, 2);
  Kokkos::deep_copy(Kokkos::subview(large, Kokkos::ALL, Kokkos::ALL, 0), A);
  Kokkos::deep_copy(Kokkos::subview(large, Kokkos::ALL, Kokkos::ALL, 1), positive);
  const Placement bands = Placement::row_bands(70, 70, comm.size());
  test::listen();
  {
    for (const Device<double>& matrix : {A, positive}) {
      for (const JacobiMethod method : {JacobiMethod::classical, JacobiMethod::cyclic, JacobiMethod::round_robin,
                                        JacobiMethod::blocked, JacobiMethod::preconditioned}) {
        EXPECT_TRUE(jacobi(space, matrix, w, V, {.method = method}).converged);
      }
      EXPECT_TRUE(jacobi(space, matrix, w, V, {.warm_start = true}).converged);
    }
    for (const Device<double>& matrix : {A, positive}) {
      EXPECT_TRUE(jacobi(space, matrix, positive, w, V).converged);
      EXPECT_TRUE(jacobi(space, matrix, positive, w, V, {.warm_start = true}).converged);
    }
    EXPECT_TRUE(jacobi_batched_values(space, batch, values).converged());
    EXPECT_TRUE(jacobi_batched(space, large, values_of_large, vectors_of_large).converged());
    EXPECT_TRUE(svd_batched(space, batch, values, batch, right).converged());
    const DistributedMatrix<double> one(comm, bands, "heddle::one");
    fill(one, 1.0);
    const DistributedMatrix<double> vectors(comm, bands, "heddle::vectors");
    EXPECT_TRUE(jacobi<double>(comm, one, w, vectors).converged);
  }
  test::stop_listening();
  test::expect_labels(space);
}

}  // namespace
}  // namespace heddle::eigen::labels_test
