// Check of a call of a reader: it may succeed or refuse the file as input, and nothing else.
#pragma once

#include "readers.hpp"
#include <heddle/core/error.hpp>

#include <stdexcept>
#include <string>

namespace heddle::test {

[[noreturn]] inline void fail(const std::string& what) {
  throw std::logic_error(what);
}

inline void expect(bool condition, const char* what) {
  if (!condition) fail(what);
}

/// True where `work` refused nothing; what it may refuse, and how, is said at Reader::read.
template <class Work> bool done(const std::filesystem::path& file, const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    const std::string text = error.what();
    if (error.kind() != ErrorKind::input) fail("refused, but not as input: " + text);
    if (!text.starts_with(file.string())) fail("refused without the name of the file: " + text);
    for (const char character : text) {
      const auto byte = static_cast<unsigned char>(character);
      if (byte < ' ' || byte == 0x7f) fail("refused with more than a line of text: " + text);
    }
  } catch (const std::logic_error&) {
    throw;
  } catch (const std::exception& error) {
    fail(std::string("neither read nor refused by an Error, but: ") + error.what());
  }
  return false;
}

}  // namespace heddle::test
