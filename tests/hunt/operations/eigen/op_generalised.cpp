// Pencils H C = S C diag(w): overlaps of every condition, graded, definite and not, by all methods.
#include "hunt/matrices.hpp"
#include "hunt/operations.hpp"
#include "hunt/operations/eigen/spectra.hpp"
#include <heddle/eigen/generalised.hpp>

namespace heddle::hunt {
namespace {

using eigen::JacobiAccuracy;
using eigen::JacobiMethod;
using eigen::JacobiOptions;

// Scale A to D A D, D of powers of two from 2^-most to 2^most, in the case's type.
void grade(Random& random, Type type, Array& A, long most) {
  std::vector<int> d;
  for (Index i = 0; i < A.rows; ++i) d.push_back(static_cast<int>(random.between(-most, most)));
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      const int by = d[static_cast<std::size_t>(i)] + d[static_cast<std::size_t>(j)];
      const Value x = in_type(A.at(i, j), type);
      A.at(i, j) = {std::ldexp(x.real(), by), std::ldexp(x.imag(), by)};
    }
  }
}
// Fill A with the sum of share^k v_k v_k^H over vectors of random numbers, or of numbers close to 1: positive definite
// up to rounding, with a condition of about share^-n.
void fill_definite(Random& random, Type type, Array& A) {
  const double digits = range_of(type).digits == 24 ? 6 : 15;
  const double condition = std::pow(10.0, -digits * 0.5 * (random.unit() + 1));
  const bool is_close = random.one_in(4);
  const Index n = A.rows;
  for (Index k = 0; k < n; ++k) {
    const double share = std::pow(condition, n > 1 ? static_cast<double>(k) / static_cast<double>(n - 1) : 0.0);
    std::vector<Value> v;
    for (Index i = 0; i < n; ++i) {
      const Value x(random.unit(), is_complex_type(type) ? random.unit() : 0.0);
      v.push_back(is_close && k == 0 ? Value(1.0) : x);
    }
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        A.at(i, j) += share * v[static_cast<std::size_t>(i)] * std::conj(v[static_cast<std::size_t>(j)]);
      }
    }
  }
  for (Index j = 0; j < n; ++j) {
    A.at(j, j) = A.at(j, j).real();
    for (Index i = 0; i < j; ++i) A.at(j, i) = std::conj(A.at(i, j));
  }
  const bool is_float = range_of(type).digits == 24;
  grade(random, type, A, random.any_of(0L, 3L, is_float ? 14L : 100L, is_float ? 20L : 180L));
  A.mirror = Mirror::hermitian;
}

void draw_pencil(Random& random, Case& one) {
  const Index n = random.one_in(12) ? random.between(8, 12) : random.between(1, 7);
  fill_definite(random, one.type, one.add("S", 'n', n, 'n', n));
  Array& H = one.add("H", 'n', n, 'n', n);
  if (random.one_in(2)) {
    fill_definite(random, one.type, H);
  } else {
    fill_hermitian(random, one.type, H);
  }
  // Rows of zeros.
  for (Index i = 0; i < n && random.one_in(8); ++i) {
    for (Index j = 0; j < n; ++j) H.at(i, j) = H.at(j, i) = 0.0;
  }
  one.add_knob("method", random.any_of(0L, random.below(6)));
  one.add_knob("accuracy", random.any_of(0L, 0L, 1L, 2L));
  one.add_knob("upper", random.below(2));
  one.add_knob("reproducible", random.below(2));
  one.add_knob("layout", random.below(layouts));
  one.add_knob("values only", random.one_in(4) ? 1 : 0);
}

// Return powers of two that bring the diagonal of S between 1 and 4.
std::vector<int> exponents_of_diagonal(const Array& S) {
  std::vector<int> exponents;
  for (Index i = 0; i < S.rows; ++i) {
    exponents.push_back(static_cast<int>(std::floor(std::ilogb(S.at(i, i).real()) / 2.0)));
  }
  return exponents;
}
Long times_power(const Long& x, int exponent) {
  return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
}
long double frobenius(const LongMatrix& X) {
  long double sum = 0;
  for (const auto& x : X.values) sum += std::norm(x);
  return std::sqrt(sum);
}

// Check the two promises for every pair, with matrices and vectors scaled by the diagonal of S.
template <Scalar T> void judge_pairs(Verdict& verdict, const Array& H, const Array& S, const FoundEigen<T>& found) {
  const Index n = H.rows;
  const std::vector<int> d = exponents_of_diagonal(S);
  const auto exponent = [&](Index i) { return d[static_cast<std::size_t>(i)]; };
  LongMatrix A(H);
  LongMatrix B(S);
  LongMatrix C(found.V);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      A.at(i, j) = times_power(A.at(i, j), -exponent(i) - exponent(j));
      B.at(i, j) = times_power(B.at(i, j), -exponent(i) - exponent(j));
      C.at(i, j) = times_power(C.at(i, j), exponent(i));
    }
  }
  const LongMatrix minus_BC = less_product(LongMatrix(n, n), B, C);
  std::vector<double> minus_w(found.w.size());
  std::transform(found.w.begin(), found.w.end(), minus_w.begin(), [](double value) { return -value; });
  const LongMatrix residuals = less_product(times_diagonal(minus_BC, minus_w), A, C);
  const LongMatrix inner = less_product(LongMatrix(n, n), adjoint(C), minus_BC);
  const auto length_of = [&](const LongMatrix& X, Index j) {
    long double sum = 0;
    for (Index i = 0; i < n; ++i) sum += std::norm(X.at(i, j));
    return std::sqrt(sum);
  };
  const long double nu = static_cast<long double>(n) * static_cast<long double>(unit_roundoff<T>);
  const auto least = static_cast<long double>(std::numeric_limits<Real<T>>::denorm_min());
  for (Index j = 0; j < n; ++j) {
    const long double length = length_of(C, j);
    const long double w = std::abs(static_cast<long double>(found.w[static_cast<std::size_t>(j)]));
    const long double allowed = (nu * 10 * (frobenius(A) + w * frobenius(B)) + least * frobenius(B)) * length;
    verdict.within("residual", static_cast<double>(allowed > 0 ? length_of(residuals, j) / allowed : 0), 1.0);
    for (Index i = 0; i < n; ++i) {
      const long double off = std::abs(inner.at(i, j) - (i == j ? 1.0L : 0.0L));
      verdict.within("orthogonality", static_cast<double>(off / (10 * nu * frobenius(B) * length_of(C, i) * length)),
                     1.0);
    }
  }
}

template <Scalar T> void run(const World& world, const Case& one, Verdict& verdict) {
  const Array& H = one.array("H");
  const Array& S = one.array("S");
  const auto n = static_cast<std::size_t>(H.rows);
  for (Index i = 0; i < S.rows; ++i) {
    if (!(S.at(i, i).real() > 0)) return verdict.skip();
  }
  const Placed<T> placed_H(H, one.knob("layout"));
  const Placed<T> placed_S(S, one.knob("layout"));
  Array zero = H;
  std::fill(zero.values.begin(), zero.values.end(), Value(0.0));
  const Placed<T> C(zero, one.knob("layout"));
  JacobiOptions options;
  options.method = static_cast<JacobiMethod>(one.knob("method"));
  options.accuracy = static_cast<JacobiAccuracy>(one.knob("accuracy"));
  options.upper = one.knob("upper") != 0;
  options.reproducible = one.knob("reproducible") != 0 && options.method != JacobiMethod::preconditioned;
  const bool vectors = one.knob("values only") == 0;
  const Kokkos::View<Real<T>*, MemorySpace> w("heddle::hunt::w", n);
  eigen::JacobiGeneralisedReport report;
  const ExecutionSpace space;
  const Thrown thrown = thrown_by([&] {
    report = vectors ? eigen::jacobi(space, placed_H.matrix(), placed_S.matrix(), w, C.matrix(), options)
                     : eigen::jacobi_values(space, placed_H.matrix(), placed_S.matrix(), w, options);
  });
  if (!world.root()) return;
  const double nu = static_cast<double>(std::max<std::size_t>(n, 1)) * static_cast<double>(unit_roundoff<T>);
  const double condition_of_S = n == 0 ? 1 : eigen_truth(S).condition;
  const double condition_of_H = n == 0 ? 1 : eigen_truth(H).condition;
  if (thrown.any) {
    const bool about_S = thrown.message.find("S is not positive definite") != std::string::npos;
    const bool about_H = options.accuracy == JacobiAccuracy::relative && !about_S;
    verdict.holds("refuses overlaps that are singular, and accuracies out of reach, alone",
                  thrown.kind == ErrorKind::argument &&
                      ((about_S && !(condition_of_S > 0 && condition_of_S * nu < 0.01)) || about_H),
                  thrown.message);
    return;
  }
  verdict.holds("converges", report.converged);
  if (!report.converged) return;
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), w);
  FoundEigen<T> found;
  for (std::size_t i = 0; i < n; ++i) found.w.push_back(static_cast<double>(values(i)));
  verdict.holds("ascending", std::is_sorted(found.w.begin(), found.w.end()));
  const double most = static_cast<double>(std::numeric_limits<Real<T>>::max());
  for (const double value : found.w) {
    if (!(std::abs(value) < most / 2)) return verdict.skip();
  }
  if (vectors) {
    verdict.holds("C is written alone", C.rest_untouched());
    found.V = C.read();
    judge_pairs<T>(verdict, H, S, found);
  }
  if (report.accuracy != JacobiAccuracy::relative || !(condition_of_S > 0) || !(condition_of_H > 0)) return;
  const auto exact = wide_eigenvalues(H, S);
  verdict.holds("S has a factor", exact.has_value());
  for (std::size_t i = 0; exact && i < n; ++i) {
    const double value = (*exact)[i].to_double();
    if (!(value > static_cast<double>(std::numeric_limits<Real<T>>::min()))) continue;
    const double error = (Wide(found.w[i]) - (*exact)[i]).absolute().to_double();
    const std::string text =
        "eigenvalue " + std::to_string(i) + " found " + shown(found.w[i]) + ", expected " + shown(value);
    verdict.within("eigenvalues, relative", error / value, 10 * nu * (condition_of_H + condition_of_S), text);
  }
}

}  // namespace

void draw_generalised(Random& random, Case& one) {
  draw_pencil(random, one);
}
HEDDLE_HUNT_RUN(generalised, run)

}  // namespace heddle::hunt
