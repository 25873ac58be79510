// The experiment of the transpose: block sizes for each variant, beside a copy.
#include "studies/transpose/transpose.hpp"

#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "studies/transpose/transpose_table.hpp"
#include <heddle/transpose/transpose.hpp>
#include <heddle/tuning/rates.hpp>

#include <algorithm>
#include <vector>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

struct Options : StudyFiles {
  Index rows = 0;
  Index columns = 0;
  std::vector<std::string> scalars = {"float", "double"};
  std::vector<TransposeVariant> variants = {TransposeVariant::naive, TransposeVariant::tiled,
                                            TransposeVariant::tiled_padded};
  int largest = 256;
  int repeat = 3;
  bool milliseconds = false;

  Options() : StudyFiles{{}, "study_transpose.csv", {}} {}
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = before_study_files<Options>({
      {"--rows", &Options::rows, Integer{.least = 1}, "Rows of the matrix; without it 4096, on a GPU 8192"},
      {"--columns", &Options::columns, Integer{.least = 1}, "Its columns; without it 4096, on a GPU 8192"},
      {"--scalars", &Options::scalars, choice({"float", "double", "complex-float", "complex-double"}, "TYPE,..."),
       "Scalar types"},
      {"--variants", &Options::variants,
       choice<TransposeVariant>("NAME,...",
                                {TransposeVariant::naive, TransposeVariant::tiled, TransposeVariant::tiled_padded}),
       "Ways to move elements whose blocks are tried: naive, tiled and tiled-padded"},
      {"--largest", &Options::largest, Integer{.least = 1},
       "Largest extent of a block; all powers of two up to it are tried"},
      {"--repeat", &Options::repeat, Integer{.least = 1},
       "Runs of each, after one that is not counted; their median is kept"},
      {"--milliseconds", &Options::milliseconds, Flag{},
       "Print the milliseconds of every block, too: a table of each variant, rows of a block across, columns down"},
  });
  return table;
}

template <class T> using DeviceMatrix = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;
template <class T> using HostMatrix = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

// Compute B(j, i) = A(i, j), element by element on one core, as in the article that the study follows: reads are
// contiguous, writes are not.
template <class T> void transpose_sequentially(const T* a, T* b, Index rows, Index columns) {
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) b[i * columns + j] = a[j * rows + i];
  }
}

// Return the number of elements of B that differ from those of A.
template <class T>
Index wrong_elements(const ExecutionSpace& space, const MatrixView<const T>& A, const DeviceMatrix<T>& B) {
  const auto rows = static_cast<Index>(A.extent(0));
  Index count = 0;
  Kokkos::parallel_reduce(
      "heddle::driver::wrong",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(A.size())),
      KOKKOS_LAMBDA(Index k, Index & sum) { sum += A(k % rows, k / rows) == B(k / rows, k % rows) ? 0 : 1; }, count);
  return count;
}

// The matrix of one scalar type, with all its timings.
template <Scalar T> class Study {
 public:
  Study(const Context& context, const Options& options, std::string scalar)
      : context_(context),
        options_(options),
        scalar_(std::move(scalar)),
        A_(random_matrix<T>(context.comm(), options.rows, options.columns, "rows", 1)),
        B_(uninitialised("heddle::driver::B"), static_cast<std::size_t>(options.columns),
           static_cast<std::size_t>(options.rows)),
        copy_(uninitialised("heddle::driver::copy"), static_cast<std::size_t>(options.rows),
              static_cast<std::size_t>(options.columns)),
        expected_("heddle::driver::expected", static_cast<std::size_t>(options.columns),
                  static_cast<std::size_t>(options.rows)) {}

  // `step` is called for each block that was tried.
  template <class Step> [[nodiscard]] std::vector<TransposeRow> rows(Index& mistakes, const Step& step) {
    const double sequential = seconds_of_sequential();
    // The reference times are taken before and after the others, since the machine's speed varies.
    double copy = seconds_of_copy();
    double automatic = seconds_of_variant({});
    mistakes += wrong() + unlike_expected();
    std::vector<TransposeRow> all = {row_of("sequential", sequential), row_of("copy", copy)};
    for (const TransposeVariant variant : options_.variants) {
      for (int rows = 1; rows <= options_.largest; rows *= 2) {
        for (int columns = 1; columns <= options_.largest; columns *= 2) {
          all.push_back(row_of_block(variant, rows, columns, mistakes));
          step(scalar_ + ", " + std::string(to_string(variant)));
        }
      }
    }
    copy = std::min(copy, seconds_of_copy());
    automatic = std::min(automatic, seconds_of_variant({}));
    all[1].seconds = copy;
    all.push_back(row_of("automatic", automatic));
    for (TransposeRow& row : all) {
      row.copy_seconds = copy;
      row.sequential_seconds = sequential;
    }
    return all;
  }

 private:
  [[nodiscard]] const ExecutionSpace& space() const { return context_.comm().space(); }
  static auto uninitialised(const std::string& label) { return Kokkos::view_alloc(Kokkos::WithoutInitializing, label); }

  // Return the median of the seconds, after one run that is not counted.
  template <class Work> [[nodiscard]] double seconds_of(const Work& work) const {
    std::vector<double> seconds;
    for (int run = 0; run <= options_.repeat; ++run) {
      space().fence("heddle::driver::study");
      const auto start = std::chrono::steady_clock::now();
      work();
      space().fence("heddle::driver::study");
      if (run > 0) seconds.push_back(seconds_since(start));
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }
  [[nodiscard]] double seconds_of_copy() const {
    return seconds_of([&] {
      if constexpr (on_host) {
        // The library's copy bypasses the caches, as a copy at full speed must.
        transpose(space(), T(1), A_.local(), Operation::none, copy_);
      } else {
        // No kernel is faster than the runtime's copy.
        const Kokkos::View<const T*, MemorySpace, Kokkos::MemoryUnmanaged> from(A_.local().data(), copy_.size());
        const Kokkos::View<T*, MemorySpace, Kokkos::MemoryUnmanaged> to(copy_.data(), copy_.size());
        Kokkos::deep_copy(space(), to, from);
      }
    });
  }
  [[nodiscard]] double seconds_of_variant(const TransposeOptions& options) const {
    return seconds_of([&] { transpose(space(), T(1), A_.local(), Operation::transpose, B_, options); });
  }
  // Time the loop on the host; the device's results are compared with its result.
  [[nodiscard]] double seconds_of_sequential() const {
    const HostMatrix<T> a(uninitialised("heddle::driver::host"), B_.extent(1), B_.extent(0));
    const auto device = copy_;
    transpose(space(), T(1), A_.local(), Operation::none, device);
    Kokkos::deep_copy(space(), a, device);
    return seconds_of([&] { transpose_sequentially(a.data(), expected_.data(), options_.rows, options_.columns); });
  }
  [[nodiscard]] Index unlike_expected() const {
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), B_);
    Index count = 0;
    for (std::size_t k = 0; k < found.size(); ++k) count += found.data()[k] == expected_.data()[k] ? 0 : 1;
    return count;
  }
  [[nodiscard]] Index wrong() const { return wrong_elements<T>(space(), A_.local(), B_); }

  [[nodiscard]] TransposeRow row_of(const std::string& variant, std::optional<double> seconds) const {
    TransposeRow row;
    row.device = cell_of(device_of(context_));
    row.processor = cell_of(processor_name());
    row.scalar = scalar_;
    row.rows = options_.rows;
    row.columns = options_.columns;
    row.variant = variant;
    row.seconds = seconds;
    row.bytes = 2.0 * sizeof(T) * static_cast<double>(B_.size());
    return row;
  }
  [[nodiscard]] TransposeRow row_of_block(TransposeVariant variant, int rows, int columns, Index& mistakes) const {
    TransposeRow row = row_of(std::string(to_string(variant)), {});
    row.block_rows = rows;
    row.block_columns = columns;
    row.counts = access_counts(on_host ? cpu_units() : gpu_units(), variant, sizeof(T), options_.rows, options_.columns,
                               rows, columns);
    try {
      row.seconds = seconds_of_variant({variant, rows, columns});
      mistakes += wrong();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::argument) throw;
    }
    return row;
  }

  const Context& context_;
  const Options& options_;
  std::string scalar_;
  DistributedMatrix<T> A_;
  DeviceMatrix<T> B_;
  DeviceMatrix<T> copy_;
  HostMatrix<T> expected_;  // Result of the sequential loop.
};

std::vector<TransposeRow> all_rows(const Context& context, const Options& options, Index& mistakes) {
  Progress progress = context.progress("study");
  long long steps = 0;
  for (int block = 1; block <= options.largest; block *= 2) ++steps;
  const auto total = static_cast<long long>(options.scalars.size() * options.variants.size()) * steps * steps;
  long long done = 0;
  std::vector<TransposeRow> rows;
  for (const std::string& scalar : options.scalars) {
    with_scalar(scalar, [&]<class T>() {
      Study<T> study(context, options, scalar);
      const auto found = study.rows(mistakes, [&](const std::string& note) { progress.update(++done, total, note); });
      rows.insert(rows.end(), found.begin(), found.end());
    });
  }
  progress.finish();
  return rows;
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
  require_study(context, "transpose", options);
  for (Index* const extent : {&options.rows, &options.columns}) {
    if (*extent < 1) *extent = on_host ? 4096 : 8192;
  }
  std::vector<std::string> joined;
  std::vector<TransposeRow> of_others;
  for (const std::string& path : options.join) {
    for (std::string& row : transpose_table().rows_of(path)) {
      of_others.push_back(transpose_row_of(row, path));
      joined.push_back(std::move(row));
    }
  }
  auto report = context.report("study");
  report.inputs()["study"] = "transpose";
  all_options().enter(options, report.inputs());

  Index mistakes = 0;
  std::vector<TransposeRow> rows = all_rows(context, options, mistakes);
  std::vector<std::string> lines;
  for (const TransposeRow& row : rows) lines.push_back(text_of(row));
  lines.insert(lines.end(), joined.begin(), joined.end());
  transpose_table().write_lines(options.output, lines);
  const std::vector<TransposeRow> mine = fastest_of(rows);
  say_transpose_blocks(context, mine);
  context.say(explanation());
  rows.insert(rows.end(), of_others.begin(), of_others.end());
  if (options.milliseconds) say_transpose_milliseconds(context, rows);
  const std::vector<TransposeRow> fastest = fastest_of(rows);
  say_transpose_speed_ups(context, fastest);
  auto best = nlohmann::ordered_json::array();
  for (const TransposeRow& row : mine) {
    if (row.block_rows > 0) best.push_back(as_json(row));
  }
  auto all = nlohmann::ordered_json::array();
  for (const TransposeRow& row : fastest) all.push_back(as_json(row));
  report.results()["best"] = best;
  report.results()["speed_ups"] = all;
  report.check_at_most("wrong_elements", static_cast<double>(mistakes), 0.0);
  finish_study(context, report, options, study_picture);
  return context.finish(report);
}

}  // namespace

void add_study_transpose(CLI::App& study, Selection& selection) {
  add_command(
      study, selection,
      {"transpose",
       "Block sizes 1 to 256 for each variant of the transpose, beside a copy and a sequential loop: tables and "
       "a picture",
       "  heddle study transpose --output study.csv --plot study.png\n"
       "  heddle study transpose --rows 1024 --columns 1024 --scalars float --join gpu.csv --plot both.png"},
      all_options(), run);
}

}  // namespace heddle::driver
