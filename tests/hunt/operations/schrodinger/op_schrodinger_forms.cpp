// Fields of pulses, potentials, kinetic energies, absorbers and spectra, against their formulas in long double.
#include "hunt/long_matrix.hpp"
#include "hunt/operations/schrodinger/wave_grids.hpp"
#include <heddle/schrodinger/absorber.hpp>
#include <heddle/schrodinger/potential.hpp>
#include <heddle/schrodinger/pulse.hpp>
#include <heddle/schrodinger/spectrum.hpp>

namespace heddle::hunt {
namespace {

using namespace schrodinger;

void draw_forms(Random& random, Case& one) {
  add_grid(random, one, random.between(3, 40));
  Array& numbers = one.add("numbers", '1', 12);
  for (Index k = 0; k < 12; ++k) numbers.at(k) = random.unit();
  numbers.at(0) = random.any_of(1.0, 1e-300, 1e200, of_any_size(random, -40, 40));  // amplitude of a pulse, charge
  numbers.at(1) = random.any_of(0.0, 0.057, of_any_size(random, -20, 12));          // frequencies
  numbers.at(2) = of_any_size(random, -10, 12);                                     // duration
  numbers.at(3) = random.any_of(0.0, 0.5, std::abs(random.unit()));                 // ramp in durations
  numbers.at(4) = 100 * random.unit();                                              // centre
  numbers.at(6) = of_any_size(random, -40, 6);                                      // softening
  numbers.at(7) = random.any_of(0.0, 2.0, of_any_size(random, -10, 4));             // separation
  numbers.at(8) = random.one_in(4) ? 1.0 : std::abs(random.unit());                 // width in halves of the grid
  numbers.at(9) = random.any_of(0.0, 1.0, 2.0, 4 * std::abs(random.unit()));        // power of the absorber
  Array& times = one.add("times", 't', random.between(1, 6));
  for (Index k = 0; k < times.rows; ++k) times.at(k) = random.one_in(5) ? random.any_of(0.0, 0.5, -0.5) : random.unit();
  one.add_knob("envelope", random.below(4));
  one.add_knob("potential", random.below(3));
  one.add_knob("motion", random.below(4));
  one.add_knob("absorber", random.below(4));
  one.add_knob("window", random.below(2));
}

// Return the envelope at s within its interval.
Real80 envelope_at(const Pulse& pulse, Real80 s) {
  switch (pulse.envelope) {
    case Envelope::sine_squared:
      return std::cos(pi * s) * std::cos(pi * s);
    case Envelope::gaussian:
      return std::exp2(-2 * s * s);
    case Envelope::trapezoid:
      return pulse.ramp > 0 ? std::min((0.5L - std::abs(s)) * pulse.duration / pulse.ramp, 1.0L) : 1;
    case Envelope::constant:
      return 1;
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
  if (!(pulse.duration > 0)) return;
  for (const Value& at : one.array("times").values) {
    // Times in the pulse, and up to a quarter beyond its ends.
    const Real80 end = pulse.envelope == Envelope::gaussian ? 5 : 0.5L;
    const double time = pulse.centre + static_cast<double>(2.5L * end) * at.real() * pulse.duration;
    const Real80 s = (static_cast<Real80>(time) - pulse.centre) / pulse.duration;
    // Largest change of s by rounding t and t_c. Closer to an end, either side is right.
    const Real80 doubt =
        4 * unit * (std::abs(static_cast<Real80>(time)) + std::abs(Real80(pulse.centre))) / pulse.duration;
    if (std::abs(std::abs(s) - end) <= doubt + 4 * unit) continue;
    if (std::abs(s) > end) {
      verdict.holds("no field outside a pulse", field_of(std::span(&pulse, 1), time) == 0.0, "at t = " + shown(time));
      continue;
    }
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
    // c epsilon_0 E^2/2 of CODATA 2022.
    verdict.within("intensity of a field",
                   std::abs(intensity_from_amplitude(std::sqrt(intensity)) / intensity / 3.50944552773e16 - 1), 1e-9);
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
  if (!(potential.softening > 0)) return;
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
  if (potential.kind == PotentialKind::table) {
    potential.table_x = {grid.xmin - 1, 0.75 * grid.xmin + 0.25 * grid.xmax, 0.5 * (grid.xmin + grid.xmax),
                         grid.xmax + 1};
    potential.table_v = {number(5), number(10), number(11), number(5)};
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
    double size = std::abs(static_cast<double>(value));
    if (potential.kind == PotentialKind::table) {
      const auto& at = potential.table_x;
      const auto k = static_cast<std::size_t>(std::upper_bound(at.begin() + 1, at.end() - 1, grid.x(i)) - at.begin());
      const Real80 share = (x - at[k - 1]) / (static_cast<Real80>(at[k]) - at[k - 1]);
      value = potential.table_v[k - 1] + share * (static_cast<Real80>(potential.table_v[k]) - potential.table_v[k - 1]);
      // The share is as accurate as x, relative to the distance of the points.
      size = (std::abs(potential.table_v[k]) + std::abs(potential.table_v[k - 1])) *
             (1 + (std::abs(at[k]) + std::abs(at[k - 1])) / (at[k] - at[k - 1]));
    }
    verdict.within("potential energy", off(energies[static_cast<std::size_t>(i)], value), 16 * unit * size + 0x1p-1074,
                   "at x = " + shown(grid.x(i)));
  }
}

// Compare W with the formulas; s and x count from the inner end of a layer.
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
  const double time_step = std::abs(number(2));
  if (!(absorber.width > 1e-3 * grid.spacing()) || !(absorber.energy > 0) || !(time_step > 0)) return;
  // Absorbers that are refused are judged by themselves.
  if (absorber.kind != AbsorberKind::none && !(absorber.width <= (grid.xmax - grid.xmin) / 2)) return;
  const auto found = absorber.kind == AbsorberKind::mask ? mask_of_step(grid, absorber, time_step)
                                                         : absorbing_potential(grid, absorber);
  if (absorber.kind == AbsorberKind::none) return verdict.holds("nothing is absorbed", found.empty());
  for (Index i = 0; i < grid.points; ++i) {
    const Real80 from_left = static_cast<Real80>(grid.x(i)) - grid.xmin;
    const Real80 from_right = static_cast<Real80>(grid.xmax) - grid.x(i);
    const Real80 inside = absorber.width - std::min(from_left, from_right);
    // A point within rounding of the beginning of the layer may be on either side.
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
      // Half the length of the lemniscate; the header gives six digits.
      const Real80 c = 2.62205755429211981046483958989111941L;
      const Real80 x = c * inside / (absorber.width + static_cast<Real80>(grid.spacing()));
      const Real80 a = 1 - 16 / (c * c * c);
      const Real80 b = (1 - 17 / (c * c * c)) / (c * c);
      const Real80 expected =
          absorber.energy * (a * x - b * x * x * x + 4 / ((c - x) * (c - x)) - 4 / ((c + x) * (c + x)));
      // Cancellation near x = 0, and in c - x near the wall.
      const Real80 size = absorber.energy * (4 / (c * c) + 4 / ((c - x) * (c - x)) * c / (c - x));
      verdict.within("W without transmission", off(value, expected),
                     static_cast<double>(size) * (64 * unit + 8 * doubt_of_s), where);
    } else {
      const Real80 cosine = std::cos(pi * s / 2);
      const double turn = doubt_of_s + 4 * unit;
      if (cosine <= 64 * turn) continue;
      const Real80 expected =
          std::pow(cosine, static_cast<Real80>(time_step) / (8 * static_cast<Real80>(absorber.time)));
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

// On waves the differences give the Taylor series of k^2/2 up to their order.
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
  if (grid.points <= order / 2) return;  // The grid truncates the band.
  verdict.holds("a band of differences", static_cast<int>(band.size()) == order / 2 + 1);
  // The sum over d of t_d d^p, both sides included, is 0 for p = 0, 4, ... order, and -1/dx^2 for p = 2.
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

}  // namespace

void draw_schrodinger_forms(Random& random, Case& one) {
  draw_forms(random, one);
}
void run_schrodinger_forms(const World& world, const Case& one, Verdict& verdict) {
  run_forms(world, one, verdict);
}

}  // namespace heddle::hunt
