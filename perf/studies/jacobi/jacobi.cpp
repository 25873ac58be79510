// The experiment of the Jacobi eigensolver: run time, speed-up, acceleration, cost and efficiency by order.
#include "studies/jacobi/jacobi.hpp"

#include "drivers/eig/matrices.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/programs.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/support/repeats.hpp"
#include "studies/jacobi/jacobi_table.hpp"
#include <heddle/core/pending_file.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

using eigen::JacobiMethod;

struct Options : StudyFiles {
  std::vector<Index> sizes;
  Index largest = 1024;
  Index largest_serial = 512;
  std::vector<JacobiMethod> methods = {JacobiMethod::automatic};
  std::string generate = "kohn-sham";
  std::string scalar = "double";
  int repeat = 3;
  std::string serial_table;
  bool serial = true;

  Options() { output = "study_jacobi.csv"; }
};

Choice<JacobiMethod> methods_kind() {
  return choice<JacobiMethod>(
      "NAME,...", {JacobiMethod::automatic, JacobiMethod::classical, JacobiMethod::cyclic, JacobiMethod::round_robin,
                   JacobiMethod::blocked, JacobiMethod::preconditioned});
}

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = before_study_files<Options>({
      {"--largest", &Options::largest, Integer{.least = 3},
       "Orders 3, 5, 10, 16, 32, 64, ..., 2048 up to this; of kohn-sham-3d cubes: 8, 27, 64, ..., 1728"},
      {"--sizes", &Options::sizes, Integer{.type_name = "N,N,..."}, "These orders instead", {.was = "--orders"}},
      {"--largest-serial", &Options::largest_serial, Integer{.least = 0},
       "Up to here the cyclic order is timed on one thread, which speed-up is against"},
      {"--methods", &Options::methods, methods_kind(), "Orders of rotations to time, as heddle eig names them"},
      {"--generate",
       &Options::generate,
       choice({"kohn-sham", "kohn-sham-3d", "thesis"}, "KIND"),
       "kohn-sham (a row of four atoms; below 5, thesis), kohn-sham-3d (a molecule of water on m x m x m points) or "
       "thesis (n/2 - |i - j|)",
       {.was = "--matrix"}},
      {"--scalar", &Options::scalar, choice({"double", "float", "complex-double", "complex-float"}, "TYPE"),
       "Scalar type of the matrices; the thesis has float"},
      {"--repeat", &Options::repeat, Integer{.least = 1}, "Runs of each at least; their median is kept"},
      {"--serial-table", &Options::serial_table, Text{"CSV"},
       "Table of a run with OMP_NUM_THREADS=1, for a GPU. On CPUs the command runs itself with one thread where this "
       "is not given"},
      {"--serial,!--no-serial",
       &Options::serial,
       Flag{},
       "Run the orders with one thread first",
       {.enters = false, .hidden = true}},
  });
  return table;
}

// Return a GPU's multiprocessors, or the CPU threads in use.
template <class Space> int processors_of(const Space& space) {
  if constexpr (requires { space.cuda_device_prop().multiProcessorCount; }) {
    return space.cuda_device_prop().multiProcessorCount;
  } else if constexpr (requires { space.hip_device_prop().multiProcessorCount; }) {
    return space.hip_device_prop().multiProcessorCount;
  } else {
    return space.concurrency();
  }
}
std::string backend_of(const ExecutionSpace& space) {
  if (on_host && space.concurrency() == 1) return "serial";
  std::string name = ExecutionSpace::name();
  for (char& letter : name) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  return name;
}

// Return the m of n = m^3, or 0.
int edge_of(Index n) {
  const auto m = static_cast<int>(std::lround(std::cbrt(static_cast<double>(n))));
  return static_cast<Index>(m) * m * m == n ? m : 0;
}

template <Scalar T> HostMatrix<T> study_matrix(const std::string& kind, Index n) {
  // The first Kohn-Sham matrix of the default chain of atoms, which needs at least five points.
  if (kind == "thesis" || (kind == "kohn-sham" && n < 5)) return thesis_matrix<T>(n);
  if (kind == "kohn-sham-3d") return matrix_from<T>(eigen::kohn_sham_matrix_3d(edge_of(n)), n);
  Chain chain;
  chain.points = static_cast<int>(n);
  const eigen::KohnSham model(model_options(chain));
  return matrix_from<T>(model.hamiltonian(model.initial_density()), n);
}

// Return the eigenvalues of A that those of every implementation are compared with: computed in double, with the same
// bits for any number of threads.
template <Scalar T> std::vector<double> reference_values(const ExecutionSpace& space, const HostMatrix<T>& A) {
  using W = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;
  HostMatrix<W> wide("heddle::driver::wide", A.extent(0), A.extent(1));
  for (std::size_t at = 0; at < A.size(); ++at) wide.data()[at] = W(A.data()[at]);
  const Kokkos::View<double*, MemorySpace> w("heddle::driver::w", A.extent(0));
  const eigen::JacobiReport outcome = eigen::jacobi_values(space, on_device<W>(wide), w, {.reproducible = true});
  if (!outcome.converged) {
    throw Error(ErrorKind::computation, message_of("reference, n = ", A.extent(0), ": ", unconverged(outcome)));
  }
  const auto host = Kokkos::create_mirror_view(w);
  Kokkos::deep_copy(host, w);
  return {host.data(), host.data() + host.extent(0)};
}

template <class R> double deviation_of(const Kokkos::View<R*, MemorySpace>& w, const std::vector<double>& reference) {
  const auto host = Kokkos::create_mirror_view(w);
  Kokkos::deep_copy(host, w);
  double most = 0;
  double size = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    most = larger(most, std::abs(static_cast<double>(host(i)) - reference[i]));
    size = larger(size, std::abs(reference[i]));
  }
  return most == 0 ? 0 : most / size;
}

// Return the median of the seconds, after a run that is not counted unless it takes seconds itself.
template <class Work> double seconds_of(int repeat, const Work& work) {
  const auto timed = [&] {
    const auto start = std::chrono::steady_clock::now();
    work();
    return seconds_since(start);
  };
  const double first = timed();
  if (first > longest_warm_up) return first;
  std::vector<double> seconds;
  const auto begin = std::chrono::steady_clock::now();
  while (static_cast<int>(seconds.size()) < repeat || (seconds.size() < 100 && seconds_since(begin) < 0.05)) {
    seconds.push_back(timed());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// State that rows share: references by order, and the worst results of their checks.
struct Findings {
  std::map<Index, std::vector<double>> references;
  double orthogonality = 0;
  double deviation = 0;  // In units of n u.
};

template <Scalar T>
JacobiRow measured(const Context& context, const Options& options, JacobiMethod method, Index n, Findings& findings) {
  const ExecutionSpace& space = context.comm().space();
  const HostMatrix<T> host = study_matrix<T>(options.generate, n);
  const LocalMatrix<T> A = on_device<T>(host);
  const LocalMatrix<T> V("heddle::driver::V", A.extent(0), A.extent(1));
  const Kokkos::View<Real<T>*, MemorySpace> w("heddle::driver::w", A.extent(0));
  const eigen::JacobiOptions solver = {.method = method};
  eigen::JacobiReport outcome;
  JacobiRow row;
  row.device = device_of(context);
  // A comma ends a cell.
  std::replace(row.device.begin(), row.device.end(), ',', ';');
  row.scalar = options.scalar;
  row.matrix = options.generate;
  row.backend = backend_of(space);
  row.processors = processors_of(space);
  row.method = to_string(method);
  row.order = n;
  row.seconds = seconds_of(options.repeat, [&] { outcome = eigen::jacobi(space, A, w, V, solver); });
  if (!outcome.converged)
    throw Error(ErrorKind::computation, message_of(row.method, ", n = ", n, ": ", unconverged(outcome)));
  row.sweeps = outcome.sweeps;
  row.rotations = outcome.rotations;
  const EigenErrors errors = errors_of<T>(space, A, w, V);
  row.residual = errors.residual;
  std::vector<double>& reference = findings.references[n];
  if (reference.empty()) reference = reference_values<T>(space, host);
  row.deviation = deviation_of<Real<T>>(w, reference);
  findings.deviation =
      larger(findings.deviation, row.deviation / (static_cast<double>(n) * static_cast<double>(unit_roundoff<T>)));
  findings.orthogonality = larger(findings.orthogonality, errors.orthogonality);
  return row;
}

// Run the same command with one thread as a separate process: this process can't change its number of threads.
std::vector<JacobiRow> rows_of_one_thread(const Context& context, const Options& options) {
  const PendingFile table(options.output);
  std::vector<std::string> words = {"/proc/self/exe",   "study",
                                    "jacobi",           "--no-serial",
                                    "--sizes",          shown(Integer(), options.sizes),
                                    "--methods",        shown(methods_kind(), options.methods),
                                    "--generate",       options.generate,
                                    "--scalar",         options.scalar,
                                    "--largest-serial", std::to_string(options.largest_serial),
                                    "--repeat",         std::to_string(options.repeat),
                                    "--output",         table.path().string()};
  if (context.options().quiet) words.emplace_back("--quiet");
  if (context.options().progress == ProgressMode::always) words.emplace_back("--progress");
  if (context.options().progress == ProgressMode::never) words.emplace_back("--no-progress");
  ProgramOptions program;
  program.silent = true;
  for (std::string& variable : environment_outside_mpi()) {
    if (!variable.starts_with("OMP_NUM_THREADS=") && !variable.starts_with("KOKKOS_NUM_THREADS=")) {
      program.environment.push_back(std::move(variable));
    }
  }
  program.environment.emplace_back("OMP_NUM_THREADS=1");
  program.environment.emplace_back("KOKKOS_NUM_THREADS=1");
  const int status = run_program(words, program);
  if (status != 0) {
    throw Error(ErrorKind::computation, format("the run with one thread failed (exit status %d)", status));
  }
  return read_serial_rows(table.path(), options.generate, options.scalar);
}

std::vector<JacobiRow> own_rows(const Context& context, const Options& options, Findings& findings) {
  const ExecutionSpace& space = context.comm().space();
  std::vector<std::pair<JacobiMethod, Index>> plan;
  if (backend_of(space) == "serial") {
    for (const Index n : options.sizes) {
      if (n <= options.largest_serial) plan.emplace_back(JacobiMethod::cyclic, n);
    }
  }
  for (const JacobiMethod method : options.methods) {
    for (const Index n : options.sizes) {
      const bool there = std::find(plan.begin(), plan.end(), std::pair(method, n)) != plan.end();
      if (!there) plan.emplace_back(method, n);
    }
  }
  Progress progress = context.progress("study");
  // Estimate the cost of a solution.
  const auto cost = [](const std::pair<JacobiMethod, Index>& one) {
    return std::pow(static_cast<double>(one.second), 3) * (one.first == JacobiMethod::cyclic ? 10 : 1);
  };
  double total = 0;
  for (const auto& one : plan) total += cost(one);
  double done = 0;
  std::vector<JacobiRow> rows;
  for (const auto& one : plan) {
    progress.update(done / total, option_name(one.first) + ", n = " + std::to_string(one.second));
    with_scalar(options.scalar,
                [&]<class T>() { rows.push_back(measured<T>(context, options, one.first, one.second, findings)); });
    done += cost(one);
  }
  progress.finish();
  return rows;
}

std::string shown(const std::optional<double>& value) {
  return value ? format("%12.3g", *value) : format("%12s", "-");
}

void complete_sizes(Options& options) {
  const bool cubes = options.generate == "kohn-sham-3d";
  if (options.sizes.empty()) {
    for (const Index n : cubes ? std::vector<Index>{8, 27, 64, 125, 216, 343, 512, 1000, 1728}
                               : std::vector<Index>{3, 5, 10, 16, 32, 64, 128, 256, 512, 1024, 2048}) {
      if (n <= options.largest) options.sizes.push_back(n);
    }
    require(!options.sizes.empty(), "--largest ", options.largest, ": expected at least ", cubes ? 8 : 3);
  }
  std::sort(options.sizes.begin(), options.sizes.end());
  for (const Index n : options.sizes) {
    require(n >= 1 && n <= 1 << 16, "--sizes: ", n, ": expected 1 to ", 1 << 16);
    require(!cubes || edge_of(n) > 0, "--sizes: ", n, ": kohn-sham-3d has m x m x m points; expected a cube, as 64");
  }
}

// Return the rows measured here, and those of one thread.
std::vector<JacobiRow> measured_rows(const Context& context, const Options& options, Findings& findings) {
  const bool alone = backend_of(context.comm().space()) == "serial";
  std::vector<JacobiRow> rows;
  if (!options.serial_table.empty()) {
    require(!alone, "--serial-table: this run has one thread itself");
    rows = read_serial_rows(options.serial_table, options.generate, options.scalar);
  } else if (on_host && !alone && options.serial) {
    rows = rows_of_one_thread(context, options);
  }
  require(options.serial || !on_host || alone, "--no-serial: OMP_NUM_THREADS=1 did not take effect");
  for (JacobiRow& row : own_rows(context, options, findings)) rows.push_back(std::move(row));
  derive(rows);
  return rows;
}

int run(Context& context, Options options) {
  require_study(context, "jacobi", options);
  complete_sizes(options);
  const std::vector<std::string> joined = jacobi_table().rows_of_all(options.join);
  auto report = context.report("study");
  auto& inputs = report.inputs();
  inputs["study"] = "jacobi";
  all_options().enter(options, inputs);

  Findings findings;
  const std::vector<JacobiRow> rows = measured_rows(context, options, findings);
  const int processors = processors_of(context.comm().space());
  write_rows(options.output, rows, joined);
  context.say(
      "order  backend  method             seconds  sweeps   rotations   deviation    speed-up  accel. [%]    cost [s]"
      "   effic. [%]");
  double residual = 0;
  auto& list = report.results()["rows"] = nlohmann::ordered_json::array();
  for (const JacobiRow& row : rows) {
    residual = larger(residual, row.residual);
    context.say(format("%5lld  %-7s  %-14s %11.3g  %6d  %10lld", static_cast<long long>(row.order), row.backend.c_str(),
                       row.method.c_str(), row.seconds, row.sweeps, static_cast<long long>(row.rotations)) +
                format("%12.3g", row.deviation) + shown(row.speed_up) + shown(row.acceleration) + shown(row.cost) +
                shown(row.efficiency));
    list.push_back(as_json(row));
  }
  context.say(
      "deviation: largest difference from eigenvalues in double, over the largest of them\n"
      "speed-up: of the cyclic order on one thread; acceleration (S - 1) 100 %, cost p t_p, efficiency S/p; p = " +
      std::to_string(processors) + (on_host ? " threads" : " multiprocessors"));
  if (rows.empty() || std::none_of(rows.begin(), rows.end(), [](const JacobiRow& row) { return bool(row.speed_up); })) {
    context.say(
        "no times of one thread to compare with: give --serial-table, from a build for CPUs with "
        "OMP_NUM_THREADS=1");
  }
  report.check_at_most("residual", residual, 10.0);
  report.check_at_most("orthogonality", findings.orthogonality, 10.0);
  report.check_at_most("deviation", findings.deviation, 10.0);
  finish_study(context, report, options, study_jacobi_picture);
  return context.finish(report);
}

}  // namespace

void add_study_jacobi(CLI::App& study, Selection& selection) {
  add_command(study, selection,
              {"jacobi", "The Jacobi eigensolver by order: run time, speed-up, acceleration, cost and efficiency",
               "  heddle study jacobi --plot jacobi.png\n"
               "  heddle study jacobi --generate thesis --scalar float --plot float.png\n"
               "  heddle study jacobi --serial-table cpu.csv --join cpu.csv -o gpu.csv --plot gpu.png\n"
               "p is the number of threads, or of multiprocessors of a GPU."},
              all_options(), run);
}

}  // namespace heddle::driver
