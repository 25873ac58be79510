// How well pairs solve a pencil H C = S C diag(w), and their refinement in twice the precision.
#include "eigen/pencils/pairs.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "eigen/dense/copies.hpp"
#include "eigen/dense/orthonormal.hpp"
#include "eigen/dense/results.hpp"
#include "eigen/dense/rotation.hpp"
#include "eigen/dense/two_sided.hpp"
#include "eigen/pencils/cholesky.hpp"
#include "eigen/pencils/pencil.hpp"
#include <heddle/blas/blas.hpp>

#include <cmath>
#include <numeric>

namespace heddle::eigen::impl {
namespace {

using heddle::impl::for_each_element;

double squared_size(const std::vector<double>& norms) {
  double sum = 0;
  for (const double norm : norms) {
    sum += norm * norm;
  }
  return sum;
}

// |HC_j - w_j SC_j| of each column j.
template <Scalar T>
std::vector<double> residuals(const ExecutionSpace& space, const Dense<T>& HC, const Dense<T>& SC,
                              const std::vector<Real<T>>& w) {
  const auto n = static_cast<Index>(HC.extent(0));
  const auto values = on_device(space, "heddle::eigen::values", w);
  const Dense<T> R = dense<T>(space, "heddle::eigen::residuals", n, n);
  for_each_element(
      space, "heddle::eigen::residuals", n, n,
      KOKKOS_LAMBDA(Index i, Index j) { R(i, j) = HC(i, j) - SC(i, j) * values(j); });
  return column_norms<T>(space, R);
}

// The largest |inner_ij - delta_ij| / (|c_i| |c_j|).
template <Scalar T>
double largest_departure(const ExecutionSpace& space, const Dense<T>& inner, const std::vector<double>& lengths) {
  const auto n = static_cast<Index>(inner.extent(0));
  const auto sizes = on_device(space, "heddle::eigen::lengths", lengths);
  double most = 0;
  Kokkos::parallel_reduce(
      "heddle::eigen::largest_departure",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n * n),
      KOKKOS_LAMBDA(Index at, double& found) {
        const Index i = at % n;
        const Index j = at / n;
        const T off = i == j ? inner(i, j) - T(1) : inner(i, j);
        const double share = static_cast<double>(magnitude(off)) / (sizes(i) * sizes(j));
        // A reduction loses NaN.
        found = Kokkos::fmax(found, share == share ? share : Kokkos::Experimental::infinity_v<double>);
      },
      Kokkos::Max<double>(most));
  return most;
}

}  // namespace

template <Scalar T>
Pairs<T> by_graded_rotations(const ExecutionSpace& space, const Dense<T>& M, const JacobiOptions& options,
                             JacobiReport& report) {
  using R = Real<T>;
  const auto n = static_cast<Index>(M.extent(0));
  std::vector<double> sizes;
  for (const R value : diagonal_of<T>(space, M)) {
    sizes.push_back(-std::abs(static_cast<double>(value)));
  }
  const std::vector<Index> order = ascending(sizes);
  const Dense<T> sorted = permuted<T>(space, M, on_device(space, "heddle::eigen::order", order));
  const Dense<T> Q = identity<T>(space, n);
  const Criterion<R> criterion = criterion_for<T>(options.tolerance, n);
  // Beside a zero on the diagonal every element counts, but those that are too small to be rotated.
  two_sided<T>(space, sorted, Q, {criterion.least, criterion.tolerance, R(1), true, smallest_rotated<R>},
               Indefinite::allowed, options, report);
  report.accuracy = JacobiAccuracy::norm;
  const std::vector<R> diagonal = diagonal_of<T>(space, sorted);
  Pairs<T> pairs{{diagonal.begin(), diagonal.end()}, dense<T>(space, "heddle::eigen::unit_vectors", n, n)};
  std::vector<Index> straight(order.size());
  std::iota(straight.begin(), straight.end(), Index{0});
  gather_vectors<T>(space, Q, order, straight, std::vector<double>(order.size(), 1.0), strided(pairs.vectors));
  return pairs;
}

template <Scalar T>
double backward_error(const ExecutionSpace& space, const Dense<T>& H, const Dense<T>& S, const Pairs<T>& pairs,
                      bool reproducible) {
  using R = Real<T>;
  const auto n = static_cast<Index>(H.extent(0));
  const Dense<T>& C = pairs.vectors;
  std::optional<blas::Context> context;
  if (!reproducible) {
    context.emplace(space);
  }
  const auto product = [&](bool of_adjoint, const Dense<T>& A, const Dense<T>& B) {
    const Dense<T> AB = dense<T>(space, "heddle::eigen::product", n, n);
    if (context) {
      blas::gemm<T>(*context, of_adjoint ? Operation::conjugate_transpose : Operation::none, Operation::none, T(1), A,
                    B, T(0), AB);
    } else {
      doubled_product<T>(space, of_adjoint ? adjoint<T>(space, A) : A, B, AB);
    }
    return AB;
  };
  const Dense<T> SC = product(false, S, C);
  const std::vector<R> w(pairs.values.begin(), pairs.values.end());
  const std::vector<double> left = residuals<T>(space, product(false, H, C), SC, w);
  const std::vector<double> lengths = column_norms<T>(space, C);
  const double norm_of_H = std::sqrt(squared_size(column_norms<T>(space, H)));
  const double norm_of_S = std::sqrt(squared_size(column_norms<T>(space, S)));
  double worst = largest_departure<T>(space, product(true, C, SC), lengths) / norm_of_S;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const double allowed = (norm_of_H + std::abs(static_cast<double>(w[j])) * norm_of_S) * lengths[j];
    // The residual is 0 for H = 0 and w = 0, and `allowed` too.
    const double share = left[j] == 0 ? 0 : left[j] / allowed;
    worst = share <= worst ? worst : share;
  }
  return worst / (static_cast<double>(n) * static_cast<double>(unit_roundoff<T>));
}

template <Scalar T>
std::optional<Pairs<T>> refined(const ExecutionSpace& space, const Dense<T>& H, const Dense<T>& S,
                                const Pairs<T>& pairs, const JacobiOptions& options, JacobiReport& report) {
  using R = Real<T>;
  const auto n = static_cast<Index>(H.extent(0));
  const Dense<T> near_diagonal = dense<T>(space, "heddle::eigen::near_diagonal", n, n);
  const Dense<T> near_identity = dense<T>(space, "heddle::eigen::near_identity", n, n);
  transform<T>(space, H, pairs.vectors, near_diagonal);
  transform<T>(space, S, pairs.vectors, near_identity);
  const std::vector<R> energies = diagonal_of<T>(space, near_diagonal);
  const std::vector<R> lengths = diagonal_of<T>(space, near_identity);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < energies.size(); ++i) {
    ratios.push_back(std::abs(static_cast<double>(energies[i])) / static_cast<double>(lengths[i]));
  }
  const std::vector<Index> order = ascending(ratios);
  const Dense<T> L = permuted<T>(space, near_identity, on_device(space, "heddle::eigen::order", order));
  if (!cholesky<T>(space, L)) {
    return {};
  }
  const FactoredMatrix<T> near(space, L, order);
  const Pairs<T> rotated = by_graded_rotations<T>(space, near.reduced(near_diagonal), options, report);
  const Dense<T> turned = dense<T>(space, "heddle::eigen::turned", n, n);
  near.expand(rotated.vectors, turned);
  const Dense<T> X = dense<T>(space, "heddle::eigen::refined", n, n);
  doubled_product<T>(space, pairs.vectors, turned, X);
  return Pairs<T>{rotated.values, X};
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template Pairs<T> by_graded_rotations<T>(const ExecutionSpace&, const Dense<T>&, const JacobiOptions&,             \
                                           JacobiReport&);                                                           \
  template double backward_error<T>(const ExecutionSpace&, const Dense<T>&, const Dense<T>&, const Pairs<T>&, bool); \
  template std::optional<Pairs<T>> refined<T>(const ExecutionSpace&, const Dense<T>&, const Dense<T>&,               \
                                              const Pairs<T>&, const JacobiOptions&, JacobiReport&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
