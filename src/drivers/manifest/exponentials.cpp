// Exponentials of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/expm/expm.hpp>
#include <heddle/expm/frechet.hpp>

namespace heddle::driver {
namespace {

constexpr Index exponent_order = 40;

template <Scalar T, ExpmMethod method> std::string exponential(const Communicator& comm) {
  const auto A = random_bands<T>(comm, exponent_order, exponent_order, 40);
  const auto E = random_bands<T>(comm, exponent_order, exponent_order, 41);
  (void)expm(comm, A, E, {.method = method, .gemm = {.arithmetic = Arithmetic::emulated}});
  return hash_of(E);
}

template <Scalar T> std::string derivative(const Communicator& comm) {
  const auto A = random_bands<T>(comm, exponent_order, exponent_order, 42);
  const auto D = random_bands<T>(comm, exponent_order, exponent_order, 43);
  const auto L = random_bands<T>(comm, exponent_order, exponent_order, 44);
  (void)expm_frechet(comm, A, D, L, {.gemm = {.arithmetic = Arithmetic::emulated}});
  return hash_of(L);
}

}  // namespace

void add_exponentials(std::vector<ManifestResult>& results) {
  for_each_scalar([&]<class T>(const std::string& scalar) {
    results.push_back({"expm " + scalar, exponential<T, ExpmMethod::automatic>});
  });
  results.push_back({"expm-taylor double", exponential<double, ExpmMethod::taylor>});
  results.push_back({"expm-pade complex-double", exponential<Kokkos::complex<double>, ExpmMethod::pade>});
  results.push_back({"expm-frechet double", derivative<double>});
}

}  // namespace heddle::driver
