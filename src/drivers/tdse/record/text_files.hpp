// Reading of text files with columns of numbers: potentials and wave functions.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

#include <filesystem>
#include <vector>

namespace heddle::driver {

/// Read rows of `fewest` to `most` decimal numbers separated by white space or a comma, with as many in each row. Blank
/// lines and comments from # on are skipped. Throw Error(input) naming file, line and the expected form.
[[nodiscard]] std::vector<std::vector<double>> read_columns(const std::filesystem::path& path, std::size_t fewest,
                                                            std::size_t most, const char* form);

/// Read psi from columns x, Re psi and, if present, Im psi; x must be the grid's points. Throw Error(input).
[[nodiscard]] schrodinger::State read_text_state(const std::filesystem::path& path, const schrodinger::Grid& grid);

}  // namespace heddle::driver
