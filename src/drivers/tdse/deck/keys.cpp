// The keys of a deck: names, defaults, values as text, nearest known key, and comparison of decks.
#include "drivers/tdse/deck/keys.hpp"

#include "drivers/support/process/text.hpp"
#include <heddle/core/error.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <numbers>
#include <utility>

namespace heddle::driver {

namespace {

constexpr std::array<std::pair<InitialKind, std::string_view>, 4> initial_names = {
    {{InitialKind::eigenstate, "eigenstate"},
     {InitialKind::gaussian, "gaussian"},
     {InitialKind::file, "file"},
     {InitialKind::imaginary_time, "imaginary-time"}}};

// Return the least number of single letters to insert, delete or replace.
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

// Deck whose keys deck_reference() shows; it has one pulse.
Deck reference_deck() {
  Deck deck;
  deck.pulses.emplace_back();
  deck.propagator.kind = schrodinger::PropagatorKind::automatic;
  return deck;
}

double in_cycles(double cycles, const schrodinger::Pulse& pulse) {
  return cycles * 2 * std::numbers::pi / pulse.omega;
}

std::string table_of(const std::string& key) {
  return key.substr(0, key.rfind('.'));
}

// Return whether a continued run may change the key.
bool is_free(const std::string& key) {
  constexpr std::array<std::string_view, 10> keys = {"time.steps",
                                                     "grid.dx",
                                                     "output.file",
                                                     "output.table",
                                                     "output.spectrum_from",
                                                     "output.spectrum_to",
                                                     "output.harmonics",
                                                     "output.window",
                                                     "output.checkpoint_seconds",
                                                     "output.checkpoint_steps"};
  return std::find(keys.begin(), keys.end(), key) != keys.end() || key.starts_with("initial.");
}

}  // namespace

// A constant of the file would be one of the device, too, for which HIP would have to compile the functions.
const std::array<PulseUnit, 5>& pulse_units() {
  static const std::array<PulseUnit, 5> units = {{
      {"intensity", "amplitude", "W/cm^2", "instead of amplitude: peak intensity, W/cm^2",
       [](double value, const schrodinger::Pulse&) { return schrodinger::amplitude_from_intensity(value); }},
      {"wavelength", "omega", "nm", "instead of omega: nm",
       [](double value, const schrodinger::Pulse&) { return schrodinger::omega_from_wavelength(value); }},
      {"cycles", "duration", "cycle", "instead of duration: cycles of the carrier", in_cycles},
      {"femtoseconds", "duration", "fs", "instead of duration: femtoseconds",
       [](double value, const schrodinger::Pulse&) { return schrodinger::time_from_femtoseconds(value); }},
      {"ramp_cycles", "ramp", "cycle", "instead of ramp: cycles of the carrier", in_cycles},
  }};
  return units;
}

std::string_view to_string(InitialKind kind) {
  for (const auto& [known, name] : initial_names) {
    if (known == kind) return name;
  }
  throw Error(ErrorKind::argument, "not an initial state");
}

InitialKind initial_kind_from(std::string_view text) {
  std::string all;
  for (const auto& [kind, name] : initial_names) {
    if (name == text) return kind;
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(ErrorKind::argument, message_of("initial state '", text, "': expected one of ", all));
}

std::string without_number(const std::string& key) {
  if (!key.starts_with("pulse.")) return key;
  const auto end = key.find_first_not_of("0123456789", 6);
  const bool padded = key[6] == '0' && end != 7;
  return end != std::string::npos && end > 6 && !padded && key[end] == '.' ? "pulse" + key.substr(end) : key;
}

std::vector<std::string> known_keys() {
  std::vector<std::string> keys;
  const Deck deck = reference_deck();
  visit_keys(deck, [&](const std::string& key, const auto&, const char*) { keys.push_back(without_number(key)); });
  for (const PulseUnit& unit : pulse_units()) keys.push_back(std::string("pulse.") + unit.name);
  return keys;
}

std::string nearest_key(const std::string& key) {
  const auto keys = known_keys();
  return *std::min_element(keys.begin(), keys.end(),
                           [&](const auto& a, const auto& b) { return edit_distance(key, a) < edit_distance(key, b); });
}

std::string unit_of_key(const std::string& key) {
  static const std::map<std::string_view, const char*> units = {{"grid.xmin", "bohr"},
                                                                {"grid.xmax", "bohr"},
                                                                {"grid.dx", "bohr"},
                                                                {"potential.softening", "bohr^2"},
                                                                {"potential.omega", "hartree"},
                                                                {"nuclei.separation", "bohr"},
                                                                {"nuclei.amplitude", "bohr"},
                                                                {"nuclei.omega", "hartree"},
                                                                {"nuclei.velocity", "bohr/atomic unit of time"},
                                                                {"pulse.amplitude", "hartree/(e bohr)"},
                                                                {"pulse.omega", "hartree"},
                                                                {"pulse.phase", "radian"},
                                                                {"pulse.duration", "atomic unit of time"},
                                                                {"pulse.ramp", "atomic unit of time"},
                                                                {"pulse.centre", "atomic unit of time"},
                                                                {"absorber.width", "bohr"},
                                                                {"absorber.strength", "hartree"},
                                                                {"absorber.energy", "hartree"},
                                                                {"absorber.time", "atomic unit of time"},
                                                                {"time.step", "atomic unit of time"},
                                                                {"initial.tolerance", "hartree"},
                                                                {"initial.position", "bohr"},
                                                                {"initial.momentum", "1/bohr"},
                                                                {"initial.width", "bohr"},
                                                                {"output.radius", "bohr"},
                                                                {"output.spectrum_from", "hartree"},
                                                                {"output.spectrum_to", "hartree"},
                                                                {"output.checkpoint_seconds", "s"}};
  const std::string name = without_number(key);
  for (const PulseUnit& unit : pulse_units()) {
    if (name == std::string("pulse.") + unit.name) return unit.unit;
  }
  const auto found = units.find(name);
  return found == units.end() ? "1" : found->second;
}

std::string value_text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string value_text(const std::string& value) {
  std::string result = "\"";
  for (const char character : value) {
    if (character == '"' || character == '\\') result += '\\';
    if (static_cast<unsigned char>(character) < ' ') {
      result += format("\\u%04x", character);
    } else {
      result += character;
    }
  }
  return result + '"';
}

std::string value_text(const std::vector<Index>& values) {
  std::string text;
  for (const Index value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return '[' + text + ']';
}

std::vector<DeckKey> deck_keys() {
  // Keys without a default, with their alternatives.
  const std::map<std::string, std::string> required = {{"grid.xmin", "(required)"},
                                                       {"grid.xmax", "(required)"},
                                                       {"grid.points", "(points or dx)"},
                                                       {"grid.dx", "(points or dx)"},
                                                       {"pulse.amplitude", "(amplitude or intensity)"},
                                                       {"pulse.omega", "(omega or wavelength)"},
                                                       {"pulse.duration", "(duration or cycles)"}};
  std::vector<DeckKey> keys;
  const Deck deck = reference_deck();
  visit_keys(deck, [&](const std::string& given, const auto& value, const char* meaning) {
    const std::string key = without_number(given);
    const auto found = required.find(key);
    keys.push_back({key, found == required.end() ? value_text(value) : found->second, meaning});
    if (key != "pulse.centre") return;
    for (const PulseUnit& unit : pulse_units()) keys.push_back({std::string("pulse.") + unit.name, "", unit.meaning});
  });
  return keys;
}

std::string deck_reference() {
  std::string text;
  for (const DeckKey& key : deck_keys()) {
    if (key.name == "pulse.envelope")
      text += "  [[pulse]]: as many of these tables as there are pulses; --set pulse.1.KEY=VALUE is of the first\n";
    text += format("  %-26s %-24s %s\n", key.name.c_str(), key.value.c_str(), key.meaning.c_str());
  }
  return text;
}

std::string resolved_text(const Deck& deck) {
  std::string text = "# Atomic units.\n";
  std::string table;
  visit_keys(deck, [&](const std::string& key, const auto& value, const char* meaning) {
    if (table_of(key) != table) {
      table = table_of(key);
      text += table.starts_with("pulse.") ? "\n[[pulse]]\n" : "\n[" + table + "]\n";
    }
    if (key == "grid.dx") {
      text += "# dx = " + value_text(deck.grid.spacing()) + "\n";
      return;
    }
    text += key.substr(table.size() + 1) + " = " + value_text(value) + "  # " + meaning + "\n";
  });
  return text;
}

std::optional<std::string> first_difference(const Deck& a, const Deck& b) {
  std::map<std::string, std::string> values;
  visit_keys(a, [&](const std::string& key, const auto& value, const char*) { values[key] = value_text(value); });
  std::optional<std::string> difference;
  visit_keys(b, [&](const std::string& key, const auto& value, const char*) {
    if (!difference && !is_free(key) && values[key] != value_text(value)) {
      difference = key + " = " + (values[key].empty() ? "(none)" : values[key]) + " against " + value_text(value);
    }
    values.erase(key);
  });
  if (!difference && !values.empty()) {
    difference = values.begin()->first + " = " + values.begin()->second + " against (none)";
  }
  return difference;
}

}  // namespace heddle::driver
