#include "drivers/study/jacobi_table.hpp"

#include "drivers/study/jacobi.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>

#include <charconv>
#include <fstream>
#include <sstream>

namespace heddle::driver {
namespace {

constexpr std::string_view first_words = "# heddle study jacobi";
constexpr std::string_view header =
    "backend,processors,method,order,seconds,sweeps,rotations,residual,speed_up,acceleration,cost,efficiency,"
    "own_speed_up";

template <class Number> bool parse(const std::string& text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace

void derive(std::vector<JacobiRow>& rows) {
  const auto serial = [&](const std::string& method, Index order) -> std::optional<double> {
    for (const JacobiRow& row : rows) {
      if (row.backend == "serial" && row.method == method && row.order == order) return row.seconds;
    }
    return {};
  };
  for (JacobiRow& row : rows) {
    row.cost = row.processors * row.seconds;
    if (const auto t = serial("cyclic", row.order)) {
      row.speed_up = *t / row.seconds;
      row.acceleration = 100 * (*row.speed_up - 1);
      row.efficiency = 100 * *row.speed_up / row.processors;
    }
    if (const auto t = serial(row.method, row.order)) row.own_speed_up = *t / row.seconds;
  }
}

void write_rows(const std::filesystem::path& path, const std::string& matrix, const std::string& device,
                const std::vector<JacobiRow>& rows) {
  PendingStream out(path);
  out.precision(9);
  out << first_words << ", heddle " << version() << " (" << git_hash() << ")\n# device: " << device
      << "\n# matrix: " << matrix << '\n'
      << header << '\n';
  for (const JacobiRow& row : rows) {
    out << row.backend << ',' << row.processors << ',' << row.method << ',' << row.order << ',' << row.seconds << ','
        << row.sweeps << ',' << row.rotations << ',' << row.residual;
    for (const auto& value : {row.speed_up, row.acceleration, row.cost, row.efficiency, row.own_speed_up}) {
      out << ',';
      if (value) out << *value;
    }
    out << '\n';
  }
  out.commit();
}

std::vector<JacobiRow> read_serial_rows(const std::filesystem::path& path, const std::string& matrix) {
  std::ifstream file(path);
  const auto refuse = [&](const std::string& reason) { throw Error(ErrorKind::input, path.string() + reason); };
  std::string line;
  if (!std::getline(file, line) || !line.starts_with(first_words)) refuse(": is no table of heddle study jacobi");
  std::vector<JacobiRow> rows;
  bool begun = false;
  for (int number = 2; std::getline(file, line); ++number) {
    if (line.starts_with("# matrix: ") && line.substr(10) != matrix) {
      refuse(": was measured with --generate " + line.substr(10) + ", not " + matrix);
    }
    if (line.starts_with('#')) continue;
    const std::string place = message_of(", line ", number, ": ");
    if (!begun) {
      if (line != header) refuse(place + "expected " + std::string(header));
      begun = true;
      continue;
    }
    std::istringstream cells(line);
    std::vector<std::string> cell(8);
    for (std::string& one : cell) std::getline(cells, one, ',');
    JacobiRow row;
    row.backend = cell[0];
    row.method = cell[2];
    if (!parse(cell[1], row.processors) || !parse(cell[3], row.order) || !parse(cell[4], row.seconds) ||
        !parse(cell[5], row.sweeps) || !parse(cell[6], row.rotations) || !parse(cell[7], row.residual) ||
        !(row.seconds > 0)) {
      refuse(place + "expected a row of " + std::string(header));
    }
    if (row.backend == "serial") rows.push_back(row);
  }
  if (rows.empty()) refuse(": has no rows of one thread (made with OMP_NUM_THREADS=1)");
  return rows;
}

nlohmann::ordered_json as_json(const JacobiRow& row) {
  nlohmann::ordered_json object = {{"backend", row.backend},     {"processors", row.processors}, {"method", row.method},
                                   {"order", row.order},         {"seconds", row.seconds},       {"sweeps", row.sweeps},
                                   {"rotations", row.rotations}, {"residual", row.residual}};
  const auto enter = [&](const char* name, const std::optional<double>& value) {
    if (value) object[name] = *value;
  };
  enter("speed_up", row.speed_up);
  enter("acceleration", row.acceleration);
  enter("cost", row.cost);
  enter("efficiency", row.efficiency);
  enter("own_speed_up", row.own_speed_up);
  return object;
}

bool looks_like_study_jacobi(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with(first_words);
}

}  // namespace heddle::driver
