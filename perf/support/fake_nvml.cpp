// A library with the NVML functions that energy.cpp calls: one GPU, which consumes 2.5 J between two readings.
#include <cstring>

namespace {
constexpr int success = 0;
constexpr int not_found = 6;
constexpr int uninitialised = 1;
int begun = 0;
unsigned long long millijoules = 1000;
char device = 0;
}  // namespace

extern "C" {
int nvmlInit_v2() {
  ++begun;
  return success;
}
int nvmlShutdown() {
  --begun;
  return success;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** handle) {
  if (begun == 0) return uninitialised;
  if (std::strcmp(bus_id, "00000000:1b:00.0") != 0) return not_found;
  *handle = &device;
  return success;
}
int nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* energy) {
  if (begun == 0 || handle != &device) return uninitialised;
  millijoules += 2500;
  *energy = millijoules;
  return success;
}
// For the test: calls of nvmlInit_v2 less those of nvmlShutdown.
int fake_nvml_begun() {
  return begun;
}
}
