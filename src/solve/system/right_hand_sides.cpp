// Scaling of right-hand sides and solutions by powers of two, and search for columns that are not finite.
#include "solve/system/right_hand_sides.hpp"

#include "core/instantiate.hpp"
#include "exact/products/quotient.hpp"
#include "solve/grid/host_copy.hpp"
#include "solve/grid/over_rows.hpp"
#include "solve/system/equilibration.hpp"

#include <limits>
#include <string>

namespace heddle::impl {
namespace {

using Team = Kokkos::TeamPolicy<ExecutionSpace>::member_type;

// A team searches a column.
template <Scalar T> struct FindNotFinite {
  Elements<T> M;
  Index rows;
  Index* found;
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Index j = team.league_rank();
    Index count = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, rows),
        [&](Index i, Index& sum) { sum += exact::impl::is_finite(part_size(M(i, j))) ? 0 : 1; }, count);
    Kokkos::single(Kokkos::PerTeam(team), [&]() { found[j] = count > 0 ? 1 : 0; });
  }
};

// Exponents e with 2^(e - 1) <= part < 2^e once rows are scaled.
template <Scalar T> struct ChoosePowers {
  using Exponents = Kokkos::MinMaxScalar<Index>;
  Elements<T> B;
  Index rows;
  Kokkos::View<const Index*, MemorySpace> by_row;
  Kokkos::View<const Index*, MemorySpace> careful;
  Index size;
  Index room;
  Index* powers;

  static KOKKOS_INLINE_FUNCTION void join(Exponents& all, double part, Index by) {
    if (part == 0 || !exact::impl::is_finite(part)) return;
    const Index exponent = exact::impl::power_of(part) + 1 + by;
    all.min_val = exponent < all.min_val ? exponent : all.min_val;
    all.max_val = exponent > all.max_val ? exponent : all.max_val;
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Index power_for(const Exponents& all, bool is_careful) const {
    using Limits = std::numeric_limits<Real<T>>;
    constexpr Index top = Limits::max_exponent / 2;
    constexpr Index bottom = Limits::min_exponent / 2;
    constexpr Index whole = Limits::min_exponent + Limits::digits;  // Numbers from 2^whole on have all of their digits.
    if (all.max_val < all.min_val) return 0;
    if (is_careful) {
      const Index to = bottom + size;
      return (to < bottom ? bottom : to > top ? top : to) - all.max_val;
    }
    if (all.max_val > Limits::max_exponent - room) return top - all.max_val;
    if (all.min_val > whole || all.max_val >= top) return 0;
    const Index wanted = whole + 1 - all.min_val;
    return wanted < top - all.max_val ? wanted : top - all.max_val;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Index j = team.league_rank();
    Exponents all;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, rows),
        [&](Index i, Exponents& mine) {
          join(mine, Kokkos::abs(real_of<double>(B(i, j))), by_row(i));
          if constexpr (is_complex<T>) join(mine, Kokkos::abs(imaginary_of<double>(B(i, j))), by_row(i));
        },
        Kokkos::MinMax<Index>(all));
    const bool is_careful = careful.extent(0) > 0 && careful(j) != 0;
    Kokkos::single(Kokkos::PerTeam(team), [&]() { powers[j] = power_for(all, is_careful); });
  }
};

template <Scalar T> bool is_empty(const PlacedMatrix<T>& M) {
  return M.local().extent(0) == 0 || M.local().extent(1) == 0;
}
template <Scalar T> OfColumns numbers_of_columns(const PlacedMatrix<T>& M, const std::string& label) {
  return OfColumns(Kokkos::view_alloc(M.space(), label), M.local().extent(1));
}
template <Scalar T> Kokkos::TeamPolicy<ExecutionSpace> team_a_column(const PlacedMatrix<T>& M) {
  return {M.space(), static_cast<int>(M.local().extent(1)), Kokkos::AUTO};
}

}  // namespace

template <Scalar T> OfColumns columns_not_finite(const PlacedMatrix<T>& M) {
  const OfColumns found = numbers_of_columns(M, "heddle::solve::not_finite");
  if (is_empty(M)) return found;
  Kokkos::parallel_for("heddle::solve::columns_not_finite", team_a_column(M),
                       FindNotFinite<T>{Elements<T>(M.local()), static_cast<Index>(M.local().extent(0)), found.data()});
  return found;
}

template <Scalar T>
OfColumns scale_right(const PlacedMatrix<T>& B, const std::vector<Index>& rows, const OfColumns& careful, Index size,
                      Index room) {
  const OfColumns powers = numbers_of_columns(B, "heddle::solve::powers");
  if (is_empty(B)) return powers;
  const OfColumns by_row = of_local_rows(B, rows);
  Kokkos::parallel_for("heddle::solve::choose_powers", team_a_column(B),
                       ChoosePowers<T>{Elements<T>(B.local()), static_cast<Index>(B.local().extent(0)), by_row, careful,
                                       size, room, powers.data()});
  const Elements<T> b(B.local());
  for_each_local(
      B, "heddle::solve::scale_right",
      KOKKOS_LAMBDA(Index i, Index j) { b(i, j) = times_power_of_two(b(i, j), by_row(i) + powers(j)); });
  return powers;
}

template <Scalar T>
void scale_solution(const PlacedMatrix<T>& X, const std::vector<Index>& rows, const OfColumns& powers,
                    const std::vector<Index>& more) {
  if (is_empty(X)) return;
  const OfColumns by_row = of_local_rows(X, rows);
  const OfColumns others = more.empty() ? numbers_of_columns(X, "heddle::solve::powers") : of_local_columns(X, more);
  const Elements<T> x(X.local());
  for_each_local(
      X, "heddle::solve::scale_solution",
      KOKKOS_LAMBDA(Index i, Index j) { x(i, j) = times_power_of_two(x(i, j), by_row(i) - powers(j) - others(j)); });
}

template <Scalar T> void correct(const PlacedMatrix<T>& X, const PlacedMatrix<T>& R) {
  const Elements<T> x(X.local());
  const Elements<T> r(R.local());
  for_each_local(
      X, "heddle::solve::correct", KOKKOS_LAMBDA(Index i, Index j) {
        if (exact::impl::is_finite(part_size(r(i, j)))) x(i, j) += r(i, j);
      });
}

template <Scalar T> void take_for_not_finite(const PlacedMatrix<T>& X, const PlacedMatrix<T>& Y) {
  const Elements<T> x(X.local());
  const Elements<T> y(Y.local());
  for_each_local(
      X, "heddle::solve::take_for_not_finite", KOKKOS_LAMBDA(Index i, Index j) {
        if (!exact::impl::is_finite(part_size(x(i, j)))) x(i, j) = y(i, j);
      });
}

template <Scalar T> Index first_overflow(const PlacedMatrix<T>& B, const PlacedMatrix<T>& X) {
  const auto of_b = host_copy(B.space(), columns_not_finite(B));
  const auto of_x = host_copy(X.space(), columns_not_finite(X));
  // Negated, so that the maximum over ranks is the first column.
  const auto none = -std::numeric_limits<double>::max();
  double mine = none;
  for (std::size_t j = of_x.extent(0); j-- > 0;) {
    if (of_x(j) != 0 && of_b(j) == 0) mine = -static_cast<double>(X.global_column(static_cast<Index>(j)) + 1);
  }
  const double first = X.ranks().all_reduce(mine, Reduction::maximum);
  return first == none ? 0 : static_cast<Index>(-first);
}

#define HEDDLE_INSTANTIATE(T)                                                                                   \
  template OfColumns columns_not_finite<T>(const PlacedMatrix<T>&);                                             \
  template OfColumns scale_right<T>(const PlacedMatrix<T>&, const std::vector<Index>&, const OfColumns&, Index, \
                                    Index);                                                                     \
  template void scale_solution<T>(const PlacedMatrix<T>&, const std::vector<Index>&, const OfColumns&,          \
                                  const std::vector<Index>&);                                                   \
  template void correct<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&);                                     \
  template void take_for_not_finite<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&);                         \
  template Index first_overflow<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
