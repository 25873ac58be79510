// Condition numbers from factors.
#include "core/instantiate.hpp"
#include "solve/grid/over_ranks.hpp"
#include "solve/lu/pivots.hpp"
#include "solve/system/inverse_norm.hpp"
#include <heddle/solve/solve.hpp>

#include <limits>
#include <vector>

namespace heddle {
namespace impl {
namespace {

template <Scalar T>
void check_condition(const PlacedMatrix<T>& LU, const LuReport& factors, double norm, const FactorOptions& options) {
  require_factors("condition", LU, factors);
  require(!(norm < 0.0), "condition: a norm of ", norm, "; expected 0 or more");
  require_lu_options("condition", LU.rows(), LU.columns(), options);
}
template <Scalar T>
double estimated_condition(const PlacedMatrix<T>& LU, const LuReport& factors, double norm,
                           const FactorOptions& options) {
  if (LU.rows() == 0) return 0.0;
  if (factors.info != 0) return std::numeric_limits<double>::infinity();
  const std::vector<Index> none(static_cast<std::size_t>(LU.rows()), 0);
  return condition_of(Size::of(norm) * InverseNorm<T>(LU, &factors.pivots, options)(none, none));
}

}  // namespace
}  // namespace impl

template <Scalar T>
double condition(const Communicator& comm, const DistributedMatrix<T>& LU, const LuReport& factors, double norm,
                 const FactorOptions& options) {
  const impl::PlacedMatrix<T> of(LU);
  return impl::over_ranks(
      comm, "condition", impl::and_placements(impl::arguments_of(options), LU.placement(), LU.placement()),
      [&] {
        impl::require_same_ranks("condition", "LU", LU, comm);
        impl::check_condition(of, factors, norm, options);
      },
      [&] { return impl::estimated_condition(of, factors, norm, options); });
}

template <Scalar T>
double condition(const ExecutionSpace& space, const MatrixView<T>& LU, const LuReport& factors, double norm,
                 const FactorOptions& options) {
  const impl::PlacedMatrix<T> of(space, "condition", "LU", LU);
  impl::check_condition(of, factors, norm, options);
  return impl::estimated_condition(of, factors, norm, options);
}

#define HEDDLE_INSTANTIATE(T)                                                                             \
  template double condition<T>(const Communicator&, const DistributedMatrix<T>&, const LuReport&, double, \
                               const FactorOptions&);                                                     \
  template double condition<T>(const ExecutionSpace&, const MatrixView<T>&, const LuReport&, double,      \
                               const FactorOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
