// The list of the hunt's operations, and checks that several of them share.
#pragma once

#include "exact/reference.hpp"
#include "hunt/operation.hpp"
#include "hunt/wide.hpp"
#include <heddle/gemm/tile_model.hpp>

namespace heddle::hunt {

// Defines run_NAME() from a template over the scalar.
#define HEDDLE_HUNT_RUN(name, work)                                                             \
  void run_##name(const World& world, const Case& one, Verdict& verdict) {                      \
    with_type(one.type, [&]<class T>(std::type_identity<T>) { work<T>(world, one, verdict); }); \
  }

// All operations: a new one needs a name here and a file with draw_NAME() and run_NAME().
// clang-format off
#define HEDDLE_HUNT_OPERATIONS(OPERATION) \
  OPERATION(exact_sums) OPERATION(exact_allreduce) OPERATION(exact_elementwise) \
  OPERATION(exact_gemv) OPERATION(exact_gemm) OPERATION(exact_trsv) \
  OPERATION(exact_lu) OPERATION(exact_solve) OPERATION(exact_condition) \
  OPERATION(lu) OPERATION(cholesky) OPERATION(determinant) OPERATION(condition) \
  OPERATION(solve) OPERATION(solve_batched) OPERATION(lu_solve) OPERATION(inverse) OPERATION(trsm) OPERATION(solve_errors) \
  OPERATION(matrix_determinant) OPERATION(solve_condition) OPERATION(qr) OPERATION(least_squares) \
  OPERATION(gemm) OPERATION(blas) OPERATION(transpose) OPERATION(transpose_ranks) OPERATION(redistribute) \
  OPERATION(expm) OPERATION(expm_batched) OPERATION(expm_action) \
  OPERATION(expm_action_spectra) OPERATION(expm_action_non_normal) OPERATION(phi) OPERATION(phi_action) \
  OPERATION(expm_frechet) \
  OPERATION(eigen) OPERATION(eigen_batched) OPERATION(eigen_batched_large) OPERATION(eigen_ranks) \
  OPERATION(generalised) \
  OPERATION(svd_batched) \
  OPERATION(gemm_plan) OPERATION(transpose_plan) OPERATION(duplicates_plan) OPERATION(factor_plans) \
  OPERATION(spectral_plans) OPERATION(list_plans) OPERATION(syrk) OPERATION(symmetric) \
  OPERATION(interpose_products) OPERATION(interpose_systems) OPERATION(interpose_spectra) \
  OPERATION(keyed_sums) OPERATION(integer_files) OPERATION(file_forms) \
  OPERATION(tdse_pulses) OPERATION(schrodinger_forms) OPERATION(schrodinger_states) \
  OPERATION(duplicates) OPERATION(faces) OPERATION(tdse) OPERATION(matrix_files)
// clang-format on

#define HEDDLE_HUNT_DECLARE(name)                \
  void draw_##name(Random& random, Case& drawn); \
  void run_##name(const World& world, const Case& one, Verdict& verdict);
HEDDLE_HUNT_OPERATIONS(HEDDLE_HUNT_DECLARE)
#undef HEDDLE_HUNT_DECLARE

/// Rates for the tile model, so that no case waits for measurements; emulated products are faster or slower.
inline MachineRates some_rates(bool emulated_is_faster) {
  MachineRates rates;
  for (const Index tile : {8, 64, 512}) {
    const double flops = 1e8 * static_cast<double>(tile);
    rates.gemm.push_back({tile, flops, flops});
    rates.emulated.push_back({tile, emulated_is_faster ? 4 * flops : flops / 4, flops});
  }
  rates.memory_bandwidth = 1e10;
  rates.link_bandwidth = 1e9;
  rates.latency = 1e-6;
  return rates;
}

/// An exact sum of numbers and products, each part with its terms; infinities and NaNs follow IEEE 754.
template <Scalar T> class ExactSum {
 public:
  void add(const T& x) {
    part_[0].add(static_cast<double>(Kokkos::real(x)));
    if constexpr (is_complex<T>) part_[1].add(static_cast<double>(x.imag()));
  }
  void add_product(const T& x, const T& y) {
    const auto real = [](const auto& z) { return static_cast<double>(Kokkos::real(z)); };
    const auto imaginary = [](const auto& z) { return static_cast<double>(Kokkos::imag(z)); };
    part_[0].add_product(real(x), real(y));
    if constexpr (is_complex<T>) {
      part_[0].add_product(-imaginary(x), imaginary(y));
      part_[1].add_product(real(x), imaginary(y));
      part_[1].add_product(imaginary(x), real(y));
    }
  }
  [[nodiscard]] T value() const {
    if constexpr (is_complex<T>) {
      return T(part_[0].template value<Real<T>>(), part_[1].template value<Real<T>>());
    } else {
      return part_[0].template value<T>();
    }
  }

 private:
  exact::Reference part_[is_complex<T> ? 2 : 1];
};

/// Whether a number is the nearest one, or lies next to the nearest of a truth that may be half way between two.
template <class R> [[nodiscard]] bool is_nearest(R found, const Wide& truth) {
  const R nearest = truth.rounded<R>();
  if (found == nearest) return true;
  const Wide middle = (Wide(static_cast<double>(found)) + Wide(static_cast<double>(nearest))) * Wide(0.5);
  const bool beside = std::nextafter(found, nearest) == nearest;
  return beside && (truth - middle).exponent() < truth.exponent() - 200;
}
/// Likewise for both parts.
template <Scalar T> [[nodiscard]] bool is_nearest(const T& found, const WideComplex& truth) {
  bool right = is_nearest(real_of<Real<T>>(found), truth.re);
  if constexpr (is_complex<T>) right = right && is_nearest(found.imag(), truth.im);
  return right;
}
/// Check that every element is the nearest number.
template <Scalar T> void judge_rounding(Verdict& verdict, const HostMatrix<T>& x, const WideMatrix& truth) {
  for (std::size_t j = 0; j < x.extent(1); ++j) {
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      verdict.holds("every element is the nearest number",
                    is_nearest<T>(x(i, j), truth.at(static_cast<Index>(i), static_cast<Index>(j))),
                    "element (" + std::to_string(i) + ", " + std::to_string(j) + ")");
    }
  }
}

/// Check found = x / y: correctly rounded for reals and for each part of complex numbers (the header promises two units
/// of the last place if nothing over- or underflows, the contract correct rounding over the whole range).
template <Scalar T>
void judge_quotient(Verdict& verdict, const std::string& property, const T& found, const T& x, const T& y) {
  if constexpr (!is_complex<T>) {
    verdict.holds(property, same(found, T(x / y)), told<T>(0, 0, found, T(x / y)));
  } else {
    using R = Real<T>;
    if (!is_finite(x) || !is_finite(y) || (y.real() == 0 && y.imag() == 0)) {
      const bool zero = x.real() == 0 && x.imag() == 0;
      const bool by_infinity = is_finite(x) && !is_finite(y) && !std::isnan(y.real()) && !std::isnan(y.imag());
      if (!zero && !by_infinity) verdict.holds(property + " of no number", !is_finite(found));
      return;
    }
    Wide::bits = 9000;
    const WideComplex a(test::widen(x));
    const WideComplex b(test::widen(y));
    const Wide square = b.square();
    const WideComplex c = a * b.conjugate();
    const T expected((c.re / square).template rounded<R>(), (c.im / square).template rounded<R>());
    verdict.holds(property + ", correctly rounded", same(found, expected), told<T>(0, 0, found, expected));
    const auto units = [](R f, R e) {
      if (same_real(f, e)) return 0.0;
      const double gap = static_cast<double>(std::nextafter(std::abs(e), std::numeric_limits<R>::infinity())) -
                         std::abs(static_cast<double>(e));
      return std::abs(static_cast<double>(f) - static_cast<double>(e)) / gap;
    };
    const auto tame = [](R e) { return e == 0 || std::abs(e) > std::numeric_limits<R>::min() * R(1e6); };
    const double size = std::max({std::abs(static_cast<double>(x.real())), std::abs(static_cast<double>(x.imag())),
                                  std::abs(static_cast<double>(y.real())), std::abs(static_cast<double>(y.imag()))});
    if (size < 1e10 && tame(expected.real()) && tame(expected.imag()) && is_finite(expected)) {
      verdict.within(property + ", two units",
                     std::max(units(found.real(), expected.real()), units(found.imag(), expected.imag())), 2.0,
                     told<T>(0, 0, found, expected));
    }
  }
}

}  // namespace heddle::hunt
