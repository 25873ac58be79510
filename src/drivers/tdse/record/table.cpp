// Text tables of a run's observables.
#include "drivers/support/process/text.hpp"
#include "drivers/tdse/record/record.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>

namespace heddle::driver {

namespace {

struct Column {
  std::string name;
  const double* values;
  std::size_t stride;
};

std::vector<Column> columns_of(const Deck& deck, const Record& record) {
  std::vector<Column> columns = {{"t", record.time.data(), 1}};
  if (!deck.pulses.empty()) columns.push_back({"field", record.field.data(), 1});
  const auto count = static_cast<std::size_t>(record.count);
  const auto states = static_cast<std::size_t>(deck.output_states);
  for (std::size_t k = 0; k < count; ++k) {
    const std::string of = count > 1 ? '_' + std::to_string(k) : "";
    const auto add = [&](const char* name, const std::vector<double>& values) {
      columns.push_back({name + of, values.data() + k, count});
    };
    add("norm", record.norm);
    add("energy", record.energy);
    add("position", record.position);
    add("dipole", record.dipole);
    if (records_absorbed(deck)) add("absorbed", record.absorbed);
    if (records_ionisation(deck)) add("ionisation", record.ionisation);
    if (deck.output_radius > 0) add("outside", record.outside);
    if (deck.output_autocorrelation) {
      // A complex number has the layout of an array of its two parts.
      const auto* parts = reinterpret_cast<const double*>(record.autocorrelation.data() + k);
      columns.push_back({"re_autocorrelation" + of, parts, 2 * count});
      columns.push_back({"im_autocorrelation" + of, parts + 1, 2 * count});
    }
    for (std::size_t level = 0; level < states; ++level) {
      columns.push_back({"population" + of + '_' + std::to_string(level),
                         record.populations.data() + k * states + level, count * states});
    }
  }
  return columns;
}

}  // namespace

void write_table(const std::filesystem::path& path, const Deck& deck, const Record& record) {
  PendingStream file(path);
  file << "# heddle " << version() << " (" << git_hash() << "): observables of " << deck.output_file
       << ", atomic units\n#";
  const auto columns = columns_of(deck, record);
  for (const Column& column : columns) file << ' ' << column.name;
  file << '\n';
  for (std::size_t row = 0; row < record.time.size(); ++row) {
    for (const Column& column : columns) {
      file << format(&column == &columns.front() ? "%.17g" : " %.17g", column.values[row * column.stride]);
    }
    file << '\n';
  }
  file.commit();
}

}  // namespace heddle::driver
