// Factorizations and solutions of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/solve/qr.hpp>
#include <heddle/solve/solve.hpp>
#include <heddle/transpose/distributed.hpp>

namespace heddle::driver {
namespace {

constexpr Index system_order = 75;
SolveOptions by(SolveMethod method) {
  SolveOptions options;
  options.method = method;
  options.factorization.arithmetic = Arithmetic::emulated;
  return options;
}
const FactorOptions emulated_factors = by(SolveMethod::lu).factorization;

// R + R^H + 2 n I.
template <Scalar T> DistributedMatrix<T> positive_definite(const Communicator& comm, std::uint64_t seed) {
  const auto R = random_bands<T>(comm, system_order, system_order, seed);
  const DistributedMatrix<T> A(comm, R.placement());
  transpose(comm, T(1), R, Operation::conjugate_transpose, A);
  add(T(1), R, A);
  add_identity(T(static_cast<Real<T>>(2 * system_order)), A);
  return A;
}

template <Scalar T> std::string by_lu(const Communicator& comm) {
  const auto A = random_bands<T>(comm, system_order, system_order, 20);
  const auto B = random_bands<T>(comm, system_order, 5, 21);
  const auto X = random_bands<T>(comm, system_order, 5, 22);
  (void)solve(comm, A, B, X, by(SolveMethod::lu));
  return hash_of(X);
}

template <Scalar T> std::string by_cholesky(const Communicator& comm) {
  const auto A = positive_definite<T>(comm, 23);
  const auto B = random_bands<T>(comm, system_order, 5, 24);
  const auto X = random_bands<T>(comm, system_order, 5, 25);
  (void)solve(comm, A, B, X, by(SolveMethod::cholesky));
  return hash_of(X);
}

template <Scalar T> std::string lu_factors(const Communicator& comm) {
  const auto A = random_bands<T>(comm, system_order, system_order + 6, 26);
  (void)lu(comm, A, emulated_factors);
  return hash_of(A);
}

template <Scalar T> std::string cholesky_factor(const Communicator& comm) {
  const auto A = positive_definite<T>(comm, 27);
  (void)cholesky(comm, A, emulated_factors);
  return hash_of(A);
}

template <Scalar T> std::string reflectors(const Communicator& comm) {
  const auto A = random_bands<T>(comm, system_order + 9, system_order, 28);
  (void)qr(comm, A, {.arithmetic = Arithmetic::emulated});
  return hash_of(A);
}

template <Scalar T> std::string fitted(const Communicator& comm) {
  const auto A = random_bands<T>(comm, system_order + 9, system_order, 29);
  const auto B = random_bands<T>(comm, system_order + 9, 3, 30);
  const auto X = random_bands<T>(comm, system_order, 3, 31);
  (void)least_squares(comm, A, B, X, {.qr = {.arithmetic = Arithmetic::emulated}});
  return hash_of(X);
}

// Bits of the nearest numbers, so of native factors, too.
template <Scalar T> std::string rounded_solution(const Communicator& comm) {
  const auto A = random_bands<T>(comm, system_order, system_order, 33);
  const auto B = random_bands<T>(comm, system_order, 3, 34);
  const auto X = random_bands<T>(comm, system_order, 3, 35);
  const SolveReport report = solve(comm, A, B, X, {.rounding = Rounding::correct});
  return report.correctly_rounded ? hash_of(X) : "not proven";
}

template <Scalar T> std::string rounded_fit(const Communicator& comm) {
  const auto A = random_bands<T>(comm, system_order, system_order / 3, 38);
  const auto B = random_bands<T>(comm, system_order, 2, 39);
  const auto X = random_bands<T>(comm, system_order / 3, 2, 40);
  const LeastSquaresReport report = least_squares(comm, A, B, X, {.rounding = Rounding::correct});
  return report.correctly_rounded ? hash_of(X) : "not proven";
}

template <Scalar T> std::string rounded_inverse(const Communicator& comm) {
  const auto A = random_bands<T>(comm, system_order, system_order, 36);
  const InverseReport report = inverse(comm, A, {}, Rounding::correct);
  return report.correctly_rounded ? hash_of(A) : "not proven";
}

template <Scalar T> std::string rounded_determinant(const Communicator& comm) {
  const auto A = random_bands<T>(comm, system_order, system_order, 37);
  const Determinant<T> found = determinant(comm, A, {}, Rounding::correct);
  if (!found.correctly_rounded) return "not proven";
  Sha256 hash;
  hash.add_numbers(&found.mantissa, 1);
  return hash.digest();
}

template <Scalar T> std::string inverted(const Communicator& comm) {
  const auto A = random_bands<T>(comm, system_order, system_order, 32);
  (void)inverse(comm, A, emulated_factors);
  return hash_of(A);
}

}  // namespace

void add_systems(std::vector<ManifestResult>& results) {
  for_each_scalar([&]<class T>(const std::string& scalar) {
    results.push_back({"solve-lu " + scalar, by_lu<T>});
    results.push_back({"solve-cholesky " + scalar, by_cholesky<T>});
  });
  results.push_back({"solve-rounded double", rounded_solution<double>});
  results.push_back({"solve-rounded complex-double", rounded_solution<Kokkos::complex<double>>});
  results.push_back({"inverse-rounded double", rounded_inverse<double>});
  results.push_back({"determinant-rounded double", rounded_determinant<double>});
  results.push_back({"least-squares-rounded double", rounded_fit<double>});
  results.push_back({"lu double", lu_factors<double>});
  results.push_back({"cholesky double", cholesky_factor<double>});
  results.push_back({"qr double", reflectors<double>});
  results.push_back({"qr complex-double", reflectors<Kokkos::complex<double>>});
  results.push_back({"least-squares double", fitted<double>});
  results.push_back({"inverse double", inverted<double>});
}

}  // namespace heddle::driver
