// Chebyshev series of exp(-i H t) psi by banded products or Fourier transforms.
#include "schrodinger/propagators/chebyshev.hpp"

#include "core/complex_exponential.hpp"
#include "core/on_host.hpp"
#include "expm/arithmetic/bessel.hpp"
#include "libm/functions.hpp"
#include "schrodinger/hamiltonian/kinetic_symbol.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace heddle::impl {

namespace {

using Complex = Kokkos::complex<double>;
using Work = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;
using Team = Kokkos::TeamPolicy<ExecutionSpace>::member_type;

constexpr int most_terms = 256;
constexpr double most_repeats = 1e6;
constexpr double most_growth = 100.0;
// With wider bands, products by Fourier transforms are cheaper.
constexpr Index widest_band = 3;

// Columns of the workspace for the real part; those of the imaginary part are the next ones.
constexpr int polynomials = 0;  // T_k psi, in columns 2 (k mod 2)
constexpr int even_sum = 4;
constexpr int odd_sum = 6;
constexpr int columns = 8;

template <class Body> KOKKOS_INLINE_FUNCTION void each_row(const Team& team, Index rows, const Body& body) {
  if constexpr (on_host) {
    for (Index i = 0; i < rows; ++i) body(i);
  } else {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), body);
  }
}

// Sums of c_k T_k psi over even and over odd k. `width` 0: any width, from `band`.
template <int width, bool absorbs> struct BandedSeries {
  Index n;
  Index halo;  // zeros before and after each column
  int terms;
  Kokkos::Array<double, most_terms> coefficients;  // c_k, with the minus sign of (-i)^k for k mod 4 = 2 and 3
  double inverse_radius;
  DeviceComplexes psi;
  DeviceValues band;
  DeviceValues diagonal;
  DeviceValues absorption;
  Work work;

  KOKKOS_INLINE_FUNCTION double* column(int k) const { return &work(halo, k); }

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int first = absorbs ? 0 : static_cast<int>(team.league_rank());
    const int end = absorbs ? 2 : first + 1;
    for (int part = first; part < end; ++part) load(team, part);
    for (int k = 1; k < terms; ++k) {
      team.team_barrier();
      for (int part = first; part < end; ++part) add_term(team, k, part);
    }
  }

  KOKKOS_INLINE_FUNCTION void load(const Team& team, int part) const {
    const DeviceComplexes from = psi;
    double* const to = column(polynomials + part);
    double* const next = column(polynomials + 2 + part);
    double* const even = column(even_sum + part);
    double* const odd = column(odd_sum + part);
    const double c = coefficients[0];
    each_row(team, n, [=](Index i) {
      const double value = part == 0 ? from(i).real() : from(i).imag();
      to[i] = value;
      next[i] = 0.0;
      even[i] = c * value;
      odd[i] = 0.0;
    });
  }

  KOKKOS_INLINE_FUNCTION void add_term(const Team& team, int k, int part) const {
    const double* const last = column(polynomials + 2 * ((k + 1) % 2) + part);
    const double* const other = column(polynomials + 2 * ((k + 1) % 2) + 1 - part);
    double* const next = column(polynomials + 2 * (k % 2) + part);
    double* const sum = column((k % 2 == 0 ? even_sum : odd_sum) + part);
    const double* const middle = diagonal.data();
    const double* const lost = absorption.data();
    const double* const t = band.data();
    const Index reach = width > 0 ? width : static_cast<Index>(band.extent(0)) - 1;
    const double scale = inverse_radius;
    // -i W/radius couples the two parts.
    const double mix = part == 0 ? scale : -scale;
    const double factor = k == 1 ? 1.0 : 2.0;
    const double c = coefficients[k];
    double near[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < width; ++d) near[d] = scale * t[d + 1];
    const double t1 = near[0];
    const double t2 = near[1];
    const double t3 = near[2];
    each_row(team, n, [=](Index i) {
      double product = middle[i] * last[i];
      if constexpr (width > 0) {
        product += t1 * (last[i + 1] + last[i - 1]);
        if constexpr (width > 1) product += t2 * (last[i + 2] + last[i - 2]);
        if constexpr (width > 2) product += t3 * (last[i + 3] + last[i - 3]);
      } else {
        for (Index d = 1; d <= reach; ++d) product += scale * t[d] * (last[i + d] + last[i - d]);
      }
      if constexpr (absorbs) product += mix * lost[i] * other[i];
      const double value = factor * product - next[i];
      next[i] = value;
      sum[i] += c * value;
    });
  }
};

template <int width, bool absorbs> void sum_banded(const ExecutionSpace& space, const BandedSeries<0, false>& given) {
  const BandedSeries<width, absorbs> series{
      given.n,   given.halo, given.terms,    given.coefficients, given.inverse_radius,
      given.psi, given.band, given.diagonal, given.absorption,   given.work};
  Kokkos::TeamPolicy<ExecutionSpace> teams(space, absorbs ? 1 : 2, 1);
  if constexpr (!on_host) {
    teams = Kokkos::TeamPolicy<ExecutionSpace>(space, absorbs ? 1 : 2, Kokkos::AUTO);
  }
  Kokkos::parallel_for("heddle::schrodinger::chebyshev", teams, series);
}

template <bool absorbs> void sum_banded(const ExecutionSpace& space, const BandedSeries<0, false>& series) {
  switch (series.band.extent(0)) {
    case 2:
      return sum_banded<1, absorbs>(space, series);
    case 3:
      return sum_banded<2, absorbs>(space, series);
    case 4:
      return sum_banded<3, absorbs>(space, series);
    default:
      return sum_banded<0, absorbs>(space, series);
  }
}

// psi = factor (even - i odd).
void combine(const ExecutionSpace& space, const Work& work, Index halo, Complex factor, const DeviceComplexes& psi) {
  Kokkos::parallel_for(
      "heddle::schrodinger::chebyshev_sum", GridRange(space, 0, static_cast<Index>(psi.extent(0))),
      KOKKOS_LAMBDA(Index k) {
        const Index i = k + halo;
        psi(k) = factor * Complex(work(i, even_sum) + work(i, odd_sum + 1), work(i, even_sum + 1) - work(i, odd_sum));
      });
}

Kokkos::MinMaxScalar<double> bounds(const ExecutionSpace& space, const DeviceValues& values) {
  Kokkos::MinMaxScalar<double> found;
  Kokkos::parallel_reduce(
      "heddle::schrodinger::potential_bounds", GridRange(space, 0, static_cast<Index>(values.extent(0))),
      KOKKOS_LAMBDA(Index i, Kokkos::MinMaxScalar<double> & range) {
        const double value = values(i);
        if (value < range.min_val) range.min_val = value;
        if (value > range.max_val) range.max_val = value;
      },
      Kokkos::MinMax<double>(found));
  return found;
}

void fill_diagonal(const ExecutionSpace& space, const DeviceValues& potential, double shift, double radius,
                   const DeviceValues& diagonal) {
  Kokkos::parallel_for(
      "heddle::schrodinger::chebyshev_diagonal", GridRange(space, 0, static_cast<Index>(potential.extent(0))),
      KOKKOS_LAMBDA(Index i) { diagonal(i) = (potential(i) + shift) / radius; });
}

// line = T_k psi, followed by zeros.
void to_line(const ExecutionSpace& space, const Work& work, int from, Index n, const DeviceComplexes& line) {
  Kokkos::parallel_for(
      "heddle::schrodinger::chebyshev_line", GridRange(space, 0, static_cast<Index>(line.extent(0))),
      KOKKOS_LAMBDA(Index i) { line(i) = i < n ? Complex(work(i, from), work(i, from + 1)) : Complex(0.0); });
}

void scale_line(const ExecutionSpace& space, const DeviceComplexes& spectrum, const DeviceComplexes& line) {
  Kokkos::parallel_for(
      "heddle::schrodinger::chebyshev_spectrum", GridRange(space, 0, static_cast<Index>(line.extent(0))),
      KOKKOS_LAMBDA(Index k) { line(k) *= spectrum(k).real(); });
}

// Eigenvalues of the circulant of which T is a corner, divided by their number.
DeviceComplexes circulant_spectrum(const ExecutionSpace& space, std::span<const double> band, const Fourier& fourier,
                                   Index length) {
  const DeviceComplexes spectrum(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::schrodinger::chebyshev_spectrum"),
      static_cast<std::size_t>(length));
  const auto host = Kokkos::create_mirror_view(spectrum);
  for (Index k = 0; k < length; ++k) {
    const auto d = static_cast<std::size_t>(std::min(k, length - k));
    host(k) = d < band.size() ? band[d] / static_cast<double>(length) : 0.0;
  }
  Kokkos::deep_copy(space, spectrum, host);
  space.fence("heddle::schrodinger::chebyshev_spectrum");
  fourier.forward(spectrum);
  return spectrum;
}

}  // namespace

std::vector<double> bessel_coefficients(double x, int count) {
  std::vector<double> values = bessel_functions(x, count - 1);
  for (auto value = values.begin() + 1; value != values.end(); ++value) *value *= 2;
  return values;
}

ChebyshevSeries chebyshev_series(double radius, double absorption, double duration, double tolerance) {
  const double y = absorption / radius;
  const double square = 0.5 * (y * y + y * std::sqrt(y * y + 4));  // of the ellipse's shorter axis
  const double rho = std::sqrt(square) + std::sqrt(1 + square);
  for (double repeats = 1;; repeats += repeats > 8 ? std::floor(repeats / 4) : 1) {
    require(repeats <= most_repeats, "propagator chebyshev: ||H|| dt = ", radius * duration, " needs more than ",
            most_repeats, " series; take a smaller step");
    const double x = radius * duration / repeats;
    if (!(x <= most_terms)) continue;
    // J_k falls faster than any power beyond k = x.
    const int count = y > 0 ? 2 * most_terms : static_cast<int>(x + 12 * libm::cbrt(x)) + 30;
    std::vector<double> coefficients = bessel_coefficients(x, count);
    double power = 1.0;
    double growth = 0.0;
    std::vector<double> sizes;
    for (const double c : coefficients) {
      sizes.push_back(std::abs(c) * power);
      growth = std::max(growth, sizes.back());
      // Limit the power: terms beyond it are too small to be represented, or far too large.
      power = std::min(power * rho, 1e250);
    }
    std::size_t terms = sizes.size();
    double tail = 0.0;
    const double allowed = (y > 0 ? 0.4 : 1.0) * tolerance / repeats;
    while (terms > 2 && tail + sizes[terms - 1] <= allowed) tail += sizes[--terms];
    if (growth > most_growth || terms > most_terms || terms == sizes.size()) continue;
    coefficients.resize(terms);
    return {static_cast<int>(repeats), std::move(coefficients)};
  }
}

ChebyshevExponential::ChebyshevExponential(const ExecutionSpace& space, const schrodinger::Hamiltonian& hamiltonian,
                                           double tolerance)
    : space_(space),
      tolerance_(std::max(tolerance, unit_roundoff<double>)),
      points_(hamiltonian.grid().points),
      width_(static_cast<Index>(hamiltonian.kinetic().size()) - 1),
      kinetic_diagonal_(hamiltonian.kinetic().front()),
      largest_kinetic_(largest_kinetic(hamiltonian)),
      kinetic_(device_copy(space, "heddle::schrodinger::kinetic", hamiltonian.kinetic())),
      diagonal_(device_values(space, "heddle::schrodinger::chebyshev_diagonal", points_)) {
  if (width_ > widest_band && has_fourier()) {
    const Index length = fast_length(2 * points_ - 1);
    fourier_ = std::make_unique<Fourier>(space, length);
    spectrum_ = circulant_spectrum(space, hamiltonian.kinetic(), *fourier_, length);
    line_ = DeviceComplexes(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::schrodinger::line"),
                            static_cast<std::size_t>(length));
    // The circulant includes the diagonal of T.
    kinetic_diagonal_ = 0.0;
    width_ = 0;
  }
  work_ = Work(Kokkos::view_alloc(space, "heddle::schrodinger::chebyshev"),
               static_cast<std::size_t>(points_ + 2 * width_), columns);
  const auto absorption = hamiltonian.absorption();
  if (absorption.empty()) return;
  const auto [least, most] = std::minmax_element(absorption.begin(), absorption.end());
  middle_absorption_ = 0.5 * (*least + *most);
  spread_absorption_ = 0.5 * (*most - *least);
  if (spread_absorption_ == 0.0) return;
  std::vector<double> shifted(absorption.begin(), absorption.end());
  for (double& value : shifted) value -= middle_absorption_;
  absorption_ = device_copy(space, "heddle::schrodinger::absorption", shifted);
}

void ChebyshevExponential::prepare(const DeviceValues& potential, double duration) {
  const auto range = bounds(space_, potential);
  centre_ = 0.5 * (range.min_val + range.max_val + largest_kinetic_);
  // A little more, so that rounded values are inside too.
  radius_ = 0.5 * (range.max_val - range.min_val + largest_kinetic_) * (1 + 1e-14);
  duration_ = duration;
  series_ = chebyshev_series(radius_, spread_absorption_, duration, tolerance_);
  fill_diagonal(space_, potential, kinetic_diagonal_ - centre_, radius_, diagonal_);
}

int ChebyshevExponential::products() const {
  return series_.repeats * (static_cast<int>(series_.coefficients.size()) - 1);
}

void ChebyshevExponential::apply(const DeviceComplexes& psi) const {
  const double part = duration_ / series_.repeats;
  const std::complex<double> turned = exponential({-middle_absorption_ * part, -centre_ * part});
  BandedSeries<0, false> series{};
  series.n = points_;
  series.halo = width_;
  series.terms = static_cast<int>(series_.coefficients.size());
  for (int k = 0; k < series.terms; ++k) {
    series.coefficients[k] = k % 4 < 2 ? series_.coefficients[k] : -series_.coefficients[k];
  }
  series.inverse_radius = 1 / radius_;
  series.psi = psi;
  series.band = kinetic_;
  series.diagonal = diagonal_;
  series.absorption = absorption_;
  series.work = work_;
  for (int k = 0; k < series_.repeats; ++k) {
    if (fourier_) {
      sum_by_transforms(psi);
    } else if (spread_absorption_ == 0.0) {
      sum_banded<false>(space_, series);
    } else {
      sum_banded<true>(space_, series);
    }
    combine(space_, work_, width_, Complex(turned.real(), turned.imag()), psi);
  }
}

namespace {

void load_both(const ExecutionSpace& space, const DeviceComplexes& psi, double c, const Work& work) {
  Kokkos::parallel_for(
      "heddle::schrodinger::chebyshev_load", GridRange(space, 0, static_cast<Index>(psi.extent(0))),
      KOKKOS_LAMBDA(Index i) {
        for (int part = 0; part < 2; ++part) {
          const double value = part == 0 ? psi(i).real() : psi(i).imag();
          work(i, polynomials + part) = value;
          work(i, polynomials + 2 + part) = 0.0;
          work(i, even_sum + part) = c * value;
          work(i, odd_sum + part) = 0.0;
        }
      });
}

// Factors of the recurrence of the polynomials.
struct ScaledHamiltonian {
  DeviceComplexes line;  // Kinetic energy times the last polynomial.
  double inverse_radius;
  DeviceValues diagonal;
  DeviceValues absorption;  // may be empty
};

// Compute polynomial k, and add c times it to the sums.
void add_both(const ExecutionSpace& space, const ScaledHamiltonian& scaled, int k, double c, const Work& work) {
  const DeviceComplexes line = scaled.line;
  const double inverse_radius = scaled.inverse_radius;
  const DeviceValues diagonal = scaled.diagonal;
  const DeviceValues absorption = scaled.absorption;
  const int last = polynomials + 2 * ((k + 1) % 2);
  const int next = polynomials + 2 * (k % 2);
  const int sum = k % 2 == 0 ? even_sum : odd_sum;
  const double factor = k == 1 ? 1.0 : 2.0;
  const bool absorbs = absorption.extent(0) > 0;
  Kokkos::parallel_for(
      "heddle::schrodinger::chebyshev_term", GridRange(space, 0, static_cast<Index>(diagonal.extent(0))),
      KOKKOS_LAMBDA(Index i) {
        double real = diagonal(i) * work(i, last) + inverse_radius * line(i).real();
        double imaginary = diagonal(i) * work(i, last + 1) + inverse_radius * line(i).imag();
        if (absorbs) {
          const double lost = inverse_radius * absorption(i);
          real += lost * work(i, last + 1);
          imaginary -= lost * work(i, last);
        }
        work(i, next) = factor * real - work(i, next);
        work(i, next + 1) = factor * imaginary - work(i, next + 1);
        work(i, sum) += c * work(i, next);
        work(i, sum + 1) += c * work(i, next + 1);
      });
}

}  // namespace

void ChebyshevExponential::sum_by_transforms(const DeviceComplexes& psi) const {
  load_both(space_, psi, series_.coefficients.front(), work_);
  for (int k = 1; k < static_cast<int>(series_.coefficients.size()); ++k) {
    to_line(space_, work_, polynomials + 2 * ((k + 1) % 2), points_, line_);
    fourier_->forward(line_);
    scale_line(space_, spectrum_, line_);
    fourier_->backward(line_);
    const double c = k % 4 < 2 ? series_.coefficients[k] : -series_.coefficients[k];
    add_both(space_, {line_, 1 / radius_, diagonal_, absorption_}, k, c, work_);
  }
}

}  // namespace heddle::impl
