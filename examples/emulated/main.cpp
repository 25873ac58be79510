// One product twice, in tiles of different sizes: native products round differently, emulated ones have the same bits.
#include <heddle/heddle.hpp>

#include <cstdio>

namespace {

// The largest difference between the elements of A B in tiles of two sizes.
double difference(const heddle::Communicator& comm, heddle::Arithmetic arithmetic) {
  const heddle::Index n = 500;
  const auto bands = heddle::Placement::row_bands(n, n, comm.size());
  const heddle::DistributedMatrix<double> A(comm, bands), B(comm, bands), C(comm, bands), D(comm, bands);
  heddle::fill(
      A, KOKKOS_LAMBDA(heddle::Index i, heddle::Index j) { return 1.0 / (1 + i + 2 * j); });
  heddle::fill(
      B, KOKKOS_LAMBDA(heddle::Index i, heddle::Index j) { return Kokkos::sin(1.0 + i * j); });
  const auto none = heddle::Operation::none;
  heddle::gemm(comm, none, none, 1.0, A, B, 0.0, C, {.tile = 64, .arithmetic = arithmetic});
  heddle::gemm(comm, none, none, 1.0, A, B, 0.0, D, {.tile = 250, .arithmetic = arithmetic});
  heddle::add(-1.0, C, D);
  return heddle::norm(D, heddle::Norm::maximum);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double emulated = 0;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::Communicator comm(MPI_COMM_WORLD);
    const double native = difference(comm, heddle::Arithmetic::native);
    emulated = difference(comm, heddle::Arithmetic::emulated);
    if (comm.rank() == 0) std::printf("two tiles differ by %.1e native, by %.1e emulated\n", native, emulated);
  }
  MPI_Finalize();
  return emulated == 0.0 ? 0 : 1;
}
