// Which device a rank uses, decided before Kokkos is initialised.
#pragma once

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <string>

namespace heddle {

/// Where one rank's kernels will run.
struct DeviceBinding {
  int node_rank = 0;     ///< This rank's number among the ranks of its node.
  int node_size = 1;     ///< Ranks on the node.
  int device_count = 0;  ///< Devices that the backend sees on this node; 0 on CPU backends.
  int device = -1;       ///< The chosen one; -1 on CPU backends.
  bool shared = false;   ///< Another rank uses the same one: they take turns, and have its memory together.

  /// Settings for Kokkos::initialize that carry the choice.
  [[nodiscard]] Kokkos::InitializationSettings settings() const;
  /// One line for people.
  [[nodiscard]] std::string describe() const;
};

/// Device node_rank mod device_count, or the one that HEDDLE_DEVICE names (one number for all ranks, or a
/// comma-separated list by node rank). Collective over `comm`; needs MPI, not Kokkos. Throws Error(argument), on every
/// rank alike, for a variable that names no device.
[[nodiscard]] DeviceBinding bind_device(MPI_Comm comm);

}  // namespace heddle
