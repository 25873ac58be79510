#include "tdse_text_files.hpp"

#include <heddle/core/error.hpp>

#include <charconv>
#include <cmath>
#include <fstream>
#include <string>

namespace heddle::driver {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, std::size_t line, const std::string& message) {
  throw Error(ErrorKind::input, message_of(path.string(), ", line ", line, ": ", message));
}

std::vector<double> numbers_of(const std::string& text, const std::filesystem::path& path, std::size_t line,
                               const char* form) {
  std::vector<double> numbers;
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    if (*at == ' ' || *at == '\t' || *at == '\r' || *at == ',') {
      ++at;
      continue;
    }
    const char* start = at + (*at == '+' ? 1 : 0);
    double value = 0.0;
    const auto [stop, error] = std::from_chars(start, end, value);
    if (error != std::errc() || stop == start) refuse(path, line, std::string("not a number; expected ") + form);
    if (!std::isfinite(value)) refuse(path, line, std::string("a number that is not finite; expected ") + form);
    numbers.push_back(value);
    at = stop;
  }
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
    // Decimal text rarely has all digits: a millionth of the spacing is the same point.
    if (!(std::abs(row[0] - expected) <= 1e-6 * grid.spacing())) {
      throw Error(ErrorKind::input, message_of(path.string(), ": point ", state.size() + 1, " is x = ", row[0],
                                               "; the grid's is ", expected));
    }
    state.emplace_back(row[1], row.size() > 2 ? row[2] : 0.0);
  }
  return state;
}

}  // namespace heddle::driver
