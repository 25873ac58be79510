// Systems with factors that are distributed over all ranks.
#pragma once

#include "emulation/quantised.hpp"
#include "solve/grid/factorization.hpp"
#include "solve/grid/host_copy.hpp"
#include "solve/system/substitution.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace heddle::impl {

/// Columns of right-hand sides, dealt out in blocks whose size does not depend on the number of ranks.
inline CyclicAxis right_hand_sides(Index count, int ranks) {
  constexpr Index blocks = 16;
  constexpr Index least = 64;
  return {count, std::max(least, (count + blocks - 1) / blocks), ranks};
}

/// Return the order with row i of P A being row order[i] of A; `back`: the reverse.
inline std::vector<Index> order_of(const std::vector<Index>& pivots, bool back) {
  std::vector<Index> order(pivots.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  for (std::size_t k = 0; k < order.size(); ++k) std::swap(order[k], order[static_cast<std::size_t>(pivots[k])]);
  if (!back) return order;
  std::vector<Index> other(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) other[static_cast<std::size_t>(order[i])] = static_cast<Index>(i);
  return other;
}

/// x(i, j) = kept(sources(i), j).
template <class T> struct TakeRow {
  Elements<T> kept;
  Elements<T> x;
  Kokkos::View<Index*, MemorySpace> sources;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { x(i, j) = kept(sources(i), j); }
};

/// Factors in the placement that substitution wants, and systems with them, with a workspace for factors of one order.
template <Scalar T> class FactoredSystem {
 public:
  FactoredSystem(const OptionalRanks& ranks, Index order, Index columns, const FactorOptions& options)
      : ranks_(ranks),
        schedule_(schedule_for(order, order, with_arithmetic(options))),
        axis_(columns_of(schedule_, ranks_.size())),
        right_(right_hand_sides(columns, ranks_.size())),
        substitution_(ranks_.space(), ranks_.comm(), schedule_, axis_, right_, with_arithmetic(options).arithmetic) {}
  FactoredSystem(const PlacedMatrix<T>& factors, Index columns, const FactorOptions& options)
      : FactoredSystem(factors.ranks(), factors.rows(), columns, options) {
    take(factors);
  }
  /// Sets the factors of the following systems; factors in host memory stay there.
  void take(const PlacedMatrix<T>& factors) {
    factors_ = placed(factors, placement_of_columns(schedule_.rows, axis_).in(factors.residence()));
  }

  [[nodiscard]] Placement right_placement() const { return placement_of_columns(schedule_.rows, right_); }
  /// New right-hand sides, in right_placement().
  [[nodiscard]] PlacedMatrix<T> new_right(const std::string& label) const {
    return PlacedMatrix<T>(ranks_, right_placement(), label);
  }
  /// Runs work(X), with right-hand sides X in right_placement(). Blocks.
  template <class Work> void with_right(const PlacedMatrix<T>& X, const Work& work) {
    const PlacedMatrix<T> x = placed(X, right_placement());
    work(x);
    if (!X.lies_as(right_placement())) redistribute(x, X);
    ranks_.space().fence("heddle::solve::solved");
  }
  void triangle(Triangle triangle, Operation op, Diagonal diagonal, const PlacedMatrix<T>& X) {
    substitution_.solve(triangle, op, diagonal, factors_.local(), X.local(), factors_.residence() == Residence::host);
  }
  /// X = op(A)^-1 X from the factors of lu(), for right-hand sides in right_placement().
  void solve_by_lu(Operation op, const std::vector<Index>& pivots, const PlacedMatrix<T>& X) {
    if (op == Operation::none) {
      take_rows(order_of(pivots, false), X.local());
      triangle(Triangle::lower, op, Diagonal::unit, X);
      triangle(Triangle::upper, op, Diagonal::stored, X);
    } else {
      triangle(Triangle::upper, op, Diagonal::stored, X);
      triangle(Triangle::lower, op, Diagonal::unit, X);
      take_rows(order_of(pivots, true), X.local());
    }
  }
  /// X = A^-1 X from the factor of cholesky(), likewise.
  void solve_by_cholesky(const PlacedMatrix<T>& X) {
    triangle(Triangle::lower, Operation::none, Diagonal::stored, X);
    triangle(Triangle::lower, Operation::conjugate_transpose, Diagonal::stored, X);
  }
  /// X(i, :) becomes row order[i] of X.
  void take_rows(const std::vector<Index>& order, const MatrixView<T>& X) {
    const ExecutionSpace& space = ranks_.space();
    const auto rows = static_cast<Index>(X.extent(0));
    const auto columns = static_cast<Index>(X.extent(1));
    if (rows == 0 || columns == 0) return;
    grow(space, "heddle::solve::rows", rows, order_);
    grow(space, "heddle::solve::before", rows * columns, before_);
    Kokkos::deep_copy(
        space, Kokkos::subview(order_, Kokkos::pair<Index, Index>(0, rows)),
        Kokkos::View<const Index*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(order.data(), order.size()));
    space.fence("heddle::solve::rows");  // `order` is read until then.
    const MatrixView<T> copy = matrix_view(before_.data(), rows, columns, rows);
    copy_elements<T>(space, "heddle::solve::keep_rows", X, copy);
    for_each_element(space, "heddle::solve::take_rows", rows, columns,
                     TakeRow<T>{Elements<T>(copy), Elements<T>(X), order_});
  }

 private:
  OptionalRanks ranks_;
  LuSchedule schedule_;
  CyclicAxis axis_;
  PlacedMatrix<T> factors_;
  CyclicAxis right_;
  Substitution<T> substitution_;
  Kokkos::View<Index*, MemorySpace> order_;  // Created on first use.
  Kokkos::View<T*, MemorySpace> before_;
};

/// A copy of A in the placement of factorizations, in the memory that A is in.
template <Scalar T> PlacedMatrix<T> copy_to_factor(const PlacedMatrix<T>& A, const FactorOptions& options) {
  const LuSchedule schedule = schedule_for(A.rows(), A.columns(), with_arithmetic(options));
  const Placement placement = placement_of_columns(A.rows(), columns_of(schedule, A.ranks().size()));
  const PlacedMatrix<T> copy(A.ranks(), placement.in(A.residence()), "heddle::solve::factors");
  redistribute(A, copy);
  return copy;
}
/// lu() of A in place.
template <Scalar T> LuReport factor_by_lu(const PlacedMatrix<T>& A, const FactorOptions& options) {
  return A.ranks().comm() != nullptr ? lu(*A.ranks().comm(), A.distributed(), options)
                                     : lu(A.space(), A.local(), options);
}

}  // namespace heddle::impl
