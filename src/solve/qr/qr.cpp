// QR factorizations over all ranks or on one, products with Q, and Q itself.
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "solve/grid/host_copy.hpp"
#include "solve/qr/columns.hpp"
#include "solve/qr/engine.hpp"
#include "solve/system/system.hpp"
#include <heddle/solve/qr.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace heddle {
namespace impl {
namespace {

// For emulated products one value for all backends.
constexpr Index emulated_qr_block = 256;
constexpr Index native_qr_block = on_host ? 128 : 256;

template <Scalar T> double qr_flops(Index rows, Index columns) {
  const auto m = static_cast<double>(rows);
  const auto n = static_cast<double>(columns);
  const double k = std::min(m, n);
  return flops_per_multiply_add<T> * (2.0 * m * n * k - (m + n) * k * k + 2.0 / 3.0 * k * k * k);
}

// Copy tau of a panel from the diagonal of its triangle.
template <Scalar T>
void take_tau(const ExecutionSpace& space, const MatrixView<T>& L, const Kokkos::View<T*, MemorySpace>& tau,
              Index first) {
  const Elements<const T> l(MatrixView<const T>{L});
  Kokkos::parallel_for(
      "heddle::solve::qr_tau", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, L.extent(1)),
      KOKKOS_LAMBDA(Index k) { tau(first + k) = conjugate(l(k, k)); });
}

// Return the first step, counted from 1, whose diagonal element on this rank is zero or not finite, or else the largest
// number.
template <Scalar T>
Index first_without_diagonal(const ExecutionSpace& space, const MatrixView<T>& local, const CyclicAxis& columns,
                             int rank, Index steps) {
  const Elements<T> a(local);
  Index first = std::numeric_limits<Index>::max();
  if (local.extent(1) == 0) return first;
  Kokkos::parallel_reduce(
      "heddle::solve::qr_info",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, local.extent(1)),
      KOKKOS_LAMBDA(Index j, Index & least) {
        const Index k = columns.global(rank, j);
        if (k >= steps) return;
        const T element = a(k, j);
        const bool stands = element != T(0) && magnitude_bits(element) < exact::bits::Format<double>::exponent_mask;
        if (!stands && k + 1 < least) least = k + 1;
      },
      Kokkos::Min<Index>(first));
  return first;
}

}  // namespace

FactorOptions panel_options(const QrOptions& options) {
  FactorOptions taken = with_arithmetic({.arithmetic = options.arithmetic, .block = options.block, .group = 1});
  if (taken.block == 0) taken.block = taken.arithmetic == Arithmetic::native ? native_qr_block : emulated_qr_block;
  return taken;
}

void require_qr_options(const char* of, Index rows, Index columns, const QrOptions& options) {
  require_lu_options(of, rows, columns, {.block = options.block});
}

template <Scalar T> struct QrFactorization : PlannedFactorization<T> {
  QrFactorization(const ExecutionSpace& given, const Communicator* comm, Index rows, Index columns,
                  const QrOptions& options)
      : PlannedFactorization<T>(given, comm, rows, columns, panel_options(options), "qr", QrEngine<T>::bytes),
        engine(given, comm, this->schedule, this->axis, this->taken.arithmetic, this->axis.block,
               this->axis.count(this->rank())),
        powers(Kokkos::view_alloc(given, Kokkos::WithoutInitializing, "heddle::solve::qr_powers"),
               static_cast<std::size_t>(this->axis.count(this->rank()))),
        tau(Kokkos::view_alloc(given, Kokkos::WithoutInitializing, "heddle::solve::qr_tau"),
            static_cast<std::size_t>(this->schedule.steps())) {}

  QrReport<T> factor(const MatrixView<T>& local) {
    constexpr int bearable = sizeof(Real<T>) == 8 ? 400 : 30;
    QrReport<T> report;
    this->measure(report, qr_flops<T>(this->schedule.rows, this->schedule.columns), [&] {
      const Kokkos::Profiling::ScopedRegion region("heddle::solve::qr");
      scale_columns<T>(this->space, local, bearable, powers);
      for (Index p = 0; p < this->schedule.panels(); ++p) {
        const BlockReflector<T> reflector = engine.factor(local, p);
        take_tau<T>(this->space, reflector.L, tau, this->schedule.panel(p).begin);
        const Range mine = this->axis.locals(this->rank(), this->schedule.update_after(p).columns);
        engine.apply(reflector, true, p, block_of(local, 0, this->schedule.rows, mine.begin, mine.end), mine.begin);
      }
      scale_triangle_back<T>(this->space, local, this->axis, this->rank(), powers);
      const auto host = host_copy(this->space, tau);
      report.tau.assign(host.data(), host.data() + host.extent(0));
      report.info = info(local);
    });
    return report;
  }
  [[nodiscard]] Index info(const MatrixView<T>& local) const {
    const Index mine = first_without_diagonal<T>(this->space, local, this->axis, this->rank(), this->schedule.steps());
    // Negated, so that the maximum over ranks is the first step.
    const double none = -static_cast<double>(this->schedule.steps()) - 1.0;
    const double first = this->over_ranks(mine > this->schedule.steps() ? none : -static_cast<double>(mine));
    return first == none ? 0 : static_cast<Index>(-first);
  }

  QrEngine<T> engine;
  Kokkos::View<double*, MemorySpace> powers;  // Powers of two that columns were divided by.
  Kokkos::View<T*, MemorySpace> tau;
};

namespace {

template <Scalar T>
void require_product(const char* of, Operation op, Index rows, Index columns, const std::vector<T>& tau,
                     Index rows_of_c, const QrOptions& options) {
  require_qr_options(of, rows, columns, options);
  require(static_cast<Index>(tau.size()) == std::min(rows, columns), of, ": ", tau.size(),
          " elements of tau; expected ", std::min(rows, columns), " for QR of ", rows, " x ", columns);
  require(rows_of_c == rows, of, ": C has ", rows_of_c, " rows; expected ", rows);
  require(!is_complex<T> || op != Operation::transpose, of,
          ": operation transpose of complex Q; expected none or conjugate_transpose");
}

// Apply reflections from the factors to columns of C: to all, or, if C is the identity (`from_identity`), to those that
// each panel can change.
template <Scalar T>
void multiply_by_q(const ExecutionSpace& space, const Communicator* comm, bool adjoint, const LuSchedule& schedule,
                   Arithmetic arithmetic, const MatrixView<T>& factors, const std::vector<T>& tau,
                   const CyclicAxis& targets, const MatrixView<T>& C, bool from_identity) {
  const Kokkos::Profiling::ScopedRegion region("heddle::solve::qr_multiply");
  const int rank = comm != nullptr ? comm->rank() : 0;
  QrEngine<T> engine(space, comm, schedule, columns_of(schedule, comm != nullptr ? comm->size() : 1), arithmetic,
                     targets.block, targets.count(rank));
  const Kokkos::View<T*, MemorySpace> numbers = device_copy(space, tau, "heddle::solve::qr_tau");
  for (Index k = 0; k < schedule.panels(); ++k) {
    const Index p = adjoint ? k : schedule.panels() - 1 - k;
    const BlockReflector<T> reflector = engine.gather(factors, numbers, p);
    const Range mine = targets.locals(rank, {from_identity ? schedule.panel(p).begin : 0, targets.extent});
    engine.apply(reflector, adjoint, p, block_of(C, 0, schedule.rows, mine.begin, mine.end), mine.begin);
  }
  space.fence("heddle::solve::qr_multiply");
}

template <Scalar T>
void multiply_over_ranks(const Communicator& comm, bool adjoint, const DistributedMatrix<T>& QR,
                         const std::vector<T>& tau, const DistributedMatrix<T>& C, const QrOptions& options,
                         bool from_identity) {
  const FactorOptions taken = panel_options(options);
  const LuSchedule schedule = schedule_for(QR.rows(), QR.columns(), taken);
  const PlacedMatrix<T> factors = placed<T>(QR, placement_of_columns(QR.rows(), columns_of(schedule, comm.size())));
  const CyclicAxis targets = right_hand_sides(C.columns(), comm.size());
  const PlacedMatrix<T> c = placed<T>(C, placement_of_columns(C.rows(), targets));
  multiply_by_q<T>(comm.space(), &comm, adjoint, schedule, taken.arithmetic, factors.local(), tau, targets, c.local(),
                   from_identity);
  if (!c.lies_as(C.placement())) redistribute<T>(c, C);
}

// Fill with the first columns of the identity.
template <Scalar T> void fill_with_identity(const DistributedMatrix<T>& Q) {
  fill(
      Q, KOKKOS_LAMBDA(Index i, Index j) { return i == j ? T(1) : T(0); });
}

std::vector<Argument> arguments_with(const QrOptions& options, Operation op, std::size_t count, const Placement& one,
                                     const Placement& other) {
  std::vector<Argument> arguments = arguments_of(options);
  arguments.push_back(argument("op", static_cast<int>(op)));
  arguments.push_back(argument("tau", count));
  arguments.push_back(argument("QR", one));
  arguments.push_back(argument("C", other));
  return arguments;
}

}  // namespace
}  // namespace impl

template <Scalar T> struct QrPlan<T>::State : impl::QrFactorization<T> {
  using impl::QrFactorization<T>::QrFactorization;
};

template <Scalar T> QrPlan<T>::QrPlan(const Communicator& comm, Index rows, Index columns, const QrOptions& options) {
  comm.together([&] {
    std::vector<impl::Argument> arguments = impl::arguments_of(options);
    arguments.push_back(impl::argument("rows", rows));
    arguments.push_back(impl::argument("columns", columns));
    impl::require_alike(comm, "qr", arguments, [&] { impl::require_qr_options("qr", rows, columns, options); });
    state_ = std::make_unique<State>(comm.space(), &comm, rows, columns, options);
  });
}
template <Scalar T> QrPlan<T>::~QrPlan() = default;
template <Scalar T> QrPlan<T>::QrPlan(QrPlan&&) noexcept = default;
template <Scalar T> QrPlan<T>& QrPlan<T>::operator=(QrPlan&&) noexcept = default;

template <Scalar T> const Placement& QrPlan<T>::placement() const {
  return state_->placement;
}

template <Scalar T> QrReport<T> QrPlan<T>::execute(const DistributedMatrix<T>& A) {
  return state_->in_place("qr", A, [&](const MatrixView<T>& local) { return state_->factor(local); });
}

template <Scalar T> QrReport<T> qr(const Communicator& comm, const DistributedMatrix<T>& A, const QrOptions& options) {
  return QrPlan<T>(comm, A.rows(), A.columns(), options).execute(A);
}

template <Scalar T> QrReport<T> qr(const ExecutionSpace& space, const MatrixView<T>& A, const QrOptions& options) {
  const auto rows = static_cast<Index>(A.extent(0));
  const auto columns = static_cast<Index>(A.extent(1));
  impl::require_qr_options("qr", rows, columns, options);
  impl::require_column_major("qr", A);
  return impl::QrFactorization<T>(space, nullptr, rows, columns, options).factor(A);
}

template <Scalar T>
void qr_multiply(const Communicator& comm, Operation op, const DistributedMatrix<T>& QR, const std::vector<T>& tau,
                 const DistributedMatrix<T>& C, const QrOptions& options) {
  comm.together([&] {
    impl::require_alike(comm, "qr_multiply",
                        impl::arguments_with(options, op, tau.size(), QR.placement(), C.placement()), [&] {
                          impl::require_same_ranks("qr_multiply", "QR", QR, comm);
                          impl::require_same_ranks("qr_multiply", "C", C, comm);
                          impl::require_product<T>("qr_multiply", op, QR.rows(), QR.columns(), tau, C.rows(), options);
                          impl::require_apart("qr_multiply", "QR", QR.local(), "C", C.local());
                        });
    impl::multiply_over_ranks<T>(comm, op != Operation::none, QR, tau, C, options, false);
  });
}

template <Scalar T>
void qr_multiply(const ExecutionSpace& space, Operation op, const MatrixView<T>& QR, const std::vector<T>& tau,
                 const MatrixView<T>& C, const QrOptions& options) {
  const auto rows = static_cast<Index>(QR.extent(0));
  const auto columns = static_cast<Index>(QR.extent(1));
  impl::require_product<T>("qr_multiply", op, rows, columns, tau, static_cast<Index>(C.extent(0)), options);
  impl::require_column_major("qr_multiply", QR);
  impl::require_column_major("qr_multiply", C);
  impl::require_apart("qr_multiply", "QR", QR, "C", C);
  const FactorOptions taken = impl::panel_options(options);
  impl::multiply_by_q<T>(space, nullptr, op != Operation::none, impl::schedule_for(rows, columns, taken),
                         taken.arithmetic, QR, tau, impl::right_hand_sides(static_cast<Index>(C.extent(1)), 1), C,
                         false);
}

template <Scalar T>
void qr_form(const Communicator& comm, const DistributedMatrix<T>& QR, const std::vector<T>& tau,
             const DistributedMatrix<T>& Q, const QrOptions& options) {
  comm.together([&] {
    impl::require_alike(comm, "qr_form",
                        impl::arguments_with(options, Operation::none, tau.size(), QR.placement(), Q.placement()), [&] {
                          impl::require_same_ranks("qr_form", "QR", QR, comm);
                          impl::require_same_ranks("qr_form", "Q", Q, comm);
                          impl::require_product<T>("qr_form", Operation::none, QR.rows(), QR.columns(), tau, Q.rows(),
                                                   options);
                          require(Q.columns() <= Q.rows() && Q.columns() >= std::min(QR.rows(), QR.columns()),
                                  "qr_form: Q is ", Q.rows(), " x ", Q.columns(), "; expected ",
                                  std::min(QR.rows(), QR.columns()), " to ", QR.rows(), " columns");
                          impl::require_apart("qr_form", "QR", QR.local(), "Q", Q.local());
                        });
    impl::fill_with_identity(Q);
    impl::multiply_over_ranks<T>(comm, false, QR, tau, Q, options, true);
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                                      \
  template class QrPlan<T>;                                                                                        \
  template QrReport<T> qr<T>(const Communicator&, const DistributedMatrix<T>&, const QrOptions&);                  \
  template QrReport<T> qr<T>(const ExecutionSpace&, const MatrixView<T>&, const QrOptions&);                       \
  template void qr_multiply<T>(const Communicator&, Operation, const DistributedMatrix<T>&, const std::vector<T>&, \
                               const DistributedMatrix<T>&, const QrOptions&);                                     \
  template void qr_multiply<T>(const ExecutionSpace&, Operation, const MatrixView<T>&, const std::vector<T>&,      \
                               const MatrixView<T>&, const QrOptions&);                                            \
  template void qr_form<T>(const Communicator&, const DistributedMatrix<T>&, const std::vector<T>&,                \
                           const DistributedMatrix<T>&, const QrOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
