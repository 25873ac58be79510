// Columns of numbers in text files: tables of a potential, wave functions.
#pragma once

#include <heddle/schrodinger/hamiltonian.hpp>

#include <filesystem>
#include <vector>

namespace heddle::driver {

/// Rows of `fewest` to `most` decimal numbers with white space or a comma between them, as many in each; blank lines
/// and what follows a # are passed over. Throws Error(input) naming file, line and the expected form.
[[nodiscard]] std::vector<std::vector<double>> read_columns(const std::filesystem::path& path, std::size_t fewest,
                                                            std::size_t most, const char* form);

/// psi from columns x, Re psi and, if there, Im psi; x must be the grid's points. Throws Error(input).
[[nodiscard]] schrodinger::State read_text_state(const std::filesystem::path& path, const schrodinger::Grid& grid);

}  // namespace heddle::driver
