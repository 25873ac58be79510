// Cholesky factorizations, and solutions with the factor, over all ranks or on one.
#include "core/instantiate.hpp"
#include "solve/cholesky/cholesky_slabs.hpp"
#include "solve/cholesky/elimination.hpp"
#include "solve/grid/factorization.hpp"
#include <heddle/solve/cholesky.hpp>

#include <memory>
#include <optional>

namespace heddle {
namespace impl {
namespace {

template <Scalar T> double cholesky_flops(Index order) {
  const auto n = static_cast<double>(order);
  return flops_per_multiply_add<T> * n * n * n / 6.0;
}

}  // namespace

/// A plan over the ranks of a communicator, or for one rank without a communicator.
template <Scalar T> struct CholeskyFactorization : PlannedFactorization<T> {
  CholeskyFactorization(const ExecutionSpace& given, const Communicator* comm, Index order,
                        const FactorOptions& options, Residence residence = Residence::device)
      : PlannedFactorization<T>(given, comm, order, order, options, "cholesky", CholeskyElimination<T>::bytes,
                                residence, FactorizationKind::cholesky) {
    if (!this->in_host_memory()) prepare();
  }
  void prepare() {
    const Communicator* const comm = this->communicator ? &*this->communicator : nullptr;
    elimination.emplace(this->space, comm, this->schedule, this->grid, this->taken.arithmetic);
  }

  CholeskyReport factor(const MatrixView<T>& local) {
    CholeskyReport report;
    std::optional<CholeskySlabs<T>> by_slabs;
    if (this->slabs) {
      by_slabs.emplace(*this->communicator, *this->slabs, this->taken.arithmetic);
    } else if (!elimination) {
      prepare();
    }
    this->measure(report, cholesky_flops<T>(this->schedule.rows), [&] {
      if (by_slabs) {
        report.info = by_slabs->run(local, this->watch);
        return;
      }
      this->on_aligned(report, local,
                       [&](const MatrixView<T>& matrix) { report.info = elimination->run(matrix, this->watch); });
    });
    if (this->in_host_memory()) elimination.reset();
    return report;
  }

  std::optional<CholeskyElimination<T>> elimination;  // Null between factorizations in host memory.
};

}  // namespace impl

template <Scalar T> struct CholeskyPlan<T>::State : impl::CholeskyFactorization<T> {
  using impl::CholeskyFactorization<T>::CholeskyFactorization;
};

template <Scalar T>
CholeskyPlan<T>::CholeskyPlan(const Communicator& comm, Index order, const FactorOptions& options,
                              Residence residence) {
  comm.together([&] {
    std::vector<impl::Argument> arguments = impl::arguments_of(options);
    arguments.push_back(impl::argument("order", order));
    arguments.push_back(impl::argument("in host memory", residence == Residence::host));
    impl::require_alike(comm, "cholesky", arguments, [&] {
      impl::require_lu_options("cholesky", order, order, options);
      impl::require_grid("cholesky", options, comm.size());
    });
    state_ = std::make_unique<State>(comm.space(), &comm, order, options, residence);
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
CholeskyReport cholesky(const Communicator& comm, const DistributedMatrix<T>& A, const FactorOptions& options) {
  comm.together([&] {
    impl::require_alike(comm, "cholesky", std::vector<impl::Argument>{impl::argument("A", A.placement())},
                        [&] { impl::require_square("cholesky", "A", A); });
  });
  return CholeskyPlan<T>(comm, A.rows(), options, A.placement().residence()).execute(A);
}

template <Scalar T>
CholeskyReport cholesky(const ExecutionSpace& space, const MatrixView<T>& A, const FactorOptions& options) {
  const auto order = static_cast<Index>(A.extent(0));
  require(A.extent(1) == A.extent(0), "cholesky: A is ", A.extent(0), " x ", A.extent(1), "; expected a square matrix");
  impl::require_lu_options("cholesky", order, order, options);
  impl::require_grid("cholesky", options, 1);
  impl::require_column_major("cholesky", A);
  return impl::CholeskyFactorization<T>(space, nullptr, order, options).factor(A);
}

#define HEDDLE_INSTANTIATE(T)                                                                                  \
  template class CholeskyPlan<T>;                                                                              \
  template CholeskyReport cholesky<T>(const Communicator&, const DistributedMatrix<T>&, const FactorOptions&); \
  template CholeskyReport cholesky<T>(const ExecutionSpace&, const MatrixView<T>&, const FactorOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
