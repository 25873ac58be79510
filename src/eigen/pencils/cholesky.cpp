// Cholesky factorization L L^H of Hermitian matrices whose diagonal is sorted first.
#include "eigen/pencils/cholesky.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "eigen/dense/rotation.hpp"

#include <algorithm>

namespace heddle::eigen::impl {

using heddle::impl::for_each_element;

template <Scalar T> std::vector<Real<T>> diagonal_of(const Scratch& scratch, const StridedMatrix<const T>& A) {
  const ExecutionSpace& space = scratch.space();
  const std::size_t n = A.extent(0);
  const Values<Real<T>> diagonal = scratch.values<Real<T>>("heddle::eigen::diagonal", n);
  Kokkos::parallel_for(
      "heddle::eigen::diagonal", Kokkos::RangePolicy<ExecutionSpace>(space, 0, n),
      KOKKOS_LAMBDA(Index i) { diagonal(i) = real_part(A(i, i)); });
  return to_host(space, "heddle::eigen::diagonal", diagonal);
}

template <Scalar T> void update_rest(const ExecutionSpace& space, const Dense<T>& A, Index begin, Index end) {
  constexpr Index at_once = 8;
  const auto n = static_cast<Index>(A.extent(0));
  Kokkos::parallel_for(
      "heddle::eigen::cholesky_rest", column_teams(space, n - end), KOKKOS_LAMBDA(const ColumnTeam& team) {
        const Index j = end + team.league_rank();
        for (Index k = begin; k < end; k += at_once) {
          const Index last = k + at_once < end ? k + at_once : end;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, j, n), [&](Index i) {
            T sum = A(i, j);
            for (Index at = k; at < last; ++at) {
              sum = multiply_add<T>(A(i, at), -conjugate(A(j, at)), sum);
            }
            A(i, j) = sum;
          });
        }
      });
}

template <Scalar T> bool cholesky(const Scratch& scratch, const Dense<T>& A) {
  const ExecutionSpace& space = scratch.space();
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  constexpr Index block = 32;
  const Values<int> failed = scratch.values<int>("heddle::eigen::cholesky_failed", 1);
  Kokkos::deep_copy(space, failed, 0);
  for (Index begin = 0; begin < n; begin += block) {
    const Index end = std::min(begin + block, n);
    Kokkos::parallel_for(
        "heddle::eigen::cholesky_diagonal",
        heddle::impl::on_host ? ColumnTeams(space, 1, 1) : ColumnTeams(space, 1, 1, 32),
        KOKKOS_LAMBDA(const ColumnTeam& team) {
          for (Index j = begin; j < end; ++j) {
            const R pivot = real_part(A(j, j));
            team.team_barrier();
            if (!(pivot > 0)) {
              Kokkos::single(Kokkos::PerTeam(team), [&] { failed(0) = 1; });
              return;
            }
            const R root = Kokkos::sqrt(pivot);
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, j, end),
                                 [&](Index i) { A(i, j) = i == j ? T(root) : A(i, j) / root; });
            team.team_barrier();
            for (Index k = j + 1; k < end; ++k) {
              const T factor = -conjugate(A(k, j));
              Kokkos::parallel_for(Kokkos::TeamVectorRange(team, k, end),
                                   [&](Index i) { A(i, k) = multiply_add<T>(A(i, j), factor, A(i, k)); });
            }
            team.team_barrier();
          }
        });
    // Rows below: X L^H = A.
    Kokkos::parallel_for(
        "heddle::eigen::cholesky_panel", Kokkos::RangePolicy<ExecutionSpace>(space, end, n), KOKKOS_LAMBDA(Index i) {
          for (Index j = begin; j < end; ++j) {
            T sum = A(i, j);
            for (Index k = begin; k < j; ++k) {
              sum = multiply_add<T>(-A(i, k), conjugate(A(j, k)), sum);
            }
            A(i, j) = sum / real_part(A(j, j));
          }
        });
    update_rest(space, A, begin, end);
  }
  for_each_element(
      space, "heddle::eigen::lower", n, n, KOKKOS_LAMBDA(Index i, Index j) {
        if (i < j) {
          A(i, j) = T(0);
        }
      });
  return to_host(space, "heddle::eigen::cholesky", failed).front() == 0;
}

template <Scalar T>
double sorted_cholesky(const Scratch& scratch, const Dense<T>& A, std::vector<Index>& order, const Dense<T>& L) {
  const std::vector<Real<T>> diagonal = diagonal_of<T>(scratch, A);
  if (!std::all_of(diagonal.begin(), diagonal.end(), [](Real<T> value) { return value > 0; })) {
    return 0;
  }
  std::vector<Real<T>> negative = diagonal;
  std::transform(negative.begin(), negative.end(), negative.begin(), [](Real<T> value) { return -value; });
  order = ascending(negative);
  const auto at = on_device(scratch, "heddle::eigen::order", order);
  const auto n = static_cast<Index>(A.extent(0));
  for_each_element(
      scratch.space(), "heddle::eigen::permuted", n, n, KOKKOS_LAMBDA(Index i, Index j) { L(i, j) = A(at(i), at(j)); });
  if (!cholesky<T>(scratch, L)) {
    return 0;
  }
  const std::vector<Real<T>> pivots = diagonal_of<T>(scratch, L);
  double least = 1;
  for (std::size_t j = 0; j < pivots.size(); ++j) {
    const auto pivot = static_cast<double>(pivots[j]);
    least = std::min(least, pivot * pivot / static_cast<double>(diagonal[static_cast<std::size_t>(order[j])]));
  }
  return least;
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template std::vector<Real<T>> diagonal_of<T>(const Scratch&, const StridedMatrix<const T>&); \
  template bool cholesky<T>(const Scratch&, const Dense<T>&);                                  \
  template void update_rest<T>(const ExecutionSpace&, const Dense<T>&, Index, Index);          \
  template double sorted_cholesky<T>(const Scratch&, const Dense<T>&, std::vector<Index>&, const Dense<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
