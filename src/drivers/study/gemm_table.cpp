#include "drivers/study/gemm_table.hpp"

#include "drivers/gemm/options.hpp"
#include "drivers/study/gemm.hpp"
#include "drivers/study/table.hpp"
#include <heddle/core/pending_file.hpp>

namespace heddle::driver {
namespace {

constexpr StudyTable table = {
    "gemm",
    "device,ranks,scalar,placement,size,tile,chosen,grid,bands_per_pass,seconds,predicted_seconds,gflops,peak_share,"
    "nominal_share,hidden_share,memory_bound,transfer_bound,bytes_received"};

}  // namespace

bool looks_like_study_gemm(const std::filesystem::path& path) {
  return table.is(path);
}
std::vector<std::string> joined_rows(const std::filesystem::path& path) {
  return table.rows_of(path);
}

void write_rows(const std::filesystem::path& path, const std::vector<StudyGemmRow>& rows,
                const std::vector<std::string>& joined) {
  PendingStream out(path);
  out.precision(9);
  out << table.beginning();
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
