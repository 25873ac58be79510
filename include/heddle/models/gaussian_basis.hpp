// Basis sets of Gaussian functions at the nuclei of a molecule.
#pragma once

#include <heddle/models/molecule.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace heddle::models {

/// The 2l + 1 functions sum over k of c_k N_k exp(-a_k r^2) S_lm(r) at one centre. S_lm are real solid harmonics; N_k
/// normalises each term.
struct Shell {
  std::array<double, 3> centre = {};      ///< Centre, bohr.
  int angular = 0;                        ///< Angular momentum l: 0 for s, 1 for p, 2 for d, and so on up to 6.
  std::vector<double> exponents;          ///< Exponents a_k > 0, bohr^-2.
  std::vector<double> coefficients = {};  ///< Coefficients c_k; empty: 1, if the shell has one exponent.
};

/// Options of even_tempered().
struct EvenTemperedOptions {
  double ratio = 2.2;  ///< Ratio of neighbouring exponents, above 1.05, at most 10; less is closer to completeness.
  int angular = 2;     ///< Largest angular momentum of any atom's functions, from 0 to 4.
};

/// Make an uncontracted, even-tempered basis by rule. With zeta = (Z - s)/n, the principal number n of the outermost
/// shell and the screening s of Slater's rules, exponents fall by `ratio`
///
///     s:          from 1400 Z^(10/3) to 0.03 zeta^2
///     p, Z > 4:   from 8 Z^(7/3)     to 0.03 zeta^2
///     p, Z <= 4:  from 12 zeta^2     to 0.1 zeta^2
///     d, Z > 20:  from 2 Z^(7/3)     to 0.03 zeta^2
///     d, Z <= 20: from 2 zeta^2      to 0.2 zeta^2
///     f:          from 1.5 zeta^2    to 0.3 zeta^2
///     g:          from 1.2 zeta^2    to 0.4 zeta^2
///
/// The upper ends follow from the cusp: without exponents above a, the 1s shell's energy is high by nearly 0.5 Z^2
/// (Z^2/a)^(3/2). Sources: R. D. Bardo, K. Ruedenberg, J. Chem. Phys. 60, 918 (1974) for even tempering; J. C. Slater,
/// Phys. Rev. 36, 57 (1930). Throws Error(argument) for options out of their range, and charges outside 0.01 to 36.
[[nodiscard]] std::vector<Shell> even_tempered(const Molecule& molecule, const EvenTemperedOptions& options = {});

/// A charge of Gaussian shape, in proportion to exp(-b r^2) about `position`.
struct GaussianCharge {
  double charge = 0;
  std::array<double, 3> position = {};
  double exponent = 0;  ///< Exponent b, bohr^-2; 0 stands for a point.
};
/// Return charges that stand for the atoms' electrons before a first iteration: one for each group that Slater's rules
/// fill, with the <r^2> of Slater's orbital.
[[nodiscard]] std::vector<GaussianCharge> slater_charges(const Molecule& molecule);

/// Normalised basis functions, shell by shell; m runs from -l to l in a shell.
class GaussianBasis {
 public:
  /// Make a basis and normalise it. Throws Error(argument) if it has no shell, for exponents that are not positive and
  /// finite, angular momenta outside 0 ... 6, unequal numbers of coefficients and exponents, and functions that vanish.
  explicit GaussianBasis(std::vector<Shell> shells);

  /// Number n of functions.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The shells. Their coefficients include the normalisation: they are factors of exp(-a_k r^2) S_lm(r).
  [[nodiscard]] std::span<const Shell> shells() const noexcept { return shells_; }
  /// Number of a shell's first function.
  [[nodiscard]] std::size_t first(std::size_t shell) const noexcept { return first_[shell]; }
  /// Evaluate all functions at a point, in bohr^(-3/2): `values` has n elements. `gradients`, unless it is empty,
  /// receives the 3 n derivatives, in bohr^(-5/2): of all functions by x, then by y and by z.
  void evaluate(const std::array<double, 3>& point, std::span<double> values, std::span<double> gradients = {}) const;

 private:
  std::vector<Shell> shells_;
  std::vector<std::size_t> first_;
  std::vector<std::vector<double>> harmonics_;
  std::size_t size_ = 0;
};

/// The real solid harmonics S_lm of degree l as polynomials: a (2l + 1) x (l + 1)(l + 2)/2 matrix, row by row, of the
/// coefficients of x^i y^j z^k with i falling from l, then j. The integral of S_lm^2 over the unit sphere is 4 pi/(2l +
/// 1). Source: T. Helgaker, P. Jorgensen, J. Olsen, Molecular Electronic-Structure Theory (Wiley, 2000), 6.4.47.
[[nodiscard]] std::vector<double> solid_harmonics(int degree);

}  // namespace heddle::models
