// Exact sums, inner products and norms, on one rank and over all; allreduce; scal, invscal and axpy.
#include "hunt/operations.hpp"
#include <heddle/exact/distributed.hpp>
#include <heddle/exact/reduce.hpp>
#include <heddle/exact/segmented.hpp>
#include <heddle/exact/vector.hpp>

namespace heddle::hunt {
namespace {

using exact::Reference;

// Draw y so that x . y nearly cancels: pairs of opposite products in any order, plus a rest far below.
void make_cancelling(Random& random, Type type, Array& x, Array& y) {
  const auto n = static_cast<long>(x.values.size());
  const int depth = static_cast<int>(random.between(3, range_of(type).digits == 24 ? 40 : 900));
  for (long k = 0; k + 1 < n; k += 2) {
    const auto at = static_cast<std::size_t>(k);
    x.values[at + 1] = x.values[at];
    y.values[at + 1] = -y.values[at];
    if (random.one_in(4)) {
      const double rest = std::ldexp(1.0, -depth);
      x.values[at + 1] = Value(rest, 0.0);
    }
  }
  for (long k = n - 1; k > 0; --k) {
    const auto other = static_cast<std::size_t>(random.below(k + 1));
    std::swap(x.values[static_cast<std::size_t>(k)], x.values[other]);
    std::swap(y.values[static_cast<std::size_t>(k)], y.values[other]);
  }
}

void draw_vectors(Random& random, Case& one, long most) {
  const Index n = random.extent(most);
  one.add("x", 'n', n);
  one.add("y", 'n', n);
  Array& x = one.arrays[0];
  Array& y = one.arrays[1];
  fill_hard(random, one.type, x);
  fill_hard(random, one.type, y);
  if (random.one_in(2)) make_cancelling(random, one.type, x, y);
  if (random.one_in(8)) sprinkle(random, one.type, x);
  if (random.one_in(16)) sprinkle(random, one.type, y);
  one.add_knob("layout", random.below(layouts));
  one.add_knob("dealing", random.below(1000));
}

template <class R> void equal(Verdict& verdict, const std::string& property, R found, R expected) {
  verdict.holds(property, same_real(found, expected),
                "found " + shown(static_cast<double>(found)) + ", expected " + shown(static_cast<double>(expected)));
}
template <class R>
void equal(Verdict& verdict, const std::string& property, Kokkos::complex<R> found, Kokkos::complex<R> expected) {
  verdict.holds(property, same(found, expected),
                "found " + shown(test::widen(found)) + ", expected " + shown(test::widen(expected)));
}

// The expected results of all reductions.
template <Scalar T> struct Reductions {
  T sum, dot, dotc;
  Real<T> asum, nrm2;
};
template <Scalar T> Reductions<T> reductions_of(const HostMatrix<T>& x, const HostMatrix<T>& y) {
  ExactSum<T> sum;
  ExactSum<T> dot;
  ExactSum<T> dotc;
  Reference asum;
  Reference squares;
  for (std::size_t k = 0; k < x.extent(0); ++k) {
    sum.add(x(k, 0));
    dot.add_product(x(k, 0), y(k, 0));
    dotc.add_product(conjugate(x(k, 0)), y(k, 0));
    for (const auto part : {Kokkos::real(x(k, 0)), Kokkos::imag(x(k, 0))}) {
      asum.add(std::abs(static_cast<double>(part)));
      squares.add_product(static_cast<double>(part), static_cast<double>(part));
    }
  }
  return {sum.value(), dot.value(), dotc.value(), asum.value<Real<T>>(), squares.root<Real<T>>()};
}

// Return the one of `count` owners to which `dealing` assigns element k.
std::uint64_t dealt(std::uint64_t dealing, std::size_t k, int count) {
  const std::uint64_t number = dealing == 0 ? k : (k + 1) * (dealing * 2654435761U + 40503U) >> 7;
  return number % static_cast<std::uint64_t>(count);
}

// Check sums of the elements by keys, and of segments.
template <Scalar T>
void run_many_sums(const Placed<T>& placed, const HostMatrix<T>& x, std::uint64_t dealing, Verdict& verdict) {
  constexpr int count = 4;
  const std::size_t n = x.extent(0);
  const Kokkos::View<std::int32_t*, MemorySpace> keys("heddle::hunt::keys", n);
  const auto host_keys = Kokkos::create_mirror_view(keys);
  const Kokkos::View<std::int64_t*, MemorySpace> offsets("heddle::hunt::offsets", count + 1);
  const auto host_offsets = Kokkos::create_mirror_view(offsets);
  ExactSum<T> of_keys[count];
  ExactSum<T> of_segments[count];
  for (std::size_t s = 0; s <= count; ++s) host_offsets(s) = static_cast<std::int64_t>(n * s * s / (count * count));
  for (std::size_t k = 0; k < n; ++k) {
    host_keys(k) = static_cast<std::int32_t>(dealt(dealing, k, count));
    of_keys[host_keys(k)].add(x(k, 0));
    std::size_t segment = 0;
    while (static_cast<std::int64_t>(k) >= host_offsets(segment + 1)) ++segment;
    of_segments[segment].add(x(k, 0));
  }
  Kokkos::deep_copy(keys, host_keys);
  Kokkos::deep_copy(offsets, host_offsets);
  const ExecutionSpace space;
  const Kokkos::View<T*, MemorySpace> sums("heddle::hunt::sums", count);
  const auto judge = [&](const char* what, const ExactSum<T>(&expected)[count]) {
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
    for (std::size_t s = 0; s < count; ++s) equal(verdict, what, found(s), expected[s].value());
  };
  exact::keyed_sum(space, placed.vector(), keys, sums);
  judge("keyed_sum", of_keys);
  exact::segmented_sum(space, placed.vector(), offsets, sums);
  judge("segmented_sum", of_segments);
}

template <Scalar T> void run_reductions(const World& world, const Case& one, Verdict& verdict) {
  const Array& x = one.array("x");
  const Array& y = one.array("y");
  const Placed<T> px(x, one.knob("layout"));
  const Placed<T> py(y, one.knob("layout"));
  const ExecutionSpace space;
  const auto expected = reductions_of<T>(host_of<T>(x), host_of<T>(y));
  equal(verdict, "sum", exact::sum(space, px.vector()), expected.sum);
  equal(verdict, "asum", exact::asum(space, px.vector()), expected.asum);
  equal(verdict, "dot", exact::dot(space, px.vector(), py.vector()), expected.dot);
  equal(verdict, "dotc", exact::dotc(space, px.vector(), py.vector()), expected.dotc);
  equal(verdict, "nrm2", exact::nrm2(space, px.vector()), expected.nrm2);
  equal(verdict, "sum by one thread", exact::sum(one_thread(), px.vector()), expected.sum);
  equal(verdict, "dot by one thread", exact::dot(one_thread(), px.vector(), py.vector()), expected.dot);
  // Distribute element k to the rank that `dealt` gives.
  Array mine_x = x;
  Array mine_y = y;
  mine_x.values.clear();
  mine_y.values.clear();
  const auto dealing = static_cast<std::uint64_t>(one.knob("dealing"));
  run_many_sums<T>(px, host_of<T>(x), dealing, verdict);
  for (std::size_t k = 0; k < x.values.size(); ++k) {
    if (dealt(dealing, k, world.all.size()) == static_cast<std::uint64_t>(world.all.rank())) {
      mine_x.values.push_back(x.values[k]);
      mine_y.values.push_back(y.values[k]);
    }
  }
  mine_x.rows = mine_y.rows = static_cast<Index>(mine_x.values.size());
  const Placed<T> qx(mine_x, one.knob("layout"));
  const Placed<T> qy(mine_y, one.knob("layout"));
  equal(verdict, "sum over ranks", exact::sum(world.all, qx.vector()), expected.sum);
  equal(verdict, "dot over ranks", exact::dot(world.all, qx.vector(), qy.vector()), expected.dot);
  equal(verdict, "dotc over ranks", exact::dotc(world.all, qx.vector(), qy.vector()), expected.dotc);
  equal(verdict, "nrm2 over ranks", exact::nrm2(world.all, qx.vector()), expected.nrm2);
}

template <Scalar T> MPI_Datatype mpi_type() {
  if constexpr (is_complex<T>) {
    return sizeof(T) == 16 ? MPI_C_DOUBLE_COMPLEX : MPI_C_FLOAT_COMPLEX;
  } else {
    return sizeof(T) == 8 ? MPI_DOUBLE : MPI_FLOAT;
  }
}

void draw_allreduce(Random& random, Case& one) {
  Array& x = one.add("x", 'n', random.extent(50), '1', 4);  // a column for each of four ranks
  fill_hard(random, one.type, x);
  for (Index i = 0; i < x.rows && random.one_in(2); ++i) x.at(i, 1) = -x.at(i, 0);
  if (random.one_in(8)) sprinkle(random, one.type, x);
  one.add_knob("in place", random.below(2));
}
template <Scalar T> void run_allreduce(const World& world, const Case& one, Verdict& verdict) {
  const Array& x = one.array("x");
  const int ranks = std::min(world.all.size(), 4);
  const auto host = host_of<T>(x);
  std::vector<T> send(static_cast<std::size_t>(x.rows), T(0));
  for (Index i = 0; i < x.rows && world.all.rank() < 4; ++i) {
    send[static_cast<std::size_t>(i)] = host(static_cast<std::size_t>(i), static_cast<std::size_t>(world.all.rank()));
  }
  std::vector<T> receive = send;
  const int code = exact::allreduce(one.knob("in place") != 0 ? MPI_IN_PLACE : static_cast<const void*>(send.data()),
                                    receive.data(), static_cast<int>(x.rows), mpi_type<T>(), world.all.native());
  verdict.holds("returns MPI_SUCCESS", code == MPI_SUCCESS);
  for (Index i = 0; i < x.rows; ++i) {
    ExactSum<T> sum;
    for (int r = 0; r < ranks; ++r) sum.add(host(static_cast<std::size_t>(i), static_cast<std::size_t>(r)));
    equal(verdict, "sum", receive[static_cast<std::size_t>(i)], sum.value());
  }
}

void draw_elementwise(Random& random, Case& one) {
  draw_vectors(random, one, 300);
  Array& alpha = one.add("alpha", '1', 1);
  fill_hard(random, one.type, alpha);
  if (random.one_in(20)) sprinkle(random, one.type, alpha);
}
template <Scalar T> void run_elementwise(const World&, const Case& one, Verdict& verdict) {
  const auto x = host_of<T>(one.array("x"));
  const auto y = host_of<T>(one.array("y"));
  const T alpha = test::narrow<T>(one.array("alpha").values[0]);
  const ExecutionSpace space;
  const Placed<T> scaled(one.array("x"), one.knob("layout"));
  exact::scal(space, alpha, scaled.vector());
  const Placed<T> divided(one.array("x"), one.knob("layout"));
  exact::invscal(space, alpha, divided.vector());
  const Placed<T> px(one.array("x"), one.knob("layout"));
  const Placed<T> added(one.array("y"), one.knob("layout"));
  exact::axpy(space, alpha, px.vector(), added.vector());
  verdict.holds("writes its elements alone",
                scaled.rest_untouched() && divided.rest_untouched() && added.rest_untouched());
  const auto found_scal = scaled.read();
  const auto found_invscal = divided.read();
  const auto found_axpy = added.read();
  for (std::size_t k = 0; k < x.extent(0); ++k) {
    ExactSum<T> product;
    product.add_product(alpha, x(k, 0));
    equal(verdict, "scal", found_scal(k, 0), product.value());
    ExactSum<T> sum;
    sum.add_product(alpha, x(k, 0));
    sum.add(y(k, 0));
    equal(verdict, "axpy", found_axpy(k, 0), sum.value());
    judge_quotient<T>(verdict, "invscal", found_invscal(k, 0), x(k, 0), alpha);
  }
}

}  // namespace

void draw_exact_sums(Random& random, Case& one) {
  draw_vectors(random, one, random.one_in(10) ? 5000 : 200);
}
HEDDLE_HUNT_RUN(exact_sums, run_reductions)
void draw_exact_allreduce(Random& random, Case& one) {
  draw_allreduce(random, one);
}
HEDDLE_HUNT_RUN(exact_allreduce, run_allreduce)
void draw_exact_elementwise(Random& random, Case& one) {
  draw_elementwise(random, one);
}
HEDDLE_HUNT_RUN(exact_elementwise, run_elementwise)

}  // namespace heddle::hunt
