// ExpmPlan: checks of its arguments, redistribution, the residual and the certificate, and the report.
#include "core/instantiate.hpp"
#include "core/names.hpp"
#include "dist/arguments.hpp"
#include "expm/arithmetic/product_options.hpp"
#include "expm/certificate/certificate.hpp"
#include "expm/dense/exponential.hpp"
#include "expm/dense/results.hpp"
#include <heddle/expm/expm.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

namespace heddle {

namespace {

using impl::Parts;
using impl::SharedMatrix;
using impl::WorkMatrix;
using impl::WorkParts;

constexpr impl::Names<ExpmMethod, 6> methods = {{{ExpmMethod::automatic, "automatic"},
                                                 {ExpmMethod::taylor, "taylor"},
                                                 {ExpmMethod::paterson_stockmeyer, "paterson-stockmeyer"},
                                                 {ExpmMethod::few_products, "few-products"},
                                                 {ExpmMethod::pade, "pade"},
                                                 {ExpmMethod::chebyshev, "chebyshev"}}};
constexpr impl::Names<ExpmStructure, 4> structures = {{{ExpmStructure::automatic, "automatic"},
                                                       {ExpmStructure::general, "general"},
                                                       {ExpmStructure::hermitian, "hermitian"},
                                                       {ExpmStructure::skew_hermitian, "skew-hermitian"}}};

}  // namespace

std::string_view to_string(ExpmMethod method) {
  return impl::name_of(methods, method, "value of heddle::ExpmMethod");
}
ExpmMethod expm_method_from(std::string_view text) {
  return impl::value_of(methods, text, "expm method");
}
std::string_view to_string(ExpmStructure structure) {
  return impl::name_of(structures, structure, "value of heddle::ExpmStructure");
}
ExpmStructure expm_structure_from(std::string_view text) {
  return impl::value_of(structures, text, "structure");
}

template <RealScalar T> double expm_certificate_tolerance(Index n, double norm1) {
  const double most = std::is_same_v<T, float> ? 1e-2 : 1e-6;
  const double scale = norm1 > 1.0 ? norm1 : 1.0;
  return std::min(1e3 * static_cast<double>(n) * static_cast<double>(unit_roundoff<T>) * scale, most);
}

template <RealScalar T> struct ExpmPlan<T>::State {
  State(const Communicator& communicator, const ExpmOptions& wanted) : comm(communicator), options(wanted) {
    // Bits must not depend on the number of nodes, and half of the products are computed by half.
    options.gemm.layers = 1;
  }

  void prepare(const Placement& a);
  [[nodiscard]] SharedMatrix<T> take_in(const std::optional<DistributedMatrix<T>>& part);
  [[nodiscard]] SharedMatrix<T> columns_in(const std::optional<DistributedMatrix<T>>& part) const;
  [[nodiscard]] WorkMatrix<T> in_place(const std::optional<DistributedMatrix<T>>& part) const;
  ExpmReport execute(const SplitMatrix<T>& A, const SplitMatrix<T>& columns_of_A, const SplitMatrix<T>& E);
  // Residual of E as exp(A).
  [[nodiscard]] double residual_of(const Parts<T>& A, const Parts<T>& E);

  Communicator comm;
  ExpmOptions options;
  Placement placement;
  std::optional<impl::ComplexArithmetic<T>> arithmetic;
  std::optional<impl::Exponential<T>> exponential;
  std::optional<impl::Delivery<T>> delivery;
};

template <RealScalar T> void ExpmPlan<T>::State::prepare(const Placement& a) {
  require(a.rows() == a.columns(), "expm: A is ", a.rows(), " x ", a.columns(), "; expected square");
  if (!arithmetic || placement.rows() != a.rows()) {
    arithmetic.emplace(comm, a.rows(), options.complex_products, options.gemm);
    placement = arithmetic->placement();
    exponential.emplace(comm, *arithmetic, options);
    delivery.emplace(comm);
  }
  arithmetic->reset_counts();
}

template <RealScalar T> SharedMatrix<T> ExpmPlan<T>::State::take_in(const std::optional<DistributedMatrix<T>>& part) {
  if (!part) {
    return {};
  }
  if (part->placement() == placement) {
    return *part;
  }
  WorkMatrix<T> mine = arithmetic->take();
  redistribute(*part, mine.write());
  return mine;
}

template <RealScalar T>
SharedMatrix<T> ExpmPlan<T>::State::columns_in(const std::optional<DistributedMatrix<T>>& part) const {
  if (!part) {
    return {};
  }
  require(part->placement() == arithmetic->columns_placement(), "expm: the column bands of A are ",
          part->placement().describe(), "; expected ", arithmetic->columns_placement().describe());
  return *part;
}

template <RealScalar T>
WorkMatrix<T> ExpmPlan<T>::State::in_place(const std::optional<DistributedMatrix<T>>& part) const {
  return part && part->placement() == placement ? WorkMatrix<T>(*part) : WorkMatrix<T>();
}

template <RealScalar T> double ExpmPlan<T>::State::residual_of(const Parts<T>& A, const Parts<T>& E) {
  // With A's own degree and scaling, not those of A/2: the same polynomial of the same matrix, squared as often, would
  // agree with itself whatever its error.
  const std::array<T, 1> one_half = {static_cast<T>(0.5)};
  const Parts<T> half = arithmetic->combine(0.0, one_half, std::span<const Parts<T>>(&A, 1));
  const Parts<T> root = exponential->again(half);
  WorkParts<T> square = arithmetic->multiply(T{1}, root, arithmetic->right_factor(root));
  double difference = 0.0;
  double whole = 0.0;
  const auto add_norms = [&](WorkMatrix<T>& found, const SharedMatrix<T>& expected) {
    if (found && expected) {
      add(T{-1}, *expected, found.write());
    }
    if (expected) whole += static_cast<double>(heddle::norm(*expected, Norm::one));
    if (found || expected) {
      difference += static_cast<double>(heddle::norm(found ? *found.read() : *expected, Norm::one));
    }
  };
  add_norms(square.real, E.real);
  add_norms(square.imaginary, E.imaginary);
  return whole > 0.0 ? difference / whole : difference;
}

template <RealScalar T>
ExpmReport ExpmPlan<T>::State::execute(const SplitMatrix<T>& A, const SplitMatrix<T>& columns_of_A,
                                       const SplitMatrix<T>& E) {
  return comm.together([&] {
    const Kokkos::Profiling::ScopedRegion region("heddle::expm");
    const Kokkos::Timer timer;
    prepare(A.real ? A.real->placement() : A.imaginary->placement());
    const auto require_shape = [&](const char* name, const std::optional<DistributedMatrix<T>>& part) {
      require(!part || (part->rows() == placement.rows() && part->columns() == placement.columns()), "expm: ", name,
              " is ", part ? part->rows() : 0, " x ", part ? part->columns() : 0, "; expected ", placement.rows(),
              " x ", placement.columns());
      if (part) impl::require_same_ranks("expm", name, *part, comm);
    };
    require_shape("A", A.real);
    require_shape("the imaginary part of A", A.imaginary);
    require_shape("E", E.real);
    require_shape("the imaginary part of E", E.imaginary);

    ExpmReport report;
    const Parts<T> mine{take_in(A.real), take_in(A.imaginary)};
    const Parts<T> columns{columns_in(columns_of_A.real), columns_in(columns_of_A.imaginary)};
    Parts<T> result;
    const auto compute = [&] {
      report = {};
      arithmetic->reset_counts();
      result = {};
      result = exponential->of(mine, columns, {in_place(E.real), in_place(E.imaginary)}, report);
      delivery->begin();
      delivery->hand_out(result.real, *E.real);
      if (E.imaginary) {
        delivery->hand_out(result.imaginary, *E.imaginary);
      }
      return delivery->finite();
    };
    exponential->leave_headroom(false);  // An earlier exception may have left it set.
    bool finite = compute();
    if (!finite) {
      exponential->leave_headroom(true);
      finite = compute();
      exponential->leave_headroom(false);
    }
    if (!finite) {
      throw Error(ErrorKind::computation, message_of("expm: the exponential overflows; ||A||_1 is ", report.norm1));
    }
    report.tile = arithmetic->tile();
    report.products = arithmetic->products();
    report.probes = arithmetic->probes();
    report.gemm_seconds = arithmetic->gemm_seconds();
    report.flops = arithmetic->flops();
    comm.space().fence("heddle::expm::end");
    report.seconds = comm.all_reduce(timer.seconds(), Reduction::maximum);
    if (options.residual) {
      report.residual = residual_of(mine, result);
    }
    if (options.certificate) {
      const Kokkos::Timer certificate_timer;
      report.certificate = impl::certify(comm, A, E, static_cast<double>(unit_roundoff<T>), options.gemm.tile).bound;
      report.certificate_seconds = comm.all_reduce(certificate_timer.seconds(), Reduction::maximum);
    }
    return report;
  });
}

template <RealScalar T>
ExpmPlan<T>::ExpmPlan(const Communicator& comm, const ExpmOptions& options)
    : state_(std::make_unique<State>(comm, options)) {
  std::vector<impl::Argument> arguments;
  if (comm.size() > 1) {
    using impl::argument;
    arguments = {argument("method", static_cast<int>(options.method)),
                 argument("degree", options.degree),
                 argument("tolerance", options.tolerance),
                 argument("structure", static_cast<int>(options.structure)),
                 argument("balance", options.balance),
                 argument("residual", options.residual),
                 argument("certificate", options.certificate),
                 argument("terms", options.terms)};
    impl::add_product_options(arguments, options.complex_products, options.gemm);
  }
  impl::require_alike(comm, "expm", arguments, [&] {
    require(options.degree >= 1 && options.degree <= most_taylor_degree, "expm: degree = ", options.degree,
            "; expected 1 to ", most_taylor_degree);
    impl::require_product_options("expm", options.tolerance, options.complex_products, options.gemm);
    static_cast<void>(to_string(options.method));
    require(!options.terms || options.method == ExpmMethod::taylor,
            "expm: terms are those of the method taylor, not of ", to_string(options.method));
    static_cast<void>(to_string(options.structure));
  });
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

template double expm_certificate_tolerance<float>(Index, double);
template double expm_certificate_tolerance<double>(Index, double);
template class ExpmPlan<float>;
template class ExpmPlan<double>;
#define HEDDLE_INSTANTIATE(T)                                                                                \
  template ExpmReport expm<T>(const Communicator&, const DistributedMatrix<T>&, const DistributedMatrix<T>&, \
                              const ExpmOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
