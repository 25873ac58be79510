// Exact LU: every element against its definition from the computed factors; solutions and condition numbers.
#include "hunt/matrices.hpp"
#include "hunt/operations.hpp"
#include <heddle/exact/lu.hpp>

namespace heddle::hunt {
namespace {

using exact::LuResult;

void draw_system(Random& random, Case& one, bool square) {
  const Index m = random.extent(24);
  const Index n = square ? m : random.extent(24);
  Array& A = one.add("A", 'm', m, square ? 'm' : 'n', n);
  if (square && random.one_in(3)) {
    fill_general(random, one.type, A, range_of(one.type).digits == 24 ? 1e30 : 1e300);
    A.mirror = Mirror::none;
  } else {
    fill_hard(random, one.type, A);
  }
  // Repeated rows make sums cancel and pivots equal.
  for (Index i = 1; i < m && random.one_in(3); ++i) {
    for (Index j = 0; j < n; ++j) A.at(i, j) = A.at(i - 1, j);
  }
  if (random.one_in(12)) sprinkle(random, one.type, A);
  fill_hard(random, one.type, one.add("b", 'm', m));
  one.add_knob("layout", random.below(layouts));
  one.add_knob("block", random.any_of(0L, 1L, 2L, 7L, 32L));
}

template <Scalar T> double size_of(const T& x) {
  return std::abs(static_cast<double>(Kokkos::real(x))) + std::abs(static_cast<double>(Kokkos::imag(x)));
}
// Return |x| as pivots are compared: |real| + |imaginary| in the type's own precision.
template <Scalar T> Real<T> pivot_size(const T& x) {
  if constexpr (is_complex<T>) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else {
    return std::abs(x);
  }
}

template <Scalar T>
void judge_factors(Verdict& verdict, const HostMatrix<T>& A, const HostMatrix<T>& LU, const LuResult& result) {
  const auto m = static_cast<Index>(A.extent(0));
  const auto n = static_cast<Index>(A.extent(1));
  const Index steps = std::min(m, n);
  verdict.holds("as many pivots as steps", static_cast<Index>(result.pivots.size()) == steps);
  if (static_cast<Index>(result.pivots.size()) != steps) return;
  for (Index k = 0; k < steps; ++k) {
    const Index p = result.pivots[static_cast<std::size_t>(k)];
    verdict.holds("pivots are rows below", p >= k && p < m);
    if (p < k || p >= m) return;
    for (Index j = 0; j < n; ++j) std::swap(A(k, j), A(p, j));
  }
  Index first_zero = 0;
  for (Index j = 0; j < n; ++j) {
    const T pivot = j < steps ? LU(j, j) : T(0);
    if (j < steps && first_zero == 0 && pivot == T(0)) first_zero = j + 1;
    for (Index i = 0; i < m; ++i) {
      ExactSum<T> sum;
      bool finite = is_finite(A(i, j));
      sum.add(A(i, j));
      for (Index k = 0; k < std::min(i, j); ++k) {
        finite = finite && is_finite(LU(i, k)) && is_finite(LU(k, j));
        sum.add_product(-LU(i, k), LU(k, j));
      }
      if (!finite) continue;
      const T value = sum.value();
      if (i <= j) {
        verdict.holds("U rounded once", same(LU(i, j), value), told<T>(i, j, LU(i, j), value));
      } else if (j < steps) {
        if (pivot != T(0) && is_finite(pivot) && is_finite(value)) {
          judge_quotient<T>(verdict, "L rounded twice", LU(i, j), value, pivot);
        }
        if (is_finite(pivot) && is_finite(value)) {
          verdict.holds("pivots are the largest", !(pivot_size(value) > pivot_size(pivot)),
                        told<T>(i, j, value, pivot));
        }
      }
    }
  }
  verdict.holds("info", result.info == first_zero,
                "found " + std::to_string(result.info) + ", expected " + std::to_string(first_zero));
}

template <Scalar T> void run_exact_lu(const World&, const Case& one, Verdict& verdict) {
  const ExecutionSpace space;
  const Placed<T> A(one.array("A"), one.knob("layout"));
  const LuResult result = exact::lu(space, A.matrix(), {.block = static_cast<int>(one.knob("block"))});
  verdict.holds("writes its elements alone", A.rest_untouched());
  const auto LU = A.read();
  judge_factors<T>(verdict, host_of<T>(one.array("A")), LU, result);
  const Placed<T> again(one.array("A"), 0);
  const LuResult plain = exact::lu(one_thread(), again.matrix());
  verdict.holds("the same bits for any layout, block and threads",
                difference(LU, again.read()).empty() && plain.pivots == result.pivots, difference(LU, again.read()));
  const Array& given = one.array("A");
  const Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace> batch(
      "heddle::hunt::batch", 2, static_cast<std::size_t>(given.rows), static_cast<std::size_t>(given.columns));
  const auto mirror = Kokkos::create_mirror_view(batch);
  const auto host = host_of<T>(given);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t j = 0; j < host.extent(1); ++j) {
      for (std::size_t i = 0; i < host.extent(0); ++i) mirror(b, i, j) = host(i, j);
    }
  }
  Kokkos::deep_copy(batch, mirror);
  const auto results = exact::lu_batched(space, batch);
  Kokkos::deep_copy(mirror, batch);
  for (std::size_t b = 0; b < results.size(); ++b) {
    const auto found = test::host_matrix<T>(given.rows, given.columns, [&](Index i, Index j) {
      return mirror(b, static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    });
    verdict.holds("batched, the same", difference(found, LU).empty() && results[b].pivots == result.pivots,
                  difference(found, LU));
  }
}

template <Scalar T> void run_solve(const World&, const Case& one, Verdict& verdict) {
  const ExecutionSpace space;
  const Array& given = one.array("A");
  const auto A = host_of<T>(given);
  const auto b = host_of<T>(one.array("b"));
  const Placed<T> pA(given, one.knob("layout"));
  const Placed<T> pb(one.array("b"), one.knob("layout"));
  const Placed<T> px(one.array("b"), one.knob("layout"));
  const auto result = exact::solve(space, pA.matrix(), pb.vector(), px.vector());
  verdict.holds("A and b stay as they are", difference(pA.read(), A).empty() && difference(pb.read(), b).empty());
  verdict.holds("writes its elements alone", px.rest_untouched());
  const Placed<T> again(given, 0);
  const LuResult factors = exact::lu(space, again.matrix());
  verdict.holds("info as of lu()", factors.info == result.info);
  if (result.info != 0) {
    verdict.holds("x is not written where A is singular", difference(px.read(), b).empty(), difference(px.read(), b));
    return;
  }
  if (!is_finite(given) || !is_finite(one.array("b")) || given.rows == 0) return;
  const auto x = px.read();
  for (Index i = 0; i < given.rows; ++i) {
    if (!is_finite(x(i, 0))) return;
  }
  // max |b - A x|_i / (|A| |x| + |b|)_i
  Wide::bits = 6500;
  double error = 0;
  for (Index i = 0; i < given.rows; ++i) {
    WideComplex residual(test::widen(b(i, 0)));
    Wide size = residual.absolute();
    for (Index j = 0; j < given.columns; ++j) {
      const WideComplex a(test::widen(A(i, j)));
      const WideComplex y(test::widen(x(j, 0)));
      residual = residual - a * y;
      size += a.absolute() * y.absolute();
    }
    if (!size.is_zero()) error = std::max(error, (residual.absolute() / size).to_double());
  }
  // One rounding: the report may be off by a few units of T; sizes of complex numbers may be |re| + |im|.
  const double u = static_cast<double>(unit_roundoff<T>);
  const double slack = is_complex<T> ? 2.0 : 1.0 + 8 * u;
  const double nothing = u * u * u;
  verdict.holds("backward error reported is the true one",
                result.backward_error <= error * slack + nothing && error <= result.backward_error * slack + nothing,
                "reported " + shown(result.backward_error) + ", true " + shown(error));
}

// Compare condition() with |A|_1 |A^-1|_1.
template <Scalar T> void run_exact_condition(const World&, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  if (given.rows == 0 || given.rows > 12 || !is_finite(given)) return verdict.skip();
  const ExecutionSpace space;
  const Placed<T> A(given, one.knob("layout"));
  Wide::bits = 2300;
  const Wide norm = norm1(WideMatrix(given));
  const LuResult result = exact::lu(space, A.matrix());
  if (result.info == 0 && norm.is_zero()) return verdict.skip();
  const int power = norm.is_zero() ? 0 : static_cast<int>(norm.exponent());
  Wide fraction = norm;
  fraction.scale(-power);
  const double found = exact::condition(space, A.matrix(), result, fraction.to_double(), power);
  if (result.info > 0) {
    verdict.holds("infinite where singular", std::isinf(found) && found > 0, "found " + shown(found));
    return;
  }
  const auto inverse = wide_inverse(given);
  if (!inverse) return verdict.skip();
  const double truth = (norm1(*inverse) * norm).to_double();
  const auto factors = A.read();
  for (Index j = 0; j < given.columns; ++j) {
    for (Index i = 0; i < given.rows; ++i) {
      if (!is_finite(factors(i, j))) return verdict.skip();
    }
  }
  // The estimate uses factors that are exact for a matrix off by u |L| |U|, or by n times the smallest number; its
  // accuracy is judged only as far as that matrix stays regular.
  const Wide smallest(static_cast<double>(std::numeric_limits<Real<T>>::denorm_min()));
  const double rounding =
      std::max(static_cast<double>(unit_roundoff<T>), static_cast<double>(given.rows) * (smallest / norm).to_double());
  if (!(truth * rounding < 0.01)) return verdict.skip();
  verdict.holds("never below 1", found >= 1, "found " + shown(found));
  verdict.holds("from below", found <= truth * 1.1, "found " + shown(found) + ", true " + shown(truth));
  verdict.holds("not far below", found >= truth / 20, "found " + shown(found) + ", true " + shown(truth));
}

}  // namespace

void draw_exact_lu(Random& random, Case& one) {
  draw_system(random, one, random.one_in(2));
}
HEDDLE_HUNT_RUN(exact_lu, run_exact_lu)
void draw_exact_solve(Random& random, Case& one) {
  draw_system(random, one, true);
}
HEDDLE_HUNT_RUN(exact_solve, run_solve)
void draw_exact_condition(Random& random, Case& one) {
  draw_system(random, one, true);
}
HEDDLE_HUNT_RUN(exact_condition, run_exact_condition)

}  // namespace heddle::hunt
