// Basis sets of Gaussian functions at the nuclei of a molecule.
#pragma once

#include <heddle/models/molecule.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace heddle::models {

/// The 2l + 1 functions sum over k of c_k N_k exp(-a_k r^2) S_lm(r) at one centre, where S_lm are real solid harmonics
/// and N_k normalises each term.
struct Shell {
  std::array<double, 3> centre = {};      ///< Centre, bohr.
  int angular = 0;                        ///< Angular momentum l: 0 for s, 1 for p, 2 for d, and so on up to 6.
  std::vector<double> exponents;          ///< Exponents a_k > 0, bohr^-2.
  std::vector<double> coefficients = {};  ///< Coefficients c_k; empty: 1, of a shell of one exponent.
};

/// What even_tempered() makes.
struct EvenTemperedOptions {
  double ratio = 2.2;  ///< Ratio of neighbouring exponents, more than 1; less is closer to completeness.
  int angular = 2;     ///< Largest angular momentum of any atom's functions, from 0 to 4.
};

/// An uncontracted, even-tempered basis for atoms of any charge, by rule. With zeta = Z - s over the principal number n
/// of the outermost shell, s the screening of Slater's rules, exponents fall by `ratio`
///
///     s:          from 1400 Z^(10/3) to 0.03 zeta^2
///     p, Z > 4:   from 8 Z^(7/3)     to 0.03 zeta^2
///     p, Z <= 4:  from 12 zeta^2     to 0.1 zeta^2
///     d:          from 2 zeta^2      to 0.2 zeta^2
///     f:          from 1.5 zeta^2    to 0.3 zeta^2, and g: one exponent less
///
/// The upper ends follow from the cusp: without exponents above a, the 1s shell's energy is high by nearly 0.5 Z^2
/// (Z^2/a)^(3/2). Sources: R. D. Bardo, K. Ruedenberg, J. Chem. Phys. 60, 918 (1974) for even tempering; J. C. Slater,
/// Phys. Rev. 36, 57 (1930). Throws Error(argument) for options out of their range, and charges above 36.
[[nodiscard]] std::vector<Shell> even_tempered(const Molecule& molecule, const EvenTemperedOptions& options = {});

/// The charges of Gaussian shape that stand for an atom's electrons before anything is known of them: one for each
/// principal number that Slater's rules fill, with <r^2> of Slater's orbital. `exponent` is that of exp(-b r^2).
struct GaussianCharge {
  double charge = 0;
  std::array<double, 3> position = {};
  double exponent = 0;  ///< bohr^-2; 0 stands for a point.
};
[[nodiscard]] std::vector<GaussianCharge> slater_charges(const Molecule& molecule);

/// Normalised basis functions, shell by shell; m runs from -l to l in a shell.
class GaussianBasis {
 public:
  /// Throws Error(argument) for no shell, exponents that are not positive and finite, angular momenta outside 0 ... 6,
  /// other numbers of coefficients than of exponents, and functions that vanish.
  explicit GaussianBasis(std::vector<Shell> shells);

  /// Number n of functions.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The shells; their coefficients have the normalisation in them, as factors of exp(-a_k r^2) S_lm(r).
  [[nodiscard]] std::span<const Shell> shells() const noexcept { return shells_; }
  /// The number of the first function of a shell.
  [[nodiscard]] std::size_t first(std::size_t shell) const noexcept { return first_[shell]; }
  /// The values of all functions at a point, in bohr^(-3/2): `values` has n elements. `gradients`, unless it is empty,
  /// receives the 3 n derivatives, in bohr^(-5/2): those by x of all functions, then by y and by z.
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
