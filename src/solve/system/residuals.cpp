// Residuals that are exact but for one rounding, backward errors, and elements of matrices on every rank.
#include "solve/system/residuals.hpp"

#include "core/instantiate.hpp"
#include "solve/grid/over_rows.hpp"
#include <heddle/exact/distributed.hpp>
#include <heddle/exact/matrix.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace heddle::impl {
namespace {

double larger_of(double one, double other) {
  return std::isnan(one) || one > other ? one : other;
}

// The power of two that brings a number of any size between 2^-474 and 2^424, where products are safe.
KOKKOS_INLINE_FUNCTION Index shift_of(double size) {
  return size > 0x1p400 ? -600 : size < 0x1p-400 ? 600 : 0;
}

// Return the sums over j of 2^by |a_ij| sizes[j] for every row.
template <Scalar T>
std::vector<double> sizes_at_power(const PlacedMatrix<T>& A, const std::vector<Size>& sizes, Index by) {
  std::vector<double> numbers(sizes.size());
  std::vector<Index> powers(sizes.size());
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    numbers[j] = sizes[j].number;
    powers[j] = sizes[j].power + by;
  }
  const auto number = of_local_columns(A, numbers);
  const auto power = of_local_columns(A, powers);
  const Elements<T> a(A.local());
  return over_rows<Added>(
      A, "heddle::solve::sizes_at_power", KOKKOS_LAMBDA(Index i, Index j) {
        const Index own = shift_of(part_size(a(i, j)));
        return times_power(magnitude(a(i, j), power_of_two(own)) * number(j), power(j) - own);
      });
}

// Return |A| |x|; if a sum is near the ends of the range, all are computed once more with powers of two.
template <Scalar T> std::vector<Size> safe_sizes_of_rows(const PlacedMatrix<T>& A, const std::vector<T>& x) {
  std::vector<Size> sizes(static_cast<std::size_t>(A.rows()));
  if (std::all_of(x.begin(), x.end(), [](const T& e) { return e == T(0); })) return sizes;
  std::vector<Size> of_x(x.size());
  std::transform(x.begin(), x.end(), of_x.begin(), [](const T& e) { return size_of(e); });
  const std::vector<double> sums = sizes_at_power(A, of_x, 0);
  const auto is_safe = [](double sum) { return sum > 0x1p-800 && std::isfinite(sum); };
  std::transform(sums.begin(), sums.end(), sizes.begin(), [](double sum) { return Size::of(sum); });
  // Products of floats are all within the range of doubles.
  if (sizeof(Real<T>) < sizeof(double) || std::all_of(sums.begin(), sums.end(), is_safe)) return sizes;
  constexpr Index far = 1200;
  for (const Index by : {far, -far}) {
    const std::vector<double> shifted = sizes_at_power(A, of_x, by);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (!is_safe(sums[i]) && (by == far || is_safe(shifted[i]))) sizes[i] = Size::of(shifted[i], -by);
    }
  }
  return sizes;
}

// Return e with all parts below 2^e; a large negative number if all are zero.
template <Scalar T> Index exponent_of(const std::vector<T>& x) {
  double most = 0;
  for (const T& e : x) most = std::isfinite(part_size(e)) ? std::max(most, part_size(e)) : most;
  return most > 0 ? std::ilogb(most) + 1 : -100000;
}
template <Scalar T> Index exponent_of_matrix(const PlacedMatrix<T>& A) {
  const Elements<T> a(A.local());
  const std::vector<double> of_rows = over_rows<Larger>(
      A, "heddle::solve::exponent", KOKKOS_LAMBDA(Index i, Index j) { return part_size(a(i, j)); });
  return exponent_of(of_rows);
}

// Return the power that residuals below 2^size are best multiplied by.
template <Scalar T> Index power_for(Index size) {
  using Limits = std::numeric_limits<Real<T>>;
  constexpr Index most = Limits::max_exponent - 1;
  if (size > most) return std::max<Index>(most - size, Limits::min_exponent - Limits::digits);
  return size > -50000 && size < Limits::min_exponent + 2 * Limits::digits ? std::min<Index>(-size, most) : 0;
}

}  // namespace

template <Scalar T> std::vector<double> sizes_of_rows(const PlacedMatrix<T>& A, const std::vector<double>& sizes) {
  const auto factors = of_local_columns(A, sizes);
  const Elements<T> a(A.local());
  return over_rows<Added>(
      A, "heddle::solve::sizes", KOKKOS_LAMBDA(Index i, Index j) { return magnitude(a(i, j)) * factors(j); });
}

template <Scalar T> std::vector<T> column_of(const PlacedMatrix<T>& M, Index j) {
  const OptionalRanks& ranks = M.ranks();
  std::vector<T> column(static_cast<std::size_t>(M.rows()));
  const int owner = M.placement().owner(0, j);
  if (ranks.rank() == owner) {
    const auto local = Kokkos::subview(M.local(), Kokkos::ALL, M.placement().column_axis().local(j));
    Kokkos::deep_copy(ranks.space(),
                      Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(column.data(), column.size()),
                      Kokkos::View<T*, MemorySpace>(local.data(), column.size()));
    ranks.space().fence("heddle::solve::column");
  }
  ranks.broadcast(std::span<T>(column), owner);
  return column;
}

template <Scalar T> void set_column(const PlacedMatrix<T>& M, Index j, const std::vector<T>& column) {
  if (M.ranks().rank() != M.placement().owner(0, j)) return;
  const auto local = Kokkos::subview(M.local(), Kokkos::ALL, M.placement().column_axis().local(j));
  const ExecutionSpace& space = M.space();
  Kokkos::deep_copy(space, Kokkos::View<T*, MemorySpace>(local.data(), column.size()),
                    Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(column.data(), column.size()));
  space.fence("heddle::solve::column");  // `column` is read until then.
}

template <Scalar T>
std::vector<Index> exact_residuals(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& X,
                                   const PlacedMatrix<T>& R) {
  A.space().fence("heddle::solve::residuals");
  std::vector<Index> powers(static_cast<std::size_t>(X.columns()), 0);
  if (X.rows() == 0 || X.columns() == 0) return powers;
  // Each part of a sum of products of complex numbers is below 2 n times the product of the largest parts.
  const Index of_a = exponent_of_matrix(A) + std::ilogb(static_cast<double>(X.rows())) + 2;
  const auto power_of = [&](const std::vector<T>& x, const std::vector<T>& b) {
    return power_for<T>(std::max(of_a + exponent_of(x), exponent_of(b)) + 1);
  };

  if (A.ranks().comm() == nullptr) {
    for (Index j = 0; j < X.columns(); ++j) {
      powers[static_cast<std::size_t>(j)] = power_of(column_of(X, j), column_of(B, j));
    }
    Kokkos::deep_copy(A.space(), R.local(), B.local());
    // Consecutive columns with one power, usually all columns, are one product; few columns at a time, because the host
    // copies them.
    constexpr Index most = 256;
    for (Index begin = 0, end = 0; begin < X.columns(); begin = end) {
      const Index power = powers[static_cast<std::size_t>(begin)];
      const Index last = std::min(begin + most, X.columns());
      while (end < last && powers[static_cast<std::size_t>(end)] == power) ++end;
      const T factor(static_cast<Real<T>>(times_power(1.0, power)));
      const auto some = Kokkos::make_pair(begin, end);
      exact::gemm(A.space(), Operation::none, Operation::none, -factor, A.local(),
                  Kokkos::subview(X.local(), Kokkos::ALL, some), factor, Kokkos::subview(R.local(), Kokkos::ALL, some));
    }
    return powers;
  }
  for (Index j = 0; j < X.columns(); ++j) {
    const std::vector<T> x = column_of(X, j);
    std::vector<T> r = column_of(B, j);
    const Index power = power_of(x, r);
    powers[static_cast<std::size_t>(j)] = power;
    const T factor(static_cast<Real<T>>(times_power(1.0, power)));
    exact::gemv<T>(*A.ranks().comm(), Operation::none, -factor, A.distributed(), x, factor, r);
    set_column(R, j, r);
  }
  return powers;
}

template <Scalar T>
BackwardErrors backward_errors(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& X,
                               const PlacedMatrix<T>& R, const std::vector<Index>& powers) {
  BackwardErrors errors;
  if (X.rows() == 0 || X.columns() == 0) return errors;
  const Size smallest_normal = Size::of(static_cast<double>(std::numeric_limits<Real<T>>::min()));
  Size norm;
  for (const Size& size : safe_sizes_of_rows(A, std::vector<T>(static_cast<std::size_t>(A.columns()), T(1)))) {
    norm = larger_of(size, norm);
  }
  for (Index j = 0; j < X.columns(); ++j) {
    const std::vector<T> x = column_of(X, j);
    const std::vector<T> b = column_of(B, j);
    const std::vector<T> r = column_of(R, j);
    const std::vector<Size> sums = safe_sizes_of_rows(A, x);
    Size of_x;
    Size of_b;
    Size of_r;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Size rest = size_of(r[i], -powers[static_cast<std::size_t>(j)]);
      of_x = larger_of(size_of(x[i]), of_x);
      of_b = larger_of(size_of(b[i]), of_b);
      of_r = larger_of(rest, of_r);
      errors.componentwise = larger_of(rest / (sums[i] + size_of(b[i])), errors.componentwise);
    }
    errors.normwise = larger_of(of_r / (norm * of_x + of_b), errors.normwise);
    errors.above_underflow = larger_of(of_r / (norm * larger_of(of_x, smallest_normal) + of_b), errors.above_underflow);
  }
  return errors;
}

template <Scalar T> std::vector<T> diagonal_of(const PlacedMatrix<T>& A) {
  const OptionalRanks& ranks = A.ranks();
  std::vector<T> mine(static_cast<std::size_t>(A.rows()), T(0));
  const auto rows = static_cast<Index>(A.local().extent(0));
  const auto columns = static_cast<Index>(A.local().extent(1));
  if (rows > 0 && columns > 0) {
    // For each local column, the diagonal's local row if this rank has it.
    std::vector<Index> local_row(static_cast<std::size_t>(columns), -1);
    const CyclicAxis& axis = A.placement().row_axis();
    for (Index j = 0; j < columns; ++j) {
      const Index global = A.global_column(j);
      if (axis.owner(global) == A.grid_row()) local_row[static_cast<std::size_t>(j)] = axis.local(global);
    }
    const auto where = device_copy(ranks.space(), local_row, "heddle::solve::where");
    const Kokkos::View<T*, MemorySpace> found(
        Kokkos::view_alloc(ranks.space(), Kokkos::WithoutInitializing, "heddle::solve::diagonal"),
        static_cast<std::size_t>(columns));
    const Elements<T> a(A.local());
    Kokkos::parallel_for(
        "heddle::solve::diagonal",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(ranks.space(), 0, columns),
        KOKKOS_LAMBDA(Index j) { found(j) = where(j) >= 0 ? a(where(j), j) : T(0); });
    const auto host = host_copy(ranks.space(), found);
    for (Index j = 0; j < columns; ++j) {
      if (local_row[static_cast<std::size_t>(j)] >= 0) mine[static_cast<std::size_t>(A.global_column(j))] = host(j);
    }
  }
  // Each element is on one rank; the others have zeros there, which must change neither NaNs nor signs of zeros.
  std::vector<T> all(mine.size() * static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(std::span<const T>(mine), std::span<T>(all));
  for (Index k = 0; k < A.rows(); ++k) {
    const auto owner = static_cast<std::size_t>(A.placement().owner(k, k));
    mine[static_cast<std::size_t>(k)] = all[owner * mine.size() + static_cast<std::size_t>(k)];
  }
  return mine;
}

#define HEDDLE_INSTANTIATE(T)                                                                                        \
  template std::vector<double> sizes_of_rows<T>(const PlacedMatrix<T>&, const std::vector<double>&);                 \
  template std::vector<Index> exact_residuals<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&,                     \
                                                 const PlacedMatrix<T>&, const PlacedMatrix<T>&);                    \
  template BackwardErrors backward_errors<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&, const PlacedMatrix<T>&, \
                                             const PlacedMatrix<T>&, const std::vector<Index>&);                     \
  template std::vector<T> column_of<T>(const PlacedMatrix<T>&, Index);                                               \
  template void set_column<T>(const PlacedMatrix<T>&, Index, const std::vector<T>&);                                 \
  template std::vector<T> diagonal_of<T>(const PlacedMatrix<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
