// Definitions of symbols of newer C and C++ runtimes (glibc 2.38, GCC 13) that Debian 12 lacks: ci/older_runtime.py, whose
// table names the symbols, builds them into a small library beside the libraries of a newer Debian that need them.
#include <cstdlib>
#include <cstring>
#include <ios>
#include <string>

extern "C" {

// C23's strtol: the same but for numbers written 0b101, which it reads in base 0 and base 2.
long __isoc23_strtol(const char* text, char** end, int base) {
  return std::strtol(text, end, base);
}

// std::ios_base_library_init(): once <iostream> is used, the standard streams are ready.
void _ZSt21ios_base_library_initv() {
  static const std::ios_base::Init streams;
}

// std::string::_M_replace_cold(): the `length` characters at `place`, which `behind` others follow, become the
// `new_length` of `source`, which is part of the same string; the string has the room, and the caller sets its length.
void _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm(
    void* /*string*/, char* place, std::size_t length, const char* source, std::size_t new_length,
    std::size_t behind) {
  const std::string copy(source, new_length);
  std::memmove(place + new_length, place + length, behind);
  std::memcpy(place, copy.data(), new_length);
}

}  // extern "C"
