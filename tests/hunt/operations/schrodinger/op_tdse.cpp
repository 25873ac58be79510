// Small propagations: the norm, equal bits on any number of ranks and after a restart, the exact exponential of a
// constant Hamiltonian, and pulses of any duration against the classical path of a driven oscillator.
#include "hunt/exponentials.hpp"
#include "hunt/operations.hpp"
#include <heddle/schrodinger/initial_state.hpp>
#include <heddle/schrodinger/simulation.hpp>

namespace heddle::hunt {
namespace {

using namespace schrodinger;

void draw_simulation(Random& random, Case& one) {
  one.type = Type::complex64;
  const Index n = random.one_in(6) ? random.between(20, 60) : random.between(3, 14);
  Array& psi = one.add("psi", 'n', n);
  fill_mood(random, one.type, psi,
            random.any_of(Mood::units, Mood::sparse, Mood::integers, Mood::powers, Mood::spread));
  // Lengths, times and fields, each drawn separately.
  Array& numbers = one.add("numbers", '1', 6);
  numbers.at(0) = std::ldexp(1.0 + std::abs(random.unit()), static_cast<int>(random.between(-3, 5)));   // half the grid
  numbers.at(1) = std::ldexp(1.0 + std::abs(random.unit()), static_cast<int>(random.between(-12, 1)));  // time step
  numbers.at(2) = random.any_of(0.0, 0.5, 1.0, 3.0);   // charge or omega
  numbers.at(3) = random.any_of(1.0, 0.5, 1e-3, 2.0);  // softening
  numbers.at(4) = random.any_of(0.0, 0.1, 2.0);        // field
  numbers.at(5) = random.any_of(0.1, 0.02);            // absorption
  one.add_knob("kinetic", random.below(4));
  one.add_knob("potential", random.below(2));
  one.add_knob("motion", random.one_in(2) ? 0 : random.below(4));
  one.add_knob("absorber", random.one_in(3) ? random.below(4) : 0);
  one.add_knob("pulse", random.one_in(3) ? 1 + random.below(4) : 0);
  one.add_knob("kind", 1 + random.below(5), 1);
  one.add_knob("order", random.one_in(3) ? 4 : 0);
  one.add_knob("substeps", random.one_in(4) ? random.between(2, 3) : 1, 1);
  one.add_knob("steps", random.between(1, 4), 1);
  one.add_knob("arithmetic", random.one_in(3) ? 1 : 0);
  one.add_knob("states", random.one_in(3) ? random.between(1, 3) : 0);
}

Hamiltonian hamiltonian_of(const Case& one) {
  const Array& numbers = one.array("numbers");
  const auto number = [&](Index k) { return numbers.at(k).real(); };
  Grid grid;
  grid.xmin = -number(0);
  grid.xmax = number(0);
  grid.points = one.array("psi").rows;
  grid.kinetic = static_cast<Kinetic>(one.knob("kinetic"));
  Potential potential;
  potential.kind = static_cast<PotentialKind>(one.knob("potential"));
  potential.charge = number(2);
  potential.omega = number(2);
  potential.softening = number(3);
  Nuclei nuclei;
  if (potential.kind == PotentialKind::soft_core) nuclei.motion = static_cast<Motion>(one.knob("motion"));
  std::vector<Pulse> pulses;
  if (one.knob("pulse") != 0) {
    Pulse pulse;
    pulse.envelope = static_cast<Envelope>(one.knob("pulse") - 1);
    pulse.amplitude = number(4);
    pulse.omega = 0.7;
    pulse.duration = 3.0;
    pulse.ramp = 1.0;
    pulse.centre = 0.5;
    pulses.push_back(pulse);
  }
  Absorber absorber;
  absorber.kind = static_cast<AbsorberKind>(one.knob("absorber"));
  absorber.width = 0.3 * number(0);
  absorber.strength = number(5);
  absorber.energy = number(5);
  return {grid, potential, nuclei, pulses, absorber};
}

// Return whether two states have the same bits.
bool same_state(const State& x, const State& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0);
}
std::string first_difference(const State& x, const State& y) {
  for (std::size_t k = 0; k < std::min(x.size(), y.size()); ++k) {
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): it is bits that are compared.
    if (std::memcmp(&x[k], &y[k], sizeof(x[k])) != 0)
      return "at " + std::to_string(k) + " found " + shown(x[k]) + ", expected " + shown(y[k]);
  }
  return {};
}
double norm_of(const State& psi) {
  double sum = 0;
  for (const auto& x : psi) sum += std::norm(x);
  return std::sqrt(sum);
}

// Compare with exp(-i H steps dt) psi for fill()'s H and its absorption: exact in dt for expm, magnus4 and chebyshev.
// The error of a step is |H| dt times the round-off of an exponential, n u |H| dt; 100 times that is suspicious.
void judge_static(Verdict& verdict, const World& world, const Hamiltonian& hamiltonian, const State& initial,
                  const State& found, Index steps, double time_step) {
  const auto n = static_cast<Index>(initial.size());
  const DistributedMatrix<double> H(world.alone, Placement::on_rank(n, n, 0), "hunted");
  hamiltonian.fill(1.0, 0.0, H);
  const auto host = gather(H, 0);
  Array generator;
  generator.rows = generator.columns = n;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const double w =
          i == j && !hamiltonian.absorption().empty() ? hamiltonian.absorption()[static_cast<std::size_t>(i)] : 0.0;
      generator.values.emplace_back(host(static_cast<std::size_t>(i), static_cast<std::size_t>(j)), -w);
    }
  }
  Wide::bits = 256;
  WideMatrix A(generator);
  const Wide time = Wide(time_step) * Wide(static_cast<double>(steps));
  for (WideComplex& x : A.values) x = WideComplex(x.im * time, -(x.re * time));
  const double size = norm1(A).to_double();
  if (size > 3000) return verdict.skip();
  const auto E = wide_exponential(A);
  if (!E) return verdict.skip();
  Wide error;
  Wide length;
  for (Index i = 0; i < n; ++i) {
    WideComplex sum;
    for (Index j = 0; j < n; ++j) sum.add_product(E->at(i, j), WideComplex(initial[static_cast<std::size_t>(j)]));
    error += (sum - WideComplex(found[static_cast<std::size_t>(i)])).square();
    length += WideComplex(initial[static_cast<std::size_t>(i)]).square();
  }
  verdict.within("error of a Hamiltonian at rest", (error / length).root().to_double(),
                 100 * static_cast<double>(n) * 0x1p-53 * (size + static_cast<double>(steps)));
}

void run_simulation(const World& world, const Case& one, Verdict& verdict) {
  const Index n = one.array("psi").rows;
  if (n < 3) return verdict.skip();
  State initial;
  for (const Value& x : one.array("psi").values) initial.push_back(x);
  if (norm_of(initial) == 0) return verdict.skip();
  const double time_step = one.array("numbers").at(1).real();
  const Hamiltonian hamiltonian = hamiltonian_of(one);
  initial = normalised(hamiltonian.grid(), initial);
  SimulationOptions options;
  options.time_step = time_step;
  options.states = std::min<Index>(one.knob("states"), n);
  PropagatorOptions& propagator = options.propagator;
  propagator.kind = static_cast<PropagatorKind>(one.knob("kind"));
  using enum PropagatorKind;
  const bool fourth = one.knob("order") == 4 && (propagator.kind == split_operator || propagator.kind == chebyshev);
  propagator.order = fourth ? 4 : 0;
  propagator.substeps = static_cast<int>(std::max(one.knob("substeps"), 1L));
  if (one.knob("arithmetic") != 0 && has_degree(propagator.kind)) propagator.arithmetic = Arithmetic::emulated;
  const Index steps = std::max(one.knob("steps"), 1L);
  const auto after = [&](const Communicator& comm, const State& from, Index begin, Index end) {
    Simulation simulation(comm, hamiltonian, options, from, begin);
    for (Index k = begin; k < end; ++k) {
      simulation.step();
      (void)simulation.observables();
    }
    return simulation.state();
  };
  const State found = after(world.all, initial, 0, steps);
  const State half = after(world.all, initial, 0, steps / 2);
  const State restarted = after(world.all, half, steps / 2, steps);
  verdict.holds("a restart continues bit for bit", same_state(restarted, found), first_difference(restarted, found));
  if (!world.root()) return;
  const State alone = after(world.alone, initial, 0, steps);
  verdict.holds("the same bits on one rank", same_state(alone, found), first_difference(found, alone));
  const double growth = norm_of(found) / norm_of(initial);
  const bool absorbs = hamiltonian.absorber().kind != AbsorberKind::none;
  // Round-off of a few hundred operations and of exponentials of norm |H| dt each.
  const DistributedMatrix<double> H(world.alone, Placement::on_rank(n, n, 0), "hunted");
  hamiltonian.fill(1.0, 0.0, H);
  const double size = static_cast<double>(norm(H, Norm::one)) * time_step;
  if (propagator.kind != split_operator || !fourth || !absorbs) {
    const double allowed =
        100 * static_cast<double>(n) * 0x1p-53 * static_cast<double>(steps * propagator.substeps) * (1 + size);
    verdict.within(absorbs ? "norm does not grow" : "norm stays",
                   absorbs ? std::max(growth - 1, 0.0) : std::abs(growth - 1), allowed);
  }
  const bool exact = propagator.kind == expm || propagator.kind == magnus4 || propagator.kind == chebyshev;
  if (exact && !hamiltonian.moves() && hamiltonian.absorber().kind != AbsorberKind::mask && n <= 16) {
    judge_static(verdict, world, hamiltonian, initial, found, steps, time_step);
  }
}

// Draw an oscillator of frequency 1 in its ground state, and pulses of any durations, carriers and times, small enough
// to keep the wave within the grid.
constexpr double pulse_step = 0.1;

void draw_pulses(Random& random, Case& one) {
  one.type = Type::complex64;
  const Index count = random.between(1, 3);
  Array& numbers = one.add("pulses", 'p', count, 'q', 5);
  for (Index k = 0; k < count; ++k) {
    numbers.at(k, 0) = random.unit();  // impulse
    numbers.at(k, 1) = random.any_of(0.0, 1e-3, 1.0, std::ldexp(1.0, static_cast<int>(random.between(-2, 7))));
    numbers.at(k, 2) = std::ldexp(1.0 + std::abs(random.unit()), static_cast<int>(random.between(-24, 1)));  // duration
    numbers.at(k, 3) = random.one_in(3) ? 0.1 * static_cast<double>(random.between(0, 60)) : 3 + 3 * random.unit();
    numbers.at(k, 4) = 3 * random.unit();  // phase
  }
  one.add_knob("envelope", random.below(4));
  one.add_knob("kind", random.one_in(2) ? 0 : 1 + random.below(5));
  one.add_knob("order", random.one_in(3) ? 4 : 0);
  one.add_knob("steps", random.between(1, 60), 1);
  one.add_knob("break", random.between(0, 59));
}

// Return -integral of sin(t - s) E(s) by the midpoint rule, with at least 16 parts for each radian of the carrier.
double driven_position(const std::vector<Pulse>& pulses, double time) {
  double sum = 0;
  for (const Pulse& pulse : pulses) {
    std::array<double, 2> interval = pulse.interval();
    const double begin = std::max(interval[0], 0.0);
    const double end = std::min(interval[1], time);
    if (!(end > begin)) continue;
    const double parts = std::ceil(2000 + 64 * (end - begin) * pulse.omega);
    const double h = (end - begin) / parts;
    for (double k = 0; k < parts; ++k) {
      const double s = begin + (k + 0.5) * h;
      sum -= h * std::sin(time - s) * pulse.field(s);
    }
  }
  return sum;
}

void run_pulses(const World& world, const Case& one, Verdict& verdict) {
  const Array& numbers = one.array("pulses");
  if (numbers.columns != 5) return verdict.skip();
  std::vector<Pulse> pulses;
  for (Index k = 0; k < numbers.rows; ++k) {
    const auto number = [&](Index j) { return numbers.at(k, j).real(); };
    Pulse pulse;
    pulse.envelope = static_cast<Envelope>(one.knob("envelope"));
    pulse.duration = std::abs(number(2));
    // A step through a shorter pulse needs more than the 100000 substeps allowed, and is refused.
    if (!(pulse.duration > 1e-4) || !(std::abs(number(1)) < 1000)) return verdict.skip();
    pulse.amplitude = number(0) / pulse.duration;
    pulse.omega = std::abs(number(1));
    pulse.centre = number(3);
    pulse.phase = number(4);
    pulse.ramp = pulse.envelope == Envelope::trapezoid ? pulse.duration / 4 : 0.0;
    pulses.push_back(pulse);
  }
  const Grid grid{-11, 11, 121, Kinetic::sinc};
  Potential potential;
  potential.kind = PotentialKind::harmonic;
  potential.omega = 1;
  const Hamiltonian hamiltonian(grid, potential, {}, pulses);
  const State initial = gaussian_packet(grid, 0, 0, std::sqrt(0.5));
  const Index steps = std::max(one.knob("steps"), 1L);
  SimulationOptions options;
  options.time_step = pulse_step;
  options.states = 0;
  PropagatorOptions& propagator = options.propagator;
  propagator.kind = static_cast<PropagatorKind>(one.knob("kind"));
  using enum PropagatorKind;
  const bool any_order = propagator.kind == split_operator || propagator.kind == chebyshev;
  propagator.order = one.knob("order") == 4 && any_order ? 4 : 0;
  propagator.duration = static_cast<double>(steps) * pulse_step;
  const auto advanced = [](Simulation& simulation, Index until) {
    while (simulation.steps_done() < until) simulation.step();
  };
  Simulation whole(world.all, hamiltonian, options, initial);
  advanced(whole, steps);
  const Observables seen = whole.observables();
  Simulation half(world.all, hamiltonian, options, initial);
  advanced(half, std::min(one.knob("break"), steps));
  SimulationOptions resumed = options;
  resumed.errors = half.errors();
  if (half.propagator().kind != automatic) resumed.propagator.resumed = half.propagator();
  Simulation rest(world.all, hamiltonian, resumed, half.state(), half.steps_done());
  advanced(rest, steps);
  verdict.holds("a restart continues bit for bit", same_state(rest.state(), whole.state()),
                first_difference(rest.state(), whole.state()));
  verdict.holds("a restart has the same error", rest.observables().error == seen.error);
  if (!world.root()) return;
  Simulation alone(world.alone, hamiltonian, options, initial);
  advanced(alone, steps);
  verdict.holds("the same bits on one rank", same_state(alone.state(), whole.state()),
                first_difference(whole.state(), alone.state()));
  const double error = std::abs(seen.position - driven_position(pulses, seen.time));
  // 1e-7 covers the midpoint rule. The factor 2 covers errors that the estimate does not see.
  verdict.within("<x> of a driven oscillator", error, 2 * seen.position_error() + 1e-7);
  if (propagator.kind == automatic) {
    verdict.within("what automatic promises", seen.error, 2e-6 * std::max(seen.time, 1.0));
  }
}

}  // namespace

void draw_tdse(Random& random, Case& one) {
  draw_simulation(random, one);
}
void run_tdse(const World& world, const Case& one, Verdict& verdict) {
  run_simulation(world, one, verdict);
}
void draw_tdse_pulses(Random& random, Case& one) {
  draw_pulses(random, one);
}
void run_tdse_pulses(const World& world, const Case& one, Verdict& verdict) {
  run_pulses(world, one, verdict);
}

}  // namespace heddle::hunt
