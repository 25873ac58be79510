// Names of the operations op(X).
#include <heddle/core/error.hpp>
#include <heddle/core/operation.hpp>

namespace heddle {

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::none:
      return "N";
    case Operation::transpose:
      return "T";
    case Operation::conjugate_transpose:
      return "C";
  }
  throw Error(ErrorKind::argument, "not a value of heddle::Operation");
}

Operation operation_from(std::string_view text) {
  if (text == "N" || text == "n") {
    return Operation::none;
  }
  if (text == "T" || text == "t") {
    return Operation::transpose;
  }
  if (text == "C" || text == "c") {
    return Operation::conjugate_transpose;
  }
  throw Error(ErrorKind::argument, message_of("operation '", text, "': expected N, T or C"));
}

}  // namespace heddle
