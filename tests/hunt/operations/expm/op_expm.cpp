// Exponentials: all methods, structures, arithmetics and options, on any ranks, in batches and by their action.
#include "hunt/exponentials.hpp"
#include "hunt/matrices.hpp"
#include "hunt/operations.hpp"
#include <heddle/expm/action.hpp>
#include <heddle/expm/batched.hpp>
#include <heddle/expm/expm.hpp>

#include <limits>

namespace heddle::hunt {
namespace {

void draw_matrix(Random& random, Case& one, double largest) {
  const Index n = random.one_in(12) ? random.between(9, 14) : random.one_in(20) ? 0 : random.between(1, 7);
  Array& A = one.add("A", 'n', n, 'n', n);
  fill_with_structure(random, one.type, A, largest);
  if (random.one_in(60)) sprinkle(random, one.type, A), A.mirror = Mirror::none;
}
double largest_of(Random& random, const Case& one) {
  return range_of(one.type).digits == 24 ? random.any_of(10.0, 80.0, 92.0) : random.any_of(10.0, 300.0, 715.0);
}

void draw_options(Random& random, Case& one) {
  draw_matrix(random, one, largest_of(random, one));
  one.add_knob("method", random.one_in(2) ? 0 : random.below(6));
  one.add_knob("structure", random.below(3));  // automatic, general, the actual structure
  one.add_knob("balance", random.one_in(4) ? 1 : 0);
  one.add_knob("certificate", random.below(2));
  one.add_knob("products of complex", random.any_of(3L, 4L), 3);
  one.add_knob("arithmetic", random.below(3));
  one.add_knob("tile", random.any_of(0L, 1L, 3L, 16L));
  one.add_knob("digits", random.one_in(4) ? random.between(3, 10) : 0);  // digits of the tolerance; 0: all
  one.add_knob("place A", random.below(100));
  one.add_knob("place E", random.below(100));
}
ExpmOptions expm_options_of(const Case& one) {
  const Array& A = one.array("A");
  ExpmOptions options;
  options.method = static_cast<ExpmMethod>(one.knob("method"));
  options.degree = 30;
  if (options.method == ExpmMethod::chebyshev && A.mirror != Mirror::skew) options.method = ExpmMethod::automatic;
  options.tolerance = one.knob("digits") == 0 ? 0.0 : std::pow(10.0, -static_cast<double>(one.knob("digits")));
  options.structure = one.knob("structure") == 0      ? ExpmStructure::automatic
                      : one.knob("structure") == 1    ? ExpmStructure::general
                      : A.mirror == Mirror::hermitian ? ExpmStructure::hermitian
                      : A.mirror == Mirror::skew      ? ExpmStructure::skew_hermitian
                                                      : ExpmStructure::automatic;
  if (options.method == ExpmMethod::chebyshev) options.structure = ExpmStructure::automatic;
  options.balance = one.knob("balance") != 0;
  options.certificate = one.knob("certificate") != 0;
  options.complex_products = one.knob("products of complex") == 4 ? 4 : 3;
  options.gemm.arithmetic = static_cast<Arithmetic>(one.knob("arithmetic"));
  options.gemm.tile = one.knob("tile");
  options.gemm.rates = some_rates(one.knob("place A") % 2 == 0);
  return options;
}

// Check the promises of expm.hpp on structure: exp of a Hermitian A is Hermitian to the bit, zeros that no path of
// nonzero elements reaches stay zeros, the diagonals of triangular matrices are exp(a_ii) (to the library's exp: 1
// unit; 4 for complex a_ii).
template <Scalar T>
void judge_structure(Verdict& verdict, const Case& one, const HostMatrix<T>& E, const ExpmOptions& options) {
  const Array& A = one.array("A");
  const std::vector<bool> filled = reached(A);
  bool upper = true;
  bool lower = true;
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      if (A.at(i, j) != 0.0) upper = upper && i <= j, lower = lower && i >= j;
    }
  }
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      if (A.mirror == Mirror::hermitian && options.structure != ExpmStructure::general &&
          options.method != ExpmMethod::taylor && options.method != ExpmMethod::pade) {
        verdict.holds("Hermitian to the bit", same(E(i, j), conjugate(E(j, i))),
                      told<T>(i, j, E(i, j), conjugate(E(j, i))));
      }
      if (!filled[static_cast<std::size_t>(i + j * A.rows)]) {
        verdict.holds("zeros stay zeros", E(i, j) == T(0), told<T>(i, j, E(i, j), T(0)));
      }
    }
    if ((upper || lower) && options.method != ExpmMethod::taylor && options.tolerance == 0 &&
        options.structure == ExpmStructure::automatic) {
      Wide::bits = 200;
      const Wide growth = Wide(A.at(j, j).real()).exponential();
      Wide sine;
      Wide cosine;
      Wide::sine_cosine(Wide(A.at(j, j).imag()), sine, cosine);
      const WideComplex truth(growth * cosine, growth * sine);
      const double size = growth.to_double();
      const double u = static_cast<double>(unit_roundoff<T>);
      if (size > static_cast<double>(std::numeric_limits<Real<T>>::max()) / 4) continue;
      verdict.within(
          "diagonal of a triangle", (WideComplex(test::widen(E(j, j))) - truth).absolute().to_double(),
          (is_complex<T> ? 8 : 2) * u * size + static_cast<double>(std::numeric_limits<Real<T>>::denorm_min()),
          told<T>(j, j, E(j, j), shown(Value(truth.re.to_double(), truth.im.to_double()))));
    }
  }
}

template <Scalar T> struct Computed {
  Thrown thrown;
  ExpmReport report;
  HostMatrix<T> E;
};
template <Scalar T> Computed<T> computed(const Communicator& comm, const Case& one, const ExpmOptions& options) {
  Computed<T> result;
  const auto A = distributed<T>(comm, one.array("A"), one.knob("place A"));
  const auto E = distributed<T>(comm, one.array("A").rows, one.array("A").rows, one.knob("place E"));
  result.thrown = thrown_by([&] { result.report = expm(comm, A, E, options); });
  if (!result.thrown.any) result.E = gather(E, 0);
  return result;
}

// Return the error bound: a backward error of `tolerance`, and roundings, for which no header promises a number. For
// normal A the exponential's condition is |A|, so n times it in the 1-norm, and a result is proven within 1e3 n u
// max(1, |A|_1); for others a result is suspicious beyond 1e4 n u times the condition number.
template <Scalar T> double allowed(const ExponentialTruth& truth, double tolerance, Index size) {
  const double n = static_cast<double>(std::max<Index>(size, 1));
  const double nu = n * static_cast<double>(unit_roundoff<T>);
  const double rounding =
      truth.normal ? 1e3 * nu * std::max(1.0, truth.norm) : 1e4 * nu * std::max({1.0, truth.condition, truth.norm});
  // A condition may be infinite.
  if (tolerance == 0) return rounding;
  return rounding + (truth.normal ? 1.1 * n * tolerance * truth.norm : 20 * n * tolerance * truth.condition);
}

template <Scalar T>
void judge(Verdict& verdict, const Case& one, const ExpmOptions& options, const Computed<T>& found,
           const Computed<T>& native) {
  const ExponentialTruth truth = exponential_truth(one.array("A"), one.type);
  if (!truth.E) return verdict.skip();
  if (found.thrown.any) {
    verdict.holds("overflows where the exponential does", overflows<T>(truth, 0.99), found.thrown.message);
    verdict.holds("refuses as a computation", found.thrown.kind == ErrorKind::computation, found.thrown.message);
    return;
  }
  // A series of fixed degree promises nothing for large norms.
  const bool is_series = options.method == ExpmMethod::taylor && truth.norm > 1;
  verdict.holds("finite", is_series || !overflows<T>(truth, 1.01), "an exponential that overflows was returned");
  judge_structure<T>(verdict, one, found.E, options);
  const double error = relative_error<T>(truth, found.E);
  const Index n = one.array("A").rows;
  if (options.certificate && found.report.certificate && !truth.tiny) {
    verdict.within("certificate bounds the error", error, *found.report.certificate);
    // The header promises this if the limbs suffice, as they do for normal matrices of any norm.
    const double nu = static_cast<double>(std::max<Index>(n, 1)) * static_cast<double>(unit_roundoff<T>);
    if (truth.normal) verdict.within("certificate is near the error", *found.report.certificate, 1.2 * error + 5 * nu);
  }
  // Results that underflow have no relative accuracy.
  if (is_series || truth.tiny) return;
  verdict.within(truth.normal ? "error, normal matrix" : "error", error, allowed<T>(truth, options.tolerance, n));
  if (options.gemm.arithmetic != Arithmetic::native && !native.thrown.any) {
    const double reached = std::max(relative_error<T>(truth, native.E), static_cast<double>(std::max<Index>(n, 1)) *
                                                                            static_cast<double>(unit_roundoff<T>) *
                                                                            std::max(1.0, truth.balanced));
    verdict.within("emulated as good as native", error,
                   100 * std::max(reached, options.tolerance * std::max(1.0, truth.balanced)));
  }
}

template <Scalar T> void run_expm(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const ExpmOptions options = expm_options_of(one);
  const auto found = computed<T>(world.all, one, options);
  if (!is_finite(given)) {
    verdict.holds("refuses NaN and infinity", found.thrown.any && found.thrown.kind == ErrorKind::computation,
                  found.thrown.message);
    return;
  }
  ExpmOptions plain = options;
  plain.gemm.arithmetic = Arithmetic::native;
  plain.certificate = false;
  Computed<T> native;
  if (options.gemm.arithmetic != Arithmetic::native) native = computed<T>(world.alone, one, plain);
  if (world.root()) judge<T>(verdict, one, options, found, native);
  // Automatic tiles and automatic arithmetic may depend on the number of ranks.
  if (options.gemm.tile == 0 || options.gemm.arithmetic == Arithmetic::automatic) return;
  ExpmOptions quick = options;
  quick.certificate = false;
  const auto alone = computed<T>(world.alone, one, quick);
  verdict.holds("throws on any number of ranks alike", alone.thrown.any == found.thrown.any,
                alone.thrown.message + found.thrown.message);
  if (!world.root() || alone.thrown.any || found.thrown.any) return;
  verdict.holds("the same bits on one rank", difference(found.E, alone.E).empty(), difference(found.E, alone.E));
}

void draw_batch(Random& random, Case& one) {
  draw_matrix(random, one, largest_of(random, one));
  one.add_knob("neighbours", random.below(4));
  one.add_knob("right", random.below(2));
  one.add_knob("digits", random.one_in(4) ? random.between(3, 10) : 0);
}
// Compute the matrix among neighbours: A, A / 2, A^T, ...; the first is judged.
template <Scalar T> void run_batched(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const auto n = static_cast<std::size_t>(given.rows);
  const auto count = static_cast<std::size_t>(one.knob("neighbours")) + 1;
  const auto host = host_of<T>(given);
  const ExpmBatchedOptions options{one.knob("digits") == 0 ? 0.0
                                                           : std::pow(10.0, -static_cast<double>(one.knob("digits")))};
  const auto computed_as = [&](const ExecutionSpace& space, auto layout, std::size_t matrices, ExpmBatchedInfo& info) {
    const Kokkos::View<T***, decltype(layout), MemorySpace> A("heddle::hunt::A", n, n, matrices);
    const auto mirror = Kokkos::create_mirror_view(A);
    for (std::size_t b = 0; b < matrices; ++b) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < n; ++i) mirror(i, j, b) = b % 2 == 0 ? host(i, j) : host(j, i);
      }
    }
    Kokkos::deep_copy(A, mirror);
    const Kokkos::View<int*, MemorySpace> infos("heddle::hunt::info", matrices);
    expm_batched(space, A, A, infos, options);
    space.fence("heddle::hunt");
    Kokkos::deep_copy(mirror, A);
    const auto infos_on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), infos);
    info = static_cast<ExpmBatchedInfo>(infos_on_host(matrices - 1 - (matrices - 1) % 2));
    const std::size_t last = matrices - 1 - (matrices - 1) % 2;
    return test::host_matrix<T>(given.rows, given.rows, [&](Index i, Index j) {
      return mirror(static_cast<std::size_t>(i), static_cast<std::size_t>(j), last);
    });
  };
  ExpmBatchedInfo info{};
  ExpmBatchedInfo info_alone{};
  const auto E = one.knob("right") != 0 ? computed_as(ExecutionSpace(), Kokkos::LayoutRight(), count, info)
                                        : computed_as(ExecutionSpace(), Kokkos::LayoutLeft(), count, info);
  const auto alone = computed_as(one_thread(), Kokkos::LayoutLeft(), 1, info_alone);
  verdict.holds("bits do not depend on neighbours and layout", info == info_alone && difference(E, alone).empty(),
                difference(E, alone));
  if (!is_finite(given)) {
    verdict.holds("info of NaN and infinity", info == ExpmBatchedInfo::not_finite);
    return;
  }
  if (!world.root()) return;
  const ExponentialTruth truth = exponential_truth(given, one.type);
  if (!truth.E) return verdict.skip();
  if (info != ExpmBatchedInfo::done) {
    verdict.holds("overflows where the exponential does",
                  info == ExpmBatchedInfo::overflow && overflows<T>(truth, 0.99));
    return;
  }
  verdict.holds("finite", !overflows<T>(truth, 1.01), "an exponential that overflows was returned");
  if (truth.tiny) return;
  const double error = relative_error<T>(truth, E);
  verdict.within(truth.normal ? "error, normal matrix" : "error", error,
                 allowed<T>(truth, options.tolerance, given.rows));
  Case plain = one;
  for (const char* const name : {"place A", "place E"}) plain.add_knob(name, 0);
  ExpmOptions like;
  like.tolerance = options.tolerance;
  like.gemm.rates = some_rates(true);
  const auto single = computed<T>(world.alone, plain, like);
  if (single.thrown.any) return;
  const double reached = std::max(relative_error<T>(truth, single.E),
                                  static_cast<double>(std::max<Index>(given.rows, 1)) *
                                      static_cast<double>(unit_roundoff<T>) * std::max(1.0, truth.balanced));
  verdict.within("as good as expm()", error,
                 100 * std::max(reached, options.tolerance * std::max(1.0, truth.balanced)));
}

void draw_action_of(Random& random, Case& one) {
  draw_matrix(random, one, range_of(one.type).digits == 24 ? 30.0 : 60.0);
  const Index n = one.arrays[0].rows;
  fill_mood(random, one.type, one.add("B", 'n', n, 'm', random.between(1, 3)),
            random.any_of(Mood::units, Mood::integers, Mood::sparse));
  Array& time = one.add("time", '1', 1);
  time.values[0] = random.any_of(1.0, -1.0, 0.5, 0.0, 2.0);
  if (is_complex_type(one.type) && random.one_in(2)) time.values[0] = Value(0.0, random.any_of(1.0, -1.0, -0.25));
  one.add_knob("method", random.below(4));
  one.add_knob("dimension", random.any_of(40L, 10L, 20L), 40);
  one.add_knob("structure", random.below(2));
  one.add_knob("place A", random.below(100));
  one.add_knob("place E", random.below(100));
}
template <Scalar T> void run_on_vector(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const Array& block = one.array("B");
  const Value time = one.array("time").values[0];
  ExpmActionOptions options;
  const bool known = one.knob("structure") != 0 && given.mirror != Mirror::none;
  if (known)
    options.structure =
        given.mirror == Mirror::hermitian ? ExpmActionStructure::hermitian : ExpmActionStructure::skew_hermitian;
  options.method = static_cast<ExpmActionMethod>(one.knob("method"));
  if (options.method == ExpmActionMethod::chebyshev && !known) options.method = ExpmActionMethod::automatic;
  options.dimension = static_cast<int>(std::clamp(one.knob("dimension"), 2L, 100L));
  // The number of steps grows with the norm; unbounded cases would take too long.
  Wide::bits = 64;
  const Wide steps = norm1(WideMatrix(given)) * Wide(std::abs(time));
  if (steps.is_number() && Wide(300.0) < steps) return verdict.skip();
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const auto B = distributed<T>(world.all, block, one.knob("place E"));
  const auto R = distributed<T>(world.all, block.rows, block.columns, one.knob("place A"));
  const Thrown thrown = thrown_by([&] { (void)expm_action(world.all, time, A, B, R, options); });
  if (!is_finite(given) || !is_finite(block)) {
    verdict.holds("refuses NaN and infinity", thrown.any && thrown.kind == ErrorKind::computation, thrown.message);
    return;
  }
  const auto found = thrown.any ? HostMatrix<T>() : gather(R, 0);
  if (!world.root()) return;
  ExponentialTruth truth = exponential_truth(given, one.type, time);
  if (!truth.E) return verdict.skip();
  const WideMatrix expected = *truth.E * WideMatrix(block);
  ExponentialTruth of_action;
  of_action.E = expected;
  if (thrown.any) {
    verdict.holds("overflows where the result does", overflows<T>(of_action, 0.99), thrown.message);
    return;
  }
  verdict.holds("finite", !overflows<T>(of_action, 1.01), "a result that overflows was returned");
  if (truth.tiny || block.values.empty()) return;
  // The error of a column is relative to |exp(time A)|_1 |column|_1; Taylor terms may be e^5 above the sum.
  const double scale = (norm1(*truth.E) * norm1(WideMatrix(block))).to_double();
  const double error = distance1(WideMatrix(found), expected).to_double();
  if (scale == 0 || !std::isfinite(scale)) return;
  verdict.within(truth.normal ? "error, normal matrix" : "error", error / scale,
                 150 * allowed<T>(truth, 0.0, given.rows));
}

}  // namespace

void draw_expm(Random& random, Case& one) {
  draw_options(random, one);
}
HEDDLE_HUNT_RUN(expm, run_expm)
void draw_expm_batched(Random& random, Case& one) {
  draw_batch(random, one);
}
HEDDLE_HUNT_RUN(expm_batched, run_batched)
void draw_expm_action(Random& random, Case& one) {
  draw_action_of(random, one);
}
HEDDLE_HUNT_RUN(expm_action, run_on_vector)

}  // namespace heddle::hunt
