// Output of mesh files: text, and numbers as text or as bytes.
#include "io/mesh/mesh_output.hpp"

#include <heddle/core/error.hpp>

#include <cerrno>

namespace heddle::impl {

namespace {
constexpr std::size_t buffer_size = std::size_t{1} << 20;
}

MeshOutput::MeshOutput(const std::filesystem::path& target, NumberForm form)
    : target_(target), pending_(target), file_(std::fopen(pending_.path().c_str(), "wb")), form_(form) {
  if (!file_) pending_.refuse(errno);
  // Output comes in large pieces already.
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  buffer_.reserve(buffer_size);
}

void MeshOutput::refuse(const std::string& reason) const {
  throw Error(ErrorKind::output, message_of(target_.string(), ": can't be written: ", reason));
}

void MeshOutput::put_bytes(const void* bytes, std::size_t count) {
  if (buffer_.size() + count > buffer_size) flush();
  written_ += count;
  const auto* const begin = static_cast<const char*>(bytes);
  if (count >= buffer_size) {
    if (std::fwrite(bytes, 1, count, file_.get()) != count) pending_.refuse(errno);
  } else {
    buffer_.insert(buffer_.end(), begin, begin + count);
  }
}

void MeshOutput::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) pending_.refuse(errno);
  buffer_.clear();
}

void MeshOutput::end_record() {
  if (!text()) return;
  put("\n");
  at_begin_ = true;
}

void MeshOutput::put_at(std::uint64_t position, std::string_view characters) {
  flush();
  const bool done = std::fseek(file_.get(), static_cast<long>(position), SEEK_SET) == 0 &&
                    std::fwrite(characters.data(), 1, characters.size(), file_.get()) == characters.size() &&
                    std::fseek(file_.get(), 0, SEEK_END) == 0;
  if (!done) pending_.refuse(errno);
}

void MeshOutput::close() {
  flush();
  if (std::fclose(file_.release()) != 0) pending_.refuse(errno);
  pending_.commit();
}

}  // namespace heddle::impl
