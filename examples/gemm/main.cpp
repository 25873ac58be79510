// C = A B over all ranks: A and C in bands of rows, B whole on rank 0.
#include <heddle/heddle.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 0;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::Communicator comm(MPI_COMM_WORLD);
    const heddle::Index n = 600;
    const auto bands = heddle::Placement::row_bands(n, n, comm.size());
    const heddle::DistributedMatrix<double> A(comm, bands), C(comm, bands);
    const heddle::DistributedMatrix<double> B(comm, heddle::Placement::on_rank(n, n, 0));
    heddle::fill(
        A, KOKKOS_LAMBDA(heddle::Index i, heddle::Index k) { return k <= i ? 1.0 : 0.0; });
    heddle::fill(
        B, KOKKOS_LAMBDA(heddle::Index k, heddle::Index j) { return k == j       ? 1.0
                                                                    : k == j + 1 ? -1.0
                                                                                 : 0.0; });
    const auto none = heddle::Operation::none;
    const auto report = heddle::gemm(comm, none, none, 1.0, A, B, 0.0, C);
    heddle::add_identity(-1.0, C);  // B is the inverse of A.
    error = heddle::norm(C, heddle::Norm::maximum);
    if (comm.rank() == 0) {
      std::printf("tiles of %lld x %lld, %.1f kB between ranks, largest error %.1e\n",
                  static_cast<long long>(report.tile), static_cast<long long>(report.tile), report.bytes_received / 1e3,
                  error);
    }
  }
  MPI_Finalize();
  return error == 0.0 ? 0 : 1;
}
