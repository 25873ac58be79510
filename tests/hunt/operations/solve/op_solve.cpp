// Systems over all ranks: solutions, residuals, reports, certificates and triangles; promised bits, and emulated errors
// compared with native ones.
#include "hunt/factor_bounds.hpp"
#include "hunt/operations.hpp"
#include "hunt/systems.hpp"
#include <heddle/solve/solve.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace heddle::hunt {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

SolveOptions solve_options_of(const Case& one) {
  SolveOptions options;
  options.method = one.knob("cholesky") != 0 ? SolveMethod::cholesky : SolveMethod::lu;
  options.factorization = lu_options_of(one);
  options.equilibrate = one.knob("plain") == 0;
  options.refinements = static_cast<int>(one.knob("refinements"));
  options.certificate = one.knob("certificate") != 0;
  options.rounding = rounding_of(one);
  return options;
}

// Backward errors as defined by SolveReport, from exact residuals.
struct Backward {
  Wide normwise;
  Wide componentwise;
  Wide lost;    // Possible share of residuals rounded to denormal numbers in `componentwise`.
  Wide scaled;  // The largest |b - A x| over n (|A| |x| + |b|), less underflow.
};
template <class R> Backward backward_of(const WideMatrix& A, const WideMatrix& B, const WideMatrix& X, bool plain) {
  const Index n = A.rows;
  Backward errors;
  Wide norm;
  for (Index i = 0; i < n; ++i) {
    Wide row;
    for (Index j = 0; j < n; ++j) row += A.at(i, j).absolute();
    norm = larger(norm, row);
  }
  const Wide smallest(static_cast<double>(std::numeric_limits<R>::denorm_min()));
  const Wide largest(static_cast<double>(std::numeric_limits<R>::max()));
  const Wide order(static_cast<double>(n));
  for (Index j = 0; j < X.columns; ++j) {
    Wide of_x;
    Wide of_b;
    for (Index i = 0; i < n; ++i) {
      of_x = larger(of_x, X.at(i, j).absolute());
      of_b = larger(of_b, B.at(i, j).absolute());
    }
    const Wide size = norm * of_x + of_b;
    // Residuals that could overflow are scaled to the largest number.
    const Wide denormal = smallest + smallest * Wide(8.0) * size / largest * order;
    Wide of_r;
    for (Index i = 0; i < n; ++i) {
      WideComplex r;
      Wide sizes = B.at(i, j).absolute();
      for (Index k = 0; k < n; ++k) {
        r.add_product(A.at(i, k), X.at(k, j));
        sizes += A.at(i, k).absolute() * X.at(k, j).absolute();
      }
      const Wide off = (B.at(i, j) - r).absolute();
      of_r = larger(of_r, off);
      if (!off.is_zero()) errors.componentwise = larger(errors.componentwise, off / sizes);
      if (!off.is_zero()) errors.lost = larger(errors.lost, denormal / sizes);
    }
    if (of_r.is_zero()) continue;
    errors.normwise = larger(errors.normwise, of_r / size);
    // An underflow in x is an error of the smallest number, multiplied by A; without equilibration underflow in the
    // factors counts too.
    const Wide underflow = smallest * Wide(4.0) * (order * norm + Wide(1.0) + (plain ? order * of_x : Wide()));
    errors.scaled = larger(errors.scaled, (of_r - underflow) / (order * size));
  }
  return errors;
}
// Return the largest |x - truth| / |x| over the columns, in infinity norms; 0 if both are zero.
Wide error_of(const WideMatrix& X, const WideMatrix& truth) {
  Wide worst;
  for (Index j = 0; j < X.columns; ++j) {
    Wide off;
    Wide size;
    for (Index i = 0; i < X.rows; ++i) {
      off = larger(off, (X.at(i, j) - truth.at(i, j)).absolute());
      size = larger(size, X.at(i, j).absolute());
    }
    if (off.is_zero()) continue;
    if (size.is_zero()) return Wide(infinity);
    worst = larger(worst, off / size);
  }
  return worst;
}

template <Scalar T>
void judge_solution(Verdict& verdict, const Case& one, const HostMatrix<T>& x, const SolveReport& report) {
  const Array& given = one.array("A");
  const Array& right = one.array("B");
  const Index n = given.rows;
  const bool numbers = is_finite(given) && is_finite(right);
  const bool certified = one.knob("certificate") != 0;
  verdict.holds("a bound where it is asked for", certified != std::isnan(report.error_bound),
                shown(report.error_bound));
  if (n == 0 || right.columns == 0) {
    verdict.holds("nothing is without error", report.normwise_error == 0 && report.componentwise_error == 0,
                  shown(report.normwise_error) + ", " + shown(report.componentwise_error));
    return;
  }
  if (!numbers || !all_finite(x)) {
    verdict.holds("no backward error of what is no number",
                  std::isnan(report.normwise_error) && std::isnan(report.componentwise_error),
                  shown(report.normwise_error) + ", " + shown(report.componentwise_error));
    const bool overflows = numbers && report.overflow > 0 && report.overflow <= right.columns;
    verdict.holds("what overflows is reported", numbers ? overflows : true, std::to_string(report.overflow));
    verdict.holds("nothing is proven of what is no number", !certified || report.error_bound == infinity,
                  shown(report.error_bound));
    const bool nan = std::any_of(given.values.begin(), given.values.end(),
                                 [](const Value& v) { return std::isnan(v.real()) || std::isnan(v.imag()); });
    verdict.holds("no solution with what is no number", !nan || !all_finite(x));
    return;
  }
  verdict.holds("nothing overflows", report.overflow == 0);
  const double u = static_cast<double>(unit_roundoff<T>);
  Wide::bits = 300;
  const bool plain = one.knob("plain") != 0;
  const Backward errors = backward_of<Real<T>>(WideMatrix(given), WideMatrix(right), WideMatrix(x), plain);
  // 300 bits leave errors of 2^-300 of the sizes.
  const auto reported = [&](const char* name, double found, const Wide& true_one, const Wide& lost) {
    const double truth = true_one.to_double();
    const double slack = ((8 + static_cast<double>(n)) * 4e-16 + 2 * u) * truth + 2 * lost.to_double() + 1e-80;
    verdict.holds(name, std::abs(found - truth) <= slack, "found " + shown(found) + ", true " + shown(truth));
  };
  reported("normwise error as reported", report.normwise_error, errors.normwise, Wide(1e-30));
  reported("componentwise error as reported", report.componentwise_error, errors.componentwise, errors.lost);
  // High-Performance Linpack's criterion, if pivots keep growth small; emulated products are bounded by rows and
  // columns alone.
  if (report.factorization.growth < 64 && !(plain && emulates(one))) {
    verdict.within("scaled residual", errors.scaled.to_double() / u, 16.0);
  }
  verdict.holds("elements are counted where they are asked for",
                one.knob("rounded") != 0 ? report.correctly_rounded == (report.undecided == 0)
                                         : !report.correctly_rounded && report.undecided == 0);
  const bool proven = (certified && std::isfinite(report.error_bound)) || report.correctly_rounded;
  if (!proven || n > 40) return;
  const auto truth = wide_solution(given, right, n > 12 ? 1800 : 4500);
  if (!truth) return verdict.fail("nothing is proven of singular matrices", shown(report.error_bound));
  if (report.correctly_rounded) judge_rounding(verdict, x, *truth);
  if (!certified || !std::isfinite(report.error_bound)) return;
  const Wide error = error_of(WideMatrix(x), *truth);
  verdict.holds("the error is below its proven bound", !(Wide(report.error_bound) < error),
                "error " + shown(error.to_double()) + ", bound " + shown(report.error_bound));
}

template <Scalar T> void run_solve(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const Array& right = one.array("B");
  const SolveOptions options = solve_options_of(one);
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const auto B = distributed<T>(world.all, right, one.knob("place B"));
  const auto X = distributed<T>(world.all, right, one.knob("place X"));
  fill(X, T(Real<T>(17)));
  const SolveReport report = solve(world.all, A, B, X, options);
  const auto x = gather(X, 0);
  const auto stays = [&](const DistributedMatrix<T>& M, const Array& array) {
    return difference(gather(M, 0), world.root() ? host_of<T>(array) : HostMatrix<T>()).empty();
  };
  verdict.holds("A and B stay", stays(A, given) && stays(B, right));
  if (!world.root()) return;
  if (report.factorization.info != 0) {
    bool written = false;
    for (std::size_t j = 0; j < x.extent(1); ++j) {
      for (std::size_t i = 0; i < x.extent(0); ++i) written = written || x(i, j) != T(Real<T>(17));
    }
    verdict.holds("X is not written where A has no factors", !written);
  } else {
    judge_solution<T>(verdict, one, x, report);
  }
  const Communicator& alone = one_rank(world, one);
  const auto A1 = distributed<T>(alone, given, 0);
  const auto B1 = distributed<T>(alone, right, 0);
  const auto X1 = distributed<T>(alone, right, 0);
  fill(X1, T(Real<T>(17)));
  const SolveReport on_one = solve(alone, A1, B1, X1, options);
  const auto x1 = gather(X1, 0);
  verdict.holds("the same info on one rank", on_one.factorization.info == report.factorization.info);
  if (report.correctly_rounded && on_one.correctly_rounded) {
    verdict.holds("correctly rounded on one rank", difference(x, x1).empty(), difference(x, x1));
  }
  verdict.holds(same_bits_on_one(one), difference(x, x1).empty(), difference(x, x1));
}

// Multiply M by P, the interchanges of a factorization.
template <class Matrix> void interchange(const std::vector<Index>& pivots, Matrix& M, bool back) {
  for (std::size_t step = 0; step < pivots.size(); ++step) {
    const std::size_t k = back ? pivots.size() - 1 - step : step;
    const auto p = static_cast<std::size_t>(pivots[k]);
    for (Index j = 0; j < M.columns && p != k; ++j) {
      std::swap(M.at(static_cast<Index>(k), j), M.at(static_cast<Index>(p), j));
    }
  }
}

// Return solutions of op(A) X = B from the factors of lu().
template <Scalar T>
void judge_by_factors(Verdict& verdict, const Case& one, Operation op, const LuReport& factors, const HostMatrix<T>& LU,
                      const LongMatrix& given_b, const HostMatrix<T>& x) {
  if (!all_finite(LU) || !is_finite(one.array("A"))) return;
  const LongMatrix whole(LU);
  LongMatrix A(host_of<T>(one.array("A")));
  interchange(factors.pivots, A, false);
  LongMatrix B = given_b;
  LongMatrix X(x);
  const LongMatrix L = lower_of(whole, true);
  const LongMatrix U = upper_of(whole, false);
  const Roundings roundings = roundings_of<T>(lu_options_of(one), A.rows);
  double share = 0;
  if (op == Operation::none) {
    interchange(factors.pivots, B, false);
    share = share_of_solution_bound(roundings, A, L, U, X, B);
  } else {
    interchange(factors.pivots, X, false);
    share = share_of_solution_bound(roundings, applied(op, A), applied(op, U), applied(op, L), X, B);
  }
  verdict.within("residual of two substitutions", share, 1.0);
}

template <Scalar T> void run_lu_solve(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const Array& right = one.array("B");
  const FactorOptions options = lu_options_of(one);
  const Operation op = one.op("op");
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const LuReport factors = lu(world.all, A, options);
  const auto X = distributed<T>(world.all, right, one.knob("place X"));
  const Thrown thrown = thrown_by([&] { lu_solve(world.all, op, A, factors, X, options); });
  verdict.holds("refuses what is singular, and nothing else", thrown.any == (factors.info != 0), thrown.message);
  const auto LU = gather(A, 0);
  const auto x = gather(X, 0);
  if (!world.root() || thrown.any) return;
  judge_by_factors<T>(verdict, one, op, factors, LU, LongMatrix(host_of<T>(right)), x);
  const Communicator& alone = one_rank(world, one);
  const auto A1 = distributed<T>(alone, given, 0);
  scatter(LU, 0, A1);
  const auto X1 = distributed<T>(alone, right, 0);
  lu_solve(alone, op, A1, factors, X1, options);
  const auto x1 = gather(X1, 0);
  verdict.holds(same_bits_on_one(one), difference(x, x1).empty(), difference(x, x1));
}

template <Scalar T> void run_trsm(const World& world, const Case& one, Verdict& verdict) {
  const bool lower = one.knob("lower") != 0;
  const bool unit = one.knob("unit") != 0;
  const Triangle triangle = lower ? Triangle::lower : Triangle::upper;
  const Diagonal diagonal = unit ? Diagonal::unit : Diagonal::stored;
  const Operation op = one.op("op");
  // The other triangle and a unit diagonal must not be read.
  Array given = one.array("M");
  for (Index j = 0; j < given.columns; ++j) {
    for (Index i = 0; i < given.rows; ++i) {
      if (i == j ? unit : (i > j) != lower) given.at(i, j) = std::numeric_limits<double>::quiet_NaN();
    }
  }
  const Array& right = one.array("B");
  const FactorOptions options = lu_options_of(one);
  const auto M = distributed<T>(world.all, given, one.knob("place M"));
  const auto X = distributed<T>(world.all, right, one.knob("place X"));
  trsm(world.all, triangle, op, diagonal, M, X, options);
  const auto x = gather(X, 0);
  if (!world.root()) return;
  const Communicator& alone = one_rank(world, one);
  const auto M1 = distributed<T>(alone, given, 0);
  const auto X1 = distributed<T>(alone, right, 0);
  trsm(alone, triangle, op, diagonal, M1, X1, options);
  const auto x1 = gather(X1, 0);
  verdict.holds(same_bits_on_one(one), difference(x, x1).empty(), difference(x, x1));
  const LongMatrix stored(host_of<T>(given));
  const LongMatrix m = applied(op, lower ? lower_of(stored, unit) : upper_of(stored, unit));
  for (const Long& value : m.values) {
    if (!std::isfinite(std::abs(value))) return;
  }
  for (Index k = 0; k < m.rows; ++k) {
    if (m.at(k, k) == Long(0)) return;
  }
  verdict.within(
      "residual of a substitution",
      share_of_triangle_bound(roundings_of<T>(options, m.rows), m, LongMatrix(x), LongMatrix(host_of<T>(right))), 1.0);
}

// Compare errors of emulated solutions with those of native ones, counted as at least a quarter of a rounding.
template <Scalar T> void run_solve_errors(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const Array& right = one.array("B");
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const auto B = distributed<T>(world.all, right, one.knob("place A"));
  std::vector<HostMatrix<T>> found;
  for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
    SolveOptions options;
    options.factorization = lu_options_of(one);
    options.factorization.arithmetic = arithmetic;
    options.refinements = static_cast<int>(one.knob("refinements"));
    const auto X = distributed<T>(world.all, right, 0);
    if (solve(world.all, A, B, X, options).factorization.info != 0) return verdict.skip();
    found.push_back(gather(X, 0));
  }
  if (!world.root()) return;
  if (given.rows == 0 || !all_finite(found[0]) || !all_finite(found[1])) return verdict.skip();
  const auto truth = wide_solution(given, right, 1800);
  if (!truth) return verdict.skip();
  const double least = 0.25 * static_cast<double>(unit_roundoff<T>);
  const double native = std::max(error_of(WideMatrix(found[0]), *truth).to_double(), least);
  const double emulated = std::max(error_of(WideMatrix(found[1]), *truth).to_double(), least);
  if (!(native < 0.1)) return verdict.skip();
  verdict.observe(std::string("emulated over native error, ") +
                      (one.knob("scattered") != 0 ? "elements of any sizes" : "rows and columns of any sizes") +
                      (one.knob("refinements") != 0 ? ", refined" : ""),
                  emulated / native);
}

void draw_right(Random& random, Case& one, Index n, bool many) {
  const Index columns = many ? random.any_of(0L, 1L, 1L, 1L, 2L, 3L, 5L, 70L, 130L) : random.any_of(0L, 1L, 1L, 2L, 3L);
  Array& B = one.add("B", 'm', n, 'k', columns);
  if (random.one_in(3)) {
    fill_hard(random, one.type, B);
  } else {
    fill_mood(random, one.type, B, random.one_in(3) ? Mood::integers : Mood::units);
    if (random.one_in(3)) scale_by_powers(random, one.type, B, range_of(one.type).largest / 4, false);
  }
  if (random.one_in(20)) sprinkle(random, one.type, B);
}

}  // namespace

void draw_solve(Random& random, Case& one) {
  const bool cholesky = random.one_in(4);
  const Index n = system_order(random, 160);
  Array& A = one.add("A", 'm', n, 'm', n);
  cholesky ? fill_definite(random, one.type, A) : fill_system(random, one.type, A);
  draw_right(random, one, n, n < 40);
  add_solve_knobs(random, one, {"A", "B", "X"});
  one.add_knob("cholesky", cholesky ? 1 : 0, cholesky ? 1 : 0);
  one.add_knob("plain", random.one_in(3) ? 1 : 0);
  one.add_knob("refinements", random.any_of(0L, 1L, 1L, 2L));
  one.add_knob("certificate", random.below(2));
  one.add_knob("rounded", random.below(2));
}
HEDDLE_HUNT_RUN(solve, run_solve)
void draw_lu_solve(Random& random, Case& one) {
  const Index n = system_order(random, 200);
  fill_system(random, one.type, one.add("A", 'm', n, 'm', n));
  draw_right(random, one, n, true);
  const long op = random.below(3);
  one.add_knob("op", op, op);
  add_solve_knobs(random, one, {"A", "X"});
}
HEDDLE_HUNT_RUN(lu_solve, run_lu_solve)
void draw_trsm(Random& random, Case& one) {
  const Index n = system_order(random, 300);
  Array& M = one.add("M", 'm', n, 'm', n);
  fill_system(random, one.type, M);
  // Solutions of triangles without dominant diagonals soon overflow.
  if (random.one_in(2)) {
    const int power = range_of(one.type).digits == 24 ? 60 : 500;
    for (Value& x : M.values) {
      x = std::abs(x) < std::ldexp(1.0, power) ? in_type(x / static_cast<double>(2 * n + 1), one.type) : Value(0.5);
    }
    for (Index k = 0; k < n; ++k) M.at(k, k) += random.one_in(2) ? 1.0 : -2.0;
    for (Value& x : M.values) x = in_type(x, one.type);
  }
  draw_right(random, one, n, true);
  const long op = random.below(3);
  one.add_knob("op", op, op);
  one.add_knob("lower", random.below(2));
  one.add_knob("unit", random.below(2));
  add_solve_knobs(random, one, {"M", "X"});
}
HEDDLE_HUNT_RUN(trsm, run_trsm)
void draw_solve_errors(Random& random, Case& one) {
  const Index n = random.between(2, 48);
  Array& A = one.add("A", 'm', n, 'm', n);
  fill_mood(random, one.type, A, Mood::units);
  Array& B = one.add("B", 'm', n, 'k', 1);
  fill_mood(random, one.type, B, Mood::units);
  const bool scattered = random.one_in(3);
  if (scattered) {
    // A matrix that no scaling of rows and columns brings to one size.
    const long most = random.between(1, 30);
    for (Value& x : one.arrays[0].values) {
      const int by = static_cast<int>(random.between(-most, most));
      x = Value(std::ldexp(x.real(), by), std::ldexp(x.imag(), by));
    }
  } else if (!random.one_in(4)) {
    const int most = static_cast<int>(random.between(1, range_of(one.type).digits == 24 ? 25 : 250));
    scale_by_powers(random, one.type, one.arrays[0], most, false);
    if (random.one_in(2)) scale_by_powers(random, one.type, one.arrays[1], most, false);
  }
  one.add_knob("block", random.any_of(2L, 4L, 8L, 16L), 2);
  one.add_knob("group", random.any_of(1L, 2L, 4L, 8L));
  one.add_knob("arithmetic", 0);
  one.add_knob("place A", random.below(100));
  one.add_knob("refinements", random.below(2));
  one.add_knob("scattered", scattered ? 1 : 0);
}
HEDDLE_HUNT_RUN(solve_errors, run_solve_errors)

}  // namespace heddle::hunt
