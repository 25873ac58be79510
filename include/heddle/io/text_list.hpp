// Plain lists of real numbers in text files.
#pragma once

#include <heddle/io/matrix_file.hpp>

namespace heddle {

/// Reads all numbers of a text file, one or several on a line, with white space or a comma between them, as a matrix of
/// one column. Blank lines and what follows a # are passed over; a file may hold no number at all. Numbers may be
/// written as Fortran does, as read_matrix_market() takes them.
///
/// Refused with the number of the line are numbers that are malformed, not finite, or beyond the range of T, and a
/// comma without a number before and after it.
///
/// Collective; throws as read_matrix() does. Rank 0 reads and parses, and holds the whole list besides its own part.
/// Bits: each decimal number is correctly rounded to T.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_text_list(const Communicator& comm, const std::filesystem::path& path,
                                                  const PlacementChoice& place = {});

/// Reads the same list, but whole numbers that are written without a point and an exponent with all their digits, as
/// read_matrix_terms() does integers: the list is the sum of those that it gives. Other numbers are rounded to T.
template <Scalar T>
[[nodiscard]] std::vector<DistributedMatrix<T>> read_text_list_terms(const Communicator& comm,
                                                                     const std::filesystem::path& path,
                                                                     const PlacementChoice& place = {});

}  // namespace heddle
