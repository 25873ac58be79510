// One process at a time for a file that takes long to write.
#pragma once

#include <filesystem>

namespace heddle::driver {

/// While it lives, this process alone has the file `target`, which need not be there, among all that ask in this way.
///
/// It holds a lock of the system on the empty file `target`.lock, links followed, which it makes and removes. The lock
/// ends with the process, however that ends: what a killed process leaves there keeps nobody out. Where no such file
/// can be made, or the file system knows no locks, there is none. For one rank.
class FileLock {
 public:
  /// Throws Error(argument), naming `target` and `instead`, what to do about it, where another process has the lock.
  FileLock(const std::filesystem::path& target, const char* instead);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;  // Negative: no lock.
};

}  // namespace heddle::driver
