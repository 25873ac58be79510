// The head of a file of NumPy's.
#pragma once

#include <heddle/core/scalar.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace heddle::impl {

/// Kind of an array's elements.
enum class NpyKind { real, complex, whole, natural };

/// Which array follows, as a matrix.
struct NpyHeader {
  Index rows = 0;
  Index columns = 0;
  NpyKind kind = NpyKind::real;
  std::size_t bytes_each = 0;  ///< Of an element.
  bool swapped = false;        ///< The other byte order than this machine's.
  bool by_columns = false;     ///< Fortran's order; a matrix of one row or column is in both.
  std::uint64_t data = 0;      ///< Byte at which the elements begin.
};

/// Reads the head of a file, and sees that the elements it tells of are there, and nothing else. Throws Error(input).
[[nodiscard]] NpyHeader read_npy_header(const std::filesystem::path& path);

}  // namespace heddle::impl
