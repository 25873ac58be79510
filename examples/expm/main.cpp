// E = exp(A) for the generator of a rotation, whose exponential is orthogonal: E^T E = I.
#include <heddle/heddle.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 0;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::Communicator comm(MPI_COMM_WORLD);
    const heddle::Index n = 300;
    const auto bands = heddle::Placement::row_bands(n, n, comm.size());
    const heddle::DistributedMatrix<double> A(comm, bands), E(comm, bands), P(comm, bands);
    heddle::fill(
        A, KOKKOS_LAMBDA(heddle::Index i, heddle::Index j) { return i == j + 1   ? 1.0
                                                                    : j == i + 1 ? -1.0
                                                                                 : 0.0; });
    const auto report = heddle::expm(comm, A, E, {.tolerance = 1e-10});
    heddle::gemm(comm, heddle::Operation::transpose, heddle::Operation::none, 1.0, E, E, 0.0, P);
    heddle::add_identity(-1.0, P);
    error = heddle::norm(P, heddle::Norm::one);
    if (comm.rank() == 0) std::printf("%d products, |E^T E - I| = %.1e\n", report.products, error);
  }
  MPI_Finalize();
  return error < 1e-8 ? 0 : 1;
}
