// Products of a rank's part of a matrix with a vector: sums over its columns, to be added over the ranks.
#pragma once

#include "core/elementwise.hpp"
#include "exact/products/device.hpp"
#include "exact/products/operand.hpp"
#include "exact/sums/chunks.hpp"
#include <heddle/exact/distributed.hpp>

#include <span>
#include <type_traits>
#include <vector>

namespace heddle::exact::impl {

struct EveryRow {
  KOKKOS_INLINE_FUNCTION Index operator()(Index k) const { return k; }
};
struct ListedRows {
  Kokkos::View<Index*, MemorySpace> list;
  KOKKOS_INLINE_FUNCTION Index operator()(Index k) const { return list(k); }
};

/// This rank's part of op(A) x: sums over its columns, for its rows.
template <Scalar T> class LocalProducts {
 public:
  LocalProducts(const ExecutionSpace& space, const Operand<T>& A, const std::vector<T>& x)
      : space_(space), A_(A), x_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::x"), x.size()) {
    Kokkos::deep_copy(space, x_, Kokkos::View<const T*, Kokkos::HostSpace>(x.data(), x.size()));
    space.fence("heddle::exact::gemv");
  }

  [[nodiscard]] std::vector<InnerSum<T>> compensated() const { return of_rows<InnerSum<T>>(A_.rows, EveryRow()); }
  [[nodiscard]] std::vector<ExactSum<T>> exact() const { return of_rows<ExactSum<T>>(A_.rows, EveryRow()); }
  /// The same of some rows.
  [[nodiscard]] std::vector<ExactSum<T>> exact(const std::vector<Index>& rows) const {
    const Kokkos::View<Index*, MemorySpace> list(
        Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::exact::rows"), rows.size());
    Kokkos::deep_copy(space_, list, Kokkos::View<const Index*, Kokkos::HostSpace>(rows.data(), rows.size()));
    space_.fence("heddle::exact::gemv");
    return of_rows<ExactSum<T>>(static_cast<Index>(rows.size()), ListedRows{list});
  }

 private:
  // Returns the sums of rows row(0), ..., row(count - 1).
  template <class Sum, class Row> [[nodiscard]] std::vector<Sum> of_rows(Index count, const Row& row) const {
    constexpr bool is_exact = std::is_same_v<Sum, ExactSum<T>>;
    std::vector<Sum> sums(static_cast<std::size_t>(count));
    const Operand<T> A = A_;
    const auto x = x_;
    if constexpr (heddle::impl::on_host) {
      const RowSums<T> rows(A, x.data());
      for_each_chunk(space_, "heddle::exact::gemv", 0, count, 16, true, [&](Index first, Index last) {
        for (Index k = first; k < last; ++k) {
          if constexpr (is_exact) {
            sums[static_cast<std::size_t>(k)] = rows.exact(row(k), 0, A.columns);
          } else {
            sums[static_cast<std::size_t>(k)] = rows.compensated(row(k), 0, A.columns);
          }
        }
      });
    } else {
      const Kokkos::View<Sum*, MemorySpace> found(
          Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::exact::sums"),
          static_cast<std::size_t>(count));
      device_rows(space_, A, x, count, row, found);
      Kokkos::deep_copy(
          space_, Kokkos::View<Sum*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(sums.data(), sums.size()), found);
      space_.fence("heddle::exact::gemv");
    }
    return sums;
  }

  ExecutionSpace space_;
  Operand<T> A_;
  Kokkos::View<T*, MemorySpace> x_;
};

/// Replaces the sums of every rank by the sums over all ranks. Collective.
template <Scalar T> void add_over_ranks(const Communicator& comm, std::span<ExactSum<T>> sums) {
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    std::vector<Accumulator<double>> accumulators(sums.size());
    for (std::size_t k = 0; k < sums.size(); ++k) accumulators[k] = sums[k].part[p];
    all_reduce(comm, std::span(accumulators));
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k].part[p] = accumulators[k];
  }
}

}  // namespace heddle::exact::impl
