// One-norms of matrices and of inverses of factored ones.
#include "solve/system/inverse_norm.hpp"

#include "core/instantiate.hpp"
#include "exact/lu/norm_estimate.hpp"
#include "solve/grid/over_rows.hpp"
#include "solve/system/equilibration.hpp"
#include "solve/system/right_hand_sides.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace heddle::impl {
namespace {

// Inverses up to this order cost less than an estimate does.
constexpr Index few = 32;

bool are_zeros(const std::vector<Index>& exponents) {
  return std::all_of(exponents.begin(), exponents.end(), [](Index e) { return e == 0; });
}

// Return the e with all parts of D M E below 2^e and the largest no less than half of it; a large negative
// number if M is zero.
template <Scalar T>
Index exponent_between(const PlacedMatrix<T>& M, const OfColumns& by_row, const OfColumns& by_column) {
  const Elements<T> m(M.local());
  constexpr Index above = 20000;
  const std::vector<double> of_rows = over_rows<Larger>(
      M, "heddle::solve::exponents", KOKKOS_LAMBDA(Index i, Index j) {
        const double size = part_size(m(i, j));
        if (size == 0 || !exact::impl::is_finite(size)) return 0.0;
        return static_cast<double>(exact::impl::power_of(size) + 1 + by_row(i) + by_column(j) + above);
      });
  return static_cast<Index>(*std::max_element(of_rows.begin(), of_rows.end())) - above;
}
// The same for M itself, by a faster pass.
template <Scalar T> Index largest_exponent(const PlacedMatrix<T>& M) {
  const Elements<T> m(M.local());
  const std::vector<double> of_rows = over_rows<Larger>(
      M, "heddle::solve::largest_of_rows", KOKKOS_LAMBDA(Index i, Index j) {
        const double size = part_size(m(i, j));
        return exact::impl::is_finite(size) ? size : 0.0;
      });
  const double most = *std::max_element(of_rows.begin(), of_rows.end());
  return most == 0 ? 0 : std::ilogb(most) + 1;
}

template <Scalar T> KOKKOS_INLINE_FUNCTION double size_between(const T& x, double one, double other) {
  if constexpr (is_complex<T>) {
    const double re = real_of<double>(x) * one * other;
    const double im = imaginary_of<double>(x) * one * other;
    return Kokkos::sqrt(re * re + im * im);
  } else {
    return Kokkos::abs(static_cast<double>(x)) * one * other;
  }
}
using Sums = Kokkos::View<double*, MemorySpace>;
// Add the sums over this rank's rows of |M| 2^-most.
template <Scalar T> void add_columns(const PlacedMatrix<T>& M, Index most, const Sums& sums) {
  const Elements<T> m(M.local());
  const auto rows = static_cast<Index>(M.local().extent(0));
  const Index half = -most / 2;
  const double one = power_of_two(half);
  const double other = power_of_two(-most - half);
  Kokkos::parallel_for(
      "heddle::solve::sums_of_columns",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(M.space(), 0, M.local().extent(1)),
      KOKKOS_LAMBDA(Index j) {
        // Four sums at a time, so that the loop vectorizes.
        double sum[4] = {0, 0, 0, 0};
        const Index whole = rows / 4 * 4;
        for (Index i = 0; i < whole; i += 4) {
          for (Index k = 0; k < 4; ++k) sum[k] += size_between(m(i + k, j), one, other);
        }
        for (Index i = whole; i < rows; ++i) sum[0] += size_between(m(i, j), one, other);
        sums(j) = sum[0] + sum[1] + (sum[2] + sum[3]);
      });
}
// Add the sums of |D M E| 2^-most, likewise.
template <Scalar T>
void add_columns_between(const PlacedMatrix<T>& M, const OfColumns& by_row, const OfColumns& by_column, Index most,
                         const Sums& sums) {
  const Elements<T> m(M.local());
  const auto rows = static_cast<Index>(M.local().extent(0));
  Kokkos::parallel_for(
      "heddle::solve::sums_of_columns",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(M.space(), 0, M.local().extent(1)),
      KOKKOS_LAMBDA(Index j) {
        double sum = 0;
        for (Index i = 0; i < rows; ++i) {
          const Index by = by_row(i) + by_column(j) - most;
          const double re = times_power(real_of<double>(m(i, j)), by);
          const double im = times_power(imaginary_of<double>(m(i, j)), by);
          sum += is_complex<T> ? Kokkos::sqrt(re * re + im * im) : Kokkos::abs(re);
        }
        sums(j) = sum;
      });
}

// Return all elements of a matrix whose columns are on one rank, on every rank, by columns.
template <Scalar T> std::vector<T> elements_of(const PlacedMatrix<T>& M) {
  std::vector<T> elements(static_cast<std::size_t>(M.rows() * M.columns()));
  const int owner = M.placement().owner(0, 0);
  if (M.ranks().rank() == owner) {
    const auto host = host_copy(M.space(), M.local());
    for (std::size_t j = 0; j < host.extent(1); ++j) {
      for (std::size_t i = 0; i < host.extent(0); ++i) elements[i + j * host.extent(0)] = host(i, j);
    }
  }
  M.ranks().broadcast(std::span<T>(elements), owner);
  return elements;
}

template <Scalar T> bool all_finite(const std::vector<T>& x) {
  return std::all_of(x.begin(), x.end(), [](const T& e) { return std::isfinite(part_size(e)); });
}

}  // namespace

template <Scalar T>
Size one_norm(const PlacedMatrix<T>& M, const std::vector<Index>& rows, const std::vector<Index>& columns) {
  if (M.rows() == 0 || M.columns() == 0) return {};
  const Sums sums(Kokkos::view_alloc(M.space(), Kokkos::WithoutInitializing, "heddle::solve::sums"),
                  M.local().extent(1));
  // Elements are scaled to at most one, so that underflow is negligible beside the largest.
  Index most = 0;
  if (are_zeros(rows) && are_zeros(columns)) {
    most = largest_exponent(M);
    add_columns(M, most, sums);
  } else {
    const OfColumns by_row = of_local_rows(M, rows);
    const OfColumns by_column = of_local_columns(M, columns);
    most = exponent_between(M, by_row, by_column);
    add_columns_between(M, by_row, by_column, most, sums);
  }
  Size norm;
  for (const double sum :
       on_every_rank<Added>(M.ranks(), M.columns(), sums, [&](Index j) { return M.global_column(j); })) {
    norm = larger_of(Size::of(sum, most), norm);
  }
  return norm;
}

template <Scalar T>
InverseNorm<T>::InverseNorm(const PlacedMatrix<T>& factors, const std::vector<Index>* pivots,
                            const FactorOptions& options)
    : factors_(factors),
      pivots_(pivots),
      system_(factors, factors.rows() <= few ? factors.rows() : 1, options),
      right_(system_.new_right("heddle::solve::estimate")) {}

template <Scalar T> void InverseNorm<T>::solve(Operation op) {
  if (pivots_ != nullptr) {
    system_.solve_by_lu(op, *pivots_, right_);
  } else {
    system_.solve_by_cholesky(right_);
  }
}

// Return the solutions of all columns for right-hand sides that fill(power) writes, times 2^power.
template <Scalar T>
template <class Fill>
typename InverseNorm<T>::Solution InverseNorm<T>::solved(Operation op, const Fill& fill) {
  Solution found;
  for (const Index power : {Index{0}, Index{std::numeric_limits<Real<T>>::min_exponent} * 3 / 4}) {
    fill(power);
    solve(op);
    found.x = elements_of(right_);
    found.power = -power;
    if (all_finite(found.x)) break;
  }
  return found;
}

// Return the solution for the right-hand side diag(2^powers) b, with |b| up to about one.
template <Scalar T>
typename InverseNorm<T>::Solution InverseNorm<T>::solved(Operation op, const std::vector<T>& b,
                                                         const std::vector<Index>& powers) {
  const Index most = *std::max_element(powers.begin(), powers.end());
  Solution found = solved(op, [&](Index power) {
    std::vector<T> scaled(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) scaled[i] = times_power_of_two(b[i], powers[i] - most + power);
    set_column(right_, 0, scaled);
  });
  found.power += most;
  return found;
}

// Return the norm if a solution is not finite: the factors hold a NaN or an infinity, or it overflows.
template <Scalar T> Size InverseNorm<T>::of_nothing() const {
  const std::vector<Index> none(static_cast<std::size_t>(order()), 0);
  const bool finite = std::isfinite(one_norm(factors_, none, none).number);
  return {finite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN(), 0};
}

template <Scalar T> Size InverseNorm<T>::of_inverse(const std::vector<Index>& rows, const std::vector<Index>& columns) {
  if (!inverse_) {
    inverse_ = solved(Operation::none, [&](Index power) {
      set_identity(right_);
      const std::vector<Index> none(static_cast<std::size_t>(order()), 0);
      if (power != 0) scale_by(right_, none, std::vector<Index>(static_cast<std::size_t>(order()), power));
    });
  }
  if (!all_finite(inverse_->x)) return of_nothing();
  Size norm;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    Size sum;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum = sum + size_of(inverse_->x[i + j * rows.size()], rows[i] + columns[j] + inverse_->power);
    }
    norm = larger_of(sum, norm);
  }
  return norm;
}

template <Scalar T> Size InverseNorm<T>::estimate(const std::vector<Index>& rows, const std::vector<Index>& columns) {
  bool finite = true;
  const auto found = exact::impl::estimate_norm<T>(rows.size(), [&](Operation op, const std::vector<T>& x) {
    const bool forwards = op == Operation::none;
    Solution y = solved(op, x, forwards ? columns : rows);
    finite = finite && all_finite(y.x);
    exact::impl::ScaledVector<T> scaled{std::move(y.x), forwards ? rows : columns};
    for (Index& power : scaled.powers) power += y.power;
    return scaled;
  });
  largest_ = static_cast<Index>(found.column);
  return finite ? found.norm : of_nothing();
}

template <Scalar T> Size InverseNorm<T>::operator()(const std::vector<Index>& rows, const std::vector<Index>& columns) {
  return order() <= few ? of_inverse(rows, columns) : estimate(rows, columns);
}

template <Scalar T>
double InverseNorm<T>::memory(const LuSchedule& schedule, const CyclicAxis& columns, bool by_lu, Arithmetic arithmetic,
                              Residence residence) {
  const bool inverts = schedule.rows <= few;
  const CyclicAxis right = right_hand_sides(inverts ? schedule.rows : 1, columns.processes);
  const Operation op = by_lu && inverts ? Operation::none : Operation::conjugate_transpose;
  // Right-hand sides, a copy with rows in another order, and residuals.
  return 4.0 * bytes_of_local<T>(schedule.rows, right) +
         Substitution<T>::bytes(schedule, columns, right, op, arithmetic, residence);
}

template <Scalar T>
double worst_correction(const PlacedMatrix<T>& A, const PlacedMatrix<T>& factors, const std::vector<Index>* pivots,
                        const FactorOptions& options) {
  const auto n = static_cast<std::size_t>(A.rows());
  std::vector<T> column(n, T(0));
  {
    const std::vector<Index> none(n, 0);
    InverseNorm<T> norm(factors, pivots, options);
    static_cast<void>(norm(none, none));
    column[static_cast<std::size_t>(norm.largest_column())] = T(1);
  }
  FactoredSystem<T> system(factors, 1, options);
  const PlacedMatrix<T> b = system.new_right("heddle::solve::b");
  const PlacedMatrix<T> x = system.new_right("heddle::solve::x");
  const PlacedMatrix<T> r = system.new_right("heddle::solve::r");
  const auto solve = [&](const PlacedMatrix<T>& right) {
    if (pivots != nullptr) {
      system.solve_by_lu(Operation::none, *pivots, right);
    } else {
      system.solve_by_cholesky(right);
    }
  };
  const auto size = [](const std::vector<T>& elements, Index power) {
    Size sum;
    for (const T& e : elements) sum = sum + size_of(e, power);
    return sum;
  };
  set_column(b, 0, column);
  set_column(x, 0, column);
  solve(x);
  const std::vector<Index> powers = exact_residuals(A, b, x, r);
  solve(r);
  return size(column_of(r, 0), -powers[0]) / size(column_of(x, 0), 0);
}

#define HEDDLE_INSTANTIATE(T)                                                                                    \
  template class InverseNorm<T>;                                                                                 \
  template double worst_correction<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&, const std::vector<Index>*, \
                                      const FactorOptions&);                                                     \
  template Size one_norm<T>(const PlacedMatrix<T>&, const std::vector<Index>&, const std::vector<Index>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
