// A lock that gives one process at a time a file that takes long to write.
#include "drivers/support/process/file_lock.hpp"

#include <heddle/core/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace heddle::driver {

namespace {

// Return true if `path` still names the open file: the previous holder of the lock may have removed it meanwhile.
bool is_at(const std::filesystem::path& path, int descriptor) {
  struct stat named = {};
  struct stat open = {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& target, const char* instead) {
  std::error_code error;
  const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(target), error);
  path_ = (error ? target : place).string() + ".lock";
  while (true) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor_ < 0) return;
    const bool locked = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    const bool held = !locked && errno == EWOULDBLOCK;
    if (locked && is_at(path_, descriptor_)) return;
    ::close(descriptor_);
    descriptor_ = -1;
    if (held) {
      throw Error(ErrorKind::argument, message_of(target.string(), ": another run is writing it (and holds ",
                                                  path_.string(), "); ", instead));
    }
    if (!locked) {
      ::unlink(path_.c_str());
      return;
    }
  }
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace heddle::driver
