// Mean fields of electrons in a basis, and their iteration to self-consistency, closed and open shells alike.
//
// Atomic units. Matrices are dense, n x n and column-major; symmetric ones are so to the last bit.
#pragma once

#include <heddle/models/molecule.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace heddle::models {

/// The parts of the energy of a mean field, in hartree.
struct FieldEnergies {
  double kinetic = 0;      ///< Kinetic energy of the electrons.
  double external = 0;     ///< Energy of the electrons in the field of the nuclei.
  double coulomb = 0;      ///< Coulomb energy of the electrons' density with itself (Hartree).
  double exchange = 0;     ///< Exchange energy.
  double correlation = 0;  ///< Correlation energy.
  double nuclear = 0;      ///< Energy of the nuclei with each other.
  /// The sum of all parts.
  [[nodiscard]] double total() const { return kinetic + external + coulomb + exchange + correlation + nuclear; }
  /// Virial ratio -V/T of the potential and kinetic energies. It is 2 in a complete basis if no force acts on a nucleus
  /// and the interaction is Coulomb's.
  [[nodiscard]] double virial() const { return (kinetic - total()) / kinetic; }
};

/// The occupied orbitals of each spin, orthonormal columns: n x up and n x down.
struct SpinOrbitals {
  std::vector<double> up;
  std::vector<double> down;
};

/// The Fock or Kohn-Sham matrices of a mean field, and its energy.
struct FieldMatrices {
  std::vector<double> up;
  std::vector<double> down;  ///< Empty if `up` is the matrix of both spins.
  FieldEnergies energies;
};

/// Electrons in the field of their own orbitals, in a basis of n functions with overlaps S.
class MeanField {
 public:
  virtual ~MeanField() = default;
  MeanField() = default;
  MeanField(const MeanField&) = delete;
  MeanField& operator=(const MeanField&) = delete;

  /// Number n of basis functions.
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// The overlaps S; empty if the basis is orthonormal.
  [[nodiscard]] virtual std::span<const double> overlap() const = 0;
  /// The matrix whose lowest orbitals an iteration begins with.
  [[nodiscard]] virtual std::vector<double> start() const = 0;
  /// Return the matrices and energies of these orbitals. With `paired`, both spins have the same orbitals: `down` is
  /// ignored, and the matrix of one spin is made. The fields of this library throw Error(argument) for orbitals that
  /// are no whole columns of n elements.
  [[nodiscard]] virtual FieldMatrices field(const SpinOrbitals& orbitals, bool paired) const = 0;
};

/// A solver of H C = S C diag(w): w ascending, the columns of C with C^T S C = I. C may have fewer than n columns if
/// the basis is nearly linearly dependent. `spin` is 0 for up, 1 for down; each has its own sequence of matrices.
using SolveOrbitals =
    std::function<void(int spin, std::span<const double> H, std::vector<double>& w, std::vector<double>& C)>;

/// Numbers of electrons, and when an iteration ends.
struct FieldOptions {
  Electrons electrons;      ///< Electrons of each spin, up >= down >= 0.
  bool paired = true;       ///< Whether both spins share orbitals, which needs up = down.
  double tolerance = 1e-7;  ///< Largest FieldStep::residual with which the iteration ends.
  int iterations = 100;     ///< Largest number of iterations.
  int history = 8;          ///< Number of matrices that are extrapolated, at least 1; 1: no extrapolation.
  double mixing = 1;        ///< Share of the new matrix in the next one, if none is extrapolated.
};

/// Result of one step of an iteration.
struct FieldStep {
  int iteration = 0;    ///< Number of the step, from 1.
  double energy = 0;    ///< Total energy of this step's orbitals, hartree.
  double residual = 0;  ///< Largest element of F D S - S D F in an orthonormal basis, of both spins, hartree.
};

/// The orbitals of one spin: all that the solver gives, ascending by energy.
struct FieldOrbitals {
  int occupied = 0;                  ///< Electrons of this spin, in the lowest orbitals.
  std::vector<double> matrix;        ///< H of the last density, n x n.
  std::vector<double> energies;      ///< Its eigenvalues, hartree.
  std::vector<double> coefficients;  ///< Its orbitals, a column each.
};

/// The result of an iteration, converged or not.
struct FieldResult {
  bool converged = false;  ///< Whether the last residual is within the tolerance; callers must look at it.
  /// All steps of the iteration.
  std::vector<FieldStep> steps;
  FieldEnergies energies;  ///< Energies of the last step's orbitals.
  FieldOrbitals up;
  FieldOrbitals down;     ///< If orbitals are paired, as `up`.
  SpinOrbitals occupied;  ///< Orbitals that `energies` belong to.
  /// <S^2>: S (S + 1) for a state of spin S, and more if orbitals of both spins differ.
  double spin_squared = 0;
};

/// Repeats orbitals -> H -> orbitals until H commutes with the density matrix, beginning at the lowest orbitals of
/// field.start(). Each new H is the combination of remembered ones that minimises the same combination of their
/// commutators (P. Pulay, J. Comput. Chem. 3, 556 (1982)). The error of the energy is of the order of the residual
/// squared.
///
/// `progress`, if any, is called after each step. Throws Error(argument) for options out of their range and more
/// electrons of a spin than the solver gives orbitals, Error(computation) if numbers are not finite. Cost: that of
/// field.field() and of the solver, and some (8 + 2 history) n^2 up.
[[nodiscard]] FieldResult self_consistent(const MeanField& field, const FieldOptions& options,
                                          const SolveOrbitals& solve,
                                          const std::function<void(const FieldStep&)>& progress = {});

/// Return X with X^T S X = I, n x m column-major: the eigenvectors of S, ascending by eigenvalue, divided by the square
/// roots of the eigenvalues. Eigenvalues up to `threshold` times the largest are dropped as linear dependences
/// (canonical orthogonalisation, P.-O. Lowdin, Adv. Quantum Chem. 5, 185 (1970)). `values` and `vectors` are S's
/// eigenvalues and eigenvectors.
[[nodiscard]] std::vector<double> canonical_basis(std::span<const double> values, std::span<const double> vectors,
                                                  double threshold = 1e-10);

/// Return X^T H X for H n x n and X n x m. Cost: 2 n m (n + m) flops, by the host's threads.
[[nodiscard]] std::vector<double> transformed(std::span<const double> H, std::span<const double> X, std::size_t n);
/// Return X C for X n x m and C m x k. Cost: 2 n m k flops, by the host's threads.
[[nodiscard]] std::vector<double> product(std::span<const double> X, std::span<const double> C, std::size_t n,
                                          std::size_t m);

}  // namespace heddle::models
