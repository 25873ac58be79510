// LU and Cholesky factorizations over all ranks: factors within their bounds, info as in exact arithmetic, promised
// bits; determinants and condition numbers from factors.
#include "hunt/factor_bounds.hpp"
#include "hunt/operations.hpp"
#include "hunt/systems.hpp"
#include <heddle/solve/solve.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace heddle::hunt {
namespace {

template <Scalar T> double part_of(const T& x) {
  return std::max(std::abs(static_cast<double>(Kokkos::real(x))), std::abs(static_cast<double>(Kokkos::imag(x))));
}
// Return the largest part, or NaN if any part is NaN.
template <Scalar T> double largest_part_of(const HostMatrix<T>& A, bool upper) {
  double most = 0;
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < (upper ? std::min(A.extent(0), j + 1) : A.extent(0)); ++i) {
      const Value x = test::widen(A(i, j));
      if (std::isnan(x.real()) || std::isnan(x.imag())) return std::numeric_limits<double>::quiet_NaN();
      most = std::max(most, part_of(A(i, j)));
    }
  }
  return most;
}
template <Scalar T> HostMatrix<T> as_matrix(const std::vector<Value>& values, Index rows, Index columns) {
  return test::host_matrix<T>(
      rows, columns, [&](Index i, Index j) { return test::narrow<T>(values[static_cast<std::size_t>(i + j * rows)]); });
}
// Check that pivots, info and growth equal those of rank 0.
void judge_alike(const World& world, Verdict& verdict, const LuReport& report) {
  std::vector<Index> numbers = report.pivots;
  numbers.push_back(report.info);
  std::vector<Index> of_root = numbers;
  world.all.broadcast(std::span<Index>(of_root), 0);
  verdict.holds("pivots and info are the same on every rank", numbers == of_root);
  double growth = report.growth;
  world.all.broadcast(std::span<double>(&growth, 1), 0);
  verdict.holds("growth is the same on every rank", same_real(growth, report.growth),
                shown(report.growth) + " and " + shown(growth));
}

template <Scalar T> void judge_lu(Verdict& verdict, const Case& one, const HostMatrix<T>& LU, const LuReport& report) {
  const Array& given = one.array("A");
  const Index m = given.rows;
  const Index n = given.columns;
  const Index steps = std::min(m, n);
  verdict.holds("as many pivots as steps", static_cast<Index>(report.pivots.size()) == steps);
  if (static_cast<Index>(report.pivots.size()) != steps) return;
  HostMatrix<T> A = host_of<T>(given);
  const double before = largest_part_of(A, false);
  const double after = largest_part_of(LU, true);
  const double growth = before == 0 ? 1.0 : after / before;
  verdict.holds("growth", same_real(report.growth, growth), shown(report.growth) + ", expected " + shown(growth));
  Index first_zero = 0;
  for (Index k = 0; k < steps; ++k) {
    const Index p = report.pivots[static_cast<std::size_t>(k)];
    verdict.holds("pivots are rows below", p >= k && p < m);
    if (p < k || p >= m) return;
    for (Index j = 0; j < n; ++j) std::swap(A(k, j), A(p, j));
    if (first_zero == 0 && LU(k, k) == T(0)) first_zero = k + 1;
  }
  verdict.holds("info is the first zero on the diagonal", report.info == first_zero,
                "found " + std::to_string(report.info) + ", expected " + std::to_string(first_zero));
  for (Index j = 0; j < steps && is_finite(given); ++j) {
    bool zeros = true;
    for (Index i = 0; i < m; ++i) zeros = zeros && given.at(i, j) == 0.0;
    verdict.holds("columns of zeros have no pivot", !zeros || (report.info > 0 && report.info <= j + 1));
  }
  if (cannot_overflow(given, one.type) && is_finite(given)) {
    verdict.holds("finite where nothing overflows", all_finite(LU));
  }
  const Roundings roundings = roundings_of<T>(lu_options_of(one), steps);
  const LongMatrix whole(LU);
  const LongMatrix L = lower_of(whole, true);
  const LongMatrix U = upper_of(whole, false);
  const double largest_l = is_complex<T> ? 1.4143 : 1.0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      if (i > j && is_finite(LU(i, j)) && is_finite(LU(j, j)) && LU(j, j) != T(0)) {
        verdict.within("pivots are the largest", std::abs(test::widen(LU(i, j))), largest_l);
      }
      const Index inner = std::min({i, j, steps - 1});
      Long sum = -Long(test::widen(A(i, j)));
      long double sizes = 0;
      long double l_square = 0;
      long double u_square = 0;
      for (Index k = 0; k <= inner; ++k) {
        const Long product = L.at(i, k) * U.at(k, j);
        sum += product;
        sizes += std::abs(product);
        l_square += std::norm(L.at(i, k));
        u_square += std::norm(U.at(k, j));
      }
      if (!std::isfinite(std::abs(sum)) || !std::isfinite(static_cast<double>(sizes))) continue;
      const long double diagonal = j < steps && i > j ? std::abs(U.at(j, j)) : 0.0L;
      const long double bound = roundings.of(inner, sizes, std::sqrt(l_square * u_square)) +
                                roundings.smallest * (static_cast<long double>(inner + 3) + 2 * diagonal);
      const long double off = std::abs(sum);
      verdict.within("P A = L U", off == 0 ? 0.0 : static_cast<double>(off / bound), 1.0,
                     "at (" + std::to_string(i) + ", " + std::to_string(j) + ")");
    }
  }
  const auto exact = exact_elimination(given, is_complex<T>);
  if (!exact) return;
  const HostMatrix<T> expected = as_matrix<T>(exact->values, m, n);
  verdict.holds("exact where every step is", difference(LU, expected).empty(), difference(LU, expected));
  verdict.holds("pivots where every step is exact", report.pivots == exact->pivots);
  verdict.holds("info where every step is exact", report.info == exact->info,
                "found " + std::to_string(report.info) + ", expected " + std::to_string(exact->info));
}

template <Scalar T> void run_lu(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const FactorOptions options = lu_options_of(one);
  LuPlan<T> plan(world.all, given.rows, given.columns, options);
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const LuReport report = plan.execute(A);
  const auto LU = gather(A, 0);
  judge_alike(world, verdict, report);
  if (world.root()) judge_lu<T>(verdict, one, LU, report);
  scatter(host_of<T>(given), 0, A);
  const LuReport again = plan.execute(A);
  const auto repeated = gather(A, 0);
  verdict.holds("a plan gives the same twice", difference(repeated, LU).empty() && again.pivots == report.pivots,
                difference(repeated, LU));
  if (!world.root()) return;
  const Placed<T> alone(given, one.knob("padding") != 0 ? 2 : 0);
  const LuReport on_one = lu<T>(one_rank(world, one).space(), alone.matrix(), options);
  verdict.holds("writes its elements alone", alone.rest_untouched());
  verdict.holds(same_bits_on_one(one), difference(LU, alone.read()).empty() && on_one.pivots == report.pivots,
                difference(LU, alone.read()));
  verdict.holds("the same info and growth on one rank",
                on_one.info == report.info && same_real(on_one.growth, report.growth));
}

// Return whether A is positive definite beyond all roundings: D^-1 A D^-1, with D^2 the diagonal of A, is dominated by
// its diagonal.
template <Scalar T> bool surely_definite(const Array& A) {
  const auto n = static_cast<double>(A.rows);
  for (Index i = 0; i < A.rows; ++i) {
    long double sum = 0;
    const double own = A.at(i, i).real();
    if (!(own > static_cast<double>(std::numeric_limits<Real<T>>::min()) * 1e9)) return false;
    for (Index j = 0; j < A.rows; ++j) {
      const double other = A.at(j, j).real();
      if (!(other > 0) || !std::isfinite(other)) return false;
      if (i == j) continue;
      sum += static_cast<long double>(std::abs(A.at(i, j))) /
             (std::sqrt(static_cast<long double>(own)) * std::sqrt(static_cast<long double>(other)));
    }
    if (!(sum < 1 - 16 * n * n * static_cast<double>(unit_roundoff<T>) - 1e-3)) return false;
  }
  return true;
}

template <Scalar T>
void judge_cholesky(Verdict& verdict, const Case& one, const HostMatrix<T>& found, const CholeskyReport& report) {
  const Array& given = one.array("A");
  const Index n = given.rows;
  const Index info = report.info;
  verdict.holds("info is a step", info >= 0 && info <= n, std::to_string(info));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) verdict.holds("zeros above the diagonal", same(found(i, j), T(0)));
    const double pivot = given.at(j, j).real();
    verdict.holds("a diagonal that is not positive is found", pivot > 0 || (info > 0 && info <= j + 1),
                  "info " + std::to_string(info));
  }
  if (is_finite(given) && surely_definite<T>(given)) {
    verdict.holds("positive definite matrices are", info == 0, "info " + std::to_string(info));
  }
  const Index columns = info == 0 ? n : info - 1;
  const LongMatrix L(found);
  const Roundings roundings = roundings_of<T>(lu_options_of(one), n);
  for (Index j = 0; j < columns; ++j) {
    const T& root = found(j, j);
    verdict.holds("roots are positive numbers", Kokkos::real(root) > 0 && Kokkos::imag(root) == 0,
                  told<T>(j, j, root, "a positive number"));
    for (Index i = j; i < n; ++i) {
      Long sum = i == j ? Long(-given.at(i, j).real()) : -Long(test::widen(test::narrow<T>(given.at(i, j))));
      long double sizes = 0;
      long double one_square = 0;
      long double other_square = 0;
      for (Index k = 0; k <= j; ++k) {
        const Long product = L.at(i, k) * std::conj(L.at(j, k));
        sum += product;
        sizes += std::abs(product);
        one_square += std::norm(L.at(i, k));
        other_square += std::norm(L.at(j, k));
      }
      const long double off = std::abs(sum);
      if (!std::isfinite(off)) continue;
      const long double bound = roundings.of(j + 1, sizes, std::sqrt(one_square * other_square)) +
                                roundings.smallest * (static_cast<long double>(j + 3) + 2 * std::abs(L.at(j, j)));
      verdict.within("A = L L^H", off == 0 ? 0.0 : static_cast<double>(off / bound), 1.0,
                     "at (" + std::to_string(i) + ", " + std::to_string(j) + ")");
    }
  }
  const auto exact = exact_cholesky(given);
  if (!exact) return;
  verdict.holds("info where every step is exact", info == exact->info,
                "found " + std::to_string(info) + ", expected " + std::to_string(exact->info));
  const HostMatrix<T> expected = as_matrix<T>(exact->values, n, n);
  verdict.holds("exact where every step is", info != 0 || difference(found, expected).empty(),
                difference(found, expected));
}

template <Scalar T> void run_cholesky(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  // Elements above the diagonal and its imaginary parts must not be read.
  Array lower = given;
  for (Index j = 0; j < given.rows; ++j) {
    for (Index i = 0; i < j; ++i) lower.at(i, j) = std::numeric_limits<double>::quiet_NaN();
    if (is_complex<T>) lower.at(j, j).imag(1e10);
  }
  const FactorOptions options = lu_options_of(one);
  const auto A = distributed<T>(world.all, lower, one.knob("place A"));
  const CholeskyReport report = cholesky(world.all, A, options);
  const auto L = gather(A, 0);
  if (!world.root()) return;
  judge_cholesky<T>(verdict, one, L, report);
  const Placed<T> alone(given, one.knob("padding") != 0 ? 2 : 0);
  const CholeskyReport on_one = cholesky<T>(one_rank(world, one).space(), alone.matrix(), options);
  verdict.holds("writes its elements alone", alone.rest_untouched());
  verdict.holds("the same info on one rank", on_one.info == report.info,
                std::to_string(report.info) + " and " + std::to_string(on_one.info));
  if (report.info == 0) {
    verdict.holds(same_bits_on_one(one), difference(L, alone.read()).empty(), difference(L, alone.read()));
  }
}

template <Scalar T> void run_determinant(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const LuReport report = lu(world.all, A, lu_options_of(one));
  const Determinant<T> found = determinant(world.all, A, report);
  const auto LU = gather(A, 0);
  if (!world.root()) return;
  const auto moved = distributed<T>(world.alone, given, 0);
  scatter(LU, 0, moved);
  const Determinant<T> other = determinant(world.alone, moved, report);
  verdict.holds("bits follow from the factors",
                same(found.mantissa, other.mantissa) && found.exponent == other.exponent);
  Wide::bits = 400;
  WideComplex product(Value(1.0));
  bool finite = true;
  for (Index k = 0; k < given.rows; ++k) {
    finite = finite && is_finite(LU(k, k));
    const WideComplex factor(test::widen(report.pivots[static_cast<std::size_t>(k)] == k ? LU(k, k) : -LU(k, k)));
    product = product * factor;
  }
  if (!finite) {
    verdict.holds("no number from what is none", !is_finite(found.mantissa) && found.exponent == 0,
                  told<T>(0, 0, found.mantissa, "NaN or infinity"));
    return;
  }
  if (report.info != 0) {
    verdict.holds("zero where singular", found.mantissa == T(0) && found.exponent == 0);
    return;
  }
  const double part = part_of(found.mantissa);
  verdict.holds("a mantissa from a half to one", part >= 0.5 && part < 1, told<T>(0, 0, found.mantissa, "1/2 to 1"));
  if (product.is_zero()) return verdict.fail("zero where regular", "");
  product.scale(-found.exponent);
  const double size = product.absolute().to_double();
  const WideComplex off = product - WideComplex(test::widen(found.mantissa));
  // Products of real numbers have one rounding; those of complex numbers one per part, about 4 u of the whole, and a
  // small part of a factor may underflow beside the larger one.
  const double unit = static_cast<double>(unit_roundoff<T>) * (is_complex<T> ? 4 : 1);
  verdict.within("the product of the diagonal", off.absolute().to_double(),
                 1.01 * static_cast<double>(given.rows + 1) * unit * size);
}

// Compare condition() with |A|_1 |A^-1|_1.
template <Scalar T> void run_condition(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const double norm_of_a = norm(A, Norm::one);
  const FactorOptions options = lu_options_of(one);
  const LuReport report = lu(world.all, A, options);
  const double found = condition(world.all, A, report, norm_of_a, options);
  const auto LU = gather(A, 0);
  if (!world.root()) return;
  const auto moved = distributed<T>(one_rank(world, one), given, 0);
  scatter(LU, 0, moved);
  const double other = condition(one_rank(world, one), moved, report, norm_of_a, options);
  verdict.holds(same_bits_on_one(one), same_real(found, other), shown(found) + " and " + shown(other));
  if (given.rows == 0) return verdict.holds("0 of an empty matrix", found == 0);
  if (report.info > 0) {
    return verdict.holds("infinite where singular", std::isinf(found) && found > 0, "found " + shown(found));
  }
  if (given.rows > 12 || !is_finite(given) || !all_finite(LU)) return verdict.skip();
  const auto inverse = wide_inverse(given);
  if (!inverse) return verdict.skip();
  const Wide exact_norm = norm1(WideMatrix(given));
  const double truth = (norm1(*inverse) * exact_norm).to_double();
  // The factors are exact for a matrix off by (|L| |U|) n u, and by n times the smallest number.
  double product = 0;
  const LongMatrix L = lower_of(LongMatrix(LU), true);
  const LongMatrix U = upper_of(LongMatrix(LU), false);
  for (Index j = 0; j < given.rows; ++j) {
    long double sum = 0;
    for (Index k = 0; k <= j; ++k) {
      for (Index i = k; i < given.rows; ++i) sum += std::abs(L.at(i, k)) * std::abs(U.at(k, j));
    }
    product = std::max(product, static_cast<double>(sum / static_cast<long double>(norm_of_a)));
  }
  const Roundings roundings = roundings_of<T>(options, given.rows);
  const double n = static_cast<double>(given.rows);
  const double rounding =
      3 * n * (roundings.unit + roundings.emulated) * product + 2 * n * roundings.smallest / norm_of_a;
  if (!(truth * rounding < 0.01) || !(norm_of_a < std::numeric_limits<double>::max())) return verdict.skip();
  if (!(truth < static_cast<double>(std::numeric_limits<Real<T>>::max()) / 1e3)) return verdict.skip();
  verdict.holds("never below 1", found >= 1, "found " + shown(found));
  verdict.holds("from below", found <= truth * 1.1, "found " + shown(found) + ", true " + shown(truth));
  verdict.holds("not far below", found >= truth / 20, "found " + shown(found) + ", true " + shown(truth));
}

void draw_square(Random& random, Case& one, Index most) {
  const Index n = system_order(random, most);
  fill_system(random, one.type, one.add("A", 'm', n, 'm', n));
  add_solve_knobs(random, one, {"A"});
}

}  // namespace

void draw_lu(Random& random, Case& one) {
  const Index m = system_order(random, 300);
  const Index n = random.one_in(2) ? m : std::min<Index>(system_order(random, 300), 20000 / std::max<Index>(m, 1));
  fill_system(random, one.type, one.add("A", 'm', m, m == n ? 'm' : 'n', n));
  add_solve_knobs(random, one, {"A"});
  one.add_knob("padding", random.below(2));
}
HEDDLE_HUNT_RUN(lu, run_lu)
void draw_cholesky(Random& random, Case& one) {
  const Index n = system_order(random, 300);
  fill_definite(random, one.type, one.add("A", 'm', n, 'm', n));
  add_solve_knobs(random, one, {"A"});
  one.add_knob("padding", random.below(2));
}
HEDDLE_HUNT_RUN(cholesky, run_cholesky)
void draw_determinant(Random& random, Case& one) {
  draw_square(random, one, 100);
}
HEDDLE_HUNT_RUN(determinant, run_determinant)
void draw_condition(Random& random, Case& one) {
  draw_square(random, one, 100);
}
HEDDLE_HUNT_RUN(condition, run_condition)

}  // namespace heddle::hunt
