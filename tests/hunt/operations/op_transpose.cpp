// Transposes: exact elements, alpha times them, in every variant, layout and placement, in place and not.
#include "hunt/operations.hpp"
#include <heddle/transpose/distributed.hpp>
#include <heddle/transpose/transpose.hpp>

namespace heddle::hunt {
namespace {

void draw_matrix(Random& random, Case& one) {
  const bool medium = random.one_in(12);
  const Index m = medium ? random.between(60, 200) : random.extent(40);
  const Index n = medium ? random.between(60, 200) : random.extent(40);
  Array& A = one.add("A", 'm', m, 'n', random.one_in(4) ? m : n);
  fill_hard(random, one.type, A);
  if (random.one_in(4)) sprinkle(random, one.type, A);
  Array& alpha = one.add("alpha", '1', 1);
  fill_hard(random, one.type, alpha);
  if (random.one_in(2)) alpha.values[0] = 1.0;
  one.add_knob("op", random.below(3));
  one.add_knob("variant", random.below(5));
  one.add_knob("block rows", random.any_of(0L, 1L, 3L, 8L, 32L));
  one.add_knob("block columns", random.any_of(0L, 1L, 5L, 16L, 32L));
  one.add_knob("from", random.below(layouts));
  one.add_knob("to", random.below(layouts));
  one.add_knob("place A", random.below(100));
  one.add_knob("place B", random.below(100));
}

template <Scalar T> T factor(const Case& one) {
  return test::narrow<T>(one.array("alpha").values[0]);
}
// Check alpha op(A): real numbers are rounded once; each complex part has two products and a sum, and is judged
// relative to their size: (2 + 1) u (|re re| + |im im|) with one rounding each, fused or not (N. Higham, 3.6).
template <Scalar T>
void judge(Verdict& verdict, const std::string& property, const Case& one, const HostMatrix<T>& found) {
  const auto A = host_of<T>(one.array("A"));
  const T alpha = factor<T>(one);
  const Operation op = one.op("op");
  for (std::size_t j = 0; j < found.extent(1); ++j) {
    for (std::size_t i = 0; i < found.extent(0); ++i) {
      const T a = op == Operation::none ? A(i, j) : op == Operation::transpose ? A(j, i) : conjugate(A(j, i));
      const T& x = found(i, j);
      if (alpha == T(1)) {
        verdict.holds(property, same(x, a), told<T>(static_cast<Index>(i), static_cast<Index>(j), x, a));
        continue;
      }
      if (!is_finite(a) || !is_finite(alpha)) continue;
      ExactSum<T> product;
      product.add_product(alpha, a);
      const T expected = product.value();
      if constexpr (!is_complex<T>) {
        verdict.holds(property + ", scaled", same(x, expected),
                      told<T>(static_cast<Index>(i), static_cast<Index>(j), x, expected));
      } else {
        const double u = static_cast<double>(unit_roundoff<T>);
        const auto size = [](auto p, auto q, auto r, auto s) {
          return std::abs(static_cast<double>(p) * static_cast<double>(q)) +
                 std::abs(static_cast<double>(r) * static_cast<double>(s));
        };
        const double re = size(alpha.real(), a.real(), alpha.imag(), a.imag());
        const double im = size(alpha.real(), a.imag(), alpha.imag(), a.real());
        const double smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
        if (!(std::max(re, im) < static_cast<double>(std::numeric_limits<Real<T>>::max()) / 2)) continue;
        const std::string text = told<T>(static_cast<Index>(i), static_cast<Index>(j), x, expected);
        verdict.within(property + ", scaled",
                       std::abs(static_cast<double>(x.real()) - static_cast<double>(expected.real())),
                       3 * u * re + 2 * smallest, text);
        verdict.within(property + ", scaled",
                       std::abs(static_cast<double>(x.imag()) - static_cast<double>(expected.imag())),
                       3 * u * im + 2 * smallest, text);
      }
    }
  }
}
Array shape_of_result(const Case& one) {
  Array B = one.array("A");
  if (one.op("op") != Operation::none) std::swap(B.rows, B.columns);
  std::fill(B.values.begin(), B.values.end(), Value(7.0));
  return B;
}

template <Scalar T> void transpose_local(const World&, const Case& one, Verdict& verdict) {
  const ExecutionSpace space;
  const Placed<T> A(one.array("A"), one.knob("from"));
  const Placed<T> B(shape_of_result(one), one.knob("to"));
  TransposeOptions options;
  options.variant = static_cast<TransposeVariant>(one.knob("variant"));
  options.block_rows = static_cast<int>(one.knob("block rows"));
  options.block_columns = static_cast<int>(one.knob("block columns"));
  transpose(space, factor<T>(one), A.matrix(), one.op("op"), B.matrix(), options);
  space.fence("heddle::hunt");
  verdict.holds("writes its elements alone", B.rest_untouched());
  const auto found = B.read();
  judge<T>(verdict, "elements", one, found);
  const Placed<T> again(shape_of_result(one), 0);
  transpose(space, factor<T>(one), A.matrix(), one.op("op"), again.matrix());
  space.fence("heddle::hunt");
  verdict.holds("the same for all variants", difference(found, again.read()).empty(), difference(found, again.read()));

  const Array& given = one.array("A");
  if (given.rows == given.columns) {
    const Placed<T> inside(given, one.knob("from"));
    transpose_in_place(space, factor<T>(one), inside.matrix(), one.op("op"));
    space.fence("heddle::hunt");
    verdict.holds("in place, writes its elements alone", inside.rest_untouched());
    judge<T>(verdict, "in place", one, inside.read());
  }
  // Rectangular, in place: the first m n elements of a longer array.
  Array run = given;
  run.rows = static_cast<Index>(run.values.size());
  run.columns = 1;
  run.values.resize(run.values.size() + 3, Value(7.0));
  run.rows += 3;
  const auto host = host_of<T>(run);
  const Kokkos::View<T*, MemorySpace> elements("heddle::hunt::elements", host.extent(0));
  const auto mirror = Kokkos::create_mirror_view(elements);
  for (std::size_t k = 0; k < host.extent(0); ++k) mirror(k) = host(k, 0);
  Kokkos::deep_copy(elements, mirror);
  transpose_in_place(space, factor<T>(one), elements, given.rows, given.columns, one.op("op"));
  space.fence("heddle::hunt");
  Kokkos::deep_copy(mirror, elements);
  const Array shape = shape_of_result(one);
  judge<T>(verdict, "rectangular, in place", one,
           test::host_matrix<T>(shape.rows, shape.columns, [&](Index i, Index j) {
             return mirror(static_cast<std::size_t>(i + j * shape.rows));
           }));
  for (std::size_t k = 0; k < 3; ++k) {
    verdict.holds("rectangular, in place, leaves the rest", mirror(mirror.extent(0) - 1 - k) == T(7));
  }
}

template <Scalar T> void transpose_distributed(const World& world, const Case& one, Verdict& verdict) {
  const auto A = distributed<T>(world.all, one.array("A"), one.knob("place A"));
  const auto B = distributed<T>(world.all, shape_of_result(one), one.knob("place B"));
  transpose(world.all, factor<T>(one), A, one.op("op"), B);
  const auto found = gather(B, 0);
  if (!world.root()) return;
  judge<T>(verdict, "elements", one, found);
  const Placed<T> whole(one.array("A"), 0);
  const Placed<T> local(shape_of_result(one), 0);
  transpose(ExecutionSpace(), factor<T>(one), whole.matrix(), one.op("op"), local.matrix());
  ExecutionSpace().fence("heddle::hunt");
  verdict.holds("the bits of one rank", difference(found, local.read()).empty(), difference(found, local.read()));
}

}  // namespace

void draw_transpose(Random& random, Case& one) {
  draw_matrix(random, one);
}
HEDDLE_HUNT_RUN(transpose, transpose_local)
void draw_transpose_ranks(Random& random, Case& one) {
  draw_matrix(random, one);
}
HEDDLE_HUNT_RUN(transpose_ranks, transpose_distributed)

}  // namespace heddle::hunt
