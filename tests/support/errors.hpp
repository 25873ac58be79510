// What is thrown.
#pragma once

#include <heddle/core/error.hpp>

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

}  // namespace heddle::test
