// Energy counters of processors.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace heddle::perf {

/// A counter of energy with an arbitrary start: only differences are meaningful.
class EnergyCounter {
 public:
  EnergyCounter() = default;
  virtual ~EnergyCounter() = default;
  EnergyCounter(const EnergyCounter&) = delete;
  EnergyCounter& operator=(const EnergyCounter&) = delete;

  /// Returns the joules so far; empty if the counter can't be read.
  [[nodiscard]] virtual std::optional<double> joules() = 0;
};

/// Returns the counter of an NVIDIA GPU, memory and board included, named by its PCI bus address: "00000000:1b:00.0".
/// It comes from NVML, a library of the driver that is opened by its file name. Null if there is no such library, no
/// such GPU, or no counter (they came with the Volta generation).
[[nodiscard]] std::unique_ptr<EnergyCounter> nvml_counter(const std::string& pci_bus_id,
                                                          const std::string& library = "libnvidia-ml.so.1");

/// Returns the counter of all processors of this machine, without their memory, by Linux's powercap interface (RAPL).
/// Null if there is none or it is not readable; on most systems only root can read it.
[[nodiscard]] std::unique_ptr<EnergyCounter> rapl_counter(const std::string& folder = "/sys/class/powercap");

}  // namespace heddle::perf
