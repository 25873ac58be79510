// Reading of integer keys, one a line, and writing of groups for `heddle duplicates`.
#include "drivers/search/duplicates_text.hpp"

#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unordered_map>

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

// Parser of the keys, in one pass over the text.
class KeyParser {
 public:
  KeyParser(std::string name, const std::vector<char>& text)
      : name_(std::move(name)), at_(text.data()), end_(text.data() + text.size()) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";  // Byte order mark of UTF-8.
    if (std::string_view(at_, text.size()).starts_with(mark)) at_ += mark.size();
  }

  KeyTable parse() {
    KeyTable table;
    table.values.reserve(static_cast<std::size_t>(end_ - at_) / 8);
    while (at_ < end_) {
      ++line_;
      if (is_comment()) continue;
      const Index words = parse_line(table.values);
      if (first_ == 0) {
        first_ = line_;
        if (words > most_words) refuse(message_of(words, " words; expected at most ", most_words));
        table.words = words;
      } else if (words != table.words) {
        refuse(message_of(words, words == 1 ? " word" : " words", ", where line ", first_, " has ", table.words));
      }
    }
    if (!beyond_.empty()) {
      table.beyond.resize(table.values.size(), false);
      for (const std::size_t place : beyond_) table.beyond[place] = true;
      if (any_negative_) number_words(table);
    }
    return table;
  }

 private:
  // Skip a line with nothing but a comment.
  bool is_comment() {
    const char* const begin = at_;
    skip_blanks();
    if (at_ == end_ || *at_ != '#') {
      at_ = begin;
      return false;
    }
    end_line();
    return true;
  }
  // Skip the rest of the line, a comment.
  void end_line() {
    at_ = std::find(at_, end_, '\n');
    at_ += at_ < end_ ? 1 : 0;
  }
  // Parse all words of the line and its end; return the number of words.
  Index parse_line(std::vector<Index>& values) {
    Index words = 0;
    skip_blanks();
    if (ended()) refuse("is empty; expected integers");
    while (true) {
      values.push_back(number(values.size()));
      ++words;
      skip_blanks();
      if (ended()) break;
      if (*at_ == ',') {
        ++at_;
        skip_blanks();
      }
    }
    end_line();
    return words;
  }
  // Return the last 64 bits of the integer; integers of 2^63 and above are noted.
  Index number(std::size_t place) {
    const char* digits = at_;
    if (end_ - at_ > 1 && *at_ == '+' && at_[1] != '-') ++digits;
    Index value = 0;
    auto [stop, error] = std::from_chars(digits, end_, value);
    if (error == std::errc::result_out_of_range) {
      std::uint64_t larger = 0;
      const auto again = std::from_chars(digits, end_, larger);
      if (again.ec != std::errc()) refuse(word() + " is beyond 64 bits");
      value = static_cast<Index>(larger);
      error = std::errc();
      beyond_.push_back(place);
    } else {
      any_negative_ = any_negative_ || value < 0;
    }
    const bool whole = stop == end_ || is_blank(*stop) || *stop == ',' || *stop == '#' || *stop == '\n';
    if (error != std::errc() || !whole) refuse("expected an integer, found " + word());
    at_ = stop;
    return value;
  }
  // Number all integers, since negative ones and those of 2^63 and above share bit patterns.
  static void number_words(KeyTable& table) {
    table.text = table.values;
    std::unordered_map<Index, Index> numbers;
    std::unordered_map<Index, Index> numbers_beyond;
    Index next = 0;
    for (std::size_t k = 0; k < table.values.size(); ++k) {
      auto& known = table.beyond[k] ? numbers_beyond : numbers;
      const auto [entry, is_new] = known.try_emplace(table.values[k], next);
      next += is_new ? 1 : 0;
      table.values[k] = entry->second;
    }
  }
  void skip_blanks() {
    while (at_ < end_ && is_blank(*at_)) ++at_;
  }
  [[nodiscard]] bool ended() const { return at_ == end_ || *at_ == '#' || *at_ == '\n'; }
  // Return the word, shortened for a message.
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
  long long first_ = 0;              // Line of the first key.
  std::vector<std::size_t> beyond_;  // Places of words of 2^63 and above.
  bool any_negative_ = false;
};

// Writer of a text file of integers in large pieces.
class Writer {
 public:
  explicit Writer(const std::filesystem::path& path) : out_(path) {}

  Writer& text(std::string_view words) {
    buffer_ += words;
    return *this;
  }
  template <std::integral Number> Writer& number(Number value) {
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
    out_.commit();
  }

 private:
  void flush() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  PendingStream out_;
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
      for (Index k = 0; k < keys->words; ++k) {
        const auto place = static_cast<std::size_t>(groups.first[group] * keys->words + k);
        const Index word = keys->text.empty() ? keys->values[place] : keys->text[place];
        out.text(before);
        if (!keys->beyond.empty() && keys->beyond[place]) {
          out.number(static_cast<std::uint64_t>(word));
        } else {
          out.number(word);
        }
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
