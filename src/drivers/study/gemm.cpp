#include "drivers/study/gemm.hpp"

#include "drivers/gemm/trace.hpp"
#include "drivers/study/gemm_table.hpp"
#include "drivers/study/table.hpp"
#include "drivers/support/matrices.hpp"
#include "drivers/support/product_check.hpp"
#include "drivers/support/rates.hpp"
#include "drivers/support/scalars.hpp"
#include "drivers/support/text.hpp"
#include <heddle/core/pending_file.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

struct Options {
  std::vector<Index> sizes;
  Index largest = 0;
  std::vector<Index> tiles;
  std::vector<std::string> placements = {"bands", "whole"};
  std::vector<std::string> scalars = {"double"};
  int bands_per_pass = 0;
  int repeat = 3;
  double nominal = 0.0;
  std::vector<std::string> join;
  std::string output = "study_gemm.csv";
  std::string plot;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--largest", &Options::largest, Integer{.least = 1},
       "Orders from 256 to this, doubling; without it 2048, on a GPU 16384"},
      {"--sizes", &Options::sizes, Integer{.least = 1, .type_name = "N,N,..."}, "These orders instead"},
      {"--tiles", &Options::tiles, Integer{.least = 1, .type_name = "N,N,..."},
       "Tiles, beside the one that the tile model chooses; without it four a size, of an eighth of it to all"},
      {"--placements", &Options::placements, choice({"bands", "whole", "one", "blocks", "host"}, "NAME,..."),
       "bands: A and C in bands of rows, B of columns; whole: A, B and C on ranks 2, 1 and 0; one: all on rank 0; "
       "blocks: all in blocks of 64 x 64; host: as bands, in host memory"},
      {"--scalars", &Options::scalars, choice({"double", "float", "complex-double", "complex-float"}, "TYPE,..."),
       "Scalar types"},
      {"--bands-per-pass",
       &Options::bands_per_pass,
       Integer{.least = 1},
       "Bands of A that a rank holds while those of B pass once: 1 is the published algorithm",
       {.otherwise = "as many as the workspace takes"}},
      {"--repeat", &Options::repeat, Integer{.least = 1}, "Products of each; the one with the median time is kept"},
      {"--nominal",
       &Options::nominal,
       Number{.least = 1e-3},
       "Nominal GFLOP/s of one rank's device, for its share in the table",
       {.otherwise = "no such share"}},
      {"--join", &Options::join, Text{"CSV,..."}, "Tables of other runs, on other ranks or machines, to append"},
      {"--output,-o", &Options::output, Text{"CSV"}, "Table to write"},
      {"--plot", &Options::plot, Text{"PNG"}, "Picture to draw of it (heddle plot draws it too)"},
  };
  return table;
}

struct Places {
  std::string a, b, c;
};
Places places_of(const std::string& name, int ranks) {
  const auto on = [&](int rank) { return "rank:" + std::to_string(std::min(rank, ranks - 1)); };
  if (name == "whole") return {on(2), on(1), on(0)};
  if (name == "one") return {on(0), on(0), on(0)};
  if (name == "blocks") return {"cyclic:64x64", "cyclic:64x64", "cyclic:64x64"};
  if (name == "host") return {"host:rows", "host:columns", "host:rows"};
  return {"rows", "columns", "rows"};
}

// What all products share.
struct Kept {
  std::string device;
  double worst_check = 0.0;  // In units of its bound.
};

// The products of one size, placement and scalar type.
template <Scalar T> class Products {
 public:
  Products(const Context& context, const Options& options, std::string scalar, std::string placement, Index size,
           const MachineRates& rates)
      : context_(context),
        options_(options),
        scalar_(std::move(scalar)),
        placement_(std::move(placement)),
        rates_(rates) {
    const Communicator& comm = context.comm();
    const Places places = places_of(placement_, comm.size());
    A_ = random_matrix<T>(comm, size, size, places.a, 1);
    B_ = random_matrix<T>(comm, size, size, places.b, 2);
    C_ = DistributedMatrix<T>(comm, placement_from(places.c, size, size, comm.size()), "C");
  }

  // By rising tile.
  [[nodiscard]] std::vector<StudyGemmRow> rows(Kept& kept, const std::function<void()>& step) {
    const ProductCheck<T> check(Operation::none, T(1), A_, Operation::none, B_, T(0), C_);
    std::vector<StudyGemmRow> found = {row(0, kept)};
    kept.worst_check = larger(kept.worst_check, check.value(C_) / check.bound());
    step();
    for (const Index tile : other_tiles(found.front().report.tile)) {
      found.push_back(row(tile, kept));
      kept.worst_check = larger(kept.worst_check, check.value(C_) / check.bound());
      step();
    }
    std::sort(found.begin(), found.end(),
              [](const StudyGemmRow& one, const StudyGemmRow& other) { return one.report.tile < other.report.tile; });
    return found;
  }

 private:
  [[nodiscard]] Index size() const { return C_.rows(); }

  [[nodiscard]] std::set<Index> other_tiles(Index chosen) const {
    std::set<Index> tiles(options_.tiles.begin(), options_.tiles.end());
    if (tiles.empty()) {
      for (const Index part : {8, 4, 2, 1}) tiles.insert(std::max<Index>(1, size() / part));
    }
    tiles.erase(chosen);
    return tiles;
  }

  [[nodiscard]] GemmPlan<T> plan(Index tile, bool record_timeline) const {
    GemmOptions options;
    options.tile = tile;
    options.rates = rates_;
    options.bands_per_pass = options_.bands_per_pass;
    options.record_timeline = record_timeline;
    return GemmPlan<T>(context_.comm(), Operation::none, A_.placement(), Operation::none, B_.placement(),
                       C_.placement(), options);
  }

  // `tile` 0: the model's.
  [[nodiscard]] StudyGemmRow row(Index tile, const Kept& kept) const {
    const Communicator& comm = context_.comm();
    StudyGemmRow row;
    row.device = kept.device;
    row.ranks = comm.size();
    row.scalar = scalar_;
    row.placement = placement_;
    row.size = size();
    row.chosen = tile == 0;
    GemmPlan<T> planned = plan(tile, false);
    planned.execute(T(1), A_, B_, T(0), C_);
    std::vector<GemmReport> reports;
    for (int k = 0; k < options_.repeat; ++k) reports.push_back(planned.execute(T(1), A_, B_, T(0), C_));
    std::sort(reports.begin(), reports.end(),
              [](const GemmReport& one, const GemmReport& other) { return one.seconds < other.seconds; });
    row.report = reports[reports.size() / 2];
    row.bounds = tile_bounds(
        rates_, {size(), size(), size(), comm.size(), static_cast<int>(sizeof(T)), flops_per_multiply_add<T>});
    row.peak_share = row.report.gflops * 1e9 / (comm.size() * rates_.peak_flops());
    if (options_.nominal > 0.0) row.nominal_share = row.report.gflops / (comm.size() * options_.nominal);
    if (comm.size() > 1) {
      // Once more, since a timeline takes time to record.
      GemmPlan<T> recorded = plan(tile, true);
      recorded.execute(T(1), A_, B_, T(0), C_);
      const std::vector<Timeline> timelines = gather_timelines(comm, recorded.timeline());
      if (anything_travelled(timelines)) row.hidden_share = overall_hidden_share(timelines);
    }
    return row;
  }

  const Context& context_;
  const Options& options_;
  std::string scalar_;
  std::string placement_;
  const MachineRates& rates_;
  DistributedMatrix<T> A_, B_, C_;
};

std::string shown(const std::optional<double>& value, double times, const char* pattern) {
  return value ? format(pattern, times * *value) : format("%9s", "-");
}

std::string line_of(const StudyGemmRow& row) {
  return format("%-14s  %-7s  %6lld  %6lld%s", row.scalar.c_str(), row.placement.c_str(),
                static_cast<long long>(row.size), static_cast<long long>(row.report.tile), row.chosen ? "*" : " ") +
         format("  %9.3g", row.report.seconds) + shown(row.report.predicted_seconds, 1.0, "  %9.3g") +
         format("  %9.4g  %6.1f", row.report.gflops, 100 * row.peak_share) + shown(row.hidden_share, 100.0, "  %7.1f");
}

std::vector<StudyGemmRow> all_rows(const Context& context, const Options& options, Kept& kept) {
  Progress progress = context.progress("study");
  // By flops, of which nearly all are those of the largest sizes.
  double total = 0.0;
  const auto cost = [](Index size) { return std::pow(static_cast<double>(size), 3); };
  for (const Index size : options.sizes) total += cost(size);
  total *= static_cast<double>(options.scalars.size() * options.placements.size());
  double done = 0.0;
  std::vector<StudyGemmRow> rows;
  for (const std::string& scalar : options.scalars) {
    with_scalar(scalar, [&]<class T>() {
      const MachineRates rates = known_rates<T>(context);
      for (const std::string& placement : options.placements) {
        for (const Index size : options.sizes) {
          const std::string note = scalar + ", " + placement + ", n = " + std::to_string(size);
          progress.update(done / total, note);
          Products<T> products(context, options, scalar, placement, size, rates);
          for (StudyGemmRow& row : products.rows(kept, [&] { progress.update(done / total, note); })) {
            rows.push_back(std::move(row));
          }
          done += cost(size);
        }
      }
    });
  }
  progress.finish();
  return rows;
}

void complete(Options& options) {
  if (options.sizes.empty()) {
    if (options.largest == 0) options.largest = on_host ? 2048 : 16384;
    for (Index size = 256; size <= options.largest; size *= 2) options.sizes.push_back(size);
    require(!options.sizes.empty(), "--largest ", options.largest, ": expected at least 256, or --sizes");
  }
  std::sort(options.sizes.begin(), options.sizes.end());
}

int run(Context& context, Options options) {
  complete(options);
  const Communicator& comm = context.comm();
  std::vector<std::string> joined;
  comm.on_rank(0, [&] {
    const PendingFile probe(options.output);
    if (!options.plot.empty()) {
      const PendingFile probe_of_picture(options.plot);
    }
    for (const std::string& path : options.join) {
      for (std::string& row : joined_rows(path)) joined.push_back(std::move(row));
    }
  });
  auto report = context.report("study");
  report.inputs()["study"] = "gemm";
  all_options().enter(options, report.inputs());

  Kept kept;
  kept.device = device_of(context);
  // A comma ends a cell.
  std::replace(kept.device.begin(), kept.device.end(), ',', ';');
  const std::vector<StudyGemmRow> rows = all_rows(context, options, kept);

  comm.on_rank(0, [&] { write_rows(options.output, rows, joined); });
  context.say(
      "scalar          place     size    tile    seconds  predicted    GFLOP/s  % peak  % hidden   (* the model's "
      "tile)");
  auto& list = report.results()["rows"] = nlohmann::ordered_json::array();
  for (const StudyGemmRow& row : rows) {
    context.say(line_of(row));
    list.push_back(as_json(row));
  }
  report.check_at_most("product_over_bound", kept.worst_check, 1.0);
  context.say("table written to " + options.output);
  if (!options.plot.empty()) {
    comm.on_rank(0, [&] { draw(study_gemm_picture, options.output, options.plot); });
    report.results()["plot"] = options.plot;
    context.say("picture written to " + options.plot);
  }
  return context.finish(report);
}

}  // namespace

void add_study_gemm(CLI::App& study, Selection& selection) {
  add_command(study, selection,
              {"gemm", "The distributed product by size, tile, placement and scalar type, beside the tile model",
               "  mpirun -n 2 heddle study gemm --largest 1024 -o two.csv\n"
               "  heddle study gemm --largest 1024 --join two.csv --plot gemm.png\n"
               "Columns memory_bound and transfer_bound are the lower bounds on the tile, equations (6) and (8) of "
               "Choi and Stegailov (2022)."},
              all_options(), run);
}

}  // namespace heddle::driver
