// Rates of named GPUs, measured or by their vendors' figures, and of files.
#include "drivers/predict/machines.hpp"

#include "drivers/support/options/option_kinds.hpp"
#include <heddle/core/error.hpp>
#include <heddle/tuning/rates.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <type_traits>

namespace heddle::driver {
namespace {

constexpr double giga = 1e9;

// A GPU by its vendor's data sheet, which gives rates for any tile that no machine exceeds, and no latency.
struct Sheet {
  std::string_view name;
  std::string_view words;
  double tflops_of_double, tflops_of_float;
  double memory_gigabytes;
  double memory_bandwidth;  // GB/s.
  double link_bandwidth;    // GB/s in one direction, to the other GPUs of its server.
  double host_bandwidth;    // GB/s in one direction.
};
constexpr std::array<Sheet, 3> sheets = {{
    // A100 SXM4 80 GB: tensor cores for doubles, NVLink 600 GB/s both ways, PCIe 4.
    {"a100", "an A100", 19.5, 19.5, 80.0, 2039.0, 300.0, 31.5},
    // H100 SXM5 80 GB: tensor cores for doubles, NVLink 900 GB/s both ways, PCIe 5.
    {"h100", "an H100", 67.0, 67.0, 80.0, 3350.0, 450.0, 63.0},
    // One of the two dies of an MI250X: matrix cores, half of 3.2 TB/s, one Infinity Fabric link.
    {"mi250x", "a die of an MI250X", 47.85, 47.85, 64.0, 1600.0, 50.0, 36.0},
}};

MachineRates rates_of(const Sheet& sheet, double tflops) {
  MachineRates rates;
  rates.gemm = {{256, 1e3 * giga * tflops}};
  rates.memory_bandwidth = sheet.memory_bandwidth * giga;
  rates.link_bandwidth = sheet.link_bandwidth * giga;
  rates.overlap = rates.node_overlap = 1.0;
  rates.host_bandwidth = rates.host_bandwidth_both_ways = sheet.host_bandwidth * giga;
  return rates;
}

// The bandwidth between nodes, of which NAME:GB has GB/s.
double bandwidth_in(const std::string& text, std::size_t name) {
  const double gigabytes =
      text.size() > name && text[name] == ':' ? finite_number(text.substr(name + 1)).value_or(0.0) : 0.0;
  require(gigabytes > 0.0, "--rates '", text,
          "': expected a file, or h200:GB, h100:GB, a100:GB or mi250x:GB with GB/s between nodes");
  return gigabytes * giga;
}

Machine machine_of_file(const std::string& file, bool on_gpus, int ranks) {
  Machine machine{read_rates(file)};
  const RatesOrigin origin = rates_origin(file);
  const bool of_gpu = origin.backend == "Cuda" || origin.backend == "HIP";
  const auto refuse = [&](const std::string& reason) { throw Error(ErrorKind::input, message_of(file, ": ", reason)); };
  if (!origin.backend.empty() && of_gpu != on_gpus) {
    refuse(of_gpu ? "rates of a GPU (" + origin.hardware + "); expected those of CPU threads with --cpus"
                  : "rates of CPU threads (" + origin.hardware + "); expected those of a GPU, or --cpus");
  }
  if (ranks > 1 && machine.rates.link_bandwidth == 0.0) {
    refuse("rates of one rank, without a link to others; measure them with mpirun -n 2 heddle tune, or more ranks");
  }
  return machine;
}

}  // namespace

template <Scalar T> Machine machine_of(const std::string& text, bool on_gpus, int ranks) {
  constexpr bool single = std::is_same_v<Real<T>, float>;
  if (std::filesystem::exists(text)) return machine_of_file(text, on_gpus, ranks);
  constexpr std::string_view measured = "h200";
  const auto* const sheet =
      std::find_if(sheets.begin(), sheets.end(), [&](const Sheet& one) { return text.starts_with(one.name); });
  if (sheet == sheets.end() && !text.starts_with(measured)) return machine_of_file(text, on_gpus, ranks);
  require(on_gpus, "--rates '", text, "': rates of a GPU; --cpus expects a file of heddle tune");
  if (sheet == sheets.end()) {
    return {h200_rates<T>(text == measured ? 50.0 * giga : bandwidth_in(text, measured.size())), 141.0 * giga};
  }
  // Units of an A100 that the figures of published work are of.
  if (text == "a100:tensor" || text == "a100:plain") {
    const bool tensor = text == "a100:tensor";
    const double tflops = single ? (tensor ? 156.0 : 19.5) : (tensor ? 19.5 : 9.7);
    return {rates_of(sheets[0], tflops), sheets[0].memory_gigabytes * giga, "the vendor's figures of an A100"};
  }
  require(text != "a100",
          "--rates 'a100': expected a100:tensor or a100:plain, with or without tensor cores, or a100:GB ",
          "with GB/s between nodes");
  Machine machine{rates_of(*sheet, single ? sheet->tflops_of_float : sheet->tflops_of_double),
                  sheet->memory_gigabytes * giga, "the vendor's figures of " + std::string(sheet->words)};
  machine.rates.node_bandwidth = bandwidth_in(text, sheet->name.size());
  return machine;
}

template Machine machine_of<float>(const std::string&, bool, int);
template Machine machine_of<double>(const std::string&, bool, int);
template Machine machine_of<Kokkos::complex<float>>(const std::string&, bool, int);
template Machine machine_of<Kokkos::complex<double>>(const std::string&, bool, int);

}  // namespace heddle::driver
