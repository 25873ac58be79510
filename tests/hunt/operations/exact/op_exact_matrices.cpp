// Exact gemv, gemm and trsv: every element against the exact sum, rounded once.
#include "exact/matrices.hpp"
#include "hunt/operations.hpp"
#include <heddle/exact/distributed.hpp>
#include <heddle/exact/matrix.hpp>

#include <utility>

namespace heddle::hunt {
namespace {

using exact::Expected;

// Draw a factor: 0, 1, -1, or any number.
void draw_factor(Random& random, Case& one, const std::string& name) {
  Array& factor = one.add(name, '1', 1);
  fill_hard(random, one.type, factor);
  if (!random.one_in(4)) factor.values[0] = random.any_of(0.0, 1.0, 1.0, -1.0, 0.5);
}
template <Scalar T> T factor(const Case& one, const std::string& name) {
  return test::narrow<T>(one.array(name).values[0]);
}
// Return element (i, j) of op(X).
template <Scalar T> T element(const HostMatrix<T>& X, Operation op, Index i, Index j) {
  const auto at = [&](Index p, Index q) { return X(static_cast<std::size_t>(p), static_cast<std::size_t>(q)); };
  return op == Operation::none ? at(i, j) : op == Operation::transpose ? at(j, i) : conjugate(at(j, i));
}
// Make products with x cancel: every second column is minus the one before.
void cancel_columns(Random& random, Array& A, Array& x) {
  for (Index j = 1; j < A.columns; j += 2) {
    for (Index i = 0; i < A.rows; ++i) A.at(i, j) = random.one_in(6) ? A.at(i, j) : A.at(i, j - 1);
  }
  for (Index j = 1; j < x.rows; j += 2) {
    for (Index k = 0; k < x.columns; ++k) x.at(j, k) = -x.at(j - 1, k);
  }
}

void draw_products(Random& random, Case& one, long columns_of_b) {
  const auto op_a = random.below(3);
  const auto op_b = columns_of_b > 0 ? random.below(3) : 0;
  const Index m = random.extent(12);
  const Index k = random.extent(40);
  const Index n = columns_of_b > 0 ? random.extent(columns_of_b) : 1;
  const char n_label = columns_of_b > 0 ? 'n' : '1';
  Array A = one.add("A", 'm', m, 'k', k);
  Array B = one.add("B", 'k', k, n_label, n);
  one.arrays.clear();
  fill_hard(random, one.type, A);
  fill_hard(random, one.type, B);
  if (random.one_in(2)) cancel_columns(random, A, B);
  if (random.one_in(10)) sprinkle(random, one.type, random.one_in(2) ? A : B);
  const auto turned = [](const Array& X, bool turn) {
    if (!turn) return X;
    Array Y = X;
    std::swap(Y.rows, Y.columns);
    std::swap(Y.row_label, Y.column_label);
    for (Index j = 0; j < Y.columns; ++j) {
      for (Index i = 0; i < Y.rows; ++i) Y.at(i, j) = X.at(j, i);
    }
    return Y;
  };
  one.arrays.push_back(turned(A, op_a != 0));
  one.arrays.push_back(turned(B, op_b != 0));
  fill_hard(random, one.type, one.add("C", 'm', m, n_label, n));
  draw_factor(random, one, "alpha");
  draw_factor(random, one, "beta");
  // Shrinking must keep the operations, since shapes follow from them.
  one.add_knob("op_a", op_a, op_a);
  one.add_knob("op_b", op_b, op_b);
  one.add_knob("layout", random.below(layouts));
  one.add_knob("placement", random.below(100));
}

// Return one element of alpha op(A) op(B) + beta C, and whether to judge it.
template <Scalar T>
std::pair<T, bool> expected_element(const Case& one, const HostMatrix<T>& A, const HostMatrix<T>& B,
                                    const HostMatrix<T>& C, Index i, Index j, Index inner) {
  const T alpha = factor<T>(one, "alpha");
  const T beta = factor<T>(one, "beta");
  Expected<T> sum;
  bool finite = is_finite(alpha) && is_finite(beta);
  const T& c = C(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
  for (Index k = 0; k < inner && alpha != T(0); ++k) {
    const T a = element(A, one.op("op_a"), i, k);
    const T b = element(B, one.op("op_b"), k, j);
    finite = finite && is_finite(a) && is_finite(b);
    sum.add(a, b, alpha);
  }
  if (beta != T(0)) {
    finite = finite && is_finite(c);
    sum.add(beta, c);
  }
  // With infinities the result depends on how complex parts meet; only a non-finite result is promised.
  return {sum.value(), finite};
}
template <Scalar T>
void judge_products(Verdict& verdict, const std::string& property, const Case& one, const HostMatrix<T>& found) {
  const auto A = host_of<T>(one.array("A"));
  const auto B = host_of<T>(one.array("B"));
  const auto C = host_of<T>(one.array("C"));
  const Index inner = one.op("op_b") == Operation::none ? one.array("B").rows : one.array("B").columns;
  for (Index j = 0; j < static_cast<Index>(found.extent(1)); ++j) {
    for (Index i = 0; i < static_cast<Index>(found.extent(0)); ++i) {
      const auto [expected, judged] = expected_element(one, A, B, C, i, j, inner);
      const T& x = found(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      if (judged) {
        verdict.holds(property, same(x, expected), told<T>(i, j, x, expected));
      } else {
        verdict.holds(property + " of no numbers", is_finite(expected) || !is_finite(x), told<T>(i, j, x, expected));
      }
    }
  }
}

template <Scalar T> void run_gemv(const World& world, const Case& one, Verdict& verdict) {
  const Placed<T> A(one.array("A"), one.knob("layout"));
  const Placed<T> x(one.array("B"), one.knob("layout"));
  const Placed<T> y(one.array("C"), one.knob("layout"));
  const T alpha = factor<T>(one, "alpha");
  const T beta = factor<T>(one, "beta");
  exact::gemv(ExecutionSpace(), one.op("op_a"), alpha, A.matrix(), x.vector(), beta, y.vector());
  verdict.holds("writes its elements alone", y.rest_untouched());
  const auto found = y.read();
  judge_products<T>(verdict, "correctly rounded", one, found);
  const auto D = distributed<T>(world.all, one.array("A"), one.knob("placement"));
  std::vector<T> host_x;
  std::vector<T> host_y;
  for (const Value& value : one.array("B").values) host_x.push_back(test::narrow<T>(value));
  for (const Value& value : one.array("C").values) host_y.push_back(test::narrow<T>(value));
  exact::gemv<T>(world.all, one.op("op_a"), alpha, D, host_x, beta, host_y);
  for (std::size_t k = 0; k < host_y.size(); ++k) {
    verdict.holds("over ranks, the bits of one", same(host_y[k], found(k, 0)),
                  told<T>(static_cast<Index>(k), 0, host_y[k], found(k, 0)));
  }
}

template <Scalar T> void run_gemm(const World&, const Case& one, Verdict& verdict) {
  const Placed<T> A(one.array("A"), one.knob("layout"));
  const Placed<T> B(one.array("B"), (one.knob("layout") + one.knob("placement")) % layouts);
  const Placed<T> C(one.array("C"), one.knob("layout"));
  exact::gemm(ExecutionSpace(), one.op("op_a"), one.op("op_b"), factor<T>(one, "alpha"), A.matrix(), B.matrix(),
              factor<T>(one, "beta"), C.matrix());
  verdict.holds("writes its elements alone", C.rest_untouched());
  judge_products<T>(verdict, "correctly rounded", one, C.read());
}

void draw_triangle(Random& random, Case& one) {
  const Index n = random.extent(20);
  Array& A = one.add("A", 'n', n, 'n', n);
  fill_hard(random, one.type, A);
  if (random.one_in(2)) {
    for (Index i = 0; i < n; ++i) A.at(i, i) = random.any_of(1.0, -2.0, 3.0, 1e-3);
  }
  fill_hard(random, one.type, one.add("b", 'n', n));
  one.add_knob("upper", random.below(2));
  one.add_knob("op", random.below(3));
  one.add_knob("unit", random.below(2));
  one.add_knob("layout", random.below(layouts));
}
// Judge each element of x by the computed elements before it.
template <Scalar T> void run_trsv(const World&, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const Placed<T> A(given, one.knob("layout"));
  const Placed<T> x(one.array("b"), one.knob("layout"));
  const bool unit = one.knob("unit") != 0;
  exact::trsv(ExecutionSpace(), one.knob("upper") != 0 ? Triangle::upper : Triangle::lower, one.op("op"),
              unit ? Diagonal::unit : Diagonal::stored, A.matrix(), x.vector());
  verdict.holds("writes its elements alone", x.rest_untouched());
  const auto found = x.read();
  const auto host = host_of<T>(given);
  const auto b = host_of<T>(one.array("b"));
  const bool forward = (one.knob("upper") != 0) == (one.op("op") != Operation::none);
  for (Index i = 0; i < given.rows; ++i) {
    Expected<T> sum;
    bool finite = true;
    const auto at = static_cast<std::size_t>(i);
    sum.add(b(at, 0), T(1));
    for (Index k = forward ? 0 : i + 1; k < (forward ? i : given.rows); ++k) {
      const T a = element(host, one.op("op"), i, k);
      finite = finite && is_finite(a) && is_finite(found(static_cast<std::size_t>(k), 0));
      sum.add(-a, found(static_cast<std::size_t>(k), 0));
    }
    if (!finite || !is_finite(b(at, 0))) continue;
    if (unit) {
      verdict.holds("rounded once", same(found(at, 0), sum.value()), told<T>(i, 0, found(at, 0), sum.value()));
    } else if (is_finite(sum.value())) {
      judge_quotient<T>(verdict, "rounded twice", found(at, 0), sum.value(), element(host, one.op("op"), i, i));
    }
  }
}

}  // namespace

void draw_exact_gemv(Random& random, Case& one) {
  draw_products(random, one, 0);
}
HEDDLE_HUNT_RUN(exact_gemv, run_gemv)
void draw_exact_gemm(Random& random, Case& one) {
  draw_products(random, one, 12);
}
HEDDLE_HUNT_RUN(exact_gemm, run_gemm)
void draw_exact_trsv(Random& random, Case& one) {
  draw_triangle(random, one);
}
HEDDLE_HUNT_RUN(exact_trsv, run_trsv)

}  // namespace heddle::hunt
