// What processors say of the energy that they have taken.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace heddle::perf {

/// A counter of energy, which begins anywhere: only differences say something.
class EnergyCounter {
 public:
  EnergyCounter() = default;
  virtual ~EnergyCounter() = default;
  EnergyCounter(const EnergyCounter&) = delete;
  EnergyCounter& operator=(const EnergyCounter&) = delete;

  /// Joules so far; empty where the counter can't be read any more.
  [[nodiscard]] virtual std::optional<double> joules() = 0;
};

/// That of an NVIDIA GPU, memory and board included, which is named by its place on the PCI bus: "00000000:1b:00.0". It
/// comes from NVML, which the driver brings and this opens by the name of its file. Null where there is no such
/// library, no such GPU, or one without a counter (it came with the Volta generation).
[[nodiscard]] std::unique_ptr<EnergyCounter> nvml_counter(const std::string& pci_bus_id,
                                                          const std::string& library = "libnvidia-ml.so.1");

/// That of all processors of this machine, without their memory, by Linux's powercap interface (RAPL). Null where there
/// is none or it is not ours to read, as root's alone on most systems.
[[nodiscard]] std::unique_ptr<EnergyCounter> rapl_counter(const std::string& folder = "/sys/class/powercap");

}  // namespace heddle::perf
