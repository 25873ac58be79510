// `heddle info`: libraries, devices and transports of this build and this job.
#include "drivers/commands.hpp"
#include "drivers/support/blas_hint.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/comm/transport.hpp>
#include <heddle/core/version.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/gemm/tile_model.hpp>
#include <heddle/tuning/rates.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <sstream>
#include <vector>

namespace heddle::driver {
namespace {

// Gather a line of each rank, in order of rank, on every rank.
std::vector<std::string> gather_lines(const Communicator& comm, const std::string& mine) {
  std::array<char, 256> text{};
  std::copy_n(mine.begin(), std::min(mine.size(), text.size() - 1), text.begin());
  std::vector<char> all(text.size() * static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const char>(text), std::span(all));
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < all.size(); begin += text.size()) lines.emplace_back(all.data() + begin);
  return lines;
}

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data(), static_cast<std::size_t>(length));
  // Open MPI's text continues with its packager and date.
  return one_line(version.substr(0, version.find(',')));
}

std::string processor_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> text{};
  int length = 0;
  MPI_Get_processor_name(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

// Kokkos' own description, one line each.
std::vector<std::string> kokkos_configuration() {
  std::ostringstream stream;
  Kokkos::print_configuration(stream);
  std::istringstream text(stream.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (const std::string clean = one_line(line); !clean.empty()) lines.push_back(clean);
  }
  return lines;
}

struct Options {
  bool verbose = false;
};

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = {
      {"--verbose", &Options::verbose, Flag{}, "Also print Kokkos' whole configuration"},
  };
  return table;
}

template <Scalar T> nlohmann::ordered_json rates_entry(const Context& context, const char* scalar) {
  const bool known = load_rates<T>(context.comm()).has_value();
  const std::string file = rates_file<T>(context.comm()).string();
  context.say(format("  %-14s %s %s", scalar, known ? "known, " : "not yet measured,",
                     file.empty() ? "and not kept: neither HOME nor XDG_CACHE_HOME is set" : file.c_str()));
  return {{"known", known}, {"file", file}};
}

// List the libraries that the build lacks and the features that each would add.
void show_absent(const Context& context, nlohmann::ordered_json& results) {
  auto absent = nlohmann::ordered_json::array();
  for (const AbsentLibrary& library : absent_libraries()) {
    const std::string name(library.name), adds(library.adds), package(library.package);
    absent.push_back({{"name", name}, {"adds", adds}, {"debian_package", package}});
    context.say(format("%-11s %s would add %s (Debian: %s)", "without", name.c_str(), adds.c_str(), package.c_str()));
  }
  results["absent"] = absent;
}

// Print the transports between ranks, one row per rank, and the reason for their choice.
void show_transport(const Context& context, nlohmann::ordered_json& results) {
  const Communicator& comm = context.comm();
  const Transport transport = transport_of(comm);
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<TransportKind> mine;
  for (int rank = 0; rank < comm.size(); ++rank) mine.push_back(transport.kind(rank));
  std::vector<TransportKind> all(ranks * ranks);
  comm.all_gather(std::span<const TransportKind>(mine), std::span(all));
  std::map<TransportKind, std::string> reasons;
  for (int rank = 0; rank < comm.size(); ++rank) reasons.try_emplace(transport.kind(rank), transport.reason(rank));
  const bool one = reasons.size() == 1;
  const std::string here(to_string(transport.kind(comm.rank())));
  results["transport"] = {{"kind", here}, {"reason", transport.reason(comm.rank())}};
  auto ways = nlohmann::ordered_json::array();
  const char* label = "transport";
  for (const auto& [kind, reason] : reasons) {
    context.say(format("%-11s %s: %s", label, std::string(to_string(kind)).c_str(), reason.c_str()));
    ways.push_back({{"kind", to_string(kind)}, {"reason", reason}});
    label = "";
  }
  results["transport"]["ways"] = ways;
  auto matrix = nlohmann::ordered_json::array();
  for (std::size_t row = 0; row < ranks; ++row) {
    auto of_rank = nlohmann::ordered_json::array();
    std::string line;
    for (std::size_t column = 0; column < ranks; ++column) {
      const std::string kind(to_string(all[row * ranks + column]));
      of_rank.push_back(kind);
      line += format(" %-6s", kind.c_str());
    }
    matrix.push_back(of_rank);
    constexpr std::size_t most_shown = 16;
    if (!one && ranks <= most_shown) context.say(format("  rank %-4zu %s", row, line.c_str()));
  }
  results["transport"]["matrix"] = matrix;
  auto transports = nlohmann::ordered_json::array();
  for (const TransportKind kind : transport_kinds) {
    const Availability found = availability(comm, kind);
    transports.push_back({{"kind", to_string(kind)}, {"available", found.available}, {"reason", found.reason}});
    if (!reasons.contains(kind)) {
      context.say(format("            %s %s: %s", found.available ? "also" : "not",
                         std::string(to_string(kind)).c_str(), found.reason.c_str()));
    }
  }
  results["transports"] = transports;
}

int run(Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  auto report = context.report("info");
  all_options().enter(options, report.inputs());
  auto& results = report.results();
  const auto show = [&](const char* key, const char* label, const std::string& value) {
    results[key] = value;
    context.say(format("%-11s %s", label, value.c_str()));
  };
  show("version", "heddle", std::string(version()));
  show("git_hash", "commit", std::string(git_hash()));
  show("kokkos", "Kokkos",
       format("%d.%d.%d, %s, concurrency %d", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100,
              ExecutionSpace::name(), comm.space().concurrency()));
  show("blas", "BLAS", blas::description());
  show("integers", "integers", emulation_description());
  if (const auto hint = blas_hint(); !hint.empty()) show("blas_hint", "", hint);
  show("mpi", "MPI", mpi_version());
  show_absent(context, results);
  const int nodes = comm.nodes();
  results["ranks"] = comm.size();
  results["nodes"] = nodes;
  context.say(format("ranks       %d on %d node%s", comm.size(), nodes, nodes == 1 ? "" : "s"));
  show_transport(context, results);
  context.say("devices");
  auto devices = nlohmann::ordered_json::array();
  const auto bindings = gather_lines(comm, context.device().describe());
  const auto names = gather_lines(comm, processor_name());
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    context.say(format("  rank %d     %s: %s", rank, names[index].c_str(), bindings[index].c_str()));
    devices.push_back({{"rank", rank}, {"node", names[index]}, {"binding", bindings[index]}});
  }
  results["devices"] = devices;
  context.say("rates for the tile model");
  results["rates"] = {{"double", rates_entry<double>(context, "double")},
                      {"float", rates_entry<float>(context, "float")},
                      {"complex_double", rates_entry<Kokkos::complex<double>>(context, "complex-double")},
                      {"complex_float", rates_entry<Kokkos::complex<float>>(context, "complex-float")}};
  results["kokkos_configuration"] = kokkos_configuration();
  if (options.verbose) {
    context.say("Kokkos configuration");
    for (const std::string& line : kokkos_configuration()) context.say("  " + line);
  }
  return context.finish(report);
}

}  // namespace

void add_info(CLI::App& app, Selection& selection) {
  add_command(app, selection,
              {"info", "Version, Kokkos, MPI, transport, devices and BLAS in use", "  mpirun -n 4 heddle info"},
              all_options(), run);
}

}  // namespace heddle::driver
