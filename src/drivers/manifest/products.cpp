// Products and transposes of the manifest.
#include "drivers/manifest/results.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/solve/syrk.hpp>
#include <heddle/transpose/distributed.hpp>

namespace heddle::driver {
namespace {

template <Scalar T> std::string product(const Communicator& comm) {
  const auto A = random_bands<T>(comm, 61, 83, 1);
  const auto B = random_bands<T>(comm, 83, 47, 2);
  const auto C = random_bands<T>(comm, 61, 47, 3);
  gemm(comm, Operation::none, Operation::none, T(1), A, B, T(0), C, {.arithmetic = Arithmetic::emulated});
  return hash_of(C);
}

template <Scalar T> std::string product_of_adjoints(const Communicator& comm) {
  const auto A = random_bands<T>(comm, 83, 61, 4);
  const auto B = random_bands<T>(comm, 47, 83, 5);
  const auto C = random_bands<T>(comm, 61, 47, 6);
  gemm(comm, Operation::conjugate_transpose, Operation::transpose, T(-0.75), A, B, T(1.5), C,
       {.arithmetic = Arithmetic::emulated});
  return hash_of(C);
}

// Row i of A and column j of B times 2^(-i) and 2^j: quantisation by rows and columns.
template <Scalar T> struct Graded {
  RandomElement<T> random;
  int by_row;
  int by_column;
  KOKKOS_INLINE_FUNCTION T operator()(Index i, Index j) const {
    T value = random(i, j);
    for (Index k = by_row * i + by_column * j; k > 0; --k) value = value * Real<T>(2);
    for (Index k = by_row * i + by_column * j; k < 0; ++k) value = value * Real<T>(0.5);
    return value;
  }
};

template <Scalar T> std::string graded_product(const Communicator& comm) {
  const auto A = random_bands<T>(comm, 40, 96, 7);
  const auto B = random_bands<T>(comm, 96, 40, 8);
  const auto C = random_bands<T>(comm, 40, 40, 9);
  fill(A, Graded<T>{{7}, -1, 0});
  fill(B, Graded<T>{{8}, 0, 1});
  gemm(comm, Operation::none, Operation::none, T(1), A, B, T(0), C, {.arithmetic = Arithmetic::emulated});
  return hash_of(C);
}

template <Scalar T> std::string rank_k(const Communicator& comm) {
  const auto A = random_bands<T>(comm, 53, 70, 10);
  const auto C = random_bands<T>(comm, 53, 53, 11);
  syrk(comm, Triangle::lower, Operation::none, T(2), A, T(0.5), C, {.arithmetic = Arithmetic::emulated});
  return hash_of(C);
}

template <Scalar T> std::string hermitian_rank_k(const Communicator& comm) {
  const auto A = random_bands<T>(comm, 70, 53, 12);
  const auto C = random_bands<T>(comm, 53, 53, 13);
  herk(comm, Triangle::upper, Operation::conjugate_transpose, Real<T>(-1), A, Real<T>(1), C,
       {.arithmetic = Arithmetic::emulated});
  return hash_of(C);
}

template <Scalar T> std::string transposed(const Communicator& comm) {
  const auto A = random_bands<T>(comm, 67, 129, 14);
  const DistributedMatrix<T> B(comm, Placement::row_bands(129, 67, comm.size()));
  transpose(comm, T(0.3), A, Operation::conjugate_transpose, B);
  return hash_of(B);
}

}  // namespace

void add_products(std::vector<ManifestResult>& results) {
  for_each_scalar([&]<class T>(const std::string& scalar) {
    results.push_back({"gemm " + scalar, product<T>});
    results.push_back({"gemm-adjoint " + scalar, product_of_adjoints<T>});
    results.push_back({"transpose " + scalar, transposed<T>});
  });
  results.push_back({"gemm-graded double", graded_product<double>});
  results.push_back({"gemm-graded complex-float", graded_product<Kokkos::complex<float>>});
  results.push_back({"syrk double", rank_k<double>});
  results.push_back({"syrk complex-double", rank_k<Kokkos::complex<double>>});
  results.push_back({"herk complex-double", hermitian_rank_k<Kokkos::complex<double>>});
}

}  // namespace heddle::driver
