// main() of every benchmark: MPI and Kokkos around Google Benchmark; rank 0 reports, with facts of the build and the
// machine.
#include "support/measure.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/comm/communicator.hpp>
#include <heddle/comm/device.hpp>
#include <heddle/core/version.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::perf {
namespace {

std::optional<Communicator> everyone;
bool dry_run = false;
bool failed = false;

class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

BENCHMARK_DISABLE_DEPRECATED_WARNING
/// Google Benchmark's CSV reporter aborts at a counter that its first benchmark did not have. All runs are written at
/// the end, with a column for every counter, empty if a benchmark has none of that name.
class WholeTable : public benchmark::CSVReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override { runs_.insert(runs_.end(), runs.begin(), runs.end()); }
  void Finalize() override { benchmark::CSVReporter::ReportRuns(runs_); }

 private:
  std::vector<Run> runs_;
};
bool is_table(benchmark::BenchmarkReporter* reporter) {
  return dynamic_cast<benchmark::CSVReporter*>(reporter) != nullptr;
}
BENCHMARK_RESTORE_DEPRECATED_WARNING

void add_context() {
  benchmark::AddCustomContext("heddle", std::string(version()));
  benchmark::AddCustomContext("git", std::string(git_hash()));
  benchmark::AddCustomContext("blas", blas::description());
  benchmark::AddCustomContext("ranks", std::to_string(world().size()));
  benchmark::AddCustomContext("threads_per_rank", std::to_string(world().space().concurrency()));
  std::ostringstream configuration;
  Kokkos::print_configuration(configuration);
  benchmark::AddCustomContext("kokkos", configuration.str());
}

}  // namespace

const Communicator& world() {
  return *everyone;
}

Index extent(Index wanted) {
  return dry_run ? std::min<Index>(wanted, 96) : wanted;
}

bool is_dry_run() {
  return dry_run;
}

void fail(benchmark::State& state, const char* why) {
  failed = true;
  state.SkipWithError(why);
}

namespace {

// `table_in_file`: the file named by --benchmark_out is to be CSV.
int run(int argc, char** argv, bool table_in_file) {
  const Kokkos::ScopeGuard kokkos(bind_device(MPI_COMM_WORLD).settings());
  everyone.emplace(MPI_COMM_WORLD);
  add_context();
  Silent silent;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  if (world().rank() == 0) {
    WholeTable shown;
    WholeTable written;
    benchmark::BenchmarkReporter* const chosen = benchmark::CreateDefaultDisplayReporter();
    benchmark::RunSpecifiedBenchmarks(is_table(chosen) ? &shown : chosen, table_in_file ? &written : nullptr);
  } else {
    benchmark::RunSpecifiedBenchmarks(&silent);
  }
  everyone.reset();
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace heddle::perf

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  // --dry-run is our option: Google Benchmark gets one quick repetition instead.
  std::vector<char*> arguments(argv, argv + argc);
  std::string quick = "--benchmark_min_time=0.000001";
  for (char*& argument : arguments) {
    if (std::string_view(argument) == "--dry-run") {
      heddle::perf::dry_run = true;
      argument = quick.data();
    }
  }
  int count = static_cast<int>(arguments.size());
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    // One file of results, not one per rank.
    std::erase_if(arguments, [](const char* a) { return std::string_view(a).starts_with("--benchmark_out"); });
    count = static_cast<int>(arguments.size());
  }
  const auto any_begins = [&](std::string_view text) {
    return std::any_of(arguments.begin(), arguments.begin() + count,
                       [&](const char* argument) { return std::string_view(argument).starts_with(text); });
  };
  const bool table_in_file = any_begins("--benchmark_out=") && any_begins("--benchmark_out_format=csv");
  const int status = heddle::perf::run(count, arguments.data(), table_in_file);
  MPI_Finalize();
  return status;
}
