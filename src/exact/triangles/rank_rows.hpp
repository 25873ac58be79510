// Rows of one rank in a triangular system that all ranks solve, on the host and on a GPU.
#pragma once

#include "core/launch_bounds.hpp"
#include "exact/products/columns.hpp"
#include "exact/sums/chunks.hpp"
#include "exact/triangles/device_trsv.hpp"

#include <type_traits>
#include <vector>

namespace heddle::exact::impl {

/// A triangular op(A), of which a rank has some whole rows.
template <Scalar T> struct RankSystem {
  Operand<T> local;  ///< local.columns is the order of the whole system.
  bool lower;
  bool unit;

  /// Returns the columns of row i that are solved before it.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Range known(Index i) const {
    return lower ? Range{0, i} : Range{i + 1, local.columns};
  }
  /// Returns the columns of row i that are read, including a stored diagonal.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Range read(Index i) const {
    const Range before = known(i);
    return unit ? before : lower ? Range{0, i + 1} : Range{i, local.columns};
  }
};

/// Rows [begin, end) of the system, stored from local row `local` on.
struct RankBlock {
  Index begin;
  Index end;
  Index local;
};

/// Rows on the host.
template <Scalar T> class HostRankRows {
 public:
  HostRankRows(const ExecutionSpace& space, const RankSystem<T>& system)
      : space_(space),
        system_(system),
        by_columns_(system.local.row_stride == 1 && system.local.rows >= fewest_rows),
        columns_(by_columns_ ? system.local.rows : 0),
        minus_(static_cast<std::size_t>(system.local.columns)) {}

  /// Begins with this rank's part of b.
  void begin(const std::vector<T>& b) {
    b_ = b;
    rows_.assign(by_columns_ ? 0 : b.size(), InnerSum<T>());
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (by_columns_) {
        columns_.set(static_cast<Index>(i), b[i]);
      } else {
        rows_[i].add(b[i]);
      }
    }
  }
  /// Solves for x of a block, from whose sums all earlier products have been subtracted: x[0] is that of its first row.
  void solve(const RankBlock& block, T* x) {
    const Operand<T>& A = system_.local;
    const RowSums<T> rows(A, minus_.data());
    const Index count = block.end - block.begin;
    for (Index step = 0; step < count; ++step) {
      const Index k = system_.lower ? step : count - 1 - step;
      const Index here = block.local + k;
      const Index i = block.begin + k;
      InnerSum<T> sum;
      if (by_columns_) {
        sum = columns_.get(here);
      } else {
        sum = rows_[static_cast<std::size_t>(here)];
        sum.merge(system_.lower ? rows.compensated(here, block.begin, i) : rows.compensated(here, i + 1, block.end));
      }
      const T value = rounded(sum, rows, here, system_.known(i), T(0));
      x[k] = system_.unit ? value : quotient(value, A(here, i));
      const T factor = -x[k];
      minus_[static_cast<std::size_t>(i)] = factor;
      if (by_columns_) {
        columns_.add(system_.lower ? here + 1 : block.local, system_.lower ? block.local + count : here,
                     A.block(0, i, A.rows, 1), [=](Index) { return factor; });
      }
    }
  }
  /// Subtracts the products with x of rows `found` of the system from local rows `rows`.
  void take_off(Range found, const T* x, Range rows) {
    for (Index k = found.begin; k < found.end; ++k) {
      minus_[static_cast<std::size_t>(k)] = -x[k - found.begin];
    }
    const Operand<T>& A = system_.local;
    const RowSums<T> sums(A, minus_.data());
    const T* const factors = minus_.data() + found.begin;
    constexpr Index chunk = 256;
    for_each_chunk(space_, "heddle::exact::trsv", rows.begin, rows.end, chunk, rows.size() > 2 * chunk,
                   [&](Index first, Index last) {
                     if (by_columns_) {
                       columns_.add(first, last, A.block(0, found.begin, A.rows, found.size()),
                                    [=](Index k) { return factors[k]; });
                       return;
                     }
                     for (Index i = first; i < last; ++i) {
                       rows_[static_cast<std::size_t>(i)].merge(sums.compensated(i, found.begin, found.end));
                     }
                   });
  }
  /// Returns b - op(A) x in this rank's rows, each element rounded once; row(i) is local row i in the system.
  template <class Row>
  [[nodiscard]] std::vector<T> residual(const std::vector<T>& b, const std::vector<T>& x, const Row& row) {
    b_ = b;
    for (std::size_t k = 0; k < x.size(); ++k) {
      minus_[k] = -x[k];
    }
    const RowSums<T> rows(system_.local, minus_.data());
    std::vector<T> result(b.size());
    for_each_chunk(space_, "heddle::exact::residual", 0, static_cast<Index>(b.size()), 64, true,
                   [&](Index first, Index last) {
                     for (Index i = first; i < last; ++i) {
                       const Range range = system_.read(row(i));
                       const T other = system_.unit ? minus_[static_cast<std::size_t>(row(i))] : T(0);
                       InnerSum<T> sum = rows.compensated(i, range.begin, range.end);
                       sum.add(b[static_cast<std::size_t>(i)]);
                       sum.add(other);
                       result[static_cast<std::size_t>(i)] = rounded(sum, rows, i, range, other);
                     }
                   });
    return result;
  }

 private:
  // Returns `sum`, which has local row i's b, `other` and the products in `range`, rounded once.
  [[nodiscard]] T rounded(const InnerSum<T>& sum, const RowSums<T>& rows, Index i, Range range, const T& other) const {
    T value;
    if (!sum.rounds_to(system_.local.columns, value)) {
      ExactSum<T> exact = rows.exact(i, range.begin, range.end);
      exact.add(b_[static_cast<std::size_t>(i)]);
      exact.add(other);
      value = exact.value();
    }
    return value;
  }

  ExecutionSpace space_;
  RankSystem<T> system_;
  bool by_columns_;
  Rows<T> columns_;                // Sums if A is taken by columns,
  std::vector<InnerSum<T>> rows_;  // and otherwise.
  std::vector<T> minus_;           // -x, as far as it is found.
  std::vector<T> b_;
};

/// Solves for x of a block of rows, by one team. `sums` are those of its rows, in the order of the system.
template <Scalar T>
void device_solve_block(const ExecutionSpace& space, const DeviceSystem<T, InnerSum<T>>& system, const RankBlock& block,
                        const Kokkos::View<InnerSum<T>*, MemorySpace>& sums) {
  constexpr int most = solve_block<T>;
  using Teams = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<most, 2>>;
  using Team = typename Teams::member_type;
  using Solve = BlockSolve<T, InnerSum<T>, Team>;
  const auto count = static_cast<int>(block.end - block.begin);
  const Index first = system.lower ? block.begin : system.A.rows - block.end;
  Kokkos::parallel_for(
      "heddle::exact::trsv", Teams(space, 1, most).set_scratch_size(0, Kokkos::PerTeam(Solve::scratch_bytes())),
      KOKKOS_LAMBDA(const Team& team) {
        const Solve solve(system, team, first, count);
        const int k = team.team_rank();
        InnerSum<T> sum;
        if (k < count) {
          sum = sums(block.local + (system.lower ? k : count - 1 - k));
        }
        solve.load_diagonal();
        solve.solve(sum);
      });
}
template <Scalar T>
void device_take_off(const ExecutionSpace& space, const Operand<T>& A, Range found,
                     const Kokkos::View<T*, MemorySpace>& x, Range rows,
                     const Kokkos::View<InnerSum<T>*, MemorySpace>& sums) {
  Kokkos::parallel_for(
      "heddle::exact::trsv_rest",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, rows.begin, rows.end),
      KOKKOS_LAMBDA(Index i) {
        sums(i).merge(strided_sum(
            A, i, [&](Index k) { return -x(k); }, found.begin, found.end, 1));
      });
}
/// Computes b - op(A) x in the local rows; numbers(i) is the row of the system of local row i.
template <Scalar T>
void device_rank_residual(const ExecutionSpace& space, const RankSystem<T>& system,
                          const Kokkos::View<Index*, MemorySpace>& numbers, const Kokkos::View<T*, MemorySpace>& b,
                          const Kokkos::View<T*, MemorySpace>& x, const Kokkos::View<T*, MemorySpace>& result) {
  Kokkos::parallel_for(
      "heddle::exact::residual",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, system.local.rows),
      KOKKOS_LAMBDA(Index i) {
        const auto minus = [&](Index k) { return -x(k); };
        const Range range = system.read(numbers(i));
        const T other = system.unit ? minus(numbers(i)) : T(0);
        InnerSum<T> sum = strided_sum(system.local, i, minus, range.begin, range.end, 1);
        sum.add(b(i));
        sum.add(other);
        T value;
        if (!sum.rounds_to(system.local.columns, value)) {
          ExactSum<T> exact = exact_sum(system.local, i, minus, range.begin, range.end);
          exact.add(b(i));
          exact.add(other);
          value = exact.value();
        }
        result(i) = value;
      });
}
template <Scalar T>
void begin_device_rows(const ExecutionSpace& space, const Kokkos::View<T*, MemorySpace>& b,
                       const Kokkos::View<InnerSum<T>*, MemorySpace>& sums) {
  Kokkos::parallel_for(
      "heddle::exact::trsv_begin",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(b.extent(0))),
      KOKKOS_LAMBDA(Index i) {
        sums(i) = {};
        sums(i).add(b(i));
      });
}

/// Rows on a GPU.
template <Scalar T> class DeviceRankRows {
 public:
  DeviceRankRows(const ExecutionSpace& space, const RankSystem<T>& system)
      : space_(space),
        system_(system),
        sums_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::sums"),
              static_cast<std::size_t>(system.local.rows)),
        b_("heddle::exact::b", static_cast<std::size_t>(system.local.rows)),
        x_("heddle::exact::x", static_cast<std::size_t>(system.local.columns)) {}

  void begin(const std::vector<T>& b) {
    to_device(b.data(), b_);
    begin_device_rows<T>(space_, b_, sums_);
  }
  void solve(const RankBlock& block, T* x) {
    // Rows of the block by their numbers in the system.
    Operand<T> A = system_.local;
    A.data -= (block.begin - block.local) * A.row_stride;
    A.rows = A.columns;
    const Kokkos::View<const T*, MemorySpace> b(b_.data() - (block.begin - block.local), b_.extent(0));
    device_solve_block<T>(space_, DeviceSystem<T, InnerSum<T>>{A, system_.lower, system_.unit, b, x_, {}}, block,
                          sums_);
    to_host(Kokkos::subview(x_, Kokkos::pair<Index, Index>(block.begin, block.end)), x);
  }
  void take_off(Range found, const T* x, Range rows) {
    to_device(x,
              Kokkos::View<T*, MemorySpace>(Kokkos::subview(x_, Kokkos::pair<Index, Index>(found.begin, found.end))));
    device_take_off<T>(space_, system_.local, found, x_, rows, sums_);
  }
  template <class Row>
  [[nodiscard]] std::vector<T> residual(const std::vector<T>& b, const std::vector<T>& x, const Row& row) {
    std::vector<Index> numbers(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) {
      numbers[i] = row(static_cast<Index>(i));
    }
    const Kokkos::View<Index*, MemorySpace> on_device(
        Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::exact::rows"), b.size());
    const Kokkos::View<T*, MemorySpace> found(
        Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::exact::residual"), b.size());
    to_device(numbers.data(), on_device);
    to_device(b.data(), b_);
    to_device(x.data(), x_);
    device_rank_residual<T>(space_, system_, on_device, b_, x_, found);
    std::vector<T> result(b.size());
    to_host(found, result.data());
    return result;
  }

 private:
  template <class U> void to_device(const U* from, const Kokkos::View<U*, MemorySpace>& to) const {
    Kokkos::deep_copy(space_, to, Kokkos::View<const U*, Kokkos::HostSpace>(from, to.extent(0)));
    space_.fence("heddle::exact::trsv");
  }
  void to_host(const Kokkos::View<T*, MemorySpace>& from, T* to) const {
    Kokkos::deep_copy(space_, Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(to, from.extent(0)), from);
    space_.fence("heddle::exact::trsv");
  }

  ExecutionSpace space_;
  RankSystem<T> system_;
  Kokkos::View<InnerSum<T>*, MemorySpace> sums_;
  Kokkos::View<T*, MemorySpace> b_;
  Kokkos::View<T*, MemorySpace> x_;
};

template <Scalar T> using RankRows = std::conditional_t<heddle::impl::on_host, HostRankRows<T>, DeviceRankRows<T>>;

}  // namespace heddle::exact::impl
