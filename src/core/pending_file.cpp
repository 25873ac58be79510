// Output files that appear complete or not at all.
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <random>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

namespace {

// Names of the files that are being written. A signal handler reads them, so that they are in memory that is never
// given back, and are marked by atomics. A file that finds no place here is left behind by a signal, no more.
struct Entry {
  enum State { empty, changing, filled };
  std::atomic<int> state{empty};
  std::array<char, PATH_MAX> path{};
};
std::array<Entry, 32> entries;

std::ptrdiff_t enter(const std::filesystem::path& path) {
  std::error_code error;
  const std::string name = std::filesystem::absolute(path, error).string();
  if (error || name.size() >= PATH_MAX) return -1;
  for (Entry& entry : entries) {
    int expected = Entry::empty;
    if (!entry.state.compare_exchange_strong(expected, Entry::changing)) continue;
    std::copy_n(name.c_str(), name.size() + 1, entry.path.begin());
    entry.state = Entry::filled;
    return &entry - entries.data();
  }
  return -1;
}

void leave(std::ptrdiff_t entry) {
  if (entry >= 0) entries[static_cast<std::size_t>(entry)].state = Entry::empty;
}

bool lacks_room(int reason) {
  constexpr std::array<int, 5> reasons = {ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM};
  return std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
}

[[noreturn]] void refuse_target(const std::filesystem::path& target, const std::string& reason,
                                ErrorKind kind = ErrorKind::output) {
  throw Error(kind, message_of(target.string(), ": can't be written: ", reason));
}

[[noreturn]] void refuse_target(const std::filesystem::path& target, int reason) {
  refuse_target(target, std::strerror(reason), lacks_room(reason) ? ErrorKind::storage : ErrorKind::output);
}

// Create a file of a name that nobody has: `target` and six letters. Returns its descriptor, or -1 with errno.
int create_beside(const std::filesystem::path& target, mode_t mode, std::filesystem::path& path) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr int tries = 100;
  std::random_device random;
  for (int attempt = 0; attempt < tries; ++attempt) {
    std::string name = target.string() + '.';
    for (int i = 0; i < 6; ++i) name += letters[random() % letters.size()];
    const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return -1;
    path = name;
    return descriptor;
  }
  errno = EEXIST;
  return -1;
}

}  // namespace

PendingFile::PendingFile(std::filesystem::path target) : target_(std::move(target)) {
  // The system would take the part before the character.
  if (target_.native().find('\0') != std::string::npos) {
    refuse_target(target_.c_str(), "its name goes on after a null character");
  }
  if (target_.empty()) refuse_target(target_, "its name is empty");
  std::error_code ignored;
  const auto status = std::filesystem::status(target_, ignored);
  if (target_.filename().empty() || std::filesystem::is_directory(status)) refuse_target(target_, "it is a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    refuse_target(target_, "it is not a regular file");
  }
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(target_, ignored))) {
    // The link stays, and what it points to is replaced.
    target_ = std::filesystem::weakly_canonical(target_, ignored);
  }
  // A file that replaces another is its owner's alone until commit(), which gives it the other's permissions.
  if (std::filesystem::exists(status)) mode_ = static_cast<int>(status.permissions() & std::filesystem::perms::all);
  const int descriptor = create_beside(target_, mode_ < 0 ? 0666 : 0600, path_);
  if (descriptor < 0) refuse(errno);
  entry_ = enter(path_);
  ::close(descriptor);
}

PendingFile::~PendingFile() {
  if (committed_) return;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  leave(entry_);
}

void PendingFile::refuse(int reason) const {
  refuse_target(target_, reason);
}

void PendingFile::commit() {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  // A file system without permissions refuses; the result matters more.
  if (descriptor >= 0 && mode_ >= 0) static_cast<void>(::fchmod(descriptor, static_cast<mode_t>(mode_)));
  const bool flushed = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!flushed) refuse(reason);
  std::error_code error;
  std::filesystem::rename(path_, target_, error);
  if (error) refuse(error.value());
  committed_ = true;
  leave(entry_);
}

// Characters on their way to the file.
class PendingStream::Buffer : public std::streambuf {
 public:
  explicit Buffer(const PendingFile& file)
      : file_(file), descriptor_(::open(file.path().c_str(), O_WRONLY | O_CLOEXEC)), characters_(std::size_t{1} << 16) {
    if (descriptor_ < 0) file_.refuse(errno);
    setp(characters_.data(), characters_.data() + characters_.size());
  }
  ~Buffer() override { ::close(descriptor_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

 protected:
  int_type overflow(int_type character) override {
    sync();
    if (!traits_type::eq_int_type(character, traits_type::eof())) sputc(traits_type::to_char_type(character));
    return traits_type::not_eof(character);
  }
  int sync() override {
    write(pbase(), pptr());
    setp(characters_.data(), characters_.data() + characters_.size());
    return 0;
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    if (count <= epptr() - pptr()) return std::streambuf::xsputn(text, count);
    sync();
    write(text, text + count);
    return count;
  }

 private:
  void write(const char* begin, const char* end) const {
    while (begin != end) {
      const ssize_t count = ::write(descriptor_, begin, static_cast<std::size_t>(end - begin));
      if (count < 0 && errno != EINTR) file_.refuse(errno);
      begin += std::max<ssize_t>(count, 0);
    }
  }

  const PendingFile& file_;
  int descriptor_;
  std::vector<char> characters_;
};

PendingStream::PendingStream(const std::filesystem::path& target)
    : std::ostream(nullptr), file_(target), buffer_(std::make_unique<Buffer>(file_)) {
  rdbuf(buffer_.get());
  // With it a stream throws what its buffer throws.
  exceptions(std::ios::badbit);
}

PendingStream::~PendingStream() = default;

void PendingStream::commit() {
  flush();
  file_.commit();
}

void remove_pending_files() noexcept {
  for (const Entry& entry : entries) {
    if (entry.state == Entry::filled) ::unlink(entry.path.data());
  }
}

}  // namespace heddle
