// An output file that appears complete or not at all.
#pragma once

#include <filesystem>

namespace heddle {

/// Holds a place for `target`: what is written to path(), in the same folder, becomes `target` with commit().
///
/// Destroyed without commit(), it removes what was written, and a file that was at `target` before is still there. Made
/// before a long computation, it finds out at once that the folder can't be written. For one rank; not collective.
class PendingFile {
 public:
  /// Creates the empty file path(). Throws Error(output) naming `target` and the reason where that can't be done, or
  /// where `target` is a folder.
  explicit PendingFile(std::filesystem::path target);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// Where to write until commit().
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Flushes path() to the device and renames it to the target, replacing what was there. Throws Error(output).
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  bool committed_ = false;
};

}  // namespace heddle
