// Largest and smallest elements of a matrix, and its copy scaled by a power of two.
#include "eigen/dense/scaling.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include <heddle/core/error.hpp>

namespace heddle::eigen::impl {

namespace {

// Sizes of elements in the triangle that is read; `+=` joins parts of a reduction.
template <class R> struct Sizes {
  R largest = 0;
  R off_diagonal = 0;
  R least_diagonal = Kokkos::Experimental::infinity_v<R>;
  int not_finite = 0;

  KOKKOS_INLINE_FUNCTION Sizes& operator+=(const Sizes& other) {
    largest = Kokkos::fmax(largest, other.largest);
    off_diagonal = Kokkos::fmax(off_diagonal, other.off_diagonal);
    least_diagonal = Kokkos::fmin(least_diagonal, other.least_diagonal);
    not_finite += other.not_finite;
    return *this;
  }
};

}  // namespace

template <Scalar T> Scaled<T> scaled(const Scratch& scratch, const StridedMatrix<const T>& A, bool upper) {
  const ExecutionSpace& space = scratch.space();
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  Scaled<T> result;
  const Dense<T> S = dense<T>(scratch, "heddle::eigen::matrix", n, n);
  result.matrix = S;
  Sizes<R> found;
  Kokkos::parallel_reduce(
      "heddle::eigen::largest_element", column_teams(space, n),
      KOKKOS_LAMBDA(const ColumnTeam& team, Sizes<R>& sizes) {
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
          sizes += Sizes<R>{mine, mine_off, real_part(A(j, j)), not_finite};
        });
      },
      found);
  require(found.not_finite == 0, "eigen: A has ", found.not_finite,
          " elements that are NaN or infinite in the triangle that is read");
  result.diagonal = !(found.off_diagonal > 0);
  result.exponent = found.largest > 0 ? exponent_above(found.largest) : 0;
  result.spread =
      found.least_diagonal > 0 && n > 0 ? exponent_above(found.largest) - exponent_above(found.least_diagonal) : 0;
  const PowerOfTwo<R> down(-result.exponent);
  heddle::impl::for_each_element(
      space, "heddle::eigen::scaled", n, n, KOKKOS_LAMBDA(Index i, Index j) {
        const bool here = upper ? i <= j : i >= j;
        const T value = here ? A(i, j) : conjugate(A(j, i));
        S(i, j) = down.times(i == j ? T(real_part(value)) : value);
      });
  return result;
}

#define HEDDLE_INSTANTIATE(T) template Scaled<T> scaled<T>(const Scratch&, const StridedMatrix<const T>&, bool)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
