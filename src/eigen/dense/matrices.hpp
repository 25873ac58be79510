// Matrices and numbers that the eigensolvers keep, and how numbers go to the device and come back.
#pragma once

#include "core/memory/workspace.hpp"
#include "core/on_host.hpp"
#include <heddle/core/scalar.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

namespace heddle::eigen::impl {

template <Scalar T> using Dense = LocalMatrix<T>;
/// The lower precision, in which a library may look for vectors to begin at: float, also for itself.
template <Scalar T> using Lower = std::conditional_t<is_complex<T>, Kokkos::complex<float>, float>;
template <class R> using Values = Kokkos::View<R*, MemorySpace>;

using ColumnTeams = Kokkos::TeamPolicy<ExecutionSpace>;
using ColumnTeam = ColumnTeams::member_type;

/// A team for each of `count` columns: one thread of a CPU, 128 of a GPU.
inline ColumnTeams column_teams(const ExecutionSpace& space, Index count) {
  const int teams = static_cast<int>(count);
  return heddle::impl::on_host ? ColumnTeams(space, teams, 1) : ColumnTeams(space, teams, 4, 32);
}

template <class R, class Value> struct LargestInColumn {
  Index n;
  bool above;
  Value value;
  KOKKOS_INLINE_FUNCTION void operator()(const ColumnTeam& team, R& all) const {
    const Index j = team.league_rank();
    R mine{};
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, above ? j : n),
        [&](Index i, R& here) {
          const R one = value(i, j);
          here = one > here ? one : here;
        },
        Kokkos::Max<R>(mine));
    Kokkos::single(Kokkos::PerTeam(team), [&] { all = mine > all ? mine : all; });
  }
};

/// Return the largest value(i, j) for 0 <= j < n and i from 0 up to n, or up to j with `above` the diagonal alone. A
/// NaN does not count. Blocks.
template <class R, class Value>
R largest_in_columns(const ExecutionSpace& space, const std::string& label, Index n, bool above, const Value& value) {
  R most{};
  Kokkos::parallel_reduce(label, column_teams(space, n), LargestInColumn<R, Value>{n, above, value},
                          Kokkos::Max<R>(most));
  return most;
}

/// The instance of a solution, and the workspace of a plan that its arrays come from; without one they are allocated.
class Scratch {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): an instance is where arrays can be had
  Scratch(const ExecutionSpace& space, heddle::impl::Workspace* kept = nullptr) : space_(space), kept_(kept) {}

  [[nodiscard]] const ExecutionSpace& space() const { return space_; }
  /// Uninitialised numbers.
  template <class Value> [[nodiscard]] Values<Value> values(const std::string& label, std::size_t count) const {
    heddle::impl::Workspace alone(space_, false);
    return (kept_ != nullptr ? *kept_ : alone).take<Value>(label, static_cast<Index>(count));
  }
  /// A column-major View of some ranks that nothing is written to yet.
  template <class View, class... Extents>
  [[nodiscard]] View shaped(const std::string& label, Extents... extents) const {
    heddle::impl::Workspace alone(space_, false);
    return (kept_ != nullptr ? *kept_ : alone)
        .take_shaped<View>(label, Kokkos::LayoutLeft(static_cast<std::size_t>(extents)...));
  }

 private:
  ExecutionSpace space_;
  heddle::impl::Workspace* kept_;
};

/// A matrix that nothing is written to yet.
template <Scalar T> Dense<T> dense(const Scratch& scratch, const std::string& label, Index rows, Index columns) {
  return scratch.shaped<Dense<T>>(label, rows, columns);
}

/// Host numbers where kernels can read them. Blocks.
template <class Value>
Values<Value> on_device(const Scratch& scratch, const std::string& label, const std::vector<Value>& values) {
  Values<Value> view = scratch.values<Value>(label, values.size());
  Kokkos::deep_copy(scratch.space(), view, Kokkos::View<const Value*, Kokkos::HostSpace>(values.data(), values.size()));
  scratch.space().fence(label);
  return view;
}
/// Numbers of the device where the host can read them. Blocks.
template <class Value>
std::vector<Value> to_host(const ExecutionSpace& space, const std::string& label, const Values<Value>& values) {
  std::vector<Value> host(values.extent(0));
  Kokkos::deep_copy(space, Kokkos::View<Value*, Kokkos::HostSpace>(host.data(), host.size()), values);
  space.fence(label);
  return host;
}

/// The indices of values in order, equal ones as they stand.
template <class Value> std::vector<Index> ascending(const std::vector<Value>& values) {
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) {
    return values[static_cast<std::size_t>(i)] < values[static_cast<std::size_t>(j)];
  });
  return order;
}

}  // namespace heddle::eigen::impl
