// QR factorizations and least squares of matrices with columns of any sizes: backward errors by many digits, and
// promised bits.
#include "hunt/factor_bounds.hpp"
#include "hunt/operations.hpp"
#include "hunt/systems.hpp"
#include <heddle/solve/qr.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::hunt {
namespace {

QrOptions qr_options_of(const Case& one) {
  const FactorOptions options = lu_options_of(one);
  return {.arithmetic = options.arithmetic, .block = options.block};
}

// Return |column j|_2 of A, or of A - B.
Wide norm_of_column(const WideMatrix& A, Index j, const WideMatrix* B = nullptr) {
  Wide sum;
  for (Index i = 0; i < A.rows; ++i) sum += (B != nullptr ? A.at(i, j) - B->at(i, j) : A.at(i, j)).square();
  return sum.root();
}

// Return H_1 H_2 ... R from the factors of qr(): H = I - tau v v^H.
template <Scalar T> WideMatrix product_of_factors(const HostMatrix<T>& QR, const std::vector<T>& tau) {
  WideMatrix M(QR);
  for (Index j = 0; j < M.columns; ++j) {
    for (Index i = j + 1; i < M.rows; ++i) M.at(i, j) = WideComplex(Value(0.0));
  }
  for (std::size_t step = tau.size(); step-- > 0;) {
    const auto k = static_cast<Index>(step);
    const auto v = [&](Index i) {
      return WideComplex(i == k ? Value(1.0) : test::widen(QR(static_cast<std::size_t>(i), step)));
    };
    for (Index j = 0; j < M.columns; ++j) {
      WideComplex inner;
      for (Index i = k; i < M.rows; ++i) inner.add_product(v(i).conjugate(), M.at(i, j));
      const WideComplex share = inner * WideComplex(-test::widen(tau[step]));
      for (Index i = k; i < M.rows; ++i) M.at(i, j).add_product(v(i), share);
    }
  }
  return M;
}

template <Scalar T> double error_unit(const Case& one, Index rows, Index columns) {
  const Roundings roundings = roundings_of<T>(lu_options_of(one), std::max(rows, columns));
  return 10 * static_cast<double>(rows) * static_cast<double>(columns) * (roundings.unit + roundings.emulated);
}

template <Scalar T> void run_qr(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const QrOptions options = qr_options_of(one);
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const QrReport<T> report = qr(world.all, A, options);
  const auto QR = gather(A, 0);
  if (!world.root()) return;
  const auto A1 = distributed<T>(one_rank(world, one), given, 0);
  const QrReport<T> on_one = qr(one_rank(world, one), A1, options);
  const auto QR1 = gather(A1, 0);
  verdict.holds("the same bits on one rank", difference(QR, QR1).empty() && report.info == on_one.info,
                difference(QR, QR1));
  if (!is_finite(given) || !all_finite(QR) || given.values.size() > 700) return;
  Wide::bits = 300;
  const WideMatrix before(given);
  const WideMatrix product = product_of_factors<T>(QR, report.tau);
  const double unit = error_unit<T>(one, given.rows, given.columns);
  const auto smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  for (Index j = 0; j < given.columns; ++j) {
    const Wide bound = norm_of_column(before, j) * Wide(unit) +
                       Wide(16.0 * static_cast<double>(given.rows + 1) * static_cast<double>(given.columns) * smallest);
    verdict.within("A = Q R by columns", (norm_of_column(before, j, &product) / bound).to_double(), 1.0,
                   "column " + std::to_string(j));
  }
}

// Scale columns (of a tall matrix) or rows near one by powers of two, and return the powers.
std::vector<long> balance(WideMatrix& A, bool by_rows) {
  std::vector<long> powers;
  for (Index k = 0; k < (by_rows ? A.rows : A.columns); ++k) {
    long most = -1000000;
    for (Index l = 0; l < (by_rows ? A.columns : A.rows); ++l) {
      const WideComplex& x = by_rows ? A.at(k, l) : A.at(l, k);
      most = std::max({most, x.re.exponent(), x.im.exponent()});
    }
    if (most == -1000000) most = 0;
    for (Index l = 0; l < (by_rows ? A.columns : A.rows); ++l) (by_rows ? A.at(k, l) : A.at(l, k)).scale(-most);
    powers.push_back(most);
  }
  return powers;
}

// Compare X, proven to be rounded correctly, with the exact solution, by a system of order m + n.
template <Scalar T> void judge_rounded(const Array& A, const Array& B, const HostMatrix<T>& X, Verdict& verdict) {
  const bool wide = A.rows < A.columns;
  const Index height = std::max(A.rows, A.columns);
  const Index order = A.rows + A.columns;
  Array augmented{.rows = order, .columns = order, .values = {}};
  augmented.values.resize(static_cast<std::size_t>(order * order));
  for (Index i = 0; i < height; ++i) augmented.at(i, i) = Value(1.0);
  for (Index i = 0; i < A.rows; ++i) {
    for (Index j = 0; j < A.columns; ++j) {
      const Index row = wide ? height + i : i;
      const Index column = wide ? j : height + j;
      augmented.at(row, column) = A.at(i, j);
      augmented.at(column, row) = std::conj(A.at(i, j));
    }
  }
  Array right{.rows = order, .columns = B.columns, .values = {}};
  right.values.resize(static_cast<std::size_t>(order * B.columns));
  for (Index j = 0; j < B.columns; ++j) {
    for (Index i = 0; i < B.rows; ++i) right.at((wide ? height : 0) + i, j) = B.at(i, j);
  }
  const auto exact = wide_solution(augmented, right, 9000);
  if (!exact) return verdict.fail("nothing is proven of matrices without full rank", "correctly rounded");
  WideMatrix part(A.columns, B.columns);
  for (Index j = 0; j < B.columns; ++j) {
    for (Index i = 0; i < A.columns; ++i) part.at(i, j) = exact->at((wide ? 0 : height) + i, j);
  }
  judge_rounding(verdict, X, part);
}

template <Scalar T> void run_least_squares(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const Array& right = one.array("B");
  const bool rounded = one.knob("rounded") != 0;
  const LeastSquaresOptions options{.qr = qr_options_of(one),
                                    .rounding = rounded ? Rounding::correct : Rounding::computed};
  const auto solved = [&](const Communicator& comm, long a, long b, LeastSquaresReport& report) {
    const auto X = distributed<T>(comm, given.columns, right.columns, b);
    fill(X, T(Real<T>(17)));
    report = least_squares(comm, distributed<T>(comm, given, a), distributed<T>(comm, right, b), X, options);
    return gather(X, 0);
  };
  LeastSquaresReport report;
  const HostMatrix<T> x = solved(world.all, one.knob("place A"), one.knob("place B"), report);
  if (!world.root()) return;
  LeastSquaresReport on_one;
  const HostMatrix<T> x1 = solved(one_rank(world, one), 0, 0, on_one);
  verdict.holds("the same bits on one rank", difference(x, x1).empty() && report.qr.info == on_one.qr.info,
                difference(x, x1));
  verdict.holds("elements are counted where they are asked for",
                rounded && report.qr.info == 0 ? report.correctly_rounded == (report.undecided == 0)
                                               : !report.correctly_rounded && report.undecided == 0);
  if (report.qr.info != 0 || !is_finite(given) || !is_finite(right)) return;
  if (report.correctly_rounded && right.columns > 0 && given.rows + given.columns <= 24)
    judge_rounded(given, right, x, verdict);
  if (!all_finite(x) || given.values.size() > 700) return verdict.skip();
  Wide::bits = 300;
  WideMatrix A(given);
  WideMatrix B(right);
  WideMatrix X(x);
  const bool wide = given.rows < given.columns;
  const std::vector<long> powers = balance(A, wide);
  const auto smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  const double unit = error_unit<T>(one, given.rows, given.columns);
  const auto entries = static_cast<double>(given.rows * given.columns);
  for (Index j = 0; j < right.columns; ++j) {
    // Underflow in x is multiplied by its column.
    Wide lost;
    for (Index k = 0; k < given.columns; ++k) {
      Wide off(8 * smallest);
      if (!wide) {
        X.at(k, j).scale(powers[static_cast<std::size_t>(k)]);
        off.scale(powers[static_cast<std::size_t>(k)]);
      }
      lost = larger(lost, off);
    }
    WideMatrix r(given.rows, 1);
    for (Index i = 0; i < given.rows; ++i) {
      if (wide) B.at(i, j).scale(-powers[static_cast<std::size_t>(i)]);
      WideComplex sum;
      for (Index k = 0; k < given.columns; ++k) sum.add_product(A.at(i, k), X.at(k, j));
      r.at(i, 0) = B.at(i, j) - sum;
    }
    const Wide of_b = norm_of_column(B, j);
    const Wide size = of_b + Wide(entries) * norm_of_column(X, j);
    const Wide bound = (Wide(unit) * size + Wide(entries) * lost) * Wide(2.0);
    if (wide) {
      verdict.holds("A x = b", !(bound < norm_of_column(r, 0)), "column " + std::to_string(j));
      continue;
    }
    Wide most;
    for (Index k = 0; k < given.columns; ++k) {
      WideComplex inner;
      for (Index i = 0; i < given.rows; ++i) inner.add_product(A.at(i, k).conjugate(), r.at(i, 0));
      most = larger(most, inner.absolute());
    }
    // Elements of A are below one, so an element of b counts at most once per row.
    verdict.holds("A^H (b - A x) = 0", !(bound * Wide(static_cast<double>(given.rows + 2)) < most),
                  "column " + std::to_string(j));
    const double norm = norm_of_column(r, 0).to_double();
    const double off = (bound * Wide(static_cast<double>(given.rows + 2))).to_double();
    if (std::isfinite(2 * norm) && given.rows > given.columns) {
      verdict.holds(
          "residual norms",
          !(std::abs(report.residual_norms[static_cast<std::size_t>(j)] - norm) > off + 1e-6 * norm + 4 * smallest),
          shown(report.residual_norms[static_cast<std::size_t>(j)]) + ", true " + shown(norm));
    }
  }
}

void draw_any(Random& random, Case& one, bool least_squares) {
  const Index m = random.one_in(2) ? random.between(1, 12) : random.extent(40);
  const Index n = random.one_in(2) ? random.between(1, 8) : random.extent(24);
  Array& A = one.add("A", 'm', m, 'n', n);
  fill_system(random, one.type, A);
  if (random.one_in(2) && is_finite(A)) {
    scale_by_powers(random, one.type, A, static_cast<int>(random.between(1, range_of(one.type).largest / 2)), false);
    if (!is_finite(A)) fill_system(random, one.type, A);
  }
  if (least_squares) {
    Array& B = one.add("B", 'm', m, 'k', random.any_of(0L, 1L, 1L, 2L, 3L));
    fill_hard(random, one.type, B);
  }
  add_solve_knobs(random, one, {"A", "B"});
}

}  // namespace

void draw_qr(Random& random, Case& one) {
  draw_any(random, one, false);
}
HEDDLE_HUNT_RUN(qr, run_qr)
void draw_least_squares(Random& random, Case& one) {
  draw_any(random, one, true);
  one.add_knob("rounded", random.below(2));
}
HEDDLE_HUNT_RUN(least_squares, run_least_squares)

}  // namespace heddle::hunt
