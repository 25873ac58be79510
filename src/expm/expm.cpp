#include "core/instantiate.hpp"
#include "expm/complex_arithmetic.hpp"
#include "expm/norms.hpp"
#include "expm/results.hpp"
#include "expm/scheme.hpp"
#include <heddle/expm/expm.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace heddle {

std::string_view to_string(ExpmMethod method) {
  switch (method) {
    case ExpmMethod::automatic:
      return "automatic";
    case ExpmMethod::taylor:
      return "taylor";
  }
  throw Error(ErrorKind::argument, "not a value of heddle::ExpmMethod");
}

ExpmMethod expm_method_from(std::string_view text) {
  for (const ExpmMethod method : {ExpmMethod::automatic, ExpmMethod::taylor}) {
    if (text == to_string(method)) {
      return method;
    }
  }
  throw Error(ErrorKind::argument, message_of("expm method '", text, "': expected automatic or taylor"));
}

namespace {

using impl::Part;
using impl::Parts;

// Terms of the series 1 / k!.
template <RealScalar T> std::vector<T> taylor_coefficients(int degree) {
  std::vector<T> coefficients = {T{1}};
  double value = 1.0;
  for (int k = 1; k <= degree; ++k) {
    value /= k;
    coefficients.push_back(static_cast<T>(value));
  }
  return coefficients;
}

// A, A^2 ..., as far as they were asked for.
template <RealScalar T> class Powers {
 public:
  Powers(impl::ComplexArithmetic<T>& arithmetic, const Parts<T>& A, const Parts<T>& columns_of_A)
      : arithmetic_(&arithmetic), columns_of_A_(columns_of_A), powers_{A} {}

  [[nodiscard]] int count() const { return static_cast<int>(powers_.size()); }
  [[nodiscard]] std::span<const Parts<T>> all() const { return powers_; }
  const Parts<T>& next() {
    if (powers_.size() == 1) {
      factor_ = arithmetic_->right_factor(powers_.front(), columns_of_A_);
    }
    powers_.push_back(arithmetic_->multiply(T{1}, powers_.back(), factor_));
    return powers_.back();
  }
  // What only next() needs goes back to the workspace.
  void finish() { factor_ = {}; }

 private:
  impl::ComplexArithmetic<T>* arithmetic_;
  Parts<T> columns_of_A_;
  impl::RightFactor<T> factor_;
  std::vector<Parts<T>> powers_;
};

// Scaling by 2^-before, so that powers stay in range, then a scheme.
struct Steps {
  int before = 0;
  impl::Scheme scheme;

  [[nodiscard]] int squarings() const { return before + scheme.squarings; }
};

// Paterson and Stockmeyer's evaluation of the Taylor polynomial of A / 2^squarings, from the powers of A: a power of
// two scales coefficients without rounding.
template <RealScalar T>
Parts<T> polynomial(impl::ComplexArithmetic<T>& arithmetic, const impl::Scheme& scheme,
                    std::span<const Parts<T>> powers) {
  const std::vector<T> coefficients = taylor_coefficients<T>(scheme.degree);
  const auto width = static_cast<std::size_t>(scheme.powers);
  const auto blocks = static_cast<std::size_t>(scheme.blocks);
  const auto scaling = [&](std::size_t power) { return std::ldexp(1.0, -scheme.squarings * static_cast<int>(power)); };
  const auto block_of = [&](std::size_t block, std::size_t terms) {
    std::vector<T> scaled;
    for (std::size_t k = 1; k <= terms; ++k) {
      scaled.push_back(static_cast<T>(static_cast<double>(coefficients[block * width + k]) * scaling(k)));
    }
    return arithmetic.combine(coefficients[block * width], scaled, powers.first(terms));
  };
  impl::RightFactor<T> factor;
  if (blocks > 1) {
    factor = arithmetic.right_factor(powers.back());
  }
  // The highest block has one term more: the leading coefficient.
  Parts<T> result = block_of(blocks - 1, width);
  for (std::size_t block = blocks - 1; block-- > 0;) {
    result = arithmetic.multiply_add(static_cast<T>(scaling(width)), result, factor, block_of(block, width - 1));
  }
  return result;
}

}  // namespace

template <RealScalar T> struct ExpmPlan<T>::State {
  State(const Communicator& communicator, const ExpmOptions& wanted) : comm(communicator), options(wanted) {}

  void prepare(const Placement& a);
  [[nodiscard]] Part<T> take_in(const std::optional<DistributedMatrix<T>>& part);
  [[nodiscard]] Part<T> columns_in(const std::optional<DistributedMatrix<T>>& part) const;
  [[nodiscard]] Part<T> in_place(const std::optional<DistributedMatrix<T>>& part) const;
  // The sum is in `target`, whose parts may be empty; columns_of_A as in execute().
  [[nodiscard]] Parts<T> term_by_term(const Parts<T>& A, const Parts<T>& columns_of_A, const Parts<T>& target);
  // Finds the steps that A asks for, and takes them. `norm`: a bound of ||A||_1.
  [[nodiscard]] Parts<T> scaled_and_squared(const Parts<T>& A, const Parts<T>& columns_of_A, double norm, Steps& steps,
                                            ExpmReport& report);
  // From the powers that the scheme wants.
  [[nodiscard]] Parts<T> finish(Powers<T>& powers, const Steps& steps);
  // A / 2^exponent.
  [[nodiscard]] Parts<T> scaled(Parts<T> A, int exponent);
  // A bound of ||A||_1 that does not depend on the number of ranks.
  [[nodiscard]] double bound_of(const Parts<T>& A);
  ExpmReport execute(const SplitMatrix<T>& A, const SplitMatrix<T>& columns_of_A, const SplitMatrix<T>& E);
  [[nodiscard]] double residual_of(const Parts<T>& A, const Steps& steps, const Parts<T>& E);
  [[nodiscard]] impl::ProductCosts costs_of(const Parts<T>& A) const;
  [[nodiscard]] double tolerance() const {
    return options.tolerance > 0.0 ? options.tolerance : static_cast<double>(unit_roundoff<T>);
  }

  Communicator comm;
  ExpmOptions options;
  Placement placement;
  std::optional<impl::ComplexArithmetic<T>> arithmetic;
  std::optional<impl::ColumnNorms<T>> norms;
  std::optional<impl::Delivery<T>> delivery;
  int expected_products = 0;
};

template <RealScalar T> void ExpmPlan<T>::State::prepare(const Placement& a) {
  require(a.rows() == a.columns(), "expm: A is ", a.rows(), " x ", a.columns(), "; expected square");
  if (!arithmetic || placement.rows() != a.rows()) {
    arithmetic.emplace(comm, a.rows(), options.complex_products, options.gemm);
    placement = arithmetic->placement();
    norms.emplace(comm, placement);
    delivery.emplace(comm);
  }
  arithmetic->reset_counts();
}

template <RealScalar T> Part<T> ExpmPlan<T>::State::take_in(const std::optional<DistributedMatrix<T>>& part) {
  if (!part) {
    return {};
  }
  if (part->placement() == placement) {
    return std::make_shared<const DistributedMatrix<T>>(*part);
  }
  Part<T> mine = arithmetic->take();
  redistribute(*part, *mine);
  return mine;
}

template <RealScalar T> Part<T> ExpmPlan<T>::State::columns_in(const std::optional<DistributedMatrix<T>>& part) const {
  if (!part) {
    return {};
  }
  require(part->placement() == arithmetic->columns_placement(), "expm: the column bands of A are ",
          part->placement().describe(), "; expected ", arithmetic->columns_placement().describe());
  return std::make_shared<const DistributedMatrix<T>>(*part);
}

template <RealScalar T> Part<T> ExpmPlan<T>::State::in_place(const std::optional<DistributedMatrix<T>>& part) const {
  return part && part->placement() == placement ? std::make_shared<const DistributedMatrix<T>>(*part) : nullptr;
}

template <RealScalar T> impl::ProductCosts ExpmPlan<T>::State::costs_of(const Parts<T>& A) const {
  if (!A.imaginary) {
    return {1, 1, 1};
  }
  const int complex = options.complex_products;
  // Purely imaginary: powers alternate between real and imaginary, polynomials are complex.
  return A.real ? impl::ProductCosts{complex, complex, complex} : impl::ProductCosts{1, 2, complex};
}

template <RealScalar T> double ExpmPlan<T>::State::bound_of(const Parts<T>& A) {
  double bound = 0.0;
  for (const Part<T>* part : {&A.real, &A.imaginary}) {
    if (*part) {
      bound += norms->reproducible_bound(**part, norms->measure(**part).largest);
    }
  }
  return bound;
}

template <RealScalar T> Parts<T> ExpmPlan<T>::State::scaled(Parts<T> A, int exponent) {
  // A power of two scales without rounding, in two steps where one would underflow.
  while (exponent > 0) {
    const int step = std::min(exponent, 100);
    const std::array<T, 1> factor = {static_cast<T>(std::ldexp(1.0, -step))};
    A = arithmetic->combine(T{0}, factor, std::span<const Parts<T>>(&A, 1));
    exponent -= step;
  }
  return A;
}

template <RealScalar T>
Parts<T> ExpmPlan<T>::State::term_by_term(const Parts<T>& A, const Parts<T>& columns_of_A, const Parts<T>& target) {
  impl::SeriesSum<T> real(*arithmetic, target.real, T{1});
  impl::SeriesSum<T> imaginary(*arithmetic, target.imaginary, T{0});
  real.add(A.real);
  imaginary.add(A.imaginary);
  if (options.degree > 1) {
    // a_k = (1/k) A a_{k-1} = (1/k) a_{k-1} A: the factor that all terms share is the one that travels.
    const impl::RightFactor<T> factor = arithmetic->right_factor(A, columns_of_A);
    Parts<T> term = A;
    for (int k = 2; k <= options.degree; ++k) {
      term = arithmetic->multiply(T{1} / static_cast<T>(k), term, factor);
      real.add(term.real);
      imaginary.add(term.imaginary);
    }
  }
  return {real.finish(), imaginary.finish()};
}

template <RealScalar T>
Parts<T> ExpmPlan<T>::State::scaled_and_squared(const Parts<T>& A, const Parts<T>& columns_of_A, double norm,
                                                Steps& steps, ExpmReport& report) {
  const impl::ProductCosts costs = costs_of(A);
  steps.before = impl::scaling_before_powers(norm, std::numeric_limits<T>::max_exponent);
  impl::PowerNorms power_norms(std::ldexp(norm, -steps.before));
  const auto choose = [&] {
    steps.scheme = impl::choose_scheme(power_norms, tolerance(), costs);
    expected_products = impl::products_of(steps.scheme, costs) + steps.before * costs.square;
  };
  choose();
  Powers<T> powers(*arithmetic, scaled(A, steps.before), steps.before == 0 ? columns_of_A : Parts<T>{});
  // The scheme of the moment uses each power that is made, and so does each one that is chosen later.
  while (powers.count() < steps.scheme.powers) {
    const Parts<T>& power = powers.next();
    const bool nothing_to_save =
        powers.count() == steps.scheme.powers && steps.scheme.blocks == 1 && steps.scheme.squarings == 0;
    if (!nothing_to_save) {
      power_norms.add(bound_of(power));
      choose();
    }
  }
  report.degree = steps.scheme.degree;
  report.squarings = steps.squarings();
  report.alpha = std::ldexp(power_norms.alpha(steps.scheme.degree), steps.before);
  return finish(powers, steps);
}

template <RealScalar T> Parts<T> ExpmPlan<T>::State::finish(Powers<T>& powers, const Steps& steps) {
  while (powers.count() < steps.scheme.powers) {
    powers.next();
  }
  powers.finish();
  Parts<T> result = polynomial(*arithmetic, steps.scheme, powers.all());
  for (int k = 0; k < steps.squarings(); ++k) {
    result = arithmetic->multiply(T{1}, result, arithmetic->right_factor(result));
  }
  return result;
}

template <RealScalar T>
double ExpmPlan<T>::State::residual_of(const Parts<T>& A, const Steps& steps, const Parts<T>& E) {
  // With A's own degree and scaling, not those that A/2 would get: the same polynomial of the same matrix, squared as
  // often, would agree with itself whatever its error.
  const std::array<T, 1> one_half = {static_cast<T>(0.5)};
  const Parts<T> half = arithmetic->combine(T{0}, one_half, std::span<const Parts<T>>(&A, 1));
  Parts<T> root;
  if (options.method == ExpmMethod::taylor) {
    root = term_by_term(half, {}, {});
  } else {
    Powers<T> powers(*arithmetic, scaled(half, steps.before), {});
    root = finish(powers, steps);
  }
  const Parts<T> square = arithmetic->multiply(T{1}, root, arithmetic->right_factor(root));
  double difference = 0.0;
  double whole = 0.0;
  const auto add_norms = [&](const Part<T>& found, const Part<T>& expected) {
    if (expected) {
      add(T{-1}, *expected, *found);
      whole += static_cast<double>(heddle::norm(*expected, Norm::one));
      difference += static_cast<double>(heddle::norm(*found, Norm::one));
    }
  };
  add_norms(square.real, E.real);
  add_norms(square.imaginary, E.imaginary);
  return whole > 0.0 ? difference / whole : difference;
}

template <RealScalar T>
ExpmReport ExpmPlan<T>::State::execute(const SplitMatrix<T>& A, const SplitMatrix<T>& columns_of_A,
                                       const SplitMatrix<T>& E) {
  const Kokkos::Profiling::ScopedRegion region("heddle::expm");
  const Kokkos::Timer timer;
  prepare(A.real ? A.real->placement() : A.imaginary->placement());
  const auto require_shape = [&](const char* name, const std::optional<DistributedMatrix<T>>& part) {
    require(!part || (part->rows() == placement.rows() && part->columns() == placement.columns()), "expm: ", name,
            " is ", part ? part->rows() : 0, " x ", part ? part->columns() : 0, "; expected ", placement.rows(), " x ",
            placement.columns());
  };
  require_shape("the imaginary part of A", A.imaginary);
  require_shape("E", E.real);
  require_shape("the imaginary part of E", E.imaginary);

  ExpmReport report;
  report.method = options.method;
  report.tile = arithmetic->tile();
  const Parts<T> mine{take_in(A.real), take_in(A.imaginary)};
  const Parts<T> columns{columns_in(columns_of_A.real), columns_in(columns_of_A.imaginary)};
  double bound = 0.0;
  for (const Part<T>* part : {&mine.real, &mine.imaginary}) {
    if (*part) {
      const auto seen = norms->measure(**part);
      report.norm1 += seen.one;
      // A series of given degree asks for nothing but a finite A.
      bound += options.method == ExpmMethod::taylor ? seen.one : norms->reproducible_bound(**part, seen.largest);
    }
  }
  if (!std::isfinite(bound)) {
    throw Error(ErrorKind::computation, "expm: A holds NaN or Inf, or its 1-norm overflows");
  }
  if (options.progress) {
    arithmetic->after_product = [this] {
      options.progress(std::min(arithmetic->products(), expected_products), expected_products);
    };
  }
  Parts<T> result;
  Steps steps;
  if (options.method == ExpmMethod::taylor) {
    expected_products = (options.degree - 1) * costs_of(mine).power;
    report.degree = options.degree;
    result = term_by_term(mine, columns, {in_place(E.real), in_place(E.imaginary)});
  } else {
    result = scaled_and_squared(mine, columns, bound, steps, report);
  }
  arithmetic->after_product = {};
  report.products = arithmetic->products();
  report.gemm_seconds = arithmetic->gemm_seconds();
  const auto n = static_cast<double>(placement.rows());
  report.flops = 2.0 * n * n * n * report.products;

  delivery->begin();
  delivery->hand_out(result.real, *E.real);
  if (E.imaginary) {
    delivery->hand_out(result.imaginary, *E.imaginary);
  }
  if (!delivery->finite()) {
    throw Error(ErrorKind::computation, message_of("expm: the exponential overflows; ||A||_1 is ", report.norm1));
  }
  comm.space().fence("heddle::expm::end");
  report.seconds = comm.all_reduce(timer.seconds(), Reduction::maximum);
  if (options.residual) {
    report.residual = residual_of(mine, steps, result);
  }
  return report;
}

template <RealScalar T>
ExpmPlan<T>::ExpmPlan(const Communicator& comm, const ExpmOptions& options)
    : state_(std::make_unique<State>(comm, options)) {
  require(options.degree >= 1, "expm: degree ", options.degree, "; expected at least 1");
  require(options.tolerance >= 0.0 && options.tolerance < 1.0, "expm: tolerance ", options.tolerance,
          "; expected at least 0 (0: unit round-off) and less than 1");
  require(options.complex_products == 3 || options.complex_products == 4, "expm: complex_products ",
          options.complex_products, "; expected 3 or 4");
}

template <RealScalar T> ExpmPlan<T>::~ExpmPlan() = default;
template <RealScalar T> ExpmPlan<T>::ExpmPlan(ExpmPlan&&) noexcept = default;
template <RealScalar T> ExpmPlan<T>& ExpmPlan<T>::operator=(ExpmPlan&&) noexcept = default;

template <RealScalar T> ExpmReport ExpmPlan<T>::execute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& E) {
  return state_->execute({A, std::nullopt}, {}, {E, std::nullopt});
}

template <RealScalar T> ExpmReport ExpmPlan<T>::execute(const SplitMatrix<T>& A, const SplitMatrix<T>& E) {
  return execute(A, {}, E);
}

template <RealScalar T>
ExpmReport ExpmPlan<T>::execute(const SplitMatrix<T>& A, const SplitMatrix<T>& columns_of_A, const SplitMatrix<T>& E) {
  require(A.real || A.imaginary, "expm: A has neither a real nor an imaginary part");
  require(E.real && E.imaginary, "expm: E needs both a real and an imaginary part");
  return state_->execute(A, columns_of_A, E);
}

template <Scalar T>
ExpmReport expm(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& E,
                const ExpmOptions& options) {
  require(E.rows() == A.rows() && E.columns() == A.columns(), "expm: E is ", E.rows(), " x ", E.columns(),
          "; expected ", A.rows(), " x ", A.columns());
  ExpmPlan<Real<T>> plan(comm, options);
  if constexpr (is_complex<T>) {
    const SplitMatrix<Real<T>> parts = split(A);
    const auto bands = Placement::row_bands(A.rows(), A.columns(), comm.size());
    const SplitMatrix<Real<T>> result{DistributedMatrix<Real<T>>(comm, bands, "expm_real"),
                                      DistributedMatrix<Real<T>>(comm, bands, "expm_imaginary")};
    const ExpmReport report = plan.execute(parts, result);
    join(result, E);
    return report;
  } else {
    return plan.execute(A, E);
  }
}

template class ExpmPlan<float>;
template class ExpmPlan<double>;
#define HEDDLE_INSTANTIATE(T)                                                                                \
  template ExpmReport expm<T>(const Communicator&, const DistributedMatrix<T>&, const DistributedMatrix<T>&, \
                              const ExpmOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
