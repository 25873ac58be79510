// Energies of atoms and molecules beside published ones of the same functional.
#include "eigen/kohn_sham_support.hpp"
#include "support/errors.hpp"
#include <heddle/models/exchange_correlation.hpp>
#include <heddle/models/gaussian_field.hpp>

#include <cmath>
#include <functional>

namespace heddle::test::energies_test {
namespace {

using models::FieldResult;
using models::Functional;
using models::Molecule;

// Solves the generalised problem by canonical orthogonalisation and LAPACK.
models::SolveOrbitals solver_for(const models::MeanField& field) {
  const std::size_t n = field.size();
  const std::vector<double> S(field.overlap().begin(), field.overlap().end());
  std::vector<double> values;
  std::vector<double> vectors;
  lapack_diagonalise(S, values, vectors);
  const std::vector<double> X = models::canonical_basis(values, vectors);
  return [n, X](int, std::span<const double> H, std::vector<double>& w, std::vector<double>& C) {
    std::vector<double> V;
    lapack_diagonalise(models::transformed(H, X, n), w, V);
    C = models::product(X, V, n, w.size());
  };
}

FieldResult solved(const Molecule& molecule, const models::ExchangeCorrelation& functional, int angular = 2) {
  const models::GaussianField field(molecule, models::even_tempered(molecule, {.angular = angular}), functional);
  models::FieldOptions options;
  options.electrons = models::electrons_of(molecule);
  options.paired = options.electrons.up == options.electrons.down;
  FieldResult result = models::self_consistent(field, options, solver_for(field));
  EXPECT_TRUE(result.converged);
  if (functional.of_densities()) {
    EXPECT_NEAR(field.electrons_on_grid(result.occupied), options.electrons.total(), 1e-5);
  }
  return result;
}

Molecule atom_of(double charge) {
  Molecule molecule;
  molecule.atoms = {{charge, {}}};
  return molecule;
}

Molecule diatomic(double one, double other, double distance) {
  Molecule molecule;
  molecule.atoms = {{one, {}}, {other, {0, 0, distance}}};
  return molecule;
}

// Hartree-Fock limits: exact for H; He: C. Froese Fischer, The Hartree-Fock Method for Atoms (Wiley, 1977); the
// molecules: J. Kobus, Comput. Phys. Commun. 184, 799 (2013).
TEST(Energies, HartreeFockReachesItsLimit) {
  const FieldResult hydrogen = solved(atom_of(1), Functional::hf);
  EXPECT_NEAR(hydrogen.energies.total(), -0.5, 1e-4);
  EXPECT_NEAR(hydrogen.spin_squared, 0.75, 1e-10);
  EXPECT_NEAR(hydrogen.energies.coulomb + hydrogen.energies.exchange, 0, 1e-12);
  const FieldResult helium = solved(atom_of(2), Functional::hf);
  EXPECT_NEAR(helium.energies.total(), -2.861680, 1e-4);
  EXPECT_NEAR(helium.energies.virial(), 2, 1e-3);
  EXPECT_NEAR(helium.up.energies.front(), -0.917956, 1e-4);
  EXPECT_NEAR(solved(diatomic(1, 1, 1.4), Functional::hf).energies.total(), -1.133630, 1e-4);
}

TEST(Energies, LithiumHydrideReachesHartreeFocksLimit) {
  EXPECT_NEAR(solved(diatomic(3, 1, 3.015), Functional::hf).energies.total(), -7.987352, 1e-4);
}

// S. Kotochigova et al., Phys. Rev. A 55, 191 (1997), the tables of NIST: LDA, and LSD of open shells, with the
// correlation of Vosko, Wilk and Nusair.
TEST(Energies, OfAtomsAreThoseOfNist) {
  EXPECT_NEAR(solved(atom_of(1), Functional::lda_vwn, 0).energies.total(), -0.478671, 1e-4);
  const FieldResult helium = solved(atom_of(2), Functional::lda_vwn, 0);
  EXPECT_NEAR(helium.energies.total(), -2.834836, 1e-4);
  EXPECT_NEAR(helium.up.energies.front(), -0.570425, 1e-4);
  EXPECT_NEAR(solved(atom_of(3), Functional::lda_vwn, 0).energies.total(), -7.343957, 1e-4);
  EXPECT_NEAR(solved(atom_of(4), Functional::lda_vwn, 0).energies.total(), -14.447209, 1e-4);
}

// Reference: finite differences in prolate spheroidal coordinates (x2dhf 3.0), Libxc's functionals:
// docs/notes/molecules.md.
TEST(Energies, OfMoleculesAreThoseOfFiniteDifferences) {
  const Molecule hydrogen = diatomic(1, 1, 1.4);
  EXPECT_NEAR(solved(hydrogen, Functional::lda_x).energies.total(), -1.043685, 1e-4);
  EXPECT_NEAR(solved(hydrogen, Functional::lda_pz).energies.total(), -1.137651, 1e-4);
  EXPECT_NEAR(solved(hydrogen, Functional::lda_vwn).energies.total(), -1.137481, 1e-4);
  const FieldResult perdew_wang = solved(hydrogen, Functional::lda_pw92);
  EXPECT_NEAR(perdew_wang.energies.total(), -1.137319, 1e-4);
  EXPECT_NEAR(perdew_wang.up.energies.front(), -0.377295, 1e-4);
}

TEST(Energies, LithiumHydrideIsThatOfFiniteDifferences) {
  const FieldResult hydride = solved(diatomic(3, 1, 3.015), Functional::lda_vwn);
  EXPECT_NEAR(hydride.energies.total(), -7.919614, 1e-4);
  EXPECT_NEAR(hydride.up.energies[0], -1.841424, 1e-4);
  EXPECT_NEAR(hydride.up.energies[1], -0.161309, 1e-4);
}

// Reference: large sets of uncontracted Gaussians (PySCF 2.14.0, unc-aug-pc-4): docs/notes/molecules.md.
TEST(Energies, OpenShellsOfMoleculesAreThoseOfALargeBasis) {
  Molecule ion = diatomic(3, 1, 3.015);
  ion.charge = 1;
  EXPECT_NEAR(solved(ion, Functional::lda_pw92).energies.total(), -7.617297, 1e-4);
  Molecule triplet = diatomic(1, 1, 1.4);
  triplet.multiplicity = 3;
  EXPECT_NEAR(solved(triplet, Functional::lda_vwn).energies.total(), -0.758576, 1e-4);
  EXPECT_NEAR(solved(triplet, Functional::lda_pz).energies.total(), -0.758921, 1e-4);
}

// The three functionals fit the same data, and differ by less than a thousandth of an electron's energy.
TEST(Energies, OfThreeFitsAreNeighbours) {
  const double vosko = solved(atom_of(2), Functional::lda_vwn, 0).energies.total();
  const double perdew_wang = solved(atom_of(2), Functional::lda_pw92, 0).energies.total();
  const double perdew_zunger = solved(atom_of(2), Functional::lda_pz, 0).energies.total();
  EXPECT_NEAR(vosko, perdew_wang, 1e-3);
  EXPECT_NEAR(vosko, perdew_zunger, 2e-3);
  EXPECT_NE(vosko, perdew_wang);
  EXPECT_NE(vosko, perdew_zunger);
}

TEST(Energies, OpenAndClosedShellsOfPairedElectronsAgree) {
  const Molecule molecule = diatomic(1, 1, 1.4);
  const models::GaussianField field(molecule, models::even_tempered(molecule, {.ratio = 3, .angular = 1}),
                                    Functional::lda_pw92);
  models::FieldOptions options;
  options.electrons = {1, 1};
  const double closed = models::self_consistent(field, options, solver_for(field)).energies.total();
  options.paired = false;
  const FieldResult open = models::self_consistent(field, options, solver_for(field));
  EXPECT_NEAR(open.energies.total(), closed, 1e-9);
  EXPECT_NEAR(open.spin_squared, 0, 1e-8);
}

TEST(Energies, ALimitOfIterationsIsReported) {
  const Molecule molecule = atom_of(2);
  const models::GaussianField field(molecule, models::even_tempered(molecule, {.angular = 0}), Functional::hf);
  models::FieldOptions options;
  options.electrons = {1, 1};
  options.iterations = 2;
  const FieldResult result = models::self_consistent(field, options, solver_for(field));
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.steps.size(), 2U);
  options.electrons = {2, 1};
  EXPECT_THROW((void)models::self_consistent(field, options, solver_for(field)), Error);
}

}  // namespace
}  // namespace heddle::test::energies_test
