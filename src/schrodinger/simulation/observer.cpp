#include "schrodinger/simulation/observer.hpp"

#include "dist/elementwise.hpp"

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
using Integers = Kokkos::View<Index*, MemorySpace>;
using IntegerColumns = Kokkos::View<Index**, Kokkos::LayoutLeft, MemorySpace>;

// Point i belongs to lane i mod `lanes`, so that neighbouring threads of a GPU read neighbouring points; on CPUs too,
// so that sums are the same there.
constexpr Index lanes = 256;
// Nodes are counted along runs of points.
constexpr Index run = 64;

// Columns of the sums, and then two for each eigenstate.
enum Column : Index { probability, energy, position, neighbours_real, neighbours_imaginary, first_overlap };
// Behind the totals of these columns: |psi|^2 at both ends, nodes.
constexpr Index more_totals = 2;

// Neumaier's compensated sum: the norm is watched at the level of round-off.
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

// Partial sums of each lane: item / lanes is 0 for what psi has without eigenstates, then the eigenstate's number.
struct LaneSums {
  DevicePotential potential;
  DeviceState state;
  DeviceState product;  // H psi
  LocalMatrix<double> eigenstates;
  LocalMatrix<double> sums;
  LocalMatrix<double> rests;
  Integers largest;

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
    Index top = -1;
    double most = -1.0;
    for (Index i = lane; i < n; i += lanes) {
      const Complex psi = state(i);
      const double density = square(psi);
      all[probability].add(density);
      all[energy].add(psi.real() * product(i).real() + psi.imag() * product(i).imag());
      all[position].add(potential.x(i) * density);
      if (i + 1 < n) {
        const Complex next = state(i + 1);
        all[neighbours_real].add(psi.real() * next.real() + psi.imag() * next.imag());
        all[neighbours_imaginary].add(psi.real() * next.imag() - psi.imag() * next.real());
      }
      if (density > most) {
        most = density;
        top = i;
      }
    }
    for (Index column = 0; column < first_overlap; ++column) keep(lane, column, all[column]);
    largest(lane) = top;
  }
  KOKKOS_INLINE_FUNCTION void of_eigenstate(Index lane, Index level) const {
    Sum real;
    Sum imaginary;
    for (auto i = lane; i < static_cast<Index>(state.extent(0)); i += lanes) {
      real.add(eigenstates(i, level) * state(i).real());
      imaginary.add(eigenstates(i, level) * state(i).imag());
    }
    keep(lane, first_overlap + 2 * level, real);
    keep(lane, first_overlap + 2 * level + 1, imaginary);
  }
};

// Totals of the columns, in order of the lanes; one thread more finds where |psi| is largest, first if in two places.
void add_lanes(const ExecutionSpace& space, const DeviceState& state, const LocalMatrix<double>& sums,
               const LocalMatrix<double>& rests, const Integers& largest, const Numbers& totals) {
  const auto columns = static_cast<Index>(sums.extent(1));
  Kokkos::parallel_for(
      "heddle::schrodinger::observe_totals", Policy(space, 0, columns + 1), KOKKOS_LAMBDA(Index column) {
        if (column < columns) {
          Sum sum;
          double rest = 0.0;
          for (Index lane = 0; lane < lanes; ++lane) {
            sum.add(sums(lane, column));
            rest += rests(lane, column);
          }
          totals(column) = sum.total + (sum.rest + rest);
          return;
        }
        Index top = -1;
        double most = -1.0;
        for (Index lane = 0; lane < lanes; ++lane) {
          const Index i = largest(lane);
          const double density = i < 0 ? -1.0 : square(state(i));
          if (density > most || (density == most && i < top)) {
            most = density;
            top = i;
          }
        }
        largest(0) = top;
        const auto last = static_cast<Index>(state.extent(0)) - 1;
        totals(columns) = square(state(0)) + square(state(last));
      });
}

// For each run of points: its first and last sign, and how often it changes; see Observables::nodes.
void find_signs(const ExecutionSpace& space, const DeviceState& state, const Integers& largest, const Numbers& totals,
                const IntegerColumns& signs) {
  const auto n = static_cast<Index>(state.extent(0));
  Kokkos::parallel_for(
      "heddle::schrodinger::signs", Policy(space, 0, static_cast<Index>(signs.extent(0))), KOKKOS_LAMBDA(Index k) {
        const Index top = largest(0);
        const double most = top < 0 ? 0.0 : square(state(top));
        const double real_part = totals(neighbours_real);
        const double advance = real_part > 0 ? Kokkos::atan2(totals(neighbours_imaginary), real_part) : 0.0;
        const double phase = top < 0 ? 0.0 : Kokkos::atan2(state(top).imag(), state(top).real());
        Index first = 0;
        Index last = 0;
        Index changes = 0;
        const Index end = (k + 1) * run < n ? (k + 1) * run : n;
        for (Index i = k * run; i < end && most > 0; ++i) {
          if (square(state(i)) < 1e-3 * most) continue;
          const double turned = phase + advance * static_cast<double>(i - top);
          const double real = Kokkos::cos(turned) * state(i).real() + Kokkos::sin(turned) * state(i).imag();
          const Index sign = real > 0 ? 1 : (real < 0 ? -1 : 0);
          if (sign * last < 0) ++changes;
          if (sign != 0) {
            first = first == 0 ? sign : first;
            last = sign;
          }
        }
        signs(k, 0) = first;
        signs(k, 1) = last;
        signs(k, 2) = changes;
      });
}

void add_signs(const ExecutionSpace& space, const IntegerColumns& signs, const Numbers& totals) {
  const auto runs = static_cast<Index>(signs.extent(0));
  const auto place = static_cast<Index>(totals.extent(0)) - 1;
  Kokkos::parallel_for(
      "heddle::schrodinger::nodes", Policy(space, 0, 1), KOKKOS_LAMBDA(Index) {
        Index nodes = 0;
        Index last = 0;
        for (Index k = 0; k < runs; ++k) {
          nodes += signs(k, 2) + (signs(k, 0) * last < 0 ? 1 : 0);
          last = signs(k, 1) == 0 ? last : signs(k, 1);
        }
        totals(place) = static_cast<double>(nodes);
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
  largest_ = Integers(uninitialised(space, "heddle::schrodinger::lane_largest"), lanes);
  signs_ = IntegerColumns(uninitialised(space, "heddle::schrodinger::signs"), (n + run - 1) / run, 3);
  totals_ = Numbers(uninitialised(space, "heddle::schrodinger::totals"), columns + more_totals);
  host_totals_ = Kokkos::create_mirror_view(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::SharedHostPinnedSpace{}), totals_);
}

void Observer::use(const Eigenstates& eigenstates) {
  energies_ = eigenstates.energies;
  const Kokkos::View<const double**, Kokkos::LayoutLeft, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(
      eigenstates.values.data(), hamiltonian_.grid().points, states_);
  Kokkos::deep_copy(space_, eigenstates_, host);
}

Observables Observer::observe(double time, const DeviceState& state) {
  device_.apply(time, state, product_);
  Kokkos::parallel_for("heddle::schrodinger::observe_lanes", Policy(space_, 0, lanes * (1 + states_)),
                       LaneSums{device_.potential_at(time), state, product_, eigenstates_, sums_, rests_, largest_});
  add_lanes(space_, state, sums_, rests_, largest_, totals_);
  find_signs(space_, state, largest_, totals_, signs_);
  add_signs(space_, signs_, totals_);
  if constexpr (!on_host) Kokkos::deep_copy(space_, host_totals_, totals_);
  space_.fence("heddle::schrodinger::observe");

  const auto& totals = host_totals_;
  const double spacing = hamiltonian_.grid().spacing();
  const Index columns = first_overlap + 2 * states_;
  Observables seen;
  seen.time = time;
  seen.field = hamiltonian_.field(time);
  seen.norm = std::sqrt(totals(probability) * spacing);
  seen.energy = totals(energy) / totals(probability);
  seen.position = totals(position) / totals(probability);
  seen.dipole = -seen.position;
  if (hamiltonian_.potential().kind == schrodinger::PotentialKind::soft_core) {
    seen.nuclei = hamiltonian_.nuclei().positions(time);
    seen.dipole += hamiltonian_.potential().charge * (seen.nuclei[0] + seen.nuclei[1]);
  }
  seen.edge_probability = totals(columns) * spacing;
  seen.nodes = static_cast<Index>(totals(columns + 1));
  seen.energies = energies_;
  for (Index level = 0; level < states_; ++level) {
    const std::complex<double> overlap(totals(first_overlap + 2 * level), totals(first_overlap + 2 * level + 1));
    seen.populations.push_back(std::norm(overlap * spacing));
  }
  return seen;
}

}  // namespace heddle::impl
