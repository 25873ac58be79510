// Products of dense matrices on the host, and canonical orthogonalisation.
#include "models/dense.hpp"

#include <heddle/core/error.hpp>
#include <heddle/models/mean_field.hpp>

#include <cmath>

namespace heddle {

namespace impl {

std::vector<double> inner_products(std::span<const double> A, std::span<const double> B, std::size_t n) {
  const std::size_t rows = A.size() / n;
  std::vector<double> result(rows * (B.size() / n));
  impl::for_each_on_host("heddle::models::inner_products", B.size() / n, [&](std::size_t j) {
    for (std::size_t i = 0; i < rows; ++i) result[i + j * rows] = inner_product(A.data() + i * n, B.data() + j * n, n);
  });
  return result;
}

std::vector<double> density_matrix(std::span<const double> C, std::size_t n) {
  require(n > 0 && C.size() % n == 0, "mean field: orbitals of ", C.size(), " elements for a basis of ", n,
          "; expected whole columns");
  std::vector<double> density(n * n);
  impl::for_each_on_host("heddle::models::density_matrix", n, [&](std::size_t j) {
    double* const column = density.data() + j * n;
    for (std::size_t k = 0; k < C.size() / n; ++k) {
      const double* const orbital = C.data() + k * n;
      for (std::size_t i = 0; i < n; ++i) column[i] += orbital[i] * orbital[j];
    }
  });
  return density;
}

double trace_of(std::span<const double> A, std::span<const double> B) {
  return inner_product(A.data(), B.data(), A.size());
}

}  // namespace impl

namespace models {

std::vector<double> product(std::span<const double> X, std::span<const double> C, std::size_t n, std::size_t m) {
  require(n > 0 && m > 0 && X.size() == n * m && C.size() % m == 0, "product: ", X.size(), " and ", C.size(),
          " elements for an inner dimension of ", m, " and ", n, " rows");
  std::vector<double> result(n * (C.size() / m));
  impl::for_each_on_host("heddle::models::product", C.size() / m, [&](std::size_t j) {
    double* const column = result.data() + j * n;
    for (std::size_t k = 0; k < m; ++k) {
      const double factor = C[k + j * m];
      const double* const from = X.data() + k * n;
      for (std::size_t i = 0; i < n; ++i) column[i] += factor * from[i];
    }
  });
  return result;
}

std::vector<double> transformed(std::span<const double> H, std::span<const double> X, std::size_t n) {
  require(n > 0 && H.size() == n * n && X.size() % n == 0, "transformed: ", H.size(), " and ", X.size(),
          " elements for matrices of ", n, " rows");
  const std::size_t m = X.size() / n;
  const std::vector<double> HX = product(H, X, n, n);
  std::vector<double> result = impl::inner_products(X, HX, n);
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      result[i + j * m] = result[j + i * m] = 0.5 * (result[i + j * m] + result[j + i * m]);
    }
  }
  return result;
}

std::vector<double> canonical_basis(std::span<const double> values, std::span<const double> vectors, double threshold) {
  const std::size_t n = values.size();
  require(n > 0 && vectors.size() == n * n, "canonical basis: ", n, " eigenvalues and ", vectors.size(),
          " elements of eigenvectors");
  require(threshold >= 0 && threshold < 1, "canonical basis: a threshold of ", threshold, "; expected from 0 to 1");
  std::vector<double> X;
  for (std::size_t k = 0; k < n; ++k) {
    if (!(values[k] > threshold * values[n - 1])) continue;
    const double factor = 1 / std::sqrt(values[k]);
    for (std::size_t i = 0; i < n; ++i) X.push_back(factor * vectors[i + k * n]);
  }
  require(!X.empty(), "canonical basis: the overlaps have no positive eigenvalue; the largest is ", values[n - 1]);
  return X;
}

}  // namespace models

}  // namespace heddle
