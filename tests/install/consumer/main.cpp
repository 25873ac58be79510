// exp(A) exp(-A) - I over all ranks, which is zero but for rounding.
#include <heddle/heddle.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::Communicator comm(MPI_COMM_WORLD);
    const auto rows = heddle::Placement::row_bands(512, 512, comm.size());
    const heddle::DistributedMatrix<double> A(comm, rows), E(comm, rows), P(comm, rows);
    heddle::fill(
        A, KOKKOS_LAMBDA(heddle::Index i, heddle::Index j) { return 1.0 / (1 + i + j); });
    const auto report = heddle::expm(comm, A, E, {.tolerance = 1e-12});  // E = exp(A)
    heddle::scale(-1.0, A);
    heddle::expm(comm, A, P);                                                                 // P = exp(-A)
    heddle::gemm(comm, heddle::Operation::none, heddle::Operation::none, 1.0, E, P, 0.0, A);  // A = E P
    heddle::add_identity(-1.0, A);
    const double error = heddle::norm(A, heddle::Norm::one);
    if (comm.rank() == 0) std::printf("%d products, |E P - I| = %.1e\n", report.products, error);
  }
  MPI_Finalize();
}
