// What VTK's readers do not notice in files of its formats, or crash of.
#pragma once

#include <filesystem>

namespace heddle::impl {

/// Refuses a .vtu file that was cut short.
void check_xml(const std::filesystem::path& path);

/// Reads a .vtk file's points, cells and types once, and refuses what is wrong with them: numbers missing or malformed,
/// more announced than there are, sizes of cells that don't add up, corners that are no points, other kinds of cells.
void check_legacy(const std::filesystem::path& path);

}  // namespace heddle::impl
