#include "eigen/dense/scaling.hpp"

#include "core/instantiate.hpp"
#include "dist/elementwise.hpp"
#include <heddle/core/error.hpp>

namespace heddle::eigen::impl {

template <Scalar T> Scaled<T> scaled(const ExecutionSpace& space, const StridedMatrix<const T>& A, bool upper) {
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  Scaled<T> result;
  const Dense<T> S = dense<T>(space, "heddle::eigen::matrix", n, n);
  result.matrix = S;
  R largest = 0;
  R off = 0;
  R least = 0;
  int bad = 0;
  Kokkos::parallel_reduce(
      "heddle::eigen::largest_element", column_teams(space, n),
      KOKKOS_LAMBDA(const ColumnTeam& team, R& most, R& most_off, R& least_diagonal, int& count) {
        const Index j = team.league_rank();
        R mine = 0;
        R mine_off = 0;
        int not_finite = 0;
        const Index begin = upper ? 0 : j;
        const Index end = upper ? j + 1 : n;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, begin, end),
            [&](Index i, R& here, R& here_off, int& wrong) {
              const T value = i == j ? T(real_part(A(i, j))) : A(i, j);
              const R size = largest_part(value);
              wrong += Kokkos::isfinite(size) ? 0 : 1;
              here = Kokkos::fmax(here, size);
              here_off = i == j ? here_off : Kokkos::fmax(here_off, size);
            },
            Kokkos::Max<R>(mine), Kokkos::Max<R>(mine_off), Kokkos::Sum<int>(not_finite));
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          most = Kokkos::fmax(most, mine);
          most_off = Kokkos::fmax(most_off, mine_off);
          least_diagonal = Kokkos::fmin(least_diagonal, real_part(A(j, j)));
          count += not_finite;
        });
      },
      Kokkos::Max<R>(largest), Kokkos::Max<R>(off), Kokkos::Min<R>(least), Kokkos::Sum<int>(bad));
  require(bad == 0, "eigen: A has ", bad, " elements that are NaN or infinite in the triangle that is read");
  result.diagonal = !(off > 0);
  result.exponent = largest > 0 ? exponent_above(largest) : 0;
  result.spread = least > 0 ? exponent_above(largest) - exponent_above(least) : 0;
  const PowerOfTwo<R> down(-result.exponent);
  heddle::impl::for_each_element(
      space, "heddle::eigen::scaled", n, n, KOKKOS_LAMBDA(Index i, Index j) {
        const bool here = upper ? i <= j : i >= j;
        const T value = here ? A(i, j) : conjugate(A(j, i));
        S(i, j) = down.times(i == j ? T(real_part(value)) : value);
      });
  return result;
}

#define HEDDLE_INSTANTIATE(T) template Scaled<T> scaled<T>(const ExecutionSpace&, const StridedMatrix<const T>&, bool)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
