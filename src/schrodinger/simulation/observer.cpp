// Reduction of the observables of psi on the device.
#include "schrodinger/simulation/observer.hpp"

#include "core/elementwise.hpp"
#include "schrodinger/simulation/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <string>

namespace heddle::impl {

namespace {

using schrodinger::Eigenstates;
using schrodinger::Hamiltonian;
using schrodinger::Observables;
using Complex = Kokkos::complex<double>;
using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
using Numbers = Kokkos::View<double*, MemorySpace>;

// Point i belongs to lane i mod `lanes`, so that neighbouring threads of a GPU read neighbouring points; CPUs use the
// same lanes, so that sums are the same there.
constexpr Index lanes = 256;

// Columns of the sums, followed by two for each eigenstate.
enum Column : Index { probability, energy, position, energy_square, position_square, first_overlap };

// Neumaier's compensated sum, since the norm is observed at the level of round-off.
struct Sum {
  double total = 0.0;
  double rest = 0.0;
  KOKKOS_INLINE_FUNCTION void add(double value) {
    const double next = total + value;
    rest += Kokkos::abs(total) >= Kokkos::abs(value) ? (total - next) + value : (value - next) + total;
    total = next;
  }
};

KOKKOS_INLINE_FUNCTION double square(const Complex& value) {
  return value.real() * value.real() + value.imag() * value.imag();
}

// Partial sums of each lane: item / lanes is 0 for the sums without eigenstates, then the eigenstate's number.
struct LaneSums {
  DevicePotential potential;
  DeviceState state;
  DeviceState product;  // H psi
  LocalMatrix<double> eigenstates;
  LocalMatrix<double> sums;
  LocalMatrix<double> rests;
  double scale;  // A power of two by which psi is multiplied, so that squares neither overflow nor vanish.

  KOKKOS_INLINE_FUNCTION void operator()(Index item) const {
    if (item < lanes) {
      of_state(item);
    } else {
      of_eigenstate(item % lanes, item / lanes - 1);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void keep(Index lane, Index column, const Sum& sum) const {
    sums(lane, column) = sum.total;
    rests(lane, column) = sum.rest;
  }
  KOKKOS_INLINE_FUNCTION void of_state(Index lane) const {
    const auto n = static_cast<Index>(state.extent(0));
    Sum all[first_overlap];
    for (Index i = lane; i < n; i += lanes) {
      const Complex psi = scale * state(i);
      const Complex h_psi = scale * product(i);
      const double density = square(psi);
      const double x = potential.x(i);
      all[probability].add(density);
      all[energy].add(psi.real() * h_psi.real() + psi.imag() * h_psi.imag());
      all[position].add(x * density);
      all[energy_square].add(square(h_psi));
      all[position_square].add(x * x * density);
    }
    for (Index column = 0; column < first_overlap; ++column) keep(lane, column, all[column]);
  }
  KOKKOS_INLINE_FUNCTION void of_eigenstate(Index lane, Index level) const {
    Sum real;
    Sum imaginary;
    for (auto i = lane; i < static_cast<Index>(state.extent(0)); i += lanes) {
      real.add(eigenstates(i, level) * (scale * state(i).real()));
      imaginary.add(eigenstates(i, level) * (scale * state(i).imag()));
    }
    keep(lane, first_overlap + 2 * level, real);
    keep(lane, first_overlap + 2 * level + 1, imaginary);
  }
};

// Sum the columns in the order of the lanes.
void add_lanes(const ExecutionSpace& space, const LocalMatrix<double>& sums, const LocalMatrix<double>& rests,
               const Numbers& totals) {
  Kokkos::parallel_for(
      "heddle::schrodinger::observe_totals", Policy(space, 0, static_cast<Index>(sums.extent(1))),
      KOKKOS_LAMBDA(Index column) {
        Sum sum;
        double rest = 0.0;
        for (Index lane = 0; lane < lanes; ++lane) {
          sum.add(sums(lane, column));
          rest += rests(lane, column);
        }
        totals(column) = sum.total + (sum.rest + rest);
      });
}

auto uninitialised(const ExecutionSpace& space, const char* label) {
  return Kokkos::view_alloc(space, Kokkos::WithoutInitializing, std::string(label));
}

}  // namespace

Observer::Observer(const ExecutionSpace& space, const Hamiltonian& hamiltonian, Index states)
    : space_(space), hamiltonian_(hamiltonian), device_(space, hamiltonian), states_(states) {
  const Index n = hamiltonian.grid().points;
  const Index columns = first_overlap + 2 * states;
  eigenstates_ = LocalMatrix<double>(uninitialised(space, "heddle::schrodinger::eigenstates"), n, states);
  product_ = DeviceState(uninitialised(space, "heddle::schrodinger::product"), n);
  sums_ = LocalMatrix<double>(uninitialised(space, "heddle::schrodinger::lane_sums"), lanes, columns);
  rests_ = LocalMatrix<double>(uninitialised(space, "heddle::schrodinger::lane_rests"), lanes, columns);
  totals_ = Numbers(uninitialised(space, "heddle::schrodinger::totals"), columns);
  host_totals_ = Kokkos::create_mirror_view(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::SharedHostPinnedSpace{}), totals_);
}

void Observer::use(const Eigenstates& eigenstates) {
  energies_ = eigenstates.energies;
  const Kokkos::View<const double**, Kokkos::LayoutLeft, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(
      eigenstates.values.data(), hamiltonian_.grid().points, states_);
  Kokkos::deep_copy(space_, eigenstates_, host);
}

Observables Observer::observe(double time, const WaveFunction& psi, std::span<const double> nodes_before) {
  const DeviceState& state = psi.device();
  device_.apply(time, state, product_);
  const double scale = scale_of(psi.host());
  Kokkos::parallel_for("heddle::schrodinger::observe_lanes", Policy(space_, 0, lanes * (1 + states_)),
                       LaneSums{device_.potential_at(time), state, product_, eigenstates_, sums_, rests_, scale});
  add_lanes(space_, sums_, rests_, totals_);
  if constexpr (!on_host) Kokkos::deep_copy(space_, host_totals_, totals_);
  // While the device sums, the host evaluates its own copy.
  Observables seen;
  seen.node_positions = schrodinger::node_positions(hamiltonian_.grid(), psi.host(), nodes_before);
  seen.nodes = static_cast<Index>(seen.node_positions.size());
  space_.fence("heddle::schrodinger::observe");

  const auto& totals = host_totals_;
  const double spacing = hamiltonian_.grid().spacing();
  seen.time = time;
  seen.field = hamiltonian_.field(time);
  seen.norm = std::sqrt(totals(probability) * spacing) / scale;
  seen.energy = totals(energy) / totals(probability);
  seen.position = totals(position) / totals(probability);
  const auto spread = [&](Column of_square, double mean) {
    return std::sqrt(std::max(totals(of_square) / totals(probability) - mean * mean, 0.0));
  };
  seen.position_spread = spread(position_square, seen.position);
  seen.energy_spread = spread(energy_square, seen.energy);
  seen.dipole = -seen.position;
  if (hamiltonian_.potential().kind == schrodinger::PotentialKind::soft_core) {
    seen.nuclei = hamiltonian_.nuclei().positions(time);
    seen.dipole += hamiltonian_.potential().charge * (seen.nuclei[0] + seen.nuclei[1]);
  }
  seen.edge_probability = (std::norm(psi.host().front()) + std::norm(psi.host().back())) * spacing;
  seen.energies = energies_;
  for (Index level = 0; level < states_; ++level) {
    const std::complex<double> overlap(totals(first_overlap + 2 * level), totals(first_overlap + 2 * level + 1));
    seen.populations.push_back(std::norm(overlap * spacing / scale));
  }
  return seen;
}

}  // namespace heddle::impl
