// Reductions over the rows or columns of a matrix that is spread over ranks.
#pragma once

#include "core/elementwise.hpp"
#include "solve/grid/host_copy.hpp"
#include "solve/grid/placed_matrix.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace heddle::impl {

/// Return a device copy of the numbers of this rank's rows (or columns), taken from those of all rows (or columns).
template <Scalar T, class Number>
Kokkos::View<Number*, MemorySpace> of_local_rows(const PlacedMatrix<T>& M, const std::vector<Number>& all) {
  std::vector<Number> mine(M.local().extent(0));
  for (std::size_t i = 0; i < mine.size(); ++i) {
    mine[i] = all[static_cast<std::size_t>(M.global_row(static_cast<Index>(i)))];
  }
  return device_copy(M.space(), mine, "heddle::solve::of_rows");
}
template <Scalar T, class Number>
Kokkos::View<Number*, MemorySpace> of_local_columns(const PlacedMatrix<T>& M, const std::vector<Number>& all) {
  std::vector<Number> mine(M.local().extent(1));
  for (std::size_t j = 0; j < mine.size(); ++j) {
    mine[j] = all[static_cast<std::size_t>(M.global_column(static_cast<Index>(j)))];
  }
  return device_copy(M.space(), mine, "heddle::solve::of_columns");
}

/// Reductions over a row and over the ranks: `Added` sums.
struct Added {
  static constexpr Reduction reduction = Reduction::sum;
  KOKKOS_INLINE_FUNCTION double operator()(double one, double other) const { return one + other; }
};
struct Larger {  // The maximum of a number and a NaN is the number.
  static constexpr Reduction reduction = Reduction::maximum;
  KOKKOS_INLINE_FUNCTION double operator()(double one, double other) const { return Kokkos::fmax(one, other); }
};

/// Combine the ranks' numbers of their rows or columns, `count` in all, with global numbers global(local), on every
/// rank. Collective.
template <class Join, class Global>
std::vector<double> on_every_rank(const OptionalRanks& ranks, Index count,
                                  const Kokkos::View<double*, MemorySpace>& found, const Global& global) {
  std::vector<double> all(static_cast<std::size_t>(count), 0.0);
  const auto host = host_copy(ranks.space(), found);
  for (std::size_t k = 0; k < host.extent(0); ++k) {
    all[static_cast<std::size_t>(global(static_cast<Index>(k)))] = host(k);
  }
  ranks.all_reduce(std::span<double>(all), Join::reduction);
  return all;
}

/// found(i) = the reduction of element(i, j) over j, and that over i for column j.
template <class Join, class Element> struct JoinRow {
  Element element;
  Index columns;
  Kokkos::View<double*, MemorySpace> found;
  KOKKOS_INLINE_FUNCTION void operator()(Index i) const {
    double value = 0.0;
    for (Index j = 0; j < columns; ++j) value = Join{}(value, element(i, j));
    found(i) = value;
  }
};
template <class Join, class Element> struct JoinColumn {
  Element element;
  Index rows;
  Kokkos::View<double*, MemorySpace> found;
  KOKKOS_INLINE_FUNCTION void operator()(Index j) const {
    double value = 0.0;
    for (Index i = 0; i < rows; ++i) value = Join{}(value, element(i, j));
    found(j) = value;
  }
};

/// Return for every row of A the reduction from 0 of element(i, j) over its columns in order, i and j being local, on
/// every rank. Collective. Cost: a pass over A, along its columns on CPUs.
template <class Join, Scalar T, class Element>
std::vector<double> over_rows(const PlacedMatrix<T>& A, const std::string& label, const Element& element) {
  const ExecutionSpace& space = A.space();
  const auto rows = static_cast<Index>(A.local().extent(0));
  const auto columns = static_cast<Index>(A.local().extent(1));
  const Kokkos::View<double*, MemorySpace> found(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
                                                 static_cast<std::size_t>(rows));
  if constexpr (on_host) {
    constexpr Index chunk = 512;
    const Join join;
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, (rows + chunk - 1) / chunk),
        [=](Index k) {
          const Index end = std::min((k + 1) * chunk, rows);
          for (Index i = k * chunk; i < end; ++i) found(i) = 0.0;
          for (Index j = 0; j < columns; ++j) {
            for (Index i = k * chunk; i < end; ++i) found(i) = join(found(i), element(i, j));
          }
        });
  } else {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows),
                         JoinRow<Join, Element>{element, columns, found});
  }
  return on_every_rank<Join>(A.ranks(), A.rows(), found, [&](Index i) { return A.global_row(i); });
}

/// Return for every column of A the reduction from 0 of element(i, j) over its rows in order, i and j being local, on
/// every rank. Collective. Cost: a pass over A.
template <class Join, Scalar T, class Element>
std::vector<double> over_columns(const PlacedMatrix<T>& A, const std::string& label, const Element& element) {
  const ExecutionSpace& space = A.space();
  const auto rows = static_cast<Index>(A.local().extent(0));
  const auto columns = static_cast<Index>(A.local().extent(1));
  const Kokkos::View<double*, MemorySpace> found(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label),
                                                 static_cast<std::size_t>(columns));
  Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, columns),
                       JoinColumn<Join, Element>{element, rows, found});
  return on_every_rank<Join>(A.ranks(), A.columns(), found, [&](Index j) { return A.global_column(j); });
}

}  // namespace heddle::impl
