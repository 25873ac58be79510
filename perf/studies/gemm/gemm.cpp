// The experiment of the distributed product: rates by size, tile, placement and scalar type, beside the tile model.
#include "studies/gemm/gemm.hpp"

#include "drivers/gemm/trace.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/matrices/product_check.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/rates.hpp"
#include "studies/gemm/gemm_options.hpp"
#include "studies/gemm/gemm_parts.hpp"
#include "studies/gemm/gemm_peers.hpp"
#include "studies/gemm/gemm_table.hpp"
#include "studies/gemm/nominal.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

using Options = StudyGemmOptions;

// State that all products share.
struct Kept {
  std::string device;
  double worst_check = 0.0;  // In units of its bound.
  double peak = 0.0;         // Flops per second of a rank, of the scalar type and math mode at work.
};

// Enter the rate as a share of the ranks' measured peak, and of their devices' nominal one if that is given or known.
void enter_shares(const Options& options, const Kept& kept, StudyGemmRow& row) {
  row.peak = kept.peak;
  row.peak_share = row.report.gflops * 1e9 / (row.ranks * kept.peak);
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
    const StudyGemmPlaces places = study_gemm_places(placement_, comm.size());
    A_ = random_matrix<T>(comm, size, size, places.a, 1);
    B_ = random_matrix<T>(comm, size, size, places.b, 2);
    C_ = DistributedMatrix<T>(comm, placement_from(places.c, size, size, comm.size()), "C");
    if constexpr (is_complex<T>) {
      if (placement_ == parts_placement) parts_.emplace(A_, B_, C_);
    }
  }

  // Return the rows by ascending tile.
  [[nodiscard]] std::vector<StudyGemmRow> rows(Kept& kept, const std::function<void()>& step) {
    std::optional<ProductCheck<T>> check;
    if (options_.check) check.emplace(Operation::none, T(1), A_, Operation::none, B_, T(0), C_);
    const double mode_error = blas::added_error<T>(math_);
    const auto look = [&] {
      if (!check) return;
      if constexpr (is_complex<T>) {
        if (parts_) join(parts_->C, C_);
      }
      kept.worst_check = larger(kept.worst_check, check->value(C_, mode_error) / check->bound());
    };
    std::vector<StudyGemmRow> found = {row(0, kept)};
    look();
    step();
    for (const Index tile : other_tiles(found.front())) {
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

  // Return the tiles other than the chosen one; the published one is always among them.
  [[nodiscard]] std::set<Index> other_tiles(const StudyGemmRow& chosen) const {
    std::set<Index> tiles(options_.tiles.begin(), options_.tiles.end());
    if (tiles.empty()) {
      for (const Index part : {8, 4, 2, 1}) tiles.insert(std::max<Index>(1, size() / part));
    }
    tiles.insert(*chosen.published_tile);
    tiles.erase(chosen.report.tile);
    return tiles;
  }

  // A plan of the product, or of its four real ones.
  struct Planned {
    std::function<GemmReport()> execute;
    std::function<Timeline()> timeline;
  };
  [[nodiscard]] Planned plan(Index tile, bool record_timeline) const {
    GemmOptions options;
    options.tile = tile;
    options.rates = rates_;
    options.math = math_;
    options.bands_per_pass = options_.bands_per_pass;
    options.record_timeline = record_timeline;
    const auto planned = [](const auto& owned, const auto& execute) {
      return Planned{[owned, execute] { return execute(*owned); }, [owned] { return owned->timeline(); }};
    };
    const Communicator& comm = context_.comm();
    if (parts_) {
      return planned(std::make_shared<PartsPlan<Real<T>>>(comm, *parts_, options),
                     [](PartsPlan<Real<T>>& four) { return four.execute(); });
    }
    return planned(std::make_shared<GemmPlan<T>>(comm, Operation::none, A_.placement(), Operation::none, B_.placement(),
                                                 C_.placement(), options),
                   [this](GemmPlan<T>& whole) { return whole.execute(T(1), A_, B_, T(0), C_); });
  }

  // `tile`: 0 for the model's choice.
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
    const Planned planned = plan(tile, false);
    planned.execute();
    std::vector<GemmReport> reports;
    for (int k = 0; k < options_.repeat; ++k) reports.push_back(planned.execute());
    std::sort(reports.begin(), reports.end(),
              [](const GemmReport& one, const GemmReport& other) { return one.seconds < other.seconds; });
    row.report = reports[reports.size() / 2];
    ProductShape shape{size(), size(), size(), comm.size(), static_cast<int>(sizeof(T)), flops_per_multiply_add<T>};
    if (parts_) {
      shape.element_bytes = sizeof(Real<T>);
      shape.flops_per_multiply_add = flops_per_multiply_add<Real<T>>;
    }
    row.bounds = tile_bounds(rates_, shape);
    row.published_tile = published_tile(rates_, shape);
    enter_shares(options_, kept, row);
    if (comm.size() > 1) {
      // Repeat the product for the timeline, which takes time to record.
      const Planned recorded = plan(tile, true);
      for (int k = 0; k < 2; ++k) recorded.execute();
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
  std::optional<ProductParts<Real<T>>> parts_;  // Parts of the operands, if the product is computed by parts.
};

// One size of a peer's products: a row for each block, the fastest one marked.
template <Scalar T> class PeerProducts {
 public:
  PeerProducts(const Context& context, const Options& options) : context_(context), options_(options) {}

  // Return the rows of the peer `name`.
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
      enter_shares(options_, kept, row);
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
  // Return the median of the slowest rank's seconds, after one product that is not counted.
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
};

std::string shown(const std::optional<double>& value, double times, const char* pattern) {
  return value ? format(pattern, times * *value) : format("%9s", "-");
}

std::string line_of(const StudyGemmRow& row) {
  return format("%-9s  %-14s  %-6s  %-10s  %6lld  %6lld%s%s", row.method.c_str(), row.scalar.c_str(),
                option_name(row.math).c_str(), row.placement.c_str(), static_cast<long long>(row.size),
                static_cast<long long>(row.report.tile), row.chosen ? "*" : " ", row.is_published() ? "+" : " ") +
         format("  %9.3g", row.report.seconds) + shown(row.report.predicted_seconds, 1.0, "  %9.3g") +
         format("  %9.4g  %6.1f", row.report.gflops, 100 * row.peak_share) +
         shown(row.nominal_share, 100.0, "  %9.1f") + shown(row.hidden_share, 100.0, "  %9.1f");
}

// Return the requested math modes that the scalar type's BLAS has; say which are left out.
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

// Refuse modes and placements that no scalar type takes before anything is measured.
void require_modes_and_placements(const Options& options) {
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
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  require(!has(options.placements, parts_placement) || has(options.scalars, "complex-double") ||
              has(options.scalars, "complex-float"),
          "--placements parts is for --scalars complex-double and complex-float");
}

// Return the available peers; say and report those left out, with their package.
std::vector<std::string> peers_here(const Context& context, const Options& options, Report& report) {
  std::vector<std::string> peers;
  for (const std::string& peer : options.peers) {
    const std::string trouble = trouble_with_peer(context.comm(), peer);
    if (trouble.empty()) {
      peers.push_back(peer);
    } else {
      context.say("left out: " + trouble);
      report.results()["peers_left_out"][peer] = trouble;
    }
  }
  return peers;
}

// Add the rows of one scalar type; call `step` with a note before and after each size of a product, and with its share
// of the work.
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
  const std::optional<double> peak = measure_peak<T>(context.comm());
  for (const MathMode mode : modes) {
    const MachineRates rates = known_rates<T>(context, mode);
    kept.peak = peak.value_or(rates.peak_flops());
    for (const std::string& placement : options.placements) {
      const bool in_parts = placement == parts_placement;
      if (in_parts && !is_complex<T>) {
        context.say("left out: --placements parts of " + scalar + ", which has no parts");
        continue;
      }
      const MachineRates own = in_parts ? known_rates<Real<T>>(context, mode) : rates;
      for (const Index size : options.sizes) {
        const std::string note = scalar + ", " + option_name(mode) + ", " + placement + ", n = " + std::to_string(size);
        step(note, 0);
        Products<T> products(context, options, scalar, mode, placement, size, own);
        append(products.rows(kept, [&] { step(note, 0); }));
        step(note, size);
      }
    }
  }
  if (options.peers.empty()) return;
  kept.peak = peak ? *peak : known_rates<T>(context).peak_flops();
  const PeerProducts<T> products(context, options);
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
  // Estimate the cost by flops; the largest sizes have nearly all of them.
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
  require_modes_and_placements(options);
  std::vector<std::string> joined;
  comm.on_rank(0, [&] {
    require_study_files(context, options);
    joined = study_gemm_table.rows_of_all(options.join);
  });
  auto report = context.report("study");
  report.inputs()["study"] = "gemm";
  study_gemm_options().enter(options, report.inputs());
  options.peers = peers_here(context, options, report);

  Kept kept;
  kept.device = device_of(context);
  context.say(
      "method     scalar          math    place         size    tile     seconds  predicted    GFLOP/s  % peak  % "
      "nominal"
      "   % hidden   (* the model's tile, of others the fastest block; + the published one)");
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
       "Choi and Stegailov (2022), and published_tile is what heddle gemm --choice published takes, equation (9)."},
      study_gemm_options(), run);
}

}  // namespace heddle::driver
