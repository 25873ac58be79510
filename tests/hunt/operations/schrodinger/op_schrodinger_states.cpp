// Eigenstates by residuals and inertia; wave functions, observables and the resolution of a grid by plain sums in long
// double.
#include "hunt/long_matrix.hpp"
#include "hunt/operations/schrodinger/wave_grids.hpp"
#include <heddle/schrodinger/imaginary_time.hpp>
#include <heddle/schrodinger/initial_state.hpp>
#include <heddle/schrodinger/observables.hpp>

#include <optional>

namespace heddle::hunt {
namespace {

using namespace schrodinger;

void draw_states(Random& random, Case& one) {
  add_grid(random, one, random.one_in(3) ? random.between(40, 160) : random.between(3, 24));
  Array& numbers = one.add("numbers", '1', 5);
  numbers.at(0) = random.any_of(0.0, 1.0, 3.0, of_any_size(random, -6, 5));  // charge or omega
  numbers.at(1) = random.any_of(1.0, 0.01, of_any_size(random, -12, 3));     // softening
  numbers.at(2) = random.any_of(0.0, 2.0, of_any_size(random, -3, 3));       // separation
  numbers.at(3) = 4 * random.unit();                                         // momentum
  numbers.at(4) = of_any_size(random, -3, 1);                                // width of a packet
  one.add_knob("potential", random.below(2));
  one.add_knob("count", random.between(1, 6), 1);
}

// Return H in long double, from the library's elements in double.
LongMatrix matrix_of(const Hamiltonian& hamiltonian) {
  const Index n = hamiltonian.grid().points;
  const auto band = hamiltonian.kinetic();
  const auto potential = hamiltonian.potential_at(0);
  LongMatrix H(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const auto d = static_cast<std::size_t>(std::abs(i - j));
      H.at(i, j) = d < band.size() ? Real80(band[d]) : Real80(0);
    }
    H.at(j, j) += Real80(potential[static_cast<std::size_t>(j)]);
  }
  return H;
}
// Return max |H_ii| + 2 sum |t_d| >= |H|_2.
Real80 bound_of_norm(const Hamiltonian& hamiltonian) {
  const auto band = hamiltonian.kinetic();
  Real80 bound = 0;
  for (const double value : hamiltonian.potential_at(0)) bound = std::max(bound, std::abs(Real80(band[0]) + value));
  for (std::size_t d = 1; d < band.size(); ++d) bound += 2 * std::abs(Real80(band[d]));
  return bound;
}
// Return the number of eigenvalues of H below a number: the negative pivots of H - number, by Sylvester's law of
// inertia.
Index below(LongMatrix H, Real80 number) {
  const Index n = H.rows;
  for (Index k = 0; k < n; ++k) H.at(k, k) -= number;
  Index count = 0;
  for (Index k = 0; k < n; ++k) {
    Real80 pivot = H.at(k, k).real();
    if (pivot == 0) pivot = 1e-30L;
    count += pivot < 0 ? 1 : 0;
    for (Index i = k + 1; i < n; ++i) {
      const Real80 factor = H.at(i, k).real() / pivot;
      if (factor == 0) continue;
      for (Index j = k + 1; j <= i; ++j) H.at(i, j) -= factor * H.at(j, k).real();
    }
  }
  return count;
}

void judge_eigenstates(Verdict& verdict, const std::string& name, const Hamiltonian& hamiltonian,
                       const Eigenstates& found, double residual_bound) {
  const LongMatrix H = matrix_of(hamiltonian);
  const Index n = H.rows;
  const auto count = static_cast<Index>(found.energies.size());
  const Real80 dx = hamiltonian.grid().spacing();
  Real80 overlap_error = 0;
  Real80 residual = 0;
  for (Index k = 0; k < count; ++k) {
    const auto phi = found.state(k);
    Real80 square = 0;
    for (Index i = 0; i < n; ++i) {
      Real80 sum = -static_cast<Real80>(found.energies[static_cast<std::size_t>(k)]) * phi[static_cast<std::size_t>(i)];
      for (Index j = 0; j < n; ++j) sum += H.at(i, j).real() * phi[static_cast<std::size_t>(j)];
      square += sum * sum * dx;
    }
    residual = std::max(residual, std::sqrt(square));
    for (Index l = 0; l <= k; ++l) {
      const auto other = found.state(l);
      Real80 inner = k == l ? -1 : 0;
      for (std::size_t i = 0; i < phi.size(); ++i) inner += static_cast<Real80>(phi[i]) * other[i] * dx;
      overlap_error = std::max(overlap_error, std::abs(inner));
    }
    // The k-th eigenvalue: at most k lie below a slightly smaller number, and at least k + 1 below a slightly larger
    // one.
    const Real80 energy = found.energies[static_cast<std::size_t>(k)];
    const Real80 reach = residual_bound + 1e-12L * bound_of_norm(hamiltonian);
    verdict.holds(name + " are the lowest", below(H, energy - reach) <= k && below(H, energy + reach) > k,
                  "state " + std::to_string(k) + " at " + shown(static_cast<double>(energy)));
    const double largest = std::abs(
        *std::max_element(phi.begin(), phi.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
    const auto first = std::find_if(phi.begin(), phi.end(), [&](double x) { return std::abs(x) > 1e-3 * largest; });
    verdict.holds(name + " begin above zero", first != phi.end() && *first > 0, "state " + std::to_string(k));
  }
  verdict.within("residual of " + name, static_cast<double>(residual), residual_bound);
  verdict.within("overlap of " + name, static_cast<double>(overlap_error), 1e-12 * static_cast<double>(n));
}

void judge_observables(Verdict& verdict, const Hamiltonian& hamiltonian, const State& psi, const Eigenstates& states) {
  const Grid& grid = hamiltonian.grid();
  const LongMatrix H = matrix_of(hamiltonian);
  const Index n = grid.points;
  const Real80 dx = grid.spacing();
  const auto at = [&](Index i) { return Long(psi[static_cast<std::size_t>(i)]); };
  Real80 square = 0;
  Real80 position = 0;
  Real80 energy = 0;
  Real80 square_energy = 0;
  Real80 square_position = 0;
  for (Index i = 0; i < n; ++i) {
    const Real80 x = grid.x(i);
    Long product = 0;
    for (Index j = 0; j < n; ++j) product += H.at(i, j) * at(j);
    square += std::norm(at(i));
    position += x * std::norm(at(i));
    square_position += x * x * std::norm(at(i));
    energy += (std::conj(at(i)) * product).real();
    square_energy += std::norm(product);
  }
  const Observables seen = observe(hamiltonian, 0.0, psi, states);
  const double size = static_cast<double>(bound_of_norm(hamiltonian)) * std::sqrt(static_cast<double>(n));
  const double reach = std::max(std::abs(grid.xmin), std::abs(grid.xmax));
  const double round_off = 32 * unit;
  verdict.within("norm", off(seen.norm, std::sqrt(square * dx)),
                 round_off * static_cast<double>(std::sqrt(square * dx)));
  verdict.within("<x>", off(seen.position, position / square), round_off * reach);
  verdict.within("energy", off(seen.energy, energy / square), round_off * size);
  const Real80 mean = position / square;
  const Real80 variance = std::max(square_position / square - mean * mean, 0.0L);
  verdict.within("spread of x", off(seen.position_spread * seen.position_spread, variance), 64 * unit * reach * reach);
  const Real80 mean_energy = energy / square;
  verdict.within(
      "spread of the energy",
      off(seen.energy_spread * seen.energy_spread, std::max(square_energy / square - mean_energy * mean_energy, 0.0L)),
      64 * unit * size * size);
  for (std::size_t k = 0; k < states.energies.size(); ++k) {
    Long inner = 0;
    for (Index i = 0; i < n; ++i)
      inner += static_cast<Real80>(states.state(static_cast<Index>(k))[static_cast<std::size_t>(i)]) * at(i) * dx;
    verdict.within("a population", off(seen.populations[k], std::norm(inner)),
                   round_off * (1 + static_cast<double>(square * dx)));
  }
  verdict.within("probability at the ends", off(seen.edge_probability, (std::norm(at(0)) + std::norm(at(n - 1))) * dx),
                 round_off * static_cast<double>(square * dx));
  const bool nuclei = hamiltonian.potential().kind == PotentialKind::soft_core;
  const Real80 charge = nuclei ? hamiltonian.potential().charge * (Real80(seen.nuclei[0]) + seen.nuclei[1]) : 0;
  verdict.within("dipole moment", off(seen.dipole, charge - position / square),
                 round_off * (reach + static_cast<double>(std::abs(charge))));
  Real80 bound = 0;
  for (std::size_t k = 0; k < states.energies.size(); ++k)
    bound += states.energies[k] < 0 ? Real80(seen.populations[k]) : 0;
  verdict.within("ionisation", off(seen.ionisation(), 1 - bound), round_off * (1 + static_cast<double>(bound)));
  const double radius = reach / 3;
  Real80 inside = 0;
  for (Index i = 0; i < n; ++i) inside += std::abs(grid.x(i)) <= radius ? std::norm(at(i)) * dx : 0;
  verdict.within("probability outside", off(probability_outside(grid, psi, radius), 1 - inside),
                 round_off * (1 + static_cast<double>(inside)));
  const auto own = overlap(grid, psi, psi);
  verdict.within("overlap with itself", off(own.real(), square * dx) + std::abs(own.imag()),
                 round_off * static_cast<double>(square * dx));

  // Sum over k of k^2/2 |psi(k)|^2, and of its part above a quarter of the wave numbers, with psi continued by zeros.
  Index whole = 1;
  while (whole < 2 * n) whole *= 2;
  Real80 kinetic = 0;
  Real80 of_band = 0;
  Real80 tail = 0;
  Real80 all = 0;
  const auto band = hamiltonian.kinetic();
  for (Index q = 0; q < whole; ++q) {
    Long sum = 0;
    for (Index i = 0; i < n; ++i)
      sum += at(i) * std::polar<Real80>(1, -2 * pi * static_cast<Real80>((q * i) % whole) / whole);
    const Index turns = 2 * q <= whole ? q : q - whole;
    const Real80 k = 2 * pi * turns / (whole * dx);
    const Real80 weight = std::norm(sum);
    all += weight;
    kinetic += k * k / 2 * weight;
    Real80 symbol = band[0];
    for (std::size_t d = 1; d < band.size(); ++d)
      symbol += 2 * static_cast<Real80>(band[d]) * std::cos(k * dx * static_cast<Real80>(d));
    of_band += symbol * weight;
    tail += 4 * std::abs(turns) > whole ? weight : 0;
  }
  const GridResolution resolution = grid_resolution(hamiltonian, psi);
  const double largest = static_cast<double>(pi * pi / (2 * dx * dx));
  verdict.within("kinetic energy by waves", off(resolution.kinetic, kinetic / all),
                 64 * unit * static_cast<double>(n) * largest);
  verdict.within("share of short waves", off(resolution.tail, tail / all), 64 * unit * static_cast<double>(n));
  if (grid.kinetic != Kinetic::sinc) {
    verdict.within("kinetic energy of the grid", off(resolution.kinetic_error, (kinetic - of_band) / all),
                   128 * unit * static_cast<double>(n) * largest);
  }
}

void run_states(const World& world, const Case& one, Verdict& verdict) {
  const Grid grid = grid_of(one);
  if (!is_a_grid(grid)) return verdict.skip();
  const Array& numbers = one.array("numbers");
  const auto number = [&](Index k) { return numbers.at(k).real(); };
  Potential potential;
  potential.kind = static_cast<PotentialKind>(one.knob("potential"));
  potential.charge = potential.omega = std::abs(number(0));
  potential.softening = std::abs(number(1));
  if (!(potential.softening > 0)) return verdict.skip();
  Nuclei nuclei;
  nuclei.separation = std::abs(number(2));
  const Hamiltonian hamiltonian(grid, potential, nuclei);
  const Index count = std::clamp<Index>(one.knob("count"), 1, grid.points);

  std::optional<Eigenstates> by_time;
  if (grid.points <= 24) {
    const Thrown thrown = thrown_by([&] { by_time = imaginary_time_states(world.all, hamiltonian, 0.0, count); });
    verdict.holds("imaginary time ends, or says that it does not", !thrown.any || thrown.kind == ErrorKind::computation,
                  thrown.message);
  }
  if (!world.root()) return;
  const double size = static_cast<double>(bound_of_norm(hamiltonian));
  const Eigenstates states = lowest_eigenstates(hamiltonian, 0.0, count);
  judge_eigenstates(verdict, "eigenstates", hamiltonian, states, 1e-10 * size);
  if (grid.points <= 24) verdict.observe("imaginary time that ends", by_time ? 1 : 0);
  if (by_time) judge_eigenstates(verdict, "states by imaginary time", hamiltonian, *by_time, 1e-8 + 1e-12 * size);

  State psi;
  for (const Value& x : one.array("psi").values) psi.push_back(x);
  const bool zero = std::all_of(psi.begin(), psi.end(), [](const Value& x) { return x == 0.0; });
  if (!zero) {
    const State there = normalised(grid, psi);
    judge_observables(verdict, hamiltonian, there, states);
    // A factor changes no node; -4 adds no rounding.
    State turned = there;
    for (Value& x : turned) x *= -4.0;
    judge_observables(verdict, hamiltonian, turned, states);
    verdict.holds("nodes do not change with a factor", node_positions(grid, there) == node_positions(grid, turned));
  }
  judge_observables(verdict, hamiltonian, eigenstate(hamiltonian, count - 1, number(3)), states);
  const double width = std::abs(number(4));
  if (!(width > 0)) return;
  const double centre = (grid.xmin + grid.xmax) / 2;
  State packet;
  const Thrown thrown = thrown_by([&] { packet = gaussian_packet(grid, centre, number(3), width); });
  if (thrown.any) {
    // The nearest grid point is too far away.
    const double nearest = grid.points % 2 == 0 ? grid.spacing() / 2 : 0.0;
    verdict.holds("a packet on the grid is made", thrown.kind == ErrorKind::argument && nearest > 50 * width,
                  thrown.message);
    return;
  }
  judge_observables(verdict, hamiltonian, packet, states);
  // Equal up to its norm, point by point; moved() back restores it.
  Real80 sum = 0;
  std::vector<Long> expected;
  for (Index i = 0; i < grid.points; ++i) {
    const Real80 x = grid.x(i);
    const Real80 from = (x - centre) / width;
    expected.push_back(std::polar(std::exp(-from * from / 4), static_cast<Real80>(number(3)) * x));
    sum += std::norm(expected.back()) * grid.spacing();
  }
  const State still = moved(grid, packet, -number(3));
  for (Index i = 0; i < grid.points; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Long found(packet[at]);
    const double turn = 16 * unit * (8 + std::abs(number(3) * grid.x(i)) + static_cast<double>(grid.points));
    // Rounding of x is amplified by the slope of the exponent; denormal values are rounded before normalisation.
    const Real80 from = (static_cast<Real80>(grid.x(i)) - centre) / width;
    const double least = 0x1p-1072 * (1 + static_cast<double>(1 / std::sqrt(sum)));
    const double height = static_cast<double>(std::abs(expected[at]) / std::sqrt(sum));
    verdict.within("a packet", static_cast<double>(std::abs(found - expected[at] / std::sqrt(sum))),
                   height * (turn + 16 * unit * static_cast<double>(from * from)) + least,
                   "at x = " + shown(grid.x(i)));
    verdict.within("a packet brought to rest", std::abs(still[at].imag()), height * turn + least);
  }
}

}  // namespace

void draw_schrodinger_states(Random& random, Case& one) {
  draw_states(random, one);
}
void run_schrodinger_states(const World& world, const Case& one, Verdict& verdict) {
  run_states(world, one, verdict);
}

}  // namespace heddle::hunt
