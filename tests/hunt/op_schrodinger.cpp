// What a simulation is made of and what is read from it, against formulas in long double: fields, potentials, absorbers
// and spectra; eigenstates by residuals and inertia; observables and the resolution of a grid by plain sums.
#include "hunt/long_matrix.hpp"
#include "hunt/operations.hpp"
#include <heddle/schrodinger/imaginary_time.hpp>
#include <heddle/schrodinger/initial_state.hpp>
#include <heddle/schrodinger/observables.hpp>
#include <heddle/schrodinger/spectrum.hpp>
#include <heddle/schrodinger/stability.hpp>

#include <numbers>

namespace heddle::hunt {
namespace {

using namespace schrodinger;
using Real80 = long double;

constexpr double unit = 0x1p-53;
constexpr Real80 pi = std::numbers::pi_v<Real80>;

double power_of_two(Random& random, long least, long most) {
  return std::ldexp(1.0 + std::abs(random.unit()), static_cast<int>(random.between(least, most)));
}
double off(double found, Real80 expected) {
  return static_cast<double>(std::abs(static_cast<Real80>(found) - expected));
}

Grid grid_of(const Case& one) {
  const Array& numbers = one.array("grid");
  Grid grid;
  grid.xmin = numbers.at(0).real() - std::abs(numbers.at(1).real());
  grid.xmax = numbers.at(0).real() + std::abs(numbers.at(1).real());
  grid.points = one.array("psi").rows;
  grid.kinetic = static_cast<Kinetic>(one.knob("kinetic"));
  return grid;
}
void add_grid(Random& random, Case& one, Index points) {
  one.type = Type::complex64;
  Array& psi = one.add("psi", 'n', points);
  fill_mood(random, one.type, psi, random.any_of(Mood::units, Mood::sparse, Mood::integers, Mood::powers));
  Array& numbers = one.add("grid", '1', 2);
  numbers.at(0) = random.one_in(2) ? 0.0 : 4 * random.unit();
  numbers.at(1) = power_of_two(random, 0, 4);
  one.add_knob("kinetic", random.below(4));
}
bool is_a_grid(const Grid& grid) {
  return grid.points >= 3 && grid.xmax > grid.xmin && std::abs(grid.xmin) < 1e6 && std::abs(grid.xmax) < 1e6;
}

// Fields, potentials, positions of the nuclei, absorbers and spectra.

void draw_forms(Random& random, Case& one) {
  add_grid(random, one, random.between(3, 40));
  Array& numbers = one.add("numbers", '1', 12);
  for (Index k = 0; k < 12; ++k) numbers.at(k) = random.unit();
  numbers.at(0) = random.any_of(1.0, 1e-300, 1e200, power_of_two(random, -40, 40));  // amplitude of a pulse, charge
  numbers.at(1) = random.any_of(0.0, 0.057, power_of_two(random, -20, 12));          // frequencies
  numbers.at(2) = power_of_two(random, -10, 12);                                     // duration
  numbers.at(3) = random.any_of(0.0, 0.5, std::abs(random.unit()));                  // ramp in durations
  numbers.at(4) = 100 * random.unit();                                               // centre
  numbers.at(6) = power_of_two(random, -40, 6);                                      // softening
  numbers.at(7) = random.any_of(0.0, 2.0, power_of_two(random, -10, 4));             // separation
  numbers.at(8) = random.one_in(4) ? 1.0 : std::abs(random.unit());                  // width in halves of the grid
  numbers.at(9) = random.any_of(0.0, 1.0, 2.0, 4 * std::abs(random.unit()));         // power of the absorber
  Array& times = one.add("times", 't', random.between(1, 6));
  for (Index k = 0; k < times.rows; ++k) times.at(k) = random.one_in(5) ? random.any_of(0.0, 0.5, -0.5) : random.unit();
  one.add_knob("envelope", random.below(4));
  one.add_knob("potential", random.below(2));
  one.add_knob("motion", random.below(4));
  one.add_knob("absorber", random.below(4));
  one.add_knob("window", random.below(2));
}

Real80 envelope_at(const Pulse& pulse, Real80 s) {
  switch (pulse.envelope) {
    case Envelope::sine_squared:
      return std::abs(s) < 0.5L ? std::cos(pi * s) * std::cos(pi * s) : 0;
    case Envelope::gaussian:
      return std::abs(s) < 5 ? std::exp2(-2 * s * s) : 0;
    case Envelope::trapezoid: {
      const Real80 inside = (0.5L - std::abs(s)) * pulse.duration;
      return inside <= 0 ? 0 : pulse.ramp > 0 ? std::min(inside / pulse.ramp, 1.0L) : 1;
    }
    case Envelope::constant:
      return std::abs(s) < 0.5L ? 1 : 0;
  }
  return 0;
}

void judge_pulse(const Case& one, Verdict& verdict) {
  const Array& numbers = one.array("numbers");
  const auto number = [&](Index k) { return numbers.at(k).real(); };
  Pulse pulse;
  pulse.envelope = static_cast<Envelope>(one.knob("envelope"));
  pulse.amplitude = number(0);
  pulse.omega = std::abs(number(1));
  pulse.phase = 4 * number(5);
  pulse.duration = std::abs(number(2));
  pulse.ramp = std::min(std::abs(number(3)), 0.5) * pulse.duration;
  pulse.centre = number(4);
  if (!(pulse.duration > 0)) return verdict.skip();
  for (const Value& at : one.array("times").values) {
    const double time = pulse.centre + 1.25 * at.real() * pulse.duration;
    // What t and t_c are known to is what s and the phase are off by; at the ends of an interval that decides.
    const Real80 s = (static_cast<Real80>(time) - pulse.centre) / pulse.duration;
    const Real80 doubt =
        4 * unit * (std::abs(static_cast<Real80>(time)) + std::abs(Real80(pulse.centre))) / pulse.duration;
    const Real80 end = pulse.envelope == Envelope::gaussian ? 5 : 0.5L;
    if (std::abs(std::abs(s) - end) <= doubt + 4 * unit) continue;
    const Real80 phase = pulse.omega * (static_cast<Real80>(time) - pulse.centre) + pulse.phase;
    const Real80 expected = pulse.amplitude * envelope_at(pulse, s) * std::cos(phase);
    const Real80 slope = 8 + (pulse.ramp > 0 ? pulse.duration / static_cast<Real80>(pulse.ramp) : 0);
    const Real80 allowed = std::abs(Real80(pulse.amplitude)) * (16 * unit * (1 + std::abs(phase)) + 4 * slope * unit +
                                                                slope * doubt + pulse.omega * pulse.duration * doubt);
    verdict.within("field of a pulse", off(field_of(std::span(&pulse, 1), time), expected),
                   static_cast<double>(allowed) + 0x1p-1074, "at t = " + shown(time));
  }
  const double intensity = std::abs(number(0));
  if (intensity > 1e-100 && intensity < 1e100) {
    const double again = intensity_from_amplitude(amplitude_from_intensity(intensity));
    verdict.within("an intensity and its amplitude", std::abs(again / intensity - 1), 8 * unit);
    // CODATA 2022: the atomic unit of time in fs, and 2 pi c times it in nm.
    verdict.within("omega of a wavelength", std::abs(omega_from_wavelength(intensity) * intensity / 45.563352529 - 1),
                   1e-9);
    verdict.within("a time in fs", std::abs(time_from_femtoseconds(intensity) / intensity * 0.024188843265864 - 1),
                   1e-12);
  }
}

void judge_potential(const Case& one, const Grid& grid, Verdict& verdict) {
  const Array& numbers = one.array("numbers");
  const auto number = [&](Index k) { return numbers.at(k).real(); };
  Potential potential;
  potential.kind = static_cast<PotentialKind>(one.knob("potential"));
  potential.charge = number(0);
  potential.omega = std::abs(number(1));
  potential.softening = std::abs(number(6));
  Nuclei nuclei;
  if (potential.kind == PotentialKind::soft_core) nuclei.motion = static_cast<Motion>(one.knob("motion"));
  nuclei.separation = std::abs(number(7));
  nuclei.amplitude = number(10);
  nuclei.omega = 10 * number(11);
  nuclei.velocity = number(5);
  if (!(potential.softening > 0)) return verdict.skip();
  const double time = 20 * one.array("times").at(0).real();
  const Real80 swing = nuclei.amplitude * std::sin(static_cast<Real80>(nuclei.omega) * time);
  const Real80 half = static_cast<Real80>(nuclei.separation) / 2;
  Real80 expected[2] = {-half, half};
  switch (nuclei.motion) {
    case Motion::fixed:
      break;
    case Motion::stretch:
      expected[0] -= swing, expected[1] += swing;
      break;
    case Motion::shake:
      expected[0] += swing, expected[1] += swing;
      break;
    case Motion::drift:
      expected[0] += static_cast<Real80>(nuclei.velocity) * time,
          expected[1] += static_cast<Real80>(nuclei.velocity) * time;
      break;
  }
  const auto places = nuclei.positions(time);
  for (int k = 0; k < 2; ++k) {
    const double size = static_cast<double>(half) + std::abs(nuclei.amplitude) * (1 + std::abs(nuclei.omega * time)) +
                        std::abs(nuclei.velocity * time);
    verdict.within("position of a nucleus", off(places[static_cast<std::size_t>(k)], expected[k]), 8 * unit * size);
  }
  const auto energies = potential_energy(grid, potential, nuclei, time);
  for (Index i = 0; i < grid.points; ++i) {
    const Real80 x = grid.x(i);
    Real80 value = potential.omega * static_cast<Real80>(potential.omega) * x * x / 2;
    if (potential.kind == PotentialKind::soft_core) {
      value = 0;
      for (const double place : places)
        value -= potential.charge / std::sqrt((x - place) * (x - place) + potential.softening);
    }
    verdict.within("potential energy", off(energies[static_cast<std::size_t>(i)], value),
                   static_cast<double>(16 * unit * std::abs(value)) + 0x1p-1074, "at x = " + shown(grid.x(i)));
  }
}

// W of the formulas, s and x from the inner end of a layer.
void judge_absorber(const Case& one, const Grid& grid, Verdict& verdict) {
  const Array& numbers = one.array("numbers");
  const auto number = [&](Index k) { return numbers.at(k).real(); };
  Absorber absorber;
  absorber.kind = static_cast<AbsorberKind>(one.knob("absorber"));
  absorber.width = std::abs(number(8)) * (grid.xmax - grid.xmin) / 2;
  absorber.power = std::abs(number(9));
  absorber.strength = std::abs(number(6));
  absorber.energy = std::abs(number(6));
  absorber.time = 0.25;
  if (!(absorber.width > 1e-3 * grid.spacing()) || !(absorber.energy > 0)) return verdict.skip();
  const double time_step = std::abs(number(2));
  const auto found = absorber.kind == AbsorberKind::mask ? mask_of_step(grid, absorber, time_step)
                                                         : absorbing_potential(grid, absorber);
  if (absorber.kind == AbsorberKind::none) return verdict.holds("nothing is absorbed", found.empty());
  for (Index i = 0; i < grid.points; ++i) {
    const Real80 from_left = static_cast<Real80>(grid.x(i)) - grid.xmin;
    const Real80 from_right = static_cast<Real80>(grid.xmax) - grid.x(i);
    const Real80 inside = absorber.width - std::min(from_left, from_right);
    // Where the layer begins, rounding decides.
    const double doubt = 8 * unit * (std::abs(grid.xmin) + std::abs(grid.xmax) + absorber.width);
    if (std::abs(inside) <= doubt) continue;
    const double value = found[static_cast<std::size_t>(i)];
    const std::string where = "at x = " + shown(grid.x(i));
    if (inside < 0) {
      verdict.holds("nothing is absorbed inside", value == (absorber.kind == AbsorberKind::mask ? 1.0 : 0.0), where);
      continue;
    }
    const Real80 s = inside / absorber.width;
    const double doubt_of_s = doubt / absorber.width;
    if (absorber.kind == AbsorberKind::polynomial) {
      const Real80 expected = absorber.strength * std::pow(s, static_cast<Real80>(absorber.power));
      verdict.within("W of a polynomial", off(value, expected),
                     static_cast<double>(expected) *
                             (16 * unit + 4 * (1 + absorber.power) * (doubt_of_s / static_cast<double>(s) + unit)) +
                         0x1p-1074,
                     where);
    } else if (absorber.kind == AbsorberKind::transmission_free) {
      // c rounded as the header gives it would be off in the sixth digit: twice the lemniscate's half length.
      const Real80 c = 2.62205755429211981046483958989111941L;
      const Real80 x = c * inside / (absorber.width + static_cast<Real80>(grid.spacing()));
      const Real80 a = 1 - 16 / (c * c * c);
      const Real80 b = (1 - 17 / (c * c * c)) / (c * c);
      const Real80 expected =
          absorber.energy * (a * x - b * x * x * x + 4 / ((c - x) * (c - x)) - 4 / ((c + x) * (c + x)));
      // Differences near x = 0, and c - x near the wall.
      const Real80 size = absorber.energy * (4 / (c * c) + 4 / ((c - x) * (c - x)) * c / (c - x));
      verdict.within("W without transmission", off(value, expected),
                     static_cast<double>(size) * (64 * unit + 8 * doubt_of_s), where);
    } else {
      const Real80 cosine = std::cos(pi * s / 2);
      const Real80 expected =
          std::pow(std::max(cosine, 0.0L), static_cast<Real80>(time_step) / (8 * static_cast<Real80>(absorber.time)));
      const double turn = doubt_of_s + 4 * unit;
      if (cosine <= 64 * turn) continue;
      const double exponent = time_step / (8 * absorber.time);
      verdict.within(
          "factors of a mask", off(value, expected),
          static_cast<double>(expected) * (16 * unit + 4 * exponent *
                                                           (turn / static_cast<double>(cosine) +
                                                            unit * std::abs(static_cast<double>(std::log(cosine))))) +
              0x1p-1074,
          where);
    }
  }
}

void judge_spectra(const Case& one, Verdict& verdict) {
  const Array& psi = one.array("psi");
  const auto n = static_cast<std::size_t>(psi.rows);
  const double step = std::abs(one.array("numbers").at(8).real()) + 0.01;
  const auto window = static_cast<Window>(one.knob("window"));
  std::vector<double> times(n);
  std::vector<double> dipole(n);
  for (std::size_t k = 0; k < n; ++k) times[k] = static_cast<double>(k) * step;
  for (std::size_t k = 0; k < n; ++k) dipole[k] = psi.values[k].real();
  const Real80 whole = times.back();
  std::vector<double> energies;
  for (const Value& at : one.array("times").values) energies.push_back(10 * at.real());
  const auto lines = autocorrelation_spectrum(times, psi.values, energies, window);
  const auto radiated = dipole_spectrum(times, dipole, energies, window);
  for (std::size_t line = 0; line < energies.size(); ++line) {
    std::complex<Real80> sum = 0;
    std::complex<Real80> of_dipole = 0;
    Real80 size = 0;
    Real80 size_of_dipole = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const Real80 weight = k == 0 || k + 1 == n ? step / 2.0L : step;
      const std::complex<Real80> turned = std::polar<Real80>(1, static_cast<Real80>(energies[line]) * times[k]);
      const Real80 of_time = times[k] / whole;
      const Real80 falling = window == Window::hann ? std::cos(pi * of_time / 2) * std::cos(pi * of_time / 2) : 1;
      const Real80 hump = window == Window::hann ? std::sin(pi * of_time) * std::sin(pi * of_time) : 1;
      const Long value(psi.values[k]);
      const Real80 moment = static_cast<Real80>(dipole[k]) - dipole[0];
      sum += weight * falling * value * turned;
      of_dipole += weight * hump * moment * turned;
      size += weight * std::abs(value);
      size_of_dipole += weight * std::abs(moment);
    }
    const double phases = 8 + std::abs(energies[line]) * static_cast<double>(whole) + static_cast<double>(n);
    verdict.within("a spectrum of an autocorrelation", off(lines[line], sum.real() / pi),
                   8 * unit * phases * static_cast<double>(size));
    const Real80 fourth = std::pow(static_cast<Real80>(energies[line]), 4);
    verdict.within("a spectrum of a dipole moment", off(radiated[line], fourth * std::norm(of_dipole)),
                   static_cast<double>(fourth * size_of_dipole * size_of_dipole) * 16 * unit * phases + 0x1p-1074);
  }
}

// Waves on the grid: what the differences make of k^2/2 is its Taylor series up to their order.
void judge_kinetic(const Grid& grid, Verdict& verdict) {
  const auto band = kinetic_band(grid);
  const Real80 dx = grid.spacing();
  if (grid.kinetic == Kinetic::sinc) {
    for (std::size_t d = 0; d < band.size(); ++d) {
      const auto distance = static_cast<Real80>(d) * dx;
      const Real80 expected = d == 0 ? pi * pi / (6 * dx * dx) : (d % 2 == 0 ? 1 : -1) / (distance * distance);
      verdict.within("kinetic energy of sinc", off(band[d], expected),
                     static_cast<double>(std::abs(expected)) * 8 * unit);
    }
    return;
  }
  const int order = grid.kinetic == Kinetic::fd2 ? 2 : grid.kinetic == Kinetic::fd4 ? 4 : 6;
  if (grid.points <= order / 2) return;  // A part of it.
  verdict.holds("a band of differences", static_cast<int>(band.size()) == order / 2 + 1);
  // sum_d t_d d^p over both sides is 0 for p = 0, 4, ... order, and -1/dx^2 for p = 2.
  for (int power = 0; power <= order; power += 2) {
    Real80 sum = power == 0 ? Real80(band[0]) : 0;
    for (std::size_t d = 1; d < band.size(); ++d) sum += 2 * Real80(band[d]) * std::pow(Real80(d), power);
    const Real80 expected = power == 2 ? -1 / (dx * dx) : 0;
    verdict.within("moments of differences", off(static_cast<double>(sum), expected),
                   static_cast<double>(std::pow(3.0L, power) / (dx * dx)) * 16 * unit);
  }
}

void run_forms(const World& world, const Case& one, Verdict& verdict) {
  if (!world.root()) return;
  const Grid grid = grid_of(one);
  if (!is_a_grid(grid) || one.array("times").rows == 0) return verdict.skip();
  judge_kinetic(grid, verdict);
  judge_pulse(one, verdict);
  judge_potential(one, grid, verdict);
  judge_absorber(one, grid, verdict);
  judge_spectra(one, verdict);
}

// Eigenstates, wave functions and what is observed of them.

void draw_states(Random& random, Case& one) {
  add_grid(random, one, random.one_in(3) ? random.between(40, 160) : random.between(3, 24));
  Array& numbers = one.add("numbers", '1', 5);
  numbers.at(0) = random.any_of(0.0, 1.0, 3.0, power_of_two(random, -6, 5));  // charge or omega
  numbers.at(1) = random.any_of(1.0, 0.01, power_of_two(random, -12, 3));     // softening
  numbers.at(2) = random.any_of(0.0, 2.0, power_of_two(random, -3, 3));       // separation
  numbers.at(3) = 4 * random.unit();                                          // momentum
  numbers.at(4) = power_of_two(random, -3, 1);                                // width of a packet
  one.add_knob("potential", random.below(2));
  one.add_knob("count", random.between(1, 6), 1);
}

// H in long double, from the elements that the library holds in double.
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
// max |H_ii| + 2 sum |t_d| >= |H|_2.
Real80 bound_of_norm(const Hamiltonian& hamiltonian) {
  const auto band = hamiltonian.kinetic();
  Real80 bound = 0;
  for (const double value : hamiltonian.potential_at(0)) bound = std::max(bound, std::abs(Real80(band[0]) + value));
  for (std::size_t d = 1; d < band.size(); ++d) bound += 2 * std::abs(Real80(band[d]));
  return bound;
}
// How many eigenvalues of H lie below a number: the negative pivots of H - number, by Sylvester's law of inertia.
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
    // The k-th from below: k eigenvalues are below it, and k + 1 below what is a little more.
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
  const double radius = reach / 3;
  Real80 inside = 0;
  for (Index i = 0; i < n; ++i) inside += std::abs(grid.x(i)) <= radius ? std::norm(at(i)) * dx : 0;
  verdict.within("probability outside", off(probability_outside(grid, psi, radius), 1 - inside),
                 round_off * (1 + static_cast<double>(inside)));
  const auto own = overlap(grid, psi, psi);
  verdict.within("overlap with itself", off(own.real(), square * dx) + std::abs(own.imag()),
                 round_off * static_cast<double>(square * dx));

  // sum over k of k^2/2 |psi(k)|^2 and of what is above a quarter of the wave numbers, psi continued by zeros.
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
  ImaginaryTimeReport report;
  if (grid.points <= 24) {
    const Thrown thrown =
        thrown_by([&] { by_time = imaginary_time_states(world.all, hamiltonian, 0.0, count, {}, &report); });
    verdict.holds("imaginary time ends, or says that it does not", !thrown.any || thrown.kind == ErrorKind::computation,
                  thrown.message);
  }
  if (!world.root()) return;
  const double size = static_cast<double>(bound_of_norm(hamiltonian));
  const Eigenstates states = lowest_eigenstates(hamiltonian, 0.0, count);
  judge_eigenstates(verdict, "eigenstates", hamiltonian, states, 1e-10 * size);
  if (by_time) judge_eigenstates(verdict, "states by imaginary time", hamiltonian, *by_time, 1e-8 + 1e-12 * size);

  State psi;
  for (const Value& x : one.array("psi").values) psi.push_back(x);
  const bool zero = std::all_of(psi.begin(), psi.end(), [](const Value& x) { return x == 0.0; });
  if (!zero) judge_observables(verdict, hamiltonian, normalised(grid, psi), states);
  // A factor changes no node; -4 changes no rounding.
  if (!zero) {
    const State there = normalised(grid, psi);
    State turned = there;
    for (Value& x : turned) x *= -4.0;
    verdict.holds("nodes do not change with a factor", node_positions(grid, there) == node_positions(grid, turned));
  }
  judge_observables(verdict, hamiltonian, eigenstate(hamiltonian, count - 1, number(3)), states);
  const double width = std::abs(number(4));
  if (!(width > 0)) return;
  const double centre = (grid.xmin + grid.xmax) / 2;
  State packet;
  if (thrown_by([&] { packet = gaussian_packet(grid, centre, number(3), width); }).any) return;
  judge_observables(verdict, hamiltonian, packet, states);
  // The same up to its norm, point by point, and moved() turns it back.
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
    // Rounded x count by the slope of the exponent, and denormal values before they are normalised.
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

void draw_schrodinger_forms(Random& random, Case& one) {
  draw_forms(random, one);
}
void run_schrodinger_forms(const World& world, const Case& one, Verdict& verdict) {
  run_forms(world, one, verdict);
}
void draw_schrodinger_states(Random& random, Case& one) {
  draw_states(random, one);
}
void run_schrodinger_states(const World& world, const Case& one, Verdict& verdict) {
  run_states(world, one, verdict);
}

}  // namespace heddle::hunt
