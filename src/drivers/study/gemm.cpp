#include "drivers/study/gemm.hpp"

#include "drivers/gemm/trace.hpp"
#include "drivers/study/gemm_peers.hpp"
#include "drivers/study/gemm_table.hpp"
#include "drivers/study/nominal.hpp"
#include "drivers/support/clock.hpp"
#include "drivers/support/matrices.hpp"
#include "drivers/support/matrix_options.hpp"
#include "drivers/support/product_check.hpp"
#include "drivers/support/rates.hpp"
#include "drivers/support/scalars.hpp"
#include "drivers/support/text.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

struct Options : StudyFiles {
  std::vector<Index> sizes;
  Index largest = 0;
  std::vector<Index> tiles;
  std::vector<std::string> placements = {"bands", "whole"};
  std::vector<std::string> scalars = {"double"};
  std::vector<std::string> math = {"auto"};
  std::vector<std::string> peers;
  int bands_per_pass = 0;
  int repeat = 3;
  double nominal = 0.0;
  bool check = true;

  Options() { output = "study_gemm.csv"; }
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = before_study_files<Options>({
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
      {"--math", &Options::math, choice({"auto", "tensor", "plain", "tf32"}, "NAME,..."), math_help},
      {"--peers",
       &Options::peers,
       choice(gemm_peers(), "NAME,..."),
       "The same products by other libraries, with the best of some blocks: cublasxt on the GPUs of one node, cublasmp "
       "on a GPU for each rank, scalapack and cosma on CPUs, where CMake found them",
       {.otherwise = "none"}},
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
       {.otherwise = "the vendor's figure for the mode, of GPUs that are known by their names"}},
      {"--check,!--no-check", &Options::check, Flag{},
       "Check each product against a random vector, by the threads of the host"},
  });
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

// Of the ranks' measured peak, and of their devices' nominal one where that is given or known.
void enter_shares(const Options& options, const MachineRates& rates, StudyGemmRow& row) {
  row.peak_share = row.report.gflops * 1e9 / (row.ranks * rates.peak_flops());
  const std::optional<double> nominal =
      options.nominal > 0.0 ? options.nominal : nominal_gflops(row.device, row.scalar, row.math);
  if (nominal) row.nominal_share = row.report.gflops / (row.ranks * *nominal);
}

// The products of one size, placement, scalar type and math mode.
template <Scalar T> class Products {
 public:
  // NOLINTNEXTLINE(readability-function-size): what a row is keyed by
  Products(const Context& context, const Options& options, std::string scalar, MathMode math, std::string placement,
           Index size, const MachineRates& rates)
      : context_(context),
        options_(options),
        scalar_(std::move(scalar)),
        math_(math),
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
    std::optional<ProductCheck<T>> check;
    if (options_.check) check.emplace(Operation::none, T(1), A_, Operation::none, B_, T(0), C_);
    const double mode_error = blas::added_error<T>(math_);
    const auto look = [&] {
      if (check) kept.worst_check = larger(kept.worst_check, check->value(C_, mode_error) / check->bound());
    };
    std::vector<StudyGemmRow> found = {row(0, kept)};
    look();
    step();
    for (const Index tile : other_tiles(found.front().report.tile)) {
      found.push_back(row(tile, kept));
      look();
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
    options.math = math_;
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
    row.math = math_;
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
    enter_shares(options_, rates_, row);
    if (comm.size() > 1) {
      // Once more, since a timeline takes time to record.
      GemmPlan<T> recorded = plan(tile, true);
      for (int k = 0; k < 2; ++k) recorded.execute(T(1), A_, B_, T(0), C_);
      const std::vector<Timeline> timelines = gather_timelines(comm, recorded.timeline());
      if (anything_travelled(timelines)) row.hidden_share = overall_hidden_share(timelines);
    }
    return row;
  }

  const Context& context_;
  const Options& options_;
  std::string scalar_;
  MathMode math_;
  std::string placement_;
  const MachineRates& rates_;
  DistributedMatrix<T> A_, B_, C_;
};

// One size of a peer's products: a row for each block, the fastest one marked.
template <Scalar T> class PeerProducts {
 public:
  PeerProducts(const Context& context, const Options& options, const MachineRates& rates)
      : context_(context), options_(options), rates_(rates) {}

  // Of the peer that has this name.
  [[nodiscard]] std::vector<StudyGemmRow> rows(const std::string& name, GemmPeer<T>& peer, const std::string& scalar,
                                               Index size, Kept& kept) const {
    const Communicator& comm = context_.comm();
    std::vector<StudyGemmRow> found;
    for (const Index block : peer.blocks(size)) {
      const std::string place = peer.place(block);
      const auto A = random_matrix<T>(comm, size, size, place, 1);
      const auto B = random_matrix<T>(comm, size, size, place, 2);
      const DistributedMatrix<T> C(comm, placement_from(place, size, size, comm.size()), "C");
      const std::function<void()> product = peer.product(block, A, B, C);
      if (!product) continue;
      std::optional<ProductCheck<T>> check;
      if (options_.check) check.emplace(Operation::none, T(1), A, Operation::none, B, T(0), C);
      StudyGemmRow row;
      row.device = kept.device;
      row.ranks = comm.size();
      row.method = name;
      row.scalar = scalar;
      row.placement = peer.placement();
      row.size = size;
      row.report.tile = block;
      row.report.grid = {C.placement().row_axis().processes, C.placement().column_axis().processes};
      row.report.seconds = median_seconds(product);
      row.report.gflops = flops_per_multiply_add<T> * std::pow(static_cast<double>(size), 3) / row.report.seconds / 1e9;
      enter_shares(options_, rates_, row);
      if (check) kept.worst_check = larger(kept.worst_check, check->value(C) / check->bound());
      found.push_back(std::move(row));
    }
    require(!found.empty(), "--peers ", name, ": takes no block of ", size, " x ", size, " matrices of type ", scalar);
    std::min_element(found.begin(), found.end(), [](const StudyGemmRow& one, const StudyGemmRow& other) {
      return one.report.seconds < other.report.seconds;
    })->chosen = true;
    return found;
  }

 private:
  // Of the slowest rank, after one product that is not counted.
  [[nodiscard]] double median_seconds(const std::function<void()>& product) const {
    const Communicator& comm = context_.comm();
    std::vector<double> seconds;
    for (int k = 0; k <= options_.repeat; ++k) {
      comm.space().fence("heddle::study::before_peer");
      comm.barrier();
      const auto start = std::chrono::steady_clock::now();
      product();
      const double mine = seconds_since(start);
      if (k > 0) seconds.push_back(comm.all_reduce(mine, Reduction::maximum));
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }

  const Context& context_;
  const Options& options_;
  const MachineRates& rates_;
};

std::string shown(const std::optional<double>& value, double times, const char* pattern) {
  return value ? format(pattern, times * *value) : format("%9s", "-");
}

std::string line_of(const StudyGemmRow& row) {
  return format("%-9s  %-14s  %-6s  %-10s  %6lld  %6lld%s", row.method.c_str(), row.scalar.c_str(),
                option_name(row.math).c_str(), row.placement.c_str(), static_cast<long long>(row.size),
                static_cast<long long>(row.report.tile), row.chosen ? "*" : " ") +
         format("  %9.3g", row.report.seconds) + shown(row.report.predicted_seconds, 1.0, "  %9.3g") +
         format("  %9.4g  %6.1f", row.report.gflops, 100 * row.peak_share) +
         shown(row.nominal_share, 100.0, "  %9.1f") + shown(row.hidden_share, 100.0, "  %9.1f");
}

// All math modes that a scalar type is to have and that its BLAS has; what is left out is said.
template <Scalar T> std::vector<MathMode> modes_of(const Context& context, const Options& options) {
  std::vector<MathMode> modes;
  for (const std::string& name : options.math) {
    const MathMode mode = math_mode_from(name);
    const std::string trouble = blas::trouble_with<T>(mode);
    if (trouble.empty()) {
      modes.push_back(mode);
    } else {
      context.say("left out: " + trouble);
    }
  }
  return modes;
}

// A mode that no scalar type takes, and a peer that is not there, are refused before anything is measured.
void require_modes_and_peers(const Communicator& comm, const Options& options) {
  for (const std::string& name : options.math) {
    std::string trouble;
    bool taken = false;
    for (const std::string& scalar : options.scalars) {
      with_scalar(scalar, [&]<class T>() {
        const std::string of_scalar = blas::trouble_with<T>(math_mode_from(name));
        taken = taken || of_scalar.empty();
        if (trouble.empty()) trouble = of_scalar;
      });
    }
    require(taken, trouble);
  }
  for (const std::string& peer : options.peers) {
    const std::string trouble = trouble_with_peer(comm, peer);
    require(trouble.empty(), trouble);
  }
}

// The rows of one scalar type; `step` is called with a note before and after each product's size, and its share of
// work.
template <Scalar T>
void add_rows(const Context& context, const Options& options, const std::string& scalar, Kept& kept,
              const std::function<void(const std::string& note, Index finished)>& step,
              std::vector<StudyGemmRow>& rows) {
  const auto append = [&](std::vector<StudyGemmRow> found) {
    for (StudyGemmRow& row : found) {
      context.say(line_of(row));
      rows.push_back(std::move(row));
    }
  };
  const std::vector<MathMode> modes = modes_of<T>(context, options);
  for (const MathMode mode : modes) {
    const MachineRates rates = known_rates<T>(context, mode);
    for (const std::string& placement : options.placements) {
      for (const Index size : options.sizes) {
        const std::string note = scalar + ", " + option_name(mode) + ", " + placement + ", n = " + std::to_string(size);
        step(note, 0);
        Products<T> products(context, options, scalar, mode, placement, size, rates);
        append(products.rows(kept, [&] { step(note, 0); }));
        step(note, size);
      }
    }
  }
  if (options.peers.empty()) return;
  const MachineRates rates = known_rates<T>(context);
  const PeerProducts<T> products(context, options, rates);
  for (const std::string& name : options.peers) {
    const std::unique_ptr<GemmPeer<T>> peer = gemm_peer<T>(context.comm(), name);
    for (const Index size : options.sizes) {
      const std::string note = scalar + ", " + name + ", n = " + std::to_string(size);
      step(note, 0);
      append(products.rows(name, *peer, scalar, size, kept));
      step(note, size);
    }
  }
}

std::vector<StudyGemmRow> all_rows(const Context& context, const Options& options, Kept& kept) {
  Progress progress = context.progress("study");
  // By flops, of which nearly all are those of the largest sizes.
  const auto cost = [](Index size) { return std::pow(static_cast<double>(size), 3); };
  double total = 0.0;
  for (const Index size : options.sizes) total += cost(size);
  total *= static_cast<double>(options.scalars.size() *
                               (options.math.size() * options.placements.size() + options.peers.size()));
  double done = 0.0;
  std::vector<StudyGemmRow> rows;
  for (const std::string& scalar : options.scalars) {
    with_scalar(scalar, [&]<class T>() {
      add_rows<T>(
          context, options, scalar, kept,
          [&](const std::string& note, Index finished) {
            if (finished > 0) done += cost(finished);
            progress.update(done / total, note);
          },
          rows);
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
  require_modes_and_peers(comm, options);
  std::vector<std::string> joined;
  comm.on_rank(0, [&] {
    require_study_files(context, options);
    joined = study_gemm_table.rows_of_all(options.join);
  });
  auto report = context.report("study");
  report.inputs()["study"] = "gemm";
  all_options().enter(options, report.inputs());

  Kept kept;
  kept.device = device_of(context);
  context.say(
      "method     scalar          math    place         size    tile    seconds  predicted    GFLOP/s  % peak  % "
      "nominal"
      "   % hidden   (* the model's tile; of others the fastest block)");
  std::vector<nlohmann::ordered_json> rows;
  for (const StudyGemmRow& row : all_rows(context, options, kept)) rows.push_back(as_json(row));
  comm.on_rank(0, [&] { study_gemm_table.write(options.output, rows, joined); });
  report.results()["rows"] = rows;
  if (options.check) report.check_at_most("product_over_bound", kept.worst_check, 1.0);
  finish_study(context, report, options, study_gemm_picture);
  return context.finish(report);
}

}  // namespace

void add_study_gemm(CLI::App& study, Selection& selection) {
  add_command(
      study, selection,
      {"gemm",
       "The distributed product by size, tile, placement, scalar type and math mode, beside the tile model and others",
       "  mpirun -n 2 heddle study gemm --largest 1024 -o two.csv\n"
       "  heddle study gemm --largest 1024 --join two.csv --plot gemm.png\n"
       "  mpirun -n 2 heddle study gemm --sizes 1024 --peers scalapack\n"
       "Columns memory_bound and transfer_bound are the lower bounds on the tile, equations (6) and (8) of "
       "Choi and Stegailov (2022)."},
      all_options(), run);
}

}  // namespace heddle::driver
