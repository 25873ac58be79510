// A X = B over all ranks, with the same bits on any number of them: solved, its errors reported, and a bound proven.
#include <heddle/heddle.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool good = false;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    const heddle::Communicator comm(MPI_COMM_WORLD);
    const heddle::Index n = 300;
    const auto of_a = heddle::Placement::row_bands(n, n, comm.size());
    const auto of_b = heddle::Placement::row_bands(n, 1, comm.size());
    const heddle::DistributedMatrix<double> A(comm, of_a), B(comm, of_b), X(comm, of_b);
    // -u'' + u = 1 on n points, whose solution is about one away from the ends.
    fill(
        A, KOKKOS_LAMBDA(heddle::Index i, heddle::Index j) {
          return i == j ? 3.0 : i == j + 1 || j == i + 1 ? -1.0 : 0.0;
        });
    fill(B, 1.0);
    const heddle::SolveReport report =
        solve(comm, A, B, X, {.factorization = {.arithmetic = heddle::Arithmetic::emulated}, .certificate = true});
    const auto x = gather(X, 0);
    good = report.factorization.info == 0 && report.componentwise_error < 1e-15 && report.error_bound < 1e-14;
    if (comm.rank() == 0) {
      std::printf("x in the middle %.17g; backward error of elements %.1e, error of x at most %.1e, proven\n",
                  x(n / 2, 0), report.componentwise_error, report.error_bound);
    }
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
