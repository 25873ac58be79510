// Electron repulsion integrals by McMurchie and Davidson, and Coulomb and exchange matrices.
#include "core/gibibytes.hpp"
#include "libm/functions.hpp"
#include "models/hermite.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/host_memory.hpp>
#include <heddle/models/gaussian_integrals.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle::models {

namespace {

using RepulsionSpace = Kokkos::DefaultHostExecutionSpace;
using Turns = Kokkos::RangePolicy<RepulsionSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::size_t>>;

// Tables that all quartets of shells share.
struct Quartets {
  std::vector<impl::ShellPair> pairs;
  impl::HermiteTable table;
  std::size_t hermites;           // of a pair, at most
  std::size_t components;         // of a pair, at most
  std::vector<std::size_t> sums;  // of two Hermite Gaussians: index of their sum
  std::vector<double> signs;      // (-1)^(t + u + v)
  std::vector<double> bounds;     // sqrt of the largest (ab|ab) of each pair

  explicit Quartets(const GaussianBasis& basis);
  // Computes (ab|cd) of two pairs into `out`, as [ab][cd].
  void evaluate(const impl::ShellPair& bra, const impl::ShellPair& ket, double* work, double* out) const;
  [[nodiscard]] std::size_t work() const;
};

int largest_degree(const GaussianBasis& basis) {
  int most = 0;
  for (const Shell& shell : basis.shells()) most = std::max(most, shell.angular);
  return 2 * most;
}

Quartets::Quartets(const GaussianBasis& basis)
    : pairs(impl::shell_pairs(basis)),
      table(2 * largest_degree(basis)),
      hermites(impl::hermite_count(largest_degree(basis))),
      components(static_cast<std::size_t>((largest_degree(basis) + 1) * (largest_degree(basis) + 1))) {
  struct Index {
    int t, u, v;
  };
  std::vector<Index> all(hermites);
  const int degree = largest_degree(basis);
  for (int t = 0; t <= degree; ++t) {
    for (int u = 0; t + u <= degree; ++u) {
      for (int v = 0; t + u + v <= degree; ++v) all[impl::hermite_index(t, u, v)] = {t, u, v};
    }
  }
  for (const Index& one : all) {
    signs.push_back((one.t + one.u + one.v) % 2 == 0 ? 1.0 : -1.0);
    for (const Index& other : all) {
      sums.push_back(impl::hermite_index(one.t + other.t, one.u + other.u, one.v + other.v));
    }
  }
  bounds.resize(pairs.size());
  const std::size_t squares = components * components;
  Kokkos::parallel_for("heddle::models::repulsion_bounds", Turns(RepulsionSpace(), 0, pairs.size()),
                       [&](std::size_t at) {
                         std::vector<double> scratch(work() + squares);
                         double* const out = scratch.data() + work();
                         evaluate(pairs[at], pairs[at], scratch.data(), out);
                         const std::size_t count = pairs[at].components();
                         double most = 0;
                         for (std::size_t k = 0; k < count; ++k) most = std::max(most, std::abs(out[k * count + k]));
                         bounds[at] = std::sqrt(most);
                       });
  RepulsionSpace().fence("heddle::models::repulsion_bounds");
}

std::size_t Quartets::work() const {
  // R, its scratch, Boys' functions, and the contracted ket.
  const std::size_t most = 4 * hermites * 4 + 64;
  return 2 * most + 64 + hermites * components;
}

void Quartets::evaluate(const impl::ShellPair& bra, const impl::ShellPair& ket, double* work, double* out) const {
  const int degree = bra.degree + ket.degree;
  const std::size_t count = impl::hermite_count(degree);
  double* const R = work;
  double* const scratch = R + count;
  double* const boys_values = scratch + count;
  double* const half = boys_values + degree + 1;
  const std::size_t nb = impl::hermite_count(bra.degree);
  const std::size_t nk = impl::hermite_count(ket.degree);
  const std::size_t ab = bra.components();
  const std::size_t cd = ket.components();
  std::fill_n(out, ab * cd, 0.0);
  for (const auto& left : bra.parts) {
    for (const auto& right : ket.parts) {
      const double p = left.exponent;
      const double q = right.exponent;
      table.coulomb(
          degree, p * q / (p + q),
          {left.centre[0] - right.centre[0], left.centre[1] - right.centre[1], left.centre[2] - right.centre[2]}, R,
          scratch, boys_values);
      const double factor = 2 * libm::pow(std::numbers::pi, 2.5) / (p * q * std::sqrt(p + q));
      for (std::size_t h = 0; h < nb; ++h) {
        double* const row = half + h * cd;
        std::fill_n(row, cd, 0.0);
        const std::size_t* const places = sums.data() + h * hermites;
        for (std::size_t g = 0; g < nk; ++g) {
          const double value = factor * signs[g] * R[places[g]];
          const double* const from = right.hermite.data() + g * cd;
          for (std::size_t k = 0; k < cd; ++k) row[k] += value * from[k];
        }
      }
      for (std::size_t h = 0; h < nb; ++h) {
        const double* const row = half + h * cd;
        const double* const from = left.hermite.data() + h * ab;
        for (std::size_t k = 0; k < ab; ++k) {
          const double value = from[k];
          if (value == 0) continue;
          double* const to = out + k * cd;
          for (std::size_t m = 0; m < cd; ++m) to[m] += value * row[m];
        }
      }
    }
  }
}

void require_square(std::span<const double> density, std::size_t n) {
  require(density.size() == n * n, "repulsion: a density matrix of ", density.size(), " elements for ", n,
          " functions");
}

}  // namespace

double ElectronRepulsion::bytes(std::size_t n) noexcept {
  const double pairs = static_cast<double>(n) * (static_cast<double>(n) + 1) / 2;
  return sizeof(double) * pairs * (pairs + 1) / 2;
}

ElectronRepulsion::ElectronRepulsion(const GaussianBasis& basis) : n_(basis.size()) {
  if (bytes(n_) > host_memory()) {
    throw Error(ErrorKind::memory, message_of("repulsion: the integrals of ", n_, " functions take ",
                                              impl::gibibytes(bytes(n_)), " of the ", impl::gibibytes(host_memory()),
                                              " that this machine has; a basis of fewer would fit"));
  }
  const std::size_t pairs_of_functions = n_ * (n_ + 1) / 2;
  // Zero-initialised: integrals below the bounds are not written.
  integrals_ = Kokkos::View<double*, Kokkos::HostSpace>("heddle::models::integrals",
                                                        pairs_of_functions * (pairs_of_functions + 1) / 2);
  const Quartets quartets(basis);
  const auto& pairs = quartets.pairs;
  const auto values = integrals_;
  constexpr double negligible = 1e-14;
  Kokkos::parallel_for("heddle::models::repulsion", Turns(RepulsionSpace(), 0, pairs.size(), Kokkos::ChunkSize(1)),
                       [&](std::size_t turn) {
                         // Longest rows first, to balance the load.
                         const std::size_t at = pairs.size() - 1 - turn;
                         const impl::ShellPair& bra = pairs[at];
                         std::vector<double> scratch(quartets.work() + quartets.components * quartets.components);
                         double* const out = scratch.data() + quartets.work();
                         for (std::size_t other = 0; other <= at; ++other) {
                           if (quartets.bounds[at] * quartets.bounds[other] < negligible) continue;
                           const impl::ShellPair& ket = pairs[other];
                           quartets.evaluate(bra, ket, scratch.data(), out);
                           const std::size_t cd = ket.components();
                           for (std::size_t a = 0; a < bra.rows; ++a) {
                             for (std::size_t b = 0; b < bra.columns; ++b) {
                               const std::size_t ij = triangle(basis.first(bra.first) + a, basis.first(bra.second) + b);
                               const double* row = out + (a * bra.columns + b) * cd;
                               for (std::size_t c = 0; c < ket.rows; ++c) {
                                 for (std::size_t d = 0; d < ket.columns; ++d) {
                                   const std::size_t kl =
                                       triangle(basis.first(ket.first) + c, basis.first(ket.second) + d);
                                   values(triangle(ij, kl)) = row[c * ket.columns + d];
                                 }
                               }
                             }
                           }
                         }
                       });
  RepulsionSpace().fence("heddle::models::repulsion");
}

std::vector<double> ElectronRepulsion::coulomb(std::span<const double> density) const {
  require_square(density, n_);
  const std::size_t count = n_ * (n_ + 1) / 2;
  // A pair k > l counts twice, for (k, l) and (l, k).
  std::vector<double> weights(count);
  for (std::size_t k = 0, kl = 0; k < n_; ++k) {
    for (std::size_t l = 0; l <= k; ++l, ++kl) weights[kl] = (k == l ? 1.0 : 2.0) * density[k + l * n_];
  }
  std::vector<double> sums(count);
  const double* const values = integrals_.data();
  Kokkos::parallel_for("heddle::models::coulomb", Turns(RepulsionSpace(), 0, count), [&](std::size_t ij) {
    double sum = 0;
    const double* const row = values + ij * (ij + 1) / 2;
    for (std::size_t kl = 0; kl <= ij; ++kl) sum += row[kl] * weights[kl];
    std::size_t at = (ij + 1) * (ij + 2) / 2 + ij;
    for (std::size_t kl = ij + 1; kl < count; at += ++kl) sum += values[at] * weights[kl];
    sums[ij] = sum;
  });
  RepulsionSpace().fence("heddle::models::coulomb");
  std::vector<double> J(n_ * n_);
  for (std::size_t i = 0, ij = 0; i < n_; ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++ij) J[i + j * n_] = J[j + i * n_] = sums[ij];
  }
  return J;
}

std::vector<double> ElectronRepulsion::exchange(std::span<const double> density) const {
  require_square(density, n_);
  const std::size_t n = n_;
  std::vector<double> K(n * n);
  const double* const values = integrals_.data();
  Kokkos::parallel_for("heddle::models::exchange", Turns(RepulsionSpace(), 0, n, Kokkos::ChunkSize(1)),
                       [&](std::size_t turn) {
                         const std::size_t i = n - 1 - turn;
                         for (std::size_t j = 0; j <= i; ++j) {
                           double sum = 0;
                           for (std::size_t k = 0; k < n; ++k) {
                             const std::size_t ik = triangle(i, k);
                             const double* const column = density.data() + k * n;
                             double part = 0;
                             for (std::size_t l = 0; l < n; ++l)
                               part += values[triangle(ik, triangle(j, l))] * column[l];
                             sum += part;
                           }
                           K[i + j * n] = K[j + i * n] = sum;
                         }
                       });
  RepulsionSpace().fence("heddle::models::exchange");
  return K;
}

}  // namespace heddle::models
