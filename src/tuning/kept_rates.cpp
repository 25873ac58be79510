// Files of rates of the tile model: written, loaded, read.
#include "core/instantiate.hpp"
#include "core/scalar_name.hpp"
#include "emulation/residues.hpp"
#include "gemm/plan/arguments.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/comm/transport.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/emulation/emulation.hpp>
#include <heddle/tuning/rates.hpp>

#include <nlohmann/json.hpp>
#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace heddle {
namespace {

// Name of the integer products that emulated products consist of: rates hold for these alone.
template <Scalar T> std::string integer_products() {
  return message_of(impl::ResidueSystem::planes(impl::field_of<T>, emulation_moduli<T>(1)), " by ",
                    emulation_description());
}

// How rank 0's messages travel: other ways have other rates. Collective.
std::string ways_of(const Communicator& comm) {
  const Transport transport = transport_of(comm);
  std::string ways;
  for (const TransportKind kind : transport_kinds) {
    bool used = false;
    for (int rank = 0; rank < comm.size() && !used; ++rank) used = transport.kind(rank) == kind;
    if (used) ways += (ways.empty() ? "" : ",") + std::string(to_string(kind));
  }
  comm.broadcast(ways, 0);
  return ways;
}

// Throws nlohmann::json::exception if the text is no file of rates.
MachineRates rates_in(const nlohmann::json& json) {
  MachineRates rates;
  for (const auto& point : json.at("gemm")) {
    rates.gemm.push_back(
        {point.at("tile").get<Index>(), point.at("flops").get<double>(), point.at("warm_flops").get<double>()});
  }
  for (const auto& point : json.at("warm")) {
    rates.warm.push_back({point.at("seconds").get<double>(), point.at("warmth").get<double>()});
  }
  for (const auto& point : json.value("emulated", nlohmann::json::array())) {
    rates.emulated.push_back({point.at("tile").get<Index>(), point.at("flops").get<double>(), 0.0});
  }
  rates.memory_bandwidth = json.at("memory_bandwidth").get<double>();
  rates.link_bandwidth = json.at("link_bandwidth").get<double>();
  rates.node_bandwidth = json.value("node_bandwidth", 0.0);
  rates.latency = json.at("latency").get<double>();
  rates.overlap = json.at("overlap").get<double>();
  rates.node_overlap = json.value("node_overlap", rates.overlap);
  rates.host_bandwidth = json.at("host_bandwidth").get<double>();
  rates.host_bandwidth_both_ways = json.at("host_bandwidth_both_ways").get<double>();
  return rates;
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  struct utsname names = {};
  return uname(&names) == 0 ? names.machine : "CPU";
}

std::string hardware_name([[maybe_unused]] const ExecutionSpace& space) {
#if defined(KOKKOS_ENABLE_CUDA)
  return space.cuda_device_prop().name;
#elif defined(KOKKOS_ENABLE_HIP)
  return space.hip_device_prop().name;
#else
  return processor_name();
#endif
}

namespace {

// The file as JSON. Throws Error(input) if it is none.
nlohmann::json json_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  // The first character of a folder, which opens like a file, throws by itself in some libraries.
  std::error_code ignored;
  if (!stream || std::filesystem::is_directory(file, ignored)) {
    throw Error(ErrorKind::input, message_of(file.string(), ": can't be read"));
  }
  return nlohmann::json::parse(stream, nullptr, false);
}

[[noreturn]] void refuse(const std::filesystem::path& file) {
  throw Error(ErrorKind::input, message_of(file.string(), ": no rates of the tile model, which `heddle tune` writes"));
}

std::filesystem::path folder_in(const char* variable, const char* below) {
  const char* const value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return {};
  return std::filesystem::path(value) / below;
}

// The folders on rank 0 that may hold rates, in the order of search; the last is an administrator's. Without the user's
// there is no folder that is this user's alone: one that all may write could hold anyone's rates.
std::vector<std::filesystem::path> folders() {
  std::vector<std::filesystem::path> all;
  const auto cache = folder_in("XDG_CACHE_HOME", "heddle");
  for (const auto& folder :
       {folder_in("HEDDLE_RATES", ""), cache.empty() ? folder_in("HOME", ".cache/heddle") : cache}) {
    if (!folder.empty()) all.push_back(folder);
  }
  all.emplace_back("/etc/heddle");
  return all;
}

// A name as part of a file's: letters, digits and dashes.
std::string plain(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (kept) {
      text += c;
    } else if (!text.empty() && text.back() != '-') {
      text += '-';
    }
  }
  return text;
}

// The name of the file of rates, on each rank that of its own hardware.
template <Scalar T> std::string file_name(const Communicator& comm) {
  const std::string nodes = comm.nodes() > 1 ? std::to_string(comm.nodes()) + "-nodes-" : "";
  return message_of("rates-", plain(hardware_name(comm.space())), '-', ExecutionSpace::name(), '-',
                    impl::scalar_name<T>, '-', comm.size(), "-ranks-", nodes, comm.space().concurrency(),
                    "-threads.json");
}

}  // namespace

MachineRates read_rates(const std::filesystem::path& file) {
  const nlohmann::json json = json_of(file);
  try {
    MachineRates rates = rates_in(json);
    const std::string trouble = impl::trouble_with(rates);
    if (!trouble.empty()) {
      throw Error(ErrorKind::input, message_of(file.string(), ": these rates can't be used: ", trouble));
    }
    return rates;
  } catch (const nlohmann::json::exception&) {
    refuse(file);
  }
}

RatesOrigin rates_origin(const std::filesystem::path& file) {
  const nlohmann::json json = json_of(file);
  if (!json.is_object()) refuse(file);
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  return {text("hardware"), text("backend")};
}

template <Scalar T> std::filesystem::path rates_file(const Communicator& comm) {
  std::string name;
  if (comm.rank() == 0) {
    const auto all = folders();
    if (all.size() > 1) name = (all.front() / file_name<T>(comm)).string();
  }
  comm.broadcast(name, 0);
  return name;
}

template <Scalar T> std::optional<MachineRates> load_rates(const Communicator& comm) {
  const std::string transport = ways_of(comm);
  // Text on rank 0, so that all ranks read the same.
  std::vector<std::string> texts;
  if (comm.rank() == 0) {
    const std::string name = file_name<T>(comm);
    for (const auto& folder : folders()) {
      std::error_code ignored;
      const bool is_file = std::filesystem::is_regular_file(folder / name, ignored);
      std::ifstream stream(is_file ? folder / name : std::filesystem::path());
      texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    }
  }
  int count = static_cast<int>(texts.size());
  comm.broadcast(std::span<int>(&count, 1), 0);
  texts.resize(static_cast<std::size_t>(count));
  for (std::string& text : texts) {
    comm.broadcast(text, 0);
    const auto json = nlohmann::json::parse(text, nullptr, false);
    try {
      // Another BLAS, another of its kernels, or another transport between ranks counts as another machine.
      if (json.at("blas").get<std::string>() != blas::description() ||
          json.at("transport").get<std::string>() != transport) {
        continue;
      }
      MachineRates rates = rates_in(json);
      if (!json.contains("integers") || json.at("integers").get<std::string>() != integer_products<T>()) {
        rates.emulated.clear();
      }
      if (impl::trouble_with(rates).empty()) return rates;
    } catch (const nlohmann::json::exception&) {
      continue;  // No file, or none of rates.
    }
  }
  return std::nullopt;
}

template <Scalar T> void save_rates(const Communicator& comm, const MachineRates& rates) {
  const std::filesystem::path file = rates_file<T>(comm);
  const std::string transport = ways_of(comm);
  comm.on_rank(0, [&] {
    nlohmann::json json = {{"hardware", hardware_name(comm.space())},
                           {"backend", ExecutionSpace::name()},
                           {"blas", blas::description()},
                           {"transport", transport}};
    for (const MachineRates::GemmPoint& point : rates.gemm) {
      json["gemm"].push_back({{"tile", point.tile}, {"flops", point.flops}, {"warm_flops", point.warm_flops}});
    }
    json["integers"] = integer_products<T>();
    json["emulated"] = nlohmann::json::array();
    for (const MachineRates::GemmPoint& point : rates.emulated) {
      json["emulated"].push_back({{"tile", point.tile}, {"flops", point.flops}});
    }
    json["warm"] = nlohmann::json::array();
    for (const MachineRates::WarmPoint& point : rates.warm) {
      json["warm"].push_back({{"seconds", point.seconds}, {"warmth", point.warmth}});
    }
    json["memory_bandwidth"] = rates.memory_bandwidth;
    json["link_bandwidth"] = rates.link_bandwidth;
    json["node_bandwidth"] = rates.node_bandwidth;
    json["latency"] = rates.latency;
    json["overlap"] = rates.overlap;
    json["node_overlap"] = rates.node_overlap;
    json["host_bandwidth"] = rates.host_bandwidth;
    json["host_bandwidth_both_ways"] = rates.host_bandwidth_both_ways;
    if (file.empty()) {
      throw Error(ErrorKind::output,
                  "rates have no place: set HOME, or XDG_CACHE_HOME or HEDDLE_RATES to a writable folder");
    }
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    try {
      PendingStream stream(file);
      stream << json.dump(2) << '\n';
      stream.commit();
    } catch (const Error& error) {
      throw Error(error.kind(), message_of(error.what(), "; set XDG_CACHE_HOME or HEDDLE_RATES to a writable folder"));
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                              \
  template std::filesystem::path rates_file<T>(const Communicator&);       \
  template std::optional<MachineRates> load_rates<T>(const Communicator&); \
  template void save_rates<T>(const Communicator&, const MachineRates&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
