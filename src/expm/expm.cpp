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

// Paterson and Stockmeyer's evaluation of the Taylor polynomial.
template <RealScalar T>
Parts<T> polynomial(impl::ComplexArithmetic<T>& arithmetic, const impl::Scheme& scheme, const Parts<T>& A,
                    const Parts<T>& columns_of_A) {
  const std::vector<T> coefficients = taylor_coefficients<T>(scheme.degree);
  std::vector<Parts<T>> powers = {A};
  impl::RightFactor<T> factor;
  if (scheme.powers > 1) {
    factor = arithmetic.right_factor(A, columns_of_A);
  }
  while (static_cast<int>(powers.size()) < scheme.powers) {
    powers.push_back(arithmetic.multiply(T{1}, powers.back(), factor));
  }
  if (scheme.blocks > 1) {
    factor = arithmetic.right_factor(powers.back());
  }
  const std::span<const T> all = coefficients;
  const std::span<const Parts<T>> terms = powers;
  const auto width = static_cast<std::size_t>(scheme.powers);
  const auto blocks = static_cast<std::size_t>(scheme.blocks);
  // The highest block has one term more: the leading coefficient.
  Parts<T> result = arithmetic.combine(all[(blocks - 1) * width], all.subspan((blocks - 1) * width + 1, width), terms);
  for (std::size_t block = blocks - 1; block-- > 0;) {
    result = arithmetic.multiply_add(
        result, factor,
        arithmetic.combine(all[block * width], all.subspan(block * width + 1, width - 1), terms.first(width - 1)));
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
  // Where the method allows, the result is in `target`, whose parts may be empty; columns_of_A as in execute().
  [[nodiscard]] Parts<T> exponential(const Parts<T>& A, const Parts<T>& columns_of_A, double norm,
                                     const Parts<T>& target, ExpmReport& report);
  [[nodiscard]] Parts<T> term_by_term(const Parts<T>& A, const Parts<T>& columns_of_A, const Parts<T>& target,
                                      ExpmReport& report);
  [[nodiscard]] int expected_products(const Parts<T>& A, double norm) const;
  ExpmReport execute(const SplitMatrix<T>& A, const SplitMatrix<T>& columns_of_A, const SplitMatrix<T>& E);
  [[nodiscard]] double residual_of(const Parts<T>& A, double norm, const Parts<T>& E);
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

template <RealScalar T> int ExpmPlan<T>::State::expected_products(const Parts<T>& A, double norm) const {
  const impl::ProductCosts costs = costs_of(A);
  if (options.method == ExpmMethod::taylor) {
    return (options.degree - 1) * costs.power;
  }
  return impl::products_of(impl::choose_scheme(norm, tolerance(), costs), costs);
}

template <RealScalar T>
Parts<T> ExpmPlan<T>::State::term_by_term(const Parts<T>& A, const Parts<T>& columns_of_A, const Parts<T>& target,
                                          ExpmReport& report) {
  report.degree = options.degree;
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
Parts<T> ExpmPlan<T>::State::exponential(const Parts<T>& A, const Parts<T>& columns_of_A, double norm,
                                         const Parts<T>& target, ExpmReport& report) {
  if (options.method == ExpmMethod::taylor) {
    return term_by_term(A, columns_of_A, target, report);
  }
  const impl::Scheme scheme = impl::choose_scheme(norm, tolerance(), costs_of(A));
  report.degree = scheme.degree;
  report.squarings = scheme.squarings;
  Parts<T> result;
  if (scheme.squarings == 0) {
    result = polynomial(*arithmetic, scheme, A, columns_of_A);
  } else {
    // A power of two scales without rounding, in two steps where one would underflow.
    Parts<T> scaled = A;
    for (int left = scheme.squarings; left > 0;) {
      const int step = std::min(left, 100);
      const std::array<T, 1> factor = {static_cast<T>(std::ldexp(1.0, -step))};
      scaled = arithmetic->combine(T{0}, factor, std::span<const Parts<T>>(&scaled, 1));
      left -= step;
    }
    result = polynomial(*arithmetic, scheme, scaled, Parts<T>{});
  }
  for (int k = 0; k < scheme.squarings; ++k) {
    result = arithmetic->multiply(T{1}, result, arithmetic->right_factor(result));
  }
  return result;
}

template <RealScalar T> double ExpmPlan<T>::State::residual_of(const Parts<T>& A, double norm, const Parts<T>& E) {
  // With A's own degree and scaling, not those that A/2 would get: the same polynomial of the same matrix, squared as
  // often, would agree with itself whatever its error.
  ExpmReport ignored;
  const std::array<T, 1> half = {static_cast<T>(0.5)};
  const Parts<T> root =
      exponential(arithmetic->combine(T{0}, half, std::span<const Parts<T>>(&A, 1)), {}, norm, {}, ignored);
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
  const int total = expected_products(mine, bound);
  if (options.progress) {
    arithmetic->after_product = [this, total] { options.progress(std::min(arithmetic->products(), total), total); };
  }
  Parts<T> result = exponential(mine, columns, bound, {in_place(E.real), in_place(E.imaginary)}, report);
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
    report.residual = residual_of(mine, bound, result);
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
