// Tests of the scaling of matrices by the exponents of their elements, and scaling by powers of two.
#include "expm/arithmetic/even_scaling.hpp"

#include "core/elementwise.hpp"
#include <heddle/comm/communicator.hpp>

#include <Kokkos_BitManipulation.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace heddle::impl {
namespace {

constexpr int path_length = 4;
constexpr int allowed_in_all = 10;    // Bits by which the largest elements of rows or of columns may differ.
constexpr int allowed_anywhere = 40;  // Bits by which any two elements may differ.
constexpr int allowed_each = 3;       // Bits by which all elements of a path but one may be smaller than the largest.

using Teams = Kokkos::TeamPolicy<ExecutionSpace>;
using Exponents = Kokkos::View<int*, MemorySpace>;

// floor(log2 |x|); for denormals that of the largest denormal, which suffices here.
KOKKOS_INLINE_FUNCTION int exponent_of_bits(std::uint64_t bits) {
  return bits == 0 ? exponent_of_zero : static_cast<int>(bits >> 52) - 1023;
}
template <RealScalar T> KOKKOS_INLINE_FUNCTION std::uint64_t bits_of(T x) {
  return Kokkos::bit_cast<std::uint64_t>(static_cast<double>(x)) & 0x7fffffffffffffffULL;
}

// result(j) = exponent of the largest |x_ij| of each column.
template <RealScalar T>
void column_exponents(const ExecutionSpace& space, const MatrixView<T>& X, const Exponents& result) {
  const Elements<T> x(X);
  const auto rows = static_cast<Index>(X.extent(0));
  Kokkos::parallel_for(
      "heddle::expm::column_exponents", Teams(space, static_cast<int>(X.extent(1)), Kokkos::AUTO),
      KOKKOS_LAMBDA(const Teams::member_type& team) {
        const Index j = team.league_rank();
        std::uint64_t largest = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, rows),
            [&](Index i, std::uint64_t& most) {
              const std::uint64_t bits = bits_of(x(i, j));
              most = bits > most ? bits : most;
            },
            Kokkos::Max<std::uint64_t>(largest));
        Kokkos::single(Kokkos::PerTeam(team), [&] { result(j) = exponent_of_bits(largest); });
      });
}

// result(j) = the largest weights(i) + exponent of x_ij: paths to the rows i, extended by one element.
template <RealScalar T>
void longer_paths(const ExecutionSpace& space, const MatrixView<T>& X, const Exponents& weights,
                  const Exponents& result) {
  const Elements<T> x(X);
  const auto rows = static_cast<Index>(X.extent(0));
  Kokkos::parallel_for(
      "heddle::expm::longer_paths", Teams(space, static_cast<int>(X.extent(1)), Kokkos::AUTO),
      KOKKOS_LAMBDA(const Teams::member_type& team) {
        const Index j = team.league_rank();
        int largest = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, rows),
            [&](Index i, int& most) {
              const int sum = weights(i) + exponent_of_bits(bits_of(x(i, j)));
              most = sum > most ? sum : most;
            },
            Kokkos::Max<int>(largest));
        Kokkos::single(Kokkos::PerTeam(team),
                       [&] { result(j) = largest < exponent_of_zero ? exponent_of_zero : largest; });
      });
}

// Exponents of the largest and of the smallest nonzero element of each row or column; without nonzeros the exponent of
// zero for both.
template <RealScalar T>
void extreme_exponents(const ExecutionSpace& space, const MatrixView<T>& X, bool rows, const Exponents& largest,
                       const Exponents& smallest) {
  const Elements<T> x(X);
  const auto inner = static_cast<Index>(X.extent(rows ? 1 : 0));
  Kokkos::parallel_for(
      "heddle::expm::extreme_exponents",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(largest.extent(0))),
      KOKKOS_LAMBDA(Index v) {
        int most = exponent_of_zero;
        int least = -exponent_of_zero;
        for (Index k = 0; k < inner; ++k) {
          const std::uint64_t bits = bits_of(rows ? x(v, k) : x(k, v));
          const int exponent = exponent_of_bits(bits);
          most = exponent > most ? exponent : most;
          least = bits != 0 && exponent < least ? exponent : least;
        }
        largest(v) = most;
        smallest(v) = least;
      });
}

// 2^exponent of a normal number.
template <RealScalar T> KOKKOS_INLINE_FUNCTION T power_of_two(int exponent) {
  return static_cast<T>(Kokkos::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52));
}

template <RealScalar T>
void scale_by_exponents(const ExecutionSpace& space, const MatrixView<const T>& from, const Exponents& exponents,
                        int sign, bool rows, const MatrixView<T>& to) {
  const Elements<const T> source(from);
  const Elements<T> target(to);
  for_each_element(
      space, "heddle::expm::scale_by_exponents", static_cast<Index>(to.extent(0)), static_cast<Index>(to.extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) {
        const int exponent = sign * exponents(rows ? i : j);
        // Two steps, each in range; a normal result is not rounded on the way.
        const int half = exponent / 2;
        target(i, j) = source(i, j) * power_of_two<T>(half) * power_of_two<T>(exponent - half);
      });
}

Exponents exponents_on_device(const ExecutionSpace& space, Index count) {
  return Exponents(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::expm::exponents"), count);
}

Exponents on_device(const ExecutionSpace& space, const int* values, Index count) {
  const Exponents result = exponents_on_device(space, count);
  Kokkos::deep_copy(space, result, Kokkos::View<const int*, Kokkos::HostSpace>(values, count));
  space.fence("heddle::expm::exponents");
  return result;
}

// Return the values of columns (rows) first, first + 1 ... of the whole, and `otherwise` elsewhere.
std::vector<int> on_host_from(const ExecutionSpace& space, const Exponents& values, Index n, Index first,
                              int otherwise) {
  std::vector<int> all(static_cast<std::size_t>(n), otherwise);
  const Kokkos::View<int*, Kokkos::HostSpace> here(all.data() + first, values.extent(0));
  Kokkos::deep_copy(space, here, values);
  space.fence("heddle::expm::exponents");
  return all;
}

template <RealScalar T> Index first_row(const DistributedMatrix<T>& X) {
  return X.local().extent(0) > 0 ? X.global_row(0) : 0;
}
template <RealScalar T> Index first_column(const DistributedMatrix<T>& X) {
  return X.local().extent(1) > 0 ? X.global_column(0) : 0;
}

// Largest and smallest exponents of the columns (rows) of a matrix in bands.
struct Extremes {
  std::vector<int> largest;
  std::vector<int> smallest;

  template <RealScalar T> Extremes(const Communicator& comm, const DistributedMatrix<T>& X, bool rows) {
    const ExecutionSpace& space = comm.space();
    const auto count = static_cast<Index>(X.local().extent(rows ? 0 : 1));
    const Index n = rows ? X.rows() : X.columns();
    const Index first = rows ? first_row(X) : first_column(X);
    const Exponents most = exponents_on_device(space, count);
    const Exponents least = exponents_on_device(space, count);
    extreme_exponents<T>(space, X.local(), rows, most, least);
    largest = on_host_from(space, most, n, first, exponent_of_zero);
    smallest = on_host_from(space, least, n, first, -exponent_of_zero);
    comm.all_reduce(std::span<int>(largest), Reduction::maximum);
    comm.all_reduce(std::span<int>(smallest), Reduction::minimum);
  }
};

bool alike(const std::vector<int>& largest) {
  int least = -exponent_of_zero;
  int most = exponent_of_zero;
  for (const int exponent : largest) {
    if (exponent == exponent_of_zero) continue;
    least = std::min(least, exponent);
    most = std::max(most, exponent);
  }
  return most - allowed_in_all <= least;
}

}  // namespace

template <RealScalar T> EvenScaling<T>::EvenScaling(const Communicator& comm, Index n) : comm_(comm), n_(n) {}

template <RealScalar T> bool EvenScaling<T>::evenly_scaled(const SharedMatrix<T>& X) {
  std::erase_if(verdicts_, [](const Verdict& verdict) { return verdict.matrix.stale(); });
  const auto found = std::find_if(verdicts_.begin(), verdicts_.end(),
                                  [&](const Verdict& verdict) { return verdict.matrix.matches(X); });
  if (found != verdicts_.end()) {
    return found->even;
  }
  verdicts_.push_back({MatrixStamp<T>(X), measure(*X)});
  return verdicts_.back().even;
}

template <RealScalar T> bool EvenScaling<T>::evenly_filled(const SharedMatrix<T>& X) {
  const Extremes columns(comm_, *X, false);
  if (columns.largest.empty()) {
    return true;
  }
  const int largest = *std::max_element(columns.largest.begin(), columns.largest.end());
  const int smallest = *std::min_element(columns.smallest.begin(), columns.smallest.end());
  return largest - allowed_anywhere <= smallest && alike(columns.largest) && alike(Extremes(comm_, *X, true).largest) &&
         evenly_scaled(X);
}

template <RealScalar T> bool EvenScaling<T>::measure(const DistributedMatrix<T>& X) const {
  const ExecutionSpace& space = comm_.space();
  const Exponents columns = exponents_on_device(space, static_cast<Index>(X.local().extent(1)));
  column_exponents<T>(space, X.local(), columns);
  const auto over_ranks = [&] {
    std::vector<int> all = on_host_from(space, columns, n_, first_column(X), exponent_of_zero);
    comm_.all_reduce(std::span<int>(all), Reduction::maximum);
    return all;
  };
  std::vector<int> paths = over_ranks();
  const auto [least, most] = std::minmax_element(paths.begin(), paths.end());
  // If so, the largest element of a column can extend any path into it, and none is much smaller than the largest of
  // all.
  if (paths.empty() || *most == exponent_of_zero || *least >= *most - allowed_each) {
    return true;
  }
  const int largest = *most;
  for (int length = 2; length <= path_length; ++length) {
    const Exponents weights = on_device(space, paths.data() + first_row(X), static_cast<Index>(X.local().extent(0)));
    longer_paths<T>(space, X.local(), weights, columns);
    paths = over_ranks();
  }
  return *std::max_element(paths.begin(), paths.end()) >= path_length * largest - (path_length - 1) * allowed_each;
}

template <RealScalar T>
std::vector<int> EvenScaling<T>::between(const DistributedMatrix<T>& X, const DistributedMatrix<T>& Y) const {
  const Extremes columns(comm_, X, false);
  const Extremes rows(comm_, Y, true);
  std::vector<int> exponents(static_cast<std::size_t>(n_), 0);
  for (std::size_t k = 0; k < exponents.size(); ++k) {
    if (columns.largest[k] == exponent_of_zero || rows.largest[k] == exponent_of_zero) {
      continue;
    }
    const int wanted = (rows.largest[k] - columns.largest[k]) / 2;
    constexpr int least = std::numeric_limits<T>::min_exponent - 1;
    if (columns.smallest[k] < least || rows.smallest[k] < least || columns.smallest[k] + wanted < least ||
        rows.smallest[k] - wanted < least) {
      return std::vector<int>(exponents.size(), 0);
    }
    exponents[k] = wanted;
  }
  return exponents;
}

template <RealScalar T>
void EvenScaling<T>::scale(const DistributedMatrix<T>& from, const std::vector<int>& exponents, int sign, bool rows,
                           const DistributedMatrix<T>& to) const {
  const ExecutionSpace& space = comm_.space();
  const Index first = rows ? first_row(from) : first_column(from);
  const Exponents mine =
      on_device(space, exponents.data() + first, static_cast<Index>(from.local().extent(rows ? 0 : 1)));
  scale_by_exponents<T>(space, from.local(), mine, sign, rows, to.local());
}

template class EvenScaling<float>;
template class EvenScaling<double>;

}  // namespace heddle::impl
