// `heddle predict`: the time of a product or an exponential on a cluster, from the tile model alone.
#include "drivers/predict/predict.hpp"

#include "drivers/commands.hpp"
#include "drivers/gemm/options.hpp"
#include "drivers/predict/machines.hpp"
#include "drivers/search/search_settings.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/option_kinds.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>
#include <heddle/expm/predict.hpp>
#include <heddle/gemm/predict.hpp>
#include <heddle/tuning/rates.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <optional>
#include <vector>

namespace heddle::driver {
namespace {

constexpr const char* first_words = "# heddle predict";
// Largest number of ranks in the tables of scaling.
constexpr int most_ranks_of_sweep = 1024;

struct Options {
  int nodes = 1;
  int ranks_per_node = 8;
  bool on_gpus = true;
  Index size = -1, rows = -1, columns = -1, inner = -1;
  double norm = -1;  // Norm of an exponential's matrix.
  std::string scalar = "double";
  Arithmetic arithmetic = Arithmetic::native;
  long long tile = 0;
  TileChoice choice = TileChoice::model;
  ProcessGrid grid;
  int layers = 0;
  int bands_per_pass = 0;
  std::string place_a = "rows", place_b = "columns", place_c = "rows";
  std::string rates = "h200:50";
  Index memory = 0;  // Of a rank's device; 0: as the machine has it.
  bool sweep = false;
  std::string output, plot;

  [[nodiscard]] bool is_of_product() const { return norm < 0; }
};

const OptionTable<Options>& cluster_options() {
  static const OptionTable<Options> table = {
      {"--nodes", &Options::nodes, Integer{.least = 1, .most = most_ranks_predicted}, "Number of nodes"},
      {"--gpus-per-node,--ranks-per-node", &Options::ranks_per_node, Integer{.least = 1, .most = most_ranks_predicted},
       "Ranks of a node: one for each of its GPUs"},
      {"--gpus,!--cpus", &Options::on_gpus, Flag{},
       "Ranks are GPUs (or CPU threads): which decides how tiles are chosen, and wants rates of the same kind"},
      {"--scalar", &Options::scalar, scalar_kind(), scalar_help},
      {"--arithmetic", &Options::arithmetic, arithmetic_kind(),
       "native, emulated, or auto: what is predicted to be faster"},
      {"--tile", &Options::tile, Tile{}, "Tile size N_i; auto: chosen by the tile model"},
      {"--grid", &Options::grid, Grid{}, "Ranks as a grid; auto: chosen by the tile model"},
      {"--rates", &Options::rates, Text{.type_name = "FILE|NAME:GB", .may_be_empty = false},
       "Rates of the machine: a file that heddle tune kept; or those of a GPU in a server, with so many GB/s for each "
       "between nodes: h200 as measured, a100, h100 or mi250x (one of its two dies) by the vendor's figures, which no "
       "machine exceeds; also a100:tensor and a100:plain, in one server"},
      {"--memory",
       &Options::memory,
       Bytes{},
       "Memory of a rank's device",
       {.otherwise = "that of the GPU that --rates names; a file's is not known"}},
      {"--sweep", &Options::sweep, Flag{},
       "From one node to 1024 ranks: the same product (strong scaling), and with as much memory a rank (weak)"},
      {"--output,-o", &Options::output, Text{"CSV"}, "Table of the sweep to write", {.needs = "--sweep"}},
      {"--plot", &Options::plot, Text{"PNG"}, "Picture of the sweep to write", {.needs = "--sweep"}},
  };
  return table;
}

const OptionTable<Options>& product_options() {
  static const OptionTable<Options> table =
      OptionTable<Options>{
          {"--size", &Options::size, Integer{.least = 1}, "Order of square matrices"},
          {"--rows", &Options::rows, Integer{.least = 1}, "Instead: rows of C"},
          {"--columns", &Options::columns, Integer{.least = 1}, "... columns of C"},
          {"--inner", &Options::inner, Integer{.least = 1}, "... inner dimension"},
          {"--layers", &Options::layers, Layers{}, layers_help},
          {"--choice", &Options::choice, tile_choice_kind(), tile_choice_help},
          {"--bands-per-pass",
           &Options::bands_per_pass,
           Integer{.least = 1},
           "Bands of A that a rank holds while those of B pass once: 1 is the published algorithm",
           {.otherwise = "as many as the workspace takes"}},
          {"--place-a", &Options::place_a, Text{"WHERE"},
           "Placement of A: rows, columns, rank:R or cyclic:RxC[:PxQ]; host: before it for host memory"},
          {"--place-b", &Options::place_b, Text{"WHERE"}, "Placement of B"},
          {"--place-c", &Options::place_c, Text{"WHERE"}, "Placement of C"},
      }
          .include(itself, cluster_options());
  return table;
}

const OptionTable<Options>& exponential_options() {
  static const OptionTable<Options> table =
      OptionTable<Options>{
          {"--size", &Options::size, Integer{.least = 1}, "Order of the matrix"},
          {"--norm", &Options::norm, Number{.least = 0},
           "What takes the place of ||A||, as in the report of heddle expm (alpha): at most the 1-norm"},
      }
          .include(itself, cluster_options());
  return table;
}

// One prediction of a sweep, or the only one.
struct Row {
  std::string scaling;
  ClusterShape cluster;
  Index rows, columns, inner;
  GemmPrediction found;  // For an exponential: its total time, bytes and memory; the other members are of one product.
  std::optional<ExpmPrediction> exponential = {};
  double peak = 0.0;  // Peak flops per second of a rank, by the rates.
  TileBounds bounds = {};
  Index published_tile = 0;

  [[nodiscard]] int ranks() const { return cluster.nodes * cluster.ranks_per_node; }
};

// Bytes of a rank's device; 0: not known.
double device_memory(const Options& options, const Machine& machine) {
  return options.memory > 0 ? static_cast<double>(options.memory) : machine.memory;
}

template <Scalar T> Row predicted(const Options& options, const Machine& machine, int nodes, double growth) {
  const MachineRates& rates = machine.rates;
  // Growing extents are multiples of the number of ranks, as users would choose them.
  const Index ranks = Index{nodes} * options.ranks_per_node;
  const auto grown = [&](Index own) {
    const Index extent = own > 0 ? own : options.size;
    const double wanted = static_cast<double>(extent) * growth;
    return growth == 1.0 ? extent : ranks * std::max<Index>(1, std::llround(wanted / static_cast<double>(ranks)));
  };
  Row row{"",
          {nodes, options.ranks_per_node, options.on_gpus},
          grown(options.rows),
          grown(options.columns),
          grown(options.inner),
          {}};
  GemmOptions settings;
  settings.tile = options.tile;
  settings.choice = options.choice;
  settings.bands_per_pass = options.bands_per_pass;
  settings.grid = options.grid;
  settings.layers = options.layers;
  settings.arithmetic = options.arithmetic;
  // Bands take an eighth of a device by default; predictions assume one of 128 GiB.
  constexpr double gibibytes_16 = 0x1p34;
  if (const double share = device_memory(options, machine) / 8.0; share > 0.0 && share < gibibytes_16) {
    settings.workspace_bytes = static_cast<std::size_t>(share);
  }
  if (options.is_of_product()) {
    const auto placed = [&](const std::string& where, Index rows, Index columns) {
      return placement_from(where, rows, columns, row.ranks());
    };
    row.found = predict_gemm<T>(row.cluster, placed(options.place_a, row.rows, row.inner),
                                placed(options.place_b, row.inner, row.columns),
                                placed(options.place_c, row.rows, row.columns), rates, settings);
    const ProductShape shape{row.rows, row.columns, row.inner, row.ranks(), sizeof(T), flops_per_multiply_add<T>};
    row.bounds = tile_bounds(rates, shape);
    row.published_tile = published_tile(rates, shape);
    row.peak = rates.peak_flops();
    return row;
  }
  ExpmOptions exponential;
  exponential.gemm = settings;
  row.exponential = predict_expm<Real<T>>(row.cluster, row.rows, options.norm, is_complex<T>, rates, exponential);
  row.found = row.exponential->product;
  row.found.seconds = row.exponential->seconds;
  row.found.gflops = row.exponential->gflops;
  row.found.bytes_received = row.exponential->bytes_received;
  row.found.bytes_between_nodes = row.exponential->bytes_between_nodes;
  row.found.memory_bytes = row.exponential->memory_bytes;
  row.found.planning_seconds = row.exponential->planning_seconds;
  return row;
}

nlohmann::ordered_json json_of(const Row& row) {
  const GemmPrediction& found = row.found;
  nlohmann::ordered_json results = {{"seconds", found.seconds},
                                    {"gflops", found.gflops},
                                    {"hidden_share", found.hidden_share},
                                    {"bottleneck", to_string(found.bottleneck)},
                                    {"tile", found.tile},
                                    {"grid", Grid::show(found.grid)},
                                    {"layers", found.layers},
                                    {"bands_per_pass", found.bands_per_pass},
                                    {"arithmetic", option_name(found.arithmetic)},
                                    {"bytes_received", found.bytes_received},
                                    {"bytes_between_nodes", found.bytes_between_nodes},
                                    {"memory_bytes", found.memory_bytes},
                                    {"planning_seconds", found.planning_seconds},
                                    {"nodes", row.cluster.nodes},
                                    {"ranks", row.ranks()},
                                    {"rows", row.rows},
                                    {"columns", row.columns},
                                    {"inner", row.inner}};
  if (!row.exponential) {
    results["peak_share"] = found.gflops * 1e9 / (row.ranks() * row.peak);
    if (row.bounds.memory) results["memory_bound"] = *row.bounds.memory;
    results["transfer_bound"] = row.bounds.transfer;
    results["published_tile"] = row.published_tile;
  }
  if (row.exponential) {
    results["products"] = row.exponential->products;
    results["degree"] = row.exponential->degree;
    results["squarings"] = row.exponential->squarings;
    results["product_seconds"] = row.exponential->product.seconds;
    results["between_seconds"] = row.exponential->between_seconds;
  }
  return results;
}

// Return the rate of a rank over that of a rank of the first row of the same scaling.
double efficiency(const std::vector<Row>& rows, const Row& row) {
  for (const Row& first : rows) {
    if (first.scaling == row.scaling) return row.found.gflops / row.ranks() / (first.found.gflops / first.ranks());
  }
  return 0;
}

void write_table(const std::string& path, const Options& options, const std::vector<Row>& rows) {
  PendingStream file(path);
  file << first_words << ": heddle " << version() << " (" << git_hash() << ")\n# rates: " << options.rates
       << "\n# scalar: " << options.scalar << "\n# arithmetic: " << option_name(options.arithmetic) << '\n'
       << "scaling,nodes,ranks,rows,columns,inner,seconds,gflops,efficiency,hidden_share,bottleneck,tile,grid,layers,"
          "bytes_between_nodes,memory_bytes\n";
  for (const Row& row : rows) {
    const GemmPrediction& found = row.found;
    file << row.scaling << ',' << row.cluster.nodes << ',' << row.ranks() << ',' << row.rows << ',' << row.columns
         << ',' << row.inner << ',' << shortest(found.seconds) << ',' << shortest(found.gflops) << ','
         << shortest(efficiency(rows, row)) << ',' << shortest(found.hidden_share) << ',' << to_string(found.bottleneck)
         << ',' << found.tile << ',' << Grid::show(found.grid) << ',' << found.layers << ','
         << shortest(found.bytes_between_nodes) << ',' << shortest(found.memory_bytes) << '\n';
  }
  file.commit();
}

// A line, which is seen at once: the next prediction may take a while.
void say(const CommonOptions& common, const std::string& line) {
  if (!common.quiet) std::cout << line << std::endl;
}

// Return true if a rank's device holds what the row takes, or its memory is not known.
bool fits_device(const Options& options, const Machine& machine, const Row& row) {
  const double memory = device_memory(options, machine);
  return memory == 0.0 || row.found.memory_bytes <= memory;
}

// Throw Error(argument), which says what fits, if a rank's device does not hold what the row takes.
template <Scalar T> void require_memory(const Options& options, const Machine& machine, const Row& row) {
  constexpr int most_trials = 40;
  const double limit = device_memory(options, machine);
  const auto fits = [&](const Row& one) { return fits_device(options, machine, one); };
  if (fits(row)) return;
  std::string advice;
  double growth = std::sqrt(limit / row.found.memory_bytes);
  for (int trial = 0; trial < most_trials && advice.empty(); ++trial, growth *= 0.97) {
    const Row smaller = predicted<T>(options, machine, row.cluster.nodes, growth);
    if (!fits(smaller)) continue;
    const auto number = [](Index extent) { return std::to_string(extent); };
    advice = row.exponential || options.size > 0 ? "--size " + number(smaller.rows)
                                                 : "--rows " + number(smaller.rows) + " --columns " +
                                                       number(smaller.columns) + " --inner " + number(smaller.inner);
  }
  double nodes = row.cluster.nodes * std::ceil(row.found.memory_bytes / limit);
  std::string more;
  for (int trial = 0; options.grid == ProcessGrid{} && more.empty() && trial < most_trials; ++trial, nodes *= 1.25) {
    const int count = static_cast<int>(std::ceil(nodes));
    if (Index{count} * row.cluster.ranks_per_node > most_ranks_of_sweep) break;
    if (fits(predicted<T>(options, machine, count, 1.0))) more = "--nodes " + std::to_string(count);
  }
  if (!more.empty()) advice += (advice.empty() ? "" : ", or ") + more;
  throw Error(ErrorKind::argument, format("predict %s: a rank needs %.4g GB, and its device has %.4g GB (--memory); %s",
                                          row.exponential ? "expm" : "gemm", row.found.memory_bytes / 1e9, limit / 1e9,
                                          advice.empty() ? "take more nodes" : (advice + " would fit").c_str()));
}

void show(const CommonOptions& common, const Row& row) {
  const GemmPrediction& found = row.found;
  const std::string what = row.exponential
                               ? format("exp(A) of order %lld", static_cast<long long>(row.rows))
                               : format("C of %lld x %lld, inner dimension %lld", static_cast<long long>(row.rows),
                                        static_cast<long long>(row.columns), static_cast<long long>(row.inner));
  say(common, format("%d rank%s on %d node%s: %s", row.ranks(), row.ranks() == 1 ? "" : "s", row.cluster.nodes,
                     row.cluster.nodes == 1 ? "" : "s", what.c_str()));
  say(common, format("  predicted %.4g s, %.4g GFLOP/s (%.4g a rank), %s products", found.seconds, found.gflops,
                     found.gflops / row.ranks(), option_name(found.arithmetic).c_str()));
  if (const auto& exponential = row.exponential) {
    say(common, format("  degree %d, %d squaring%s: %d real products of %.4g s, and %.4g s between them",
                       exponential->degree, exponential->squarings, exponential->squarings == 1 ? "" : "s",
                       exponential->products, exponential->product.seconds, exponential->between_seconds));
  }
  say(common, format("  grid %s, %d layer%s, tile %lld, %d bands a pass", Grid::show(found.grid).c_str(), found.layers,
                     found.layers == 1 ? "" : "s", static_cast<long long>(found.tile), found.bands_per_pass));
  if (!row.exponential) {
    const std::string memory = row.bounds.memory ? std::to_string(*row.bounds.memory) : "none";
    say(common, format("  published tile %lld, by bounds of memory (%s) and transfers (%lld); %.3g %% of the peak",
                       static_cast<long long>(row.published_tile), memory.c_str(),
                       static_cast<long long>(row.bounds.transfer), 1e11 * found.gflops / (row.ranks() * row.peak)));
  }
  say(common, format("  %.3g %% of what travels is hidden; most to do: %s", 100 * found.hidden_share,
                     to_string(found.bottleneck).c_str()));
  say(common, format("  %.4g GB between nodes of %.4g GB between ranks; %.4g GB of memory a rank",
                     found.bytes_between_nodes / 1e9, found.bytes_received / 1e9, found.memory_bytes / 1e9));
  say(common, format("  planned in %.3g s", found.planning_seconds));
}

template <Scalar T>
std::vector<Row> swept(const CommonOptions& common, const Options& options, const Machine& machine) {
  std::vector<Row> rows;
  for (const char* scaling : {"strong", "weak"}) {
    say(common, format("%s scaling\n  ranks       rows     seconds     GFLOP/s  efficiency  hidden      grid  layers   "
                       " tile  most to do",
                       scaling));
    for (int nodes = 1; nodes * options.ranks_per_node <= most_ranks_of_sweep; nodes *= 2) {
      const double growth = scaling == std::string("weak") ? std::sqrt(static_cast<double>(nodes)) : 1.0;
      Row row = predicted<T>(options, machine, nodes, growth);
      row.scaling = scaling;
      const GemmPrediction& found = row.found;
      if (!fits_device(options, machine, row)) {
        say(common,
            format("%7d %10lld  left out: a rank needs %.4g GB and has %.4g", row.ranks(),
                   static_cast<long long>(row.rows), found.memory_bytes / 1e9, device_memory(options, machine) / 1e9));
        continue;
      }
      rows.push_back(row);
      say(common, format("%7d %10lld %11.4g %11.4g %10.1f%% %6.1f%% %9s %7d %7lld  %s", row.ranks(),
                         static_cast<long long>(row.rows), found.seconds, found.gflops, 100 * efficiency(rows, row),
                         100 * found.hidden_share, Grid::show(found.grid).c_str(), found.layers,
                         static_cast<long long>(found.tile), to_string(found.bottleneck).c_str()));
    }
  }
  require(!rows.empty(), "predict: no number of nodes up to ", most_ranks_of_sweep, " ranks holds these matrices");
  return rows;
}

template <Scalar T> int run_as(const CommonOptions& common, const Options& options) {
  const bool exponential = !options.is_of_product();
  Report report(exponential ? "predict expm" : "predict gemm");
  (exponential ? exponential_options() : product_options()).enter(options, report.inputs());
  // Exponentials of complex matrices consist of real products.
  const int ranks = options.sweep ? most_ranks_of_sweep : options.nodes * options.ranks_per_node;
  const Machine machine = exponential ? machine_of<Real<T>>(options.rates, options.on_gpus, ranks)
                                      : machine_of<T>(options.rates, options.on_gpus, ranks);
  if (!machine.origin.empty()) {
    say(common, "rates by " + machine.origin + ", which no machine exceeds; heddle tune measures a machine's own");
    report.results()["rates_origin"] = machine.origin;
  }
  if (!options.sweep) {
    const Row row = predicted<T>(options, machine, options.nodes, 1.0);
    require_memory<T>(options, machine, row);
    report.results().update(json_of(row));
    show(common, row);
  } else {
    const std::vector<Row> rows = swept<T>(common, options, machine);
    auto& list = report.results()["rows"] = nlohmann::ordered_json::array();
    for (const Row& row : rows) {
      list.push_back(json_of(row));
      list.back()["scaling"] = row.scaling;
      list.back()["efficiency"] = efficiency(rows, row);
    }
    if (!options.output.empty()) write_table(options.output, options, rows);
    if (!options.plot.empty()) {
      // The picture is drawn from the table, which is temporary unless it was asked for.
      const PendingFile own(options.plot + ".csv");
      const std::string table = options.output.empty() ? own.path().string() : options.output;
      if (options.output.empty()) write_table(table, options, rows);
      draw(prediction_picture, table, options.plot);
    }
  }
  report.write(common);
  return exit_done;
}

int run_checked(const CommonOptions& common, const Options& options) {
  const char* const command = options.is_of_product() ? "predict gemm" : "predict expm";
  require(!options.sweep || options.grid == ProcessGrid{}, command, ": --sweep chooses the grids itself");
  require(!options.sweep || options.ranks_per_node <= most_ranks_of_sweep, command, ": --sweep goes to ",
          most_ranks_of_sweep, " ranks; a node has ", options.ranks_per_node);
  return with_scalar(options.scalar, [&]<class T>() { return run_as<T>(common, options); });
}

int run_gemm(const CommonOptions& common, const Options& options) {
  const bool all = options.rows > 0 && options.columns > 0 && options.inner > 0;
  const bool any = options.rows > 0 || options.columns > 0 || options.inner > 0;
  require(options.size > 0 ? !any : all, "predict gemm: give --size, or --rows, --columns and --inner");
  require_tile_choice(options.choice, options.tile, options.arithmetic);
  return run_checked(common, options);
}

int run_expm(const CommonOptions& common, const Options& options) {
  require(options.size > 0, "predict expm: give --size");
  require(!options.is_of_product(), "predict expm: give --norm");
  return run_checked(common, options);
}

}  // namespace

bool looks_like_prediction(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with(first_words);
}

void add_predict(CLI::App& app, Selection& selection) {
  CLI::App& predict = *app.add_subcommand("predict", "What a cluster that is not here would take, by the tile model");
  predict.require_subcommand(1);
  add_command(predict, selection,
              {"gemm", "C = A B over the GPUs of many nodes: time, grid, tile, bytes and memory",
               "  heddle predict gemm --nodes 16 --gpus-per-node 4 --size 65536 --rates h200:50\n"
               "  heddle predict gemm --size 32768 --sweep --plot scaling.png\n"
               "  heddle predict gemm --size 90000 --rates a100:tensor --choice published --bands-per-pass 1"},
              product_options(), run_gemm);
  add_command(predict, selection,
              {"expm", "exp(A) over the GPUs of many nodes: products, time, grid, tile, bytes and memory",
               "  heddle predict expm --nodes 16 --gpus-per-node 4 --size 65536 --norm 10 --rates h200:50\n"
               "  heddle predict expm --size 32768 --norm 10 --scalar complex-double --sweep --plot scaling.png"},
              exponential_options(), run_expm);
}

}  // namespace heddle::driver
