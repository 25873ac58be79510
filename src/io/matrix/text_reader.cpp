// Buffered reader of text files by lines, and of bytes between lines.
#include "io/matrix/text_reader.hpp"

#include "io/matrix/panels.hpp"

#include <algorithm>
#include <cstring>

namespace heddle::impl {

namespace {

constexpr std::uintmax_t buffer_bytes = std::uintmax_t{1} << 20;

bool is_space(char character) {
  return character == ' ' || character == '\t' || character == '\r';
}

}  // namespace

TextReader::TextReader(const std::filesystem::path& path) : name_(path.string()) {
  require_readable(path);
  file_.reset(std::fopen(path.c_str(), "rb"));
  if (!file_) throw Error(ErrorKind::input, message_of(name_, ": can't be opened"));
  std::error_code ignored;
  size_ = std::filesystem::file_size(path, ignored);
  // The size of a file that is not regular is unknown; the largest value of the type stands for it. A buffer one byte
  // longer than the file shows the end in one read.
  buffer_.resize(static_cast<std::size_t>(std::min(size_, buffer_bytes) + 1));
}

bool TextReader::refill() {
  // The rest of a line moves to the front; a line longer than the buffer makes it grow.
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  dropped_ += begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const std::size_t got = std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, file_.get());
  if (got == 0 && std::ferror(file_.get()) != 0) throw Error(ErrorKind::input, message_of(name_, ": can't be read"));
  end_ += got;
  return got != 0;
}

std::string TextReader::place() const {
  return had_bytes_ ? message_of("byte ", last_) : message_of("line ", line_number_);
}

bool TextReader::next_line(std::string_view& line) {
  last_ = dropped_ + begin_;
  std::size_t searched = 0;
  for (;;) {
    const char* from = buffer_.data() + begin_;
    const void* newline = std::memchr(from + searched, '\n', end_ - begin_ - searched);
    if (newline != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(newline) - from);
      line = {from, length};
      begin_ += length + 1;
      break;
    }
    searched = end_ - begin_;
    if (!refill()) {
      if (begin_ == end_) return false;
      line = {buffer_.data() + begin_, end_ - begin_};
      begin_ = end_;
      break;
    }
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (last_ == 0 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  ++line_number_;
  return true;
}

bool TextReader::next_filled_line(std::string_view& line) {
  while (next_line(line)) {
    std::string_view rest = line;
    if (!next_word(rest).empty()) return true;
  }
  return false;
}

bool TextReader::next_bytes(void* to, std::size_t count) {
  had_bytes_ = true;
  last_ = dropped_ + begin_;
  while (end_ - begin_ < count) {
    if (!refill()) return false;
  }
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  return true;
}

std::string_view next_word(std::string_view& rest) {
  std::size_t begin = 0;
  while (begin < rest.size() && is_space(rest[begin])) ++begin;
  std::size_t end = begin;
  while (end < rest.size() && !is_space(rest[end])) ++end;
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

std::string from_fortran(std::string_view word, std::size_t read) {
  std::string text(word);
  const std::string_view exponent = word.substr(read);
  constexpr std::string_view letters = "DdQq";
  if (letters.find(exponent.front()) != std::string_view::npos) {
    text[read] = 'e';
    return text;
  }
  // Two digits would be an integer behind a number, of which a file has lost what stood between them.
  const bool bare = exponent.size() == 4 && (exponent[0] == '+' || exponent[0] == '-') &&
                    exponent.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (!bare || word.substr(0, read).find('.') == std::string_view::npos) return {};
  return text.insert(read, 1, 'e');
}

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& character : text) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return text;
}

std::string printable(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string text;
  for (const char character : word.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(character);
    text += byte < ' ' || byte == 0x7f ? '?' : character;
  }
  return text + (word.size() > longest ? "..." : "");
}

std::string quoted(std::string_view word) {
  std::string text = "'";
  text += printable(word);
  text += "'";
  return text;
}

void require_end_of_line(const TextReader& reader, std::string_view rest) {
  const std::string_view word = next_word(rest);
  if (!word.empty()) reader.refuse("expected the end of the line, found ", quoted(word));
}

}  // namespace heddle::impl
