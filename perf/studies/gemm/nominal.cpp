// The rates that vendors state for their devices.
#include "studies/gemm/nominal.hpp"

#include <array>

namespace heddle::driver {
namespace {

// Rates in 10^12 operations a second; 0: the device lacks such a unit.
struct Device {
  std::string_view name;  // The driver's name, or a part of it.
  double double_plain;
  double double_tensor;  // AMD: matrix cores, which rocBLAS uses by default.
  double float_plain;
  double float_matrix;  // Matrix cores that keep float's precision; AMD only.
  double tf32;
};

// The first entry whose name is part of the device's counts.
constexpr std::array<Device, 15> devices = {{
    {"H100 PCIe", 26.0, 51.0, 51.0, 0.0, 378.0},
    {"H100 NVL", 30.0, 60.0, 60.0, 0.0, 417.5},
    {"H100", 34.0, 67.0, 67.0, 0.0, 494.7},
    {"H200 NVL", 30.0, 60.0, 60.0, 0.0, 417.5},
    {"H200", 34.0, 67.0, 67.0, 0.0, 494.7},
    {"A100", 9.7, 19.5, 19.5, 0.0, 156.0},
    {"V100-PCIE", 7.0, 0.0, 14.0, 0.0, 0.0},
    {"V100-SXM2", 7.8, 0.0, 15.7, 0.0, 0.0},
    {"GTX 1070 Ti", 0.256, 0.0, 8.19, 0.0, 0.0},
    {"GTX 1070", 0.202, 0.0, 6.46, 0.0, 0.0},
    {"RX 6900 XT", 1.44, 0.0, 23.04, 0.0, 0.0},
    {"MI250X", 23.9, 47.9, 23.9, 47.9, 0.0},  // Rates of each of its two dies, which are devices.
    {"MI250", 22.6, 45.3, 22.6, 45.3, 0.0},
    {"MI300X", 81.7, 163.4, 163.4, 163.4, 0.0},
    {"MI300A", 61.3, 122.6, 122.6, 122.6, 0.0},
}};

double rate_of(const Device& device, bool is_double, MathMode mode) {
  if (mode == MathMode::tf32) return is_double ? 0.0 : device.tf32;
  if (is_double) {
    if (mode == MathMode::plain) return device.double_plain;
    return device.double_tensor > 0.0 || mode == MathMode::tensor ? device.double_tensor : device.double_plain;
  }
  if (mode == MathMode::tensor) return 0.0;
  return mode == MathMode::automatic && device.float_matrix > 0.0 ? device.float_matrix : device.float_plain;
}

}  // namespace

std::optional<double> nominal_gflops(std::string_view device, std::string_view scalar, MathMode mode) {
  // A MIG part of a device has a part of its rate.
  if (device.find("MIG") != std::string_view::npos) return std::nullopt;
  for (const Device& known : devices) {
    if (device.find(known.name) == std::string_view::npos) continue;
    const double rate = rate_of(known, scalar.find("double") != std::string_view::npos, mode);
    return rate > 0.0 ? std::optional(1e3 * rate) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace heddle::driver
