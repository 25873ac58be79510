// The hunt: draws hard inputs for every operation of the library, computes them, and judges the results by independent
// references and by the promises of the public headers.
//
//   test_hunt [--seed S] [--only OPERATION[,OPERATION...]] [--cases N | --minutes M] [--case K] [--failures N] [--list]
//
//   --seed S         seed of all cases (1); the seed, the operation and its number determine a case
//   --only NAMES     run only these operations; --list names them all
//   --cases N        number of cases of each operation (100)
//   --minutes M      run for M minutes instead, divided equally among the operations
//   --first K        number of the first case (0)
//   --case K         run only case K, as in the line "repeat:" of a failure
//   --failures N     end after N kinds of failures (30); a kind is an operation and a property
//   --no-shrink      print failures as they were drawn
//   --print          print every case before it runs
//
// Under mpirun every rank takes part in every case. Failures are printed as they are found, shrunk to the smallest case
// that still fails, with the line that repeats them (ci/hunt builds this program and passes such lines on); at the end
// a table: cases, failures, the worst error's share of its bound, and numbers without bounds. Exit code 0:
// no failure; 1: failures; 2: bad usage. A case that hangs for two minutes or crashes ends the program with
// its line.
#include "hunt/operation.hpp"
#include <heddle/comm/device.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

namespace heddle::hunt {
namespace {

struct Settings {
  std::uint64_t seed = 1;
  std::vector<std::size_t> chosen;  // operations
  long cases = 100;
  double minutes = 0;
  long first = 0;
  long failures = 30;
  bool shrink = true;
  bool print = false;
  bool list = false;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Text for the signal handler, which alone can report a case that hangs or crashes.
char line_of_case[256];
int length_of_line = 0;
extern "C" void stopped(int signal) {
  const char* const hung = "\nFAILURE: hangs\n";
  const char* const crashed = "\nFAILURE: crashes\n";
  const char* const what = signal == SIGALRM ? hung : crashed;
  (void)!write(2, what, std::strlen(what));
  (void)!write(2, line_of_case, static_cast<std::size_t>(length_of_line));
  _exit(1);
}

std::string repeat_line(const World& world, const Case& one) {
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  return "  repeat: ci/hunt --ranks " + std::to_string(world.all.size()) + " --threads " + (threads ? threads : "1") +
         " --seed " + std::to_string(one.seed) + " --only " + one.operation + " --case " + std::to_string(one.number) +
         "\n";
}

struct Tally {
  long cases = 0;
  long skipped = 0;
  long failures = 0;
  double seconds = 0;
  std::map<std::string, double> worst;
  std::map<std::string, std::vector<double>> observed;
};

class Hunt {
 public:
  Hunt(const World& world, const Settings& settings)
      : world_(world), settings_(settings), tallies_(operations().size()) {}

  int run() {
    const double begin = now();
    last_word_ = begin;
    while (const std::optional<std::size_t> next = chosen(begin)) {
      one_case(*next);
      if (world_.root() && now() - last_word_ > 10) progress(begin);
    }
    if (world_.root()) table(begin);
    return groups_.empty() ? 0 : 1;
  }

 private:
  // Return the unfinished operation with the least time so far; rank 0 chooses.
  std::optional<std::size_t> chosen(double begin) {
    Index next = -1;
    if (world_.root() && static_cast<long>(groups_.size()) < settings_.failures) {
      const bool timed = settings_.minutes > 0;
      for (const std::size_t k : settings_.chosen) {
        const bool through = timed ? now() - begin > 60 * settings_.minutes : tallies_[k].cases >= settings_.cases;
        if (!through && (next < 0 || tallies_[k].seconds < tallies_[static_cast<std::size_t>(next)].seconds)) {
          next = static_cast<Index>(k);
        }
      }
    }
    next = world_.all.all_reduce(world_.root() ? next : Index{-1}, Reduction::maximum);
    return next < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(next));
  }

  static Case drawn(const HuntedOperation& operation, std::uint64_t seed, std::uint64_t number) {
    Case one;
    one.operation = operation.name;
    one.seed = seed;
    one.number = number;
    Random random(seed, operation.name, number);
    one.type = static_cast<Type>(random.below(types));
    operation.draw(random, one);
    return one;
  }

  // Run a case on all ranks; every rank gets the failures of rank 0, or else of the first rank with failures.
  Verdict judged(const HuntedOperation& operation, const Case& one) const {
    Verdict verdict;
    try {
      operation.run(world_, one, verdict);
    } catch (const std::exception& error) {
      verdict.fail("throws", error.what());
    }
    const bool failed = !verdict.failures().empty();
    const int mine = failed ? world_.all.rank() : world_.all.size();
    const int first = world_.all.all_reduce(mine, Reduction::minimum);
    if (first == world_.all.size()) return verdict;
    Verdict agreed;
    agreed.take_shares(verdict);
    int count = first == mine ? static_cast<int>(verdict.failures().size()) : 0;
    count = world_.all.all_reduce(count, Reduction::maximum);
    for (int k = 0; k < count; ++k) {
      Verdict::Failure failure;
      if (first == mine) failure = verdict.failures()[static_cast<std::size_t>(k)];
      world_.all.broadcast(failure.property, first);
      world_.all.broadcast(failure.text, first);
      agreed.fail(failure.property, (first > 0 ? "on rank " + std::to_string(first) + ": " : "") + failure.text);
    }
    return agreed;
  }

  void one_case(std::size_t index) {
    const HuntedOperation& operation = operations()[index];
    Tally& tally = tallies_[index];
    const auto number = static_cast<std::uint64_t>(settings_.first + tally.cases);
    const double begin = now();
    Case named;
    named.operation = operation.name;
    named.seed = settings_.seed;
    named.number = number;
    length_of_line = std::snprintf(line_of_case, sizeof(line_of_case), "%s", repeat_line(world_, named).c_str());
    alarm(120);
    const Case one = drawn(operation, settings_.seed, number);
    if (settings_.print && world_.root()) std::puts(shown(one).c_str()), std::fflush(stdout);
    const Verdict verdict = judged(operation, one);
    ++tally.cases;
    tally.skipped += verdict.skipped() ? 1 : 0;
    for (const auto& [property, share] : verdict.worst()) {
      tally.worst[property] = std::max(tally.worst[property], share);
    }
    for (const auto& [name, values] : verdict.observed()) {
      std::vector<double>& all = tally.observed[name];
      all.insert(all.end(), values.begin(), values.end());
    }
    tally.failures += verdict.failures().empty() ? 0 : 1;
    for (const Verdict::Failure& failure : verdict.failures()) report(operation, one, failure);
    alarm(0);
    tally.seconds += now() - begin;
  }

  // Print the first failure of a kind shrunk and in full, the next two with their line alone; count further ones.
  void report(const HuntedOperation& operation, const Case& one, const Verdict::Failure& failure) {
    const long before = groups_[std::string(operation.name) + ": " + failure.property]++;
    if (before >= 3) return;
    std::string text = "\nFAILURE " + std::string(operation.name) + ": " + failure.property + "\n";
    text += repeat_line(world_, one);
    if (before == 0) {
      Case smallest = one;
      if (settings_.shrink) {
        const double end = now() + 30;
        smallest = shrunk(
            one,
            [&](const Case& candidate) {
              alarm(120);
              if (world_.all.all_reduce(world_.root() && now() > end ? 1 : 0, Reduction::maximum) != 0) return false;
              return fails_so(judged(operation, candidate), failure.property);
            },
            2000);
      }
      const Verdict verdict = judged(operation, smallest);
      for (const Verdict::Failure& again : verdict.failures()) {
        if (again.property == failure.property) text += "  " + again.text + "\n";
      }
      text += shown(smallest);
    } else {
      text += "  " + failure.text + "\n";
    }
    if (world_.root()) std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  static bool fails_so(const Verdict& verdict, const std::string& property) {
    return std::any_of(verdict.failures().begin(), verdict.failures().end(),
                       [&](const auto& failure) { return failure.property == property; });
  }

  void progress(double begin) {
    long cases = 0;
    for (const Tally& tally : tallies_) cases += tally.cases;
    std::fprintf(stderr, "%.0f s: %ld cases, %zu kinds of failures\n", now() - begin, cases, groups_.size());
    last_word_ = now();
  }
  void table(double begin) const {
    std::printf("\nseed %llu, %d ranks, %.0f s\n", static_cast<unsigned long long>(settings_.seed), world_.all.size(),
                now() - begin);
    std::printf("%-24s %9s %9s %9s  %s\n", "operation", "cases", "skipped", "failed", "worst share of a bound");
    for (const std::size_t k : settings_.chosen) {
      const Tally& tally = tallies_[k];
      std::printf("%-24s %9ld %9ld %9ld ", operations()[k].name, tally.cases, tally.skipped, tally.failures);
      for (const auto& [property, share] : tally.worst) std::printf(" %s %.2g;", property.c_str(), share);
      std::printf("\n");
      for (auto [name, values] : tally.observed) {
        std::sort(values.begin(), values.end());
        std::printf("%-24s   %s: smallest %.3g, median %.3g, nine of ten below %.3g, largest %.3g of %zu\n", "",
                    name.c_str(), values.front(), values[values.size() / 2], values[values.size() * 9 / 10],
                    values.back(), values.size());
      }
    }
    for (const auto& [kind, count] : groups_) std::printf("failed %6ld times: %s\n", count, kind.c_str());
  }

  const World& world_;
  const Settings& settings_;
  std::vector<Tally> tallies_;
  std::map<std::string, long> groups_;
  double last_word_ = 0;
};

[[noreturn]] void bad_usage(const std::string& why) {
  throw Error(ErrorKind::argument, why + "; see the comment at the head of tests/hunt/hunt.cpp");
}

std::vector<std::size_t> operations_from(const std::string& names) {
  std::vector<std::size_t> chosen;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    const auto found = std::find_if(operations().begin(), operations().end(),
                                    [&](const HuntedOperation& operation) { return operation.name == name; });
    if (found == operations().end()) bad_usage("--only " + name + ": no such operation");
    chosen.push_back(static_cast<std::size_t>(found - operations().begin()));
    begin = end + 1;
  }
  return chosen;
}

Settings settings_from(int argc, char** argv) {
  Settings settings;
  for (std::size_t k = 0; k < operations().size(); ++k) settings.chosen.push_back(k);
  for (int at = 1; at < argc; ++at) {
    const std::string option = argv[at];
    if (option == "--list" || option == "--no-shrink" || option == "--print") {
      settings.list = settings.list || option == "--list";
      settings.print = settings.print || option == "--print";
      settings.shrink = settings.shrink && option != "--no-shrink";
      continue;
    }
    if (++at == argc) bad_usage(option + ": an option that is unknown or lacks its value");
    const std::string value = argv[at];
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (option != "--only" && (value.empty() || *end != '\0' || !(number >= 0))) {
      bad_usage(option + " " + value + ": not a number >= 0");
    }
    if (option == "--seed") {
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (option == "--only") {
      settings.chosen = operations_from(value);
    } else if (option == "--cases") {
      settings.cases = static_cast<long>(number);
    } else if (option == "--minutes") {
      settings.minutes = number;
    } else if (option == "--first" || option == "--case") {
      settings.first = static_cast<long>(number);
      settings.cases = option == "--case" ? 1 : settings.cases;
    } else if (option == "--failures") {
      settings.failures = static_cast<long>(number);
    } else {
      bad_usage(option + ": unknown option");
    }
  }
  return settings;
}

int hunt(int argc, char** argv) {
  const World world;
  try {
    const Settings settings = settings_from(argc, argv);
    if (settings.list) {
      for (const HuntedOperation& operation : operations()) {
        if (world.root()) std::puts(operation.name);
      }
      return 0;
    }
    return Hunt(world, settings).run();
  } catch (const Error& error) {
    if (world.root()) std::fprintf(stderr, "test_hunt: %s\n", error.what());
    return error.kind() == ErrorKind::argument ? 2 : 1;
  }
}

}  // namespace
}  // namespace heddle::hunt

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) {
    std::signal(signal, heddle::hunt::stopped);
  }
  int code = 0;
  {
    const Kokkos::ScopeGuard kokkos(heddle::bind_device(MPI_COMM_WORLD).settings());
    code = heddle::hunt::hunt(argc, argv);
  }
  MPI_Finalize();
  return code;
}
