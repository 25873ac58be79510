// Every kernel and allocation of a simulation has a label of Heddle.
#include "problems.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace heddle::test::labels_test {
namespace {

std::set<std::string>& heard() {
  static std::set<std::string> names;
  return names;
}

void on_kernel(const char* name, std::uint32_t, std::uint64_t* id) {
  heard().insert(name);
  *id = 0;
}

void on_allocation(Kokkos::Tools::SpaceHandle, const char* name, const void*, std::uint64_t) {
  heard().insert(name);
}

TEST(Labels, BeginWithHeddle) {
  const Communicator comm(MPI_COMM_WORLD);
  heard().clear();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(on_kernel);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(on_kernel);
  Kokkos::Tools::Experimental::set_allocate_data_callback(on_allocation);
  {
    const auto hamiltonian = vibrating_ion();
    for (const auto kind : {PropagatorKind::expm, PropagatorKind::magnus4, PropagatorKind::crank_nicolson,
                            PropagatorKind::chebyshev, PropagatorKind::automatic}) {
      Simulation simulation(comm, hamiltonian, options_of(0.01, kind), schrodinger::eigenstate(hamiltonian, 0));
      simulation.step();
      (void)simulation.observables();
    }
  }
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr);
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  EXPECT_TRUE(heard().contains("heddle::schrodinger::apply_chunks"));
  EXPECT_TRUE(heard().contains("heddle::schrodinger::chebyshev"));
  for (const auto& name : heard()) {
    // Kokkos prefixes the label of a View that it fills, and has memory of its own.
    const bool of_kokkos = name.starts_with("Kokkos::") && name.find('[') == std::string::npos;
    EXPECT_TRUE(of_kokkos || name.find("heddle::") != std::string::npos) << name;
  }
}

}  // namespace
}  // namespace heddle::test::labels_test
