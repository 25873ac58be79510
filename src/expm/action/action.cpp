#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "dist/copies.hpp"
#include "expm/action/methods.hpp"
#include "expm/action/thin_products.hpp"
#include "expm/dense/structure.hpp"
#include <heddle/expm/action.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle {
namespace {

constexpr impl::Names<ExpmActionMethod, 4> methods = {{
    {ExpmActionMethod::automatic, "automatic"},
    {ExpmActionMethod::taylor, "taylor"},
    {ExpmActionMethod::chebyshev, "chebyshev"},
    {ExpmActionMethod::krylov, "krylov"},
}};

// In the order of rows, whatever rank has them.
template <Scalar T> std::complex<double> trace(const Communicator& comm, const DistributedMatrix<T>& A) {
  std::complex<double> sum = 0.0;
  for (const std::complex<double>& element : impl::diagonal_of(comm, A, 0)) sum += element;
  return sum;
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
  void act_by_krylov(const impl::ActionProblem<T>& problem, const MatrixView<T>& R, ExpmActionReport& report);

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
  const bool straight = time.real() == 0.0 || time.imag() == 0.0;
  require(
      options.method != ExpmActionMethod::chebyshev || (options.structure != ExpmActionStructure::general && straight),
      "expm_action: chebyshev takes a Hermitian or skew-Hermitian A and a real or imaginary time");
}

template <Scalar T>
void ExpmActionPlan<T>::State::act_by_krylov(const impl::ActionProblem<T>& problem, const MatrixView<T>& R,
                                             ExpmActionReport& report) {
  using impl::series_over;
  const bool straight = problem.time.real() == 0.0 || problem.time.imag() == 0.0;
  const bool may_change =
      options.method == ExpmActionMethod::automatic && problem.structure != ExpmActionStructure::general && straight;
  bool tried = !may_change;
  report.method = ExpmActionMethod::krylov;
  impl::KrylovSteps<T> krylov(problem, options.dimension, static_cast<Index>(R.extent(1)), work);
  // A spectrum that is known tells the number of products at once; else the first step does.
  std::optional<ExpmActionOptions::Interval> interval = options.spectrum;
  double rest = 1.0;
  while (rest > 0.0) {
    if (!tried && (interval || rest < 1.0)) {
      tried = true;
      interval = interval ? interval : spectrum_of(problem, work, report);
      impl::ActionProblem<T> remaining = problem;
      remaining.time *= rest;
      remaining.tolerance *= rest;
      const int degree = series_over(*interval, remaining.time, problem.structure, remaining.tolerance).degree();
      // As many Krylov steps as the first was long; before there was one, as a spectrum spread evenly would take:
      // (z / 2)^d / d! bounds the error of d vectors, z half the spectrum's length times the time.
      const double z = 0.5 * (interval->largest - interval->least) * std::abs(remaining.time);
      const double reach =
          2.0 * std::exp((std::log(problem.tolerance) + std::lgamma(options.dimension + 1.0)) / options.dimension);
      const double steps = std::ceil(rest < 1.0 ? rest / (1.0 - rest) : z / reach);
      if (degree > options.dimension && degree < steps * options.dimension &&
          act_by_chebyshev(remaining, *interval, work, R, report)) {
        report.method = ExpmActionMethod::chebyshev;
        return;
      }
    }
    krylov.step(R, report);
    rest = krylov.rest();
  }
}

template <Scalar T>
void ExpmActionPlan<T>::State::act(const impl::ActionProblem<T>& problem, const MatrixView<T>& R,
                                   ExpmActionReport& report) {
  const bool general = problem.structure == ExpmActionStructure::general;
  ExpmActionMethod method = options.method;
  if (method == ExpmActionMethod::automatic && general && problem.apply_adjoint) {
    method = ExpmActionMethod::taylor;
  }
  switch (method) {
    case ExpmActionMethod::taylor:
      require(static_cast<bool>(problem.apply_adjoint),
              "expm_action: taylor needs apply_adjoint where the operator is general");
      report.method = method;
      return act_by_taylor(problem, work, R, report);
    case ExpmActionMethod::chebyshev: {
      report.method = method;
      ExpmActionOptions::Interval interval = options.spectrum ? *options.spectrum : spectrum_of(problem, work, report);
      for (int attempt = 1; !act_by_chebyshev(problem, interval, work, R, report); ++attempt) {
        if (options.spectrum || attempt == 4) {
          throw Error(ErrorKind::computation,
                      message_of("expm_action: the spectrum is wider than ", interval.least, " ... ", interval.largest,
                                 ", or A is not Hermitian or skew-Hermitian as was said"));
        }
        const double more = 0.25 * (interval.largest - interval.least);
        interval = {interval.least - more, interval.largest + more};
      }
      return;
    }
    default:
      return act_by_krylov(problem, R, report);
  }
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
    const auto largest_of_finite = [&](const MatrixView<const T>& block, const char* what) {
      std::vector<double> largest = work.columns.largest(block);
      if (!std::all_of(largest.begin(), largest.end(), [](double size) { return std::isfinite(size); })) {
        throw Error(ErrorKind::computation, message_of("expm_action: ", what));
      }
      return largest;
    };
    std::vector<double> largest = largest_of_finite(B, "B holds NaN or Inf");
    ExpmActionReport report;
    report.method = options.method;
    if (B.data() != R.data()) {
      impl::add_scaled<T>(comm.space(), T(1), B, T(0), R);
    }
    if (B.size() > 0 && problem.time != 0.0) {
      work.exponents.begin(largest.size());
      work.exponents.normalise(work.columns, R, largest);
      act(problem, R, report);
      work.exponents.finish(work.columns, R);
      largest_of_finite(R, "the result overflows");
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
  require(!options.spectrum || options.spectrum->least < options.spectrum->largest,
          "expm_action: the spectrum is no interval");
}

template <Scalar T> ExpmActionPlan<T>::~ExpmActionPlan() = default;
template <Scalar T> ExpmActionPlan<T>::ExpmActionPlan(ExpmActionPlan&&) noexcept = default;
template <Scalar T> ExpmActionPlan<T>& ExpmActionPlan<T>::operator=(ExpmActionPlan&&) noexcept = default;

template <Scalar T> template <Scalar Element>
  requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
  ExpmActionPlan<T>::execute(std::complex<double> time, const DistributedMatrix<Element>& A,
                             const MatrixView<const T>& B, const MatrixView<T>& R) {
    const Communicator& comm = state_->comm;
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
    problem.time = time;
    problem.shift = A.rows() > 0 ? trace(comm, mine) / static_cast<double>(A.rows()) : 0.0;
    problem.apply = [&](const MatrixView<const T>& X, const MatrixView<T>& Y) { products.multiply(1, X, Y); };
    problem.apply_adjoint = [&](const MatrixView<const T>& X, const MatrixView<T>& Y) {
      products.multiply_adjoint(1, X, Y);
    };
    return state_->execute(std::move(problem), B, R);
  }

template <Scalar T>
ExpmActionReport ExpmActionPlan<T>::execute(std::complex<double> time, const ExpmActionOperator<T>& A,
                                            const MatrixView<const T>& B, const MatrixView<T>& R) {
  state_->check(time, A.n, A.n, B, R);
  require(static_cast<bool>(A.apply), "expm_action: the operator has no apply");
  const ExecutionSpace& space = state_->comm.space();
  impl::ActionProblem<T> problem;
  problem.n = A.n;
  problem.time = time;
  problem.apply = [&](const MatrixView<const T>& X, const MatrixView<T>& Y) { A.apply(space, X, Y); };
  switch (state_->options.structure) {
    case ExpmActionStructure::hermitian:
      problem.apply_adjoint = problem.apply;
      break;
    case ExpmActionStructure::skew_hermitian:
      problem.apply_adjoint = [&](const MatrixView<const T>& X, const MatrixView<T>& Y) {
        A.apply(space, X, Y);
        impl::add_scaled<T>(space, T(0), X, T(-1), Y);
      };
      break;
    case ExpmActionStructure::general:
      if (A.apply_adjoint) {
        problem.apply_adjoint = [&](const MatrixView<const T>& X, const MatrixView<T>& Y) {
          A.apply_adjoint(space, X, Y);
        };
      }
  }
  return state_->execute(std::move(problem), B, R);
}

template <Scalar T, Scalar Element>
  requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
  expm_action(const Communicator& comm, std::complex<double> time, const DistributedMatrix<Element>& A,
              const DistributedMatrix<T>& B, const DistributedMatrix<T>& R, const ExpmActionOptions& options) {
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
