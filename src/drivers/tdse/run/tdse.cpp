// `heddle tdse`: reads a deck and runs its propagation, scan or lowest levels.
#include "drivers/commands.hpp"
#include "drivers/shared_files.hpp"
#include "drivers/support/process/standard_output.hpp"
#include "drivers/support/process/text.hpp"
#include "drivers/tdse/deck/deck.hpp"
#include "drivers/tdse/deck/files.hpp"
#include "drivers/tdse/record/record.hpp"
#include "drivers/tdse/run/levels.hpp"
#include "drivers/tdse/run/problem.hpp"
#include "drivers/tdse/run/run.hpp"
#include "drivers/tdse/run/scan.hpp"

#include <CLI/Error.hpp>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

namespace {

constexpr const char* shipped_decks =
    "h2plus, h2plus-laser, h2plus-stretch, h2plus-stationary, harmonic-coherent, harmonic-spectrum, drift";

struct Options {
  std::string deck;
  std::vector<std::string> settings;
  bool keys = false;
  LevelsOptions levels;
  std::string scan;
  std::string plot;
  std::string output;
  std::optional<double> checkpoint;
  std::string propagator;
  std::string arithmetic;
  RunOptions run;
};

// The report contains the deck with these settings applied.
OptionTable<Options> deck_options() {
  return {
      {"--input,-i,deck",
       &Options::deck,
       Text{"DECK"},
       std::string("TOML file, or the name of a shipped deck: ") + shipped_decks,
       {.enters = false}},
      {"--set",
       &Options::settings,
       Text{"KEY=VALUE"},
       "Replace or add a key of the deck: --set table.key=value, of the first pulse --set pulse.1.key=value; "
       "--set table.key= removes a key, whose default then applies (repeatable)",
       {.enters = false, .one_each = true}},
      {"--output,-o",
       &Options::output,
       Text{},
       "Same as --set output.file=FILE; with --eigen the CSV to write of levels, potential and densities; with --scan "
       "the HDF5 file of all points (default: output.file's name with .scan.h5)",
       {.enters = false}},
      {"--plot", &Options::plot, Text{"PNG"},
       "With --eigen: picture of the potential, the levels and the densities on them; with --scan: of populations, "
       "ionisation and harmonic spectra"},
      {"--checkpoint",
       &Options::checkpoint,
       Number{.least = 0, .type_name = "SECONDS"},
       "Same as --set output.checkpoint_seconds=SECONDS",
       {.enters = false}},
      {"--propagator",
       &Options::propagator,
       Text{"KIND"},
       "Same as --set propagator.kind=...: expm, magnus4, chebyshev, split-operator, crank-nicolson, or auto: the "
       "cheapest for propagator.tolerance",
       {.enters = false}},
      {"--arithmetic",
       &Options::arithmetic,
       choice({"native", "emulated", "auto"}),
       "Same as --set propagator.arithmetic=...: of the matrix products, native, emulated (by 8-bit integers: the same "
       "bits for any tile, on CPUs and GPUs) or auto",
       {.enters = false}},
      {"--keys", &Options::keys, Flag{}, "List every key of a deck with its default, and leave", {.enters = false}},
      {"--eigen", in_member(&Options::levels, &LevelsOptions::count), Integer{.least = 1},
       "Compute the N lowest energies at t = 0 and no dynamics"},
      {"--scan",
       &Options::scan,
       Text{"KEY=FIRST:LAST:STEP"},
       "Run the deck for many values of one of its keys, as nuclei.omega=1:5:0.25 or nuclei.omega=1,2,5; ranks share "
       "the values. One file has energies, populations, ionisation and harmonic spectra of all",
       {.excludes = "--eigen"}},
  };
}

OptionTable<RunOptions> run_options() {
  return {
      {"--restart",
       &RunOptions::restart,
       Text{},
       "Continue the run in this file (FILE.h5, or FILE.partial.h5 of a killed one), bit for bit, up to time.steps; "
       "without a DECK, by the one that it holds. With --scan: take over the points that this file of a scan has",
       {.excludes = "--eigen"}},
      {"--force",
       &RunOptions::force,
       Flag{},
       "Replace output.file and output.table, and an unfinished run, that are there",
       {.enters = false}},
      {"--tile", &RunOptions::tile, Integer{.least = 1},
       "Tile of the matrix products (default: from the number of points alone, so that the bits do not depend on the "
       "ranks)"},
      {"--certificate",
       &RunOptions::certificate,
       Flag{},
       "Prove each exponential of propagators expm and magnus4: the largest bound of |E - exp(-i H dt)| / "
       "|exp(-i H dt)| (1-norm), and fail where it is above its tolerance. An exponential takes some 50 times as long; "
       "errors of the propagator itself are not looked at",
       {.excludes = "--eigen"}},
      {"--certificate-tolerance",
       &RunOptions::certificate_tolerance,
       Number{.least = 0},
       "What the certificate has to keep (default: 1e3 n u max(1, |H dt|), at most 1e-6)",
       {.needs = "--certificate"}},
      {"--allow-growth",
       &RunOptions::allow_growth,
       Flag{},
       "Take steps in which the Taylor series of propagator.degree makes psi grow, too: to see it grow, or where psi "
       "has no part in the highest states of the grid. They are refused otherwise",
       {.excludes = "--eigen"}},
  };
}

const OptionTable<Options>& all_options() {
  static const OptionTable<Options> table = deck_options().include(&Options::run, run_options());
  return table;
}

// Return the path of a deck given by path or by the name of a shipped deck.
std::string deck_path(const std::string& given) {
  std::error_code error;
  if (std::filesystem::exists(given, error) || given.find('/') != std::string::npos) return given;
  const auto shipped = find_shared("decks/" + given + (given.ends_with(".toml") ? "" : ".toml"));
  return shipped ? shipped->string() : given;
}

std::string read_text(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw Error(ErrorKind::input, path + ": there is no such deck (shipped ones: " + shipped_decks + ')');
  }
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, error)) throw Error(ErrorKind::input, path + ": can't be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A deck's text and its name in messages; relative file names in it begin in the name's folder.
struct DeckText {
  std::string name;
  std::string text;
};

// Read the given deck or, without one, the deck of the run to be continued.
DeckText deck_of(const Communicator& comm, const Options& options) {
  DeckText deck;
  comm.on_rank(0, [&] {
    if (options.deck.empty()) {
      const StoredDeck stored = read_stored_deck(options.run.restart);
      deck.name = (stored.folder / std::filesystem::path(options.run.restart).filename()).string();
      deck.text = stored.text;
    } else {
      deck.name = deck_path(options.deck);
      deck.text = read_text(deck.name);
    }
  });
  comm.broadcast(deck.name, 0);
  comm.broadcast(deck.text, 0);
  return deck;
}

// Return the arguments of --set and of the options that abbreviate some.
std::vector<std::string> settings_of(const Options& options) {
  std::vector<std::string> settings = options.settings;
  const bool is_run = options.levels.count == 0 && options.scan.empty();
  if (!options.output.empty() && is_run) settings.push_back("output.file=" + options.output);
  if (!options.propagator.empty()) settings.push_back("propagator.kind=" + options.propagator);
  if (!options.arithmetic.empty()) settings.push_back("propagator.arithmetic=" + options.arithmetic);
  if (options.checkpoint) settings.push_back("output.checkpoint_seconds=" + std::to_string(*options.checkpoint));
  return settings;
}

Deck complete_deck(const Communicator& comm, const DeckText& given, const std::vector<std::string>& settings) {
  Deck deck = read_deck(given.text, given.name, settings);
  read_files(comm, deck);
  return deck;
}

int scan(Context& context, const Options& options) {
  require(!options.run.certificate, "--scan and --certificate are both given; expected one of them");
  const Scan scan = read_scan(options.scan);
  require(!options.deck.empty(), "--scan needs a DECK");
  const DeckText given = deck_of(context.comm(), options);
  std::vector<std::string> settings = settings_of(options);
  std::vector<Deck> decks;
  for (std::size_t k = 0; k < scan.values.size(); ++k) {
    settings.push_back(scan.setting(k));
    try {
      decks.push_back(complete_deck(context.comm(), given, settings));
    } catch (const Error& error) {
      throw Error(error.kind(), "--scan " + options.scan + ": " + error.what());
    }
    settings.pop_back();
  }
  if (options.output.empty()) require_outputs_below(decks.front(), {});
  nlohmann::ordered_json inputs = deck_inputs(decks.front());
  all_options().enter(options, inputs);
  return run_scan(context, scan, decks, options.run, {options.output, options.plot}, inputs);
}

int run(Context& context, const Options& options) {
  const Communicator& comm = context.comm();
  const bool levels_alone = options.levels.count > 0;
  if (!options.scan.empty()) return scan(context, options);
  require(levels_alone || options.plot.empty(), "--plot is for --eigen and --scan; heddle plot draws a run's file");
  Deck deck = complete_deck(comm, deck_of(comm, options), settings_of(options));
  if (!levels_alone) require_outputs_below(deck, options.run.restart);
  // Only two of automatic's methods can be certified; both compute the same exponentials.
  const bool chosen = deck.propagator.kind == schrodinger::PropagatorKind::automatic;
  if (options.run.certificate && chosen && deck.propagator.tolerance == 0) {
    deck.propagator.kind = schrodinger::PropagatorKind::expm;
  }
  const schrodinger::Hamiltonian hamiltonian(deck.grid, deck.potential, deck.nuclei, deck.pulses, deck.absorber);
  nlohmann::ordered_json inputs = deck_inputs(deck);
  all_options().enter(options, inputs);
  if (levels_alone) {
    LevelsOptions levels = options.levels;
    levels.output = options.output;
    levels.plot = options.plot;
    return run_eigenstates(context, deck, hamiltonian, levels, inputs);
  }
  return run_dynamics(context, deck, hamiltonian, options.run, inputs);
}

int list_keys() {
  print_text("Keys of a deck, their defaults and meaning; all quantities in atomic units:\n" + deck_reference());
  return exit_done;
}

}  // namespace

void add_tdse(CLI::App& app, Selection& selection) {
  const CommandHelp help = {
      "tdse", "Time-dependent Schroedinger equation of one electron in one dimension, or its lowest energies",
      "  heddle tdse h2plus && heddle plot h2plus.h5\n"
      "  heddle tdse h2plus-stationary --eigen 4 --set nuclei.separation=1.5 --plot levels.png\n"
      "  mpirun -n 2 heddle tdse h2plus-stretch --scan nuclei.omega=1:5:0.25 --propagator chebyshev --plot scan.png"};
  add_command(app, selection, help, all_options(), [&selection](const Options& options) {
    if (options.keys) {
      selection.serial = [](const CommonOptions& /*common*/) { return list_keys(); };
      return;
    }
    if (options.deck.empty() && options.run.restart.empty()) throw CLI::RequiredError("DECK");
    selection.parallel = [options](Context& context) { return run(context, options); };
  });
}

}  // namespace heddle::driver
