// The options of heddle eig --scf --molecule.
#include "drivers/eig/molecule_scf.hpp"
#include "drivers/support/options/option_kinds.hpp"

namespace heddle::driver {

OptionTable<MoleculeSettings> molecule_options() {
  using Settings = MoleculeSettings;
  return {
      {"--functional", &Settings::functional, Text{.type_name = "NAME"},
       "With --molecule: hf (Hartree-Fock), lda-x, lda-pz, lda-pw92 or lda-vwn; with libxc also pbe, pbesol, blyp, "
       "pbe0, b3lyp, or its own names joined by +; in one dimension hf, lda-x or lda-csc"},
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
