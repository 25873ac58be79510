// Regions of work as tools see them, for calls that must cost nothing where no tool listens.
#pragma once

#include <Kokkos_Core.hpp>

namespace heddle::impl {

/// A region by its name. Unlike Kokkos' ScopedRegion it makes no string of the name, and so takes no memory, unless a
/// tool listens.
class QuietRegion {
 public:
  explicit QuietRegion(const char* name) : entered_(Kokkos::Tools::profileLibraryLoaded()) {
    if (entered_) Kokkos::Tools::pushRegion(name);
  }
  ~QuietRegion() {
    if (entered_) Kokkos::Tools::popRegion();
  }
  QuietRegion(const QuietRegion&) = delete;
  QuietRegion& operator=(const QuietRegion&) = delete;

 private:
  bool entered_;
};

}  // namespace heddle::impl
