// Batches of systems, inverses and determinants: each matrix has the bits of the function for one.
#include "hunt/operations.hpp"
#include "hunt/systems.hpp"
#include "support/matrices.hpp"
#include <heddle/solve/batched.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace heddle::hunt {
namespace {

constexpr std::size_t count = 3;
template <Scalar T> using SystemBatch = Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace>;

template <Scalar T> SystemBatch<T> systems_of(const std::array<HostMatrix<T>, count>& matrices) {
  const SystemBatch<T> batch("heddle::hunt::batch", matrices[0].extent(0), matrices[0].extent(1), count);
  const auto mirror = Kokkos::create_mirror_view(batch);
  for (std::size_t b = 0; b < count; ++b) {
    for (std::size_t j = 0; j < mirror.extent(1); ++j) {
      for (std::size_t i = 0; i < mirror.extent(0); ++i) mirror(i, j, b) = matrices[b](i, j);
    }
  }
  Kokkos::deep_copy(batch, mirror);
  return batch;
}
template <Scalar T> HostMatrix<T> system_of(const SystemBatch<T>& batch, std::size_t b) {
  const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), batch);
  return test::host_matrix<T>(
      static_cast<Index>(mirror.extent(0)), static_cast<Index>(mirror.extent(1)),
      [&](Index i, Index j) { return mirror(static_cast<std::size_t>(i), static_cast<std::size_t>(j), b); });
}
BatchedSystem found_of(const SolveBatchedReport& report, std::size_t b) {
  for (const BatchedSystem& one : report.remarkable) {
    if (one.matrix == static_cast<Index>(b)) return one;
  }
  return {};
}

template <Scalar T> void run_batched(const World&, const Case& one, Verdict& verdict) {
  const ExecutionSpace space;
  SolveOptions options;
  options.method = one.knob("cholesky") != 0 ? SolveMethod::cholesky : SolveMethod::lu;
  options.factorization = lu_options_of(one);
  options.equilibrate = one.knob("plain") == 0;
  options.refinements = static_cast<int>(one.knob("refinements"));
  const std::array<HostMatrix<T>, count> As = {host_of<T>(one.array("A")), host_of<T>(one.array("other A")),
                                               host_of<T>(one.array("A"))};
  const std::array<HostMatrix<T>, count> Bs = {host_of<T>(one.array("B")), host_of<T>(one.array("B")),
                                               host_of<T>(one.array("other B"))};
  const SystemBatch<T> A = systems_of<T>(As);
  const SystemBatch<T> B = systems_of<T>(Bs);
  const SystemBatch<T> X = systems_of<T>(Bs);
  const SystemBatch<T> inverses = systems_of<T>(As);
  const SolveBatchedReport report = solve_batched(space, A, B, X, options);
  const SolveBatchedReport of_inverses = inverse_batched(space, inverses, inverses, options.factorization);
  const auto determinants = determinant_batched(space, A, options.factorization);
  for (std::size_t b = 0; b < count; ++b) {
    const auto a = test::padded_on_device<T>(As[b]);
    const auto x = test::padded_on_device<T>(Bs[b]);
    const SolveReport expected = solve<T>(space, a, test::padded_on_device<T>(Bs[b]), x, options);
    const auto alone = test::to_host<T>(x);
    verdict.holds("the solution has the bits of solve()", difference(system_of(X, b), alone).empty(),
                  difference(system_of(X, b), alone));
    const BatchedSystem found = found_of(report, b);
    verdict.holds("info, condition and overflow are those of solve()",
                  found.info == expected.factorization.info && found.ill_conditioned == expected.ill_conditioned &&
                      found.overflow == expected.overflow,
                  "info " + std::to_string(found.info) + " and " + std::to_string(expected.factorization.info) + ", " +
                      std::to_string(found.ill_conditioned) + " and " + std::to_string(expected.ill_conditioned));
    const Determinant<T> determined = determinant<T>(space, a, options.factorization);
    const auto as_column = [](const Determinant<T>& d) {
      return test::host_matrix<T>(
          2, 1, [&](Index i, Index) { return i == 0 ? d.mantissa : T(static_cast<Real<T>>(d.exponent)); });
    };
    verdict.holds("the determinant has the bits of determinant()",
                  difference(as_column(determinants[b]), as_column(determined)).empty(),
                  difference(as_column(determinants[b]), as_column(determined)));
    const InverseReport inverted = inverse<T>(space, a, options.factorization);
    verdict.holds("the inverse has the bits of inverse()",
                  difference(system_of(inverses, b), test::to_host<T>(a)).empty(),
                  difference(system_of(inverses, b), test::to_host<T>(a)));
    verdict.holds("and its info and condition",
                  found_of(of_inverses, b).info == inverted.info &&
                      found_of(of_inverses, b).ill_conditioned == inverted.ill_conditioned);
  }
}

}  // namespace

void draw_solve_batched(Random& random, Case& one) {
  const bool cholesky = random.one_in(4);
  const Index n = system_order(random, 70);
  const Index columns = random.any_of(0L, 1L, 1L, 2L, 3L);
  for (const char* name : {"A", "other A"}) {
    Array& A = one.add(name, 'm', n, 'm', n);
    cholesky ? fill_definite(random, one.type, A) : fill_system(random, one.type, A);
  }
  for (const char* name : {"B", "other B"}) {
    Array& B = one.add(name, 'm', n, 'k', columns);
    random.one_in(3) ? fill_hard(random, one.type, B) : fill_mood(random, one.type, B, Mood::units);
    if (random.one_in(3)) scale_by_powers(random, one.type, B, range_of(one.type).largest / 4, false);
  }
  one.add_knob("arithmetic", random.below(2));
  one.add_knob("block", random.any_of(0L, 0L, 0L, 8L, 80L));
  one.add_knob("group", random.any_of(0L, 1L, 4L));
  one.add_knob("cholesky", cholesky ? 1 : 0, cholesky ? 1 : 0);
  one.add_knob("plain", random.one_in(3) ? 1 : 0);
  one.add_knob("refinements", random.any_of(0L, 1L, 1L, 2L));
}
HEDDLE_HUNT_RUN(solve_batched, run_batched)

}  // namespace heddle::hunt
