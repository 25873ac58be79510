// A Kohn-Sham model whose matrices are a real user of an eigensolver: closed shells in one dimension, to
// self-consistency; and the first Kohn-Sham matrix of a molecule in three.
//
// Atomic units: energies in hartree, lengths in bohr. All on the calling rank's host; matrices are dense, column-major.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace heddle::eigen {

struct KohnShamOptions {
  int points = 256;      ///< n: of the grid, the walls not counted.
  double length = 0;     ///< L of the box, its middle that of the nuclei; 0: 20 max(1, a) beyond the outer nuclei.
  int electrons = 0;     ///< Even, two an orbital; 0: as many as the charges.
  double softening = 1;  ///< a, a length: charges at a distance u interact by 1/sqrt(u^2 + a^2).
  std::vector<double> charges = {1, 1, 1, 1};      ///< Z > 0 of each nucleus.
  std::vector<double> positions = {-3, -1, 1, 3};  ///< X of each.
};

/// Exchange of the homogeneous electron gas in one dimension, unpolarised, of density n (electrons per bohr).
struct LocalExchange {
  double energy = 0;     ///< epsilon_x(n), per electron.
  double potential = 0;  ///< v_x(n) = d(n epsilon_x)/dn.
};

/// From E_x = -1/4 integral of |gamma(x, x')|^2 v(x - x') with v(u) = 1/sqrt(u^2 + a^2), the density matrix
/// gamma(u) = n sin(k u)/(k u) and k = pi n/2:
///
///     epsilon_x(n) = -n/2 integral_0^infinity v(u) (sin(k u)/(k u))^2 du = -1/pi integral_0^2k (1 - q/2k) K_0(a q) dq
///     v_x(n)       = -1/pi integral_0^2k K_0(a q) dq
///
/// since the Fourier transform of v is 2 K_0(a |q|). To a few 1e-15 of each; 0 where the density is not positive (or
/// pi a n < 1e-200). Throws Error(argument) unless both are finite and softening > 0. Some 200 exponentials.
///
/// Sources: N. Helbig et al., Phys. Rev. A 83, 032503 (2011) for soft interactions. K_0(t) = integral_0^infinity
/// exp(-t cosh s) ds (DLMF 10.32.9) leaves one integral over s of an even, analytic function that decays, which the
/// trapezoidal rule gives to round-off (L. N. Trefethen, J. A. C. Weideman, SIAM Review 56, 385 (2014)).
[[nodiscard]] LocalExchange local_exchange(double density, double softening);

/// The parts of the energy, in hartree.
struct KohnShamEnergies {
  double kinetic = 0;
  double external = 0;  ///< Of the electrons with the nuclei.
  double hartree = 0;
  double exchange = 0;
  double nuclear = 0;  ///< Of the nuclei with each other.
  [[nodiscard]] double total() const { return kinetic + external + hartree + exchange + nuclear; }
};

/// Electrons in pairs, nuclei that stand, Hartree and local exchange (no correlation), between walls:
///
///     H[n] = -1/2 d^2/dx^2 - sum over nuclei of Z v(x - X) + integral of n(x') v(x - x') dx' + v_x(n(x))
///
/// on x_i = x_0 + i dx, i = 0 ... n - 1, dx = L/(n + 1), the walls at x_0 - dx and x_(n-1) + dx. A density is its n
/// values in 1/bohr; integrals are sums times dx. Both err exponentially in a/dx (exp(-2 pi a/dx) the interaction
/// with a smooth density). A vector of 2-norm 1 is psi(x_i) sqrt(dx).
///
/// Densities are to have n finite values, vectors n rows and a column for each occupied orbital at least:
/// Error(argument) otherwise. Bits: reproducible; the sums are one thread's.
///
/// Sources: W. Kohn, L. J. Sham, Phys. Rev. 140, A1133 (1965). Kinetic energy: the sine basis of the box, exact for the
/// n lowest waves, D. T. Colbert, W. H. Miller, J. Chem. Phys. 96, 1982 (1992), appendix A.
class KohnSham {
 public:
  /// Throws Error(argument) for values that are not finite, points < 1, electrons that are odd, negative, or more than
  /// 2 to a point, no charges or another number of positions, charges that are not positive or, with electrons = 0,
  /// don't add up to an even number, a softening that is not positive, and a box that does not hold the nuclei.
  explicit KohnSham(const KohnShamOptions& options = {});

  [[nodiscard]] int points() const noexcept { return static_cast<int>(grid_.size()); }
  [[nodiscard]] int electrons() const noexcept { return 2 * occupied_; }
  /// Orbitals with two electrons each: the lowest.
  [[nodiscard]] int occupied() const noexcept { return occupied_; }
  [[nodiscard]] double spacing() const noexcept { return spacing_; }
  /// x_i.
  [[nodiscard]] std::span<const double> grid() const noexcept { return grid_; }
  /// The potential of the nuclei at x_i.
  [[nodiscard]] std::span<const double> external() const noexcept { return external_; }

  /// n x n, symmetric to the bit; eigenvalues (k pi/L)^2/2, k = 1 ... n. n^2.
  [[nodiscard]] std::vector<double> kinetic() const;
  /// The potential of the electrons at x_i. 2 n^2 flops.
  [[nodiscard]] std::vector<double> hartree(std::span<const double> density) const;
  /// H[density], n x n, symmetric to the bit. 4 n^2.
  [[nodiscard]] std::vector<double> hamiltonian(std::span<const double> density) const;
  /// 2 sum over the occupied |psi|^2/dx of orthonormal columns, ascending by energy.
  [[nodiscard]] std::vector<double> density(std::span<const double> vectors) const;
  /// Of these orbitals and their density: stationary, to second order, where the orbitals are H's own.
  /// (occupied + 1) n^2 multiplications.
  [[nodiscard]] KohnShamEnergies energies(std::span<const double> vectors) const;
  /// Integral of n epsilon_x(n).
  [[nodiscard]] double exchange_energy(std::span<const double> density) const;
  /// Gaussians of standard deviation max(1, dx) at the nuclei, by charge, scaled to the number of electrons.
  [[nodiscard]] std::vector<double> initial_density() const;
  /// Share of the electrons that is elsewhere: integral of |after - before| over the number of electrons.
  [[nodiscard]] double residual(std::span<const double> before, std::span<const double> after) const;

 private:
  void require_density(std::span<const double> density) const;

  double softening_;
  int occupied_ = 0;
  double spacing_ = 0;
  double nuclear_ = 0;
  std::vector<double> grid_;
  std::vector<double> external_;
  std::vector<double> wave_;    // T_ij = wave_|i-j| - wave_i+j+2
  std::vector<double> kernel_;  // dx v(d dx)
  std::vector<double> guess_;
};

/// The next density to try, from those tried and what came of them: with residuals F_k = output_k - input_k, a mixture
/// of sum 1 that makes |sum c_k F_k| least gives sum c_k (input_k + mixing F_k). It keeps the number of electrons; a
/// density may come out slightly negative where it vanishes.
///
/// Sources: D. G. Anderson, J. ACM 12, 547 (1965); P. Pulay, Chem. Phys. Lett. 73, 393 (1980). Least squares by
/// modified Gram-Schmidt, newest first, what depends on those before left out (A. Bjorck, BIT 7, 1 (1967)). 2 history^2
/// n flops.
class DensityMixer {
 public:
  /// `history`: differences remembered; 0: input + mixing F alone. Throws Error(argument) unless 0 < mixing <= 1 and
  /// history >= 0.
  explicit DensityMixer(double mixing = 0.5, int history = 6);
  /// Throws Error(argument) for other lengths than the time before.
  [[nodiscard]] std::vector<double> next(std::span<const double> input, std::span<const double> output);

 private:
  struct Step {
    std::vector<double> input;
    std::vector<double> residual;
  };
  double mixing_;
  std::size_t history_;
  Step last_;
  std::vector<Step> changes_;  // newest first
};

/// H n x n in; w: n eigenvalues ascending, V: n x n orthonormal columns out. V is, on entry, empty or what the step
/// before left there: vectors to begin at.
using Diagonalise = std::function<void(std::span<const double> H, std::vector<double>& w, std::vector<double>& V)>;

struct ScfOptions {
  double tolerance = 1e-9;  ///< Of KohnSham::residual(); 0: all iterations.
  int iterations = 100;     ///< At most.
  double mixing = 0.5;      ///< As DensityMixer takes them.
  int history = 6;
};

struct ScfStep {
  int iteration = 0;    ///< From 1.
  double energy = 0;    ///< Total, of this step's orbitals: hartree.
  double residual = 0;  ///< Between the density that H was made of and the orbitals'.
};

/// Everything but the flag is the last step's, converged or not; `eigenvalues` are of H at the density mixed before.
struct ScfResult {
  bool converged = false;  ///< The last residual is within the tolerance: look at it.
  std::vector<ScfStep> steps;
  std::vector<double> density;      ///< Of `vectors`.
  std::vector<double> eigenvalues;  ///< n, ascending.
  std::vector<double> vectors;      ///< n x n.
  KohnShamEnergies energies;        ///< Of `vectors`.
};

/// H[n] -> orbitals -> n until n stays, from initial_density(); `progress` sees each step.
///
/// The energy errs by the square of the residual, which can't fall below the error of the occupied orbitals: some u |H|
/// over the gap above them, |H| = 5/dx^2 nearly.
///
/// Throws Error(argument) for options out of their range and where `diagonalise` returns other lengths than n and n^2,
/// Error(computation) where it returns values that are not finite. Cost: that of `diagonalise`, and some 10 n^2 a step.
[[nodiscard]] ScfResult self_consistent(const KohnSham& model, const ScfOptions& options,
                                        const Diagonalise& diagonalise,
                                        const std::function<void(const ScfStep&)>& progress = {});

/// The default: the geometry of water, its eight valence electrons and a soft core of charge 6.
struct KohnSham3dOptions {
  double length = 12;    ///< L: edge of the cube, its middle at 0.
  double softening = 1;  ///< a of the ions' -Z/sqrt(r^2 + a^2).
  double width = 1.5;    ///< sigma: standard deviation, along each axis, of the Gaussian of Z electrons at each ion.
  std::vector<double> charges = {6, 1, 1};
  std::vector<std::array<double, 3>> positions = {{0, 0, 0}, {-1.431, 1.108, 0}, {1.431, 1.108, 0}};
};

/// H = -1/2 nabla^2 + sum over ions of (-Z/sqrt(r^2 + a^2) + Z erf(r/(sqrt(2) sigma))/r) - (3 rho/pi)^(1/3) at the
/// density rho of superposed Gaussians, whose Hartree potential the middle term is: the matrix that a self-consistent
/// calculation begins with. n x n with n = points_per_axis^3, point (i, j, k) in row i + m (j + m k), on the grid of
/// KohnSham along each axis. Symmetric to the bit. Without ions its eigenvalues are (pi/L)^2/2 (k^2 + l^2 + m^2).
///
/// Throws Error(argument) unless 1 <= points_per_axis <= 64, values are finite, lengths positive, and positions as many
/// as charges. n^2 doubles: 128 MiB at 16 points per axis. Sources: P. A. M. Dirac, Proc. Camb. Phil. Soc. 26, 376
/// (1930) for exchange; the kinetic energy as KohnSham's.
[[nodiscard]] std::vector<double> kohn_sham_matrix_3d(int points_per_axis, const KohnSham3dOptions& options = {});

}  // namespace heddle::eigen
