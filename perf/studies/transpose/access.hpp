// Counts of memory transactions and bank conflicts of a transpose variant.
#pragma once

#include <heddle/core/scalar.hpp>
#include <heddle/transpose/transpose.hpp>

namespace heddle::driver {

/// The parts of a machine's memory that matter to a transpose.
struct MemoryUnits {
  int transaction_bytes;  ///< Bytes of a transaction: a sector of 32 bytes on GPUs, a cache line of 64 on CPUs.
  int group;              ///< Threads that access memory together: 32 on GPUs; 0 on CPUs: a whole block counts.
  int bank_bytes;         ///< Width of a bank of shared memory, or of a line of the first cache.
  int banks;              ///< Number of banks of shared memory, or of sets of the first cache.
};
[[nodiscard]] MemoryUnits gpu_units();
[[nodiscard]] MemoryUnits cpu_units();

struct AccessCounts {
  double reads;   ///< Transactions per full one of reads: 1 is ideal.
  double writes;  ///< The same of writes.
  /// Accesses that wait for one another. GPUs: threads of a group that access different words of one bank of shared
  /// memory; 1 is ideal, 0 stands for variants without. CPUs: lines of a block in one set of the first cache, on the
  /// walk that is not contiguous; above its ways (8 or 12) they evict one another.
  int conflicts;
};

/// Count for blocks inside a rows x columns matrix whose columns begin at transaction boundaries if `rows` allows it.
/// `variant`: naive, tiled or tiled_padded.
[[nodiscard]] AccessCounts access_counts(const MemoryUnits& units, TransposeVariant variant, int element_bytes,
                                         Index rows, Index columns, int block_rows, int block_columns);

}  // namespace heddle::driver
