// What GemmPlan promises of bits, instances and labels.
#include "support/matrices.hpp"
#include <heddle/expm/expm.hpp>
#include <heddle/gemm/gemm.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace heddle {
namespace {

template <class T> class GemmBits : public ::testing::Test {};
TYPED_TEST_SUITE(GemmBits, test::AllScalars);

// The product on one rank alone, at the same tile: what any number of ranks must give.
template <Scalar T>
HostMatrix<T> product_on(const Communicator& comm, const Placement& a, const Placement& b, const Placement& c, T beta,
                         const GemmOptions& options) {
  const auto A = test::random_matrix<T>(comm, a, 1);
  const auto B = test::random_matrix<T>(comm, b, 2);
  const auto C = test::random_matrix<T>(comm, c, 3);
  gemm<T>(comm, Operation::none, Operation::none, T(1.25), A, B, beta, C, options);
  return gather(C, 0);
}

TYPED_TEST(GemmBits, AreTheSameForAnyRanksPlacementsAndPasses) {
  using T = TypeParam;
  const Communicator comm = test::world();
  const Communicator alone(MPI_COMM_SELF);
  // Inner dimension above a BLAS's own blocking, tiles that don't divide.
  const Index m = 83;
  const Index n = 71;
  const Index k = 611;
  for (const T beta : {T(0), T(0.75)}) {
    for (const Index tile : {16, 37}) {
      const auto reference = product_on<T>(alone, Placement::on_rank(m, k, 0), Placement::on_rank(k, n, 0),
                                           Placement::on_rank(m, n, 0), beta, {.tile = tile});
      const auto of_a = test::placements_of(m, k, comm.size());
      const auto of_b = test::placements_of(k, n, comm.size());
      const auto of_c = test::placements_of(m, n, comm.size());
      for (std::size_t p = 0; p < of_a.size(); ++p) {
        for (const int bands : {1, 2, 0}) {
          const auto found = product_on<T>(comm, of_a[p], of_b[(p + 1) % of_b.size()], of_c[(p * 3 + 2) % of_c.size()],
                                           beta, {.tile = tile, .bands_per_pass = bands});
          if (comm.rank() == 0) {
            EXPECT_TRUE(test::same_bits(found, reference)) << of_a[p].describe() << ", " << bands << " bands a pass";
          }
        }
      }
    }
  }
}

TEST(ExpmBits, AreTheSameForAnyRanksAndPlacements) {
  const Communicator comm = test::world();
  const Communicator alone(MPI_COMM_SELF);
  const Index n = 45;
  const auto exponential = [&](const Communicator& on, const Placement& placement) {
    SplitMatrix<double> A{test::random_matrix<double>(on, placement, 1), test::random_matrix<double>(on, placement, 2)};
    const SplitMatrix<double> E{DistributedMatrix<double>(on, placement), DistributedMatrix<double>(on, placement)};
    ExpmOptions options;
    options.gemm.tile = 16;
    ExpmPlan<double>(on, options).execute(A, E);
    return std::pair(gather(*E.real, 0), gather(*E.imaginary, 0));
  };
  const auto reference = exponential(alone, Placement::on_rank(n, n, 0));
  for (const Placement& placement : test::placements_of(n, n, comm.size())) {
    const auto found = exponential(comm, placement);
    if (comm.rank() == 0) {
      EXPECT_TRUE(test::same_bits(found.first, reference.first)) << placement.describe();
      EXPECT_TRUE(test::same_bits(found.second, reference.second)) << placement.describe();
    }
  }
}

// What Kokkos Tools sees while it listens.
struct Seen {
  std::set<std::string> names;
  std::set<std::pair<std::string, std::uint32_t>> kernels;  // and fences, with the instance they are on
} seen;

void listen() {
  namespace tools = Kokkos::Tools::Experimental;
  seen = {};
  const auto kernel = [](const char* name, const std::uint32_t device, std::uint64_t* id) {
    *id = 0;
    seen.names.insert(name);
    seen.kernels.emplace(name, device);
  };
  tools::set_begin_parallel_for_callback(kernel);
  tools::set_begin_parallel_reduce_callback(kernel);
  tools::set_begin_parallel_scan_callback(kernel);
  tools::set_begin_fence_callback(kernel);
  tools::set_push_region_callback([](const char* name) { seen.names.insert(name); });
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
    gemm<double>(comm, Operation::transpose, Operation::none, 1.0, A, B, 0.0, B, {.tile = 7});
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
    const bool of_kokkos = name.rfind("Kokkos::", 0) == 0 &&
                           (name.find('[') == std::string::npos || name.find("[heddle::") != std::string::npos);
    EXPECT_TRUE(name.rfind("heddle::", 0) == 0 || of_kokkos) << name;
  }
  const std::uint32_t mine = Kokkos::Tools::Experimental::device_id(instances[0]);
  EXPECT_GT(seen.kernels.size(), 10U);
  for (const auto& [name, device] : seen.kernels) {
    // Kokkos' own: releasing an allocation fences everything, and so does a tool that listens.
    if (name.find("impl_deallocate") != std::string::npos || name.find("invoke_kokkosp") != std::string::npos) {
      continue;
    }
    EXPECT_EQ(device, mine) << name << " is on another instance";
  }
}

}  // namespace
}  // namespace heddle
