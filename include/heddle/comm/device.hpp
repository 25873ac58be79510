// Choice of a rank's device, before Kokkos is initialised.
#pragma once

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <string>

namespace heddle {

/// The device on which one rank's kernels will run.
struct DeviceBinding {
  int node_rank = 0;     ///< This rank's number among the ranks of its node, from 0.
  int node_size = 1;     ///< Number of ranks on the node.
  int device_count = 0;  ///< Number of devices that the backend sees on this node; 0 on CPU backends.
  int device = -1;       ///< Number of the device that was chosen; -1 on CPU backends.
  bool shared = false;   ///< Whether another rank uses the same device: they then take turns and share its memory.

  /// The settings for Kokkos::initialize() that choose this device.
  [[nodiscard]] Kokkos::InitializationSettings settings() const;
  /// The choice in one line for people.
  [[nodiscard]] std::string describe() const;
};

/// Chooses device node_rank mod device_count, or the one that HEDDLE_DEVICE names: one number for all ranks, or a
/// comma-separated list by node rank; without it, in a test of CTest, those of its resource groups `gpus` by node rank.
/// Collective over `comm`; it needs MPI, but not Kokkos. Throws Error(argument), on every rank alike, where the
/// variable names no device, and before MPI_Init.
[[nodiscard]] DeviceBinding bind_device(MPI_Comm comm);

/// Bytes that Views in the memory of kernels can still take: free memory of the device, or on CPU backends memory that
/// the operating system can give to programs. Infinity if that is unknown. Needs Kokkos on GPUs.
[[nodiscard]] double available_memory();

}  // namespace heddle
