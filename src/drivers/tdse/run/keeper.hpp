// How what a run produces gets into files while the run goes on.
#pragma once

#include "drivers/support/background.hpp"
#include "drivers/tdse/record/record.hpp"
#include <heddle/comm/communicator.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

namespace heddle::driver {

/// Rank 0's record. A thread of its own owns it, appends to it and writes the files, so that the computation waits for
/// neither: it hands over a copy of each step, of which a bounded number may wait. HDF5, which need not be safe with
/// threads, is called by that thread alone from begin() to finish().
class Keeper {
 public:
  /// Collective. Throws Error(output) where the folders of deck.output_file and output_table can't be written. Without
  /// `force`, only a file that is there now may be replaced by finish().
  Keeper(const Communicator& comm, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian, bool force);

  /// `record`: what rank 0 has so far.
  void begin(Record record);
  /// The next step, of which rank 0 makes a snapshot by `take`. Collective; throws, on every rank alike, what writing
  /// an earlier one threw.
  void add(const std::function<Snapshot()>& take);
  /// Writes the complete file, and the table, and removes the partial file. Collective; throws as add(), and, with all
  /// in the partial file, Error(output) where a file has come to be there that may not be replaced.
  void finish();
  /// Writes the partial file: the run ends before it is complete. Collective; throws as add().
  void interrupt();

  /// Seconds of writing files, and seconds that the computation waited for it; after finish().
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double waited() const { return writer_ ? writer_->waited() : 0.0; }

 private:
  // On the thread.
  void append(const Snapshot& snapshot);
  void write(const std::filesystem::path& path, bool complete);
  void require_replaceable(const std::filesystem::path& path, bool may_replace);

  const Communicator& comm_;
  const Deck& deck_;
  const schrodinger::Hamiltonian& hamiltonian_;
  std::filesystem::path path_;
  bool may_replace_file_ = true;
  bool may_replace_table_ = true;
  Record record_;
  double seconds_ = 0.0;
  double last_seconds_ = 0.0;
  std::chrono::steady_clock::time_point last_;
  std::optional<Background> writer_;  // on rank 0 alone; last, since its thread uses the rest
};

}  // namespace heddle::driver
