// Batches of small matrices, and eigenvalues of one, of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/eigen/batched.hpp>
#include <heddle/eigen/jacobi.hpp>
#include <heddle/eigen/svd.hpp>
#include <heddle/expm/batched.hpp>
#include <heddle/solve/batched.hpp>

namespace heddle::driver {
namespace {

template <Scalar T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;
template <Scalar T> using Values = Kokkos::View<Real<T>**, Kokkos::LayoutLeft, MemorySpace>;

template <Scalar T> Batch<T> random_batch(Index rows, Index columns, Index count, std::uint64_t seed) {
  Batch<T> batch("batch", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                 static_cast<std::size_t>(count));
  fill_random(batch, seed);
  return batch;
}

// Both triangles of each matrix, from the lower one.
template <Scalar T> Batch<T> hermitian_batch(Index n, Index count, std::uint64_t seed) {
  const auto batch = random_batch<T>(n, n, count, seed);
  Kokkos::parallel_for(
      "heddle::driver::hermitian",
      Kokkos::MDRangePolicy<ExecutionSpace, Kokkos::Rank<3>, Kokkos::IndexType<Index>>({0, 0, 0}, {n, n, count}),
      KOKKOS_LAMBDA(Index i, Index j, Index k) {
        if constexpr (is_complex<T>) {
          if (i == j) batch(i, i, k) = T(batch(i, i, k).real());
          if (i < j) batch(i, j, k) = Kokkos::conj(batch(j, i, k));
        } else {
          if (i < j) batch(i, j, k) = batch(j, i, k);
        }
      });
  Kokkos::fence();
  return batch;
}

template <Scalar T> std::string eigenvalues_of_batch(const Communicator& comm) {
  const auto A = hermitian_batch<T>(17, 9, 70);
  const auto V = random_batch<T>(17, 17, 9, 71);
  const Values<T> w("w", 17, 9);
  (void)eigen::jacobi_batched(comm.space(), A, w, V);
  return hash_of_views(w, V);
}

template <Scalar T> std::string singular_values(const Communicator& comm) {
  const auto A = random_batch<T>(14, 11, 9, 72);
  const auto U = random_batch<T>(14, 11, 9, 73);
  const auto V = random_batch<T>(11, 11, 9, 74);
  const Values<T> s("s", 11, 9);
  (void)eigen::svd_batched(comm.space(), A, s, U, V);
  return hash_of_views(s, U, V);
}

template <Scalar T> std::string eigenvalues(const Communicator& comm) {
  const auto A = hermitian_batch<T>(90, 1, 75);
  const auto matrix = Kokkos::subview(A, Kokkos::ALL, Kokkos::ALL, 0);
  const Kokkos::View<Real<T>*, MemorySpace> w("w", 90);
  const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> V("V", 90, 90);
  (void)eigen::jacobi(comm.space(), matrix, w, V, {.reproducible = true});
  return hash_of_views(w, V);
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
  for_each_scalar([&]<class T>(const std::string& scalar) {
    results.push_back({"jacobi-batched " + scalar, eigenvalues_of_batch<T>});
    results.push_back({"svd-batched " + scalar, singular_values<T>});
    results.push_back({"expm-batched " + scalar, exponentials_of_batch<T>});
  });
  results.push_back({"jacobi double", eigenvalues<double>});
  results.push_back({"jacobi complex-double", eigenvalues<Kokkos::complex<double>>});
  results.push_back({"solve-batched double", solutions_of_batch<double>});
}

}  // namespace heddle::driver
