// What Kokkos Tools sees of the library: names that begin with heddle::, and no instance but the communicator's (on
// GPUs also those that a plan makes beside it, never the default one).
#include "support/matrices.hpp"
#include <heddle/expm/expm.hpp>
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace heddle {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;

struct Seen {
  std::set<std::string> names;
  std::set<std::pair<std::string, std::uint32_t>> kernels;  // and fences, with the instance they are on
  int blas = 0;  // regions open from heddle::blas::gemm on: the names inside are Kokkos Kernels'
} seen;

void listen() {
  namespace tools = Kokkos::Tools::Experimental;
  seen = {};
  const auto kernel = [](const char* name, const std::uint32_t device, std::uint64_t* id) {
    *id = 0;
    if (seen.blas == 0) {
      seen.names.insert(name);
    }
    seen.kernels.emplace(name, device);
  };
  tools::set_begin_parallel_for_callback(kernel);
  tools::set_begin_parallel_reduce_callback(kernel);
  tools::set_begin_parallel_scan_callback(kernel);
  tools::set_begin_fence_callback(kernel);
  tools::set_push_region_callback([](const char* name) {
    if (seen.blas == 0) {
      seen.names.insert(name);
    }
    if (seen.blas > 0 || std::string(name) == "heddle::blas::gemm") {
      ++seen.blas;
    }
  });
  tools::set_pop_region_callback([] { seen.blas -= seen.blas > 0 ? 1 : 0; });
  tools::set_allocate_data_callback(
      [](Kokkos::Profiling::SpaceHandle, const char* name, const void*, std::uint64_t) { seen.names.insert(name); });
}

void stop_listening() {
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_begin_parallel_scan_callback(nullptr);
  tools::set_begin_fence_callback(nullptr);
  tools::set_push_region_callback(nullptr);
  tools::set_pop_region_callback(nullptr);
  tools::set_allocate_data_callback(nullptr);
}

TEST(Kokkos, LabelsBeginWithHeddleAndNoOtherInstanceIsTouched) {
  const auto instances = Kokkos::Experimental::partition_space(ExecutionSpace{}, 1, 1);
  const Communicator comm(MPI_COMM_WORLD, instances[0]);
  const int ranks = comm.size();
  const Placement bands = Placement::row_bands(24, 24, ranks);
  listen();
  {
    const auto A = test::random_matrix<double>(comm, bands, 1);
    const DistributedMatrix<double> B(comm, Placement::block_cyclic(24, 24, 3, 4, 1, ranks));
    redistribute(A, B);
    const auto whole = gather(B, 0);
    scatter(whole, 0, B);
    for (const Norm kind : {Norm::one, Norm::infinity, Norm::frobenius, Norm::maximum}) {
      static_cast<void>(norm(B, kind));
    }
    static_cast<void>(trace(B));
    const DistributedMatrix<double> C(comm, Placement::on_rank(24, 24, 0));
    gemm<double>(comm, Operation::transpose, Operation::none, 1.0, A, B, 0.0, C, {.tile = 7});
    gemm<double>(comm, Operation::none, Operation::none, 0.0, A, B, 2.0, A, {.tile = 7});
    ExpmOptions options;
    options.gemm.tile = 7;
    options.residual = true;
    const DistributedMatrix<double> E(comm, bands);
    expm(comm, A, E, options);
    using Complex = Kokkos::complex<double>;
    const DistributedMatrix<Complex> Z(comm, bands);
    fill(Z, Complex(0.1, 0.2));
    const DistributedMatrix<Complex> exp_z(comm, bands);
    expm(comm, Z, exp_z, options);
    static_cast<void>(measure_rates<float>(comm, 0.2));
  }
  stop_listening();
  EXPECT_GT(seen.names.size(), 10U);
  for (const std::string& name : seen.names) {
    // Kokkos names its own helpers after the allocation they serve.
    const bool of_kokkos = (name.starts_with("Kokkos::") || name.starts_with("HostSpace")) &&
                           (name.find('[') == std::string::npos || name.find("[heddle::") != std::string::npos);
    EXPECT_TRUE(name.starts_with("heddle::") || of_kokkos) << name;
  }
  const std::uint32_t mine = Kokkos::Tools::Experimental::device_id(instances[0]);
  EXPECT_GT(seen.kernels.size(), 10U);
  for (const auto& [name, device] : seen.kernels) {
    // Kokkos' own: releasing an allocation fences everything, and so does a tool that listens.
    if (name.find("impl_deallocate") != std::string::npos || name.find("invoke_kokkosp") != std::string::npos) {
      continue;
    }
    // Host memory is another backend's on a GPU build.
    namespace tools = Kokkos::Tools::Experimental;
    if (tools::identifier_from_devid(device).type != tools::DeviceTypeTraits<ExecutionSpace>::id) {
      continue;
    }
    if (on_host) {
      EXPECT_EQ(device, mine) << name << " is on another instance";
    } else {
      EXPECT_NE(device, tools::device_id(ExecutionSpace{})) << name << " is on the default instance";
    }
  }
}

}  // namespace
}  // namespace heddle
