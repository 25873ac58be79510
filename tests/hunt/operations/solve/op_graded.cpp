// Inverses, determinants and condition numbers of matrices with rows and columns of any sizes, against references of
// many digits.
#include "hunt/factor_bounds.hpp"
#include "hunt/operations.hpp"
#include "hunt/systems.hpp"
#include <heddle/solve/solve.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace heddle::hunt {
namespace {

// Scales that bring the largest part of each row, and then of each column, into [1/2, 1).
struct Scales {
  std::vector<long> rows, columns;
};
std::optional<Scales> scales_of(const Array& A) {
  const auto exponent = [](const Value& x) {
    const double part = std::max(std::abs(x.real()), std::abs(x.imag()));
    return part == 0 ? -100000L : static_cast<long>(std::ilogb(part)) + 1;
  };
  Scales found;
  for (Index i = 0; i < A.rows; ++i) {
    long most = -100000;
    for (Index j = 0; j < A.columns; ++j) most = std::max(most, exponent(A.at(i, j)));
    found.rows.push_back(-most);
  }
  for (Index j = 0; j < A.columns; ++j) {
    long most = -100000;
    for (Index i = 0; i < A.rows; ++i) {
      most = std::max(most, exponent(A.at(i, j)) + found.rows[static_cast<std::size_t>(i)]);
    }
    found.columns.push_back(-most);
  }
  const auto is_zero = [](long e) { return e > 50000; };
  if (std::any_of(found.rows.begin(), found.rows.end(), is_zero)) return {};
  if (std::any_of(found.columns.begin(), found.columns.end(), is_zero)) return {};
  return found;
}
// Return m_ij 2^(sign (rows_i + columns_j)).
WideMatrix scaled(WideMatrix M, const std::vector<long>& rows, const std::vector<long>& columns, long sign) {
  for (Index j = 0; j < M.columns; ++j) {
    for (Index i = 0; i < M.rows; ++i) {
      M.at(i, j).scale(sign * (rows[static_cast<std::size_t>(i)] + columns[static_cast<std::size_t>(j)]));
    }
  }
  return M;
}

// Enough for eliminations of up to 12 rows of numbers from one end of the range to the other.
constexpr long bits_of_graded = 40000;

// A matrix, its inverse, and the rounding error relative to the inverse of the scaled matrix.
struct Truth {
  Scales exponents;
  WideMatrix inverse;         // Of A.
  WideMatrix scaled_inverse;  // Of R A C.
  Wide condition;             // |A|_1 |A^-1|_1.
  Wide scaled_condition;
  double error = 0;  // Relative to |(R A C)^-1|_1.
};
template <Scalar T> std::optional<Truth> truth_of(const Case& one, double growth) {
  const Array& A = one.array("A");
  if (A.rows == 0 || A.rows > 12 || !is_finite(A)) return {};
  const auto exponents = scales_of(A);
  const auto inverse = wide_inverse(A);
  if (!exponents || !inverse) return {};
  Truth truth{*exponents, *inverse, scaled(*inverse, exponents->columns, exponents->rows, -1), Wide(), Wide(), 0};
  truth.condition = norm1(WideMatrix(A)) * norm1(*inverse);
  const Wide norm = norm1(scaled(WideMatrix(A), exponents->rows, exponents->columns, 1));
  truth.scaled_condition = norm * norm1(truth.scaled_inverse);
  const Roundings roundings = roundings_of<T>(lu_options_of(one), A.rows);
  const auto n = static_cast<double>(A.rows);
  truth.error =
      12 * n * n * std::max(1.0, growth) * (roundings.unit + roundings.emulated) * truth.scaled_condition.to_double();
  if (!(truth.error < 0.01)) return {};
  return truth;
}

template <Scalar T> void run_inverse(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const FactorOptions options = lu_options_of(one);
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const InverseReport report = inverse(world.all, A, options, rounding_of(one));
  const auto X = gather(A, 0);
  if (!world.root()) return;
  const Communicator& alone = one_rank(world, one);
  const auto A1 = distributed<T>(alone, given, 0);
  const InverseReport on_one = inverse(alone, A1, options, rounding_of(one));
  const auto X1 = gather(A1, 0);
  verdict.holds(same_bits_on_one(one), difference(X, X1).empty(), difference(X, X1));
  verdict.holds("the same info on one rank", on_one.info == report.info);
  if (report.info != 0) {
    const HostMatrix<T> before = host_of<T>(given);
    verdict.holds("A stays where singular", difference(X, before).empty(), difference(X, before));
    return;
  }
  verdict.holds("elements are counted where they are asked for",
                one.knob("rounded") != 0 ? report.correctly_rounded == (report.undecided == 0)
                                         : !report.correctly_rounded && report.undecided == 0);
  if (report.correctly_rounded && given.rows <= 12) {
    Array unit{.rows = given.rows, .columns = given.rows, .values = {}};
    unit.values.resize(given.values.size());
    for (Index i = 0; i < unit.rows; ++i) unit.at(i, i) = Value(1.0);
    const auto exact = wide_solution(given, unit, bits_of_graded);
    if (!exact) return verdict.fail("nothing is proven of singular matrices", "correctly rounded");
    judge_rounding(verdict, X, *exact);
  }
  const auto truth = truth_of<T>(one, report.growth);
  if (!truth) return verdict.skip();
  const Wide size = norm1(truth->scaled_inverse);
  const double largest = static_cast<double>(std::numeric_limits<Real<T>>::max());
  const double smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  for (Index j = 0; j < given.rows; ++j) {
    for (Index i = 0; i < given.rows; ++i) {
      Wide bound = size * Wide(truth->error);
      bound.scale(truth->exponents.columns[static_cast<std::size_t>(i)] +
                  truth->exponents.rows[static_cast<std::size_t>(j)]);
      const WideComplex& expected = truth->inverse.at(i, j);
      if (!((expected.absolute() + bound) < Wide(largest))) continue;
      verdict.holds("finite where the inverse is", is_finite(X(i, j)), told<T>(i, j, X(i, j), X(i, j)));
      if (!is_finite(X(i, j))) return;
      const WideComplex off = expected - WideComplex(test::widen(X(i, j)));
      verdict.holds("elements of the inverse", !((bound + Wide(2 * smallest)) < off.absolute()),
                    told<T>(i, j, X(i, j), X(i, j)));
    }
  }
  const double slack = 2 * truth->error + 1e-12;
  verdict.within("condition of the scaled matrix",
                 std::abs(report.scaled_condition / truth->scaled_condition.to_double() - 1), 400.0);
  verdict.holds("never below one", report.condition >= 1 && report.scaled_condition >= 1 - slack);
}

// Return the determinant by elimination with pivoting.
WideComplex wide_determinant(WideMatrix A) {
  WideComplex product(Value(1.0));
  for (Index k = 0; k < A.rows; ++k) {
    Index pivot = k;
    for (Index i = k; i < A.rows; ++i) {
      if (A.at(pivot, k).absolute() < A.at(i, k).absolute()) pivot = i;
    }
    if (A.at(pivot, k).is_zero()) return WideComplex(Value(0.0));
    for (Index j = 0; j < A.columns && pivot != k; ++j) std::swap(A.at(k, j), A.at(pivot, j));
    const WideComplex own = A.at(k, k);
    product = product * own;
    if (pivot != k) product = WideComplex(-product.re, -product.im);
    const Wide square = own.square();
    for (Index i = k + 1; i < A.rows; ++i) {
      WideComplex factor = A.at(i, k) * own.conjugate();
      factor = WideComplex(-(factor.re / square), -(factor.im / square));
      for (Index j = k; j < A.columns; ++j) A.at(i, j).add_product(factor, A.at(k, j));
    }
  }
  return product;
}

template <Scalar T> void run_matrix_determinant(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const FactorOptions options = lu_options_of(one);
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const Determinant<T> found = determinant(world.all, A, options, rounding_of(one));
  const auto after = gather(A, 0);
  if (!world.root()) return;
  verdict.holds("A stays", difference(after, host_of<T>(given)).empty());
  const auto A1 = distributed<T>(one_rank(world, one), given, 0);
  const Determinant<T> other = determinant(one_rank(world, one), A1, options, rounding_of(one));
  verdict.holds(same_bits_on_one(one), same(found.mantissa, other.mantissa) && found.exponent == other.exponent);
  if (found.correctly_rounded && given.rows <= 12) {
    Wide::bits = bits_of_graded;
    WideComplex exact = wide_determinant(WideMatrix(given));
    // Eliminations of singular matrices end with a number far below their smallest elements.
    const long largest = std::max(exact.re.exponent(), exact.im.exponent());
    const bool is_zero = (exact.re.is_zero() && exact.im.is_zero()) || largest < -bits_of_graded / 2;
    exact.scale(-found.exponent);
    verdict.holds("the determinant is the nearest number",
                  is_zero ? same(found.mantissa, T(0)) : is_nearest<T>(found.mantissa, exact),
                  told<T>(0, 0, found.mantissa, found.mantissa));
  }
  const auto truth = truth_of<T>(one, 1.0);
  if (!truth) return verdict.skip();
  Wide::bits = 3000;
  const WideComplex expected =
      wide_determinant(scaled(WideMatrix(given), truth->exponents.rows, truth->exponents.columns, 1));
  long exponent = found.exponent;
  for (const std::vector<long>* all : {&truth->exponents.rows, &truth->exponents.columns}) {
    for (const long e : *all) exponent += e;
  }
  WideComplex scaled_back(test::widen(found.mantissa));
  scaled_back.scale(exponent);
  const Wide off = (expected - scaled_back).absolute();
  verdict.within("the determinant", (off / expected.absolute()).to_double(),
                 static_cast<double>(given.rows) * truth->error, told<T>(0, 0, found.mantissa, found.mantissa));
}

template <Scalar T> void run_solve_condition(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  SolveOptions options{.factorization = lu_options_of(one), .refinements = 0, .measure = false};
  options.equilibrate = one.knob("plain") == 0;
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const auto B = distributed<T>(world.all, given.rows, 0, 0);
  const auto X = distributed<T>(world.all, given.rows, 0, 0);
  const SolveReport report = solve(world.all, A, B, X, options);
  std::vector<double> numbers{report.condition, report.scaled_condition};
  world.all.broadcast(std::span<double>(numbers), 0);
  verdict.holds("the same on every rank",
                same_real(numbers[0], report.condition) && same_real(numbers[1], report.scaled_condition));
  if (!world.root() || given.rows == 0) return;
  if (report.factorization.info != 0) {
    return verdict.holds("infinite where singular",
                         std::isinf(report.condition) && std::isinf(report.scaled_condition));
  }
  const double limit = 1 / (static_cast<double>(given.rows) * static_cast<double>(unit_roundoff<T>));
  const double unit = static_cast<double>(unit_roundoff<T>);
  verdict.holds("ill conditioned above 1 / u", !(report.scaled_condition > 1 / unit) || report.ill_conditioned);
  verdict.holds("not ill conditioned below 1 / (n u)", report.scaled_condition > limit || !report.ill_conditioned);
  const auto truth = truth_of<T>(one, report.factorization.growth);
  if (!truth) return verdict.skip();
  // Without scaling the factors may have lost a whole row, or overflowed, and denormal numbers have few digits.
  const Range& range = range_of(one.type);
  const bool in_the_middle = std::all_of(truth->exponents.rows.begin(), truth->exponents.rows.end(), [&](long e) {
    return -e > range.normal + 2 * range.digits && -e < range.largest - 8;
  });
  if (one.knob("plain") != 0 && !(in_the_middle && report.condition <= limit)) return verdict.skip();
  verdict.holds("never below one", report.condition >= 1 && report.scaled_condition >= 1);
  // Sizes that equilibration leaves alone are within a factor of about 20 each way.
  const double scaled = truth->scaled_condition.to_double();
  verdict.holds("of the scaled matrix",
                report.scaled_condition < 400 * scaled && report.scaled_condition > scaled / 400,
                "found " + shown(report.scaled_condition) + ", true " + shown(scaled));
  // Bound errors of the inverse by the largest powers of its rows and columns.
  const auto most = [](const std::vector<long>& e) { return *std::max_element(e.begin(), e.end()); };
  Wide bound = norm1(truth->scaled_inverse) * Wide(100 * truth->error) * norm1(WideMatrix(given));
  bound.scale(most(truth->exponents.columns) + most(truth->exponents.rows));
  const Wide found(report.condition);
  if (!std::isfinite(truth->condition.to_double())) return verdict.skip();
  const bool may_overflow = !std::isfinite((bound + truth->condition).to_double());
  verdict.holds("of the matrix as it is",
                (std::isinf(report.condition) && may_overflow) ||
                    !((bound + truth->condition * Wide(1e-6)) < (found - truth->condition).absolute()),
                "found " + shown(report.condition) + ", true " + shown(truth->condition.to_double()));
}

void draw_graded(Random& random, Case& one, Index most) {
  const Index n = random.one_in(2) ? random.between(1, 6) : system_order(random, most);
  Array& A = one.add("A", 'm', n, 'm', n);
  fill_system(random, one.type, A);
  if (random.one_in(2) && is_finite(A)) {
    scale_by_powers(random, one.type, A, static_cast<int>(random.between(1, range_of(one.type).largest / 2)), false);
    if (!is_finite(A)) fill_system(random, one.type, A);
  }
  add_solve_knobs(random, one, {"A"});
}

}  // namespace

void draw_inverse(Random& random, Case& one) {
  draw_graded(random, one, 150);
  one.add_knob("rounded", random.below(2));
}
HEDDLE_HUNT_RUN(inverse, run_inverse)
void draw_matrix_determinant(Random& random, Case& one) {
  draw_graded(random, one, 100);
  one.add_knob("rounded", random.below(2));
}
HEDDLE_HUNT_RUN(matrix_determinant, run_matrix_determinant)
void draw_solve_condition(Random& random, Case& one) {
  draw_graded(random, one, 100);
  one.add_knob("plain", random.one_in(4) ? 1 : 0);
}
HEDDLE_HUNT_RUN(solve_condition, run_solve_condition)

}  // namespace heddle::hunt
