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
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

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

MachineRates read_rates(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw Error(ErrorKind::input, message_of(file.string(), ": can't be read"));
  try {
    MachineRates rates = rates_in(nlohmann::json::parse(stream));
    const std::string trouble = impl::trouble_with(rates);
    if (!trouble.empty()) {
      throw Error(ErrorKind::input, message_of(file.string(), ": these rates can't be used: ", trouble));
    }
    return rates;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::input,
                message_of(file.string(), ": no rates of the tile model, which `heddle tune` writes"));
  }
}

template <Scalar T> std::filesystem::path rates_file(const Communicator& comm) {
  std::string name;
  if (comm.rank() == 0) {
    std::filesystem::path folder;
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
      folder = cache;
    } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
      folder = std::filesystem::path(home) / ".cache";
    }
    // Else there is no folder that is this user's alone: one that all may write could hold anyone's rates.
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    const std::string nodes = comm.nodes() > 1 ? std::to_string(comm.nodes()) + "-nodes-" : "";
    if (!folder.empty())
      name = (folder / "heddle" /
              message_of("rates-", host, '-', ExecutionSpace::name(), '-', impl::scalar_name<T>, '-', comm.size(),
                         "-ranks-", nodes, comm.space().concurrency(), "-threads.json"))
                 .string();
  }
  comm.broadcast(name, 0);
  return name;
}

template <Scalar T> std::optional<MachineRates> load_rates(const Communicator& comm) {
  const std::filesystem::path file = rates_file<T>(comm);
  // Text on rank 0, so that all ranks read the same.
  std::string text;
  if (comm.rank() == 0) {
    std::ifstream stream(file);
    text.assign(std::istreambuf_iterator<char>(stream), {});
  }
  comm.broadcast(text, 0);
  const std::string transport = ways_of(comm);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  try {
    // Another BLAS, another of its kernels, or another transport between ranks counts as another machine.
    if (json.at("blas").get<std::string>() != blas::description() ||
        json.at("transport").get<std::string>() != transport) {
      return std::nullopt;
    }
    MachineRates rates = rates_in(json);
    if (!json.contains("integers") || json.at("integers").get<std::string>() != integer_products<T>()) {
      rates.emulated.clear();
    }
    return impl::trouble_with(rates).empty() ? std::optional(rates) : std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

template <Scalar T> void save_rates(const Communicator& comm, const MachineRates& rates) {
  const std::filesystem::path file = rates_file<T>(comm);
  const std::string transport = ways_of(comm);
  comm.on_rank(0, [&] {
    nlohmann::json json = {{"blas", blas::description()}, {"transport", transport}};
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
      throw Error(ErrorKind::output, "rates have no place: set HOME, or XDG_CACHE_HOME to a writable folder");
    }
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    try {
      PendingStream stream(file);
      stream << json.dump(2) << '\n';
      stream.commit();
    } catch (const Error& error) {
      throw Error(error.kind(), message_of(error.what(), "; set XDG_CACHE_HOME to a writable folder"));
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
