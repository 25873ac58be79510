// Reading and key-by-key checks of a deck, the TOML input of `heddle tdse`.
#include "drivers/tdse/deck/deck.hpp"

#include "drivers/support/process/text.hpp"
#include "drivers/support/process/toml.hpp"
#include "drivers/tdse/deck/keys.hpp"
#include "drivers/tdse/deck/limits.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

namespace heddle::driver {

namespace {

// A value of the deck or of --set, with its place for messages.
struct Given {
  TomlValue node;
  std::string place;
  std::string raw;  // as --set gives it
};

[[noreturn]] void refuse(const std::string& place, const std::string& message) {
  throw Error(ErrorKind::input, place + ": " + one_line(message));
}

[[noreturn]] void refuse_type(const std::string& key, const Given& given, const char* expected) {
  refuse(given.place, key + " is " + given.node.kind + "; expected " + expected);
}

void assign(const std::string& key, const Given& given, double& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&given.node.value)) {
    value = static_cast<double>(*whole);
  } else if (const auto* number = std::get_if<double>(&given.node.value)) {
    value = *number;
  } else {
    refuse_type(key, given, "a number");
  }
  if (!std::isfinite(value)) refuse(given.place, key + " = " + value_text(value) + " must be a finite number");
}

void assign(const std::string& key, const Given& given, Index& value) {
  constexpr double most = 0x1p53;  // Up to here every whole number is a double.
  const auto* number = std::get_if<double>(&given.node.value);
  if (const auto* whole = std::get_if<std::int64_t>(&given.node.value)) {
    value = *whole;
  } else if (number != nullptr && std::abs(*number) <= most && std::trunc(*number) == *number) {
    value = static_cast<Index>(*number);  // As in 1e3.
  } else {
    refuse_type(key, given, "a whole number");
  }
}

void assign(const std::string& key, const Given& given, int& value) {
  Index wide = 0;
  assign(key, given, wide);
  if (wide < 0 || wide > 1000) refuse(given.place, message_of(key, " = ", wide, " must be from 0 to 1000"));
  value = static_cast<int>(wide);
}

void assign(const std::string& key, const Given& given, std::vector<Index>& values) {
  const auto* array = std::get_if<TomlArray>(&given.node.value);
  if (array == nullptr) refuse_type(key, given, "whole numbers, as [0, 1, 2]");
  values.clear();
  for (const TomlEntry& item : array->items) {
    assign(key, {item.value, given.place, {}}, values.emplace_back());
  }
}

void assign(const std::string& key, const Given& given, bool& value) {
  const auto* flag = std::get_if<bool>(&given.node.value);
  if (flag == nullptr) refuse_type(key, given, "true or false");
  value = *flag;
}

void assign(const std::string& key, const Given& given, std::string& value) {
  if (const auto* text = std::get_if<std::string>(&given.node.value)) {
    value = *text;
  } else if (!given.raw.empty()) {
    value = given.raw;
  } else {
    refuse_type(key, given, "text");
  }
}

template <class Enum, class Read> void assign_name(const std::string& key, const Given& given, Enum& value, Read read) {
  std::string text;
  assign(key, given, text);
  try {
    value = read(text);
  } catch (const Error& error) {
    refuse(given.place, key + ": " + error.what());
  }
}
void assign(const std::string& key, const Given& given, schrodinger::Kinetic& value) {
  assign_name(key, given, value, schrodinger::kinetic_from);
}
void assign(const std::string& key, const Given& given, schrodinger::PotentialKind& value) {
  assign_name(key, given, value, schrodinger::potential_kind_from);
}
void assign(const std::string& key, const Given& given, schrodinger::Motion& value) {
  assign_name(key, given, value, schrodinger::motion_from);
}
void assign(const std::string& key, const Given& given, schrodinger::PropagatorKind& value) {
  assign_name(key, given, value, schrodinger::propagator_kind_from);
}
void assign(const std::string& key, const Given& given, Arithmetic& value) {
  assign_name(key, given, value, arithmetic_from);
}
void assign(const std::string& key, const Given& given, schrodinger::Envelope& value) {
  assign_name(key, given, value, schrodinger::envelope_from);
}
void assign(const std::string& key, const Given& given, schrodinger::AbsorberKind& value) {
  assign_name(key, given, value, schrodinger::absorber_kind_from);
}
void assign(const std::string& key, const Given& given, schrodinger::Window& value) {
  assign_name(key, given, value, schrodinger::window_from);
}
void assign(const std::string& key, const Given& given, InitialKind& value) {
  assign_name(key, given, value, initial_kind_from);
}

using GivenKeys = std::map<std::string, Given>;

void refuse_unknown(const std::string& place, const std::string& key) {
  const auto keys = known_keys();
  if (std::find(keys.begin(), keys.end(), without_number(key)) == keys.end()) {
    refuse(place, "unknown key " + key + "; the nearest known one is " + nearest_key(key));
  }
}

void collect_table(const TomlTable& entries, const std::string& table, const std::string& name, GivenKeys& given) {
  for (const TomlEntry& entry : entries) {
    const std::string key = table + '.' + entry.key;
    const std::string place = message_of(name, ", line ", entry.line);
    refuse_unknown(place, key);
    given[key] = {entry.value, place, {}};
  }
}

void collect_pulses(const TomlEntry& entry, const std::string& name, GivenKeys& given) {
  const std::string place = message_of(name, ", line ", entry.line);
  const auto* array = std::get_if<TomlArray>(&entry.value.value);
  if (array == nullptr) refuse(place, "pulse is " + entry.value.kind + "; expected tables, each headed [[pulse]]");
  for (std::size_t k = 0; k < array->items.size(); ++k) {
    const auto* table = std::get_if<TomlTable>(&array->items[k].value.value);
    if (table == nullptr) refuse(place, "pulse holds " + array->items[k].value.kind + "; expected tables");
    const std::string number = "pulse." + std::to_string(k + 1);
    // Messages about a key missing in this table name the table's line.
    given[number] = {array->items[k].value, message_of(name, ", line ", array->items[k].line), {}};
    collect_table(*table, number, name, given);
  }
}

void collect(const TomlTable& deck, const std::string& name, GivenKeys& given) {
  for (const TomlEntry& entry : deck) {
    const std::string place = message_of(name, ", line ", entry.line);
    const std::string& table = entry.key;
    if (table == "pulse") {
      collect_pulses(entry, name, given);
      continue;
    }
    const auto* entries = std::get_if<TomlTable>(&entry.value.value);
    if (entries == nullptr) {
      const auto* array = std::get_if<TomlArray>(&entry.value.value);
      const bool tables = array != nullptr && !array->items.empty() &&
                          std::holds_alternative<TomlTable>(array->items.front().value.value);
      if (tables) refuse(place, "[[" + table + "]] is a list of tables, as [[pulse]] alone may be");
      refuse(place, "unknown key " + table + " outside any table; the nearest known one is " + nearest_key(table));
    }
    collect_table(*entries, table, name, given);
    if (entries->empty()) {
      const auto keys = known_keys();
      if (std::none_of(keys.begin(), keys.end(), [&](const auto& key) { return key.starts_with(table + '.'); })) {
        refuse(place, "unknown table [" + table + "]; the nearest known key is " + nearest_key(table));
      }
    }
  }
}

void forget_decks(const char* key, GivenKeys& given) {
  const auto found = given.find(key);
  if (found != given.end() && found->second.raw.empty()) given.erase(found);
}

// Remove keys that exclude `key`, so that --set replaces them.
void forget_others(const std::string& key, GivenKeys& given) {
  const std::string table = key.substr(0, key.rfind('.') + 1);
  if (key == "grid.points") given.erase("grid.dx");
  if (key == "grid.dx") given.erase("grid.points");
  if (key == "initial.level") given.erase("initial.levels");
  if (key == "initial.levels") given.erase("initial.level");
  // Remove the deck's value only: if --set gives both, they contradict each other.
  if (key == "propagator.degree") forget_decks("propagator.tolerance", given);
  if (key == "propagator.tolerance") forget_decks("propagator.degree", given);
  if (!key.starts_with("pulse.")) return;
  const std::string name = key.substr(table.size());
  std::string of = name;
  for (const PulseUnit& unit : pulse_units()) {
    if (unit.name == name) of = unit.of;
  }
  for (const PulseUnit& unit : pulse_units()) {
    if (unit.of != of) continue;
    if (name != unit.name) given.erase(table + unit.name);
    if (name != of) given.erase(table + of);
  }
}

// Read "table.key=value", or remove the key for "table.key=".
void collect_setting(const std::string& setting, GivenKeys& given) {
  const std::string place = "--set " + setting;
  const auto equals = setting.find('=');
  const auto trimmed = [](std::string text) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
    return text;
  };
  if (equals == std::string::npos) refuse(place, "expected table.key=value");
  std::string key = trimmed(setting.substr(0, equals));
  const std::string raw = trimmed(setting.substr(equals + 1));
  refuse_unknown(place, key);
  if (key.starts_with("pulse.") && without_number(key) == key) key.insert(6, "1.");
  if (raw.empty()) {
    given.erase(key);
    return;
  }
  forget_others(key, given);
  TomlValue value{raw, "text"};
  try {
    const TomlTable parsed = parse_toml("value = " + raw, {});
    if (parsed.size() != 1) refuse(place, "expected one value");
    value = parsed.front().value;
  } catch (const TomlError&) {  // NOLINT(bugprone-empty-catch)
    // `value` stays the raw text.
  }
  given[key] = {value, place, raw};
}

// Return the highest number of a pulse among the keys.
std::size_t pulses_in(const GivenKeys& given) {
  std::size_t count = 0;
  for (const auto& [key, value] : given) {
    std::size_t number = 0;
    if (!key.starts_with("pulse.")) continue;
    std::from_chars(key.data() + 6, key.data() + key.size(), number);
    constexpr std::size_t most = 1000;
    if (number < 1 || number > most) refuse(value.place, message_of(key, ": pulses are counted from 1 to ", most));
    count = std::max(count, number);
  }
  return count;
}

// Resolve other units and the centre of one pulse, and check its required keys; its own keys are already assigned.
void resolve_pulse(const std::string& name, const GivenKeys& given, const std::string& prefix,
                   schrodinger::Pulse& pulse) {
  const auto table = given.find(prefix.substr(0, prefix.size() - 1));
  const std::string place = table == given.end() ? name : table->second.place;
  const std::map<std::string_view, double*> members = {
      {"amplitude", &pulse.amplitude}, {"omega", &pulse.omega}, {"duration", &pulse.duration}, {"ramp", &pulse.ramp}};
  for (const char* of : {"amplitude", "omega", "duration", "ramp"}) {
    std::string taken = given.contains(prefix + of) ? prefix + of : "";
    std::string others;
    for (const PulseUnit& unit : pulse_units()) {
      if (std::string_view(unit.of) != of) continue;
      const std::string key = prefix + unit.name;
      others += (others.empty() ? "" : ", ") + std::string(unit.name);
      const auto found = given.find(key);
      if (found == given.end()) continue;
      if (!taken.empty()) refuse(found->second.place, taken + " and " + key + " are both given; expected one of them");
      taken = key;
      double value = 0.0;
      assign(key, found->second, value);
      try {
        *members.at(of) = unit.convert(value, pulse);
      } catch (const Error& error) {
        refuse(found->second.place, key + ": " + error.what());
      }
      if (!std::isfinite(*members.at(of))) refuse(found->second.place, key + " needs a carrier: omega is 0");
    }
    if (taken.empty() && std::string_view(of) != "ramp") refuse(place, prefix + of + " (or " + others + ") is missing");
  }
  if (!given.contains(prefix + "centre")) pulse.centre = -pulse.interval()[0];
  try {
    validate(pulse);
  } catch (const Error& error) {
    refuse(place, error.what());
  }
}

// Return expm if a setting applies to exponentials only, otherwise automatic.
schrodinger::PropagatorKind default_kind(const GivenKeys& given, const Deck& deck) {
  const bool free = deck.propagator.arithmetic == Arithmetic::native && deck.propagator.degree == 0 &&
                    !given.contains("propagator.substeps");
  return free ? schrodinger::PropagatorKind::automatic : schrodinger::PropagatorKind::expm;
}

void resolve_points(const std::string& name, const GivenKeys& given, Deck& deck) {
  for (const char* key : {"grid.xmin", "grid.xmax"}) {
    if (!given.contains(key)) refuse(name, std::string(key) + " is missing");
  }
  const auto points = given.find("grid.points");
  const auto dx = given.find("grid.dx");
  if (points == given.end() && dx == given.end()) refuse(name, "grid.points (or grid.dx) is missing");
  if (points != given.end() && dx != given.end()) {
    refuse(dx->second.place, "grid.points and grid.dx are both given; expected one of them");
  }
  constexpr Index most = 1'000'000;
  if (dx != given.end()) {
    if (!(deck.dx > 0)) refuse(dx->second.place, "grid.dx = " + value_text(deck.dx) + " must be positive");
    const double steps = std::round((deck.grid.xmax - deck.grid.xmin) / deck.dx);
    if (steps >= most)
      refuse(dx->second.place, message_of("grid.dx = ", value_text(deck.dx), " gives more than ", most, " points"));
    deck.grid.points = std::max<Index>(static_cast<Index>(steps) + 1, 0);
  } else if (deck.grid.points > most) {
    refuse(points->second.place, message_of("grid.points = ", deck.grid.points, " must be at most ", most));
  }
}

void check_ranges(const std::string& name, const GivenKeys& given, const Deck& deck) {
  const auto check = [&](const char* key, bool good, const std::string& message) {
    if (good) return;
    const auto found = given.find(key);
    refuse(found == given.end() ? name : found->second.place, message);
  };
  check("time.step", deck.time_step > 0, "time.step = " + value_text(deck.time_step) + " must be positive");
  check("time.steps", deck.time_steps >= 0, message_of("time.steps = ", deck.time_steps, " must not be negative"));
  check("initial.level", deck.initial_level >= 0 && deck.initial_level < deck.grid.points,
        message_of("initial.level = ", deck.initial_level, ": the grid has levels 0 to ", deck.grid.points - 1));
  const auto levels = deck.levels();
  check("initial.levels",
        std::all_of(levels.begin(), levels.end(),
                    [&](Index level) {
                      return level >= 0 && level < deck.grid.points &&
                             std::count(levels.begin(), levels.end(), level) == 1;
                    }),
        message_of("initial.levels = ", value_text(levels), ": expected different levels from 0 to ",
                   deck.grid.points - 1));
  check("initial.levels", deck.initial_levels.empty() || !given.contains("initial.level") || deck.initial_level == 0,
        "initial.level and initial.levels are both given; expected one of them");
  check("initial.levels",
        deck.initial_levels.empty() || deck.initial == InitialKind::eigenstate ||
            deck.initial == InitialKind::imaginary_time,
        "initial.levels needs initial.kind = eigenstate or imaginary-time");
  check("initial.tolerance", deck.initial_tolerance > 0,
        "initial.tolerance = " + value_text(deck.initial_tolerance) + " must be positive");
  check("initial.width", deck.initial_width > 0,
        "initial.width = " + value_text(deck.initial_width) + " must be positive");
  check("propagator.degree", deck.propagator.degree == 0 || deck.propagator.tolerance == 0,
        "propagator.degree and propagator.tolerance are both given; a degree of 0 leaves the choice to the tolerance");
  check("output.every", deck.output_every >= 1,
        message_of("output.every = ", deck.output_every, " must be at least 1"));
  check("output.states", deck.output_states >= 0 && deck.output_states <= deck.grid.points,
        message_of("output.states = ", deck.output_states, ": the grid has ", deck.grid.points, " states"));
  check("output.radius", deck.output_radius >= 0,
        "output.radius = " + value_text(deck.output_radius) + " must not be negative");
  check("output.spectrum_to",
        deck.output_spectrum_from < deck.output_spectrum_to ||
            (deck.output_spectrum_from == 0 && deck.output_spectrum_to == 0),
        "output.spectrum_to = " + value_text(deck.output_spectrum_to) + " must be greater than output.spectrum_from");
  check("output.harmonics", deck.output_harmonics > 0,
        "output.harmonics = " + value_text(deck.output_harmonics) + " must be positive");
  check("output.checkpoint_seconds", deck.output_checkpoint_seconds >= 0,
        "output.checkpoint_seconds = " + value_text(deck.output_checkpoint_seconds) + " must not be negative");
  check("output.checkpoint_steps", deck.output_checkpoint_steps >= 0,
        message_of("output.checkpoint_steps = ", deck.output_checkpoint_steps, " must not be negative"));
  check("potential.file", deck.potential.kind != schrodinger::PotentialKind::table || !deck.potential_file.empty(),
        "potential.kind = file needs potential.file");
  check("initial.file", deck.initial != InitialKind::file || !deck.initial_file.empty(),
        "initial.kind = file needs initial.file");
  if (const auto beyond = beyond_limits(deck)) check(beyond->key.c_str(), false, beyond->message);
}

}  // namespace

Deck read_deck(const std::string& text, const std::filesystem::path& name, const std::vector<std::string>& settings) {
  TomlTable table;
  try {
    table = parse_toml(text, name.string());
  } catch (const TomlError& error) {
    refuse(message_of(name.string(), ", line ", error.line), error.description);
  }
  GivenKeys given;
  collect(table, name.string(), given);
  for (const auto& setting : settings) collect_setting(setting, given);
  Deck deck;
  deck.pulses.resize(pulses_in(given));
  visit_keys(deck, [&](const std::string& key, auto& value, const char*) {
    const auto found = given.find(key);
    if (found != given.end()) assign(key, found->second, value);
  });
  for (std::size_t k = 0; k < deck.pulses.size(); ++k) {
    resolve_pulse(name.string(), given, "pulse." + std::to_string(k + 1) + '.', deck.pulses[k]);
  }
  resolve_points(name.string(), given, deck);
  const auto from_deck = [&](const char* key) {
    const auto found = given.find(key);
    return found != given.end() && found->second.raw.empty();
  };
  if (from_deck("potential.file")) deck.potential_folder = name.parent_path();
  if (from_deck("initial.file")) deck.initial_folder = name.parent_path();
  if (from_deck("output.file")) deck.output_file_place = given.at("output.file").place;
  if (from_deck("output.table")) deck.output_table_place = given.at("output.table").place;
  if (!given.contains("propagator.kind")) deck.propagator.kind = default_kind(given, deck);
  // The deck's degree was meant for the deck's kind.
  if (from_deck("propagator.degree") && !from_deck("propagator.kind") && !has_degree(deck.propagator.kind)) {
    deck.propagator.degree = 0;
  }
  if (!given.contains("output.states")) deck.output_states = std::clamp<Index>(deck.grid.points, 0, deck.output_states);
  try {
    schrodinger::validate(deck.grid);
    schrodinger::Potential without_table = deck.potential;
    if (deck.potential.kind == schrodinger::PotentialKind::table) {
      // The table is read later; this valid one takes its place.
      without_table.table_x = {deck.grid.xmin, deck.grid.xmax};
      without_table.table_v = {0.0, 0.0};
    }
    schrodinger::validate(deck.grid, without_table, deck.nuclei);
    schrodinger::validate(deck.grid, deck.absorber);
    schrodinger::validate(deck.propagator);
  } catch (const Error& error) {
    refuse(name.string(), error.what());
  }
  check_ranges(name.string(), given, deck);
  if (deck.output_file.empty()) deck.output_file = name.stem().string() + ".h5";
  return deck;
}

}  // namespace heddle::driver
