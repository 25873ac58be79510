// Plans for exp(time A) B: choice of the method, scaling, and limits of the error.
#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "dist/arguments.hpp"
#include "dist/copies.hpp"
#include "expm/action/methods.hpp"
#include "expm/dense/structure.hpp"
#include "expm/thin/thin_products.hpp"
#include "libm/functions.hpp"
#include <heddle/expm/action.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace heddle {
namespace {

constexpr impl::Names<ExpmActionMethod, 4> methods = {{
    {ExpmActionMethod::automatic, "automatic"},
    {ExpmActionMethod::taylor, "taylor"},
    {ExpmActionMethod::chebyshev, "chebyshev"},
    {ExpmActionMethod::krylov, "krylov"},
}};

// Sum in the order of rows, on any rank.
template <Scalar T> std::complex<double> trace(const Communicator& comm, const DistributedMatrix<T>& A) {
  std::complex<double> sum = 0.0;
  for (const std::complex<double>& element : impl::diagonal_of(comm, A, 0)) sum += element;
  return sum;
}

// Power of two to move from the time to A if one of them is so far from 1 that intermediate numbers would leave the
// range although time A is in it; else 0. Both halves of the power are factors in range.
template <Scalar T> int exponent_of(std::complex<double> time) {
  constexpr int near = 32;
  constexpr int most = std::is_same_v<Real<T>, float> ? 240 : 2000;
  const double size = std::max(std::abs(time.real()), std::abs(time.imag()));
  const int exponent = size > 0.0 ? std::ilogb(size) : 0;
  return std::abs(exponent) <= near ? 0 : std::clamp(exponent, -most, most);
}
template <Scalar T> Real<T> power_of_two(int exponent) {
  return static_cast<Real<T>>(std::ldexp(1.0, exponent));
}
ExpmActionOptions::Interval scaled_interval(const ExpmActionOptions::Interval& interval, int exponent) {
  return {std::ldexp(interval.least, exponent), std::ldexp(interval.largest, exponent)};
}
std::complex<double> scaled(const std::complex<double>& time, int exponent) {
  return {std::ldexp(time.real(), exponent), std::ldexp(time.imag(), exponent)};
}

}  // namespace

std::string_view to_string(ExpmActionMethod method) {
  return impl::name_of(methods, method, "value of heddle::ExpmActionMethod");
}

ExpmActionMethod expm_action_method_from(std::string_view text) {
  return impl::value_of(methods, text, "action method");
}

template <Scalar T> struct ExpmActionPlan<T>::State {
  State(const Communicator& communicator, const ExpmActionOptions& wanted)
      : comm(communicator), options(wanted), work(communicator.space()) {}

  void check(std::complex<double> time, Index rows, Index columns, const MatrixView<const T>& B,
             const MatrixView<T>& R) const;
  ExpmActionReport execute(impl::ActionProblem<T> problem, const MatrixView<const T>& B, const MatrixView<T>& R);
  void act(const impl::ActionProblem<T>& problem, const MatrixView<T>& R, ExpmActionReport& report);
  void act_in_company(const impl::ActionProblem<T>& problem, ExpmActionMethod method, const MatrixView<T>& R,
                      ExpmActionReport& report);
  bool act_by_krylov(const impl::ActionProblem<T>& problem, const MatrixView<T>& R, ExpmActionReport& report);

  Communicator comm;
  ExpmActionOptions options;
  impl::ActionWorkspace<T> work;
};

template <Scalar T>
void ExpmActionPlan<T>::State::check(std::complex<double> time, Index rows, Index columns, const MatrixView<const T>& B,
                                     const MatrixView<T>& R) const {
  require(rows == columns, "expm_action: A is ", rows, " x ", columns, "; expected square");
  require(static_cast<Index>(B.extent(0)) == rows, "expm_action: B has ", B.extent(0), " rows; expected ", rows);
  require(R.extent(0) == B.extent(0) && R.extent(1) == B.extent(1), "expm_action: R is ", R.extent(0), " x ",
          R.extent(1), "; expected ", B.extent(0), " x ", B.extent(1));
  require((B.size() == 0 || B.stride(0) == 1 || B.extent(0) == 1) &&
              (R.size() == 0 || R.stride(0) == 1 || R.extent(0) == 1),
          "expm_action: B and R must be column-major");
  require(std::isfinite(time.real()) && std::isfinite(time.imag()), "expm_action: time ", time.real(), " + ",
          time.imag(), " i; expected finite");
  require(is_complex<T> || time.imag() == 0.0, "expm_action: time has an imaginary part, ", time.imag(),
          ", and the vectors are real");
  require(options.method != ExpmActionMethod::chebyshev || options.structure != ExpmActionStructure::general,
          "expm_action: chebyshev takes a Hermitian or skew-Hermitian A, and structure is general");
}

// Limit of the products of a series; more would take too long.
constexpr double most_products = 1e7;

// Return false, with R unusable, if A has no structure and the subspace is too small or too sensitive.
template <Scalar T>
bool ExpmActionPlan<T>::State::act_by_krylov(const impl::ActionProblem<T>& problem, const MatrixView<T>& R,
                                             ExpmActionReport& report) {
  using impl::terms_over;
  report.method = ExpmActionMethod::krylov;
  impl::KrylovSteps<T> krylov(problem, options.dimension, static_cast<Index>(R.extent(1)), work);
  std::optional<impl::Spectrum> found;
  std::optional<ExpmActionOptions::Interval> interval;
  if (options.spectrum) {
    interval = scaled_interval(*options.spectrum, problem.exponent);
    krylov.know(*interval);
  } else if (!problem.general() && problem.growth() != 0.0) {
    constexpr Index first_steps = 8;
    krylov.know(spectrum_of(problem, work, report, {.steps = first_steps, .growth = problem.growth()}).interval);
  }
  const auto dimension = static_cast<double>(std::min<Index>(options.dimension, problem.n));
  // Krylov steps that the caller chose are taken unless another method needs ten times fewer products.
  const double patience = options.method == ExpmActionMethod::automatic ? 1.0 : 10.0;
  // A known spectrum gives the number of products at once; otherwise the first step does.
  bool tried = problem.general() || !interval;
  for (double rest = 1.0; rest > 0.0; rest = krylov.rest()) {
    if (!tried) {
      tried = true;
      impl::ActionProblem<T> remaining = problem;
      remaining.time *= rest;
      remaining.tolerance *= rest;
      if (!interval) {
        found = spectrum_of(remaining, work, report, {.growth = remaining.growth()});
        krylov.know(found->interval);
      }
      const ExpmActionOptions::Interval& whole = interval ? *interval : found->interval;
      const double terms = terms_over(whole, remaining.time, problem.structure, remaining.tolerance);
      // Number of steps as long as the first; before the first, that of a uniform spectrum: (z / 2)^d / d! bounds the
      // error of d vectors, where z is half the spectrum's length times the time.
      const double z = 0.5 * (whole.largest - whole.least) * std::abs(remaining.time);
      const double reach = 2.0 * libm::exp((libm::log(problem.tolerance) + std::lgamma(dimension + 1.0)) / dimension);
      const double steps = std::ceil(krylov.share() > 0.0 ? rest / krylov.share() : z / reach);
      if (terms > dimension && patience * terms < steps * dimension) {
        act_by_chebyshev(remaining, interval, found, work, R, report);
        report.method = ExpmActionMethod::chebyshev;
        return true;
      }
    }
    if (!krylov.step(R, report)) return false;
    tried = problem.general() || interval || rest < 1.0;
    // A Taylor series takes about 8 products for each unit of ||time A||.
    const double of_taylor = 8.0 * std::ceil(krylov.norm() * std::abs(problem.time) * krylov.rest());
    if (problem.general() && krylov.rest() > 0.0 &&
        10.0 * patience * of_taylor * krylov.share() < dimension * krylov.rest()) {
      return false;
    }
    if (krylov.rest() == rest && tried) {
      throw Error(ErrorKind::computation, "expm_action: steps of a Krylov method become too short");
    }
    if (problem.general() && dimension * krylov.rest() > most_products * krylov.share()) return false;
  }
  return true;
}

// Compute R by a method whose errors a companion column estimates.
template <Scalar T>
void ExpmActionPlan<T>::State::act_in_company(const impl::ActionProblem<T>& problem, ExpmActionMethod method,
                                              const MatrixView<T>& R, ExpmActionReport& report) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto by_taylor = [&](double most) {
    report.method = ExpmActionMethod::taylor;
    report.truncation = 0.0;
    const MatrixView<T> all = work.accompany(R);
    const bool done = act_by_taylor(problem, most, work, all, report);
    report.error = done ? work.estimated_error() : infinity;
    return done;
  };
  // Two thirds of the requested digits are lost where Krylov vectors mix elements of all sizes; a series, which keeps
  // zeros, may retain more.
  const auto by_krylov = [&] {
    report.truncation = 0.0;
    report.error = act_by_krylov(problem, work.accompany(R), report) ? work.estimated_error() : infinity;
    return report.error <= libm::cbrt(problem.tolerance);
  };
  // A subspace that is the whole space takes n products, however large A is; a long series may retain more digits.
  const bool whole = problem.n <= options.dimension;
  bool done = false;
  if (method == ExpmActionMethod::taylor) {
    const bool hurries = whole && options.method == ExpmActionMethod::automatic;
    done = by_taylor(hurries ? 1000.0 * static_cast<double>(problem.n) : most_products) || by_krylov() ||
           (hurries && by_taylor(most_products));
  } else {
    done = by_krylov() || (problem.apply_adjoint ? by_taylor(most_products) : report.error < infinity);
  }
  if (!done) {
    throw Error(
        ErrorKind::computation,
        message_of("expm_action: a Krylov method of dimension ", options.dimension,
                   " takes too many steps for this A, or loses more than two thirds of the digits, and a Taylor "
                   "series takes more than ",
                   most_products,
                   " products, or has no apply_adjoint; expected a larger dimension, a looser tolerance, "
                   "or a structure where A has one"));
  }
  work.leave_companion(R);
}

template <Scalar T>
void ExpmActionPlan<T>::State::act(const impl::ActionProblem<T>& problem, const MatrixView<T>& R,
                                   ExpmActionReport& report) {
  ExpmActionMethod method = options.method;
  if (method == ExpmActionMethod::automatic) {
    method = problem.general() && problem.apply_adjoint ? ExpmActionMethod::taylor : ExpmActionMethod::krylov;
  }
  require(method != ExpmActionMethod::taylor || problem.apply_adjoint,
          "expm_action: taylor needs apply_adjoint where the operator is general");
  report.error_is_bound = !problem.general() && method != ExpmActionMethod::taylor;
  if (!report.error_is_bound) return act_in_company(problem, method, R, report);
  std::vector<double> largest = work.columns.largest(R);
  work.exponents.begin(largest.size());
  work.exponents.normalise(work.columns, R, largest);
  work.errors.begin(largest.size());
  if (method == ExpmActionMethod::chebyshev) {
    report.method = method;
    std::optional<ExpmActionOptions::Interval> given;
    if (options.spectrum) given = scaled_interval(*options.spectrum, problem.exponent);
    act_by_chebyshev<T>(problem, given, std::nullopt, work, R, report);
  } else {
    static_cast<void>(act_by_krylov(problem, R, report));
  }
  report.error = work.errors.largest();
}

template <Scalar T>
ExpmActionReport ExpmActionPlan<T>::State::execute(impl::ActionProblem<T> problem, const MatrixView<const T>& B,
                                                   const MatrixView<T>& R) {
  return comm.together([&] {
    const Kokkos::Profiling::ScopedRegion region("heddle::expm_action");
    const Kokkos::Timer timer;
    problem.space = comm.space();
    problem.structure = options.structure;
    problem.tolerance = std::max(options.tolerance, static_cast<double>(unit_roundoff<T>));
    const auto require_finite = [&](const MatrixView<const T>& block, const char* what) {
      const std::vector<double> largest = work.columns.largest(block);
      if (!std::all_of(largest.begin(), largest.end(), [](double size) { return std::isfinite(size); })) {
        throw Error(ErrorKind::computation, message_of("expm_action: ", what));
      }
    };
    require_finite(B, "B holds NaN or Inf");
    ExpmActionReport report;
    report.method = options.method;
    if (B.data() != R.data()) {
      impl::add_scaled<T>(comm.space(), T(1), B, T(0), R);
    }
    if (B.size() > 0 && problem.time != 0.0) {
      act(problem, R, report);
      work.exponents.finish(work.columns, R);
      require_finite(R, "the result overflows");
    }
    comm.space().fence("heddle::expm_action::end");
    report.seconds = comm.all_reduce(timer.seconds(), Reduction::maximum);
    return report;
  });
}

template <Scalar T>
ExpmActionPlan<T>::ExpmActionPlan(const Communicator& comm, const ExpmActionOptions& options)
    : state_(std::make_unique<State>(comm, options)) {
  require(options.tolerance >= 0.0 && options.tolerance < 1.0, "expm_action: tolerance ", options.tolerance,
          "; expected at least 0 (0: unit round-off) and less than 1");
  require(options.dimension >= 2 && options.dimension <= 100, "expm_action: dimension ", options.dimension,
          "; expected 2 to 100");
  if (options.spectrum) {
    const auto& [least, largest] = *options.spectrum;
    require(std::isfinite(least) && std::isfinite(largest) && least < largest, "expm_action: a spectrum from ", least,
            " to ", largest, "; expected an interval of finite numbers");
  }
}

template <Scalar T> ExpmActionPlan<T>::~ExpmActionPlan() = default;
template <Scalar T> ExpmActionPlan<T>::ExpmActionPlan(ExpmActionPlan&&) noexcept = default;
template <Scalar T> ExpmActionPlan<T>& ExpmActionPlan<T>::operator=(ExpmActionPlan&&) noexcept = default;

template <Scalar T> template <Scalar Element>
  requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
  ExpmActionPlan<T>::execute(std::complex<double> time, const DistributedMatrix<Element>& A,
                             const MatrixView<const T>& B, const MatrixView<T>& R) {
    const Communicator& comm = state_->comm;
    return comm.together([&] {
      impl::require_same_ranks("expm_action", "A", A, comm);
      state_->check(time, A.rows(), A.columns(), B, R);
      const Placement bands = Placement::row_bands(A.rows(), A.columns(), comm.size());
      DistributedMatrix<Element> mine = A;
      if (A.placement() != bands) {
        mine = DistributedMatrix<Element>(comm, bands, "expm_action_rows");
        redistribute(A, mine);
      }
      impl::ThinProducts<Element, T> products(comm, mine);
      if (!std::isfinite(products.largest())) {
        throw Error(ErrorKind::computation, "expm_action: A holds NaN or Inf");
      }
      impl::ActionProblem<T> problem;
      problem.n = A.rows();
      problem.exponent = exponent_of<T>(time);
      problem.time = scaled(time, -problem.exponent);
      const std::complex<double> mean = A.rows() > 0 ? trace(comm, mine) / static_cast<double>(A.rows()) : 0.0;
      problem.shift = scaled(mean, problem.exponent);
      const auto inner = power_of_two<T>(problem.exponent / 2);
      const auto outer = power_of_two<T>(problem.exponent - problem.exponent / 2);
      problem.apply = [&, inner, outer](const MatrixView<const T>& X, const MatrixView<T>& Y) {
        products.multiply(outer, X, Y, inner);
      };
      problem.apply_adjoint = [&, inner, outer](const MatrixView<const T>& X, const MatrixView<T>& Y) {
        products.multiply_adjoint(outer, X, Y, inner);
      };
      return state_->execute(std::move(problem), B, R);
    });
  }

template <Scalar T>
ExpmActionReport ExpmActionPlan<T>::execute(std::complex<double> time, const ExpmActionOperator<T>& A,
                                            const MatrixView<const T>& B, const MatrixView<T>& R) {
  return state_->comm.together([&] {
    state_->check(time, A.n, A.n, B, R);
    require(static_cast<bool>(A.apply), "expm_action: the operator has no apply");
    const ExecutionSpace& space = state_->comm.space();
    impl::ActionProblem<T> problem;
    problem.n = A.n;
    problem.exponent = exponent_of<T>(time);
    problem.time = scaled(time, -problem.exponent);
    const int exponent = problem.exponent;
    // Y = the operator's Y times a power of two, applied as two factors in range.
    const auto scale = [&space, exponent](const MatrixView<T>& Y) {
      if (exponent == 0) return;
      impl::add_scaled<T>(space, T(0), Y, T(power_of_two<T>(exponent / 2)), Y);
      impl::add_scaled<T>(space, T(0), Y, T(power_of_two<T>(exponent - exponent / 2)), Y);
    };
    problem.apply = [&, scale](const MatrixView<const T>& X, const MatrixView<T>& Y) {
      A.apply(space, X, Y);
      scale(Y);
    };
    switch (state_->options.structure) {
      case ExpmActionStructure::hermitian:
        problem.apply_adjoint = problem.apply;
        break;
      case ExpmActionStructure::skew_hermitian:
        problem.apply_adjoint = [&, scale](const MatrixView<const T>& X, const MatrixView<T>& Y) {
          A.apply(space, X, Y);
          scale(Y);
          impl::add_scaled<T>(space, T(0), X, T(-1), Y);
        };
        break;
      case ExpmActionStructure::general:
        if (A.apply_adjoint) {
          problem.apply_adjoint = [&, scale](const MatrixView<const T>& X, const MatrixView<T>& Y) {
            A.apply_adjoint(space, X, Y);
            scale(Y);
          };
        }
    }
    return state_->execute(std::move(problem), B, R);
  });
}

template <Scalar T, Scalar Element>
  requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
  expm_action(const Communicator& comm, std::complex<double> time, const DistributedMatrix<Element>& A,
              const DistributedMatrix<T>& B, const DistributedMatrix<T>& R, const ExpmActionOptions& options) {
    comm.together([&] {
      impl::require_same_ranks("expm_action", "B", B, comm);
      impl::require_same_ranks("expm_action", "R", R, comm);
    });
    // The block passes through the host of rank 0: it is thin.
    const HostMatrix<T> gathered = gather(B, 0);
    const LocalMatrix<T> whole(
        Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::expm::thin_block"),
        static_cast<std::size_t>(B.rows()), static_cast<std::size_t>(B.columns()));
    const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), whole);
    if (comm.rank() == 0) {
      Kokkos::deep_copy(comm.space(), flat(host), flat(gathered));
      comm.space().fence("heddle::expm_action::gather");
    }
    comm.broadcast(std::span<T>(host.data(), host.size()), 0);
    Kokkos::deep_copy(comm.space(), flat(whole), flat(host));
    const ExpmActionReport report =
        ExpmActionPlan<T>(comm, options).execute(time, A, MatrixView<const T>(whole), MatrixView<T>(whole));
    Kokkos::deep_copy(comm.space(), flat(host), flat(whole));
    comm.space().fence("heddle::expm_action::scatter");
    scatter(HostMatrix<T>(host), 0, R);
    return report;
  }

#define HEDDLE_INSTANTIATE_MATRIX(T, Element)                                                                       \
  template ExpmActionReport ExpmActionPlan<T>::execute<Element>(                                                    \
      std::complex<double>, const DistributedMatrix<Element>&, const MatrixView<const T>&, const MatrixView<T>&);   \
  template ExpmActionReport expm_action<T, Element>(const Communicator&, std::complex<double>,                      \
                                                    const DistributedMatrix<Element>&, const DistributedMatrix<T>&, \
                                                    const DistributedMatrix<T>&, const ExpmActionOptions&)
#define HEDDLE_INSTANTIATE(T)       \
  template class ExpmActionPlan<T>; \
  HEDDLE_INSTANTIATE_MATRIX(T, T)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
HEDDLE_INSTANTIATE_MATRIX(Kokkos::complex<float>, float);
HEDDLE_INSTANTIATE_MATRIX(Kokkos::complex<double>, double);
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_MATRIX

}  // namespace heddle
