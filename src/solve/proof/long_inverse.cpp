// Refinement of inverses by long products, and their rounding.
#include "solve/proof/long_inverse.hpp"

#include "core/instantiate.hpp"
#include "exact/sums/arithmetic.hpp"
#include "solve/proof/long_product.hpp"
#include "solve/proof/rounded_element.hpp"
#include "solve/system/equilibration.hpp"
#include "solve/system/sizes.hpp"
#include "solve/system/system.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::impl {
namespace {

// 1 where an element is not zero, and 0 elsewhere.
template <Scalar Z> struct MarkElement {
  Elements<Z> from;
  Elements<double> to;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { to(i, j) = from(i, j) == Z(0) ? 0.0 : 1.0; }
};
template <Scalar Z> PlacedMatrix<double> pattern_of(const PlacedMatrix<Z>& M) {
  const PlacedMatrix<double> marks(M.ranks(), M.placement(), "heddle::solve::pattern");
  for_each_local(M, "heddle::solve::pattern", MarkElement<Z>{Elements<Z>(M.local()), Elements<double>(marks.local())});
  return marks;
}
PlacedMatrix<double> pattern_of_product(const PlacedMatrix<double>& A, const PlacedMatrix<double>& B) {
  const PlacedMatrix<double> product(A.ranks(), A.placement(), "heddle::solve::pattern");
  multiply(A, B, product);
  PlacedMatrix<double> marks = pattern_of(product);
  A.space().fence("heddle::solve::pattern");  // `product` is read until then.
  return marks;
}
template <Scalar Z> struct Negate {
  Elements<Z> m;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const { m(i, j) = -m(i, j); }
};
struct MarkDiagonal {
  OnDiagonal on_diagonal;
  Elements<double> marks;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    if (on_diagonal(i, j)) marks(i, j) = 1.0;
  }
};
// Marks elements of Z (I + E + E^2 + ...), E = I - S Z, that may not be zero: the inverse of S has no others.
template <Scalar Z> PlacedMatrix<double> pattern_of_inverse(const PlacedMatrix<Z>& S, const PlacedMatrix<Z>& inverse) {
  const PlacedMatrix<double> of_inverse = pattern_of(inverse);
  PlacedMatrix<double> powers = pattern_of_product(pattern_of(S), of_inverse);
  for_each_local(powers, "heddle::solve::pattern", MarkDiagonal{OnDiagonal(powers), Elements<double>(powers.local())});
  for (Index reached = 1; reached < S.rows(); reached *= 2) powers = pattern_of_product(powers, powers);
  return pattern_of_product(of_inverse, powers);
}

// An element that is not decided.
struct Undecided {
  Index row;
  Index column;
  double distance;
};

// Whether the nearest number is that of z0 + z1 without a doubt: z1 but for `error` at most half of z0's last place
// away.
template <RealScalar R> bool rounds_at_once(double z0, double z1, double error, Index power, R& number) {
  using Limits = std::numeric_limits<R>;
  const double size = std::abs(z0);
  if (!(size > 0x1p-500) || !(size < 2.0)) return false;
  const Index exponent = std::ilogb(size) + power;
  if (exponent < Limits::min_exponent + 1 || exponent > Limits::max_exponent - 3) return false;
  const double off = error * 1.0001 + 0x1p-50 * std::abs(z1);
  double low = z0 + (z1 - off);
  double high = z0 + (z1 + off);
  if constexpr (std::is_same_v<R, float>) {
    // Their roundings must not decide which float is the nearest.
    low = std::nextafter(low, -std::numeric_limits<double>::infinity());
    high = std::nextafter(high, std::numeric_limits<double>::infinity());
    low = times_power(low, power);
    high = times_power(high, power);
    number = static_cast<R>(low);
    return number == static_cast<R>(high);
  } else {
    number = times_power(low, power);
    return low == high;
  }
}

template <Scalar T> class LongInverse {
 public:
  using Z = InDouble<T>;

  LongInverse(const PlacedMatrix<T>& A, const PlacedMatrix<T>& V, const std::vector<Index>& rows,
              const std::vector<Index>& columns)
      : A_(A),
        V_(V),
        rows_(rows),
        columns_(columns),
        approximate_(V.ranks(), V.placement(), "heddle::solve::inverse"),
        products_(V.ranks(), V.placement()),
        is_real_(is_real(A)) {
    copy_elements<T>(V.space(), "heddle::solve::copy", V.local(), approximate_.local());
    is_regular_ = has_default_arithmetic(V.ranks()) && prepare(rows, columns);
  }

  [[nodiscard]] RoundingReport round() {
    constexpr int most_steps = 6;
    const RoundingReport nothing{.undecided = -1};
    if (!is_regular_) return nothing;
    bool found = false;
    double before = std::numeric_limits<double>::infinity();
    for (int step = 0; step < most_steps; ++step) {
      const std::optional<std::vector<double>> errors = refine();
      if (!errors) break;
      const double error = largest_of(*errors);
      if (!std::isfinite(error) || (found && !(error < 0.5 * before))) break;
      before = error;
      errors_ = *errors;
      found = true;
      // Far from what doubles need, all elements are undecided.
      if (error < 0x1p-30 && round_all()) return {.correctly_rounded = true};
    }
    if (!found) return nothing;
    if (!(before < 0x1p-30)) round_all();
    decide_the_rest();
    RoundingReport rounded;
    rounded.correctly_rounded = undecided_.empty();
    rounded.undecided = static_cast<Index>(undecided_.size());
    if (!undecided_.empty()) {
      rounded.undecided_row = undecided_.front().row;
      rounded.undecided_column = undecided_.front().column;
      rounded.distance_to_tie = undecided_.front().distance;
    }
    return rounded;
  }

 private:
  [[nodiscard]] Index order() const { return A_.rows(); }
  [[nodiscard]] bool prepare(const std::vector<Index>& rows, const std::vector<Index>& columns) {
    const Placement& placement = V_.placement();
    Z_ = long_zeros<Z>(V_.ranks(), placement, "heddle::solve::inverse");
    const PlacedMatrix<Z> wide = in_double(V_, placement);
    copy_elements<Z>(V_.space(), "heddle::solve::copy", wide.local(), Z_[0].local());
    const std::vector<Index> none(rows.size(), 0);
    // Below 1/2, so that steps have room.
    const auto by_size = [](const std::vector<double>& sizes) {
      std::vector<Index> powers = exponents_of(sizes);
      for (Index& power : powers) --power;
      return powers;
    };
    const std::vector<double> of_rows = sizes_by_row(Z_[0]);
    if (!are_sizes(of_rows)) return false;
    const std::vector<Index> by_rows = by_size(of_rows);
    scale_by(Z_[0], by_rows, none);
    const std::vector<double> of_columns = sizes_by_column(Z_[0], none, none);
    if (!are_sizes(of_columns)) return false;
    const std::vector<Index> by_columns = by_size(of_columns);
    scale_by(Z_[0], none, by_columns);
    row_powers_ = rows;
    column_powers_ = columns;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      row_powers_[i] -= by_columns[i];
      column_powers_[i] -= by_rows[i];
    }
    const std::optional<ScaledMatrix<Z>> scaled =
        scaled_exactly(in_double(A_, A_.placement().in(Residence::device)), row_powers_, column_powers_, placement);
    if (!scaled) return false;
    S_ = *scaled;
    for_each_local(S_.matrix, "heddle::solve::negate", Negate<Z>{Elements<Z>(S_.matrix.local())});
    return true;
  }

  // One step; bounds of the errors by row, none if they are not known.
  [[nodiscard]] std::optional<std::vector<double>> refine() {
    constexpr Index accuracy = 104;
    constexpr double unit = 0x1p-53;
    const auto n = static_cast<double>(order());
    const auto log_n = static_cast<Index>(std::bit_width(static_cast<std::uint64_t>(order())));
    const OptionalRanks& ranks = V_.ranks();
    const Placement& placement = V_.placement();
    if (std::abs(S_.power) > 500 || !(largest_of(sizes_by_row(Z_[0])) <= 1.0)) return std::nullopt;
    // E = I - S Z.
    const LongMatrix<Z> E = long_zeros<Z>(ranks, placement, "heddle::solve::identity");
    set_identity(E[0]);
    const Index levels = 2 + (accuracy - S_.power + 2 * log_n + 8) / products_.digit_bits();
    const double of_product = products_.add({S_.matrix}, Z_, {levels}, -S_.power, E);
    const std::vector<double> ones(static_cast<std::size_t>(order()), 1.0);
    const double largest = 2.0 * largest_of(sizes_by_row(E[0])) + of_product;
    double computed = largest_of(sizes_of_rows(E[0], ones));
    // Sums over ranks may differ between these, which decide by them.
    ranks.broadcast(std::span<double>(&computed, 1), 0);
    // Upper bound of |E|, and what E[0] leaves out of an element.
    const double norm = enlarged(computed * (1.0 + 8.0 * unit) + n * of_product, order());
    const double rounding = rounding_of_products<Z>(order());
    if (!(norm < 0.25) || !std::isfinite(rounding)) return std::nullopt;
    const double left_out = 4.0 * unit * largest + of_product;
    // E + E^2 + E^3, with elements of powers of E at most `largest` |E|^(k - 1).
    const PlacedMatrix<Z> second(ranks, placement, "heddle::solve::power");
    const PlacedMatrix<Z> third(ranks, placement, "heddle::solve::power");
    multiply(E[0], E[0], second);
    multiply(second, E[0], third);
    add_to(E, second, 1.0);
    add_to(E, third, 1.0);
    const double off_second =
        enlarged(((rounding * largest + 2.0 * left_out) * norm + n * of_product * largest) + 0x1p-900, order());
    const double off_third = enlarged(rounding * (norm * norm + n * off_second) * largest + n * off_second * largest +
                                          norm * norm * left_out + 0x1p-900,
                                      order());
    const double remainder = largest * norm * norm * norm / (1.0 - norm);
    const double error = enlarged(of_product + 4.0 * (off_second + off_third + remainder) + 0x1p-100 * largest, 1);
    std::vector<double> errors = sizes_of_rows(Z_[0], ones);
    ranks.broadcast(std::span<double>(errors), 0);
    proven_ = Z_[0];
    for (double& size : errors) size = enlarged(1.01 * size * error, order());
    // Z + Z (E + E^2 + E^3).
    const double of_sum = largest_of(sizes_by_row(E[0]));
    if (of_sum > 0) {
      const Index power = exponent_of_size(of_sum);
      const std::vector<Index> powers(ones.size(), std::min<Index>(power, 500));
      const std::vector<Index> none(ones.size(), 0);
      for (const PlacedMatrix<Z>& term : E) scale_by(term, powers, none);
      LongMatrix<Z> sum = long_zeros<Z>(ranks, placement, "heddle::solve::inverse");
      for (std::size_t k = 0; k < sum.size(); ++k) {
        copy_elements<Z>(ranks.space(), "heddle::solve::copy", Z_[k].local(), sum[k].local());
      }
      const Index more = std::max<Index>(2, 2 + (accuracy - powers[0] + log_n + 8) / products_.digit_bits());
      const double of_step = products_.add(Z_, E, {more}, -powers[0], sum);
      Z_ = std::move(sum);
      for (double& size : errors) size = enlarged(size + of_step, 1);
    }
    return errors;
  }

  // Rounds all elements to V; true if all are decided.
  bool round_all() {
    undecided_.clear();
    const std::array<bool, parts_of_scalar<T>> is_zero = zero_parts();
    for (Index j = 0; j < order(); ++j) {
      const std::array<std::vector<Z>, 3> z = column(j);
      std::vector<T> x(z[0].size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const Index power = power_of(static_cast<Index>(i), j);
        if (rounds(z, i, power, x[i])) continue;
        double distance = 0.0;
        const Enclosure one = enclosure(z, i, j);
        if (!round_element<T>(one.sum, one.error, one.power, is_zero, x[i], distance)) {
          undecided_.push_back({static_cast<Index>(i), j, distance});
        }
      }
      set_column(V_, j, x);
    }
    return undecided_.empty();
  }
  // Whether the element rounds without long sums.
  [[nodiscard]] bool rounds(const std::array<std::vector<Z>, 3>& z, std::size_t i, Index power, T& x) const {
    using R = Real<T>;
    std::array<R, parts_of_scalar<T>> parts{};
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      const double rest = part_of(z[1][i], p) + part_of(z[2][i], p);
      if (p == 1 && is_real_) continue;
      if (!rounds_at_once<R>(part_of(z[0][i], p), rest, errors_[i], power, parts[static_cast<std::size_t>(p)]))
        return false;
    }
    if constexpr (is_complex<T>) {
      x = T(parts[0], parts[1]);
    } else {
      x = parts[0];
    }
    return true;
  }

  [[nodiscard]] std::array<std::vector<Z>, 3> column(Index j) const {
    return {column_of(Z_[0], j), column_of(Z_[1], j), column_of(Z_[2], j)};
  }
  // The enclosure of an element: a sum but for an error times 2^-error_power, both times 2^power.
  struct Enclosure {
    ExactSum<Z> sum;
    double error;
    Index power;
  };
  [[nodiscard]] Enclosure enclosure(const std::array<std::vector<Z>, 3>& z, std::size_t i, Index j) const {
    constexpr Index most = 1000;
    const Index all = power_of(static_cast<Index>(i), j);
    const Index power = std::clamp(all, -most, most);
    const Index rest = all - power;
    LongNumber<Z> number{z[0][i], z[1][i], z[2][i]};
    for (Z& term : number) term = times_power_of_two(term, rest);
    // Numbers that become denormal are rounded.
    const double rounded = rest < 0 ? 0x1p-1060 : 0.0;
    return {sum_of<Z>(number), times_power(errors_[i], error_power + rest) + times_power(rounded, error_power), power};
  }
  // An element of the inverse is that of Z times 2^power.
  [[nodiscard]] Index power_of(Index i, Index j) const {
    return column_powers_[static_cast<std::size_t>(i)] + row_powers_[static_cast<std::size_t>(j)];
  }
  [[nodiscard]] std::array<bool, parts_of_scalar<T>> zero_parts() const {
    std::array<bool, parts_of_scalar<T>> parts{};
    if constexpr (is_complex<T>) parts[1] = is_real_;
    return parts;
  }

  // Tries zeros by patterns, and claims modulo primes.
  void decide_the_rest() {
    const std::array<bool, parts_of_scalar<T>> is_zero = zero_parts();
    const PlacedMatrix<double> pattern = pattern_of_inverse(S_.matrix, proven_);
    std::vector<Undecided> left;
    std::vector<Claim> claims;
    for (std::size_t first = 0, end = 0; first < undecided_.size(); first = end) {
      const Index j = undecided_[first].column;
      const std::vector<double> marks = column_of(pattern, j);
      const std::array<std::vector<Z>, 3> z = column(j);
      std::vector<T> x = column_of(V_, j);
      for (end = first; end < undecided_.size() && undecided_[end].column == j; ++end) {
        const auto i = static_cast<std::size_t>(undecided_[end].row);
        if (marks[i] == 0.0) {
          x[i] = T(0);
          continue;
        }
        left.push_back(undecided_[end]);
        const Enclosure one = enclosure(z, i, j);
        add_claims<T>(one.sum, one.error, one.power, is_zero, undecided_[end].row, j, claims);
      }
      set_column(V_, j, x);
    }
    undecided_ = std::move(left);
    prove_claims(claims);
    round_columns();
  }
  void prove_claims(std::vector<Claim>& claims) {
    if (claims.empty()) return;
    const PlacedMatrix<T> identity(V_.ranks(), V_.placement(), "heddle::solve::identity");
    set_identity(identity);
    prove(A_, identity, claims);
    std::map<Index, std::vector<T>> changed;
    std::set<std::pair<Index, Index>> decided;
    take_claims<T>(claims, [&](Index row, Index column) -> T& {
      if (changed.count(column) == 0) changed.emplace(column, column_of(V_, column));
      decided.emplace(row, column);
      return changed.at(column)[static_cast<std::size_t>(row)];
    });
    for (const auto& [column, x] : changed) set_column(V_, column, x);
    undecided_.erase(std::remove_if(undecided_.begin(), undecided_.end(),
                                    [&](const Undecided& one) {
                                      return decided.count({one.row, one.column}) > 0;
                                    }),
                     undecided_.end());
  }
  // Refines columns with undecided elements one by one, if there are not many: errors of small elements are small
  // there.
  void round_columns() {
    constexpr std::size_t most = 256;
    std::vector<Index> columns;
    for (const Undecided& one : undecided_) {
      if (columns.empty() || columns.back() != one.column) columns.push_back(one.column);
    }
    if (columns.empty() || columns.size() > most) return;
    const PlacedMatrix<T> system(V_.ranks(), V_.placement(), "heddle::solve::system");
    redistribute(placed(A_, A_.placement().in(Residence::device)), system);
    scale_by(system, rows_, columns_);
    const ApproximateInverse<T> inverse(system, approximate_, rows_, columns_);
    std::vector<Undecided> left;
    // One after the other, as each has its own report.
    for (const Index j : columns) {
      const Placement placement = placement_of_columns(order(), right_hand_sides(1, V_.ranks().size()));
      const PlacedMatrix<T> b(V_.ranks(), placement, "heddle::solve::b");
      const PlacedMatrix<T> x(V_.ranks(), placement, "heddle::solve::x");
      std::vector<T> unit(static_cast<std::size_t>(order()), T(0));
      unit[static_cast<std::size_t>(j)] = T(1);
      set_column(b, 0, unit);
      set_column(x, 0, column_of(V_, j));
      const RoundingReport found = round_correctly(A_, inverse, b, x, {0, A_.rows()});
      if (found.undecided < 0) {
        std::copy_if(undecided_.begin(), undecided_.end(), std::back_inserter(left),
                     [&](const Undecided& one) { return one.column == j; });
        continue;
      }
      set_column(V_, j, column_of(x, 0));
      for (Index k = 0; k < found.undecided; ++k) left.push_back({found.undecided_row, j, found.distance_to_tie});
    }
    undecided_ = std::move(left);
  }

  PlacedMatrix<T> A_;
  PlacedMatrix<T> V_;
  std::vector<Index> rows_;  // Powers of R and C.
  std::vector<Index> columns_;
  PlacedMatrix<T> approximate_;  // V as it was.
  LongProduct<Z> products_;
  bool is_real_;
  bool is_regular_ = false;
  ScaledMatrix<Z> S_;  // Minus the scaled matrix.
  LongMatrix<Z> Z_;
  PlacedMatrix<Z> proven_;         // The last approximation of which |I - S Z| < 1 is known.
  std::vector<Index> row_powers_;  // Powers of rows and columns of A in S, and of columns and rows of Z in the inverse.
  std::vector<Index> column_powers_;
  std::vector<double> errors_;
  std::vector<Undecided> undecided_;
};

}  // namespace

template <Scalar T>
RoundingReport round_inverse(const PlacedMatrix<T>& A, const PlacedMatrix<T>& V, const std::vector<Index>& rows,
                             const std::vector<Index>& columns) {
  const exact::impl::DefaultArithmetic arithmetic;
  return LongInverse<T>(A, V, rows, columns).round();
}

#define HEDDLE_INSTANTIATE(T)                                                                                         \
  template RoundingReport round_inverse<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&, const std::vector<Index>&, \
                                           const std::vector<Index>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
