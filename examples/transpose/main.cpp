// B = A^T over all ranks, from bands of rows to the blocks of ScaLAPACK, and back.
#include <heddle/heddle.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 0;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::Communicator comm(MPI_COMM_WORLD);
    const heddle::DistributedMatrix<double> A(comm, heddle::Placement::row_bands(700, 300, comm.size()));
    const heddle::DistributedMatrix<double> B(comm, heddle::Placement::block_cyclic(300, 700, 64, 64, 1, comm.size()));
    const heddle::DistributedMatrix<double> back(comm, A.placement());
    heddle::fill(
        A, KOKKOS_LAMBDA(heddle::Index i, heddle::Index j) { return 1000.0 * i + j; });
    heddle::transpose(comm, 1.0, A, heddle::Operation::transpose, B);
    heddle::transpose(comm, 1.0, B, heddle::Operation::transpose, back);
    heddle::add(-1.0, A, back);
    error = heddle::norm(back, heddle::Norm::maximum);
    if (comm.rank() == 0) {
      std::printf("A: %s\nB: %s\ntwice transposed, A differs by %.1e\n", A.placement().describe().c_str(),
                  B.placement().describe().c_str(), error);
    }
  }
  MPI_Finalize();
  return error == 0.0 ? 0 : 1;
}
