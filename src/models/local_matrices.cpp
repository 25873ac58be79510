#include "models/local_matrices.hpp"

#include "models/dense.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::impl {

namespace {

// So many parts are summed one after another, whatever the number of threads.
constexpr std::size_t parts_of_points = 32;

}  // namespace

LocalIntegrals::LocalIntegrals(const models::GaussianBasis& basis, const models::MolecularGrid& grid)
    : n_(basis.size()),
      weights_(grid.weights().begin(), grid.weights().end()),
      values_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::models::basis_on_grid"), n_ * weights_.size()) {
  double* const values = values_.data();
  for_each_on_host("heddle::models::basis_on_grid", weights_.size(),
                   [&](std::size_t g) { basis.evaluate(grid.points()[g], std::span<double>(values + g * n_, n_)); });
}

std::vector<double> LocalIntegrals::density(const std::vector<double>& orbitals) const {
  std::vector<double> density(points());
  const double* const values = values_.data();
  for_each_on_host("heddle::models::density", points(), [&](std::size_t g) {
    double sum = 0;
    for (std::size_t k = 0; k < orbitals.size() / n_; ++k) {
      const double psi = inner_product(orbitals.data() + k * n_, values + g * n_, n_);
      sum += psi * psi;
    }
    density[g] = sum;
  });
  return density;
}

std::vector<double> LocalIntegrals::matrix(const std::vector<double>& weighted) const {
  const std::size_t squares = n_ * n_;
  std::vector<double> parts(parts_of_points * squares);
  const std::size_t length = (points() + parts_of_points - 1) / parts_of_points;
  const double* const values = values_.data();
  for_each_on_host("heddle::models::local_matrix", parts_of_points, [&](std::size_t part) {
    double* const own = parts.data() + part * squares;
    const std::size_t end = std::min(points(), (part + 1) * length);
    std::size_t g = std::min(points(), part * length);
    // Four points at a time, so that an element is read and written once for them.
    for (; g + 4 <= end; g += 4) {
      const double* const a = values + g * n_;
      const double* const b = a + n_;
      const double* const c = b + n_;
      const double* const d = c + n_;
      for (std::size_t i = 0; i < n_; ++i) {
        const double fa = weighted[g] * a[i];
        const double fb = weighted[g + 1] * b[i];
        const double fc = weighted[g + 2] * c[i];
        const double fd = weighted[g + 3] * d[i];
        double* const row = own + i * n_;
        for (std::size_t j = 0; j <= i; ++j) row[j] += fa * a[j] + fb * b[j] + (fc * c[j] + fd * d[j]);
      }
    }
    for (; g < end; ++g) {
      const double* const a = values + g * n_;
      for (std::size_t i = 0; i < n_; ++i) {
        const double factor = weighted[g] * a[i];
        for (std::size_t j = 0; j <= i; ++j) own[i * n_ + j] += factor * a[j];
      }
    }
  });
  std::vector<double> result(squares);
  for_each_on_host("heddle::models::local_sum", n_, [&](std::size_t i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t part = 0; part < parts_of_points; ++part) sum += parts[part * squares + i * n_ + j];
      result[i + j * n_] = result[j + i * n_] = sum;
    }
  });
  return result;
}

LocalIntegrals::Result LocalIntegrals::evaluate(models::Functional functional, const models::SpinOrbitals& orbitals,
                                                bool paired) const {
  std::vector<double> up = density(orbitals.up);
  std::vector<double> down = paired ? up : density(orbitals.down);
  std::vector<double> exchange(points());
  std::vector<double> correlation(points());
  for_each_on_host("heddle::models::functional", points(), [&](std::size_t g) {
    const models::LocalTerms terms = models::local_terms_3d(functional, up[g], down[g]);
    exchange[g] = weights_[g] * terms.exchange;
    correlation[g] = weights_[g] * terms.correlation;
    up[g] = weights_[g] * terms.up;
    down[g] = weights_[g] * terms.down;
  });
  Result result;
  for (std::size_t g = 0; g < points(); ++g) {
    result.exchange += exchange[g];
    result.correlation += correlation[g];
  }
  result.up = matrix(up);
  if (!paired) result.down = matrix(down);
  return result;
}

double LocalIntegrals::electrons(const models::SpinOrbitals& orbitals) const {
  const double up = inner_product(density(orbitals.up).data(), weights_.data(), points());
  return up + inner_product(density(orbitals.down).data(), weights_.data(), points());
}

}  // namespace heddle::impl
