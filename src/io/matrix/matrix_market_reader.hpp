// Parser of one Matrix Market file; on rank 0 alone.
#pragma once

#include "io/matrix/text_reader.hpp"
#include "io/matrix/whole_numbers.hpp"
#include <heddle/core/scalar.hpp>
#include <heddle/dist/placement.hpp>

#include <vector>

namespace heddle::impl {

enum class MarketFormat { array, coordinate };
enum class MarketField { real, integer, complex, pattern };
enum class MarketSymmetry { general, symmetric, hermitian, skew_symmetric };

struct MarketHeader {
  MarketFormat format = MarketFormat::array;
  MarketField field = MarketField::real;
  MarketSymmetry symmetry = MarketSymmetry::general;
  Index rows = 0;
  Index columns = 0;
  Index entries = 0;  ///< Lines that follow, one entry each.
};

/// Reads banner, comments and sizes.
[[nodiscard]] MarketHeader read_market_header(TextReader& reader);

/// Reads the elements after the header, panel by panel of columns from the left.
template <Scalar T> class MarketReader {
 public:
  /// `whole`, which outlives it, says how elements of the field integer are read.
  MarketReader(const std::filesystem::path& path, WholeNumbers& whole);

  [[nodiscard]] const MarketHeader& header() const noexcept { return header_; }
  /// Fills panel(:, j - columns.begin) for j in columns, which must follow those of the call before. The call for the
  /// last columns also refuses what may follow the last entry.
  void read_columns(Range columns, const HostMatrix<T>& panel);
  /// For matrices without elements, of which read_columns sees none.
  void finish();

 private:
  struct Entry {
    Index row;
    Index column;
    T value;
    long long line;
  };
  // The next entry's line, which has to be there.
  std::string_view next_entry();
  T value_from(std::string_view& rest);
  [[nodiscard]] T mirrored(const T& value) const;
  void require_real(const T& value, Index index);
  void read_entries();
  void read_triangle();

  TextReader reader_;
  MarketHeader header_;
  WholeNumbers& whole_;
  Index done_ = 0;              ///< Entries read.
  std::vector<Entry> entries_;  ///< Coordinate files: all elements, by column and row.
  std::size_t next_ = 0;        ///< Of entries_, the first that no panel has taken.
  std::vector<T> triangle_;     ///< Symmetric arrays: the lower triangle by columns.
};

}  // namespace heddle::impl
