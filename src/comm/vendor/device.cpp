// Choice of a rank's device before Kokkos is initialised.
#include "comm/vendor/vendor.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/comm/device.hpp>
#include <heddle/core/error.hpp>
#include <heddle/core/host_memory.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

namespace heddle {
namespace {

// Numbers of a comma-separated list; empty where it is not one.
std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> numbers;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    int number = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size()) {
      return {};
    }
    numbers.push_back(number);
    if (comma == std::string_view::npos) {
      return numbers;
    }
    text.remove_prefix(comma + 1);
  }
}

// The devices that CTest gave a test's ranks, from `--resource-spec-file` and the property RESOURCE_GROUPS: a group for
// each rank, as "id:1,slots:2". Empty where it gave none.
std::vector<int> devices_of_ctest() {
  const char* const count = std::getenv("CTEST_RESOURCE_GROUP_COUNT");
  std::vector<int> devices;
  for (int group = 0; count != nullptr && group < std::atoi(count); ++group) {
    const char* const given = std::getenv(message_of("CTEST_RESOURCE_GROUP_", group, "_GPUS").c_str());
    int id = -1;
    if (given == nullptr || std::sscanf(given, "id:%d,", &id) != 1) return {};
    devices.push_back(id);
  }
  return devices;
}

}  // namespace

Kokkos::InitializationSettings DeviceBinding::settings() const {
  Kokkos::InitializationSettings settings;
  if (device >= 0) {
    settings.set_device_id(device);
  }
  return settings;
}

std::string DeviceBinding::describe() const {
  if (device < 0) {
    return message_of("CPU threads, node-local rank ", node_rank, " of ", node_size);
  }
  return message_of("device ", device, " of ", device_count, ", node-local rank ", node_rank, " of ", node_size,
                    shared ? " (warning: several ranks share a device)" : "");
}

DeviceBinding bind_device(MPI_Comm comm) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  require(initialized != 0, "bind_device: MPI is not initialised; call MPI_Init first");
  DeviceBinding binding;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &binding.node_rank);
  MPI_Comm_size(node, &binding.node_size);

  const char* variable = std::getenv("HEDDLE_DEVICE");
  int wrong = 0;
  // num_devices() is -1 on CPU backends: nothing to choose there.
  const int devices = Kokkos::num_devices();
  if (devices > 0) {
    binding.device_count = devices;
    binding.device = binding.node_rank % devices;
    if (variable != nullptr) {
      const auto numbers = numbers_of(variable);
      const auto place = numbers.size() == 1 ? std::size_t{0} : static_cast<std::size_t>(binding.node_rank);
      wrong = place < numbers.size() && numbers[place] >= 0 && numbers[place] < devices ? 0 : 1;
      binding.device = wrong == 0 ? numbers[place] : -1;
    } else if (const std::vector<int> given = devices_of_ctest(); !given.empty()) {
      binding.device = given[static_cast<std::size_t>(binding.node_rank) % given.size()] % devices;
    }
    // Not by number: where a launcher shows each rank a device of its own (--gpus-per-task=1), all call it 0.
    using Identity = impl::vendor::DeviceIdentity;
    const Identity mine = binding.device >= 0 ? impl::vendor::device_identity(binding.device) : Identity{};
    std::vector<Identity> all(static_cast<std::size_t>(binding.node_size));
    MPI_Allgather(mine.data(), sizeof(Identity), MPI_BYTE, all.data(), sizeof(Identity), MPI_BYTE, node);
    binding.shared = binding.device >= 0 && std::count(all.begin(), all.end(), mine) > 1;
  } else if (variable != nullptr) {
    wrong = numbers_of(variable).empty() ? 1 : 0;
  }
  MPI_Comm_free(&node);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm);
  require(wrong == 0, "HEDDLE_DEVICE='", variable == nullptr ? "" : variable,
          "': expected the number of a device, or one for each rank of the node separated by commas; this node has ",
          binding.device_count, " devices");
  return binding;
}

double available_memory() {
  const auto device = impl::vendor::memory_info();
  if (device.total > 0) return static_cast<double>(device.free);
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::string rest;
  for (double kibibytes = 0; file >> name >> kibibytes && std::getline(file, rest);) {
    if (name == "MemAvailable:") return 1024 * kibibytes;
  }
  return host_memory();
}

}  // namespace heddle
