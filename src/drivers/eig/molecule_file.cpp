// The file of a molecule that `heddle eig --scf --molecule` reads.
#include "drivers/eig/molecule_file.hpp"

#include <heddle/core/error.hpp>

#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace heddle::driver {
namespace {

template <class Number> std::optional<Number> number_of(const std::string& word) {
  Number value{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  MoleculeFile read();

 private:
  struct NamedShell {
    double charge;
    std::size_t line;
    models::Shell shell;
    bool used = false;
  };

  template <class... Parts> [[noreturn]] void refuse(const Parts&... parts) const {
    throw Error(ErrorKind::input, message_of(path_, ", line ", line_, ": ", parts...));
  }
  [[nodiscard]] double real(const std::string& word) const {
    const std::optional<double> value = number_of<double>(word);
    if (!value || !std::isfinite(*value)) refuse("'", word, "': expected a finite number");
    return *value;
  }
  [[nodiscard]] double charge_of(const std::string& word) const {
    if (const int charge = models::element_charge(word)) return charge;
    const std::optional<double> charge = number_of<double>(word);
    if (!charge)
      refuse("'", word, "': expected an element from H to Kr, a charge, units, charge, multiplicity or shell");
    if (!(std::isfinite(*charge) && *charge > 0)) refuse("a nucleus of charge ", word, "; expected a positive number");
    return *charge;
  }
  void add(const std::vector<std::string>& words);
  void add_atom(const std::vector<std::string>& words);
  void add_shell(const std::vector<std::string>& words);
  void place_shells();

  std::string path_;
  std::size_t line_ = 0;
  double unit_ = 1;
  int dimensions_ = 0;  // 0: no atom so far
  MoleculeFile file_;
  std::vector<std::size_t> lines_;  // of the atoms
  std::vector<NamedShell> shells_;
};

void Reader::add_atom(const std::vector<std::string>& words) {
  const double charge = charge_of(words[0]);
  const int coordinates = static_cast<int>(words.size()) - 1;
  if (coordinates != 1 && coordinates != 3) {
    refuse("an atom with ", coordinates, " coordinates; expected three, or one in one dimension");
  }
  if (dimensions_ != 0 && dimensions_ != coordinates) {
    refuse("an atom with ", coordinates, coordinates == 1 ? " coordinate" : " coordinates", "; the first has ",
           dimensions_);
  }
  dimensions_ = coordinates;
  models::Atom atom;
  atom.charge = charge;
  for (std::size_t d = 1; d < words.size(); ++d) atom.position[d - 1] = unit_ * real(words[d]);
  for (std::size_t k = 0; k < lines_.size(); ++k) {
    if (file_.molecule.atoms[k].position == atom.position) {
      refuse("a nucleus in the place of that of line ", lines_[k], "; expected one nucleus in a place");
    }
  }
  file_.molecule.atoms.push_back(atom);
  lines_.push_back(line_);
}

void Reader::add_shell(const std::vector<std::string>& words) {
  constexpr std::string_view letters = "spdfg";
  if (words.size() < 4) refuse("expected: shell ATOM s|p|d|f|g EXPONENT [COEFFICIENT EXPONENT COEFFICIENT ...]");
  NamedShell one = {charge_of(words[1]), line_, {}};
  const std::size_t letter = words[2].size() == 1 ? letters.find(words[2][0]) : std::string_view::npos;
  if (letter == std::string_view::npos) refuse("a shell '", words[2], "'; expected s, p, d, f or g");
  one.shell.angular = static_cast<int>(letter);
  if (words.size() > 4 && words.size() % 2 == 0) {
    refuse(words.size() - 3, " numbers of a contracted shell; expected pairs of an exponent and a coefficient");
  }
  for (std::size_t k = 3; k < words.size(); k += 2) {
    one.shell.exponents.push_back(real(words[k]));
    if (!(one.shell.exponents.back() > 0)) refuse("an exponent of ", words[k], "; expected a positive number");
    if (k + 1 < words.size()) one.shell.coefficients.push_back(real(words[k + 1]));
  }
  shells_.push_back(one);
}

void Reader::add(const std::vector<std::string>& words) {
  const std::string& first = words[0];
  const auto whole = [&](const char* what) {
    const std::optional<int> value = words.size() == 2 ? number_of<int>(words[1]) : std::nullopt;
    if (!value) refuse("expected: ", what, " and a whole number");
    return *value;
  };
  if (first == "units") {
    if (words.size() != 2 || (words[1] != "bohr" && words[1] != "angstrom"))
      refuse("expected: units bohr, or angstrom");
    unit_ = words[1] == "bohr" ? 1 : models::bohr_per_angstrom;
  } else if (first == "charge") {
    file_.molecule.charge = whole("charge");
  } else if (first == "multiplicity") {
    file_.molecule.multiplicity = whole("multiplicity");
    if (file_.molecule.multiplicity < 1) refuse("a multiplicity of ", words[1], "; expected at least 1");
  } else if (first == "shell") {
    add_shell(words);
  } else {
    add_atom(words);
  }
}

void Reader::place_shells() {
  if (shells_.empty()) return;
  for (std::size_t a = 0; a < lines_.size(); ++a) {
    const models::Atom& atom = file_.molecule.atoms[a];
    bool found = false;
    for (NamedShell& one : shells_) {
      if (one.charge != atom.charge) continue;
      found = one.used = true;
      file_.shells.push_back(one.shell);
      file_.shells.back().centre = atom.position;
    }
    line_ = lines_[a];
    if (!found) refuse("no shell is for this atom; expected shells for all atoms, or for none");
  }
  for (const NamedShell& one : shells_) {
    line_ = one.line;
    if (!one.used) refuse("there is no atom that this shell is for");
  }
}

MoleculeFile Reader::read() {
  std::ifstream in(path_);
  if (!in) throw Error(ErrorKind::input, path_ + ": cannot be read");
  std::string text;
  while (std::getline(in, text)) {
    ++line_;
    std::istringstream stream(text.substr(0, text.find('#')));
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (!words.empty()) add(words);
  }
  if (in.bad()) throw Error(ErrorKind::input, path_ + ": cannot be read to its end");
  if (lines_.empty()) throw Error(ErrorKind::input, path_ + ": there is no atom in it");
  file_.dimensions = dimensions_;
  place_shells();
  if (dimensions_ == 1 && !file_.shells.empty()) {
    line_ = shells_.front().line;
    refuse("shells are for three dimensions; atoms of one coordinate stand on a grid");
  }
  return file_;
}

}  // namespace

MoleculeFile read_molecule(const std::string& path) {
  return Reader(path).read();
}

}  // namespace heddle::driver
