// Everything of Heddle's that reads a file of a user's, under one interface: for the harnesses of libFuzzer and for the
// test that reads again what they found.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace heddle::test {

/// A kind of file.
struct Reader {
  std::string_view name;    ///< Of the harness fuzz_NAME, and of the folders that hold files for it.
  std::string_view ending;  ///< What these files' names end in.
  /// Reads the file by every function that takes it. Returns where each one either read it, and what it gave holds
  /// together, or refused it by an Error(input) of one line that begins with the file's name; throws
  /// std::logic_error, saying what happened instead, where one did anything else.
  void (*read)(const std::filesystem::path& path);
};

/// Those of the library, and those of the command alone.
[[nodiscard]] std::span<const Reader> library_readers();
[[nodiscard]] std::span<const Reader> command_readers();

}  // namespace heddle::test
