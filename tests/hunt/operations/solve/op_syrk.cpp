// Rank-k updates of one triangle, and halves of symmetric products that complete_symmetric() fills: errors within the
// classical bound, the other triangle unchanged, the bits of gemm() with emulated arithmetic.
#include "hunt/operations.hpp"
#include <heddle/gemm/gemm.hpp>
#include <heddle/solve/syrk.hpp>

namespace heddle::hunt {
namespace {

void draw_update(Random& random, Case& one) {
  const Index n = random.extent(30);
  const Index k = random.extent(40);
  const bool turned = random.one_in(2);
  Array& A = turned ? one.add("A", 'k', k, 'n', n) : one.add("A", 'n', n, 'k', k);
  fill_hard(random, one.type, A);
  fill_hard(random, one.type, one.add("C", 'n', n, 'n', n));
  one.add("alpha", '1', 1).values[0] = random.any_of(1.0, 1.0, -1.0, 0.75, 0.0, 2.0);
  one.add("beta", '1', 1).values[0] = random.any_of(0.0, 0.0, 1.0, -0.5);
  one.add_knob("turned", turned ? 1 : 0, turned ? 1 : 0);
  one.add_knob("upper", random.below(2));
  one.add_knob("hermitian", random.below(2));
  one.add_knob("arithmetic", random.below(2));
  one.add_knob("block", random.any_of(0L, 1L, 5L, 16L));
  one.add_knob("place A", random.below(100));
  one.add_knob("place C", random.below(100));
}

template <Scalar T> void run_update(const World& world, const Case& one, Verdict& verdict) {
  const bool turned = one.knob("turned") != 0;
  const bool hermitian = one.knob("hermitian") != 0;
  const bool conjugated = hermitian && is_complex<T>;
  const bool upper = one.knob("upper") != 0;
  const Triangle triangle = upper ? Triangle::upper : Triangle::lower;
  const Operation op = !turned ? Operation::none : hermitian ? Operation::conjugate_transpose : Operation::transpose;
  const Value alpha = one.array("alpha").values[0];
  const Value beta = one.array("beta").values[0];
  SyrkOptions options;
  options.arithmetic = one.knob("arithmetic") == 0 ? Arithmetic::native : Arithmetic::emulated;
  options.block = one.knob("block");
  const auto updated = [&](const Communicator& comm, long place_a, long place_c) {
    const auto A = distributed<T>(comm, one.array("A"), place_a);
    const auto C = distributed<T>(comm, one.array("C"), place_c);
    if (hermitian) {
      herk<T>(comm, triangle, turned && !is_complex<T> ? Operation::transpose : op, static_cast<Real<T>>(alpha.real()),
              A, static_cast<Real<T>>(beta.real()), C, options);
    } else {
      syrk<T>(comm, triangle, op, test::narrow<T>(alpha), A, test::narrow<T>(beta), C, options);
    }
    return gather(C, 0);
  };
  const auto found = updated(world.all, one.knob("place A"), one.knob("place C"));
  const auto alone = updated(world.alone, 0, 0);
  if (!world.root()) return;
  verdict.holds("the bits of one rank", difference(found, alone).empty(), difference(found, alone));

  Wide::bits = 256;
  const WideMatrix A(one.array("A"));
  const Index n = one.array("C").rows;
  const Index inner = turned ? one.array("A").rows : one.array("A").columns;
  const double u = static_cast<double>(unit_roundoff<T>);
  const double smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  const double largest = static_cast<double>(std::numeric_limits<Real<T>>::max());
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const T x = found(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      const Value c_given = one.array("C").at(i, j);
      if (upper ? i > j : i < j) {
        verdict.holds("the other triangle stays", same(x, test::narrow<T>(c_given)),
                      told<T>(i, j, x, test::narrow<T>(c_given)));
        continue;
      }
      // The diagonal of a Hermitian C counts as real, whatever its imaginary parts hold.
      const Value c = hermitian && i == j ? Value(c_given.real(), 0.0) : c_given;
      WideComplex product;
      Wide terms;
      Wide norm_i;
      Wide norm_j;
      for (Index k = 0; k < inner; ++k) {
        WideComplex left = turned ? A.at(k, i) : A.at(i, k);
        WideComplex right = turned ? A.at(k, j) : A.at(j, k);
        if (conjugated) (turned ? left : right) = (turned ? left : right).conjugate();
        product.add_product(left, right);
        terms += left.absolute() * right.absolute();
        norm_i += left.square();
        norm_j += right.square();
      }
      WideComplex exact = WideComplex(alpha) * product;
      if (beta != 0.0) exact.add_product(WideComplex(beta), WideComplex(c));
      const double size = std::abs(alpha) * terms.to_double() + (beta == 0.0 ? 0.0 : std::abs(beta) * std::abs(c));
      if (!(4 * terms.to_double() < largest) || !(4 * size < largest)) continue;
      const double norms = alpha == 0.0 ? 0.0 : std::abs(alpha) * (norm_i * norm_j).root().to_double();
      const double operations = 1.5 * (static_cast<double>(2 * inner) + 8);
      const bool emulated = options.arithmetic == Arithmetic::emulated;
      // The error of emulated products is bounded by norms of rows and columns.
      if (emulated && !std::isfinite(norms)) continue;
      const double bound = emulated ? operations * u * (norms + size) : operations * u * size;
      const double tiny = 8 * smallest * (static_cast<double>(inner) + 4) * std::max(1.0, std::abs(alpha));
      verdict.within(emulated ? "emulated error" : "native error",
                     (WideComplex(test::widen(x)) - exact).absolute().to_double(), bound + tiny,
                     told<T>(i, j, x, shown(Value(exact.re.to_double(), exact.im.to_double()))));
      if (hermitian && i == j && is_complex<T>) {
        verdict.holds("the diagonal is real", Kokkos::imag(x) == 0, told<T>(i, j, x, std::string("a real number")));
      }
    }
  }
}

void draw_halves(Random& random, Case& one) {
  const Index n = random.extent(30);
  fill_hard(random, one.type, one.add("A", 'n', n, 'k', random.extent(30)));
  one.add_knob("tile", random.any_of(64L, 1L, 3L, 7L, 16L), 64);
  one.add_knob("place A", random.below(100));
  one.add_knob("place C", random.below(100));
  one.add_knob("arithmetic", random.below(2));
}
// C = A A^T by halves is symmetric to the last bit, and its upper tiles equal those of the whole product.
template <Scalar T> void run_halves(const World& world, const Case& one, Verdict& verdict) {
  const auto A = distributed<T>(world.all, one.array("A"), one.knob("place A"));
  const Index n = A.rows();
  GemmOptions options;
  options.tile = one.knob("tile");
  options.rates = some_rates(true);
  options.arithmetic = one.knob("arithmetic") == 0 ? Arithmetic::native : Arithmetic::emulated;
  options.emulation.look = false;  // a probe of half the tiles may see smaller sums
  const auto product = [&](GemmTiles tiles) {
    const auto C = distributed<T>(world.all, n, n, one.knob("place C"));
    fill(C, T(7));
    options.tiles = tiles;
    gemm(world.all, Operation::none, Operation::transpose, T(1), A, A, T(0), C, options);
    if (tiles == GemmTiles::half) complete_symmetric<T>(world.all, C, options.tile, T(1));
    return gather(C, 0);
  };
  const auto half = product(GemmTiles::half);
  const auto whole = product(GemmTiles::all);
  for (std::size_t j = 0; j < half.extent(1); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const auto row = static_cast<Index>(i);
      const auto column = static_cast<Index>(j);
      verdict.holds("symmetric", same(half(i, j), half(j, i)), told<T>(row, column, half(j, i), half(i, j)));
      const bool computed = same(half(i, j), whole(i, j)) || same(half(i, j), whole(j, i));
      verdict.holds("elements of the whole product", computed, told<T>(row, column, half(i, j), whole(i, j)));
    }
  }
}

}  // namespace

void draw_syrk(Random& random, Case& one) {
  draw_update(random, one);
}
HEDDLE_HUNT_RUN(syrk, run_update)
void draw_symmetric(Random& random, Case& one) {
  draw_halves(random, one);
}
HEDDLE_HUNT_RUN(symmetric, run_halves)

}  // namespace heddle::hunt
