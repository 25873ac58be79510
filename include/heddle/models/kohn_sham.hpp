// A Kohn-Sham model whose matrices are realistic input for an eigensolver: closed shells in one dimension, to
// self-consistency, and the first Kohn-Sham matrix of a molecule in three dimensions.
//
// Atomic units: energies in hartree, lengths in bohr. All work is done on the calling rank's host; matrices are dense
// and column-major.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace heddle::eigen {

/// The grid, the electrons and the nuclei of a Kohn-Sham model.
struct KohnShamOptions {
  int points = 256;  ///< Number n of points of the grid, without the walls.
  /// Length L of the box, centred on the middle of the nuclei, bohr; 0: it ends 20 max(1, a) beyond the outer nuclei.
  double length = 0;
  int electrons = 0;     ///< Number of electrons, even, two in each orbital; 0: as many as the charges add up to.
  double softening = 1;  ///< Softening length a, bohr: charges at a distance u interact by 1/sqrt(u^2 + a^2).
  std::vector<double> charges = {1, 1, 1, 1};      ///< Charge Z > 0 of each nucleus.
  std::vector<double> positions = {-3, -1, 1, 3};  ///< Position X of each nucleus, bohr.
};

/// The exchange of the unpolarised homogeneous electron gas in one dimension, of density n (electrons per bohr).
struct LocalExchange {
  double energy = 0;     ///< Energy epsilon_x(n) per electron, hartree.
  double potential = 0;  ///< Potential v_x(n) = d(n epsilon_x)/dn, hartree.
};

/// The exchange of an electron gas of this density with interactions of this softening length a. It follows from E_x =
/// -1/4 integral of |gamma(x, x')|^2 v(x - x') with v(u) = 1/sqrt(u^2 + a^2), the density matrix gamma(u) = n sin(k
/// u)/(k u) and k = pi n/2:
///
///     epsilon_x(n) = -n/2 integral_0^infinity v(u) (sin(k u)/(k u))^2 du = -1/pi integral_0^2k (1 - q/2k) K_0(a q) dq
///     v_x(n)       = -1/pi integral_0^2k K_0(a q) dq
///
/// since the Fourier transform of v is 2 K_0(a |q|). Both have relative errors of a few 1e-15, and are 0 if the density
/// is not positive (or pi a n < 1e-200). Throws Error(argument) unless both arguments are finite and softening > 0.
/// Cost: some 200 exponentials.
///
/// Sources: N. Helbig et al., Phys. Rev. A 83, 032503 (2011) for soft interactions. K_0(t) = integral_0^infinity
/// exp(-t cosh s) ds (DLMF 10.32.9) leaves one integral over s of an even, analytic function that decays, which the
/// trapezoidal rule gives to round-off (L. N. Trefethen, J. A. C. Weideman, SIAM Review 56, 385 (2014)).
[[nodiscard]] LocalExchange local_exchange(double density, double softening);

/// The parts of the energy of a Kohn-Sham model, in hartree.
struct KohnShamEnergies {
  /// Kinetic energy of the electrons.
  double kinetic = 0;
  double external = 0;  ///< Energy of the electrons in the field of the nuclei.
  /// Hartree energy of the electrons.
  double hartree = 0;
  /// Exchange energy of the electrons.
  double exchange = 0;
  double nuclear = 0;  ///< Energy of the nuclei with each other.
  /// The sum of all parts.
  [[nodiscard]] double total() const { return kinetic + external + hartree + exchange + nuclear; }
};

/// The Kohn-Sham model of electrons in pairs and fixed nuclei, with Hartree energy and local exchange (no correlation),
/// between walls:
///
///     H[n] = -1/2 d^2/dx^2 - sum over nuclei of Z v(x - X) + integral of n(x') v(x - x') dx' + v_x(n(x))
///
/// on the grid x_i = x_0 + i dx for i = 0 ... n - 1, with dx = L/(n + 1) and walls at x_0 - dx and x_(n-1) + dx. A
/// density is given by its n values in 1/bohr, and integrals are sums times dx. The errors of both fall exponentially
/// in a/dx (as exp(-2 pi a/dx) for the interaction with a smooth density). A vector of 2-norm 1 is psi(x_i) sqrt(dx).
///
/// Densities must have n finite values, and vectors n rows and a column for each occupied orbital at least; otherwise
/// Error(argument) is thrown. Bits: reproducible; all sums are made by one thread.
///
/// Sources: W. Kohn, L. J. Sham, Phys. Rev. 140, A1133 (1965). Kinetic energy: the sine basis of the box, exact for the
/// n lowest waves, D. T. Colbert, W. H. Miller, J. Chem. Phys. 96, 1982 (1992), appendix A.
class KohnSham {
 public:
  /// Makes the model. Throws Error(argument) for values that are not finite; points < 1; electrons that are odd,
  /// negative, or more than 2 to a point; no charges, or another number of positions; charges that are not positive or,
  /// with electrons = 0, don't add up to an even number; a softening that is not positive; and a box that does not hold
  /// the nuclei.
  explicit KohnSham(const KohnShamOptions& options = {});

  /// Number n of points of the grid.
  [[nodiscard]] int points() const noexcept { return static_cast<int>(grid_.size()); }
  /// Number of electrons.
  [[nodiscard]] int electrons() const noexcept { return 2 * occupied_; }
  /// Number of occupied orbitals, which are the lowest and have two electrons each.
  [[nodiscard]] int occupied() const noexcept { return occupied_; }
  /// The distance dx of neighbouring points, bohr.
  [[nodiscard]] double spacing() const noexcept { return spacing_; }
  /// The positions x_i of the points, bohr.
  [[nodiscard]] std::span<const double> grid() const noexcept { return grid_; }
  /// The potential energy of an electron with the nuclei at each x_i, hartree.
  [[nodiscard]] std::span<const double> external() const noexcept { return external_; }

  /// The matrix of the kinetic energy, n x n, symmetric to the last bit, with eigenvalues (k pi/L)^2/2, k = 1 ... n.
  /// Cost: n^2 operations.
  [[nodiscard]] std::vector<double> kinetic() const;
  /// The Hartree potential of the electrons at each x_i, hartree. Cost: 2 n^2 flops.
  [[nodiscard]] std::vector<double> hartree(std::span<const double> density) const;
  /// The Kohn-Sham matrix H[density], n x n, symmetric to the last bit. Cost: 4 n^2 operations.
  [[nodiscard]] std::vector<double> hamiltonian(std::span<const double> density) const;
  /// Density 2 sum |psi|^2/dx over the occupied orbitals: the first of orthonormal columns, ascending by energy.
  [[nodiscard]] std::vector<double> density(std::span<const double> vectors) const;
  /// The energies of these orbitals and their density. They are stationary, to second order, if the orbitals are those
  /// of H itself. Cost: (occupied + 1) n^2 multiplications.
  [[nodiscard]] KohnShamEnergies energies(std::span<const double> vectors) const;
  /// The exchange energy, the integral of n epsilon_x(n), hartree.
  [[nodiscard]] double exchange_energy(std::span<const double> density) const;
  /// Density that an iteration begins with: Gaussians of standard deviation max(1, dx) at the nuclei, in proportion to
  /// their charges, scaled to the number of electrons.
  [[nodiscard]] std::vector<double> initial_density() const;
  /// Change of the density in a step: the integral of |after - before| divided by the number of electrons.
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

/// Mixer of densities in an iteration: finds the next input density from earlier inputs and outputs. With residuals F_k
/// = output_k - input_k, it takes the coefficients c_k of sum 1 that minimise |sum c_k F_k|, and returns sum c_k
/// (input_k + mixing F_k). The number of electrons is kept; a density may come out slightly negative where it vanishes.
///
/// Sources: D. G. Anderson, J. ACM 12, 547 (1965); P. Pulay, Chem. Phys. Lett. 73, 393 (1980). Least squares are solved
/// by modified Gram-Schmidt, the newest difference first, and a difference that depends on those before it is left out
/// (A. Bjorck, BIT 7, 1 (1967)). Cost: 2 history^2 n flops.
class DensityMixer {
 public:
  /// Makes a mixer that remembers `history` differences between steps; with 0 it returns input + mixing F alone. Throws
  /// Error(argument) unless 0 < mixing <= 1 and history >= 0.
  explicit DensityMixer(double mixing = 0.5, int history = 6);
  /// Return the next input density after `input` gave `output`. Throws Error(argument) if the lengths differ from those
  /// of the call before.
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

/// A solver of eigensystems: from the n x n matrix H it makes w, the n eigenvalues, ascending, and V, n x n orthonormal
/// columns. On entry V is empty, or holds the result of the step before as initial vectors.
using Diagonalise = std::function<void(std::span<const double> H, std::vector<double>& w, std::vector<double>& V)>;

/// When an iteration to self-consistency ends, and how it mixes densities.
struct ScfOptions {
  double tolerance = 1e-9;  ///< Largest KohnSham::residual() with which the iteration ends; 0: it makes all iterations.
  int iterations = 100;     ///< Largest number of iterations.
  double mixing = 0.5;      ///< Share of a residual that the next density takes, as for DensityMixer.
  /// Number of differences between steps that are remembered, as for DensityMixer.
  int history = 6;
};

/// Result of one step of an iteration to self-consistency.
struct ScfStep {
  int iteration = 0;    ///< Number of the step, from 1.
  double energy = 0;    ///< Total energy of this step's orbitals, hartree.
  double residual = 0;  ///< KohnSham::residual() between the density that H was made of and that of the orbitals.
};

/// Result of the last step of an iteration to self-consistency, converged or not. `eigenvalues` are those of H at the
/// mixed density that this step began with.
struct ScfResult {
  bool converged = false;  ///< Whether the last residual is within the tolerance; callers must look at it.
  /// All steps of the iteration.
  std::vector<ScfStep> steps;
  std::vector<double> density;      ///< Density of `vectors`, 1/bohr.
  std::vector<double> eigenvalues;  ///< The n eigenvalues, ascending, hartree.
  std::vector<double> vectors;      ///< The n x n eigenvectors.
  KohnShamEnergies energies;        ///< Energies of the orbitals in `vectors`.
};

/// Repeats H[n] -> orbitals -> n until the density n no longer changes, beginning at initial_density(). `progress`, if
/// any, is called after each step.
///
/// The error of the energy is the square of the residual. The residual can't fall below the error of the occupied
/// orbitals: some u |H| over the gap above them, where |H| is nearly 5/dx^2.
///
/// Throws Error(argument) for options out of their range and if `diagonalise` returns lengths other than n and n^2,
/// Error(computation) if it returns values that are not finite. Cost: that of `diagonalise`, and some 10 n^2 a step.
[[nodiscard]] ScfResult self_consistent(const KohnSham& model, const ScfOptions& options,
                                        const Diagonalise& diagonalise,
                                        const std::function<void(const ScfStep&)>& progress = {});

/// A molecule of ions in a cube. The default is the geometry of water, with its eight valence electrons and a soft core
/// of charge 6.
struct KohnSham3dOptions {
  double length = 12;    ///< Length L of the edges of the cube, whose middle is at 0, bohr.
  double softening = 1;  ///< Softening length a of the ions' potential -Z/sqrt(r^2 + a^2), bohr.
  double width = 1.5;  ///< Standard deviation sigma, along each axis, of the Gaussian of Z electrons at each ion, bohr.
  /// Charge Z of each ion.
  std::vector<double> charges = {6, 1, 1};
  /// Position of each ion, bohr.
  std::vector<std::array<double, 3>> positions = {{0, 0, 0}, {-1.431, 1.108, 0}, {1.431, 1.108, 0}};
};

/// The first Kohn-Sham matrix of a molecule, with which a self-consistent calculation begins: H = -1/2 nabla^2 + sum
/// over ions of (-Z/sqrt(r^2 + a^2) + Z erf(r/(sqrt(2) sigma))/r) - (3 rho/pi)^(1/3). rho is the density of superposed
/// Gaussians, and the middle term is its Hartree potential. H is n x n with n = points_per_axis^3 and m =
/// points_per_axis; point (i, j, k) is row i + m (j + m k), on the grid of KohnSham along each axis. H is symmetric to
/// the last bit. Without ions its eigenvalues are (pi/L)^2/2 (k^2 + l^2 + m^2) with k, l, m = 1 ... points_per_axis.
///
/// Throws Error(argument) unless 1 <= points_per_axis <= 64, values are finite, lengths are positive, and there are as
/// many positions as charges. Memory: n^2 doubles, 128 MiB for 16 points per axis. Sources: P. A. M. Dirac, Proc. Camb.
/// Phil. Soc. 26, 376 (1930) for exchange; the kinetic energy is that of KohnSham.
[[nodiscard]] std::vector<double> kohn_sham_matrix_3d(int points_per_axis, const KohnSham3dOptions& options = {});

}  // namespace heddle::eigen
