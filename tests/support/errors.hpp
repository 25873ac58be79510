// Checks of thrown errors.
#pragma once

#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <source_location>
#include <string>
#include <string_view>

namespace heddle::test {

/// The number of the ErrorKind that the work throws; -1 where it throws none.
template <class Work> int kind_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return static_cast<int>(error.kind());
  }
  return -1;
}

/// The message of the Error that work() throws, which is to be of this kind; empty where it throws none.
template <class Work> std::string refusal_of(const Work& work, ErrorKind kind = ErrorKind::argument) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "";
}

/// Expects that work() throws an Error of this kind, whose message holds `text`.
template <class Work>
void expect_refusal(ErrorKind kind, std::string_view text, const Work& work,
                    const std::source_location& where = std::source_location::current()) {
  const auto fail = [&where](const auto&... words) {
    ADD_FAILURE_AT(where.file_name(), where.line()) << message_of(words...);
  };
  try {
    work();
    fail("expected an Error with the text '", text, "'; nothing was thrown");
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.kind() != kind) fail("of another kind: ", message);
    if (message.find(text) == std::string::npos) fail("expected '", text, "' in: ", message);
  }
}

}  // namespace heddle::test
