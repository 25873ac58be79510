// Determinants, of matrices and from factors.
#include "core/instantiate.hpp"
#include "solve/grid/over_ranks.hpp"
#include "solve/lu/pivots.hpp"
#include "solve/proof/long_determinant.hpp"
#include "solve/proof/long_product.hpp"
#include "solve/system/diagonal_product.hpp"
#include "solve/system/equilibration.hpp"
#include "solve/system/inverse_norm.hpp"
#include "solve/system/residuals.hpp"
#include <heddle/solve/memory.hpp>
#include <heddle/solve/solve.hpp>

#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace heddle {
namespace impl {
namespace {

template <Scalar T> void check_determinant(const PlacedMatrix<T>& A, const FactorOptions& options) {
  require_square("determinant", "A", A);
  require_lu_options("determinant", A.rows(), A.columns(), options);
  require_grid("determinant", options, A.ranks().size());
}
template <Scalar T>
Determinant<T> determinant_of(const PlacedMatrix<T>& A, const FactorOptions& options, Rounding rounding) {
  const int ranks = A.ranks().size();
  const LuSchedule schedule = schedule_for(A.rows(), A.columns(), with_arithmetic(options));
  const bool on_device = A.residence() == Residence::device;
  const double needed = lu_memory<T>(A.rows(), A.columns(), ranks, options, options.grid_rows == 1, A.residence()) +
                        (on_device ? bytes_of_local<T>(A.rows(), columns_of(schedule, ranks)) : 0.0) +
                        (rounding == Rounding::correct ? bytes_of_long_matrices<T>(A.rows(), ranks) : 0.0);
  require_memory("determinant", A.ranks().comm(), needed, static_cast<double>(options.memory_limit));
  if (rounding == Rounding::correct) {
    if (const std::optional<Determinant<T>> rounded = round_determinant(A, options)) return *rounded;
  }
  const Equilibration<T> scaling(A, false);
  const PlacedMatrix<T> factors = copy_to_factor(A, options);
  if (scaling.scales()) scale_by(factors, scaling.rows(), scaling.columns());
  const LuReport report = factor_by_lu(factors, options);
  Determinant<T> found = product_of<T>(diagonal_of(factors), report.pivots);
  const double size = part_size(found.mantissa);
  if (size == 0) return found;
  // A matrix with a row or column of zeros is not scaled, and its factorization may produce infinities as well.
  const std::vector<Index> none(static_cast<std::size_t>(A.rows()), 0);
  if (report.info != 0 && std::isfinite(one_norm(A, none, none).number)) return {T(0), 0};
  if (!std::isfinite(size)) return found;
  for (const std::vector<Index>* exponents : {&scaling.rows(), &scaling.columns()}) {
    found.exponent -= std::accumulate(exponents->begin(), exponents->end(), Index{0});
  }
  return found;
}

}  // namespace
}  // namespace impl

template <Scalar T>
Determinant<T> determinant(const Communicator& comm, const DistributedMatrix<T>& A, const FactorOptions& options,
                           Rounding rounding) {
  const impl::PlacedMatrix<T> a(A);
  std::vector<impl::Argument> arguments = impl::arguments_of(options);
  arguments.push_back(impl::argument("A", A.placement()));
  arguments.push_back(impl::argument("rounding", to_string(rounding)));
  return impl::over_ranks(
      comm, "determinant", arguments, [&] { impl::check_determinant(a, options); },
      [&] { return impl::determinant_of(a, options, rounding); });
}

template <Scalar T>
Determinant<T> determinant(const ExecutionSpace& space, const MatrixView<T>& A, const FactorOptions& options,
                           Rounding rounding) {
  const impl::PlacedMatrix<T> a(space, "determinant", "A", A);
  impl::check_determinant(a, options);
  return impl::determinant_of(a, options, rounding);
}

template <Scalar T>
Determinant<T> determinant(const Communicator& comm, const DistributedMatrix<T>& LU, const LuReport& factors) {
  const impl::PlacedMatrix<T> of(LU);
  return impl::over_ranks(
      comm, "determinant", std::vector<impl::Argument>{impl::argument("LU", LU.placement())},
      [&] { impl::require_factors("determinant", of, factors); },
      [&] { return impl::product_of<T>(impl::diagonal_of(of), factors.pivots); });
}

template <Scalar T>
Determinant<T> determinant(const ExecutionSpace& space, const MatrixView<T>& LU, const LuReport& factors) {
  const impl::PlacedMatrix<T> of(space, "determinant", "LU", LU);
  impl::require_factors("determinant", of, factors);
  return impl::product_of<T>(impl::diagonal_of(of), factors.pivots);
}

#define HEDDLE_INSTANTIATE(T)                                                                                          \
  template Determinant<T> determinant<T>(const Communicator&, const DistributedMatrix<T>&, const FactorOptions&,       \
                                         Rounding);                                                                    \
  template Determinant<T> determinant<T>(const ExecutionSpace&, const MatrixView<T>&, const FactorOptions&, Rounding); \
  template Determinant<T> determinant<T>(const Communicator&, const DistributedMatrix<T>&, const LuReport&);           \
  template Determinant<T> determinant<T>(const ExecutionSpace&, const MatrixView<T>&, const LuReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
