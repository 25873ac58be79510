// What a variant of the transpose asks of the memory, by counting.
#pragma once

#include <heddle/core/scalar.hpp>
#include <heddle/transpose/transpose.hpp>

namespace heddle::driver {

/// The parts of a machine's memory that matter to a transpose.
struct MemoryUnits {
  int transaction_bytes;  ///< What memory moves at once: a sector of 32 bytes on GPUs, a cache line of 64 on CPUs.
  int group;              ///< Threads that access memory together: 32 on GPUs; 0 on CPUs: a whole block counts.
  int bank_bytes;         ///< Width of a bank of shared memory, or of a line of the first cache.
  int banks;              ///< Of shared memory, or sets of the first cache.
};
[[nodiscard]] MemoryUnits gpu_units();
[[nodiscard]] MemoryUnits cpu_units();

struct AccessCounts {
  double reads;   ///< Transactions for each that full ones would take: 1 is ideal.
  double writes;  ///< The same of what is written.
  /// Accesses that wait for one another. GPUs: threads of a group that want different words of one bank of shared
  /// memory, 1 is ideal, 0 for variants without. CPUs: lines of a block in one set of the first cache, on the walk that
  /// is not contiguous; above its ways (8 or 12) they drive one another out.
  int conflicts;
};

/// Of blocks inside a rows x columns matrix whose columns begin where transactions do if `rows` allows it. `variant`:
/// naive, tiled or tiled_padded.
[[nodiscard]] AccessCounts access_counts(const MemoryUnits& units, TransposeVariant variant, int element_bytes,
                                         Index rows, Index columns, int block_rows, int block_columns);

}  // namespace heddle::driver
