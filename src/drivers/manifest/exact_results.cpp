// Correctly rounded and reproducible results of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/exact/lu.hpp>
#include <heddle/exact/matrix.hpp>
#include <heddle/exact/reduce.hpp>
#include <heddle/exact/segmented.hpp>

namespace heddle::driver {
namespace {

template <Scalar T> using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;
template <Scalar T> using Vector = Kokkos::View<T*, MemorySpace>;

template <Scalar T> Vector<T> random_vector(Index size, std::uint64_t seed) {
  Vector<T> x("x", static_cast<std::size_t>(size));
  fill_random(x, seed);
  return x;
}
template <Scalar T> Matrix<T> random_view(Index rows, Index columns, std::uint64_t seed) {
  Matrix<T> A("A", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  fill_random(A, seed);
  return A;
}

template <Scalar T> std::string reductions(const Communicator& comm) {
  const auto x = random_vector<T>(10007, 50);
  const auto y = random_vector<T>(10007, 51);
  Sha256 hash;
  const T sum = exact::sum(comm.space(), x);
  const T dot = exact::dot(comm.space(), x, y);
  const Real<T> norm = exact::nrm2(comm.space(), x);
  const Real<T> size = exact::asum(comm.space(), x);
  hash.add_numbers(&sum, 1);
  hash.add_numbers(&dot, 1);
  hash.add_numbers(&norm, 1);
  hash.add_numbers(&size, 1);
  return hash.digest();
}

template <Scalar T> std::string matrix_vector(const Communicator& comm) {
  const auto y = random_vector<T>(90, 54);
  exact::gemv(comm.space(), Operation::conjugate_transpose, T(0.7), random_view<T>(131, 90, 52),
              random_vector<T>(131, 53), T(-0.2), y);
  return hash_of_views(y);
}

template <Scalar T> std::string matrix_matrix(const Communicator& comm) {
  const auto C = random_view<T>(31, 23, 57);
  exact::gemm(comm.space(), Operation::none, Operation::transpose, T(1), random_view<T>(31, 64, 55),
              random_view<T>(23, 64, 56), T(0), C);
  return hash_of_views(C);
}

template <Scalar T> std::string triangle(const Communicator& comm) {
  const auto x = random_vector<T>(60, 59);
  exact::trsv(comm.space(), Triangle::lower, Operation::none, Diagonal::unit, random_view<T>(60, 60, 58), x);
  return hash_of_views(x);
}

template <Scalar T> std::string exact_factors(const Communicator& comm) {
  const auto A = random_view<T>(57, 57, 60);
  (void)exact::lu(comm.space(), A);
  return hash_of_views(A);
}

template <Scalar T> std::string exact_solution(const Communicator& comm) {
  const auto x = random_vector<T>(57, 63);
  (void)exact::solve(comm.space(), random_view<T>(57, 57, 61), random_vector<T>(57, 62), x);
  return hash_of_views(x);
}

}  // namespace

void add_exact_results(std::vector<ManifestResult>& results) {
  for_each_scalar([&]<class T>(const std::string& scalar) {
    results.push_back({"exact-sums " + scalar, reductions<T>});
    results.push_back({"exact-gemv " + scalar, matrix_vector<T>});
    results.push_back({"exact-lu " + scalar, exact_factors<T>});
  });
  results.push_back({"exact-gemm double", matrix_matrix<double>});
  results.push_back({"exact-trsv double", triangle<double>});
  results.push_back({"exact-trsv complex-double", triangle<Kokkos::complex<double>>});
  results.push_back({"exact-solve double", exact_solution<double>});
  results.push_back({"exact-solve complex-float", exact_solution<Kokkos::complex<float>>});
}

}  // namespace heddle::driver
