// The table of `heddle study gemm`.
#include "studies/gemm/gemm_table.hpp"

#include "drivers/gemm/options.hpp"
#include "drivers/support/options/option_kinds.hpp"
#include "studies/gemm/gemm.hpp"

namespace heddle::driver {

bool looks_like_study_gemm(const std::filesystem::path& path) {
  return study_gemm_table.is(path);
}

nlohmann::ordered_json as_json(const StudyGemmRow& row) {
  nlohmann::ordered_json object = {
      {"device", row.device},          {"ranks", row.ranks},         {"method", row.method}, {"scalar", row.scalar},
      {"math", option_name(row.math)}, {"placement", row.placement}, {"size", row.size},     {"tile", row.report.tile},
      {"chosen", row.chosen}};
  const auto enter = [&](const char* name, const auto& value) {
    if (value) object[name] = *value;
  };
  if (row.report.grid.rows > 0) object["grid"] = Grid::show(row.report.grid);
  if (row.is_ours()) object["bands_per_pass"] = row.report.bands_per_pass;
  object["seconds"] = row.report.seconds;
  enter("predicted_seconds", row.report.predicted_seconds);
  object["gflops"] = row.report.gflops;
  object["peak_gflops"] = row.peak / 1e9;
  object["peak_share"] = row.peak_share;
  enter("nominal_share", row.nominal_share);
  enter("hidden_share", row.hidden_share);
  if (row.bounds) {
    enter("memory_bound", row.bounds->memory);
    object["transfer_bound"] = row.bounds->transfer;
  }
  enter("published_tile", row.published_tile);
  if (row.is_ours()) object["bytes_received"] = row.report.bytes_received;
  return object;
}

}  // namespace heddle::driver
