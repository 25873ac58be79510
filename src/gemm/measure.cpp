// Measuring, keeping and reading back the rates of the tile model.
#include "comm/tags.hpp"
#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/comm/transport.hpp>
#include <heddle/gemm/tile_model.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace heddle {
namespace {

template <Scalar T> constexpr std::string_view scalar_name = "double";
template <> constexpr std::string_view scalar_name<float> = "float";
template <> constexpr std::string_view scalar_name<Kokkos::complex<float>> = "complex-float";
template <> constexpr std::string_view scalar_name<Kokkos::complex<double>> = "complex-double";

// The inner dimension of the products measured: long enough for a BLAS to be at its rate.
constexpr Index inner_extent = impl::on_host ? 1024 : 8192;

template <Scalar T> LocalMatrix<T> make_operand(const Communicator& comm, Index rows, Index columns) {
  const LocalMatrix<T> matrix(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::gemm::measure"),
                              static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  const impl::Elements<T> elements(matrix);
  // Mixed digits: power and so clock rate follow the bits that toggle.
  impl::for_each_element(
      comm.space(), "heddle::gemm::measure_fill", rows, columns,
      KOKKOS_LAMBDA(Index i, Index j) { elements(i, j) = T(Kokkos::sin(static_cast<Real<T>>(i * 131 + j * 17))); });
  return matrix;
}

// Seconds of the slowest rank, all of them at work at once.
template <class Work> double slowest(const Communicator& comm, const Work& work) {
  comm.space().fence("heddle::gemm::measure_begin");
  comm.barrier();
  const Kokkos::Timer timer;
  work();
  comm.space().fence("heddle::gemm::measure_end");
  return comm.all_reduce(timer.seconds(), Reduction::maximum);
}

// Median of `repeats` measurements, after one that isn't counted.
template <class Work> double median_of(const Communicator& comm, int repeats, const Work& work) {
  slowest(comm, work);
  std::vector<double> times;
  for (int k = 0; k < repeats; ++k) {
    times.push_back(slowest(comm, work));
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[static_cast<std::size_t>(repeats / 2)];
}

// A message to the next rank and one from the previous; bytes of each.
template <Scalar T> class Ring {
 public:
  Ring(const Communicator& comm, Index elements)
      : comm_(comm),
        transport_(make_transport(comm)),
        from_(make_operand<T>(comm, elements, 1)),
        to_(make_operand<T>(comm, elements, 1)) {}
  template <class Work> void exchange(const Work& meanwhile) {
    using In = Kokkos::View<T*, MemorySpace>;
    using Out = Kokkos::View<const T*, MemorySpace>;
    const int next = (comm_.rank() + 1) % comm_.size();
    const int previous = (comm_.rank() + comm_.size() - 1) % comm_.size();
    Request in = transport_->receive<T>(In(to_.data(), to_.size()), previous, impl::tag_measure);
    Request out = transport_->send<T>(Out(from_.data(), from_.size()), next, impl::tag_measure);
    meanwhile();
    in.wait();
    out.wait();
  }
  [[nodiscard]] double bytes() const { return static_cast<double>(to_.size() * sizeof(T)); }

 private:
  Communicator comm_;
  std::shared_ptr<Transport> transport_;
  LocalMatrix<T> from_;
  LocalMatrix<T> to_;
};

template <Scalar T>
void local_product(const Communicator& comm, const LocalMatrix<T>& A, const LocalMatrix<T>& B,
                   const LocalMatrix<T>& C) {
  blas::gemm<T>(comm.space(), Operation::none, Operation::none, T{1}, A, B, T{0}, C);
}

template <Scalar T> void measure_link(const Communicator& comm, MachineRates& rates) {
  if (comm.size() == 1) {
    return;
  }
  const Index elements = (Index{8} << 20) / static_cast<Index>(sizeof(T));
  Ring<T> small(comm, 1);
  Ring<T> large(comm, elements);
  rates.latency = median_of(comm, 21, [&] { small.exchange([] {}); });
  const double alone = median_of(comm, 7, [&] { large.exchange([] {}); });
  rates.link_bandwidth = large.bytes() / alone;
  // A product about as long as the transfer, alone and beside it.
  const Index tile = 256;
  const auto inner =
      std::clamp(static_cast<Index>(rates.flops_at(tile) * alone / (flops_per_multiply_add<T> * tile * tile)),
                 Index{64}, Index{8192});
  const auto A = make_operand<T>(comm, tile, inner);
  const auto B = make_operand<T>(comm, inner, tile);
  const auto C = make_operand<T>(comm, tile, tile);
  const double product = median_of(comm, 7, [&] { local_product(comm, A, B, C); });
  const double both = median_of(comm, 7, [&] {
    large.exchange([&] {
      local_product(comm, A, B, C);
      comm.space().fence("heddle::gemm::measure_overlap");
    });
  });
  rates.overlap = std::clamp((alone + product - both) / std::min(alone, product), 0.0, 1.0);
}

}  // namespace

template <Scalar T>
MachineRates measure_rates(const Communicator& comm, double seconds,
                           const std::function<void(double share_done)>& progress) {
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm::measure_rates");
  const auto report = [&](double share) {
    if (progress) {
      progress(share);
    }
  };
  MachineRates rates;
  const std::vector<Index> tiles = impl::on_host ? std::vector<Index>{32, 64, 128, 256, 512, 1024}
                                                 : std::vector<Index>{256, 512, 1024, 2048, 4096, 8192};
  const double budget = 0.8 * std::max(seconds, 0.2) / static_cast<double>(tiles.size());
  for (const Index tile : tiles) {
    const auto A = make_operand<T>(comm, tile, inner_extent);
    const auto B = make_operand<T>(comm, inner_extent, tile);
    const auto C = make_operand<T>(comm, tile, tile);
    const double flops =
        flops_per_multiply_add<T> * static_cast<double>(tile) * static_cast<double>(tile) * inner_extent;
    // A larger tile than the time allows is left to the last rate measured.
    if (!rates.gemm.empty() && flops / rates.gemm.back().flops * 3.0 > 2.0 * budget) {
      break;
    }
    const double once = slowest(comm, [&] { local_product(comm, A, B, C); });
    const int repeats = std::clamp(static_cast<int>(budget / once), 2, 50);
    // Repeated inside one measurement where one product is too short to time.
    const int inside = std::clamp(static_cast<int>(1e-3 / once), 1, 100);
    const double time = median_of(comm, std::max(repeats / inside, 2), [&] {
      for (int k = 0; k < inside; ++k) {
        local_product(comm, A, B, C);
      }
    });
    rates.gemm.push_back({tile, flops * inside / time});
    report(0.8 * static_cast<double>(rates.gemm.size()) / static_cast<double>(tiles.size()));
  }
  {
    // Well beyond any cache.
    const Index elements = (Index{impl::on_host ? 64 : 1024} << 20) / static_cast<Index>(sizeof(T));
    const auto from = make_operand<T>(comm, elements, 1);
    const auto to = make_operand<T>(comm, elements, 1);
    const double time =
        median_of(comm, 3, [&] { impl::copy_elements<T>(comm.space(), "heddle::gemm::measure_copy", from, to); });
    rates.memory_bandwidth = 2.0 * static_cast<double>(elements) * sizeof(T) / time;
  }
  report(0.9);
  measure_link<T>(comm, rates);
  report(1.0);
  return rates;
}

template <Scalar T> std::filesystem::path rates_file(const Communicator& comm) {
  std::string name;
  if (comm.rank() == 0) {
    std::filesystem::path folder;
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
      folder = cache;
    } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
      folder = std::filesystem::path(home) / ".cache";
    } else {
      folder = std::filesystem::temp_directory_path();
    }
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    name = (folder / "heddle" /
            message_of("rates-", host, '-', ExecutionSpace::name(), '-', scalar_name<T>, '-', comm.size(), "-ranks-",
                       comm.space().concurrency(), "-threads.json"))
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
  const auto json = nlohmann::json::parse(text, nullptr, false);
  try {
    // Another BLAS, or another of its kernels, is another machine.
    if (json.at("blas").get<std::string>() != blas::description()) {
      return std::nullopt;
    }
    MachineRates rates;
    for (const auto& point : json.at("gemm")) {
      rates.gemm.push_back({point.at("tile").get<Index>(), point.at("flops").get<double>()});
    }
    rates.memory_bandwidth = json.at("memory_bandwidth").get<double>();
    rates.link_bandwidth = json.at("link_bandwidth").get<double>();
    rates.latency = json.at("latency").get<double>();
    rates.overlap = json.at("overlap").get<double>();
    return rates.gemm.empty() || rates.memory_bandwidth <= 0.0 ? std::nullopt : std::optional(rates);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

template <Scalar T> void save_rates(const Communicator& comm, const MachineRates& rates) {
  const std::filesystem::path file = rates_file<T>(comm);
  comm.on_rank(0, [&] {
    nlohmann::json json = {{"blas", blas::description()}};
    for (const MachineRates::GemmPoint& point : rates.gemm) {
      json["gemm"].push_back({{"tile", point.tile}, {"flops", point.flops}});
    }
    json["memory_bandwidth"] = rates.memory_bandwidth;
    json["link_bandwidth"] = rates.link_bandwidth;
    json["latency"] = rates.latency;
    json["overlap"] = rates.overlap;
    std::error_code failed;
    std::filesystem::create_directories(file.parent_path(), failed);
    std::filesystem::path beside = file;
    beside += message_of(".", getpid());
    std::ofstream stream(beside);
    stream << json.dump(2) << '\n';
    stream.close();
    if (stream) {
      std::filesystem::rename(beside, file, failed);
    }
    if (!stream || failed) {
      throw Error(ErrorKind::output,
                  message_of("can't write ", file.string(), ": set XDG_CACHE_HOME to a writable folder"));
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                              \
  template MachineRates measure_rates<T>(const Communicator&, double, const std::function<void(double)>&); \
  template std::filesystem::path rates_file<T>(const Communicator&);                                       \
  template std::optional<MachineRates> load_rates<T>(const Communicator&);                                 \
  template void save_rates<T>(const Communicator&, const MachineRates&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
