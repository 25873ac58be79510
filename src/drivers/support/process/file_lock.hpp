// One process at a time for a file that takes long to write.
#pragma once

#include <filesystem>

namespace heddle::driver {

/// During its life this process alone has the file `target`, which need not exist, among all that lock it in this way.
///
/// It holds a system lock on the empty file `target`.lock, links followed, which it makes and removes. The lock ends
/// with the process, however that ends: the file that a killed process leaves locks nobody out. If the file can't be
/// made, or the file system has no locks, the target is not locked. For one rank.
class FileLock {
 public:
  /// Throws Error(argument), naming `target` and `instead`, the advice, if another process has the lock.
  FileLock(const std::filesystem::path& target, const char* instead);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;  // Negative: no lock.
};

}  // namespace heddle::driver
