// Overlap, kinetic and potential matrices of a Gaussian basis.
#include "libm/functions.hpp"
#include "models/hermite.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/gaussian_integrals.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heddle::models {

namespace {

using HostSpace = Kokkos::DefaultHostExecutionSpace;
using impl::ShellPair;

constexpr double pi_ = std::numbers::pi;

// Makes a matrix by `block(pair, values)`, which fills rows x columns values for each pair of shells.
template <class Block>
std::vector<double> matrix_of_pairs(const char* label, const GaussianBasis& basis, const std::vector<ShellPair>& pairs,
                                    const Block& block) {
  const std::size_t n = basis.size();
  std::vector<double> matrix(n * n);
  std::size_t most = 0;
  for (const ShellPair& pair : pairs) most = std::max(most, pair.components());
  std::vector<double> values(pairs.size() * most);
  double* const out = matrix.data();
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<HostSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::size_t>>(
          HostSpace(), 0, pairs.size(), Kokkos::ChunkSize(1)),
      [&](std::size_t at) {
        const ShellPair& pair = pairs[at];
        double* const own = values.data() + at * most;
        block(pair, own);
        for (std::size_t a = 0; a < pair.rows; ++a) {
          for (std::size_t b = 0; b < pair.columns; ++b) {
            const std::size_t i = basis.first(pair.first) + a;
            const std::size_t j = basis.first(pair.second) + b;
            // A pair of a shell with itself has (i, j) and (j, i): one gives both, to the bit.
            if (j > i) continue;
            out[i + j * n] = out[j + i * n] = own[a * pair.columns + b];
          }
        }
      });
  HostSpace().fence("heddle::models::matrix");
  return matrix;
}

// Integral of -1/2 d^2/dx^2 along one axis, applied to the right function x_B^j exp(-b x_B^2).
double kinetic_along(const std::vector<double>& E, int most_b, std::size_t width, int i, int j, double b) {
  const auto overlap = [&](int right) { return E[static_cast<std::size_t>(i * (most_b + 1) + right) * width]; };
  double value = b * (2 * j + 1) * overlap(j) - 2 * b * b * overlap(j + 2);
  if (j >= 2) value -= 0.5 * j * (j - 1) * overlap(j - 2);
  return value;
}

// Adds the kinetic energies of one pair of primitives, in solid harmonics.
void add_kinetic(const Shell& A, const Shell& B, std::size_t i, std::size_t j, double* values) {
  const double a = A.exponents[i];
  const double b = B.exponents[j];
  const int la = A.angular;
  const int lb = B.angular;
  const auto width = static_cast<std::size_t>(la + lb + 3);
  std::array<std::vector<double>, 3> E;
  for (std::size_t d = 0; d < 3; ++d) E[d] = impl::hermite_expansion(la, lb + 2, a, b, A.centre[d], B.centre[d]);
  const std::vector<double> Ca = solid_harmonics(la);
  const std::vector<double> Cb = solid_harmonics(lb);
  const auto na = static_cast<std::size_t>((la + 1) * (la + 2) / 2);
  const auto nb = static_cast<std::size_t>((lb + 1) * (lb + 2) / 2);
  const auto columns = static_cast<std::size_t>(2 * lb + 1);
  const double factor = A.coefficients[i] * B.coefficients[j] * libm::pow(pi_ / (a + b), 1.5);
  std::size_t ca = 0;
  for (int ax = la; ax >= 0; --ax) {
    for (int ay = la - ax; ay >= 0; --ay, ++ca) {
      std::size_t cb = 0;
      for (int bx = lb; bx >= 0; --bx) {
        for (int by = lb - bx; by >= 0; --by, ++cb) {
          const std::array<int, 3> left = {ax, ay, la - ax - ay};
          const std::array<int, 3> right = {bx, by, lb - bx - by};
          std::array<double, 3> S{};
          std::array<double, 3> T{};
          for (std::size_t d = 0; d < 3; ++d) {
            S[d] = E[d][static_cast<std::size_t>(left[d] * (lb + 3) + right[d]) * width];
            T[d] = kinetic_along(E[d], lb + 2, width, left[d], right[d], b);
          }
          const double value = factor * (T[0] * S[1] * S[2] + S[0] * T[1] * S[2] + S[0] * S[1] * T[2]);
          for (std::size_t r = 0; r < static_cast<std::size_t>(2 * la + 1); ++r) {
            for (std::size_t c = 0; c < columns; ++c)
              values[r * columns + c] += Ca[r * na + ca] * Cb[c * nb + cb] * value;
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<double> overlap_matrix(const GaussianBasis& basis) {
  return matrix_of_pairs("heddle::models::overlap", basis, impl::shell_pairs(basis),
                         [](const ShellPair& pair, double* values) {
                           std::fill_n(values, pair.components(), 0.0);
                           for (const auto& part : pair.parts) {
                             const double volume = libm::pow(pi_ / part.exponent, 1.5);
                             for (std::size_t k = 0; k < pair.components(); ++k) values[k] += volume * part.hermite[k];
                           }
                         });
}

std::vector<double> kinetic_matrix(const GaussianBasis& basis) {
  return matrix_of_pairs("heddle::models::kinetic", basis, impl::shell_pairs(basis),
                         [&](const ShellPair& pair, double* values) {
                           std::fill_n(values, pair.components(), 0.0);
                           const Shell& A = basis.shells()[pair.first];
                           const Shell& B = basis.shells()[pair.second];
                           for (std::size_t i = 0; i < A.exponents.size(); ++i) {
                             for (std::size_t j = 0; j < B.exponents.size(); ++j) add_kinetic(A, B, i, j, values);
                           }
                         });
}

std::vector<double> potential_matrix(const GaussianBasis& basis, std::span<const GaussianCharge> charges) {
  for (const GaussianCharge& charge : charges) {
    require(std::isfinite(charge.charge) && std::isfinite(charge.exponent) && charge.exponent >= 0,
            "potential: a charge of ", charge.charge, " with an exponent of ", charge.exponent,
            "; expected finite numbers, and an exponent that is not negative");
  }
  const auto pairs = impl::shell_pairs(basis);
  int most = 0;
  for (const ShellPair& pair : pairs) most = std::max(most, pair.degree);
  const impl::HermiteTable table(most);
  return matrix_of_pairs("heddle::models::potential", basis, pairs, [&](const ShellPair& pair, double* values) {
    std::fill_n(values, pair.components(), 0.0);
    const std::size_t hermites = impl::hermite_count(pair.degree);
    std::vector<double> work(2 * hermites + static_cast<std::size_t>(pair.degree) + 1);
    for (const auto& part : pair.parts) {
      for (const GaussianCharge& charge : charges) {
        const double p = part.exponent;
        const bool point = charge.exponent == 0;
        const double share = point ? 1.0 : charge.exponent / (p + charge.exponent);
        const double factor = charge.charge * 2 * pi_ / p * std::sqrt(share);
        table.coulomb(pair.degree, p * share,
                      {part.centre[0] - charge.position[0], part.centre[1] - charge.position[1],
                       part.centre[2] - charge.position[2]},
                      work.data(), work.data() + hermites, work.data() + 2 * hermites);
        for (std::size_t h = 0; h < hermites; ++h) {
          const double* row = part.hermite.data() + h * pair.components();
          for (std::size_t k = 0; k < pair.components(); ++k) values[k] += factor * work[h] * row[k];
        }
      }
    }
  });
}

}  // namespace heddle::models
