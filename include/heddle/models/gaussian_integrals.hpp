// Integrals of Gaussian functions, by L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 26, 218 (1978).
//
// Atomic units. Matrices are dense, column-major and symmetric to the last bit. All work is done by the host's threads;
// results have the same bits for any number of them.
#pragma once

#include <heddle/models/gaussian_basis.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace heddle::models {

/// Evaluate Boys' function F_m(x) = integral from 0 to 1 of t^(2m) exp(-x t^2) dt for m = 0 ... values.size() - 1, with
/// a relative error of about 1e-14. Throws Error(argument) unless x is finite and not negative.
///
/// For large x the recurrence runs upwards from the error function. Otherwise it runs downwards, which is stable, from
/// a table of Taylor series or the series of the incomplete gamma function.
void boys(double x, std::span<double> values);

/// The overlaps S_ij = integral of phi_i phi_j.
[[nodiscard]] std::vector<double> overlap_matrix(const GaussianBasis& basis);
/// The kinetic energy T_ij = -1/2 integral of phi_i nabla^2 phi_j, hartree.
[[nodiscard]] std::vector<double> kinetic_matrix(const GaussianBasis& basis);
/// The potential of charges, V_ij = sum over charges of q integral of phi_i phi_j v(r - R), where v is 1/r for a point
/// and erf(sqrt(b) r)/r for exp(-b r^2); charges -Z give an electron's energy with nuclei.
[[nodiscard]] std::vector<double> potential_matrix(const GaussianBasis& basis, std::span<const GaussianCharge> charges);

/// All integrals (ij|kl) = integral of phi_i(r) phi_j(r) phi_k(s) phi_l(s)/|r - s| over r and s, each stored once by
/// the eightfold symmetry: n^4/8 doubles. Integrals that the Cauchy-Schwarz inequality bounds by 1e-14 are left at 0.
class ElectronRepulsion {
 public:
  /// Bytes of the integrals of n functions.
  [[nodiscard]] static double bytes(std::size_t n) noexcept;
  /// Compute the integrals. Throws Error(memory), before any work, if they don't fit into the machine's memory.
  explicit ElectronRepulsion(const GaussianBasis& basis);

  /// Number n of functions.
  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  /// (ij|kl).
  [[nodiscard]] double operator()(std::size_t i, std::size_t j, std::size_t k, std::size_t l) const {
    return integrals_(triangle(triangle(i, j), triangle(k, l)));
  }
  /// J_ij = sum over k, l of (ij|kl) D_kl for a symmetric D. Cost: n^4/2 flops.
  [[nodiscard]] std::vector<double> coulomb(std::span<const double> density) const;
  /// K_ij = sum over k, l of (ik|jl) D_kl for a symmetric D. Cost: n^4 flops.
  [[nodiscard]] std::vector<double> exchange(std::span<const double> density) const;

 private:
  static std::size_t triangle(std::size_t a, std::size_t b) {
    return a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a;
  }

  std::size_t n_;
  Kokkos::View<double*, Kokkos::HostSpace> integrals_;
};

}  // namespace heddle::models
