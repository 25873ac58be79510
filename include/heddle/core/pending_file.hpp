// An output file that appears complete or not at all.
#pragma once

#include <filesystem>

namespace heddle {

/// An output file that replaces `target` when it is complete: what is written to path(), in the same folder, becomes
/// `target` with commit().
///
/// Without commit(), the destructor removes what was written, and a file that was at `target` before is still there. An
/// object that is made before a long computation finds out at once if the folder can't be written. For one rank; not
/// collective.
class PendingFile {
 public:
  /// Creates the empty file path(). Throws Error(output), which names `target` and the reason, where that can't be done
  /// or where `target` is a folder.
  explicit PendingFile(std::filesystem::path target);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// The file to write to until commit().
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Flushes path() to the device and renames it to the target, replacing what was there. Throws Error(output).
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  bool committed_ = false;
};

}  // namespace heddle
