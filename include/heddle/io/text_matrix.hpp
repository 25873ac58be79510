// Square real matrices in plain text (.txt): the order n, then n*n numbers row by row.
#pragma once

#include <heddle/io/matrix_file.hpp>

namespace heddle {

/// Reads a square matrix from plain text: the order n >= 1, then its n*n elements row by row, all separated by white
/// space with line breaks anywhere:
///
///     3
///      2.0 -1.0  0.0
///     -1.0  2.0 -1.0
///      0.0 -1.0  2.0
///
/// Numbers may be written as Fortran does, as read_matrix_market() takes them.
///
/// Refused with the number of the line are: an order that is no positive integer; more or fewer numbers than n*n, with
/// how many there are; numbers that are malformed, not finite, or beyond the range of T.
///
/// Collective; throws as read_matrix() does. Rank 0 reads and parses, and holds the whole matrix besides its own part.
/// Bits: each decimal number is correctly rounded to T.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_text_matrix(const Communicator& comm, const std::filesystem::path& path,
                                                    const PlacementChoice& place = {});

/// The shape of the matrix, from the file's first number. Collective; throws as read_matrix() does.
[[nodiscard]] MatrixFileInfo text_matrix_info(const Communicator& comm, const std::filesystem::path& path);

/// Writes A, one row on each line, each number with the fewest digits (17 at most) that give the same bits when read
/// back. Collective; throws as write_matrix() does, also where A is complex, not square, empty, or has an element that
/// is not finite, which the format cannot express. Rank 0 holds the whole matrix.
template <Scalar T> void write_text_matrix(const std::filesystem::path& path, const DistributedMatrix<T>& A);

}  // namespace heddle
