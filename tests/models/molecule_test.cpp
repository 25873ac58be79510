// Molecules: electrons of each spin, and refusals.
#include "support/errors.hpp"
#include <heddle/models/gaussian_basis.hpp>
#include <heddle/models/molecule.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle::test::molecule_test {
namespace {

using models::electrons_of;
using models::Molecule;

Molecule pair_of(double one, double other, double distance) {
  Molecule molecule;
  molecule.atoms = {{one, {0, 0, 0}}, {other, {0, 0, distance}}};
  return molecule;
}

TEST(Molecule, HasElectronsOfBothSpins) {
  Molecule lithium_hydride = pair_of(3, 1, 3);
  EXPECT_EQ(electrons_of(lithium_hydride).up, 2);
  EXPECT_EQ(electrons_of(lithium_hydride).down, 2);
  lithium_hydride.multiplicity = 3;
  EXPECT_EQ(electrons_of(lithium_hydride).up, 3);
  lithium_hydride.multiplicity = 0;
  lithium_hydride.charge = 1;
  EXPECT_EQ(electrons_of(lithium_hydride).up, 2);
  EXPECT_EQ(electrons_of(lithium_hydride).down, 1);
  EXPECT_DOUBLE_EQ(nuclear_repulsion(pair_of(3, 1, 3)), 1);
}

TEST(Molecule, ThatCannotBeIsRefused) {
  EXPECT_THROW((void)electrons_of(Molecule()), Error);
  EXPECT_THROW((void)electrons_of(pair_of(1, 1, 0)), Error);
  EXPECT_THROW((void)electrons_of(pair_of(1, -1, 2)), Error);
  EXPECT_THROW((void)electrons_of(pair_of(1, 0.5, 2)), Error);
  EXPECT_THROW((void)electrons_of(pair_of(1, 1, std::numeric_limits<double>::infinity())), Error);
  EXPECT_THROW((void)electrons_of(pair_of(1, 1, 2), 1), Error);
  Molecule molecule = pair_of(1, 1, 2);
  molecule.multiplicity = 2;
  EXPECT_THROW((void)electrons_of(molecule), Error);
  molecule.multiplicity = 5;
  EXPECT_THROW((void)electrons_of(molecule), Error);
  molecule.multiplicity = 0;
  molecule.charge = 2;
  EXPECT_THROW((void)electrons_of(molecule), Error);
}

TEST(Molecule, ElementsHaveSymbols) {
  EXPECT_EQ(models::element_charge("he"), 2);
  EXPECT_EQ(models::element_charge("KR"), 36);
  EXPECT_EQ(models::element_charge("Xx"), 0);
  EXPECT_EQ(models::element_symbol(3), "Li");
  EXPECT_EQ(models::element_symbol(1.5), "");
}

TEST(Basis, ThatCannotBeIsRefused) {
  EXPECT_THROW(models::GaussianBasis({}), Error);
  EXPECT_THROW(models::GaussianBasis({{{}, 0, {-1.0}, {}}}), Error);
  EXPECT_THROW(models::GaussianBasis({{{}, 7, {1.0}, {}}}), Error);
  EXPECT_THROW(models::GaussianBasis({{{}, 0, {1.0, 2.0}, {1.0}}}), Error);
  EXPECT_THROW(models::GaussianBasis({{{}, 0, {1.0, 1.0}, {1.0, -1.0}}}), Error);
  for (const double charge : {-1.0, 1e-12, 37.0}) {
    models::Molecule molecule;
    molecule.atoms = {{charge, {}}};
    test::expect_refusal(ErrorKind::argument, "the rule for exponents is for nuclei of a charge from 0.01 to 36, not",
                         [&] { static_cast<void>(models::even_tempered(molecule)); });
  }
}

}  // namespace
}  // namespace heddle::test::molecule_test
