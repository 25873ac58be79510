// Counts of memory transactions and bank conflicts of a transpose variant.
#include "studies/transpose/access.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace heddle::driver {
namespace {

// Elements that are accessed together, in the order of threads: index `inner` first, then `outer`.
struct Access {
  int inner;
  int outer;
  Index inner_stride;  // Elements.
  Index outer_stride;

  [[nodiscard]] Index address(int k) const { return k % inner * inner_stride + k / inner * outer_stride; }
};

// Return the number of transactions per full one that the access needs.
double transactions(const MemoryUnits& units, const Access& access, int element_bytes) {
  const int all = access.inner * access.outer;
  const int group = units.group > 0 ? std::min(units.group, all) : all;
  std::set<Index> touched;
  for (int k = 0; k < group; ++k) {
    const Index first = access.address(k) * element_bytes;
    for (Index byte = first; byte < first + element_bytes; byte += std::min(element_bytes, units.transaction_bytes)) {
      touched.insert(byte / units.transaction_bytes);
    }
    touched.insert((first + element_bytes - 1) / units.transaction_bytes);
  }
  return static_cast<double>(touched.size()) * units.transaction_bytes / (static_cast<double>(group) * element_bytes);
}

// Return the largest number of different words (lines) of one bank (set) that are accessed at once.
int largest_pile(const MemoryUnits& units, const Access& access, int element_bytes) {
  const int all = access.inner * access.outer;
  // A GPU's group takes several turns if its elements are wider than all banks together.
  const int turns = units.group > 0 ? std::max(1, units.group * element_bytes / (units.banks * units.bank_bytes)) : 1;
  const int at_once = units.group > 0 ? std::min(units.group / turns, all) : access.inner;
  std::map<Index, std::set<Index>> banks;
  for (int k = 0; k < at_once; ++k) {
    const Index first = access.address(k) * element_bytes;
    for (Index word = first / units.bank_bytes; word <= (first + element_bytes - 1) / units.bank_bytes; ++word) {
      banks[word % units.banks].insert(word);
    }
  }
  std::size_t most = 0;
  for (const auto& bank : banks) most = std::max(most, bank.second.size());
  return static_cast<int>(most);
}

}  // namespace

MemoryUnits gpu_units() {
  return {32, 32, 4, 32};
}

MemoryUnits cpu_units() {
  return {64, 0, 64, 64};
}

AccessCounts access_counts(const MemoryUnits& units, TransposeVariant variant, int element_bytes, Index rows,
                           Index columns, int block_rows, int block_columns) {
  const bool tiled = variant != TransposeVariant::naive;
  const Access read{block_rows, block_columns, 1, rows};
  // B(j, i): along j it is contiguous.
  const Access write =
      tiled ? Access{block_columns, block_rows, 1, columns} : Access{block_rows, block_columns, columns, 1};
  AccessCounts counts{transactions(units, read, element_bytes), transactions(units, write, element_bytes), 0};
  if (tiled) {
    const Index leading = block_rows + (variant == TransposeVariant::tiled_padded ? 1 : 0);
    counts.conflicts = largest_pile(units, {block_columns, block_rows, leading, 1}, element_bytes);
  } else if (units.group == 0) {
    counts.conflicts = largest_pile(units, write, element_bytes);
  }
  return counts;
}

}  // namespace heddle::driver
