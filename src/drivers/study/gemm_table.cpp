#include "drivers/study/gemm_table.hpp"

#include "drivers/gemm/options.hpp"
#include "drivers/study/gemm.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>

#include <algorithm>
#include <fstream>
#include <string_view>

namespace heddle::driver {
namespace {

constexpr std::string_view first_words = "# heddle study gemm";
constexpr std::string_view header =
    "device,ranks,scalar,placement,size,tile,chosen,grid,bands_per_pass,seconds,predicted_seconds,gflops,peak_share,"
    "nominal_share,hidden_share,memory_bound,transfer_bound,bytes_received";

}  // namespace

bool looks_like_study_gemm(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with(first_words);
}

std::vector<std::string> joined_rows(const std::filesystem::path& path) {
  std::ifstream file(path);
  const auto refuse = [&](const std::string& reason) { throw Error(ErrorKind::input, path.string() + reason); };
  std::string line;
  if (!std::getline(file, line) || !line.starts_with(first_words)) refuse(": is no table of heddle study gemm");
  const auto commas = [](std::string_view text) { return std::count(text.begin(), text.end(), ','); };
  std::vector<std::string> rows;
  bool begun = false;
  for (int number = 2; std::getline(file, line); ++number) {
    if (line.starts_with('#')) continue;
    const std::string place = message_of(", line ", number, ": ");
    if (!begun) {
      if (line != header) refuse(place + "expected " + std::string(header));
      begun = true;
    } else {
      if (commas(line) != commas(header)) refuse(place + "expected a row of " + std::string(header));
      rows.push_back(line);
    }
  }
  if (rows.empty()) refuse(": has no rows");
  return rows;
}

void write_rows(const std::filesystem::path& path, const std::vector<StudyGemmRow>& rows,
                const std::vector<std::string>& joined) {
  PendingStream out(path);
  out.precision(9);
  out << first_words << ", heddle " << version() << " (" << git_hash() << ")\n" << header << '\n';
  const auto put = [&](const auto& value) {
    if (value) out << *value;
    out << ',';
  };
  for (const StudyGemmRow& row : rows) {
    out << row.device << ',' << row.ranks << ',' << row.scalar << ',' << row.placement << ',' << row.size << ','
        << row.report.tile << ',' << (row.chosen ? 1 : 0) << ',' << Grid::show(row.report.grid) << ','
        << row.report.bands_per_pass << ',' << row.report.seconds << ',';
    put(row.report.predicted_seconds);
    out << row.report.gflops << ',' << row.peak_share << ',';
    put(row.nominal_share);
    put(row.hidden_share);
    put(row.bounds.memory);
    out << row.bounds.transfer << ',' << row.report.bytes_received << '\n';
  }
  for (const std::string& line : joined) out << line << '\n';
  out.commit();
}

nlohmann::ordered_json as_json(const StudyGemmRow& row) {
  nlohmann::ordered_json object = {{"ranks", row.ranks},
                                   {"scalar", row.scalar},
                                   {"placement", row.placement},
                                   {"size", row.size},
                                   {"tile", row.report.tile},
                                   {"chosen", row.chosen},
                                   {"grid", Grid::show(row.report.grid)},
                                   {"seconds", row.report.seconds}};
  const auto enter = [&](const char* name, const auto& value) {
    if (value) object[name] = *value;
  };
  enter("predicted_seconds", row.report.predicted_seconds);
  object["gflops"] = row.report.gflops;
  object["peak_share"] = row.peak_share;
  enter("nominal_share", row.nominal_share);
  enter("hidden_share", row.hidden_share);
  enter("memory_bound", row.bounds.memory);
  object["transfer_bound"] = row.bounds.transfer;
  object["bytes_received"] = row.report.bytes_received;
  return object;
}

}  // namespace heddle::driver
