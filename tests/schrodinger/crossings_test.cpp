// Copies between host and device in a step, its allocations, and its fences.
#include "problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace heddle::test::crossings_test {
namespace {

constexpr Index n = 200;

struct Seen {
  std::uint64_t largest_copy = 0;
  int copies = 0;
  std::map<std::string, int> fences;
  std::map<std::string, int> allocations;
} seen;

void listen() {
  namespace tools = Kokkos::Tools::Experimental;
  seen = {};
  tools::set_begin_deep_copy_callback([](Kokkos::Tools::SpaceHandle, const char*, const void*,
                                         Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t bytes) {
    ++seen.copies;
    seen.largest_copy = std::max(seen.largest_copy, bytes);
  });
  tools::set_begin_fence_callback([](const char* name, std::uint32_t, std::uint64_t* id) {
    *id = 0;
    ++seen.fences[name];
  });
  tools::set_allocate_data_callback([](Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t size) {
    const std::string name = label;
    // Count no vectors, and no buffers of exchanges between ranks.
    if (size > 4 * n * sizeof(double) && name.starts_with("heddle::") && !name.starts_with("heddle::dist::exchange") &&
        !name.starts_with("heddle::dist::indices") && !name.starts_with("heddle::comm::")) {
      ++seen.allocations[name];
    }
  });
}

void stop_listening() {
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_deep_copy_callback(nullptr);
  tools::set_begin_fence_callback(nullptr);
  tools::set_allocate_data_callback(nullptr);
}

TEST(Crossings, AStepMovesVectorsAndNoMatrix) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const int degree : {0, 10}) {
    const Hamiltonian hamiltonian({-8, 8, n, Kinetic::fd4}, soft_core(1, 1), moving(Motion::stretch));
    SimulationOptions options;
    options.propagator.degree = degree;
    Simulation simulation(comm, hamiltonian, options, schrodinger::eigenstate(hamiltonian, 0));
    (void)simulation.observables();
    simulation.step();
    (void)simulation.observables();
    listen();
    simulation.step();
    (void)simulation.observables();
    stop_listening();
    // psi, the eigenstates (4 real vectors) and the column sums of H (2); the automatic method measures H less its
    // mean, which copies the diagonal, and up to five of its powers as well.
    const int measured = degree == 0 ? 6 : 0;
    EXPECT_LE(seen.largest_copy, 4 * n * sizeof(double));
    EXPECT_LE(seen.copies, 10 + 2 * measured);
    EXPECT_TRUE(seen.allocations.empty()) << seen.allocations.begin()->first;
    // One each, where the rank must wait for the device anyway; those of the products are additional.
    EXPECT_EQ(seen.fences["heddle::schrodinger::hamiltonian"], 1);
    EXPECT_EQ(seen.fences["heddle::schrodinger::assemble"], 1);
    EXPECT_EQ(seen.fences["heddle::schrodinger::observe"], comm.rank() == 0 ? 1 : 0);
    EXPECT_GE(seen.fences["heddle::expm::column_sums"], 1);
    EXPECT_LE(seen.fences["heddle::expm::column_sums"], 1 + measured);
  }
}

TEST(Crossings, NothingIsFilledWhereNothingMoves) {
  const Communicator comm(MPI_COMM_WORLD);
  const Hamiltonian hamiltonian({-8, 8, n, Kinetic::fd4}, soft_core(1, 1));
  Simulation simulation(comm, hamiltonian, {}, schrodinger::eigenstate(hamiltonian, 0));
  simulation.step();
  (void)simulation.observables();
  listen();
  simulation.step();
  (void)simulation.observables();
  stop_listening();
  // Copies of psi and the observables only, not of H, its exponential or its eigenstates.
  EXPECT_LE(seen.copies, 4);
  EXPECT_TRUE(seen.allocations.empty()) << seen.allocations.begin()->first;
  EXPECT_EQ(seen.fences["heddle::schrodinger::hamiltonian"], 0);
}

}  // namespace
}  // namespace heddle::test::crossings_test
