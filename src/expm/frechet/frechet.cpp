// ExpmFrechetPlan: checks of its arguments, redistribution and the report.
#include "core/instantiate.hpp"
#include "dist/arguments.hpp"
#include "expm/arithmetic/product_options.hpp"
#include "expm/dense/results.hpp"
#include "expm/frechet/derivative.hpp"
#include <heddle/expm/frechet.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace heddle {

template <RealScalar T> struct ExpmFrechetPlan<T>::State {
  State(const Communicator& communicator, const ExpmFrechetOptions& wanted) : comm(communicator), options(wanted) {
    // As in ExpmPlan.
    options.gemm.layers = 1;
  }

  void require_shapes(const SplitMatrix<T>& A, const SplitMatrix<T>& D, const SplitMatrix<T>& E,
                      const SplitMatrix<T>& L) const;
  void prepare(Index n);
  // Return X in row bands.
  [[nodiscard]] impl::Parts<T> taken(const SplitMatrix<T>& X);
  [[nodiscard]] ExpmFrechetReport execute(const SplitMatrix<T>& A, const SplitMatrix<T>& D, const SplitMatrix<T>& E,
                                          const SplitMatrix<T>& L);

  Communicator comm;
  ExpmFrechetOptions options;
  std::optional<impl::ComplexArithmetic<T>> arithmetic;
  std::optional<impl::DerivativeOfExponential<T>> derivative;
  std::optional<impl::Delivery<T>> delivery;
};

template <RealScalar T>
void ExpmFrechetPlan<T>::State::require_shapes(const SplitMatrix<T>& A, const SplitMatrix<T>& D,
                                               const SplitMatrix<T>& E, const SplitMatrix<T>& L) const {
  const Placement& a = A.real ? A.real->placement() : A.imaginary->placement();
  require(a.rows() == a.columns(), "expm_frechet: A is ", a.rows(), " x ", a.columns(), "; expected square");
  const auto require_shape = [&](const char* name, const std::optional<DistributedMatrix<T>>& part) {
    require(!part || (part->rows() == a.rows() && part->columns() == a.columns()), "expm_frechet: ", name, " is ",
            part ? part->rows() : 0, " x ", part ? part->columns() : 0, "; expected ", a.rows(), " x ", a.columns());
    if (part) impl::require_same_ranks("expm_frechet", name, *part, comm);
  };
  require_shape("A", A.real);
  require_shape("the imaginary part of A", A.imaginary);
  require_shape("D", D.real);
  require_shape("the imaginary part of D", D.imaginary);
  require_shape("E", E.real);
  require_shape("the imaginary part of E", E.imaginary);
  require_shape("L", L.real);
  require_shape("the imaginary part of L", L.imaginary);
}

template <RealScalar T> void ExpmFrechetPlan<T>::State::prepare(Index n) {
  if (!arithmetic || arithmetic->placement().rows() != n) {
    arithmetic.emplace(comm, n, options.complex_products, options.gemm);
    derivative.emplace(comm, *arithmetic, options);
    delivery.emplace(comm);
  }
  arithmetic->reset_counts();
}

template <RealScalar T> impl::Parts<T> ExpmFrechetPlan<T>::State::taken(const SplitMatrix<T>& X) {
  const auto side = [&](const std::optional<DistributedMatrix<T>>& part) -> impl::SharedMatrix<T> {
    if (!part) return {};
    if (part->placement() == arithmetic->placement()) return *part;
    impl::WorkMatrix<T> mine = arithmetic->take();
    redistribute(*part, mine.write());
    return mine;
  };
  return {side(X.real), side(X.imaginary)};
}

template <RealScalar T>
ExpmFrechetReport ExpmFrechetPlan<T>::State::execute(const SplitMatrix<T>& A, const SplitMatrix<T>& D,
                                                     const SplitMatrix<T>& E, const SplitMatrix<T>& L) {
  return comm.together([&] {
    const Kokkos::Profiling::ScopedRegion region("heddle::expm_frechet");
    const Kokkos::Timer timer;
    require_shapes(A, D, E, L);
    prepare(A.real ? A.real->rows() : A.imaginary->rows());
    ExpmFrechetReport report;
    impl::Dual<T> given{taken(A), taken(D)};
    if (options.adjoint) given.value = impl::adjoint_of(comm, *arithmetic, given.value);
    impl::Dual<T> found = derivative->of(std::move(given), report);
    delivery->begin();
    if (E.real || E.imaginary) {
      if (options.adjoint) found.value = impl::adjoint_of(comm, *arithmetic, found.value);
      delivery->hand_out(found.value.real, *E.real);
      if (E.imaginary) delivery->hand_out(found.value.imaginary, *E.imaginary);
    }
    delivery->hand_out(found.derivative.real, *L.real);
    if (L.imaginary) delivery->hand_out(found.derivative.imaginary, *L.imaginary);
    if (!delivery->finite()) {
      throw Error(ErrorKind::computation,
                  message_of("expm_frechet: the exponential or its derivative overflows; ||A||_1 is ", report.norm1));
    }
    report.tile = arithmetic->tile();
    report.products = arithmetic->products();
    report.probes = arithmetic->probes();
    report.gemm_seconds = arithmetic->gemm_seconds();
    report.flops = arithmetic->flops();
    comm.space().fence("heddle::expm_frechet::end");
    report.seconds = comm.all_reduce(timer.seconds(), Reduction::maximum);
    return report;
  });
}

template <RealScalar T>
ExpmFrechetPlan<T>::ExpmFrechetPlan(const Communicator& comm, const ExpmFrechetOptions& options)
    : state_(std::make_unique<State>(comm, options)) {
  std::vector<impl::Argument> arguments;
  if (comm.size() > 1) {
    using impl::argument;
    arguments = {argument("adjoint", options.adjoint), argument("method", static_cast<int>(options.method)),
                 argument("tolerance", options.tolerance)};
    impl::add_product_options(arguments, options.complex_products, options.gemm);
  }
  impl::require_alike(comm, "expm_frechet", arguments, [&] {
    require(options.method == ExpmMethod::automatic || options.method == ExpmMethod::paterson_stockmeyer ||
                options.method == ExpmMethod::few_products,
            "expm_frechet: method ", to_string(options.method),
            "; expected automatic, paterson-stockmeyer or few-products");
    impl::require_product_options("expm_frechet", options.tolerance, options.complex_products, options.gemm);
  });
}

template <RealScalar T> ExpmFrechetPlan<T>::~ExpmFrechetPlan() = default;
template <RealScalar T> ExpmFrechetPlan<T>::ExpmFrechetPlan(ExpmFrechetPlan&&) noexcept = default;
template <RealScalar T> ExpmFrechetPlan<T>& ExpmFrechetPlan<T>::operator=(ExpmFrechetPlan&&) noexcept = default;

template <RealScalar T>
ExpmFrechetReport ExpmFrechetPlan<T>::execute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& D,
                                              const DistributedMatrix<T>& E, const DistributedMatrix<T>& L) {
  return state_->execute({A, std::nullopt}, {D, std::nullopt}, {E, std::nullopt}, {L, std::nullopt});
}

template <RealScalar T>
ExpmFrechetReport ExpmFrechetPlan<T>::execute(const DistributedMatrix<T>& A, const DistributedMatrix<T>& D,
                                              const DistributedMatrix<T>& L) {
  return state_->execute({A, std::nullopt}, {D, std::nullopt}, {}, {L, std::nullopt});
}

template <RealScalar T>
ExpmFrechetReport ExpmFrechetPlan<T>::execute(const SplitMatrix<T>& A, const SplitMatrix<T>& D, const SplitMatrix<T>& E,
                                              const SplitMatrix<T>& L) {
  require(A.real || A.imaginary, "expm_frechet: A has neither a real nor an imaginary part");
  require(bool(E.real) == bool(E.imaginary), "expm_frechet: E needs both a real and an imaginary part, or none");
  require(L.real && L.imaginary, "expm_frechet: L needs both a real and an imaginary part");
  return state_->execute(A, D, E, L);
}

namespace {

// E: empty if the exponential is not wanted.
template <Scalar T>
ExpmFrechetReport frechet_once(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& D,
                               const std::optional<DistributedMatrix<T>>& E, const DistributedMatrix<T>& L,
                               const ExpmFrechetOptions& options) {
  using R = Real<T>;
  ExpmFrechetPlan<R> plan(comm, options);
  if constexpr (is_complex<T>) {
    const auto parts_like = [&](const DistributedMatrix<T>& X) {
      const auto bands = Placement::row_bands(X.rows(), X.columns(), comm.size());
      return SplitMatrix<R>{DistributedMatrix<R>(comm, bands, "heddle::expm_frechet::real"),
                            DistributedMatrix<R>(comm, bands, "heddle::expm_frechet::imaginary")};
    };
    const SplitMatrix<R> exponential = E ? parts_like(*E) : SplitMatrix<R>{};
    const SplitMatrix<R> derivative = parts_like(L);
    const ExpmFrechetReport report = plan.execute(split(A), split(D), exponential, derivative);
    if (E) join(exponential, *E);
    join(derivative, L);
    return report;
  } else {
    return E ? plan.execute(A, D, *E, L) : plan.execute(A, D, L);
  }
}

}  // namespace

template <Scalar T>
ExpmFrechetReport expm_frechet(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& D,
                               const DistributedMatrix<T>& L, const ExpmFrechetOptions& options) {
  return frechet_once<T>(comm, A, D, std::nullopt, L, options);
}

template <Scalar T>
ExpmFrechetReport expm_frechet(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& D,
                               const DistributedMatrix<T>& E, const DistributedMatrix<T>& L,
                               const ExpmFrechetOptions& options) {
  return frechet_once<T>(comm, A, D, E, L, options);
}

template class ExpmFrechetPlan<float>;
template class ExpmFrechetPlan<double>;
#define HEDDLE_INSTANTIATE(T)                                                                          \
  template ExpmFrechetReport expm_frechet<T>(const Communicator&, const DistributedMatrix<T>&,         \
                                             const DistributedMatrix<T>&, const DistributedMatrix<T>&, \
                                             const ExpmFrechetOptions&);                               \
  template ExpmFrechetReport expm_frechet<T>(const Communicator&, const DistributedMatrix<T>&,         \
                                             const DistributedMatrix<T>&, const DistributedMatrix<T>&, \
                                             const DistributedMatrix<T>&, const ExpmFrechetOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
