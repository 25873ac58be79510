// The errors of the library: one exception type, and the checks that throw it.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace heddle {

/// Kind of an error, in terms that a caller can act on; the command turns it into its exit code.
enum class ErrorKind {
  argument,  ///< A wrong argument or option (exit code 2).
  /// An input file or deck that can't be used; the message names the file, the place and the expected form (exit code
  /// 2).
  input,
  output,  ///< A result that can't be written: the place for it, or its form, is wrong (exit code 2).
  /// A result that could not be written although its place is right: the disk is full, a quota or a limit was reached,
  /// or the device failed (exit code 1).
  storage,
  computation,  ///< The computation failed, or a check of its result did (exit code 1).
  memory,       ///< Memory is short, on the host or a device (exit code 1).
};

/// The one type of exception of Heddle's own. Its message is a single line that can be understood by itself. Functions
/// that take no Communicator may pass on exceptions of Kokkos and of the standard library as they are, as where memory
/// is short.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  /// Kind of the error.
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// The parts joined as operator<< prints them, where floating-point numbers have enough digits to tell them apart.
template <class... Parts> [[nodiscard]] std::string message_of(const Parts&... parts) {
  std::ostringstream text;
  text.precision(17);
  (text << ... << parts);
  return text.str();
}

/// Throws Error(argument) with the joined parts unless `condition` holds.
template <class... Parts> void require(bool condition, const Parts&... parts) {
  if (!condition) {
    throw Error(ErrorKind::argument, message_of(parts...));
  }
}

}  // namespace heddle
