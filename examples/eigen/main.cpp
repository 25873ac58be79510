// Eigenvalues of a graded matrix, from 1 down to 1e-20: Jacobi rotations find each to its last digits.
#include <heddle/heddle.hpp>

#include <cmath>
#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 0;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::ExecutionSpace space;
    // diag(1, d) [2 1; 1 2] diag(1, d): eigenvalues 2 + d^2 / 2 and 3 d^2 / 2, but for terms of the order of d^4.
    const double d = 1e-10;
    const Kokkos::View<double**, Kokkos::LayoutLeft, heddle::MemorySpace> A("A", 2, 2), V("V", 2, 2);
    const Kokkos::View<double*, heddle::MemorySpace> w("w", 2);
    Kokkos::parallel_for(
        "fill", Kokkos::RangePolicy<heddle::ExecutionSpace>(space, 0, 4), KOKKOS_LAMBDA(int k) {
          const int i = k / 2, j = k % 2;
          A(i, j) = (i == j ? 2.0 : 1.0) * (i == 1 ? d : 1.0) * (j == 1 ? d : 1.0);
        });
    const auto report = heddle::eigen::jacobi(space, A, w, V, {.accuracy = heddle::eigen::JacobiAccuracy::relative});
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), w);
    error = report.converged ? std::abs(values(0) / (1.5 * d * d) - 1.0) : 1.0;
    std::printf("eigenvalues %.16e and %.16e, relative error of the small one %.1e\n", values(0), values(1), error);
  }
  MPI_Finalize();
  return error < 1e-14 ? 0 : 1;
}
