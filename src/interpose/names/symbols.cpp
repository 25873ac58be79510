// Reports of wrong arguments, by XERBLA or on the standard error stream.
#include "interpose/names/symbols.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace heddle::impl::interpose {
namespace {

void say(const char* name, int position) {
  std::fprintf(stderr, " ** On entry to %-6s parameter number %2d had an illegal value\n", name, position);
}

}  // namespace

void refuse(const char* name, int position, bool wide) {
  // As Fortran passes text: six characters, and their number behind all other arguments.
  std::string text = name;
  text.resize(std::max<std::size_t>(text.size(), 6), ' ');
  if (wide) {
    using Xerbla = void (*)(const char*, const std::int64_t*, std::size_t);
    for (const char* symbol : {"xerbla_64_", "scipy_xerbla_64_"}) {
      if (const auto xerbla = reinterpret_cast<Xerbla>(dlsym(RTLD_DEFAULT, symbol))) {
        const std::int64_t info = position;
        xerbla(text.c_str(), &info, text.size());
        return;
      }
    }
  } else {
    using Xerbla = void (*)(const char*, const std::int32_t*, std::size_t);
    for (const char* symbol : {"xerbla_", "scipy_xerbla_"}) {
      if (const auto xerbla = reinterpret_cast<Xerbla>(dlsym(RTLD_DEFAULT, symbol))) {
        const std::int32_t info = position;
        xerbla(text.c_str(), &info, text.size());
        return;
      }
    }
  }
  say(name, position);
}

void refuse_cblas(const char* name, int position, bool wide) {
  std::string text = "cblas_";
  for (const char* at = name; *at != '\0'; ++at) {
    text += *at >= 'A' && *at <= 'Z' ? static_cast<char>(*at - 'A' + 'a') : *at;
  }
  if (!wide) {
    using Xerbla = void (*)(int, const char*, const char*, ...);
    if (const auto xerbla = reinterpret_cast<Xerbla>(dlsym(RTLD_DEFAULT, "cblas_xerbla"))) {
      // By this variable of the reference CBLAS its XERBLA turns positions of Fortran into those of C, which ours are.
      auto* const turned = static_cast<int*>(dlsym(RTLD_DEFAULT, "RowMajorStrg"));
      const int before = turned != nullptr ? *turned : 0;
      if (turned != nullptr) *turned = 0;
      xerbla(position, text.c_str(), "");
      if (turned != nullptr) *turned = before;
      return;
    }
  }
  say(text.c_str(), position);
}

void refuse_cblas(const char* name, int order, int position, int one, bool wide) {
  if (order != row_major && order != column_major) {
    refuse_cblas(name, 1, wide);
  } else if (position != 0) {
    const bool changed = order == row_major && one > 0 && (position == one || position == one + 1);
    refuse_cblas(name, 1 + (changed ? 2 * one + 1 - position : position), wide);
  }
}

}  // namespace heddle::impl::interpose
