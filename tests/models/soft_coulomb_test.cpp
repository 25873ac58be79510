// Fields of one dimension beside published energies, and beside the closed shells of eigen::KohnSham.
#include "eigen/kohn_sham_support.hpp"
#include "support/errors.hpp"
#include <heddle/models/soft_coulomb_field.hpp>

namespace heddle::test::soft_coulomb_test {
namespace {

using models::FieldResult;
using models::Functional;
using models::Molecule;
using models::SoftCoulombField;

void lapack_orbitals(int, std::span<const double> H, std::vector<double>& w, std::vector<double>& C) {
  lapack_diagonalise(H, w, C);
}

Molecule row_of(const std::vector<double>& charges, const std::vector<double>& positions) {
  Molecule molecule;
  for (std::size_t k = 0; k < charges.size(); ++k) molecule.atoms.push_back({charges[k], {positions[k], 0, 0}});
  return molecule;
}

FieldResult solved_on_a_line(const Molecule& molecule, Functional functional, bool open = false) {
  const SoftCoulombField field(molecule, 160, functional);
  models::FieldOptions options;
  options.electrons = models::electrons_of(molecule, 1);
  options.paired = !open && options.electrons.up == options.electrons.down;
  FieldResult result = models::self_consistent(field, options, lapack_orbitals);
  EXPECT_TRUE(result.converged);
  return result;
}

// One electron exactly, and helium by Hartree-Fock, to the four digits commonly given for a softening of 1.
TEST(SoftCoulomb, EnergiesAreThoseCommonlyGiven) {
  const FieldResult hydrogen = solved_on_a_line(row_of({1}, {0}), Functional::hf);
  EXPECT_NEAR(hydrogen.energies.total(), -0.6698, 5e-5);
  EXPECT_NEAR(hydrogen.energies.coulomb + hydrogen.energies.exchange, 0, 1e-12);
  EXPECT_NEAR(solved_on_a_line(row_of({2}, {0}), Functional::hf).energies.total(), -2.2242, 5e-5);
}

// Reference: another program on a finer grid, which integrates exchange in another space: docs/notes/molecules.md.
TEST(SoftCoulomb, EnergiesOfAtomsAndMoleculesAreThoseOfAFinerGrid) {
  struct Expected {
    Molecule molecule;
    double hf, lda_x, lda_csc;
  };
  Molecule triplet = row_of({1, 1}, {0, 1.4});
  triplet.multiplicity = 3;
  const std::vector<Expected> all = {
      {row_of({1}, {0}), -0.66977714, -0.63937285, -0.64659389},
      {row_of({2}, {0}), -2.22420955, -2.15818964, -2.20137556},
      {row_of({3}, {0}), -4.19555109, -4.13939071, -4.17884588},
      {row_of({1, 1}, {0, 1.4}), -1.42508969, -1.36753469, -1.41811456},
      {triplet, -1.15997224, -1.13313048, -1.14634096},
      {row_of({3, 1}, {0, 3.015}), -4.89813685, -4.83518354, -4.91567834},
  };
  for (const Expected& one : all) {
    EXPECT_NEAR(solved_on_a_line(one.molecule, Functional::hf).energies.total(), one.hf, 1e-6);
    EXPECT_NEAR(solved_on_a_line(one.molecule, Functional::lda_x).energies.total(), one.lda_x, 1e-6);
    EXPECT_NEAR(solved_on_a_line(one.molecule, Functional::lda_csc).energies.total(), one.lda_csc, 1e-6);
  }
}

TEST(SoftCoulomb, ExchangeAloneIsTheModelOfClosedShells) {
  eigen::KohnShamOptions options;
  options.points = 160;
  options.charges = {1, 3};
  options.positions = {-1, 1.5};
  const eigen::KohnSham model(options);
  const eigen::ScfResult expected = eigen::self_consistent(model, {}, lapack_diagonalise);
  const Molecule molecule = row_of({1, 3}, {-1, 1.5});
  EXPECT_NEAR(solved_on_a_line(molecule, Functional::lda_x).energies.total(), expected.energies.total(), 1e-9);
  EXPECT_NEAR(solved_on_a_line(molecule, Functional::lda_x, true).energies.total(), expected.energies.total(), 1e-9);
  const FieldResult correlated = solved_on_a_line(molecule, Functional::lda_csc);
  EXPECT_LT(correlated.energies.total(), expected.energies.total());
  EXPECT_LT(correlated.energies.correlation, 0);
}

TEST(SoftCoulomb, PolarisedElectronsAreLower) {
  const Molecule lithium = row_of({3}, {0});
  const FieldResult open = solved_on_a_line(lithium, Functional::lda_csc);
  EXPECT_EQ(open.up.occupied, 2);
  EXPECT_EQ(open.down.occupied, 1);
  EXPECT_GT(open.spin_squared, 0.75 - 1e-12);
  Molecule quartet = lithium;
  quartet.multiplicity = 4;
  EXPECT_LT(open.energies.total(), solved_on_a_line(quartet, Functional::lda_csc).energies.total());
}

TEST(SoftCoulomb, FunctionalsOfThreeDimensionsAreRefused) {
  EXPECT_THROW(SoftCoulombField(row_of({2}, {0}), 64, Functional::lda_pz), Error);
  EXPECT_THROW(SoftCoulombField(row_of({1, 1}, {2, 2}), 64, Functional::hf), Error);
}

TEST(SoftCoulomb, OrbitalsOfAnotherBasisAreRefused) {
  const SoftCoulombField field(row_of({2}, {0}), 64, Functional::hf);
  test::expect_refusal(ErrorKind::argument, "mean field: orbitals of 63 elements for a basis of 64", [&] {
    static_cast<void>(field.field({std::vector<double>(63), {}}, true));
  });
}

}  // namespace
}  // namespace heddle::test::soft_coulomb_test
