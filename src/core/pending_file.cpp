#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace heddle {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& target, const std::string& reason) {
  throw Error(ErrorKind::output, message_of(target.string(), ": can't be written: ", reason));
}

}  // namespace

PendingFile::PendingFile(std::filesystem::path target) : target_(std::move(target)) {
  std::error_code ignored;
  const auto status = std::filesystem::status(target_, ignored);
  if (target_.filename().empty() || std::filesystem::is_directory(status)) refuse(target_, "it is a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    refuse(target_, "it is not a regular file");
  }
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(target_, ignored))) {
    // The link stays, and what it points to is replaced.
    target_ = std::filesystem::weakly_canonical(target_, ignored);
  }
  std::string name = target_.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) refuse(target_, std::strerror(errno));
  // mkstemp gives the file to its owner alone; the result gets the rights of any new file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);
  ::close(descriptor);
  path_ = name;
}

PendingFile::~PendingFile() {
  if (!committed_) {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
}

void PendingFile::commit() {
  const int descriptor = ::open(path_.c_str(), O_RDONLY);
  const bool flushed = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!flushed) refuse(target_, std::strerror(reason));
  std::error_code error;
  std::filesystem::rename(path_, target_, error);
  if (error) refuse(target_, error.message());
  committed_ = true;
}

}  // namespace heddle
