#include "duplicates_text.hpp"

#include <heddle/core/error.hpp>
#include <heddle/io/pending_file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

namespace heddle::driver {
namespace {

constexpr Index most_words = 64;

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

std::vector<char> bytes_of(const std::filesystem::path& path) {
  const auto refuse = [&](const char* what) {
    throw Error(ErrorKind::input, message_of(path.string(), ": ", what, ": ", std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) refuse("can't be opened");
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  constexpr std::size_t more = std::size_t{1} << 20;
  std::vector<char> bytes(none ? more : static_cast<std::size_t>(size) + 1);
  std::size_t held = 0;
  while (true) {
    const std::size_t got = std::fread(bytes.data() + held, 1, bytes.size() - held, file.get());
    held += got;
    if (held < bytes.size()) break;
    bytes.resize(bytes.size() + std::max(more, bytes.size()));
  }
  if (std::ferror(file.get()) != 0) refuse("can't be read");
  bytes.resize(held);
  return bytes;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// One pass over the text.
class KeyParser {
 public:
  KeyParser(std::string name, const std::vector<char>& text)
      : name_(std::move(name)), at_(text.data()), end_(text.data() + text.size()) {}

  KeyTable parse() {
    KeyTable table;
    table.values.reserve(static_cast<std::size_t>(end_ - at_) / 8);
    while (at_ < end_) {
      ++line_;
      const Index words = parse_line(table.values);
      if (line_ == 1) {
        if (words > most_words) refuse(message_of(words, " words; expected at most ", most_words));
        table.words = words;
      } else if (words != table.words) {
        refuse(message_of(words, words == 1 ? " word" : " words", ", where line 1 has ", table.words));
      }
    }
    return table;
  }

 private:
  // All words up to the line's end and past it; how many they are.
  Index parse_line(std::vector<Index>& values) {
    Index words = 0;
    skip_blanks();
    if (ended()) refuse("is empty; expected integers");
    while (true) {
      values.push_back(number());
      ++words;
      skip_blanks();
      if (ended()) break;
      if (*at_ == ',') {
        ++at_;
        skip_blanks();
      }
    }
    at_ += at_ < end_ ? 1 : 0;
    return words;
  }
  Index number() {
    const char* digits = at_;
    if (end_ - at_ > 1 && *at_ == '+' && at_[1] != '-') ++digits;
    Index value = 0;
    const auto [stop, error] = std::from_chars(digits, end_, value);
    const bool whole = stop == end_ || is_blank(*stop) || *stop == ',' || *stop == '\n';
    if (error == std::errc::result_out_of_range) refuse(word() + " is beyond 64 bits");
    if (error != std::errc() || !whole) refuse("expected an integer, found " + word());
    at_ = stop;
    return value;
  }
  void skip_blanks() {
    while (at_ < end_ && is_blank(*at_)) ++at_;
  }
  [[nodiscard]] bool ended() const { return at_ == end_ || *at_ == '\n'; }
  // As it may appear in a message.
  [[nodiscard]] std::string word() const {
    constexpr std::size_t longest = 40;
    std::string text;
    const char* c = at_;
    for (; c < end_ && !is_blank(*c) && *c != ',' && *c != '\n' && text.size() < longest; ++c) {
      text += *c > ' ' && *c < 0x7f ? *c : '?';
    }
    if (text.empty()) return c < end_ && *c == ',' ? "','" : "the end of the line";
    return "'" + text + (text.size() == longest ? "...'" : "'");
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(ErrorKind::input, message_of(name_, ", line ", line_, ": ", reason));
  }

  std::string name_;
  const char* at_;
  const char* end_;
  long long line_ = 0;
};

// A text file of integers, written in large pieces.
class Writer {
 public:
  explicit Writer(const std::filesystem::path& path)
      : name_(path.string()), pending_(path), out_(pending_.path(), std::ios::binary) {}

  Writer& text(std::string_view words) {
    buffer_ += words;
    return *this;
  }
  Writer& number(Index value) {
    std::array<char, 24> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    buffer_.append(digits.data(), end);
    return *this;
  }
  void end_line() {
    buffer_ += '\n';
    if (buffer_.size() > (std::size_t{1} << 20)) flush();
  }
  void finish() {
    flush();
    out_.close();
    if (!out_) throw Error(ErrorKind::output, message_of(name_, ": could not be written"));
    pending_.commit();
  }

 private:
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::string name_;
  PendingFile pending_;
  std::ofstream out_;
  std::string buffer_;
};

}  // namespace

KeyTable read_keys(const std::filesystem::path& path) {
  const std::vector<char> text = bytes_of(path);
  return KeyParser(path.string(), text).parse();
}

void write_groups(const std::filesystem::path& path, const KeyGroups& groups, const KeyTable* keys) {
  Writer out(path);
  out.text(keys != nullptr ? "group,first,count,key" : "group,first,count").end_line();
  for (std::size_t group = 0; group < groups.first.size(); ++group) {
    out.number(static_cast<Index>(group)).text(",").number(groups.first[group]).text(",").number(groups.count[group]);
    if (keys != nullptr) {
      std::string_view before = ",";
      for (const Index word : keys->key(groups.first[group])) {
        out.text(before).number(word);
        before = " ";
      }
    }
    out.end_line();
  }
  out.finish();
}

void write_group_of_each(const std::filesystem::path& path, const KeyGroups& groups) {
  Writer out(path);
  for (const Index group : groups.group) out.number(group).end_line();
  out.finish();
}

}  // namespace heddle::driver
