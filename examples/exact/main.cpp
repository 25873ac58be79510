// Sums and inner products rounded once, from the exact value: over all ranks, whatever their number and the order.
#include <heddle/heddle.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double sum = 0;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::Communicator comm(MPI_COMM_WORLD);
    // On each rank 1e16, 1000 times 0.001 and -1e16: as doubles they add up to 1 a rank, but for the error of 0.001.
    const Kokkos::View<double*, heddle::MemorySpace> x("x", 1002);
    Kokkos::parallel_for(
        "fill", Kokkos::RangePolicy<heddle::ExecutionSpace>(comm.space(), 0, 1002), KOKKOS_LAMBDA(int i) {
          x(i) = i == 0 ? 1e16 : i == 1001 ? -1e16 : 0.001;
        });
    sum = heddle::exact::sum(comm, x) / comm.size();
    double plain = 0;
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
    for (std::size_t i = 0; i < host.extent(0); ++i) plain += host(i);
    const double condition = heddle::exact::sum_condition(comm, x);
    if (comm.rank() == 0) {
      std::printf("a loop finds %.17g, exact::sum %.17g a rank; condition %.1e\n", plain, sum, condition);
    }
  }
  MPI_Finalize();
  return sum > 1.0 - 1e-15 && sum < 1.0 + 1e-15 ? 0 : 1;
}
