// Writing of a run's files on a background thread.
#pragma once

#include "drivers/support/process/background.hpp"
#include "drivers/tdse/record/record.hpp"
#include <heddle/comm/communicator.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

namespace heddle::driver {

/// Rank 0's record. A separate thread owns it, appends to it and writes the files, so that the computation hands over a
/// copy of each step without waiting, unless the bounded number of waiting steps is reached. Only that thread calls
/// HDF5, which need not be thread-safe, from begin() to finish().
class Keeper {
 public:
  /// Collective. Throw Error(output) if the folders of deck.output_file and output_table are not writable. Without
  /// `force`, finish() may replace only a file that exists already.
  Keeper(const Communicator& comm, const Deck& deck, const schrodinger::Hamiltonian& hamiltonian, bool force);

  /// Start the thread with `record`, rank 0's results so far.
  void begin(Record record);
  /// Add the next step; rank 0 makes its snapshot by `take`. Collective; throws on all ranks an error of writing an
  /// earlier step.
  void add(const std::function<Snapshot()>& take);
  /// Write the complete file and the table, and remove the partial file. Collective; throws as add(). If a file that
  /// may not be replaced has appeared, throw Error(output) and leave everything in the partial file.
  void finish();
  /// Write the partial file of a run that ends early. Collective; throws as add().
  void interrupt();

  /// Seconds spent writing files, and seconds that the computation waited for it; valid after finish().
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double waited() const { return writer_ ? writer_->waited() : 0.0; }

 private:
  // Runs on the thread.
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
  std::optional<Background> writer_;  // on rank 0 alone; last, since its thread uses the other members
};

}  // namespace heddle::driver
