#include "core/instantiate.hpp"
#include "solve/cholesky_run.hpp"
#include "solve/look_ahead.hpp"
#include "solve/system.hpp"
#include <heddle/solve/cholesky.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <memory>

namespace heddle {
namespace impl {
namespace {

template <Scalar T> double cholesky_flops(Index order) {
  const auto n = static_cast<double>(order);
  return flops_per_multiply_add<T> * n * n * n / 6.0;
}

}  // namespace

/// A plan, over the ranks of a communicator or of one rank without any, and what each rank does with its columns.
template <Scalar T> struct CholeskyFactorization : PlannedFactorization<T> {
  CholeskyFactorization(const ExecutionSpace& given, const Communicator* comm, Index order,
                        const CholeskyOptions& options)
      : PlannedFactorization<T>(given, comm, order, order, options, "cholesky", cholesky_workspace<T>),
        ahead(given, comm, this->runs, this->grid, PanelSide::columns,
              this->taken.arithmetic == Arithmetic::native || together() > 1),
        update(given, this->taken.arithmetic, this->schedule, this->grid, this->runs.longest_inner()),
        factor_run(ahead.space_of_panels(), this->taken.arithmetic, this->schedule, together(), this->axis.block),
        infos(Kokkos::view_alloc(given, Kokkos::WithoutInitializing, "heddle::solve::infos"),
              static_cast<std::size_t>(this->schedule.panels())) {
    update.set_meanwhile([this] { ahead.progress(); });
  }

  CholeskyReport factor(const MatrixView<T>& local) {
    CholeskyReport report;
    this->measure(report, cholesky_flops<T>(this->schedule.rows), [&] {
      const Kokkos::Profiling::ScopedRegion region("heddle::solve::cholesky");
      const auto infos_of = [&](Index r) {
        const Index end = std::min((r + 1) * together(), this->schedule.panels());
        return Kokkos::subview(infos, Kokkos::pair<Index, Index>(r * together(), end));
      };
      ahead.run(
          this->watch, local, infos_of, [&](Index r, const MatrixView<T>& run) { factor_run(run, infos_of(r)); },
          [](Index) {},
          [&](const LuSchedule::Update& due) {
            const MatrixView<T> L = ahead.panels(local, due.first, due.last);
            // Rows of L with the numbers of this rank's columns.
            update(this->grid, due.columns, L, this->grid.divides_rows() ? ahead.sides(due.first, due.last) : L, local);
          });
      clear_above(local);
      report.info = first_info();
    });
    return report;
  }

  /// Panels of a run.
  [[nodiscard]] Index together() const { return this->runs.block / this->schedule.block; }
  void clear_above(const MatrixView<T>& local) const {
    const Elements<T> a(local);
    const CyclicAxis rows = this->grid.rows;
    const CyclicAxis columns = this->grid.columns;
    const int row = this->grid.row();
    const int column = this->grid.column();
    for_each_element(
        this->space, "heddle::solve::clear_above", static_cast<Index>(local.extent(0)),
        static_cast<Index>(local.extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
          if (rows.global(row, i) < columns.global(column, j)) a(i, j) = T(0);
        });
  }
  [[nodiscard]] Index first_info() const {
    const auto host = host_copy(this->space, infos);
    for (Index p = 0; p < this->schedule.panels(); ++p) {
      if (host(p) != 0) return this->schedule.panel(p).begin + host(p);
    }
    return 0;
  }

  LookAhead<T> ahead;
  CholeskyUpdate<T> update;
  CholeskyRun<T> factor_run;
  Kokkos::View<Index*, MemorySpace> infos;  // Of each panel, counted from its first column.
};

}  // namespace impl

template <Scalar T> struct CholeskyPlan<T>::State : impl::CholeskyFactorization<T> {
  using impl::CholeskyFactorization<T>::CholeskyFactorization;
};

template <Scalar T>
CholeskyPlan<T>::CholeskyPlan(const Communicator& comm, Index order, const CholeskyOptions& options) {
  comm.together([&] {
    std::vector<impl::Argument> arguments = impl::arguments_of(options);
    arguments.push_back(impl::argument("order", order));
    impl::require_alike(comm, "cholesky", arguments, [&] {
      impl::require_lu_options("cholesky", order, order, options);
      impl::require_grid("cholesky", options, comm.size());
    });
    state_ = std::make_unique<State>(comm.space(), &comm, order, options);
  });
}
template <Scalar T> CholeskyPlan<T>::~CholeskyPlan() = default;
template <Scalar T> CholeskyPlan<T>::CholeskyPlan(CholeskyPlan&&) noexcept = default;
template <Scalar T> CholeskyPlan<T>& CholeskyPlan<T>::operator=(CholeskyPlan&&) noexcept = default;

template <Scalar T> const Placement& CholeskyPlan<T>::placement() const {
  return state_->placement;
}

template <Scalar T> CholeskyReport CholeskyPlan<T>::execute(const DistributedMatrix<T>& A) {
  return state_->in_place("cholesky", A, [&](const MatrixView<T>& local) { return state_->factor(local); });
}

template <Scalar T>
CholeskyReport cholesky(const Communicator& comm, const DistributedMatrix<T>& A, const CholeskyOptions& options) {
  comm.together([&] {
    impl::require_alike(comm, "cholesky", std::vector<impl::Argument>{impl::argument("A", A.placement())},
                        [&] { impl::require_square("cholesky", "A", A); });
  });
  return CholeskyPlan<T>(comm, A.rows(), options).execute(A);
}

template <Scalar T>
CholeskyReport cholesky(const ExecutionSpace& space, const MatrixView<T>& A, const CholeskyOptions& options) {
  const auto order = static_cast<Index>(A.extent(0));
  require(A.extent(1) == A.extent(0), "cholesky: A is ", A.extent(0), " x ", A.extent(1), "; expected a square matrix");
  impl::require_lu_options("cholesky", order, order, options);
  impl::require_grid("cholesky", options, 1);
  impl::require_column_major("cholesky", A);
  return impl::CholeskyFactorization<T>(space, nullptr, order, options).factor(A);
}

#define HEDDLE_INSTANTIATE(T)                                                                                    \
  template class CholeskyPlan<T>;                                                                                \
  template CholeskyReport cholesky<T>(const Communicator&, const DistributedMatrix<T>&, const CholeskyOptions&); \
  template CholeskyReport cholesky<T>(const ExecutionSpace&, const MatrixView<T>&, const CholeskyOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
