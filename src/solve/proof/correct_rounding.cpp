// Refinement of solutions until a proven bound decides how each element rounds.
#include "solve/proof/correct_rounding.hpp"

#include "core/instantiate.hpp"
#include "exact/products/local_products.hpp"
#include "solve/proof/rounded_element.hpp"
#include "solve/system/equilibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace heddle::impl {
namespace {

// The largest power of two that numbers are multiplied by at once, and the smallest with a minus.
constexpr Index most_power = 1022;

// `units` |number|, and what parts below the smallest number may be off.
template <Scalar T> double error_of(const T& number, double units) {
  return units * magnitude(number) + 4.0 * static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
}

// Adds d to z, and returns a bound of what is lost, times 2^error_power.
template <Scalar T> double add(const T& d, LongNumber<T>& z) {
  ExactSum<T> sum = sum_of<T>(z);
  sum.add(d);
  for (T& term : z) {
    term = sum.value();
    sum.add(-term);
  }
  const T rest = sum.value();
  const bool is_exact =
      std::all_of(std::begin(sum.part), std::end(sum.part), [](const auto& p) { return p.sign() == 0; });
  return is_exact ? 0.0 : error_of(rest, 4.0) * power_of_two(error_power);
}

// Exact sums of S z over its rows, on every rank.
template <Scalar T>
std::vector<ExactSum<T>> exact_product(const PlacedMatrix<T>& S, const std::vector<LongNumber<T>>& z) {
  std::vector<ExactSum<T>> sums(z.size());
  const exact::impl::Operand<T> local(Operation::none, strided(MatrixView<const T>(S.local())));
  if (S.local().size() > 0) {
    std::vector<T> x(static_cast<std::size_t>(local.columns));
    for (std::size_t term = 0; term < terms_of_sum<T>; ++term) {
      for (std::size_t j = 0; j < x.size(); ++j) {
        x[j] = z[static_cast<std::size_t>(S.global_column(static_cast<Index>(j)))][term];
      }
      if (std::all_of(x.begin(), x.end(), [](const T& number) { return number == T(0); })) continue;
      const std::vector<ExactSum<T>> found = exact::impl::LocalProducts<T>(S.space(), local, x).exact();
      for (std::size_t i = 0; i < found.size(); ++i) {
        sums[static_cast<std::size_t>(S.global_row(static_cast<Index>(i)))].merge(found[i]);
      }
    }
  }
  if (S.ranks().comm() != nullptr) exact::impl::add_over_ranks(*S.ranks().comm(), std::span(sums));
  return sums;
}

// One column: z and the bound of its error.
template <Scalar T> class Column {
 public:
  // z approximates C^-1 x 2^power. `parts_apart`: M is real, so that each part of x follows from that of b.
  Column(const ApproximateInverse<T>& inverse, bool parts_apart, const std::vector<T>& b, const std::vector<T>& x)
      : inverse_(inverse), b_(b), z_(x.size()), errors_(x.size(), std::numeric_limits<double>::infinity()) {
    for (int p = 0; p < parts_of_scalar<T>; ++p) {
      const bool none = std::all_of(b.begin(), b.end(), [&](const T& number) { return part_of(number, p) == 0; });
      is_zero_[static_cast<std::size_t>(p)] = parts_apart && none;
    }
    const std::vector<Index>& columns = inverse.columns();
    constexpr Index none = std::numeric_limits<int>::min();
    Index most = none;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double size = part_size(x[i]);
      const Index exponent = std::isfinite(size) ? std::ilogb(size) : std::numeric_limits<Real<T>>::max_exponent;
      if (size != 0) most = std::max(most, exponent - columns[i]);
    }
    // With z near this power, so that its error can be far below the smallest number, if the powers of two allow.
    constexpr Index size_of_z = sizeof(Real<T>) == 8 ? 100 : 10;
    const auto [least_column, most_column] = std::minmax_element(columns.begin(), columns.end());
    const Index lowest = *most_column - most_power;
    const Index highest = *least_column + most_power;
    if (lowest > highest) return;
    is_scaled_ = true;
    if (most == none) most = std::ilogb(std::numeric_limits<Real<T>>::denorm_min());
    power_ = std::clamp(size_of_z - most, lowest, highest);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isfinite(part_size(x[i]))) z_[i][0] = times_power_of_two(x[i], power_ - columns[i]);
      // The part of the power that b is multiplied by before products.
      const Index power = inverse.rows()[i] + power_;
      const Index rest = power - std::clamp(power, -most_power, most_power);
      if (rest == 0) continue;
      const T scaled = times_power_of_two(b_[i], rest);
      is_scaled_ = is_scaled_ && times_power_of_two(scaled, -rest) == b_[i];
      b_[i] = scaled;
    }
  }

  // Whether b and the solution are scaled without a rounding.
  [[nodiscard]] bool is_scaled() const { return is_scaled_; }
  // Improves z; false if its error is not known.
  [[nodiscard]] bool step() {
    constexpr auto units = 4.0 * static_cast<double>(unit_roundoff<T>);
    const std::size_t n = z_.size();
    std::vector<ExactSum<T>> sums = exact_product(inverse_.system(), z_);
    std::vector<T> residual(n);
    std::vector<double> off(n, 0.0);
    bool is_exact = true;
    for (std::size_t i = 0; i < n; ++i) {
      for (int p = 0; p < parts_of_scalar<T>; ++p) {
        sums[i].part[p].negate();
        if (b_[i] != T(0)) {
          sums[i].part[p].add_product(static_cast<double>(part_of(b_[i], p)),
                                      power_of_two(std::clamp(inverse_.rows()[i] + power_, -most_power, most_power)));
        }
      }
      residual[i] = sums[i].value();
      const bool is_zero = std::all_of(std::begin(sums[i].part), std::end(sums[i].part),
                                       [](const auto& part) { return part.sign() == 0; });
      if (!std::isfinite(part_size(residual[i]))) return false;
      if (is_zero) continue;
      off[i] = error_of(residual[i], units);
      is_exact = false;
    }
    if (is_exact) {
      std::fill(errors_.begin(), errors_.end(), 0.0);
      return true;
    }
    const std::vector<T> added = inverse_.times(residual);
    // Bounds of the error of the computed V r, and of |V r|.
    ScaledSizes of_residual(off);
    of_residual.power += error_power;
    // Rows in which V r is zero, other than by underflow.
    std::vector<double> meets(n);
    std::transform(off.begin(), off.end(), meets.begin(), [](double size) { return size > 0 ? 1.0 : 0.0; });
    meets = sizes_of_rows(inverse_.inverse(), meets);
    off = sizes_of_rows(inverse_.inverse(), of_residual.sizes);
    std::vector<double> before(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(part_size(added[i]))) return false;
      if (meets[i] == 0) continue;
      off[i] = enlarged(of_residual.scaled_back(enlarged(off[i], static_cast<Index>(n))) +
                            error_of(added[i], units) * power_of_two(error_power),
                        1);
      before[i] = enlarged(off[i] + error_of(added[i], 1.0) * power_of_two(error_power), 1);
    }
    // Bounds of the error of z as it was: |e| <= |V r| + |G| |e|, by the norm of e.
    const double norm = enlarged(largest_of(before) / (1.0 - inverse_.distance()), 1);
    for (std::size_t i = 0; i < n; ++i) {
      before[i] = std::min(enlarged(before[i] + inverse_.distances()[i] * norm, 1), errors_[i]);
    }
    errors_ = inverse_.distances(before);
    for (std::size_t i = 0; i < n; ++i) {
      errors_[i] = enlarged(errors_[i] + off[i] + add(added[i], z_[i]), 1);
      if (!std::isfinite(errors_[i])) return false;
    }
    return true;
  }

  // Rounds element i; false if its enclosure has several numbers. The distance to a tie is that of the worse part.
  [[nodiscard]] bool round(std::size_t i, T& x, double& distance_to_tie) const {
    return round_element<T>(sum_of<T>(z_[i]), errors_[i], inverse_.columns()[i] - power_, is_zero_, x, distance_to_tie);
  }
  // Adds the claims that would decide element i: that its parts are zero, or half way between two numbers.
  void claim(std::size_t i, Index column, std::vector<Claim>& claims) const {
    add_claims<T>(sum_of<T>(z_[i]), errors_[i], inverse_.columns()[i] - power_, is_zero_, static_cast<Index>(i), column,
                  claims);
  }
  [[nodiscard]] const std::vector<double>& errors() const { return errors_; }

 private:
  const ApproximateInverse<T>& inverse_;
  std::vector<T> b_;
  std::vector<LongNumber<T>> z_;
  std::vector<double> errors_;  // Bounds of |z - exact z|.
  Index power_ = 0;
  bool is_scaled_ = false;
  std::array<bool, parts_of_scalar<T>> is_zero_{};  // Parts of x that are zero because b's are.
};

// Improves a column until all elements are decided, or none that is not gets any closer; false if nothing is proven.
template <Scalar T> bool refine(Column<T>& column, std::vector<T>& x, std::vector<double>& distances_to_tie) {
  constexpr int most_steps = 200;
  for (int step = 0, idle = 0; step < most_steps && idle < 3; ++step) {
    const std::vector<double> before = column.errors();
    if (!column.step()) return false;
    bool decided = true;
    bool closer = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      // A decided element stays as it is.
      if (distances_to_tie[i] < 0.0 || column.round(i, x[i], distances_to_tie[i])) continue;
      decided = false;
      closer = closer || column.errors()[i] < 0.5 * before[i];
    }
    if (decided) return true;
    idle = closer ? 0 : idle + 1;
  }
  return true;
}

// Rounds the elements of which all claims are proven.
template <Scalar T>
void take(const std::vector<Claim>& claims, std::vector<std::vector<T>>& solutions,
          std::vector<std::vector<double>>& distances) {
  take_claims<T>(claims, [&](Index row, Index column) -> T& {
    const auto i = static_cast<std::size_t>(row);
    const auto j = static_cast<std::size_t>(column);
    distances[j][i] = -1.0;
    return solutions[j][i];
  });
}

}  // namespace

template <Scalar T>
RoundingReport round_correctly(const PlacedMatrix<T>& M, const ApproximateInverse<T>& inverse, const PlacedMatrix<T>& B,
                               const PlacedMatrix<T>& X, Range rows) {
  RoundingReport found{.correctly_rounded = true};
  if (X.rows() == 0 || X.columns() == 0) return found;
  const exact::impl::DefaultArithmetic arithmetic;
  const auto nothing = [] { return RoundingReport{.undecided = -1}; };
  if (!(inverse.distance() < 1.0) || !scales_exactly(M, inverse.rows(), inverse.columns())) return nothing();
  const bool parts_apart = is_real(M);
  std::vector<std::vector<T>> solutions;
  std::vector<std::vector<double>> distances;  // To ties, of elements that are not decided; -1 of the others.
  std::vector<Claim> claims;
  for (Index j = 0; j < X.columns(); ++j) {
    std::vector<T> x = column_of(X, j);
    const std::vector<T> b = column_of(B, j);
    Column<T> column(inverse, parts_apart, b, x);
    std::vector<double> of_column(x.size(), -1.0);
    std::fill(of_column.begin() + rows.begin, of_column.begin() + rows.end, 0.0);
    if (!column.is_scaled() || !refine(column, x, of_column)) return nothing();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (of_column[i] >= 0.0) column.claim(i, j, claims);
    }
    solutions.push_back(std::move(x));
    distances.push_back(std::move(of_column));
  }
  prove(M, B, claims);
  take(claims, solutions, distances);
  for (std::size_t j = 0; j < solutions.size(); ++j) {
    for (std::size_t i = 0; i < solutions[j].size(); ++i) {
      if (distances[j][i] < 0.0) continue;
      if (++found.undecided == 1) {
        found.undecided_row = static_cast<Index>(i);
        found.undecided_column = static_cast<Index>(j);
        found.distance_to_tie = distances[j][i];
      }
    }
    set_column(X, static_cast<Index>(j), solutions[j]);
  }
  found.correctly_rounded = found.undecided == 0;
  return found;
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template RoundingReport round_correctly<T>(const PlacedMatrix<T>&, const ApproximateInverse<T>&, \
                                             const PlacedMatrix<T>&, const PlacedMatrix<T>&, Range)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
