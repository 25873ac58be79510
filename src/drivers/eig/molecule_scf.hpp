// heddle eig --scf --molecule: the electrons of a molecule to self-consistency.
#pragma once

#include "drivers/eig/scf.hpp"
#include "drivers/support/options/option_table.hpp"
#include <heddle/models/gaussian_basis.hpp>
#include <heddle/models/molecular_grid.hpp>

#include <string>

namespace heddle::driver {

struct MoleculeSettings {
  std::string file;
  std::string functional = "lda-pw92";
  std::string shells = "auto";
  models::EvenTemperedOptions basis;
  models::MolecularGridOptions grid;
  std::string save_down;     ///< File of the matrix of spin down.
  std::string save_overlap;  ///< File of the overlaps.
};

/// The options of a molecule, without the one that names its file.
[[nodiscard]] OptionTable<MoleculeSettings> molecule_options();

/// Refuse files that can't be written or that would replace the molecule's file. Collective.
void require_molecule_files(Context& context, const MoleculeSettings& settings, const ScfSettings& scf,
                            const std::string& save);

/// `save`: file of the last matrix; that of spin up if shells are open. `points`: number of grid points in one
/// dimension. `tolerance`: negative for 1e-7 hartree.
[[nodiscard]] int run_molecule(Context& context, const MoleculeSettings& settings, const ScfSettings& scf,
                               const std::string& save, int points, double tolerance,
                               const nlohmann::ordered_json& asked_for);

}  // namespace heddle::driver
