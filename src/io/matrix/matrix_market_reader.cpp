// Parser of one Matrix Market file, on rank 0 alone.
#include "io/matrix/matrix_market_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

namespace heddle::impl {

namespace {

template <class Value, std::size_t count>
Value choose(const TextReader& reader, std::string_view& rest,
             const std::array<std::pair<const char*, Value>, count>& of, const char* expected) {
  const std::string_view word = next_word(rest);
  const std::string name = lower(word);
  for (const auto& [text, value] : of) {
    if (name == text) return value;
  }
  reader.refuse("expected ", expected, " in the banner, found ", quoted(word));
}

void read_banner(TextReader& reader, MarketHeader& header) {
  using enum MarketFormat;
  using enum MarketField;
  using enum MarketSymmetry;
  std::string_view line;
  const bool any = reader.next_line(line);
  std::string_view rest = line;
  if (!any)
    throw Error(ErrorKind::input, message_of(reader.name(), ": is empty, where a Matrix Market file is expected"));
  if (const auto word = next_word(rest); lower(word) != "%%matrixmarket") {
    reader.refuse("expected the banner '%%MatrixMarket matrix ...', found ", quoted(word));
  }
  if (const auto word = next_word(rest); lower(word) != "matrix") {
    reader.refuse("expected 'matrix' in the banner, found ", quoted(word));
  }
  header.format =
      choose<MarketFormat, 2>(reader, rest, {{{"array", array}, {"coordinate", coordinate}}}, "array or coordinate");
  header.field = choose<MarketField, 4>(
      reader, rest,
      {{{"real", MarketField::real}, {"integer", integer}, {"complex", MarketField::complex}, {"pattern", pattern}}},
      "real, integer, complex or pattern");
  header.symmetry = choose<MarketSymmetry, 4>(
      reader, rest,
      {{{"general", general}, {"symmetric", symmetric}, {"hermitian", hermitian}, {"skew-symmetric", skew_symmetric}}},
      "general, symmetric, hermitian or skew-symmetric");
  require_end_of_line(reader, rest);
  if (header.field == pattern && header.format == array) reader.refuse("an array can't have the field pattern");
  if (header.field == pattern && header.symmetry == skew_symmetric) {
    reader.refuse("a skew-symmetric matrix can't have the field pattern");
  }
  if (header.symmetry == hermitian && header.field != MarketField::complex) {
    reader.refuse("a hermitian matrix must have the field complex");
  }
}

bool is_comment(std::string_view line) {
  return next_word(line).front() == '%';
}

}  // namespace

MarketHeader read_market_header(TextReader& reader) {
  MarketHeader header;
  read_banner(reader, header);
  const bool coordinate = header.format == MarketFormat::coordinate;
  const char* const expected = coordinate ? "'rows columns entries'" : "'rows columns'";
  std::string_view line;
  do {
    if (!reader.next_filled_line(line)) reader.refuse("the file ends where ", expected, " is expected");
  } while (is_comment(line));
  header.rows = next_number<Index>(reader, line, "the number of rows");
  header.columns = next_number<Index>(reader, line, "the number of columns");
  if (coordinate) header.entries = next_number<Index>(reader, line, "the number of entries");
  require_end_of_line(reader, line);

  if (header.rows < 0 || header.columns < 0 || header.entries < 0) reader.refuse("sizes must not be negative");
  const Index rows = header.rows;
  const Index columns = header.columns;
  if (header.symmetry != MarketSymmetry::general && rows != columns) {
    reader.refuse("a ", rows, " x ", columns, " matrix can't be symmetric, hermitian or skew-symmetric");
  }
  // Below, no product of sizes may overflow.
  constexpr Index largest = std::numeric_limits<Index>::max() / 64;
  if (columns > 0 && rows > largest / columns) reader.refuse("a ", rows, " x ", columns, " matrix is too large");
  if (!coordinate) {
    const bool skew = header.symmetry == MarketSymmetry::skew_symmetric;
    header.entries = header.symmetry == MarketSymmetry::general ? rows * columns
                     : skew                                     ? rows * (rows - 1) / 2
                                                                : rows * (rows + 1) / 2;
  } else if (header.entries > rows * columns) {
    reader.refuse(header.entries, " entries don't fit into a ", rows, " x ", columns, " matrix");
  }
  // An entry takes two bytes at least, its line's end included (but for the last one): a file cut short is refused
  // before room is made for it.
  if (static_cast<std::uintmax_t>(header.entries) > reader.size() / 2 + 1) {
    reader.refuse(header.entries, " entries are announced, more than the file's ", reader.size(), " bytes can hold");
  }
  return header;
}

template <Scalar T>
MarketReader<T>::MarketReader(const std::filesystem::path& path, WholeNumbers& whole)
    : reader_(path), header_(read_market_header(reader_)), whole_(whole) {}

template <Scalar T> std::string_view MarketReader<T>::next_entry() {
  std::string_view line;
  if (!reader_.next_filled_line(line)) {
    reader_.refuse("the file ends after ", done_, " of ", header_.entries, " entries");
  }
  ++done_;
  return line;
}

template <Scalar T> T MarketReader<T>::value_from(std::string_view& rest) {
  T value{};
  if (header_.field == MarketField::pattern) {
    value = T(1);
  } else if (header_.field == MarketField::integer) {
    value = T(next_whole<Real<T>>(reader_, rest, whole_));
  } else if constexpr (is_complex<T>) {
    const bool two = header_.field == MarketField::complex;
    const auto real = next_number<Real<T>>(reader_, rest, two ? "a real part" : "a real number");
    value = T(real, two ? next_number<Real<T>>(reader_, rest, "an imaginary part") : Real<T>(0));
  } else {
    value = next_number<T>(reader_, rest, "a real number");
  }
  require_end_of_line(reader_, rest);
  return value;
}

template <Scalar T> T MarketReader<T>::mirrored(const T& value) const {
  if (header_.symmetry == MarketSymmetry::hermitian) return conjugate(value);
  return header_.symmetry == MarketSymmetry::skew_symmetric ? -value : value;
}

template <Scalar T> void MarketReader<T>::require_real(const T& value, Index index) {
  if constexpr (is_complex<T>) {
    if (header_.symmetry == MarketSymmetry::hermitian && value.imag() != 0) {
      reader_.refuse("diagonal entry (", index + 1, ", ", index + 1, ") of a hermitian matrix has imaginary part ",
                     value.imag(), ", not 0");
    }
  }
}

template <Scalar T> void MarketReader<T>::read_entries() {
  const bool general = header_.symmetry == MarketSymmetry::general;
  entries_.reserve(static_cast<std::size_t>(header_.entries) * (general ? 1 : 2));
  while (done_ < header_.entries) {
    std::string_view line = next_entry();
    const Index row = next_number<Index>(reader_, line, "a row index") - 1;
    const Index column = next_number<Index>(reader_, line, "a column index") - 1;
    const auto place = [&] { return message_of("entry (", row + 1, ", ", column + 1, ")"); };
    if (row < 0 || row >= header_.rows || column < 0 || column >= header_.columns) {
      reader_.refuse(place(), " is outside the ", header_.rows, " x ", header_.columns, " matrix (indices start at 1)");
    }
    if (!general && row < column)
      reader_.refuse(place(), " is above the diagonal, of which only the lower side is stored");
    if (header_.symmetry == MarketSymmetry::skew_symmetric && row == column) {
      reader_.refuse(place(), " is on the diagonal, which a skew-symmetric matrix does not store");
    }
    const T value = value_from(line);
    if (row == column) require_real(value, row);
    entries_.push_back({row, column, value, reader_.line_number()});
    if (!general && row != column) entries_.push_back({column, row, mirrored(value), reader_.line_number()});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& one, const Entry& other) {
    return std::tie(one.column, one.row, one.line) < std::tie(other.column, other.row, other.line);
  });
  const auto twice = std::adjacent_find(entries_.begin(), entries_.end(), [](const Entry& one, const Entry& other) {
    return one.column == other.column && one.row == other.row;
  });
  if (twice != entries_.end()) {
    const Index high = std::max(twice->row, twice->column);
    const Index low = std::min(twice->row, twice->column);
    throw Error(
        ErrorKind::input,
        message_of(reader_.name(), ", line ", std::next(twice)->line, ": entry (", general ? twice->row + 1 : high + 1,
                   ", ", general ? twice->column + 1 : low + 1, ") was given on line ", twice->line, " already"));
  }
}

template <Scalar T> void MarketReader<T>::read_triangle() {
  const bool skew = header_.symmetry == MarketSymmetry::skew_symmetric;
  triangle_.reserve(static_cast<std::size_t>(header_.entries));
  for (Index j = 0; j < header_.columns; ++j) {
    for (Index i = skew ? j + 1 : j; i < header_.rows; ++i) {
      std::string_view line = next_entry();
      triangle_.push_back(value_from(line));
      if (i == j) require_real(triangle_.back(), i);
    }
  }
}

template <Scalar T> void MarketReader<T>::read_columns(Range columns, const HostMatrix<T>& panel) {
  const bool general = header_.symmetry == MarketSymmetry::general;
  if (header_.format == MarketFormat::coordinate) {
    if (columns.begin == 0) read_entries();
    for (Index j = 0; j < columns.size(); ++j) std::fill_n(&panel(0, j), header_.rows, T(0));
    for (; next_ < entries_.size() && entries_[next_].column < columns.end; ++next_) {
      panel(entries_[next_].row, entries_[next_].column - columns.begin) = entries_[next_].value;
    }
  } else if (general) {
    for (Index j = columns.begin; j < columns.end; ++j) {
      for (Index i = 0; i < header_.rows; ++i) {
        std::string_view line = next_entry();
        panel(i, j - columns.begin) = value_from(line);
      }
    }
  } else {
    if (columns.begin == 0) read_triangle();
    const Index gap = header_.symmetry == MarketSymmetry::skew_symmetric ? 1 : 0;
    // Column j of the triangle begins after columns of n - gap, n - gap - 1, ... elements.
    const auto stored = [&](Index i, Index j) {
      const Index begin = j * (header_.rows - gap) - j * (j - 1) / 2;
      return triangle_[static_cast<std::size_t>(begin + i - j - gap)];
    };
    for (Index j = columns.begin; j < columns.end; ++j) {
      for (Index i = 0; i < header_.rows; ++i) {
        panel(i, j - columns.begin) = i == j && gap == 1 ? T(0) : i >= j ? stored(i, j) : mirrored(stored(j, i));
      }
    }
  }
  if (columns.end == header_.columns) finish();
}

template <Scalar T> void MarketReader<T>::finish() {
  std::string_view line;
  if (reader_.next_filled_line(line)) {
    reader_.refuse("expected the end of the file after ", header_.entries, " entries, found ", quoted(line));
  }
}

template class MarketReader<float>;
template class MarketReader<double>;
template class MarketReader<Kokkos::complex<float>>;
template class MarketReader<Kokkos::complex<double>>;

}  // namespace heddle::impl
