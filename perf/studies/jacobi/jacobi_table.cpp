// The table of `heddle study jacobi`.
#include "studies/jacobi/jacobi_table.hpp"

#include "studies/jacobi/jacobi.hpp"
#include <heddle/core/error.hpp>

#include <charconv>
#include <set>
#include <sstream>

namespace heddle::driver {
namespace {

template <class Number> bool parse(const std::string& text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

// Return a line up to the cells that derive() adds.
std::string measured_cells(const std::string& line) {
  std::size_t end = line.size();
  for (int cell = 0; cell < 5; ++cell) end = line.rfind(',', end - 1);
  return line.substr(0, end);
}

}  // namespace

const StudyTable& jacobi_table() {
  static constexpr StudyTable table = {
      "jacobi",
      "device,scalar,matrix,backend,processors,method,order,seconds,sweeps,rotations,residual,deviation,speed_up,"
      "acceleration,cost,efficiency,own_speed_up"};
  return table;
}

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

void write_rows(const std::filesystem::path& path, const std::vector<JacobiRow>& rows,
                const std::vector<std::string>& joined) {
  std::vector<std::string> lines;
  std::set<std::string> there;
  for (const JacobiRow& row : rows) {
    std::ostringstream measured;
    measured.precision(9);
    measured << row.device << ',' << row.scalar << ',' << row.matrix << ',' << row.backend << ',' << row.processors
             << ',' << row.method << ',' << row.order << ',' << row.seconds << ',' << row.sweeps << ',' << row.rotations
             << ',' << row.residual << ',' << row.deviation;
    there.insert(measured.str());
    for (const auto& value : {row.speed_up, row.acceleration, row.cost, row.efficiency, row.own_speed_up}) {
      measured << ',';
      if (value) measured << *value;
    }
    lines.push_back(measured.str());
  }
  for (const std::string& line : joined) {
    if (!there.contains(measured_cells(line))) lines.push_back(line);
  }
  jacobi_table().write_lines(path, lines);
}

std::vector<JacobiRow> read_serial_rows(const std::filesystem::path& path, const std::string& matrix,
                                        const std::string& scalar) {
  const auto refuse = [&](const std::string& reason) { throw Error(ErrorKind::input, path.string() + reason); };
  std::vector<JacobiRow> rows;
  std::string other;
  for (const std::string& line : jacobi_table().rows_of(path)) {
    std::istringstream cells(line);
    std::vector<std::string> cell(12);
    for (std::string& one : cell) std::getline(cells, one, ',');
    JacobiRow row;
    row.device = cell[0];
    row.scalar = cell[1];
    row.matrix = cell[2];
    row.backend = cell[3];
    row.method = cell[5];
    if (!parse(cell[4], row.processors) || !parse(cell[6], row.order) || !parse(cell[7], row.seconds) ||
        !parse(cell[8], row.sweeps) || !parse(cell[9], row.rotations) || !parse(cell[10], row.residual) ||
        !parse(cell[11], row.deviation) || !(row.seconds > 0)) {
      refuse(": the row " + line + " has cells that are no numbers");
    }
    if (row.backend != "serial") continue;
    if (row.matrix != matrix) {
      other = ": was measured with --generate " + row.matrix + ", not " + matrix;
    } else if (row.scalar != scalar) {
      other = ": was measured with --scalar " + row.scalar + ", not " + scalar;
    } else {
      rows.push_back(row);
    }
  }
  if (rows.empty()) refuse(other.empty() ? ": has no rows of one thread (made with OMP_NUM_THREADS=1)" : other);
  return rows;
}

nlohmann::ordered_json as_json(const JacobiRow& row) {
  nlohmann::ordered_json object = {
      {"device", row.device},       {"scalar", row.scalar},         {"matrix", row.matrix},
      {"backend", row.backend},     {"processors", row.processors}, {"method", row.method},
      {"order", row.order},         {"seconds", row.seconds},       {"sweeps", row.sweeps},
      {"rotations", row.rotations}, {"residual", row.residual},     {"deviation", row.deviation}};
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
  return jacobi_table().is(path);
}

}  // namespace heddle::driver
