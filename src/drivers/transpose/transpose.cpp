// `heddle transpose`: a matrix from a file or generated, transposed over all ranks.
#include "drivers/commands.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/matrix_options.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/io/matrix_file.hpp>
#include <heddle/transpose/distributed.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

namespace heddle::driver {
namespace {

struct Options : MatrixSource {
  std::string output;
  Operation op = Operation::transpose;
  std::string place = "rows";
  TransposeOptions how;
  int repeat = 1;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = after_matrix_source<Options>({
      {"--output,-o", &Options::output, Text{}, "File to write op(A) to; the ending chooses the format"},
      {"--op", &Options::op, operation_kind({Operation::transpose, Operation::conjugate_transpose, Operation::none}),
       "T (transpose), C (conjugate transpose) or N (only from one format to another)"},
      {"--place", &Options::place, Text{"WHERE"},
       "Placement of A and op(A): rows, columns, rank:R or cyclic:RxC[:PxQ]"},
      {"--variant", in_member(&Options::how, &TransposeOptions::variant),
       choice<TransposeVariant>("NAME", {TransposeVariant::automatic, TransposeVariant::naive, TransposeVariant::tiled,
                                         TransposeVariant::tiled_padded, TransposeVariant::streamed}),
       "How elements are moved: naive (one by one), tiled (through shared memory or cache), tiled-padded (without "
       "conflicts of its banks), streamed, or auto"},
      {"--block-rows",
       in_member(&Options::how, &TransposeOptions::block_rows),
       Integer{.least = 1},
       "Rows of A in a block of naive, tiled and tiled-padded",
       {.otherwise = "32"}},
      {"--block-columns",
       in_member(&Options::how, &TransposeOptions::block_columns),
       Integer{.least = 1},
       "Columns of A in such a block",
       {.otherwise = "8 where naive, else 32"}},
      {"--repeat", &Options::repeat, Integer{.least = 1},
       "Times to do it, after one that is not counted; the fastest is reported"},
  });
  return table;
}

void require_variant(const Options& options) {
  const TransposeVariant variant = options.how.variant;
  const bool chosen = variant != TransposeVariant::automatic;
  require(!chosen || options.op != Operation::none, "--variant ", to_string(variant),
          ": expected --op T or C, since N moves nothing across");
  const bool has_blocks = chosen && variant != TransposeVariant::streamed;
  require(has_blocks || (options.how.block_rows == 0 && options.how.block_columns == 0),
          "--block-rows, --block-columns: expected --variant naive, tiled or tiled-padded; got ", option_name(variant));
}

// Count elements that differ; NaNs count as equal.
template <Scalar T> Index differing(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B) {
  const MatrixView<const T> a = A.local();
  const MatrixView<const T> b = B.local();
  Index count = 0;
  Kokkos::parallel_reduce(
      "heddle::driver::differing",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(A.communicator().space(), 0,
                                                                    static_cast<Index>(a.size())),
      KOKKOS_LAMBDA(Index k, Index & wrong) {
        const auto height = static_cast<Index>(a.extent(0));
        const T x = a(k % height, k / height);
        const T y = b(k % height, k / height);
        wrong += x == y || (!(x == x) && !(y == y)) ? 0 : 1;
      },
      count);
  return A.communicator().all_reduce(count, Reduction::sum);
}

template <Scalar T> int run_as(Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  const Operation op = options.op;
  auto report = context.report("transpose");
  auto start = std::chrono::steady_clock::now();
  const auto A = options.input.empty() ? random_matrix<T>(comm, options.size, options.size, options.place, options.seed)
                                       : read_placed<T>(comm, options.input, options.place);
  report.times()["read"] = seconds_since(start);

  auto& inputs = report.inputs();
  all_options().enter(options, inputs);
  inputs["rows"] = A.rows();
  inputs["columns"] = A.columns();

  const bool crossed = op != Operation::none;
  const DistributedMatrix<T> B(
      comm,
      placement_from(options.place, crossed ? A.columns() : A.rows(), crossed ? A.rows() : A.columns(), comm.size()),
      "B");
  TransposePlan<T> plan(comm, A.placement(), op, B.placement(), options.how);
  // A second run costs little beside reading A; the first touches all pages of B and of the plan.
  const auto seconds = seconds_of_runs(
      comm, options.repeat, [&] { plan.execute(T(1), A, B); }, std::numeric_limits<double>::infinity());
  const double fastest = *std::min_element(seconds.begin(), seconds.end());
  const double bytes = 2.0 * static_cast<double>(A.rows()) * static_cast<double>(A.columns()) * sizeof(T);
  auto& results = report.results();
  results["seconds"] = fastest;
  results["seconds_of_each"] = seconds;
  results["gbytes_per_second"] = fastest > 0 ? bytes / fastest / 1e9 : 0.0;
  const TransposeVariant variant = options.how.variant;
  const std::string how = variant == TransposeVariant::automatic ? "" : ", " + option_name(variant);
  context.say(format("transpose: %lld x %lld, %s, op %s%s, %d rank%s: %.4g s, %.4g GB/s read and written",
                     static_cast<long long>(A.rows()), static_cast<long long>(A.columns()), options.scalar.c_str(),
                     option_name(op).c_str(), how.c_str(), comm.size(), comm.size() == 1 ? "" : "s", fastest,
                     fastest > 0 ? bytes / fastest / 1e9 : 0.0));
  const DistributedMatrix<T> back(comm, A.placement(), "back");
  transpose(comm, T(1), B, op, back);
  report.check_at_most("differing_after_twice", static_cast<double>(differing(A, back)), 0.0);
  if (!options.output.empty()) {
    start = std::chrono::steady_clock::now();
    write_result(options.output, B);
    report.times()["write"] = seconds_since(start);
    context.say("written to " + options.output);
  }
  return context.finish(report);
}

int run(Context& context, Options options) {
  require_variant(options);
  require_one_input(options.input, options.size);
  require_outputs(context, {{"--input", options.input}}, {{"--output", options.output}});
  if (options.scalar.empty()) options.scalar = scalar_of_input(context, options.input);
  return with_scalar(options.scalar, [&]<class T>() { return run_as<T>(context, options); });
}

}  // namespace

void add_transpose(CLI::App& app, Selection& selection) {
  add_command(
      app, selection,
      {"transpose", "Transpose, conjugate or copy a matrix over all ranks",
       "  heddle transpose --input A.mtx --output B.h5\n"
       "  mpirun -n 2 heddle transpose --size 8192 --repeat 5\n"
       "  heddle transpose --size 4096 --scalar float --variant tiled-padded --block-rows 16 --block-columns 16"},
      all_options(), run);
}

}  // namespace heddle::driver
