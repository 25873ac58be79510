// Quadrature of exchange-correlation energies and matrices on a grid.
#include "models/local_matrices.hpp"

#include "models/dense.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace heddle::impl {

namespace {

// Number of partial sums, whatever the number of threads: so bits do not depend on it.
constexpr std::size_t parts_of_points = 32;
// Products of two functions that are added at a time: an element of the sum is read and written once for all.
constexpr std::size_t at_a_time = 4;

// sum_ij += a_i b_j over pairs of vectors (a, b), for all j or for j <= i.
class ProductSum {
 public:
  ProductSum(std::size_t n, bool whole, double* sum) : n_(n), whole_(whole), sum_(sum), room_(at_a_time * n) {}

  // Adds a pair; the caller fills the returned a before the next call.
  [[nodiscard]] double* add(const double* b) {
    if (count_ == at_a_time) flush();
    b_[count_] = b;
    return room_.data() + count_++ * n_;
  }
  void flush() {
    const double* const a = room_.data();
    if (count_ == at_a_time) {
      for (std::size_t i = 0; i < n_; ++i) {
        double* const row = sum_ + i * n_;
        const double fa = a[i];
        const double fb = a[n_ + i];
        const double fc = a[2 * n_ + i];
        const double fd = a[3 * n_ + i];
        for (std::size_t j = 0; j < row_end(i); ++j)
          row[j] += fa * b_[0][j] + fb * b_[1][j] + (fc * b_[2][j] + fd * b_[3][j]);
      }
    } else {
      for (std::size_t k = 0; k < count_; ++k) {
        for (std::size_t i = 0; i < n_; ++i) {
          for (std::size_t j = 0; j < row_end(i); ++j) sum_[i * n_ + j] += a[k * n_ + i] * b_[k][j];
        }
      }
    }
    count_ = 0;
  }

 private:
  [[nodiscard]] std::size_t row_end(std::size_t i) const { return whole_ ? n_ : i + 1; }

  std::size_t n_;
  bool whole_;
  double* sum_;
  std::size_t count_ = 0;
  std::array<const double*, at_a_time> b_{};
  std::vector<double> room_;
};

double dot(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  return a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

}  // namespace

LocalIntegrals::LocalIntegrals(const models::GaussianBasis& basis, const models::MolecularGrid& grid,
                               const models::ExchangeCorrelation& functional)
    : functional_(functional),
      n_(basis.size()),
      weights_(grid.weights().begin(), grid.weights().end()),
      values_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::models::basis_on_grid"),
              n_ * components() * weights_.size()) {
  double* const all = values_.data();
  const std::size_t stride = n_ * components();
  for_each_on_host("heddle::models::basis_on_grid", weights_.size(), [&](std::size_t g) {
    double* const own = all + g * stride;
    basis.evaluate(grid.points()[g], std::span<double>(own, n_), std::span<double>(own + n_, stride - n_));
  });
}

std::vector<LocalIntegrals::WithGradient> LocalIntegrals::density(const std::vector<double>& orbitals) const {
  std::vector<WithGradient> density(points());
  for_each_on_host("heddle::models::density", points(), [&](std::size_t g) {
    WithGradient sum{};
    for (std::size_t k = 0; k < orbitals.size() / n_; ++k) {
      const double* const orbital = orbitals.data() + k * n_;
      const double psi = inner_product(orbital, values(g), n_);
      sum[0] += psi * psi;
      for (std::size_t d = 1; d < components(); ++d) sum[d] += 2 * psi * inner_product(orbital, values(g, d), n_);
    }
    density[g] = sum;
  });
  return density;
}

std::vector<double> LocalIntegrals::matrix(const std::vector<WithGradient>& weighted) const {
  const std::size_t squares = n_ * n_;
  std::vector<double> parts(parts_of_points * squares);
  const std::size_t length = (points() + parts_of_points - 1) / parts_of_points;
  // With gradients the integrals are G + G^T, G_ij the integral of (v/2 phi_i + u . grad phi_i) phi_j.
  const bool gradients = functional_.of_gradients();
  for_each_on_host("heddle::models::local_matrix", parts_of_points, [&](std::size_t part) {
    ProductSum sum(n_, gradients, parts.data() + part * squares);
    const std::size_t end = std::min(points(), (part + 1) * length);
    for (std::size_t g = std::min(points(), part * length); g < end; ++g) {
      const WithGradient& factor = weighted[g];
      const double* const phi = values(g);
      double* const left = sum.add(phi);
      if (!gradients) {
        for (std::size_t i = 0; i < n_; ++i) left[i] = factor[0] * phi[i];
        continue;
      }
      for (std::size_t i = 0; i < n_; ++i) {
        left[i] = 0.5 * factor[0] * phi[i] + factor[1] * values(g, 1)[i] + factor[2] * values(g, 2)[i] +
                  factor[3] * values(g, 3)[i];
      }
    }
    sum.flush();
  });
  std::vector<double> result(squares);
  for_each_on_host("heddle::models::local_sum", n_, [&](std::size_t i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t part = 0; part < parts_of_points; ++part) {
        const double* const own = parts.data() + part * squares;
        sum += gradients ? own[i * n_ + j] + own[j * n_ + i] : own[i * n_ + j];
      }
      result[i + j * n_] = result[j + i * n_] = sum;
    }
  });
  return result;
}

LocalIntegrals::Result LocalIntegrals::evaluate(const models::SpinOrbitals& orbitals, bool paired) const {
  std::vector<WithGradient> up = density(orbitals.up);
  std::vector<WithGradient> down = paired ? up : density(orbitals.down);
  std::vector<double> exchange(points());
  std::vector<double> correlation(points());
  constexpr std::size_t most = 64;
  for_each_on_host("heddle::models::functional", (points() + most - 1) / most, [&](std::size_t block) {
    const std::size_t begin = block * most;
    const std::size_t count = std::min(most, points() - begin);
    std::array<models::SpinDensities, most> densities;
    std::array<models::FunctionalTerms, most> terms;
    for (std::size_t k = 0; k < count; ++k) {
      const WithGradient& a = up[begin + k];
      const WithGradient& b = down[begin + k];
      densities[k] = {a[0], b[0], dot(a, a), dot(a, b), dot(b, b)};
    }
    functional_.evaluate(std::span(densities).first(count), std::span(terms).first(count));
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t g = begin + k;
      const models::FunctionalTerms& found = terms[k];
      exchange[g] = weights_[g] * found.exchange;
      correlation[g] = weights_[g] * found.correlation;
      const WithGradient a = up[g];
      const WithGradient b = down[g];
      up[g][0] = weights_[g] * found.up;
      down[g][0] = weights_[g] * found.down;
      for (std::size_t d = 1; d < 4; ++d) {
        up[g][d] = weights_[g] * (2 * found.by_up_up * a[d] + found.by_up_down * b[d]);
        down[g][d] = weights_[g] * (2 * found.by_down_down * b[d] + found.by_up_down * a[d]);
      }
    }
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
  double sum = 0;
  for (const std::vector<double>* const spin : {&orbitals.up, &orbitals.down}) {
    const std::vector<WithGradient> found = density(*spin);
    for (std::size_t g = 0; g < points(); ++g) sum += found[g][0] * weights_[g];
  }
  return sum;
}

}  // namespace heddle::impl
