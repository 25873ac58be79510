// Local density functionals: exchange, and published fits of the correlation energy.
#include "libm/functions.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/functionals.hpp>
#include <heddle/models/kohn_sham.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace heddle::models {

namespace {

// Lower densities count as 0: their energy is below round-off, and quotients would divide by 0.
constexpr double no_density = 1e-18;

// A function of r_s and its derivative.
struct Slope {
  double value = 0;
  double derivative = 0;
};
// epsilon_c and its derivatives by r_s and zeta.
struct Correlation {
  double energy = 0;
  double by_radius = 0;
  double by_polarisation = 0;
};

// f(zeta) = ((1 + zeta)^(4/3) + (1 - zeta)^(4/3) - 2)/(2^(4/3) - 2).
Slope polarisation_share(double zeta) {
  const double up = libm::cbrt(1 + zeta);
  const double down = libm::cbrt(std::max(0.0, 1 - zeta));
  const double scale = 1 / (2 * libm::cbrt(2.0) - 2);
  return {(up * (1 + zeta) + down * (1 - zeta) - 2) * scale, 4.0 / 3.0 * (up - down) * scale};
}

// Perdew, Zunger, appendix C and table XII.
struct PerdewZunger {
  double gamma, beta1, beta2, A, B, C, D;
};
constexpr PerdewZunger pz_paramagnetic = {-0.1423, 1.0529, 0.3334, 0.0311, -0.048, 0.0020, -0.0116};
constexpr PerdewZunger pz_ferromagnetic = {-0.0843, 1.3981, 0.2611, 0.01555, -0.0269, 0.0007, -0.0048};

Slope perdew_zunger(const PerdewZunger& fit, double radius) {
  if (radius < 1) {
    const double logarithm = libm::log(radius);
    return {fit.A * logarithm + fit.B + fit.C * radius * logarithm + fit.D * radius,
            fit.A / radius + fit.C * (logarithm + 1) + fit.D};
  }
  const double root = std::sqrt(radius);
  const double bottom = 1 + fit.beta1 * root + fit.beta2 * radius;
  return {fit.gamma / bottom, -fit.gamma * (fit.beta1 / (2 * root) + fit.beta2) / (bottom * bottom)};
}

// Perdew, Wang, equation 10 and table I, with p = 1.
struct PerdewWang {
  double A, alpha1;
  std::array<double, 4> beta;
};
constexpr PerdewWang pw_paramagnetic = {0.031091, 0.21370, {7.5957, 3.5876, 1.6382, 0.49294}};
constexpr PerdewWang pw_ferromagnetic = {0.015545, 0.20548, {14.1189, 6.1977, 3.3662, 0.62517}};
constexpr PerdewWang pw_stiffness = {0.016887, 0.11125, {10.357, 3.6231, 0.88026, 0.49671}};  // Fit of -alpha_c.

Slope perdew_wang(const PerdewWang& fit, double radius) {
  const double root = std::sqrt(radius);
  const double factor = -2 * fit.A * (1 + fit.alpha1 * radius);
  const double bottom =
      2 * fit.A * root * (fit.beta[0] + root * (fit.beta[1] + root * (fit.beta[2] + root * fit.beta[3])));
  const double slope =
      fit.A * (fit.beta[0] / root + 2 * fit.beta[1] + root * (3 * fit.beta[2] + 4 * root * fit.beta[3]));
  const double logarithm = libm::log1p(1 / bottom);
  return {factor * logarithm, -2 * fit.A * fit.alpha1 * logarithm - factor * slope / (bottom * (bottom + 1))};
}

// Vosko, Wilk, Nusair, equation 4.4 and table 5.
struct VoskoWilkNusair {
  double A, x0, b, c;
};
constexpr VoskoWilkNusair vwn_paramagnetic = {0.0310907, -0.10498, 3.72744, 12.9352};
constexpr VoskoWilkNusair vwn_ferromagnetic = {0.01554535, -0.32500, 7.06042, 18.0578};
// Fit of -alpha_c, A = 1/(6 pi^2).
constexpr VoskoWilkNusair vwn_stiffness = {0.0168868639404, -0.0047584, 1.13107, 13.0045};

Slope vosko_wilk_nusair(const VoskoWilkNusair& fit, double radius) {
  const double x = std::sqrt(radius);
  const auto X = [&](double y) { return y * (y + fit.b) + fit.c; };
  const double Q = std::sqrt(4 * fit.c - fit.b * fit.b);
  const double angle = libm::atan(Q / (2 * x + fit.b));
  const double share = fit.b * fit.x0 / X(fit.x0);
  const double value = libm::log(x * x / X(x)) + 2 * fit.b / Q * angle -
                       share * (libm::log((x - fit.x0) * (x - fit.x0) / X(x)) + 2 * (fit.b + 2 * fit.x0) / Q * angle);
  // d angle/dx = -Q/(2 X).
  const double slope = 2 / x - (2 * x + fit.b) / X(x) - fit.b / X(x) -
                       share * (2 / (x - fit.x0) - (2 * x + fit.b) / X(x) - (fit.b + 2 * fit.x0) / X(x));
  return {fit.A * value, fit.A * slope / (2 * x)};
}

// Interpolates between the unpolarised and the fully polarised gas by f(zeta) alone (von Barth, Hedin).
Correlation between(const Slope& para, const Slope& ferro, double zeta) {
  const Slope share = polarisation_share(zeta);
  return {para.value + (ferro.value - para.value) * share.value,
          para.derivative + (ferro.derivative - para.derivative) * share.value,
          (ferro.value - para.value) * share.derivative};
}

// Interpolates with the spin stiffness alpha_c: equation 8 of Perdew and Wang, 3.2 to 3.4 of Vosko, Wilk and Nusair.
// `minus_stiffness` is the fit of -alpha_c, f2 = f''(0).
Correlation with_stiffness(const Slope& para, const Slope& ferro, const Slope& minus_stiffness, double f2,
                           double zeta) {
  const Slope share = polarisation_share(zeta);
  const double cube = zeta * zeta * zeta;
  const double fourth = cube * zeta;
  const double spread = share.value * (1 - fourth);
  const double rest = share.value * fourth;
  const double alpha = -minus_stiffness.value / f2;
  const double alpha_slope = -minus_stiffness.derivative / f2;
  return {para.value + alpha * spread + (ferro.value - para.value) * rest,
          para.derivative + alpha_slope * spread + (ferro.derivative - para.derivative) * rest,
          alpha * (share.derivative * (1 - fourth) - 4 * cube * share.value) +
              (ferro.value - para.value) * (share.derivative * fourth + 4 * cube * share.value)};
}

Correlation correlation_3d(Functional functional, double radius, double zeta) {
  // f''(0) = 8/(9 (2^(4/3) - 2)), which Perdew and Wang rounded.
  constexpr double f2 = 1.709920934161365617563962776245;
  constexpr double pw_f2 = 1.709921;
  switch (functional) {
    case Functional::lda_pz:
      return between(perdew_zunger(pz_paramagnetic, radius), perdew_zunger(pz_ferromagnetic, radius), zeta);
    case Functional::lda_pw92:
      return with_stiffness(perdew_wang(pw_paramagnetic, radius), perdew_wang(pw_ferromagnetic, radius),
                            perdew_wang(pw_stiffness, radius), pw_f2, zeta);
    case Functional::lda_vwn:
      return with_stiffness(vosko_wilk_nusair(vwn_paramagnetic, radius), vosko_wilk_nusair(vwn_ferromagnetic, radius),
                            vosko_wilk_nusair(vwn_stiffness, radius), f2, zeta);
    default:
      return {};
  }
}

// Casula, Sorella, Senatore's form, with the constants of Helbig et al. for a softening of 1.
struct Casula {
  double A, B, C, D, E, alpha, beta, m;
};
constexpr Casula csc_paramagnetic = {18.40, 0.0, 7.501, 0.10185, 0.012827, 1.511, 0.258, 4.424};
constexpr Casula csc_ferromagnetic = {5.24, 0.0, 1.568, 0.12856, 0.003201, 0.0538, 1.56e-5, 2.958};

Slope casula(const Casula& fit, double radius) {
  const double top = radius * (1 + fit.E * radius);
  const double top_slope = 1 + 2 * fit.E * radius;
  const double bottom = fit.A + radius * (fit.B + radius * (fit.C + radius * fit.D));
  const double bottom_slope = fit.B + radius * (2 * fit.C + radius * 3 * fit.D);
  const double power = libm::pow(radius, fit.m - 1);
  const double inside = radius * (fit.alpha + fit.beta * power);
  const double logarithm = libm::log1p(inside);
  const double logarithm_slope = (fit.alpha + fit.m * fit.beta * power) / (1 + inside);
  return {-0.5 * top / bottom * logarithm,
          -0.5 * ((top_slope - top * bottom_slope / bottom) * logarithm + top * logarithm_slope) / bottom};
}

double valid_density(double density, const char* spin) {
  require(std::isfinite(density), "functional: the density of spin ", spin, " is ", density, ", expected a finite one");
  return std::max(0.0, density);
}

void add_correlation(const Correlation& found, double density, double zeta, double radius_power, LocalTerms& terms) {
  // d r_s/dn = -radius_power r_s/n; by_radius is r_s d epsilon_c/d r_s.
  const double common = found.energy - radius_power * found.by_radius;
  terms.correlation = density * found.energy;
  terms.up += common + (1 - zeta) * found.by_polarisation;
  terms.down += common - (1 + zeta) * found.by_polarisation;
}

}  // namespace

std::string_view to_string(Functional functional) {
  switch (functional) {
    case Functional::hf:
      return "hf";
    case Functional::lda_x:
      return "lda-x";
    case Functional::lda_pz:
      return "lda-pz";
    case Functional::lda_pw92:
      return "lda-pw92";
    case Functional::lda_vwn:
      return "lda-vwn";
    case Functional::lda_csc:
      return "lda-csc";
  }
  return "";
}

LocalTerms local_terms_3d(Functional functional, double up, double down) {
  require(functional != Functional::hf && functional != Functional::lda_csc, "functional: ", to_string(functional),
          " is no local functional of three dimensions");
  up = valid_density(up, "up");
  down = valid_density(down, "down");
  const double density = up + down;
  LocalTerms terms;
  if (density < no_density) return terms;
  const double scale = libm::cbrt(6 / std::numbers::pi);
  terms.up = -scale * libm::cbrt(up);
  terms.down = -scale * libm::cbrt(down);
  terms.exchange = 0.75 * (terms.up * up + terms.down * down);
  if (functional == Functional::lda_x) return terms;
  const double radius = libm::cbrt(3 / (4 * std::numbers::pi * density));
  const double zeta = (up - down) / density;
  Correlation found = correlation_3d(functional, radius, zeta);
  found.by_radius *= radius;
  add_correlation(found, density, zeta, 1.0 / 3.0, terms);
  return terms;
}

LocalTerms local_terms_1d(Functional functional, double up, double down, double softening) {
  require(functional == Functional::lda_x || functional == Functional::lda_csc, "functional: ", to_string(functional),
          " is no local functional of one dimension; expected lda-x or lda-csc");
  require(functional != Functional::lda_csc || softening == 1,
          "functional: lda-csc was fitted for a softening of 1 bohr, not ", softening);
  up = valid_density(up, "up");
  down = valid_density(down, "down");
  const double density = up + down;
  LocalTerms terms;
  if (density < no_density) return terms;
  const eigen::LocalExchange of_up = eigen::local_exchange(2 * up, softening);
  const eigen::LocalExchange of_down = eigen::local_exchange(2 * down, softening);
  terms.exchange = up * of_up.energy + down * of_down.energy;
  terms.up = of_up.potential;
  terms.down = of_down.potential;
  if (functional == Functional::lda_x) return terms;
  const double radius = 1 / (2 * density);
  const double zeta = (up - down) / density;
  const Slope para = casula(csc_paramagnetic, radius);
  const Slope ferro = casula(csc_ferromagnetic, radius);
  const double share = zeta * zeta;
  add_correlation({para.value + share * (ferro.value - para.value),
                   radius * (para.derivative + share * (ferro.derivative - para.derivative)),
                   2 * zeta * (ferro.value - para.value)},
                  density, zeta, 1, terms);
  return terms;
}

}  // namespace heddle::models
