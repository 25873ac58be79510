// Solution of linear systems by LU factors with iterative refinement, and estimates of condition numbers.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/copies.hpp"
#include "exact/lu/host_lu.hpp"
#include "exact/lu/norm_estimate.hpp"
#include "exact/products/operand.hpp"
#include "exact/products/size.hpp"
#include "exact/sums/arithmetic.hpp"
#include "exact/sums/chunks.hpp"
#include "exact/triangles/gathered.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace heddle::exact::compiled {

using namespace impl;
namespace {

template <Scalar T> using Vector = Kokkos::View<T*, MemorySpace>;

template <Scalar T> std::vector<T> on_the_host(const ExecutionSpace& space, const StridedVector<const T>& x) {
  std::vector<T> host(x.extent(0));
  const Vector<T> dense(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::dense"), x.extent(0));
  heddle::impl::copy_vector<T>(space, x, strided(dense));
  Kokkos::deep_copy(space, Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host.data(), host.size()),
                    dense);
  space.fence("heddle::exact::solve");
  return host;
}
template <Scalar T> void to_the_device(const ExecutionSpace& space, const std::vector<T>& host, const Vector<T>& x) {
  Kokkos::deep_copy(space, x,
                    Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(host.data(), host.size()));
  space.fence("heddle::exact::solve");
}

// Returns x 2^power (for complex numbers, each part).
template <Scalar T> T times_power(const T& x, int power) {
  if constexpr (is_complex<T>) {
    return T(times_power(x.real(), power), times_power(x.imag(), power));
  } else {
    return static_cast<T>(scaled(static_cast<double>(x), power));
  }
}
template <Scalar T> T plain_sum(const T& x, const T& y) {
  if constexpr (is_complex<T>) {
    return T(rounded_sum(x.real(), y.real()), rounded_sum(x.imag(), y.imag()));
  } else {
    return rounded_sum(x, y);
  }
}
template <Scalar T> bool is_number(const T& x) {
  return is_finite(size_of(x).number);
}

// Smallest power of two with full precision, and the largest power by which numbers are scaled at once.
template <Scalar T> inline constexpr int least_power = sizeof(Real<T>) == 8 ? -1022 : -126;
template <Scalar T> inline constexpr int most_power = sizeof(Real<T>) == 8 ? 1000 : 120;

// Returns |A| |x| + |b|: the same on any backend, whatever the number of threads; blocks.
template <Scalar T>
std::vector<Size> sizes_of_system(const ExecutionSpace& space, const StridedMatrix<const T>& A, const Vector<T>& x,
                                  const StridedVector<const T>& b) {
  const std::size_t n = A.extent(0);
  const Kokkos::View<Size*, MemorySpace> sizes(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::sizes"), n);
  const Operand<T> rows(Operation::none, A);
  for_each_index(
      space, "heddle::exact::sizes", n, 16, KOKKOS_LAMBDA(Index i) {
        Size sum = size_of(b(i));
        for (Index j = 0; j < rows.columns; ++j) {
          sum = sum + size_of(rows(i, j)) * size_of(x(j));
        }
        sizes(i) = sum;
      });
  std::vector<Size> all(n);
  const Kokkos::View<Size*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(all.data(), n);
  Kokkos::deep_copy(space, host, sizes);
  space.fence("heddle::exact::sizes");
  return all;
}

// A system and its residual b - A x, each element rounded once and scaled by its own power of two, so that it has full
// precision whatever the system's size.
template <Scalar T> class Residual {
 public:
  Residual(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<const T>& b,
           const Vector<T>& x)
      : bounds_(sizes_of_system<T>(space, A, x, b)), values_(bounds_.size()), powers_(bounds_.size(), 0) {
    take(space, 0, A, b, x, [](std::size_t) { return true; });
    // A rounding is about a unit in the last place of the bound; a unit in the last place of that should also be
    // normal.
    constexpr int least = least_power<T> + 2 * (Format<Real<T>>::fraction + 1);
    take(space, most_power<T>, A, b, x, [&](std::size_t i) { return bounds_[i].power < least; });
    take_least(space, A, x, [&](std::size_t i) { return bounds_[i].power < least - most_power<T>; });
    take(space, -most_power<T>, A, b, x, [&](std::size_t i) { return !is_number(values_[i]); });
  }

  /// Returns the error of the worst row; infinite if a row has an infinity or a NaN.
  [[nodiscard]] double error() const {
    double worst = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double one = size_of(values_[i], powers_[i]) / bounds_[i];
      worst = is_finite(one) ? std::max(worst, one) : std::numeric_limits<double>::infinity();
    }
    return worst;
  }
  [[nodiscard]] bool is_zero() const {
    return std::all_of(values_.begin(), values_.end(), [](const T& value) { return value == T(0); });
  }
  /// Scales all elements by one power of two, which keeps them and their solution within range: x_power is that of the
  /// largest element of x. Elements far below the largest may be lost.
  std::vector<T> on_one_scale(int x_power, int& power) const {
    constexpr int room = most_power<T> / 2;
    int most = -(1 << 20);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] != T(0)) {
        most = std::max(most, size_of(values_[i], powers_[i]).power);
      }
    }
    // Most residuals need no scaling.
    const bool is_tame = most > least_power<T> + room && most < room;
    power = is_tame ? 0 : -std::min(-most, room - x_power);
    std::vector<T> scaled_values(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      scaled_values[i] = times_power(values_[i], powers_[i] - power);
    }
    return scaled_values;
  }

 private:
  // Computes the rows that satisfy `is_wanted`, times 2^power before they are rounded.
  template <class Predicate>
  void take(const ExecutionSpace& space, int power, const StridedMatrix<const T>& A, const StridedVector<const T>& b,
            const Vector<T>& x, const Predicate& is_wanted) {
    bool is_any = false;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      is_any = is_any || is_wanted(i);
    }
    if (!is_any) {
      return;
    }
    const Vector<T> rest(Kokkos::view_alloc(space, "heddle::exact::residual"), values_.size());
    const auto factor = static_cast<Real<T>>(scaled(1.0, power));
    heddle::impl::copy_vector<T>(space, b, strided(rest));
    gemv<T>(space, Operation::none, T(-factor), A, strided(x), T(factor), strided(rest));
    const auto host = on_the_host<T>(space, strided(rest));
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (is_wanted(i)) {
        values_[i] = host[i];
        powers_[i] = -power;
      }
    }
  }

  // Computes rows whose products are all below the range of a scaled sum, so that b_i is zero: -A x, where each row of
  // A is scaled by a power of two that brings the row's bound near one. Elements that meet a zero of x are left out; no
  // other leaves the range, since it is at most the bound over the smallest number.
  template <class Predicate>
  void take_least(const ExecutionSpace& space, const StridedMatrix<const T>& A, const Vector<T>& x,
                  const Predicate& is_wanted) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      // A bound of zero belongs to a row of zeros.
      if (is_wanted(i) && bounds_[i].number != 0) rows.push_back(i);
    }
    if (rows.empty()) {
      return;
    }
    const std::size_t n = A.extent(1);
    const auto host_x = on_the_host<T>(space, strided(x));
    const Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace> few(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::few_rows"), rows.size(), n);
    const auto host = Kokkos::create_mirror_view(few);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto row = on_the_host<T>(space, Kokkos::subview(A, rows[k], Kokkos::ALL));
      const int power = -bounds_[rows[k]].power - most_power<T>;
      powers_[rows[k]] = -power - most_power<T>;
      for (std::size_t j = 0; j < n; ++j) {
        host(k, j) = host_x[j] != T(0) ? times_power(row[j], power) : T(0);
      }
    }
    Kokkos::deep_copy(space, flat(few), flat(host));
    const Vector<T> rest(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::residual"),
                         rows.size());
    const auto factor = static_cast<Real<T>>(scaled(1.0, most_power<T>));
    gemv<T>(space, Operation::none, T(-factor), StridedMatrix<const T>(few), strided(x), T(0), strided(rest));
    const auto found = on_the_host<T>(space, strided(rest));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      values_[rows[k]] = found[k];
    }
  }

  std::vector<Size> bounds_;
  std::vector<T> values_;
  std::vector<int> powers_;
};

}  // namespace

template <Scalar T>
void lu_solve(const ExecutionSpace& space, Operation op, const StridedMatrix<const T>& LU, const LuResult& result,
              const StridedVector<T>& x) {
  const auto n = static_cast<Index>(LU.extent(0));
  require(LU.extent(0) == LU.extent(1) && x.extent(0) == LU.extent(0) && static_cast<Index>(result.pivots.size()) == n,
          "exact::lu_solve: LU is ", LU.extent(0), " x ", LU.extent(1), " with ", result.pivots.size(),
          " pivots, x has ", x.extent(0), " elements");
  for (Index k = 0; k < n; ++k) {
    const Index pivot = result.pivots[static_cast<std::size_t>(k)];
    require(pivot >= k && pivot < n, "exact::lu_solve: pivot ", k, " is ", pivot, "; expected ", k, " to ", n - 1);
  }
  require(result.info == 0, "exact::lu_solve: U is singular, its element ", result.info, ", ", result.info, " is zero");
  const DefaultArithmetic arithmetic;
  const Vector<T> dense(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::dense"), x.extent(0));
  const auto permute = [&](bool forwards) {
    std::vector<T> host = on_the_host<T>(space, strided(dense));
    for (Index step = 0; step < n; ++step) {
      const auto k = static_cast<std::size_t>(forwards ? step : n - 1 - step);
      std::swap(host[k], host[static_cast<std::size_t>(result.pivots[k])]);
    }
    to_the_device<T>(space, host, dense);
  };
  heddle::impl::copy_vector<T>(space, x, strided(dense));
  if (op == Operation::none) {
    permute(true);
    trsv<T>(space, Triangle::lower, op, Diagonal::unit, LU, strided(dense), 0);
    trsv<T>(space, Triangle::upper, op, Diagonal::stored, LU, strided(dense), 0);
  } else {
    trsv<T>(space, Triangle::upper, op, Diagonal::stored, LU, strided(dense), 0);
    trsv<T>(space, Triangle::lower, op, Diagonal::unit, LU, strided(dense), 0);
    permute(false);
  }
  heddle::impl::copy_vector<T>(space, strided(dense), x);
  space.fence("heddle::exact::lu_solve");
}

namespace {

// Computes x of A x = b by the factors of A, corrected. It is written last, so that x may be b.
template <Scalar T>
SolveReport refined(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedMatrix<const T>& LU,
                    const LuResult& factors, const StridedVector<const T>& b, const StridedVector<T>& x,
                    int refinements) {
  const std::size_t n = A.extent(0);
  SolveReport result;
  const Vector<T> current(Kokkos::view_alloc(space, "heddle::exact::x"), n);
  const Vector<T> rest(Kokkos::view_alloc(space, "heddle::exact::residual"), n);
  heddle::impl::copy_vector<T>(space, b, strided(current));
  lu_solve<T>(space, Operation::none, LU, factors, strided(current));
  Residual<T> residual(space, A, b, current);
  result.backward_error = residual.error();
  const double enough = static_cast<double>(unit_roundoff<T>) / 2;
  while (result.refinements < refinements && is_finite(result.backward_error) && !residual.is_zero()) {
    const auto host_x = on_the_host<T>(space, strided(current));
    Size largest;
    for (std::size_t i = 0; i < n; ++i) {
      const Size size = size_of(host_x[i]);
      largest = size.number != 0 && (largest.number == 0 || size.power > largest.power) ? size : largest;
    }
    int power = 0;
    to_the_device<T>(space, residual.on_one_scale(largest.power, power), rest);
    lu_solve<T>(space, Operation::none, LU, factors, strided(rest));
    const auto correction = on_the_host<T>(space, strided(rest));
    std::vector<T> better(n);
    bool changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      better[i] = plain_sum(host_x[i], times_power(correction[i], power));
      changed = changed || better[i] != host_x[i];
    }
    if (!changed) {
      break;
    }
    const Vector<T> candidate(Kokkos::view_alloc(space, "heddle::exact::x"), n);
    to_the_device<T>(space, better, candidate);
    const Residual<T> next(space, A, b, candidate);
    const double error = next.error();
    if (!(error < result.backward_error) && !(error <= enough)) {
      break;
    }
    ++result.refinements;
    const bool slow = error > result.backward_error / 2;
    result.backward_error = error;
    Kokkos::deep_copy(space, current, candidate);
    residual = next;
    if (slow && error <= enough) {
      break;
    }
  }
  heddle::impl::copy_vector<T>(space, strided(current), x);
  space.fence("heddle::exact::solve");
  return result;
}

}  // namespace

template <Scalar T>
SolveReport solve_columns(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedMatrix<const T>& B,
                          const StridedMatrix<T>& X, const SolveOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::solve");
  require(options.refinements >= 0, "exact::solve: ", options.refinements, " refinements");
  const DefaultArithmetic arithmetic;
  const Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace> LU(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::LU"), A.extent(0), A.extent(1));
  heddle::impl::copy_matrix<T>(space, A, strided(LU));
  const LuResult factors = lu<T>(space, strided(LU), options.lu);
  SolveReport worst;
  worst.info = factors.info;
  if (worst.info != 0 || A.extent(0) == 0) {
    return worst;
  }
  for (std::size_t j = 0; j < X.extent(1); ++j) {
    const SolveReport one = refined<T>(space, A, strided(LU), factors, Kokkos::subview(B, Kokkos::ALL, j),
                                       Kokkos::subview(X, Kokkos::ALL, j), options.refinements);
    worst.refinements = std::max(worst.refinements, one.refinements);
    worst.backward_error = std::max(worst.backward_error, one.backward_error);
  }
  return worst;
}

template <Scalar T>
SolveReport solve(const ExecutionSpace& space, const StridedMatrix<const T>& A, const StridedVector<const T>& b,
                  const StridedVector<T>& x, const SolveOptions& options) {
  require(A.extent(0) == A.extent(1) && b.extent(0) == A.extent(0) && x.extent(0) == A.extent(0), "exact::solve: A is ",
          A.extent(0), " x ", A.extent(1), ", b has ", b.extent(0), " elements, x ", x.extent(0));
  const auto as_column = [](const auto& v) {
    return StridedMatrix<typename std::decay_t<decltype(v)>::value_type>(
        v.data(), Kokkos::LayoutStride(v.extent(0), v.stride(0), 1, 1));
  };
  return solve_columns<T>(space, A, as_column(b), as_column(x), options);
}

template <Scalar T>
double condition(const ExecutionSpace& space, const StridedMatrix<const T>& LU, const LuResult& result, double norm,
                 int norm_power) {
  if (result.info != 0) {
    return std::numeric_limits<double>::infinity();
  }
  if (LU.extent(0) == 0) {
    return 0;
  }
  if (!is_finite(norm)) {
    return std::abs(norm);
  }
  require(norm > 0, "exact::condition: a norm of ", norm, " of a matrix that is not singular");
  const DefaultArithmetic arithmetic;
  // Solutions for ones are at least 2^power / |A|, and larger by the condition: that is about 2^(-most_power / 3), or
  // more if the right-hand sides would otherwise not be normal.
  const int own_power = power_of(norm) + norm_power;
  const int power = std::max(own_power - most_power<T> / 3, least_power<T> + 2 * (Format<Real<T>>::fraction + 1) / 3);
  const std::size_t n = LU.extent(0);
  const Vector<T> x(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::x"), n);
  const NormEstimate inverse = estimate_norm<T>(n, [&](Operation op, std::vector<T> right) {
    for (T& e : right) e = times_power(e, power);
    to_the_device<T>(space, right, x);
    lu_solve<T>(space, op, LU, result, strided(x));
    return ScaledVector<T>{on_the_host<T>(space, strided(x)), std::vector<Index>(n, -power)};
  });
  return condition_of(inverse.norm * Size::of(norm, norm_power));
}

#define HEDDLE_INSTANTIATE(T)                                                                                         \
  template void lu_solve<T>(const ExecutionSpace&, Operation, const StridedMatrix<const T>&, const LuResult&,         \
                            const StridedVector<T>&);                                                                 \
  template SolveReport solve<T>(const ExecutionSpace&, const StridedMatrix<const T>&, const StridedVector<const T>&,  \
                                const StridedVector<T>&, const SolveOptions&);                                        \
  template SolveReport solve_columns<T>(const ExecutionSpace&, const StridedMatrix<const T>&,                         \
                                        const StridedMatrix<const T>&, const StridedMatrix<T>&, const SolveOptions&); \
  template double condition<T>(const ExecutionSpace&, const StridedMatrix<const T>&, const LuResult&, double, int)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled
