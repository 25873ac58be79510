// Energy counters of NVIDIA GPUs by NVML and of CPUs by Linux's powercap interface.
#include "support/energy.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace heddle::perf {
namespace {

// NVML by its reference manual; its header is not available here.
class Nvml final : public EnergyCounter {
 public:
  // Returns null if the library or any function is missing.
  static std::unique_ptr<EnergyCounter> open(const std::string& pci_bus_id, const std::string& library) {
    std::unique_ptr<Nvml> nvml(new Nvml);
    nvml->library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (nvml->library_ == nullptr) return nullptr;
    const auto init = nvml->function<int()>("nvmlInit_v2");
    const auto device_at = nvml->function<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    nvml->shutdown_ = nvml->function<int()>("nvmlShutdown");
    nvml->energy_ = nvml->function<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
    if (init == nullptr || device_at == nullptr || nvml->shutdown_ == nullptr || nvml->energy_ == nullptr) {
      return nullptr;
    }
    nvml->begun_ = init() == success;
    if (!nvml->begun_ || device_at(pci_bus_id.c_str(), &nvml->device_) != success || !nvml->joules()) return nullptr;
    return nvml;
  }
  ~Nvml() override {
    if (begun_) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }

  std::optional<double> joules() override {
    unsigned long long millijoules = 0;
    if (energy_(device_, &millijoules) != success) return {};
    return 1e-3 * static_cast<double>(millijoules);
  }

 private:
  static constexpr int success = 0;

  Nvml() = default;
  template <class Function> Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  bool begun_ = false;
  int (*shutdown_)() = nullptr;
  int (*energy_)(void*, unsigned long long*) = nullptr;
  void* device_ = nullptr;
};

template <class T> std::optional<T> first_word_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  T word{};
  if (!(stream >> word)) return {};
  return word;
}

class Rapl final : public EnergyCounter {
 public:
  static std::unique_ptr<EnergyCounter> open(const std::filesystem::path& folder) {
    std::unique_ptr<Rapl> rapl(new Rapl);
    std::error_code none;
    for (const auto& zone : std::filesystem::directory_iterator(folder, none)) {
      // Zones within a package, and those of the whole board, would be counted twice.
      const auto name = first_word_of<std::string>(zone.path() / "name");
      if (!name || !name->starts_with("package")) continue;
      const auto now = first_word_of<double>(zone.path() / "energy_uj");
      const auto range = first_word_of<double>(zone.path() / "max_energy_range_uj");
      if (!now || !range || !(*range > 0.0)) return nullptr;
      rapl->packages_.push_back({zone.path() / "energy_uj", *range, *now});
    }
    if (rapl->packages_.empty()) return nullptr;
    return rapl;
  }

  std::optional<double> joules() override {
    for (Package& package : packages_) {
      const auto now = first_word_of<double>(package.file);
      if (!now) return {};
      // A counter at its end continues from 0.
      const double more = *now - package.last;
      microjoules_ += more >= 0.0 ? more : more + package.range;
      package.last = *now;
    }
    return 1e-6 * microjoules_;
  }

 private:
  struct Package {
    std::filesystem::path file;
    double range;
    double last;
  };

  Rapl() = default;

  std::vector<Package> packages_;
  double microjoules_ = 0.0;
};

}  // namespace

std::unique_ptr<EnergyCounter> nvml_counter(const std::string& pci_bus_id, const std::string& library) {
  return Nvml::open(pci_bus_id, library);
}

std::unique_ptr<EnergyCounter> rapl_counter(const std::string& folder) {
  return Rapl::open(folder);
}

}  // namespace heddle::perf
