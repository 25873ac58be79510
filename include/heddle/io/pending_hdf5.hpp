// An HDF5 file that appears complete or not at all, and whose writing can fail.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

namespace heddle {

/// An HDF5 file being written, which replaces `target` with commit() and leaves nothing behind without it, as a
/// PendingFile does.
///
/// The HDF5 library can't close a file that it could not write: where the disk is full it ends the process when that
/// exits. Here the file is behind a driver of our own, by which no call of HDF5 fails for lack of room: the first
/// failure is kept, and nothing is written after it; require_written() and commit() throw it. For one rank; not
/// collective.
class PendingHdf5 {
 public:
  /// Begins with an empty file or, with `keep`, with what an HDF5 file at `target` holds, if there is one. Throws as
  /// PendingFile's constructor does, and Error(output) where that is no HDF5 file.
  explicit PendingHdf5(const std::filesystem::path& target, bool keep = false);
  ~PendingHdf5();
  PendingHdf5(const PendingHdf5&) = delete;
  PendingHdf5& operator=(const PendingHdf5&) = delete;

  /// The open file, as HDF5 names it (hid_t). It is closed, with all objects in it that are still open, by commit() or
  /// by the destructor.
  [[nodiscard]] std::int64_t id() const noexcept;
  /// Throws Error(output) or Error(storage), as PendingFile does, where something could not be written so far.
  void require_written() const;
  /// Closes the file, flushes it to the device and gives it its name. Throws as require_written() does.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
