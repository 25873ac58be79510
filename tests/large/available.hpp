// Memory for tests that take much of it.
#pragma once

#include <fstream>
#include <limits>
#include <string>

namespace heddle::test {

/// Kibibytes that the host can give to a program, or no bound where it does not say.
inline long long available() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  long long kibibytes = 0;
  std::string rest;
  while (file >> name >> kibibytes && std::getline(file, rest)) {
    if (name == "MemAvailable:") return kibibytes;
  }
  return std::numeric_limits<long long>::max();
}

}  // namespace heddle::test
