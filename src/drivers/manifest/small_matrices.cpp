// Batches of small matrices of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/expm/batched.hpp>
#include <heddle/solve/batched.hpp>

namespace heddle::driver {
namespace {

template <Scalar T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;

template <Scalar T> Batch<T> random_batch(Index rows, Index columns, Index count, std::uint64_t seed) {
  Batch<T> batch("batch", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                 static_cast<std::size_t>(count));
  fill_random(batch, seed);
  return batch;
}

template <Scalar T> std::string exponentials_of_batch(const Communicator& comm) {
  const auto A = random_batch<T>(13, 13, 9, 76);
  const auto E = random_batch<T>(13, 13, 9, 77);
  expm_batched(comm.space(), A, E);
  return hash_of_views(E);
}

template <Scalar T> std::string solutions_of_batch(const Communicator& comm) {
  const auto A = random_batch<T>(12, 12, 9, 78);
  const auto B = random_batch<T>(12, 2, 9, 79);
  const auto X = random_batch<T>(12, 2, 9, 80);
  SolveOptions options;
  options.factorization.arithmetic = Arithmetic::emulated;
  (void)solve_batched(comm.space(), A, B, X, options);
  return hash_of_views(X);
}

}  // namespace

void add_small_matrices(std::vector<ManifestResult>& results) {
  // On GPUs the sums of a matrix have another order.
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible) {
    for_each_scalar([&]<class T>(const std::string& scalar) {
      results.push_back({"expm-batched " + scalar, exponentials_of_batch<T>});
    });
  }
  results.push_back({"solve-batched double", solutions_of_batch<double>});
}

}  // namespace heddle::driver
