// A mesh file that is being written: text, and numbers as text or as bytes.
#pragma once

#include <heddle/core/pending_file.hpp>
#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::impl {

/// Formats number points and cells with 32 bits.
inline constexpr Index largest_int32 = std::numeric_limits<std::int32_t>::max();

enum class NumberForm { text, native, little_endian };

/// Writes beside `target`, which close() replaces. Throws Error(output), naming it.
class MeshOutput {
 public:
  MeshOutput(const std::filesystem::path& target, NumberForm form);

  [[nodiscard]] bool text() const noexcept { return form_ == NumberForm::text; }
  /// Characters as they are.
  void put(std::string_view characters) { put_bytes(characters.data(), characters.size()); }
  void put_bytes(const void* bytes, std::size_t count);
  /// A number: as text with the fewest digits that give it back, and a space before it unless a line begins.
  template <class Number> void number(Number value) {
    if (text()) {
      std::array<char, 40> digits{};
      char* begin = digits.data();
      if (!at_begin_) *begin++ = ' ';
      // Characters of one byte are numbers, too.
      const auto printed = [&] {
        if constexpr (sizeof(Number) == 1)
          return static_cast<int>(value);
        else
          return value;
      }();
      put({digits.data(), std::to_chars(begin, digits.data() + digits.size(), printed).ptr});
      at_begin_ = false;
    } else {
      auto bytes = std::bit_cast<std::array<unsigned char, sizeof(Number)>>(value);
      if (form_ == NumberForm::little_endian && std::endian::native == std::endian::big)
        std::reverse(bytes.begin(), bytes.end());
      put_bytes(bytes.data(), bytes.size());
    }
  }
  /// Ends a line of text; nothing where numbers are bytes.
  void end_record();
  /// The byte that comes next.
  [[nodiscard]] std::uint64_t position() const noexcept { return written_; }
  /// Replaces what was written at a byte.
  void put_at(std::uint64_t position, std::string_view characters);
  /// The file is complete.
  void close();

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  void flush();

  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::filesystem::path target_;
  PendingFile pending_;
  std::unique_ptr<std::FILE, Close> file_;
  NumberForm form_;
  std::vector<char> buffer_;
  std::uint64_t written_ = 0;
  bool at_begin_ = true;
};

}  // namespace heddle::impl
