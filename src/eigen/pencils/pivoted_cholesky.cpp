// Blocked Cholesky factorization with complete pivoting, and triangular systems with its factors.
#include "eigen/pencils/pivoted_cholesky.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "eigen/dense/rotation.hpp"
#include "eigen/pencils/cholesky.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::eigen::impl {
namespace {

constexpr Index block = 32;
constexpr Index at_once = 8;

template <class R> struct Outcome {
  Index failed = -1;
  Index row = -1;
  R share = 0;
  R least = 1;
};

// Columns begin ... end of the factor, by one team: the pivot of each is known when those before it are done. The
// trailing update reaches columns of the panel when they are needed (the diagonal, `left`, at once), and the rest by
// `update_rest`.
template <Scalar T> struct PanelKernel {
  using R = Real<T>;
  Dense<T> A;
  Values<R> left;  // The updated diagonal.
  Values<R> own;   // The diagonal that was given.
  Values<Index> order;
  Kokkos::View<Outcome<R>, MemorySpace> outcome;
  R least_share;
  Index begin;
  Index end;

  KOKKOS_FUNCTION void swap(const ColumnTeam& team, Index j, Index p) const {
    const auto n = static_cast<Index>(A.extent(0));
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), [&](Index i) {
      if (i == j || i == p) {
        return;
      }
      T& one = i < j ? A(j, i) : A(i, j);
      T& other = i < p ? A(p, i) : A(i, p);
      const bool crosses = i > j && i < p;
      const T kept = one;
      one = crosses ? conjugate(other) : other;
      other = crosses ? conjugate(kept) : kept;
    });
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      A(p, j) = conjugate(A(p, j));
      Kokkos::kokkos_swap(A(j, j), A(p, p));
      Kokkos::kokkos_swap(left(j), left(p));
      Kokkos::kokkos_swap(own(j), own(p));
      Kokkos::kokkos_swap(order(j), order(p));
    });
    team.team_barrier();
  }

  KOKKOS_FUNCTION void operator()(const ColumnTeam& team) const {
    const auto n = static_cast<Index>(A.extent(0));
    if (outcome().failed >= 0) {
      return;
    }
    for (Index j = begin; j < end; ++j) {
      using Location = Kokkos::MaxLoc<R, Index>;
      typename Location::value_type most;
      Kokkos::parallel_reduce(
          Kokkos::TeamVectorRange(team, j, n),
          [&](Index i, typename Location::value_type& found) {
            if (left(i) > found.val) {
              found.val = left(i);
              found.loc = i;
            }
          },
          Location(most));
      // Without a number to compare there is no place.
      const Index p = most.loc >= j && most.loc < n ? most.loc : j;
      const R pivot = left(p);
      const R share = pivot / own(p);
      team.team_barrier();
      if (!(pivot > 0) || !(share > least_share) || !Kokkos::isfinite(pivot)) {
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          outcome().failed = j;
          outcome().row = order(p);
          outcome().share = share;
        });
        return;
      }
      if (p != j) {
        swap(team, j, p);
      }
      Kokkos::single(Kokkos::PerTeam(team),
                     [&] { outcome().least = share < outcome().least ? share : outcome().least; });
      for (Index k = begin; k < j; k += at_once) {
        const Index last = k + at_once < j ? k + at_once : j;
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, j + 1, n), [&](Index i) {
          T sum = A(i, j);
          for (Index at = k; at < last; ++at) {
            sum = multiply_add<T>(A(i, at), -conjugate(A(j, at)), sum);
          }
          A(i, j) = sum;
        });
      }
      const R root = Kokkos::sqrt(pivot);
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, j + 1, n), [&](Index i) {
        const T element = A(i, j) / root;
        A(i, j) = element;
        left(i) = real_part(multiply_add<T>(element, -conjugate(element), T(left(i))));
      });
      Kokkos::single(Kokkos::PerTeam(team), [&] { A(j, j) = T(root); });
      team.team_barrier();
    }
  }
};

}  // namespace

template <Scalar T>
PivotedCholesky pivoted_cholesky(const ExecutionSpace& space, const Dense<T>& A, double least_share) {
  using R = Real<T>;
  const auto n = static_cast<Index>(A.extent(0));
  PanelKernel<T> panel;
  panel.A = A;
  const std::vector<R> diagonal = diagonal_of<T>(space, A);
  panel.left = on_device(space, "heddle::eigen::left", diagonal);
  panel.own = on_device(space, "heddle::eigen::own_diagonal", diagonal);
  std::vector<Index> order(diagonal.size());
  std::iota(order.begin(), order.end(), Index{0});
  panel.order = on_device(space, "heddle::eigen::order", order);
  Outcome<R> outcome;
  panel.outcome = Kokkos::View<Outcome<R>, MemorySpace>(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::eigen::cholesky_outcome"));
  Kokkos::deep_copy(space, panel.outcome, Kokkos::View<const Outcome<R>, Kokkos::HostSpace>(&outcome));
  panel.least_share = static_cast<R>(least_share);
  for (Index begin = 0; begin < n; begin += block) {
    panel.begin = begin;
    panel.end = std::min(begin + block, n);
    Kokkos::parallel_for("heddle::eigen::pivoted_panel",
                         heddle::impl::on_host ? ColumnTeams(space, 1, 1) : ColumnTeams(space, 1, 8, 32), panel);
    update_rest<T>(space, A, panel.begin, panel.end);
  }
  heddle::impl::for_each_element(
      space, "heddle::eigen::lower", n, n, KOKKOS_LAMBDA(Index i, Index j) {
        if (i < j) {
          A(i, j) = T(0);
        }
      });
  Kokkos::deep_copy(space, Kokkos::View<Outcome<R>, Kokkos::HostSpace>(&outcome), panel.outcome);
  PivotedCholesky result;
  result.order = to_host(space, "heddle::eigen::order", panel.order);
  result.least = static_cast<double>(outcome.least);
  result.failed = outcome.failed;
  result.row = outcome.row;
  result.share = static_cast<double>(outcome.share);
  return result;
}

template <Scalar T>
void solve_triangular(const ExecutionSpace& space, Triangle triangle, const Dense<T>& A, const MatrixView<T>& X) {
  const auto n = static_cast<Index>(A.extent(0));
  const bool lower = triangle == Triangle::lower;
  const Index blocks = (n + block - 1) / block;
  for (Index at = 0; at < blocks; ++at) {
    const Index begin = (lower ? at : blocks - 1 - at) * block;
    const Index end = std::min(begin + block, n);
    Kokkos::parallel_for(
        "heddle::eigen::solve_triangular", column_teams(space, static_cast<Index>(X.extent(1))),
        KOKKOS_LAMBDA(const ColumnTeam& team) {
          const Index column = team.league_rank();
          for (Index step = 0; step < end - begin; ++step) {
            const Index j = lower ? begin + step : end - 1 - step;
            const T x = X(j, column) / real_part(A(j, j));
            team.team_barrier();
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lower ? j : begin, lower ? end : j + 1), [&](Index i) {
              X(i, column) = i == j ? x : multiply_add<T>(A(i, j), -x, X(i, column));
            });
            team.team_barrier();
          }
          for (Index k = begin; k < end; k += at_once) {
            const Index last = k + at_once < end ? k + at_once : end;
            Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lower ? end : Index{0}, lower ? n : begin),
                                 [&](Index i) {
                                   T sum = X(i, column);
                                   for (Index from = k; from < last; ++from) {
                                     sum = multiply_add<T>(A(i, from), -X(from, column), sum);
                                   }
                                   X(i, column) = sum;
                                 });
          }
        });
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template PivotedCholesky pivoted_cholesky<T>(const ExecutionSpace&, const Dense<T>&, double); \
  template void solve_triangular<T>(const ExecutionSpace&, Triangle, const Dense<T>&, const MatrixView<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::eigen::impl
