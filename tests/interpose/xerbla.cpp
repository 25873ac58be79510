// XERBLA of Fortran's and C's routines, which records its arguments instead of printing them.
#include "interpose/library.hpp"

#include <cstddef>

namespace heddle::test {

Refusal last_refusal;

}  // namespace heddle::test

extern "C" {
void cblas_xerbla(int position, const char* name, const char* /*form*/, ...) {
  heddle::test::last_refusal = {name, position};
}
void xerbla_(const char* name, const int* position, std::size_t length) {
  heddle::test::last_refusal = {std::string(name, length), *position};
}
}
