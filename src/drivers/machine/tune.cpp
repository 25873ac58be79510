// `heddle tune`: measures the rates that the tile model needs on this machine, and stores them.
#include "drivers/commands.hpp"
#include "drivers/support/blas_hint.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/rates.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/gemm/tile_model.hpp>
#include <heddle/tuning/rates.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::driver {
namespace {

struct Options {
  std::string scalar = "double";
  double seconds = 2.0;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--scalar", &Options::scalar, scalar_kind(), scalar_help},
      {"--seconds", &Options::seconds, Number{.least = 0.2}, "Time to spend, about"},
  };
  return table;
}

template <Scalar T> int run_as(Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  auto report = context.report("tune");
  all_options().enter(options, report.inputs());

  Progress progress = context.progress("tune");
  const auto start = std::chrono::steady_clock::now();
  const MachineRates rates = measure_rates<T>(comm, options.seconds, [&](double share) { progress.update(share); });
  report.times()["measure"] = seconds_since(start);
  progress.finish();
  save_rates<T>(comm, rates);
  const std::string file = rates_file<T>(comm).string();

  context.say(format("tune: %s, %d rank%s, %d thread%s each", options.scalar.c_str(), comm.size(),
                     comm.size() == 1 ? "" : "s", comm.space().concurrency(),
                     comm.space().concurrency() == 1 ? "" : "s"));
  context.say(format("  local gemm        %10.4g GFLOP/s a rank", rates.peak_flops() / 1e9));
  if (!rates.emulated.empty()) {
    const auto& best = rates.emulated.back();
    context.say(format("  emulated gemm     %10.4g GFLOP/s a rank, in tiles of %lld", best.flops / 1e9,
                       static_cast<long long>(best.tile)));
  }
  context.say(format("  memory bandwidth  %10.4g GB/s a rank", rates.memory_bandwidth / 1e9));
  context.say(comm.size() > 1 ? format("  link bandwidth    %10.4g GB/s a rank, latency %.3g us",
                                       rates.link_bandwidth / 1e9, rates.latency * 1e6)
                              : std::string("  link bandwidth    none measured with one rank"));
  if (rates.node_bandwidth > 0) {
    context.say(format("  between nodes     %10.4g GB/s a rank, of which products hide %.0f %%",
                       rates.node_bandwidth / 1e9, 100 * rates.node_overlap));
  }
  if (rates.host_bandwidth > 0) {
    context.say(format("  host memory       %10.4g GB/s to a rank's device, %.4g each way with both at once",
                       rates.host_bandwidth / 1e9, rates.host_bandwidth_both_ways / 1e9));
  }
  if (!rates.warm.empty()) {
    std::string tiles;
    for (const auto& point : rates.gemm) {
      tiles += format("%s%lld: %.0f %%", tiles.empty() ? "" : ", ", static_cast<long long>(point.tile),
                      100 * point.warm_flops / point.flops);
    }
    context.say(format("  warm, after %.1f s   of the first rate is left, by tile: %s", rates.warm.back().seconds,
                       tiles.c_str()));
  }
  context.say("        n   tile   (lower bounds: memory, exchange)");
  auto tiles = nlohmann::ordered_json::array();
  for (Index n = 1024; n <= 32768; n *= 2) {
    const TileBounds bounds =
        tile_bounds(rates, {n, n, n, comm.size(), static_cast<int>(sizeof(T)), flops_per_multiply_add<T>});
    // Tile of the plan for matrices in row bands, which is never executed.
    const Placement bands = Placement::row_bands(n, n, comm.size());
    GemmOptions gemm_options;
    gemm_options.rates = rates;
    const Index tile = GemmPlan<T>(comm, Operation::none, bands, Operation::none, bands, bands, gemm_options).tile();
    context.say(format("  %7lld  %5lld   (%s, %lld)", static_cast<long long>(n), static_cast<long long>(tile),
                       bounds.memory ? std::to_string(*bounds.memory).c_str() : "none",
                       static_cast<long long>(bounds.transfer)));
    tiles.push_back(
        {{"n", n},
         {"tile", tile},
         {"memory_bound", bounds.memory ? nlohmann::ordered_json(*bounds.memory) : nlohmann::ordered_json()},
         {"exchange_bound", bounds.transfer}});
  }
  if (const auto hint = blas_hint(); !hint.empty()) context.say(hint);
  context.say("kept in " + file);
  report.results() = json_of(rates);
  report.results()["tiles"] = tiles;
  report.results()["file"] = file;
  const bool sound = std::isfinite(rates.peak_flops()) && rates.peak_flops() > 0 && rates.memory_bandwidth > 0 &&
                     (comm.size() == 1 || rates.link_bandwidth > 0);
  report.check("rates_positive", sound, sound, true);
  return context.finish(report);
}

int run(Context& context, const Options& options) {
  return with_scalar(options.scalar, [&]<class T>() { return run_as<T>(context, options); });
}

}  // namespace

void add_tune(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"tune", "Measure this machine's rates, from which tiles are chosen, and keep them",
               "  mpirun -n 4 heddle tune --scalar double"},
              all_options(), run);
}

}  // namespace heddle::driver
