// Conversion of the current exception to an Error.
#include "core/current_error.hpp"

#include <exception>
#include <new>
#include <string_view>

namespace heddle::impl {
namespace {

// One line, whatever a library put into it.
std::string first_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string_view::npos) return "an exception without words";
  text.remove_prefix(begin);
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc& error) {
    return {ErrorKind::memory, message_of("out of memory (", first_line(error.what()), ")")};
  } catch (const std::exception& error) {
    // Some versions of Kokkos report it by an exception without a type of its own.
    const bool of_memory = std::string_view(error.what()).find("failed to allocate") != std::string_view::npos;
    return {of_memory ? ErrorKind::memory : ErrorKind::computation, first_line(error.what())};
  } catch (...) {
    return {ErrorKind::computation, "an exception of unknown type"};
  }
}

}  // namespace heddle::impl
