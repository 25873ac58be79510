// An output file that appears complete or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <ostream>

namespace heddle {

/// An output file that replaces `target` when it is complete: commit() renames path(), in the same folder, to
/// `target`. It has the permissions of the file that it replaces, or those of any new file.
///
/// Without commit(), the destructor removes path(), and a file that was at `target` before is still there;
/// where a signal ends the process, remove_pending_files() does it. An object that is made before a long computation
/// finds out at once if the folder can't be written. For one rank; not collective.
class PendingFile {
 public:
  /// Creates the empty file path(). Throws Error(output), which names `target` and the reason, where that can't be done
  /// or where `target` is a folder or no name, and Error(storage) where there is no room for it.
  explicit PendingFile(std::filesystem::path target);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// The file to write to until commit().
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Flushes path() to the device and renames it to the target, replacing what was there. Throws Error(output) or
  /// Error(storage).
  void commit();
  /// Throws the Error of a write that failed for `reason`, a value of errno: "TARGET: can't be written: No space left
  /// on device". Its kind is storage where room or a device is lacking, and output otherwise.
  [[noreturn]] void refuse(int reason) const;

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  std::ptrdiff_t entry_ = -1;  // In the list that remove_pending_files() reads; -1: none.
  int mode_ = -1;              // Permissions of the file that it replaces; -1: there is none.
  bool committed_ = false;
};

/// A PendingFile that is written as a stream. A failed write throws the Error of PendingFile::refuse() out of
/// the output that found it, or out of commit().
class PendingStream : public std::ostream {
 public:
  /// Throws as PendingFile's constructor does.
  explicit PendingStream(const std::filesystem::path& target);
  ~PendingStream() override;

  /// Writes what is still in the buffer, and commits the file.
  void commit();

 private:
  class Buffer;
  PendingFile file_;
  std::unique_ptr<Buffer> buffer_;
};

/// Removes the uncommitted files of all PendingFiles of this process. It may be called in a signal handler,
/// for the process to end after it: the objects no longer have a file.
void remove_pending_files() noexcept;

}  // namespace heddle
