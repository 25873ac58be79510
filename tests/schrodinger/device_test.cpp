// Kernels against the host: H psi, the potential, the observables; and eigenstates ahead of time.
#include "problems.hpp"
#include "schrodinger/hamiltonian/eigenstates_ahead.hpp"
#include "schrodinger/propagators/wave_function.hpp"
#include "schrodinger/simulation/observer.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::test::device_test {
namespace {

using schrodinger::Observables;

std::vector<Hamiltonian> hamiltonians(Index n) {
  Potential table;
  table.kind = PotentialKind::table;
  table.table_x = {-7.0, -1.0, 0.5, 6.0};
  table.table_v = {3.0, -2.0, -1.0, 4.0};
  schrodinger::Pulse pulse;
  pulse.amplitude = 0.2;
  pulse.omega = 0.5;
  std::vector<Hamiltonian> all;
  for (const auto kinetic : {Kinetic::fd2, Kinetic::fd4, Kinetic::fd6, Kinetic::sinc}) {
    all.emplace_back(Grid{-6, 6, n, kinetic}, soft_core(2, 0.5), moving(Motion::shake));
    all.emplace_back(Grid{-6, 6, n, kinetic}, soft_core(2, 0.5), moving(Motion::drift), std::vector{pulse});
    all.emplace_back(Grid{-6, 6, n, kinetic}, harmonic(0.7));
    all.emplace_back(Grid{-6, 6, n, kinetic}, harmonic(0.7), Nuclei{}, std::vector{pulse});
    all.emplace_back(Grid{-6, 6, n, kinetic}, table);
  }
  return all;
}

TEST(Device, HamiltonianIsThatOfTheHost) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const Index n : {3, 40, 300}) {
    for (const Hamiltonian& hamiltonian : hamiltonians(n)) {
      const auto state = schrodinger::gaussian_packet(hamiltonian.grid(), 0.3, 1.7, 1.1);
      State expected(state.size());
      const double time = 0.37;
      hamiltonian.apply(hamiltonian.potential_at(time), state, expected);
      impl::WaveFunction psi(comm, n);
      psi.assign(state);
      const impl::DeviceState result("heddle::test::result", n);
      impl::DeviceHamiltonian(comm.space(), hamiltonian).apply(time, psi.device(), result);
      const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result);
      double largest = 0.0;
      for (const auto& value : expected) largest = std::max(largest, std::abs(value));
      for (Index i = 0; i < n; ++i) {
        EXPECT_NEAR(host(i).real(), expected[i].real(), 1e-13 * largest);
        EXPECT_NEAR(host(i).imag(), expected[i].imag(), 1e-13 * largest);
      }
    }
  }
}

TEST(Device, ObservablesAreThoseOfTheHost) {
  const Communicator comm(MPI_COMM_WORLD);
  for (const Index n : {3, 40, 300, 1025}) {
    for (const Hamiltonian& hamiltonian : hamiltonians(n)) {
      const Index states = std::min<Index>(n, 3);
      const double time = 0.2;
      const auto eigenstates = schrodinger::lowest_eigenstates(hamiltonian, time, states);
      impl::Observer observer(comm.space(), hamiltonian, states);
      observer.use(eigenstates);
      impl::WaveFunction psi(comm, n);
      // Packets, and the highest state with a momentum, which has nodes.
      State excited(static_cast<std::size_t>(n));
      for (Index i = 0; i < n; ++i) {
        excited[i] = eigenstates.state(states - 1)[i] * std::polar(1.0, 0.4 * hamiltonian.grid().x(i) + 0.6);
      }
      const std::vector<State> all = {schrodinger::gaussian_packet(hamiltonian.grid(), 0.3, 0.9, 1.1), excited};
      for (const State& state : all) {
        psi.assign(state);
        const Observables expected = observe(hamiltonian, time, state, eigenstates);
        const Observables found = observer.observe(time, psi, {});
        const double scale = 1e-12 * (1.0 + std::abs(hamiltonian.kinetic()[0]));
        EXPECT_EQ(found.time, expected.time);
        EXPECT_NEAR(found.norm, expected.norm, 1e-15 * expected.norm);
        EXPECT_NEAR(found.energy, expected.energy, scale);
        EXPECT_NEAR(found.position, expected.position, 1e-13);
        EXPECT_NEAR(found.dipole, expected.dipole, 1e-13);
        EXPECT_EQ(found.node_positions, expected.node_positions);
        EXPECT_EQ(found.nodes, expected.nodes) << n << ' ' << to_string(hamiltonian.grid().kinetic);
        EXPECT_EQ(found.nuclei, expected.nuclei);
        EXPECT_EQ(found.field, expected.field);
        EXPECT_NEAR(found.edge_probability, expected.edge_probability, 1e-14);
        EXPECT_EQ(found.energies, expected.energies);
        ASSERT_EQ(found.populations.size(), expected.populations.size());
        for (std::size_t k = 0; k < found.populations.size(); ++k) {
          EXPECT_NEAR(found.populations[k], expected.populations[k], 1e-13);
        }
      }
    }
  }
}

TEST(Device, ObservablesOfNothing) {
  const Communicator comm(MPI_COMM_WORLD);
  const Hamiltonian hamiltonian({-1, 1, 9, Kinetic::fd2}, harmonic(1));
  impl::WaveFunction psi(comm, 9);
  psi.assign(State(9, 0.0));
  impl::Observer observer(comm.space(), hamiltonian, 0);
  const auto found = observer.observe(0.0, psi, {});
  EXPECT_EQ(found.nodes, 0);
  EXPECT_EQ(found.norm, 0.0);
}

TEST(EigenstatesAhead, AreThoseOfTheTimeAskedFor) {
  const Hamiltonian hamiltonian = vibrating_ion();
  impl::EigenstatesAhead ahead(hamiltonian, 3);
  const auto expect = [&](double time) {
    const auto expected = schrodinger::lowest_eigenstates(hamiltonian, time, 3);
    EXPECT_EQ(ahead.current().energies, expected.energies) << time;
    EXPECT_EQ(ahead.current().values, expected.values) << time;
  };
  EXPECT_TRUE(ahead.advance_to(0.0));
  expect(0.0);
  EXPECT_FALSE(ahead.advance_to(0.0));
  ahead.begin(0.1);
  ahead.begin(0.1);
  EXPECT_TRUE(ahead.advance_to(0.1));
  expect(0.1);
  // Begun for one time, requested for another.
  ahead.begin(0.2);
  EXPECT_TRUE(ahead.advance_to(0.3));
  expect(0.3);
  EXPECT_GT(ahead.seconds(), 0.0);

  impl::EigenstatesAhead fixed({{-8, 8, 81, Kinetic::fd2}, soft_core(1, 1)}, 2);
  EXPECT_TRUE(fixed.advance_to(0.0));
  fixed.begin(0.1);
  EXPECT_FALSE(fixed.advance_to(0.1)) << "they do not depend on time";
}

TEST(EigenstatesAhead, AFailureIsThrownWhereTheyAreWanted) {
  const Hamiltonian hamiltonian = vibrating_ion();
  impl::EigenstatesAhead ahead(hamiltonian, 82);
  ahead.begin(0.1);
  test::expect_refusal(ErrorKind::argument, "82 eigenstates of a Hamiltonian on 81 points: expected 1 to 81",
                       [&] { (void)ahead.advance_to(0.1); });
}

}  // namespace
}  // namespace heddle::test::device_test
