// Eigensystems of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/eigen/distributed.hpp>

namespace heddle::driver {
namespace {

constexpr Index eigen_order = 75;

// R + R^H + shift I, R random.
template <Scalar T> struct HermitianElement {
  RandomElement<T> element;
  Real<T> shift;

  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    const T both = element(i, j) + conjugate(element(j, i));
    return i == j ? both + T(shift) : both;
  }
};

template <Scalar T> std::string eigensystem(const Communicator& comm) {
  const Placement bands = Placement::row_bands(eigen_order, eigen_order, comm.size());
  const DistributedMatrix<T> A(comm, bands);
  fill(A, HermitianElement<T>{{90}, 0});
  const DistributedMatrix<T> V(comm, bands);
  const Kokkos::View<Real<T>*, MemorySpace> w("w", static_cast<std::size_t>(eigen_order));
  (void)eigen::jacobi<T>(comm, A, w, V, {.reproducible = true});
  const HostMatrix<T> vectors = gather(V, 0);
  std::string digest;
  comm.on_rank(0, [&] { digest = hash_of_views(w, vectors); });
  comm.broadcast(digest, 0);
  return digest;
}

// Hash the eigensystem of a positive definite matrix, to relative accuracy. Every rank computes it.
template <Scalar T> std::string eigensystem_of_one_rank(const Communicator& comm) {
  constexpr auto n = static_cast<std::size_t>(eigen_order);
  const LocalMatrix<T> A("A", n, n);
  const HermitianElement<T> element{{91}, 2 * static_cast<Real<T>>(eigen_order)};
  Kokkos::parallel_for(
      "heddle::driver::hermitian",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(comm.space(), 0, eigen_order * eigen_order),
      KOKKOS_LAMBDA(Index k) { A(k % eigen_order, k / eigen_order) = element(k % eigen_order, k / eigen_order); });
  const LocalMatrix<T> V("V", n, n);
  const Kokkos::View<Real<T>*, MemorySpace> w("w", n);
  (void)eigen::jacobi(comm.space(), A, w, V, {.reproducible = true});
  return hash_of_views(w, V);
}

}  // namespace

void add_eigensystems(std::vector<ManifestResult>& results) {
  // On GPUs inner products have another order.
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible) {
    results.push_back({"eigen-jacobi double", eigensystem<double>});
    results.push_back({"eigen-jacobi complex-double", eigensystem<Kokkos::complex<double>>});
    results.push_back({"eigen-jacobi-one double", eigensystem_of_one_rank<double>});
    results.push_back({"eigen-jacobi-one complex-double", eigensystem_of_one_rank<Kokkos::complex<double>>});
  }
}

}  // namespace heddle::driver
