#include "tdse_deck.hpp"

#include "support/text.hpp"
#include "support/toml.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace heddle::driver {

namespace {

constexpr std::array<std::pair<InitialKind, std::string_view>, 3> initial_names = {
    {{InitialKind::eigenstate, "eigenstate"}, {InitialKind::gaussian, "gaussian"}, {InitialKind::file, "file"}}};

// Every key with its member, in the order in which they are written; `visit` gets (key, member, what it means).
template <class AnyDeck, class Visitor> void visit_keys(AnyDeck& deck, Visitor&& visit) {
  visit("grid.xmin", deck.grid.xmin, "first point, bohr");
  visit("grid.xmax", deck.grid.xmax, "last point, bohr");
  visit("grid.points", deck.grid.points, "number of points, both ends included");
  visit("grid.dx", deck.dx, "spacing instead of points, bohr; rounded so that it divides the width");
  visit("grid.kinetic", deck.grid.kinetic, "kinetic energy: fd2, fd4, fd6 or sinc");
  visit("potential.kind", deck.potential.kind, "soft-core, harmonic or file");
  visit("potential.charge", deck.potential.charge, "Z of each nucleus, in -Z/sqrt((x - X)^2 + a)");
  visit("potential.softening", deck.potential.softening, "a, bohr^2");
  visit("potential.omega", deck.potential.omega, "harmonic: V = omega^2 x^2/2");
  visit("potential.file", deck.potential_file, "file: text with columns x V, interpolated linearly");
  visit("nuclei.separation", deck.nuclei.separation, "R: nuclei at -R/2 and R/2, bohr");
  visit("nuclei.motion", deck.nuclei.motion, "fixed, stretch, shake or drift");
  visit("nuclei.amplitude", deck.nuclei.amplitude,
        "alpha: stretch -/+(R/2 + alpha sin beta t), shake -/+R/2 + alpha sin beta t");
  visit("nuclei.omega", deck.nuclei.omega, "beta");
  visit("nuclei.velocity", deck.nuclei.velocity, "v: drift -/+R/2 + v t");
  visit("time.step", deck.time_step, "dt, atomic units of time");
  visit("time.steps", deck.time_steps, "number of steps");
  visit("initial.kind", deck.initial, "eigenstate (of H at t = 0), gaussian or file");
  visit("initial.level", deck.initial_level, "eigenstate: 0 is the ground state");
  visit("initial.position", deck.initial_position, "gaussian: centre, bohr");
  visit("initial.momentum", deck.initial_momentum, "p: the state is multiplied by exp(i p x), an eigenstate too");
  visit("initial.width", deck.initial_width, "gaussian: standard deviation of |psi|^2, bohr");
  visit("initial.file", deck.initial_file, "file: text with columns x Re [Im], or a .h5 file that heddle tdse wrote");
  visit("propagator.kind", deck.propagator.kind, "expm or crank-nicolson");
  visit("propagator.degree", deck.propagator.degree, "expm: fixed degree of the Taylor series; 0: by tolerance");
  visit("propagator.tolerance", deck.propagator.tolerance, "expm: relative backward error; 0: round-off");
  visit("output.file", deck.output_file, "HDF5 file; empty: the deck's name with .h5, in the current folder");
  visit("output.every", deck.output_every, "steps from one stored density to the next");
  visit("output.state", deck.output_state, "store psi with each density");
  visit("output.states", deck.output_states, "lowest eigenstates of H(t) whose populations are followed; 0: none");
}

std::vector<std::string> known_keys() {
  std::vector<std::string> keys;
  const Deck deck;
  visit_keys(deck, [&](const char* key, const auto&, const char*) { keys.emplace_back(key); });
  return keys;
}

// Least number of single letters to insert, delete or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string nearest_key(const std::string& key) {
  const auto keys = known_keys();
  return *std::min_element(keys.begin(), keys.end(),
                           [&](const auto& a, const auto& b) { return edit_distance(key, a) < edit_distance(key, b); });
}

// Shortest text that reads back to the same number, with a point or an exponent.
std::string number_text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_text(std::string_view text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    if (static_cast<unsigned char>(character) < ' ') {
      result += format("\\u%04x", character);
    } else {
      result += character;
    }
  }
  return result + '"';
}

std::string value_text(double value) {
  return number_text(value);
}
std::string value_text(Index value) {
  return std::to_string(value);
}
std::string value_text(int value) {
  return std::to_string(value);
}
std::string value_text(bool value) {
  return value ? "true" : "false";
}
std::string value_text(const std::string& value) {
  return toml_text(value);
}
template <class Enum>
  requires std::is_enum_v<Enum> std::string value_text(Enum value) {
    return toml_text(to_string(value));
  }

// A value of the deck or of --set, with what to call its place in a message.
struct Given {
  TomlValue node;
  std::string place;
  std::string raw;  // of --set
};

[[noreturn]] void refuse(const std::string& place, const std::string& message) {
  throw Error(ErrorKind::input, place + ": " + message);
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
  if (!std::isfinite(value)) refuse(given.place, key + " = " + number_text(value) + " must be a finite number");
}

void assign(const std::string& key, const Given& given, Index& value) {
  const auto* whole = std::get_if<std::int64_t>(&given.node.value);
  if (whole == nullptr) refuse_type(key, given, "a whole number");
  value = *whole;
}

void assign(const std::string& key, const Given& given, int& value) {
  Index wide = 0;
  assign(key, given, wide);
  if (wide < 0 || wide > 1000) refuse(given.place, message_of(key, " = ", wide, " must be from 0 to 1000"));
  value = static_cast<int>(wide);
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
void assign(const std::string& key, const Given& given, InitialKind& value) {
  assign_name(key, given, value, initial_kind_from);
}

using GivenKeys = std::map<std::string, Given>;

void refuse_unknown(const std::string& place, const std::string& key) {
  const auto keys = known_keys();
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
    refuse(place, "unknown key " + key + "; the nearest known one is " + nearest_key(key));
  }
}

void collect(const TomlTable& deck, const std::string& name, GivenKeys& given) {
  for (const TomlEntry& entry : deck) {
    const std::string place = message_of(name, ", line ", entry.line);
    const std::string& table = entry.key;
    const auto* entries = std::get_if<TomlTable>(&entry.value.value);
    if (entries == nullptr) {
      refuse(place, "unknown key " + table + " outside any table; the nearest known one is " + nearest_key(table));
    }
    for (const TomlEntry& inner : *entries) {
      const std::string full = table + '.' + inner.key;
      const std::string key_place = message_of(name, ", line ", inner.line);
      refuse_unknown(key_place, full);
      given[full] = {inner.value, key_place, {}};
    }
    if (entries->empty()) {
      const auto keys = known_keys();
      if (std::none_of(keys.begin(), keys.end(), [&](const auto& key) { return key.starts_with(table + '.'); })) {
        refuse(place, "unknown table [" + table + "]; the nearest known key is " + nearest_key(table));
      }
    }
  }
}

// "table.key=value".
void collect_setting(const std::string& setting, GivenKeys& given) {
  const std::string place = "--set " + setting;
  const auto equals = setting.find('=');
  const auto trimmed = [](std::string text) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
    return text;
  };
  if (equals == std::string::npos) refuse(place, "expected table.key=value");
  const std::string key = trimmed(setting.substr(0, equals));
  const std::string raw = trimmed(setting.substr(equals + 1));
  refuse_unknown(place, key);
  if (raw.empty()) refuse(place, "a value is missing");
  TomlValue value{raw, "text"};
  try {
    const TomlTable parsed = parse_toml("value = " + raw, {});
    if (parsed.size() != 1) refuse(place, "expected one value");
    value = parsed.front().value;
  } catch (const TomlError&) {
    // Taken as it stands.
  }
  given[key] = {value, place, raw};
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
    if (!(deck.dx > 0)) refuse(dx->second.place, "grid.dx = " + number_text(deck.dx) + " must be positive");
    const double steps = std::round((deck.grid.xmax - deck.grid.xmin) / deck.dx);
    if (steps >= most)
      refuse(dx->second.place, message_of("grid.dx = ", number_text(deck.dx), " gives more than ", most, " points"));
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
  check("time.step", deck.time_step > 0, "time.step = " + number_text(deck.time_step) + " must be positive");
  check("time.steps", deck.time_steps >= 0, message_of("time.steps = ", deck.time_steps, " must not be negative"));
  check("initial.level", deck.initial_level >= 0 && deck.initial_level < deck.grid.points,
        message_of("initial.level = ", deck.initial_level, ": the grid has levels 0 to ", deck.grid.points - 1));
  check("initial.width", deck.initial_width > 0,
        "initial.width = " + number_text(deck.initial_width) + " must be positive");
  check("propagator.tolerance", deck.propagator.tolerance >= 0 && deck.propagator.tolerance < 1,
        "propagator.tolerance = " + number_text(deck.propagator.tolerance) + " must be at least 0 and less than 1");
  check("propagator.degree", deck.propagator.degree == 0 || deck.propagator.tolerance == 0,
        "propagator.degree and propagator.tolerance are both given; a degree of 0 leaves the choice to the tolerance");
  check("output.every", deck.output_every >= 1,
        message_of("output.every = ", deck.output_every, " must be at least 1"));
  check("output.states", deck.output_states >= 0 && deck.output_states <= deck.grid.points,
        message_of("output.states = ", deck.output_states, ": the grid has ", deck.grid.points, " states"));
  check("potential.file", deck.potential.kind != schrodinger::PotentialKind::table || !deck.potential_file.empty(),
        "potential.kind = file needs potential.file");
  check("initial.file", deck.initial != InitialKind::file || !deck.initial_file.empty(),
        "initial.kind = file needs initial.file");
}

}  // namespace

std::string_view to_string(InitialKind kind) {
  for (const auto& [known, name] : initial_names) {
    if (known == kind) return name;
  }
  throw Error(ErrorKind::argument, "not an initial state");
}

InitialKind initial_kind_from(std::string_view text) {
  for (const auto& [kind, name] : initial_names) {
    if (name == text) return kind;
  }
  throw Error(ErrorKind::argument,
              message_of("initial state '", text, "': expected one of eigenstate, gaussian, file"));
}

std::string deck_reference() {
  std::string text;
  const Deck deck;
  visit_keys(deck, [&](const std::string& key, const auto& value, const char* meaning) {
    const bool required = key == "grid.xmin" || key == "grid.xmax" || key == "grid.points" || key == "grid.dx";
    text += format("  %-22s %-14s %s\n", key.c_str(), required ? "(required)" : value_text(value).c_str(), meaning);
  });
  return text;
}

Deck read_deck(const std::string& text, const std::filesystem::path& name, const std::vector<std::string>& settings) {
  TomlTable table;
  try {
    table = parse_toml(text, name.string());
  } catch (const TomlError& error) {
    refuse(message_of(name.string(), ", line ", error.line), error.description);
  }
  GivenKeys given;
  collect(table, name.string(), given);
  for (const auto& setting : settings) {
    // points and dx are two ways to say one thing: --set replaces either by the other.
    if (setting.starts_with("grid.points")) given.erase("grid.dx");
    if (setting.starts_with("grid.dx")) given.erase("grid.points");
    collect_setting(setting, given);
  }
  Deck deck;
  visit_keys(deck, [&](const std::string& key, auto& value, const char*) {
    const auto found = given.find(key);
    if (found != given.end()) assign(key, found->second, value);
  });
  resolve_points(name.string(), given, deck);
  if (!given.contains("output.states")) deck.output_states = std::clamp<Index>(deck.grid.points, 0, deck.output_states);
  try {
    schrodinger::validate(deck.grid);
    schrodinger::Potential without_table = deck.potential;
    if (deck.potential.kind == schrodinger::PotentialKind::table) {
      // The table is read later; here stands one that is always good.
      without_table.table_x = {deck.grid.xmin, deck.grid.xmax};
      without_table.table_v = {0.0, 0.0};
    }
    schrodinger::validate(deck.grid, without_table, deck.nuclei);
  } catch (const Error& error) {
    refuse(name.string(), error.what());
  }
  check_ranges(name.string(), given, deck);
  if (deck.output_file.empty()) deck.output_file = name.stem().string() + ".h5";
  return deck;
}

std::string resolved_text(const Deck& deck) {
  std::string text = "# Atomic units.\n";
  std::string table;
  visit_keys(deck, [&](const std::string& key, const auto& value, const char* meaning) {
    const auto dot = key.find('.');
    if (key.substr(0, dot) != table) {
      table = key.substr(0, dot);
      text += "\n[" + table + "]\n";
    }
    if (key == "grid.dx") {
      text += "# dx = " + number_text(deck.grid.spacing()) + "\n";
      return;
    }
    text += key.substr(dot + 1) + " = " + value_text(value) + "  # " + meaning + "\n";
  });
  return text;
}

std::optional<std::string> first_difference(const Deck& a, const Deck& b) {
  std::map<std::string, std::string> values;
  visit_keys(a, [&](const std::string& key, const auto& value, const char*) { values[key] = value_text(value); });
  std::optional<std::string> difference;
  visit_keys(b, [&](const std::string& key, const auto& value, const char*) {
    const bool free = key == "time.steps" || key == "output.file" || key == "grid.dx" || key.starts_with("initial.");
    if (!difference && !free && values[key] != value_text(value)) {
      difference = key + " = " + values[key] + " against " + value_text(value);
    }
  });
  return difference;
}

}  // namespace heddle::driver
