// On GPUs: inner products by a thread or a team each. Those that twice the precision leaves open are summed again
// exactly; of matrix products by a team.
#pragma once

#include "core/launch_bounds.hpp"
#include "dist/copies.hpp"
#include "exact/products/operand.hpp"
#include "exact/products/quotient.hpp"

#include <string>
#include <type_traits>

namespace heddle::exact::impl {

inline constexpr int threads_of_device_team = 256;
using DeviceTeams = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<threads_of_device_team, 2>>;
using DeviceTeam = typename DeviceTeams::member_type;
// For sums alone: enough concurrent teams for their loads to saturate the memory.
inline constexpr int threads_of_sum_team = 128;
using SumTeams = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<threads_of_sum_team, 8>>;
using SumTeam = typename SumTeams::member_type;
// Teams that add up partial sums: a warp.
inline constexpr int threads_of_round_team = 32;
// Loads in flight of a thread that sums alone. More would not fit its registers.
template <Scalar T> inline constexpr int loads_at_once = sizeof(T) <= 8 ? 8 : 4;

/// Kokkos's reducer of inner sums.
template <Scalar T> struct MergedInner {
  using reducer = MergedInner;
  using value_type = InnerSum<T>;
  using result_view_type = Kokkos::View<InnerSum<T>, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  InnerSum<T>* result;
  KOKKOS_INLINE_FUNCTION void join(InnerSum<T>& to, const InnerSum<T>& from) const { to.merge(from); }
  KOKKOS_INLINE_FUNCTION void init(InnerSum<T>& value) const { value = {}; }
  KOKKOS_INLINE_FUNCTION InnerSum<T>& reference() const { return *result; }
  [[nodiscard]] result_view_type view() const { return result_view_type(result); }
};

/// Returns the sum over a team's threads, on its first. The argument is copied: the address of a sum that threads add
/// to would keep it out of registers.
template <class Team, Scalar T> KOKKOS_INLINE_FUNCTION InnerSum<T> team_sum(const Team& team, const InnerSum<T>& mine) {
  InnerSum<T> sum = mine;
  team.team_reduce(MergedInner<T>{&sum});
  return sum;
}

/// Sums every step-th product of a row of A with x, from `begin` on; x_k is column(k). `at_once` loads are in flight.
template <int at_once = 4, Scalar T, class X>
KOKKOS_INLINE_FUNCTION InnerSum<T> strided_sum(const Operand<T>& A, Index i, const X& x, Index begin, Index end,
                                               Index step) {
  InnerSum<T> sum;
  Index k = begin;
  for (; k + (at_once - 1) * step < end; k += at_once * step) {
    T left[at_once];
    T right[at_once];
    for (int s = 0; s < at_once; ++s) {
      left[s] = A(i, k + s * step);
      right[s] = x(k + s * step);
    }
    for (int s = 0; s < at_once; ++s) {
      sum.add_product(left[s], right[s]);
    }
  }
  for (; k < end; k += step) {
    sum.add_product(A(i, k), x(k));
  }
  return sum;
}
template <Scalar T, class X>
HEDDLE_APART KOKKOS_INLINE_FUNCTION ExactSum<T> exact_sum(const Operand<T>& A, Index i, const X& x, Index begin,
                                                          Index end) {
  ExactSum<T> sum;
  for (Index k = begin; k < end; ++k) {
    sum.add_product(A(i, k), x(k));
  }
  return sum;
}

template <Scalar T, class Row> struct SumRowExactly {
  Operand<T> A;
  Kokkos::View<T*, MemorySpace> x;
  Row row;
  Kokkos::View<ExactSum<T>*, MemorySpace> sums;

  KOKKOS_INLINE_FUNCTION void operator()(Index k) const {
    sums(k) = exact_sum(
        A, row(k), [&](Index l) { return x(l); }, 0, A.columns);
  }
};
template <Scalar T, class Row> struct SumRow {
  Operand<T> A;
  Kokkos::View<T*, MemorySpace> x;
  Row row;
  Kokkos::View<InnerSum<T>*, MemorySpace> sums;

  KOKKOS_INLINE_FUNCTION void operator()(const DeviceTeam& team) const {
    const Index k = team.league_rank();
    const InnerSum<T> mine = strided_sum(
        A, row(k), [&](Index l) { return x(l); }, team.team_rank(), A.columns, team.team_size());
    const InnerSum<T> sum = team_sum(team, mine);
    if (team.team_rank() == 0) {
      sums(k) = sum;
    }
  }
};
/// sums(k) = the sum over row(k) of A with x; Sum is InnerSum or ExactSum.
template <class Sum, Scalar T, class Row>
void device_rows(const ExecutionSpace& space, const Operand<T>& A, const Kokkos::View<T*, MemorySpace>& x, Index count,
                 const Row& row, const Kokkos::View<Sum*, MemorySpace>& sums) {
  if (count == 0) {
    return;
  }
  if constexpr (std::is_same_v<Sum, ExactSum<T>>) {
    Kokkos::parallel_for("heddle::exact::rows",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, count),
                         SumRowExactly<T, Row>{A, x, row, sums});
  } else {
    Kokkos::parallel_for("heddle::exact::rows", DeviceTeams(space, static_cast<int>(count), threads_of_device_team),
                         SumRow<T, Row>{A, x, row, sums});
  }
}

/// Rounding of the elements of Y = alpha A X + beta Y, numbered column by column, from the sums of their products.
template <Scalar T> struct ProductRounding {
  Update<T> update;
  Operand<T> A;
  Operand<T> X;
  StridedMatrix<T> Y;

  /// Writes the element if twice the precision decides its rounding, and returns whether it did.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION bool round_nearly(Index at, const InnerSum<T>& sum) const {
    T& y = Y(at % A.rows, at / A.rows);
    T result;
    const bool is_known = update.rounds_to(sum, A.columns, y, result);
    if (is_known) {
      y = result;
    }
    return is_known;
  }
  /// Computes the element by all threads of a team; `sum` is in the team's fast memory.
  KOKKOS_INLINE_FUNCTION void round_exactly(const DeviceTeam& team, ExactSum<T>& sum, Index at) const {
    // The maximum number of products added without carries.
    constexpr Index most = Index{1} << 26;
    const Index i = at % A.rows;
    const Index j = at / A.rows;
    ExactSum<T> whole;  // Used by the first thread.
    for (Index begin = 0; begin < A.columns; begin += most) {
      if (team.team_rank() == 0) {
        sum = {};
      }
      team.team_barrier();
      const Index end = Kokkos::min(begin + most, A.columns);
      for (Index k = begin + team.team_rank(); k < end; k += team.team_size()) {
        for_each_product(A(i, k), X(k, j), [&](int p, Real<T> left, Real<T> right) {
          sum.part[p].add_product_atomically(static_cast<double>(left), static_cast<double>(right));
        });
      }
      team.team_barrier();
      for (int p = 0; p < parts_of_scalar<T> && team.team_rank() == 0; ++p) {
        whole.part[p].merge(sum.part[p]);
      }
    }
    if (team.team_rank() == 0) {
      T& y = Y(i, j);
      y = update.exactly(whole, y);
    }
  }
};

/// Sums the marked ones of a team's elements again exactly.
template <Scalar T> struct RoundOpen {
  using Sum = Kokkos::View<ExactSum<T>, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  ProductRounding<T> rounding;
  Kokkos::View<char*, MemorySpace> open;
  Index count;

  KOKKOS_INLINE_FUNCTION void operator()(const DeviceTeam& team) const {
    const Sum sum(team.team_scratch(0));
    const Index begin = Index{team.league_rank()} * team.team_size();
    bool is_open = begin + team.team_rank() < count && open(begin + team.team_rank()) != 0;
    while (true) {
      int first = is_open ? team.team_rank() : team.team_size();
      team.team_reduce(Kokkos::Min<int>(first));
      if (first == team.team_size()) {
        return;
      }
      rounding.round_exactly(team, sum(), begin + first);
      team.team_barrier();
      is_open = is_open && team.team_rank() != first;
    }
  }
};
/// Sums the marked elements again exactly, each by a team.
template <Scalar T>
void round_open(const ExecutionSpace& space, const ProductRounding<T>& rounding,
                const Kokkos::View<char*, MemorySpace>& open) {
  const auto count = static_cast<Index>(open.extent(0));
  DeviceTeams policy(space, static_cast<int>((count + threads_of_device_team - 1) / threads_of_device_team),
                     threads_of_device_team);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(RoundOpen<T>::Sum::shmem_size())));
  Kokkos::parallel_for("heddle::exact::round", policy, RoundOpen<T>{rounding, open, count});
}

template <Scalar T> struct ProductByTeam {
  ProductRounding<T> rounding;
  Kokkos::View<char*, MemorySpace> open;

  KOKKOS_INLINE_FUNCTION void operator()(const SumTeam& team) const {
    const Index at = team.league_rank();
    const Operand<T>& A = rounding.A;
    const Index j = at / A.rows;
    const InnerSum<T> mine = strided_sum(
        A, at - j * A.rows, [&](Index k) { return rounding.X(k, j); }, team.team_rank(), A.columns, team.team_size());
    const InnerSum<T> sum = team_sum(team, mine);
    if (team.team_rank() == 0) {
      open(at) = static_cast<char>(!rounding.round_nearly(at, sum));
    }
  }
};
template <Scalar T> struct ProductByThread {
  ProductRounding<T> rounding;
  Kokkos::View<char*, MemorySpace> open;

  KOKKOS_INLINE_FUNCTION void operator()(Index at) const {
    const Operand<T>& A = rounding.A;
    const Index j = at / A.rows;
    const InnerSum<T> sum = strided_sum<loads_at_once<T>>(
        A, at - j * A.rows, [&](Index k) { return rounding.X(k, j); }, 0, A.columns, 1);
    open(at) = static_cast<char>(!rounding.round_nearly(at, sum));
  }
};
/// Products by a thread or a team for each element. Elements that twice the precision leaves open are summed again by
/// another kernel, which contains the slow path.
template <Scalar T> void device_product_in_one(const ExecutionSpace& space, const ProductRounding<T>& rounding) {
  const Index results = rounding.A.rows * static_cast<Index>(rounding.Y.extent(1));
  const Kokkos::View<char*, MemorySpace> open(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::open"), static_cast<std::size_t>(results));
  if (rounding.A.row_stride != 1 && rounding.A.rows > 1) {
    Kokkos::parallel_for("heddle::exact::product", SumTeams(space, static_cast<int>(results), threads_of_sum_team),
                         ProductByTeam<T>{rounding, open});
  } else {
    Kokkos::parallel_for(
        "heddle::exact::product",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>, heddle::impl::LaunchBounds<256, 2>>(space, 0,
                                                                                                          results),
        ProductByThread<T>{rounding, open});
  }
  round_open(space, rounding, open);
}

template <Scalar T> struct SumPartOfProduct {
  Operand<T> A;
  Operand<T> X;
  Index results;
  Index parts;
  Kokkos::View<InnerSum<T>*, MemorySpace> sums;

  KOKKOS_INLINE_FUNCTION void operator()(Index number) const {
    const Index part = number / results;
    const Index at = number - part * results;
    const Index j = at / A.rows;
    sums(number) = strided_sum<loads_at_once<T>>(
        A, at - j * A.rows, [&](Index k) { return X(k, j); }, A.columns * part / parts, A.columns * (part + 1) / parts,
        1);
  }
};
template <Scalar T> struct MergePartsOfProduct {
  ProductRounding<T> rounding;
  Index results;
  Index parts;
  Kokkos::View<InnerSum<T>*, MemorySpace> sums;
  Kokkos::View<char*, MemorySpace> open;

  KOKKOS_INLINE_FUNCTION void operator()(const SumTeam& team) const {
    const Index at = team.league_rank();
    InnerSum<T> mine;
    for (Index part = team.team_rank(); part < parts; part += team.team_size()) {
      mine.merge(sums(part * results + at));
    }
    const InnerSum<T> sum = team_sum(team, mine);
    if (team.team_rank() == 0) {
      open(at) = static_cast<char>(!rounding.round_nearly(at, sum));
    }
  }
};
/// Products by `parts` threads for each element, whose sums go through memory.
template <Scalar T>
void device_product_in_parts(const ExecutionSpace& space, const ProductRounding<T>& rounding, Index parts) {
  const Index results = rounding.A.rows * static_cast<Index>(rounding.Y.extent(1));
  const Kokkos::View<InnerSum<T>*, MemorySpace> sums(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::sums"),
      static_cast<std::size_t>(parts * results));
  const Kokkos::View<char*, MemorySpace> open(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::open"), static_cast<std::size_t>(results));
  Kokkos::parallel_for(
      "heddle::exact::product",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>, heddle::impl::LaunchBounds<256, 4>>(
          space, 0, parts * results),
      SumPartOfProduct<T>{rounding.A, rounding.X, results, parts, sums});
  Kokkos::parallel_for("heddle::exact::round", SumTeams(space, static_cast<int>(results), threads_of_round_team),
                       MergePartsOfProduct<T>{rounding, results, parts, sums, open});
  round_open(space, rounding, open);
}

template <Scalar T> struct ProductBySlices {
  static constexpr int rows = 32;
  static constexpr int slices = threads_of_device_team / rows;
  using Teams = Kokkos::TeamPolicy<ExecutionSpace, heddle::impl::LaunchBounds<threads_of_device_team, 4>>;
  using Team = typename Teams::member_type;
  using Sums =
      Kokkos::View<InnerSum<T>[slices][rows], typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  ProductRounding<T> rounding;
  Index results;
  Kokkos::View<char*, MemorySpace> open;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const Sums sums(team.team_scratch(0));
    const int lane = team.team_rank() % rows;
    const Index slice = team.team_rank() / rows;
    const Index at = Index{team.league_rank()} * rows + lane;
    if (at < results) {
      const Operand<T>& A = rounding.A;
      const Index j = at / A.rows;
      sums(slice, lane) = strided_sum<loads_at_once<T>>(
          A, at - j * A.rows, [&](Index k) { return rounding.X(k, j); }, A.columns * slice / slices,
          A.columns * (slice + 1) / slices, 1);
    }
    team.team_barrier();
    if (slice == 0 && at < results) {
      InnerSum<T> sum = sums(0, lane);
      for (int other = 1; other < slices; ++other) {
        sum.merge(sums(other, lane));
      }
      open(at) = static_cast<char>(!rounding.round_nearly(at, sum));
    }
  }
};
/// Products by several threads of one team for each element, whose sums go through its fast memory. A team takes 32
/// neighbouring rows, so that each of its warps reads whole lines of memory.
template <Scalar T> void device_product_in_teams(const ExecutionSpace& space, const ProductRounding<T>& rounding) {
  using Product = ProductBySlices<T>;
  constexpr int rows = Product::rows;
  const Index results = rounding.A.rows * static_cast<Index>(rounding.Y.extent(1));
  const Kokkos::View<char*, MemorySpace> open(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::open"), static_cast<std::size_t>(results));
  typename Product::Teams policy(space, static_cast<int>((results + rows - 1) / rows), threads_of_device_team);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Product::Sums::shmem_size())));
  Kokkos::parallel_for("heddle::exact::product", policy, Product{rounding, results, open});
  round_open(space, rounding, open);
}

/// Y = alpha A X + beta Y.
template <Scalar T>
void device_product(const ExecutionSpace& space, const Update<T>& update, const Operand<T>& A, const Operand<T>& X,
                    const StridedMatrix<T>& Y) {
  const ProductRounding<T> rounding{update, A, X, Y};
  const Index results = A.rows * static_cast<Index>(Y.extent(1));
  const bool by_rows = A.row_stride != 1 && A.rows > 1;
  // If neighbouring threads take neighbouring rows and these are few, rows are split: into no more parts than keep the
  // memory busy, which real numbers do with fewer threads, as each has more loads in flight.
  const auto most = static_cast<Index>(space.concurrency());
  const Index threads = is_complex<T> ? most : std::min<Index>(most, 65536);
  const Index parts =
      by_rows ? 1 : std::clamp<Index>(threads / std::max<Index>(1, results), 1, std::max<Index>(1, A.columns / 64));
  // Enough teams to keep the memory busy need no memory for partial sums, which takes time to allocate.
  const bool in_teams = !by_rows && parts > 1 && results >= most / 32;
  if (in_teams) {
    device_product_in_teams(space, rounding);
  } else if (parts == 1) {
    device_product_in_one(space, rounding);
  } else {
    device_product_in_parts(space, rounding, parts);
  }
}

}  // namespace heddle::exact::impl
