// The options of heddle eig --scf --molecule.
#include "drivers/eig/molecule_scf.hpp"
#include "drivers/support/option_kinds.hpp"

namespace heddle::driver {

OptionTable<MoleculeSettings> molecule_options() {
  using Settings = MoleculeSettings;
  using models::Functional;
  return {
      {"--functional", &Settings::functional,
       choice<Functional>("NAME", {Functional::hf, Functional::lda_x, Functional::lda_pz, Functional::lda_pw92,
                                   Functional::lda_vwn, Functional::lda_csc}),
       "With --molecule: Hartree-Fock, or a local functional; in one dimension hf, lda-x or lda-csc"},
      {"--shells", &Settings::shells, choice({"auto", "closed", "open"}, "KIND"),
       "With --molecule: orbitals alike for both spins, or not; auto: closed where electrons are paired"},
      {"--ratio", in_member(&Settings::basis, &models::EvenTemperedOptions::ratio), Number{.type_name = "RATIO"},
       "With --molecule: of neighbouring exponents, where the file gives no shells"},
      {"--angular", in_member(&Settings::basis, &models::EvenTemperedOptions::angular), Integer{.least = 0},
       "With --molecule: largest angular momentum, where the file gives no shells"},
      {"--radii", in_member(&Settings::grid, &models::MolecularGridOptions::radial), Integer{},
       "With --molecule: radii of the grid about each nucleus"},
      {"--angles", in_member(&Settings::grid, &models::MolecularGridOptions::polar), Integer{},
       "With --molecule: polar angles of the grid"},
      {"--save-down", &Settings::save_down, Text{}, "With --molecule: file of the matrix of spin down; --save: of up"},
      {"--save-overlap", &Settings::save_overlap, Text{}, "With --molecule: file of the overlaps"},
  };
}

}  // namespace heddle::driver
