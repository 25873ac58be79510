// Reading of text files with columns of numbers: potentials and wave functions.
#include "drivers/tdse/record/text_files.hpp"

#include <heddle/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace heddle::driver {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, std::size_t line, const std::string& message) {
  throw Error(ErrorKind::input, message_of(path.string(), ", line ", line, ": ", message));
}

// Parse the whole word in C's form or with Fortran's D for the exponent. Numbers too small for a double become zero or
// denormal, as in other readers.
double number_of(std::string_view word, const std::filesystem::path& path, std::size_t line, const char* form) {
  std::string text(word);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == 'D' || c == 'd'; }, 'e');
  std::string_view digits = text;
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0.0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) {
    refuse(path, line, std::string("not a number; expected ") + form);
  }
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  if (!std::isfinite(value)) refuse(path, line, std::string("a number that is not finite; expected ") + form);
  return value;
}

// Parse words separated by white space, or by one comma with white space around it.
std::vector<double> numbers_of(const std::string& text, const std::filesystem::path& path, std::size_t line,
                               const char* form) {
  constexpr const char* blanks = " \t\r";
  std::vector<double> numbers;
  bool comma = false;  // no number has followed it yet
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string::npos;
       at = text.find_first_not_of(blanks, at)) {
    if (text[at] == ',') {
      if (comma || numbers.empty()) refuse(path, line, std::string("a comma without a number; expected ") + form);
      comma = true;
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \t\r,", at), text.size());
    numbers.push_back(number_of(std::string_view(text).substr(at, end - at), path, line, form));
    comma = false;
    at = end;
  }
  if (comma) refuse(path, line, std::string("a comma without a number; expected ") + form);
  return numbers;
}

}  // namespace

std::vector<std::vector<double>> read_columns(const std::filesystem::path& path, std::size_t fewest, std::size_t most,
                                              const char* form) {
  std::error_code ignored;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw Error(ErrorKind::input, path.string() + ": can't be read; expected a text file with " + form);
  }
  std::vector<std::vector<double>> rows;
  std::string text;
  for (std::size_t line = 1; std::getline(file, text); ++line) {
    if (line == 1 && text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // UTF-8's byte order mark.
    auto numbers = numbers_of(text.substr(0, text.find('#')), path, line, form);
    if (numbers.empty()) continue;
    if (numbers.size() < fewest || numbers.size() > most || (!rows.empty() && numbers.size() != rows[0].size())) {
      refuse(path, line, message_of(numbers.size(), " numbers; expected ", form, ", as many in each line"));
    }
    rows.push_back(std::move(numbers));
  }
  if (rows.empty()) throw Error(ErrorKind::input, path.string() + ": has no numbers; expected " + form);
  return rows;
}

schrodinger::State read_text_state(const std::filesystem::path& path, const schrodinger::Grid& grid) {
  const auto rows = read_columns(path, 2, 3, "columns x, Re psi and, optionally, Im psi");
  if (rows.size() != static_cast<std::size_t>(grid.points)) {
    throw Error(ErrorKind::input,
                message_of(path.string(), ": has ", rows.size(), " points; the grid has ", grid.points));
  }
  schrodinger::State state;
  for (const auto& row : rows) {
    const double expected = grid.x(static_cast<Index>(state.size()));
    // Decimal text rarely has all digits; points match within a millionth of the spacing.
    if (!(std::abs(row[0] - expected) <= 1e-6 * grid.spacing())) {
      throw Error(ErrorKind::input, message_of(path.string(), ": point ", state.size() + 1, " is x = ", row[0],
                                               "; the grid's is ", expected));
    }
    state.emplace_back(row[1], row.size() > 2 ? row[2] : 0.0);
  }
  return state;
}

}  // namespace heddle::driver
