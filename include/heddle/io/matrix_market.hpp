// Matrix Market files (.mtx), the text format of https://math.nist.gov/MatrixMarket/formats.html.
#pragma once

#include <heddle/io/matrix_file.hpp>

namespace heddle {

/// Reads a dense matrix from a Matrix Market file.
///
/// The format is array (elements column by column) or coordinate (row, column, element; elements that are not named are
/// zero). The field is real, integer (of any number of digits; refused where no T equals it), complex or, in coordinate
/// format, pattern (every entry named is 1). Real numbers may be written as Fortran does, with D or Q for the exponent,
/// or without a letter before three digits of it. The symmetry is general, symmetric, skew-symmetric, or, with field
/// complex, hermitian. The banner may be in either case. Comment lines, whose first character that is not blank is %,
/// stand between banner and sizes, blank lines anywhere; lines may end in CR LF, and a byte order mark of UTF-8 may
/// come first. There is one entry on a line.
///
/// Refused with the number of the line are: anything else in banner or sizes; more or fewer entries than announced;
/// indices out of range; an element named twice; an entry above the diagonal of a symmetric kind, or on the diagonal of
/// a skew-symmetric one; a diagonal of a hermitian matrix that is not real; text after an entry; numbers that are
/// malformed, not finite, or beyond the range of T.
///
/// Collective; throws as read_matrix() does. Rank 0 reads and parses, at some 10 million numbers a second. Besides its
/// own part it holds one panel of columns, and all entries of coordinate files (32 bytes each for real T) and of
/// symmetric arrays. Bits: each decimal number is correctly rounded to T.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_matrix_market(const Communicator& comm, const std::filesystem::path& path,
                                                      const PlacementChoice& place = {});

/// The shape of the matrix, and whether it is complex, from the file's first lines. Collective; throws as read_matrix()
/// does.
[[nodiscard]] MatrixFileInfo matrix_market_info(const Communicator& comm, const std::filesystem::path& path);

/// Writes A in format array, real or complex, general, each number with the fewest digits (17 at most) that give the
/// same bits when read back. Collective; throws as write_matrix() does, also where A has an element that is not finite,
/// which the format cannot express.
template <Scalar T> void write_matrix_market(const std::filesystem::path& path, const DistributedMatrix<T>& A);

}  // namespace heddle
