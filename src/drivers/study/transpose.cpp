#include "drivers/study/transpose.hpp"

#include "drivers/study/access.hpp"
#include "drivers/support/clock.hpp"
#include "drivers/support/matrices.hpp"
#include "drivers/support/text.hpp"
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>
#include <heddle/transpose/transpose.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <vector>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
constexpr std::string_view first_words = "# heddle study transpose";
constexpr std::array<TransposeVariant, 3> variants = {TransposeVariant::naive, TransposeVariant::tiled,
                                                      TransposeVariant::tiled_padded};

struct Options {
  Index rows = 0;
  Index columns = 0;
  int largest = 256;
  int repeat = 3;
  std::string output = "study_transpose.csv";
  std::string plot;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--rows", &Options::rows, Integer{.least = 1}, "Rows of the matrix; without it 4096, on a GPU 8192"},
      {"--columns", &Options::columns, Integer{.least = 1}, "Its columns; without it 4096, on a GPU 8192"},
      {"--largest", &Options::largest, Integer{.least = 1},
       "Largest extent of a block; all powers of two up to it are tried"},
      {"--repeat", &Options::repeat, Integer{.least = 1}, "Runs of each; their median is kept"},
      {"--output,-o", &Options::output, Text{"CSV"}, "Table to write"},
      {"--plot", &Options::plot, Text{"PNG"}, "Picture to draw of it: heat maps (heddle plot draws it too)"},
  };
  return table;
}

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;

struct Point {
  TransposeVariant variant;
  int block_rows;
  int block_columns;
  std::optional<double> seconds;  // None: the device can't run it.
  AccessCounts counts;
};

class Study {
 public:
  Study(const Context& context, const Options& options)
      : context_(context),
        options_(options),
        A_(random_matrix<double>(context.comm(), options.rows, options.columns, "rows", 1)),
        B_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::B"),
           static_cast<std::size_t>(options.columns), static_cast<std::size_t>(options.rows)),
        copy_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::copy"),
              static_cast<std::size_t>(options.rows), static_cast<std::size_t>(options.columns)) {}

  [[nodiscard]] double bytes() const { return 16.0 * static_cast<double>(B_.size()); }
  // Median of the seconds, after one run that does not count.
  template <class Work> [[nodiscard]] double seconds_of(const Work& work) const {
    std::vector<double> seconds;
    for (int run = 0; run <= options_.repeat; ++run) {
      space().fence("heddle::driver::study");
      const auto start = std::chrono::steady_clock::now();
      work();
      space().fence("heddle::driver::study");
      if (run > 0) {
        seconds.push_back(seconds_since(start));
      }
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }
  [[nodiscard]] double seconds_of_copy() const {
    // On CPUs past the caches, as a copy at full speed must.
    return seconds_of([&] { transpose(space(), 1.0, A_.local(), Operation::none, copy_); });
  }
  [[nodiscard]] double seconds_of_variant(const TransposeOptions& options) const {
    return seconds_of([&] { transpose(space(), 1.0, A_.local(), Operation::transpose, B_, options); });
  }
  // Elements of B, as last written, that are not those of A.
  [[nodiscard]] Index wrong() const {
    const MatrixView<const double> A = A_.local();
    const Matrix B = B_;
    const Index rows = options_.rows;
    Index count = 0;
    Kokkos::parallel_reduce(
        "heddle::driver::wrong",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space(), 0, static_cast<Index>(A.size())),
        KOKKOS_LAMBDA(Index k, Index & sum) { sum += A(k % rows, k / rows) == B(k / rows, k % rows) ? 0 : 1; }, count);
    return count;
  }

  [[nodiscard]] std::vector<Point> sweep(Index& mistakes) const {
    Progress progress = context_.progress("study");
    std::vector<Point> points;
    int steps = 0;
    for (int block = 1; block <= options_.largest; block *= 2) ++steps;
    const int total = static_cast<int>(variants.size()) * steps * steps;
    for (const TransposeVariant variant : variants) {
      for (int rows = 1; rows <= options_.largest; rows *= 2) {
        for (int columns = 1; columns <= options_.largest; columns *= 2) {
          Point point{variant, rows, columns, std::nullopt,
                      access_counts(on_host ? cpu_units() : gpu_units(), variant, sizeof(double), options_.rows,
                                    options_.columns, rows, columns)};
          try {
            point.seconds = seconds_of_variant({variant, rows, columns});
            mistakes += wrong();
          } catch (const Error& error) {
            if (error.kind() != ErrorKind::argument) throw;
          }
          points.push_back(point);
          progress.update(static_cast<long long>(points.size()), total, std::string(to_string(variant)));
        }
      }
    }
    progress.finish();
    return points;
  }

 private:
  [[nodiscard]] const ExecutionSpace& space() const { return context_.comm().space(); }

  const Context& context_;
  const Options& options_;
  DistributedMatrix<double> A_;
  Matrix B_;
  Matrix copy_;
};

void write_table(const std::string& path, const Options& options, const std::string& device, double bytes,
                 double copy_seconds, double automatic_seconds, const std::vector<Point>& points) {
  PendingStream out(path);
  out.precision(6);
  out << first_words << ", heddle " << version() << " (" << git_hash() << ")\n# device: " << device
      << "\n# matrix: " << options.rows << " x " << options.columns
      << ", double\n# copy_gbytes_per_second: " << bytes / copy_seconds / 1e9
      << "\n# automatic_gbytes_per_second: " << bytes / automatic_seconds / 1e9
      << "\nvariant,block_rows,block_columns,seconds,gbytes_per_second,share_of_copy,read_transactions,"
         "write_transactions,conflicts\n";
  for (const Point& point : points) {
    out << to_string(point.variant) << ',' << point.block_rows << ',' << point.block_columns << ',';
    if (point.seconds) {
      out << *point.seconds << ',' << bytes / *point.seconds / 1e9 << ',' << copy_seconds / *point.seconds;
    } else {
      out << ",,";
    }
    out << ',' << point.counts.reads << ',' << point.counts.writes << ',' << point.counts.conflicts << '\n';
  }
  out.commit();
}

const char* explanation() {
  return on_host
             ? "reads, writes: cache lines moved for each that full ones would take, 1 is ideal. conflicts: lines of "
               "a\n"
               "block, on the walk that is not contiguous, in one set of the first cache: beyond its 8 or 12 ways "
               "they\n"
               "drive one another out before they are full. The naive walk is along rows of A, whose distance is that "
               "of\n"
               "columns of B; the tiled ones walk a buffer, whose rows one element of padding moves to other sets."
             : "reads, writes: sectors of 32 bytes that 32 neighbouring threads touch, for each that full ones would\n"
               "take, 1 is ideal. conflicts: of these threads, those that want different words of one bank of shared\n"
               "memory and wait for one another. Naive blocks of 32 rows or more write every element to a sector of "
               "its\n"
               "own, blocks of 4 to 8 rows share sectors at both ends. Tiles make both ends contiguous for any block, "
               "and\n"
               "one element of padding moves the rows of a tile to different banks.";
}

int run(Context& context, Options options) {
  require(context.comm().size() == 1, "study transpose: one rank, please; it measures one device");
  for (Index* const extent : {&options.rows, &options.columns}) {
    if (*extent < 1) *extent = on_host ? 4096 : 8192;
  }
  { const PendingFile probe(options.output); }
  if (!options.plot.empty()) {
    const PendingFile probe(options.plot);
  }
  auto report = context.report("study");
  report.inputs()["study"] = "transpose";
  all_options().enter(options, report.inputs());

  const Study study(context, options);
  const double bytes = study.bytes();
  // What the others are measured by: before and after them, since a machine has better and worse moments.
  double copy = study.seconds_of_copy();
  double automatic = study.seconds_of_variant({});
  Index mistakes = study.wrong();
  const std::vector<Point> points = study.sweep(mistakes);
  copy = std::min(copy, study.seconds_of_copy());
  automatic = std::min(automatic, study.seconds_of_variant({}));
  write_table(options.output, options, device_of(context), bytes, copy, automatic, points);

  context.say(format("transpose of %lld x %lld doubles, GB/s read and written", static_cast<long long>(options.rows),
                     static_cast<long long>(options.columns)));
  context.say("variant       best block     GB/s  of copy   reads  writes  conflicts");
  context.say(format("%-12s  %-10s  %7.1f  %6.1f%%", "copy", "", bytes / copy / 1e9, 100.0));
  auto best = nlohmann::ordered_json::array();
  for (const TransposeVariant variant : variants) {
    const Point* fastest = nullptr;
    for (const Point& point : points) {
      if (point.variant == variant && point.seconds && (fastest == nullptr || *point.seconds < *fastest->seconds)) {
        fastest = &point;
      }
    }
    if (fastest == nullptr) continue;
    context.say(format("%-12s  %-10s  %7.1f  %6.1f%%  %6.2f  %6.2f  %9d", std::string(to_string(variant)).c_str(),
                       format("%d x %d", fastest->block_rows, fastest->block_columns).c_str(),
                       bytes / *fastest->seconds / 1e9, 100 * copy / *fastest->seconds, fastest->counts.reads,
                       fastest->counts.writes, fastest->counts.conflicts));
    best.push_back({{"variant", to_string(variant)},
                    {"block_rows", fastest->block_rows},
                    {"block_columns", fastest->block_columns},
                    {"seconds", *fastest->seconds},
                    {"gbytes_per_second", bytes / *fastest->seconds / 1e9},
                    {"share_of_copy", copy / *fastest->seconds},
                    {"read_transactions", fastest->counts.reads},
                    {"write_transactions", fastest->counts.writes},
                    {"conflicts", fastest->counts.conflicts}});
  }
  context.say(format("%-12s  %-10s  %7.1f  %6.1f%%", "automatic", "", bytes / automatic / 1e9, 100 * copy / automatic));
  context.say(explanation());
  auto& results = report.results();
  results["copy_gbytes_per_second"] = bytes / copy / 1e9;
  results["automatic_gbytes_per_second"] = bytes / automatic / 1e9;
  results["automatic_share_of_copy"] = copy / automatic;
  results["best"] = best;
  report.check_at_most("wrong_elements", static_cast<double>(mistakes), 0.0);
  context.say("table written to " + options.output);
  if (!options.plot.empty()) {
    draw(study_picture, options.output, options.plot);
    results["plot"] = options.plot;
    context.say("picture written to " + options.plot);
  }
  return context.finish(report);
}

}  // namespace

bool looks_like_study(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && line.starts_with(first_words);
}

void add_study_transpose(CLI::App& study, Selection& selection) {
  add_command(
      study, selection,
      {"transpose", "Block sizes 1 to 256 for each variant of the transpose, beside a copy: a table and a picture",
       "  heddle study transpose --output study.csv --plot study.png\n"
       "  heddle study transpose --rows 8191 --columns 8193 --largest 64"},
      all_options(), run);
}

}  // namespace heddle::driver
