// Determinants from approximate triangular inverses with known determinants, and from factors modulo primes.
#include "solve/proof/long_determinant.hpp"

#include "core/instantiate.hpp"
#include "exact/sums/arithmetic.hpp"
#include "solve/grid/over_rows.hpp"
#include "solve/proof/certificate.hpp"
#include "solve/proof/long_number.hpp"
#include "solve/proof/long_product.hpp"
#include "solve/proof/modular.hpp"
#include "solve/system/equilibration.hpp"
#include "solve/system/sizes.hpp"
#include "solve/system/system.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace heddle::impl {
namespace {

constexpr double unit = 0x1p-53;
// Bound of the relative rounding error of an operation with long numbers of double, which have 159 bits.
constexpr double long_unit = 0x1p-155;

// The long number nearest to a sum.
template <Scalar T> LongNumber<T> long_number(ExactSum<T> sum) {
  LongNumber<T> z;
  for (T& term : z) {
    term = sum.value();
    sum.add(-term);
  }
  return z;
}
template <Scalar T> LongNumber<T> product(const LongNumber<T>& x, const LongNumber<T>& y) {
  ExactSum<T> sum;
  for (const T& a : x) {
    for (const T& b : y) sum.add_product(a, b);
  }
  return long_number(sum);
}

// A long number times 2^exponent, and a bound of its relative error.
template <Scalar T> struct LongScaled {
  LongNumber<T> number{T(1)};
  Index exponent = 0;
  double error = 0.0;

  // Brings the larger part into [1/2, 1).
  void normalise() {
    const double size = part_size(number[0]);
    if (!(size > 0) || !std::isfinite(size)) return;
    const Index power = std::ilogb(size) + 1;
    for (T& term : number) term = times_power_of_two(term, -power);
    exponent += power;
  }
  void multiply(const LongNumber<T>& factor) {
    number = product(number, factor);
    error += long_unit;
    normalise();
  }
  void multiply(T factor) {
    const Index power = std::ilogb(part_size(factor)) + 1;
    multiply(LongNumber<T>{times_power_of_two(factor, -power)});
    exponent += power;
  }
  // Becomes its inverse, by Newton's method.
  void invert() {
    LongNumber<T> y{T(1) / number[0]};
    LongNumber<T> residual;
    for (int step = 0; step < 4; ++step) {
      // 1 - x y, and y + y (1 - x y).
      ExactSum<T> rest;
      rest.add(T(-1));
      for (const T& a : number) {
        for (const T& b : y) rest.add_product(a, b);
      }
      for (auto& part : rest.part) part.negate();
      residual = long_number(rest);
      if (step == 3) break;
      ExactSum<T> sum = sum_of<T>(product(y, residual));
      for (const T& term : y) sum.add(term);
      y = long_number(sum);
    }
    // y = (1 - residual) / x.
    number = y;
    exponent = -exponent;
    error += 4.0 * magnitude(residual[0]) + long_unit;
    normalise();
  }
};

// The determinant sum 2^exponent, but for an error of each part of the sum, with parts rounded if that decides them;
// the larger part of the sum is in [1/2, 1).
template <Scalar T, Scalar Z>
std::optional<Determinant<T>> rounded(const ExactSum<Z>& sum, Index exponent, double error,
                                      const std::array<bool, 2>& is_zero) {
  using R = Real<T>;
  // The larger part may become 1.
  for (const Index power : {0, -1}) {
    std::array<R, 2> parts{};
    for (std::size_t p = 0; p < parts_of_scalar<Z>; ++p) {
      if (is_zero[p]) continue;
      const Ends<R> ends = ends_of<R>(sum.part[p], times_power(error, error_power), power);
      if (!ends.decided()) return std::nullopt;
      parts[p] = ends.number();
    }
    const R size = std::max(std::abs(parts[0]), std::abs(parts[1]));
    if (!(size < R(1)) || size < R(0.5)) continue;
    Determinant<T> found{.mantissa = {}, .exponent = exponent - power, .correctly_rounded = true};
    if constexpr (is_complex<T>) {
      found.mantissa = T(parts[0], parts[1]);
    } else {
      found.mantissa = parts[0];
    }
    return found;
  }
  return std::nullopt;
}

// m = 0 on the other side of the diagonal.
template <Scalar T> struct KeepTriangle {
  CyclicAxis rows;
  CyclicAxis columns;
  int grid_row;
  int grid_column;
  bool lower;
  Elements<T> m;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    const Index row = rows.global(grid_row, i);
    const Index column = columns.global(grid_column, j);
    if (lower ? row < column : row > column) m(i, j) = T(0);
  }
};

// Upper bound of the Frobenius norm, alike on every rank.
template <Scalar T> double frobenius(const PlacedMatrix<T>& M) {
  const Elements<T> m(M.local());
  double sum = 0.0;
  for (const double of_column : over_columns<Added>(
           M, "heddle::solve::squares", KOKKOS_LAMBDA(Index i, Index j) {
             const double size = magnitude(m(i, j));
             return size * size;
           })) {
    sum += of_column;
  }
  M.ranks().broadcast(std::span<double>(&sum, 1), 0);
  const Index n = M.rows();
  return enlarged(std::sqrt(enlarged(sum, n * n + 2 * n)), 1);
}
template <Scalar T> ExactSum<T> trace(const LongMatrix<T>& M) {
  ExactSum<T> sum;
  for (const PlacedMatrix<T>& term : M) {
    for (const T& x : diagonal_of(term)) sum.add(x);
  }
  return sum;
}

template <Scalar T> class LongDeterminant {
 public:
  LongDeterminant(const PlacedMatrix<T>& A, const FactorOptions& options)
      : ranks_(A.ranks()),
        order_(A.rows()),
        scaling_(A, false),
        placement_(placement_of_columns(order_, right_hand_sides(order_, ranks_.size()))),
        upper_(ranks_, placement_, "heddle::solve::inverse_of_u"),
        lower_(ranks_, placement_, "heddle::solve::inverse_of_l"),
        is_regular_(has_default_arithmetic(ranks_) && prepare(A, options)) {}

  // The determinant of A with a bound of its error; none if that is not known. Wants E with an error of 2^-accuracy,
  // from triangles of so many digits.
  [[nodiscard]] std::optional<LongScaled<T>> enclosure(Index digits, Index accuracy) const {
    if (!is_regular_) return std::nullopt;
    const LongProduct<T> products(ranks_, placement_);
    LongScaled<T> of_v;
    LongMatrix<T> V = long_zeros<T>(ranks_, placement_, "heddle::solve::inverse");
    {
      const PlacedMatrix<T> upper = copy(upper_);
      const PlacedMatrix<T> lower = copy(lower_);
      for (const PlacedMatrix<T>* triangle : {&upper, &lower}) {
        products.cut(*triangle, digits);
        for (const T& x : diagonal_of(*triangle)) {
          if (x == T(0)) return std::nullopt;
          of_v.multiply(x);
        }
      }
      if (products.add({upper}, {lower}, {2 * digits, digits, digits}, 0, V) > 0.0) return std::nullopt;
    }
    // V times this power has elements of at most 1.
    const Index power = exponent_of_size(largest_of(sizes_by_row(V[0])));
    const std::vector<Index> powers(static_cast<std::size_t>(order_), power);
    const std::vector<Index> none(powers.size(), 0);
    for (const PlacedMatrix<T>& term : V) scale_by(term, powers, none);
    const LongMatrix<T> E = long_zeros<T>(ranks_, placement_, "heddle::solve::identity");
    subtract_identity(E[0]);
    const Index back = -power - system_power_;
    const auto n = static_cast<double>(order_);
    const Index wanted =
        accuracy + back + 2 * static_cast<Index>(std::bit_width(static_cast<std::uint64_t>(order_))) + 8;
    if (std::abs(back) > 500) return std::nullopt;
    const Index levels = 2 + wanted / products.digit_bits();
    const double error = products.add(V, {system_}, {levels}, back, E);
    std::optional<LongScaled<T>> found = of_identity_and(E, n * error, accuracy);
    if (!found) return std::nullopt;
    // det A = det(I + E) / det V, times powers of two and the sign of the interchanges.
    of_v.invert();
    found->multiply(of_v.number);
    found->exponent += of_v.exponent - system_exponent_;
    found->error += of_v.error;
    if (is_odd_) {
      for (T& term : found->number) term = -term;
    }
    return found;
  }

 private:
  // Factors A and inverts the factors; false if that fails.
  [[nodiscard]] bool prepare(const PlacedMatrix<T>& A, const FactorOptions& options) {
    const PlacedMatrix<T> factors = copy_to_factor(A, options);
    if (scaling_.scales()) scale_by(factors, scaling_.rows(), scaling_.columns());
    const LuReport report = factor_by_lu(factors, options);
    if (report.info != 0) return false;
    FactoredSystem<T> system(factors, order_, options);
    invert(system, Triangle::upper, Diagonal::stored, upper_);
    invert(system, Triangle::lower, Diagonal::unit, lower_);
    // Rows of U^-1 and columns of L^-1 brought to one size, and P S scaled so that V P S stays similar.
    const std::vector<Index> none(static_cast<std::size_t>(order_), 0);
    const std::vector<double> of_rows = sizes_by_row(upper_);
    const std::vector<double> of_columns = sizes_by_column(lower_, none, none);
    if (!are_sizes(of_rows) || !are_sizes(of_columns)) return false;
    const std::vector<Index> rows = exponents_of(of_rows);
    const std::vector<Index> columns = exponents_of(of_columns);
    scale_by(upper_, rows, none);
    scale_by(lower_, none, columns);
    const std::vector<Index> order = order_of(report.pivots, false);
    std::vector<Index> by_row = scaling_.rows();
    std::vector<Index> by_column = scaling_.columns();
    for (std::size_t i = 0; i < order.size(); ++i) {
      by_row[static_cast<std::size_t>(order[i])] -= columns[i];
      by_column[i] -= rows[i];
      is_odd_ = is_odd_ != (report.pivots[i] != static_cast<Index>(i));
    }
    for (const std::vector<Index>* powers : {&by_row, &by_column}) {
      system_exponent_ = std::accumulate(powers->begin(), powers->end(), system_exponent_);
    }
    const std::optional<ScaledMatrix<T>> scaled = scaled_exactly(A, by_row, by_column, placement_);
    if (!scaled) return false;
    system_ = scaled->matrix;
    system_power_ = scaled->power;
    system.take_rows(order, system_.local());
    return true;
  }
  static void invert(FactoredSystem<T>& system, Triangle triangle, Diagonal diagonal, const PlacedMatrix<T>& X) {
    set_identity(X);
    system.triangle(triangle, Operation::none, diagonal, X);
    for_each_local(X, "heddle::solve::keep_triangle",
                   KeepTriangle<T>{X.placement().row_axis(), X.placement().column_axis(), X.grid_row(), X.grid_column(),
                                   triangle == Triangle::lower, Elements<T>(X.local())});
  }
  [[nodiscard]] PlacedMatrix<T> copy(const PlacedMatrix<T>& M) const {
    PlacedMatrix<T> other(ranks_, placement_, "heddle::solve::copy");
    copy_elements<T>(ranks_.space(), "heddle::solve::copy", M.local(), other.local());
    return other;
  }

  // det(I + E), for E known but for a matrix whose Frobenius norm, and absolute trace, are at most `error`.
  [[nodiscard]] std::optional<LongScaled<T>> of_identity_and(const LongMatrix<T>& E, double error,
                                                             Index accuracy) const {
    constexpr int most_powers = 16;
    const double target = power_of_two(-accuracy - 2);
    const double rounding = rounding_of_products<T>(order_);
    const double computed = frobenius(E[0]);
    // Upper bound of what powers of E[0] leave out.
    double off = enlarged(4.0 * unit * computed + error, 1);
    const double norm = enlarged(computed + off, 1);
    if (!(norm < 0.25) || !std::isfinite(rounding)) return std::nullopt;
    // log det(I + E).
    ExactSum<T> logarithm = trace(E);
    double lost = error;
    PlacedMatrix<T> power = E[0];
    double of_power = norm;
    double remainder = norm * norm / (2.0 * (1.0 - norm));
    for (int k = 2; k <= most_powers && remainder > target; ++k) {
      const PlacedMatrix<T> next(ranks_, placement_, "heddle::solve::power");
      multiply(power, E[0], next);
      // Products of numbers below 2^-1000 may be lost.
      off = enlarged(off * norm + rounding * of_power * norm + 0x1p-900 * of_power, 1);
      of_power = enlarged(of_power * norm + off, 1);
      const T of_diagonal = trace<T>({next}).value();
      power = next;  // The product is complete.
      const T term = of_diagonal * (k % 2 == 0 ? -1.0 / k : 1.0 / k);
      logarithm.add(term);
      lost = enlarged(lost + off + 8.0 * unit * magnitude(of_diagonal), 1);
      remainder = enlarged(remainder * norm, 1);
    }
    lost = enlarged(lost + 2.0 * remainder, 1);
    const LongNumber<T> x = long_number(logarithm);
    if (!(magnitude(x[0]) < 0.25) || !(lost < 0x1p-10)) return std::nullopt;
    // exp(x) K! = sum of x^k K! / k!, by Horner's rule; factorials up to K! have fewer than 106 bits.
    constexpr int terms = 26;
    LongNumber<T> factorial{T(1)};
    LongNumber<T> sum = factorial;
    for (int k = terms; k > 0; --k) {
      factorial = product(factorial, LongNumber<T>{T(static_cast<double>(k))});
      ExactSum<T> next = sum_of<T>(product(sum, x));
      for (const T& term : factorial) next.add(term);
      sum = long_number(next);
    }
    LongScaled<T> found;
    found.multiply(factorial);
    found.invert();
    found.multiply(sum);
    // Terms after the last are below 2 4^-27 / 27!.
    found.error += 2.0 * lost + 0x1p-140 + 64.0 * long_unit;
    return found;
  }

  OptionalRanks ranks_;
  Index order_;
  Equilibration<T> scaling_;
  Placement placement_;
  PlacedMatrix<T> upper_;  // U^-1 and L^-1, scaled.
  PlacedMatrix<T> lower_;
  PlacedMatrix<T> system_;  // P A scaled.
  Index system_power_ = 0;  // All elements of system_ are multiplied by this power once more.
  Index system_exponent_ = 0;
  bool is_odd_ = false;
  bool is_regular_;
};

}  // namespace

template <Scalar T>
std::optional<Determinant<T>> round_determinant(const PlacedMatrix<T>& A, const FactorOptions& options) {
  using Z = InDouble<T>;
  if (A.rows() == 0) return Determinant<T>{T(0.5), 1, true};
  const exact::impl::DefaultArithmetic arithmetic;
  const std::vector<double> sizes = sizes_by_row(A);
  if (!std::isfinite(largest_of(sizes))) return std::nullopt;
  if (std::any_of(sizes.begin(), sizes.end(), [](double size) { return size == 0; }))
    return Determinant<T>{T(0), 0, true};
  const std::array<bool, 2> is_zero{false, is_real(A)};
  {
    const PlacedMatrix<Z> wide = in_double(A, A.placement().in(Residence::device));
    const LongDeterminant<Z> by_factors(wide, options);
    constexpr struct {
      Index digits;
      Index accuracy;
    } attempts[] = {{2, 72}, {3, 108}};
    for (const auto& [digits, accuracy] : attempts) {
      const std::optional<LongScaled<Z>> found = by_factors.enclosure(digits, accuracy);
      if (!found || !(found->error < 0.25)) continue;
      const std::optional<Determinant<T>> determinant =
          rounded<T>(sum_of<Z>(found->number), found->exponent, 8.0 * found->error, is_zero);
      if (determinant) return determinant;
    }
  }
  const std::optional<ExactDeterminant<T>> exact = determinant_modulo_primes(A);
  if (!exact) return std::nullopt;
  const bool zero = std::all_of(std::begin(exact->number.part), std::end(exact->number.part),
                                [](const auto& part) { return part.sign() == 0; });
  if (zero) return Determinant<T>{T(0), 0, true};
  return rounded<T>(exact->number, exact->exponent, 0.0, is_zero);
}

#define HEDDLE_INSTANTIATE(T) \
  template std::optional<Determinant<T>> round_determinant<T>(const PlacedMatrix<T>&, const FactorOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
