// phi functions of a matrix by scaling and doubling of a Taylor polynomial.
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "expm/arithmetic/product_options.hpp"
#include "expm/dense/norm_estimate.hpp"
#include "expm/dense/norms.hpp"
#include "expm/dense/polynomials.hpp"
#include "expm/dense/results.hpp"
#include "expm/dense/structure.hpp"
#include "libm/functions.hpp"
#include <heddle/expm/phi.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace heddle {
namespace impl {
namespace {

double factorial(int k) {
  return k <= 1 ? 1.0 : k * factorial(k - 1);
}

// Taylor coefficients of phi_p, up to a degree.
std::vector<double> phi_coefficients(int p, int degree) {
  std::vector<double> coefficients = {1.0 / factorial(p)};
  for (int k = 1; k <= degree; ++k) coefficients.push_back(coefficients.back() / (p + k));
  return coefficients;
}

// PhiReport::error of a Taylor polynomial of phi_p and of the other phis computed from it, if ||X^k|| <= theta^k for k
// > degree. |phi_k(x)| is at least exp(-theta) / k!.
double phi_error(int p, int degree, double theta) {
  // Beyond 2, terms of the polynomial are so much larger than their sum that rounding matters.
  if (!(theta <= 2.0)) return std::numeric_limits<double>::infinity();
  double rest = 0.0;
  double term = 1.0 / factorial(p);
  for (int k = 1; k <= degree + 40; ++k) {
    term *= theta / (p + k);
    if (k > degree) rest += term;
  }
  double largest = 0.0;
  for (int k = 0; k <= p; ++k) largest = std::max(largest, factorial(k) * libm::pow(theta, p - k) * rest);
  return libm::exp(theta) * largest;
}

// The evaluation with the fewest products that is within the tolerance.
Scheme choose_phi_scheme(const PowerNorms& norms, int p, double tolerance) {
  Scheme best;
  int least = std::numeric_limits<int>::max();
  for (int powers = 1; powers <= Scheme::most_powers; ++powers) {
    for (int blocks = 1; blocks <= powers; ++blocks) {
      Scheme scheme{powers * blocks, powers, blocks, nullptr, 0};
      const double alpha = norms.alpha(scheme.degree);
      const auto products = [&] {
        return std::max(powers, norms.known()) - 1 + blocks - 1 + scheme.squarings * (p + 1);
      };
      while (!(phi_error(p, scheme.degree, std::ldexp(alpha, -scheme.squarings)) <= tolerance) && products() <= least) {
        ++scheme.squarings;
      }
      if (products() < least || (products() == least && scheme.squarings < best.squarings)) {
        best = scheme;
        least = products();
      }
    }
  }
  return best;
}

// phi_0 ... phi_p of matrices of the same size, in row bands.
template <RealScalar T> class Phis {
 public:
  Phis(const Communicator& comm, ComplexArithmetic<T>& arithmetic, const PhiOptions& options)
      : comm_(comm), arithmetic_(&arithmetic), options_(options), norms_(comm, arithmetic.placement()) {}

  [[nodiscard]] std::vector<Parts<T>> of(Parts<T> A, int p, PhiReport& report) {
    const double norm = measured(A, report);
    find_structure(A, report);
    arithmetic_->after_product = {};
    if (options_.progress) {
      arithmetic_->after_product = [this] {
        options_.progress(std::min(arithmetic_->products(), expected_), expected_);
      };
    }
    std::vector<Parts<T>> phis = of_scaled(A, norm, p, report);
    for (int k = 0; k < report.squarings; ++k) phis = doubled(phis);
    arithmetic_->after_product = {};
    return phis;
  }

 private:
  [[nodiscard]] double measured(Parts<T>& A, PhiReport& report) {
    double bound = 0.0;
    const Parts<T> given = A;
    for (SharedMatrix<T>* part : {&A.real, &A.imaginary}) {
      if (!*part) continue;
      const auto seen = norms_.measure(**part);
      report.norm1 += seen.one;
      bound += norms_.reproducible_bound(**part, seen.largest);
      if (seen.largest == 0.0) *part = {};
    }
    if (!std::isfinite(bound)) {
      throw Error(ErrorKind::computation, "phi: A holds NaN or Inf, or its 1-norm overflows");
    }
    if (!A.real && !A.imaginary) A.real = given.real;
    return bound;
  }

  void find_structure(const Parts<T>& A, PhiReport& report) {
    symmetry_ = Symmetry::none;
    report.structure = options_.structure;
    if (options_.structure == ExpmStructure::automatic) {
      symmetry_ = structure_of(comm_, A, arithmetic_->column_bands(A)).symmetry;
      report.structure = symmetry_ == Symmetry::hermitian        ? ExpmStructure::hermitian
                         : symmetry_ == Symmetry::skew_hermitian ? ExpmStructure::skew_hermitian
                                                                 : ExpmStructure::general;
    } else if (options_.structure == ExpmStructure::hermitian) {
      symmetry_ = Symmetry::hermitian;
    }
    if (symmetry_ == Symmetry::skew_hermitian) symmetry_ = Symmetry::none;
    arithmetic_->trust_norms(symmetry_ == Symmetry::hermitian ? Trust::always : arithmetic_->trust_in(A));
  }

  // phi functions of A / 2^squarings.
  [[nodiscard]] std::vector<Parts<T>> of_scaled(const Parts<T>& A, double norm, int p, PhiReport& report) {
    const double tolerance = options_.tolerance > 0.0 ? options_.tolerance : static_cast<double>(unit_roundoff<T>);
    const int before = scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
    PowerNorms power_norms(std::ldexp(norm, -before));
    Scheme scheme;
    int made = 1;
    const int each = A.imaginary ? options_.complex_products : 1;
    const auto choose = [&] {
      scheme = choose_phi_scheme(power_norms, p, tolerance);
      expected_ =
          each * (std::max(scheme.powers, made) - 1 + scheme.blocks - 1 + p + (scheme.squarings + before) * (p + 1));
    };
    choose();
    Powers<T> powers(*arithmetic_, arithmetic_->times_power_of_two(A, -before), {}, symmetry_);
    while (powers.count() < scheme.powers) {
      const Parts<T> power = powers.next();
      made = powers.count();
      power_norms.add(norms_.bound_of(power));
      choose();
      if (made >= scheme.powers && scheme.squarings > 0) {
        learn_estimates(comm_, power, made, power_norms);
        choose();
      }
    }
    powers.finish(scheme.powers);
    report.degree = scheme.degree;
    report.squarings = scheme.squarings + before;
    const double alpha = power_norms.alpha(scheme.degree);
    report.alpha = std::ldexp(alpha, before);
    report.error = phi_error(p, scheme.degree, std::ldexp(alpha, -scheme.squarings));
    std::vector<Parts<T>> phis(static_cast<std::size_t>(p) + 1);
    phis.back() = series(*arithmetic_, scheme, phi_coefficients(p, scheme.degree), powers);
    const Parts<T> X = powers.all().front();
    const RightFactor<T> factor = p > 0 ? arithmetic_->right_factor(X, {}, symmetry_) : RightFactor<T>{};
    const T scaling = static_cast<T>(std::ldexp(1.0, -scheme.squarings));
    for (int k = p; k > 0; --k) {
      const auto at = static_cast<std::size_t>(k);
      phis[at - 1] = arithmetic_->multiply_add(scaling, phis[at], factor,
                                               arithmetic_->combine(1.0 / factorial(k - 1), {}, {}), symmetry_);
    }
    return phis;
  }

  // phi functions of 2 X, from those of X.
  [[nodiscard]] std::vector<Parts<T>> doubled(const std::vector<Parts<T>>& phis) {
    const RightFactor<T> exponential = arithmetic_->right_factor(phis.front(), {}, symmetry_);
    std::vector<Parts<T>> result;
    for (std::size_t k = 0; k < phis.size(); ++k) {
      const double scaling = std::ldexp(1.0, -static_cast<int>(k));
      std::vector<T> weights;
      for (std::size_t j = 1; j <= k; ++j) {
        weights.push_back(static_cast<T>(scaling / factorial(static_cast<int>(k - j))));
      }
      const std::span<const Parts<T>> terms(phis);
      result.push_back(arithmetic_->multiply_add(static_cast<T>(scaling), phis[k], exponential,
                                                 arithmetic_->combine(0.0, weights, terms.subspan(k > 0 ? 1 : 0, k)),
                                                 symmetry_));
    }
    return result;
  }

  Communicator comm_;
  ComplexArithmetic<T>* arithmetic_;
  PhiOptions options_;
  ColumnNorms<T> norms_;
  Symmetry symmetry_ = Symmetry::none;
  int expected_ = 0;
};

void require_phi_options(const Communicator& comm, Index count, const PhiOptions& options) {
  std::vector<Argument> arguments;
  if (comm.size() > 1) {
    arguments = {argument("the number of phis", count), argument("tolerance", options.tolerance),
                 argument("structure", static_cast<int>(options.structure))};
    add_product_options(arguments, options.complex_products, options.gemm);
  }
  require_alike(comm, "phi", arguments, [&] {
    require(count >= 1 && count <= largest_phi + 1, "phi: ", count, " matrices for phi_0, phi_1 ...; expected 1 to ",
            largest_phi + 1);
    require_product_options("phi", options.tolerance, options.complex_products, options.gemm);
    static_cast<void>(to_string(options.structure));
  });
}

// Whether two matrices, by columns, have elements in common.
template <Scalar T> bool overlap(const MatrixView<T>& X, const MatrixView<T>& Y) {
  const std::less<> before;
  for (std::size_t j = 0, k = 0; X.size() > 0 && Y.size() > 0 && j < X.extent(1) && k < Y.extent(1);) {
    const T* const x = X.data() + j * X.stride(1);
    const T* const y = Y.data() + k * Y.stride(1);
    if (before(x, y + Y.extent(0)) && before(y, x + X.extent(0))) return true;
    before(x, y) ? ++j : ++k;
  }
  return false;
}

// Require that no two results have elements in common, on any rank.
template <Scalar T> void require_apart(const Communicator& comm, std::span<const DistributedMatrix<T>> phis) {
  constexpr Index numbers = largest_phi + 1;
  Index pair = numbers * numbers;
  for (std::size_t k = 0; k < phis.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      if (overlap<T>(phis[j].local(), phis[k].local())) {
        pair = std::min(pair, static_cast<Index>(j) * numbers + static_cast<Index>(k));
      }
    }
  }
  pair = comm.all_reduce(pair, Reduction::minimum);
  require(pair == numbers * numbers, "phi: the matrices for phi_", pair / numbers, " and phi_", pair % numbers,
          " share elements; expected storage of its own for each");
}

}  // namespace
}  // namespace impl

template <Scalar T>
PhiReport phi(const Communicator& comm, const DistributedMatrix<T>& A, std::span<const DistributedMatrix<T>> phis,
              const PhiOptions& wanted) {
  using R = Real<T>;
  impl::require_phi_options(comm, static_cast<Index>(phis.size()), wanted);
  return comm.together([&] {
    const Kokkos::Profiling::ScopedRegion region("heddle::phi");
    const Kokkos::Timer timer;
    require(A.rows() == A.columns(), "phi: A is ", A.rows(), " x ", A.columns(), "; expected square");
    impl::require_same_ranks("phi", "A", A, comm);
    for (const DistributedMatrix<T>& phi : phis) {
      impl::require_same_ranks("phi", "a result", phi, comm);
      require(phi.rows() == A.rows() && phi.columns() == A.columns(), "phi: a result is ", phi.rows(), " x ",
              phi.columns(), "; expected ", A.rows(), " x ", A.columns());
    }
    impl::require_apart(comm, phis);
    PhiOptions options = wanted;
    options.gemm.layers = 1;
    impl::ComplexArithmetic<R> arithmetic(comm, A.rows(), options.complex_products, options.gemm);
    PhiReport report;
    impl::Phis<R> functions(comm, arithmetic, options);
    impl::Delivery<R> delivery(comm);
    const auto in_bands = [&](const DistributedMatrix<R>& part) -> impl::SharedMatrix<R> {
      if (part.placement() == arithmetic.placement()) return part;
      impl::WorkMatrix<R> mine = arithmetic.take();
      redistribute(part, mine.write());
      return mine;
    };
    std::vector<impl::Parts<R>> found;
    if constexpr (is_complex<T>) {
      const SplitMatrix<R> parts = split(A);
      found =
          functions.of({in_bands(*parts.real), in_bands(*parts.imaginary)}, static_cast<int>(phis.size()) - 1, report);
    } else {
      found = functions.of({in_bands(A), {}}, static_cast<int>(phis.size()) - 1, report);
    }
    delivery.begin();
    for (std::size_t k = 0; k < phis.size(); ++k) {
      if constexpr (is_complex<T>) {
        impl::WorkParts<R> both{arithmetic.take(), arithmetic.take()};
        delivery.hand_out(found[k].real, both.real.write());
        delivery.hand_out(found[k].imaginary, both.imaginary.write());
        join({*both.real.read(), *both.imaginary.read()}, phis[k]);
      } else {
        delivery.hand_out(found[k].real, phis[k]);
      }
    }
    if (!delivery.finite()) {
      throw Error(ErrorKind::computation, message_of("phi: a function overflows; ||A||_1 is ", report.norm1));
    }
    report.tile = arithmetic.tile();
    report.products = arithmetic.products();
    report.probes = arithmetic.probes();
    report.gemm_seconds = arithmetic.gemm_seconds();
    report.flops = arithmetic.flops();
    comm.space().fence("heddle::phi::end");
    report.seconds = comm.all_reduce(timer.seconds(), Reduction::maximum);
    return report;
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template PhiReport phi<T>(const Communicator&, const DistributedMatrix<T>&, std::span<const DistributedMatrix<T>>, \
                            const PhiOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
