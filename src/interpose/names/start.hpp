// Kokkos for a program that knows nothing of it.
#pragma once

#include <heddle/core/error.hpp>

#include <Kokkos_Core.hpp>

namespace heddle::impl::interpose {

/// Starts Kokkos unless the program did; whether it was this. Throws Error(computation) where the program has ended it.
inline bool start_kokkos() {
  if (Kokkos::is_initialized()) return false;
  if (Kokkos::is_finalized()) {
    throw Error(ErrorKind::computation, "Kokkos was ended by the program, and cannot be started again");
  }
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  Kokkos::initialize(settings);
  return true;
}

}  // namespace heddle::impl::interpose
