// Distributed products, native and emulated: errors within their bounds, promised bits.
#include "hunt/operations.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/gemm/gemm.hpp>

#include <algorithm>

namespace heddle::hunt {
namespace {

Array turned(const Array& X, bool turn) {
  if (!turn) return X;
  Array Y = X;
  std::swap(Y.rows, Y.columns);
  std::swap(Y.row_label, Y.column_label);
  for (Index j = 0; j < Y.columns; ++j) {
    for (Index i = 0; i < Y.rows; ++i) Y.at(i, j) = X.at(j, i);
  }
  return Y;
}
// Scale rows of A and columns of B by separate exponents, which vary within them too.
void grade(Random& random, Type type, Array& X) {
  const int range = range_of(type).largest / 4;
  const bool rows = random.one_in(2);
  std::vector<int> e(static_cast<std::size_t>(rows ? X.rows : X.columns));
  for (int& exponent : e) exponent = static_cast<int>(random.between(-range, range));
  for (Index j = 0; j < X.columns; ++j) {
    for (Index i = 0; i < X.rows; ++i) {
      const int shift = e[static_cast<std::size_t>(rows ? i : j)];
      X.at(i, j) = in_type(Value(std::ldexp(X.at(i, j).real(), shift), std::ldexp(X.at(i, j).imag(), shift)), type);
    }
  }
}
void draw_factors(Random& random, Case& one, long most_inner) {
  const long op_a = random.below(3);
  const long op_b = random.below(3);
  const Index m = random.extent(33);
  const Index n = random.extent(33);
  const Index k = random.extent(most_inner);
  Array A = one.add("A", 'm', m, 'k', k);
  Array B = one.add("B", 'k', k, 'n', n);
  one.arrays.clear();
  fill_hard(random, one.type, A);
  fill_hard(random, one.type, B);
  if (random.one_in(3)) grade(random, one.type, A);
  if (random.one_in(3)) grade(random, one.type, B);
  // Columns of A and rows of B in pairs whose products cancel.
  for (Index j = 1; j < k && random.one_in(4); j += 2) {
    for (Index i = 0; i < m; ++i) A.at(i, j) = A.at(i, j - 1);
    for (Index i = 0; i < n; ++i) B.at(j, i) = random.one_in(9) ? B.at(j, i) : -B.at(j - 1, i);
  }
  if (random.one_in(12)) sprinkle(random, one.type, random.one_in(2) ? A : B);
  one.arrays = {turned(A, op_a != 0), turned(B, op_b != 0)};
  fill_hard(random, one.type, one.add("C", 'm', m, 'n', n));
  Value alpha = random.any_of(1.0, 1.0, 1.0, -1.0, 0.75, 0.0, 2.0);
  if (is_complex_type(one.type) && random.one_in(4)) alpha = Value(0.5, -1.25);
  one.add("alpha", '1', 1).values[0] = alpha;
  one.add("beta", '1', 1).values[0] = random.any_of(0.0, 0.0, 0.0, 1.0, -0.5);
  one.add_knob("op_a", op_a, op_a);
  one.add_knob("op_b", op_b, op_b);
}

void draw_distributed(Random& random, Case& one) {
  draw_factors(random, one, random.one_in(20) ? 600 : 40);
  one.add_knob("tile", random.any_of(64L, 1L, 3L, 7L, 16L, 33L), 64);
  one.add_knob("bands", random.below(3));
  one.add_knob("layers", random.one_in(3) ? random.between(2, 5) : 1, 1);  // of native products
  one.add_knob("arithmetic", random.below(4), 0);  // native, emulated, automatic, emulated by slices
  one.add_knob("moduli", random.one_in(3) ? random.between(7, 31) : 0);
  one.add_knob("fallback", random.below(3));
  one.add_knob("look", random.one_in(4) ? 1 : 0);  // 1: none
  one.add_knob("place A", random.below(100));
  one.add_knob("place B", random.below(100));
  one.add_knob("place C", random.below(100));
}

GemmOptions gemm_options_of(const Case& one) {
  GemmOptions options;
  options.tile = one.knob("tile");
  options.bands_per_pass = static_cast<int>(one.knob("bands"));
  options.rates = some_rates(one.knob("fallback") != 1);
  const long arithmetic = one.knob("arithmetic");
  options.arithmetic = arithmetic == 0   ? Arithmetic::native
                       : arithmetic == 2 ? Arithmetic::automatic
                                         : Arithmetic::emulated;
  if (arithmetic == 0) {
    const Array& B = one.array("B");
    const Index inner = one.op("op_b") == Operation::none ? B.rows : B.columns;
    options.layers = static_cast<int>(std::clamp<Index>(one.knob("layers"), 1, std::max(inner, Index{1})));
  }
  options.emulation.scheme = arithmetic == 3 ? EmulationScheme::slices : EmulationScheme::residues;
  options.emulation.moduli = static_cast<int>(one.knob("moduli"));
  options.emulation.fallback = static_cast<Fallback>(one.knob("fallback"));
  options.emulation.look = one.knob("look") == 0;
  return options;
}

// The factors op(A), op(B) with exact elements.
struct Factors {
  WideMatrix A, B;
  Operation op_a, op_b;
  Index inner;
  [[nodiscard]] WideComplex a(Index i, Index k) const { return element(A, op_a, i, k); }
  [[nodiscard]] WideComplex b(Index k, Index j) const { return element(B, op_b, k, j); }
  static WideComplex element(const WideMatrix& X, Operation op, Index i, Index j) {
    return op == Operation::none ? X.at(i, j) : op == Operation::transpose ? X.at(j, i) : X.at(j, i).conjugate();
  }
};

// Reference of an element, and the sizes in its bounds.
struct Element {
  WideComplex exact;    // of alpha op(A) op(B) + beta C
  WideComplex product;  // of op(A) op(B)
  double terms = 0;     // sum |a_k b_k|
  double norms = 0;     // |a|_2 |b|_2
  double factors = 0;   // sum |a_k| + sum |b_k|
  double largest = 0;   // largest possible partial sum: sum (|re| + |im|)(...), and beta C
  bool finite = true;   // its row, column and own C
};
Element element_of(const Case& one, const Factors& factors, Index i, Index j) {
  Element e;
  Wide terms;
  Wide a_square;
  Wide b_square;
  Wide sizes;
  Wide elements;
  for (Index k = 0; k < factors.inner; ++k) {
    const WideComplex a = factors.a(i, k);
    const WideComplex b = factors.b(k, j);
    e.product.add_product(a, b);
    elements += a.absolute() + b.absolute();
    const Wide term = a.absolute() * b.absolute();
    terms += term;
    sizes += (a.re.absolute() + a.im.absolute()) * (b.re.absolute() + b.im.absolute());
    a_square += a.square();
    b_square += b.square();
  }
  const Value alpha = one.array("alpha").values[0];
  const Value beta = one.array("beta").values[0];
  const Value c = one.array("C").at(i, j);
  e.finite = sizes.is_number();
  e.exact = WideComplex(alpha) * e.product;
  if (beta != 0.0) e.exact.add_product(WideComplex(beta), WideComplex(c));
  e.terms = terms.to_double();
  e.norms = (a_square * b_square).root().to_double();
  e.factors = elements.to_double();
  e.largest =
      sizes.to_double() * std::max(1.0, 2 * std::abs(alpha)) + (beta == 0.0 ? 0.0 : 2 * std::abs(beta) * std::abs(c));
  return e;
}
// 128 bits lose less than 2^-70 of a bound as large as the terms; exact sums are compared with all bits.
Factors factors_of(const Case& one, bool exact) {
  Wide::bits = exact ? 6600 : 128;
  const Array& B = one.array("B");
  return {WideMatrix(one.array("A")), WideMatrix(B), one.op("op_a"), one.op("op_b"),
          one.op("op_b") == Operation::none ? B.rows : B.columns};
}

// Return the classical bound of a sum of `inner` products in any order, with fused or plain operations, then alpha
// times it plus beta C (N. Higham, Accuracy and Stability, 3.1 and 3.6: complex products add sqrt(2) gamma_2 each),
// plus half the smallest number for each operation that underflows. A BLAS may multiply a factor by alpha first, as the
// reference BLAS does; underflow there is multiplied by the other factor.
template <Scalar T> double classical_bound(const Case& one, const Element& e, Index i, Index j, Index inner) {
  const double u = static_cast<double>(unit_roundoff<T>);
  const double smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  const double alpha = std::abs(one.array("alpha").values[0]);
  const double terms = alpha == 0 ? 0.0 : e.terms;
  const double beta = std::abs(one.array("beta").values[0]);
  const double operations =
      (is_complex<T> ? 1.5 * (static_cast<double>(2 * inner) + 8) : static_cast<double>(inner) + 4);
  const double c = beta == 0 ? 0.0 : beta * std::abs(one.array("C").at(i, j));
  const double scaled_factors = alpha == 0 || alpha == 1 ? 0.0 : 2 * e.factors;
  return 1.01 * operations * u * (alpha * terms + c) +
         smallest * (8 * (static_cast<double>(inner) + 4) * std::max(alpha, 1.0) + scaled_factors);
}

template <Scalar T>
void judge(Verdict& verdict, const Case& one, const HostMatrix<T>& found, const GemmReport& report, bool emulated) {
  const Factors factors = factors_of(one, report.emulation.fallback == Fallback::exact);
  const double u = static_cast<double>(unit_roundoff<T>);
  const double smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  const double largest = static_cast<double>(std::numeric_limits<Real<T>>::max());
  const Value alpha = one.array("alpha").values[0];
  const Value beta = one.array("beta").values[0];
  for (Index j = 0; j < static_cast<Index>(found.extent(1)); ++j) {
    for (Index i = 0; i < static_cast<Index>(found.extent(0)); ++i) {
      const T& x = found(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      Element e = element_of(one, factors, i, j);
      const double c_size = beta == 0.0 ? 0.0 : std::abs(beta) * std::abs(one.array("C").at(i, j));
      if (!std::isfinite(c_size)) continue;
      if (alpha == 0.0) e.finite = true, e.largest = 2 * c_size;
      if (!e.finite) {
        if (alpha != 0.0)
          verdict.holds("no number from NaN and infinity", !is_finite(x),
                        told<T>(i, j, x, std::string("NaN or infinity")));
        continue;
      }
      if (!(e.largest < largest)) continue;  // partial sums may overflow
      WideComplex off(test::widen(x));
      if (alpha == 0.0)
        e.exact = beta == 0.0 ? WideComplex() : WideComplex(beta) * WideComplex(one.array("C").at(i, j));
      off = off - e.exact;
      const double error = off.absolute().to_double();
      const double size = e.exact.absolute().to_double();
      const std::string text = told<T>(i, j, x, shown(Value(e.exact.re.to_double(), e.exact.im.to_double())));
      if (!emulated || alpha == 0.0 || report.emulation.fallback == Fallback::native) {
        verdict.within("native error", error, classical_bound<T>(one, e, i, j, alpha == 0.0 ? 0 : factors.inner), text);
      } else if (report.emulation.fallback == Fallback::exact) {
        // The tile is rounded once, alpha included; adding beta C on its rank takes another rounding.
        const double product = c_size == 0 ? 0.0 : std::abs(alpha) * e.product.absolute().to_double();
        verdict.within(
            "exact fallback", error,
            (is_complex<T> ? 1.4143 : 1.0) * u * (size + 1.01 * product + (is_complex<T> ? 2 * c_size : 0.0)) +
                2 * smallest,
            text);
      } else if (alpha == 1.0 && beta == 0.0) {
        verdict.within("emulated error", error,
                       report.emulation.error_bound * e.norms + u * size * (is_complex<T> ? 1.4143 : 1.0) + smallest,
                       text);
      } else {
        // Three roundings: the product to T, alpha times it, and the addition of beta C.
        const double product = e.product.absolute().to_double();
        verdict.within("emulated error, scaled", error,
                       std::abs(alpha) * report.emulation.error_bound * e.norms +
                           (is_complex<T> ? 6.0 : 3.1) * u * (std::abs(alpha) * product + c_size) + 8 * smallest,
                       text);
      }
    }
  }
}

template <Scalar T> void gemm_distributed(const World& world, const Case& one, Verdict& verdict) {
  const auto A = distributed<T>(world.all, one.array("A"), one.knob("place A"));
  const auto B = distributed<T>(world.all, one.array("B"), one.knob("place B"));
  const auto C = distributed<T>(world.all, one.array("C"), one.knob("place C"));
  const T alpha = test::narrow<T>(one.array("alpha").values[0]);
  const T beta = test::narrow<T>(one.array("beta").values[0]);
  GemmOptions options = gemm_options_of(one);
  const auto in_host_memory = [](const DistributedMatrix<T>& X) {
    return X.placement().residence() == Residence::host;
  };
  // Products in host memory refuse layers.
  if (in_host_memory(A) || in_host_memory(B) || in_host_memory(C)) options.layers = 1;
  if (one.knob("arithmetic") == 3 && options.arithmetic == Arithmetic::automatic) return verdict.skip();
  GemmReport report;
  const Thrown thrown =
      thrown_by([&] { report = gemm(world.all, one.op("op_a"), one.op("op_b"), alpha, A, B, beta, C, options); });
  verdict.holds("does not throw", !thrown.any, thrown.message);
  if (thrown.any) return;
  const auto found = gather(C, 0);
  const bool emulated = report.arithmetic == Arithmetic::emulated;
  if (world.root()) judge<T>(verdict, one, found, report, emulated);
  verdict.holds("inputs stay",
                difference(gather(A, 0), world.root() ? host_of<T>(one.array("A")) : HostMatrix<T>()).empty());
  // On one rank with A, B and C whole, the bits agree at equal tiles; bits of emulated products agree at any tile.
  if (options.arithmetic == Arithmetic::automatic) return;
  if (emulated && report.emulation.fallback != Fallback::native) options.tile = 17;
  options.bands_per_pass = 0;
  const Communicator& comm = emulated && report.emulation.fallback != Fallback::native ? world.single : world.alone;
  const auto A1 = distributed<T>(comm, one.array("A"), 0);
  const auto B1 = distributed<T>(comm, one.array("B"), 0);
  const auto C1 = distributed<T>(comm, one.array("C"), 0);
  const GemmReport alone = gemm(comm, one.op("op_a"), one.op("op_b"), alpha, A1, B1, beta, C1, options);
  if (!world.root()) return;
  const auto expected = gather(C1, 0);
  verdict.holds(emulated ? "the same bits on one rank and thread, at any tile" : "the same bits on one rank",
                difference(found, expected).empty(), difference(found, expected));
  verdict.holds("the same moduli on one rank", !emulated || report.emulation.moduli == alone.emulation.moduli,
                std::to_string(report.emulation.moduli) + " and " + std::to_string(alone.emulation.moduli));
}

void draw_local(Random& random, Case& one) {
  draw_factors(random, one, 40);
  one.add_knob("padding", random.below(2));
}
// MatrixViews have contiguous columns: the padded layout, or the plain one.
template <Scalar T> void gemm_local(const World&, const Case& one, Verdict& verdict) {
  const long layout = one.knob("padding") != 0 ? 2 : 0;
  const Placed<T> A(one.array("A"), layout);
  const Placed<T> B(one.array("B"), layout);
  const Placed<T> C(one.array("C"), layout);
  const ExecutionSpace space;
  const T alpha = test::narrow<T>(one.array("alpha").values[0]);
  const T beta = test::narrow<T>(one.array("beta").values[0]);
  blas::gemm<T>(space, one.op("op_a"), one.op("op_b"), alpha, A.matrix(), B.matrix(), beta, C.matrix());
  space.fence("heddle::hunt");
  verdict.holds("writes its elements alone", C.rest_untouched());
  judge<T>(verdict, one, C.read(), {}, false);
}

}  // namespace

void draw_gemm(Random& random, Case& one) {
  draw_distributed(random, one);
}
HEDDLE_HUNT_RUN(gemm, gemm_distributed)
void draw_blas(Random& random, Case& one) {
  draw_local(random, one);
}
HEDDLE_HUNT_RUN(blas, gemm_local)

}  // namespace heddle::hunt
