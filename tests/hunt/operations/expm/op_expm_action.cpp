// Actions of exponentials and phi functions: every method by structure and spectral width, and its estimated error.
#include "hunt/exponentials.hpp"
#include "hunt/matrices.hpp"
#include "hunt/operations.hpp"
#include <heddle/expm/action.hpp>
#include <heddle/expm/phi.hpp>

#include <limits>

namespace heddle::hunt {
namespace {

// Fill A Hermitian, or i times Hermitian, with a spectrum on one side of zero, on both, or in two far clusters.
// Diagonal matrices are up to 1e8 wide, since their reference is a closed form.
void fill_spectrum(Random& random, Type type, Array& A) {
  const bool diagonal = random.one_in(2);
  const double width = random.any_of(1.0, 30.0, 1e3, 1e5, diagonal ? 1e8 : 1e4);
  const double sign = random.any_of(1.0, -1.0);
  const bool both = random.one_in(3);
  const bool skew = is_complex_type(type) && random.one_in(3);
  const Value unit = skew ? Value(0.0, 1.0) : Value(1.0, 0.0);
  A.mirror = skew ? Mirror::skew : Mirror::hermitian;
  const Index n = A.rows;
  for (Index i = 0; i < n; ++i) {
    const double share = random.one_in(5) ? static_cast<double>(random.below(2)) : std::abs(random.unit());
    A.at(i, i) = in_type(unit * (sign * width * (both ? 2.0 * share - 1.0 : share)), type);
  }
  if (diagonal) return;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double size = width / static_cast<double>(n) * random.any_of(1.0, 1e-3, 1e-8, 0.0);
      A.at(i, j) =
          in_type(unit * Value(size * random.unit(), is_complex_type(type) ? size * random.unit() : 0.0), type);
      A.at(j, i) = (skew ? -1.0 : 1.0) * std::conj(A.at(i, j));
    }
  }
}

// Fill A strictly triangular of any grading, with a Jordan block, Grcar's matrix, or any other.
void fill_non_normal(Random& random, Type type, Array& A) {
  const Index n = A.rows;
  const long kind = random.below(4);
  if (kind == 3) return fill_general(random, type, A, range_of(type).digits == 24 ? 30.0 : 60.0);
  const double size = std::pow(10.0, static_cast<double>(random.between(0, kind == 0 ? 8 : 2)));
  const double grading = random.any_of(1.0, 4.0, 0.25);
  const bool lower = random.one_in(2);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      double x = 0.0;
      if (kind == 0 && i < j) x = random.one_in(4) ? 0.0 : std::round(9.0 * random.unit()) * size;
      if (kind == 1) x = i == j ? -1.0 : j == i + 1 ? size : 0.0;
      if (kind == 2) x = i == j + 1 ? -1.0 : j >= i && j <= i + 3 ? std::pow(grading, static_cast<double>(j - i)) : 0.0;
      (lower ? A.at(j, i) : A.at(i, j)) = in_type(Value(x), type);
    }
  }
}

void draw_time(Random& random, Case& one) {
  Array& time = one.add("time", '1', 1);
  time.values[0] = random.any_of(1.0, -1.0, 0.5, 0.0, 2.0);
  if (is_complex_type(one.type) && random.one_in(2)) {
    time.values[0] = random.any_of(Value(0.0, 1.0), Value(0.0, -0.25), Value(-0.5, 1.0));
  }
}

ExpmActionOptions action_options_of(const Case& one) {
  const Array& A = one.array("A");
  ExpmActionOptions options;
  const bool known = one.knob("structure") != 0 && A.mirror != Mirror::none;
  if (known) {
    options.structure =
        A.mirror == Mirror::hermitian ? ExpmActionStructure::hermitian : ExpmActionStructure::skew_hermitian;
  }
  options.method = static_cast<ExpmActionMethod>(one.knob("method"));
  if (options.method == ExpmActionMethod::chebyshev && !known) options.method = ExpmActionMethod::automatic;
  options.dimension = static_cast<int>(std::clamp(one.knob("dimension"), 2L, 100L));
  options.tolerance = one.knob("digits") == 0 ? 0.0 : std::pow(10.0, -static_cast<double>(one.knob("digits")));
  return options;
}

// Return whether a case takes too long: without structure the number of steps grows with the norm.
bool takes_long(const Case& one, const ExpmActionOptions& options) {
  Wide::bits = 64;
  const Wide norm = norm1(WideMatrix(one.array("A"))) * Wide(std::abs(one.array("time").values[0]));
  const Array& A = one.array("A");
  bool triangular[2] = {true, true};
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      if (A.at(i, j) != 0.0) triangular[0] = triangular[0] && i < j, triangular[1] = triangular[1] && i > j;
    }
  }
  if (triangular[0] || triangular[1]) return false;
  const bool series = options.structure != ExpmActionStructure::general && options.method != ExpmActionMethod::taylor;
  const double time = one.array("time").values[0].imag();
  const double most = !series ? 2e3 : time != 0.0 || A.mirror == Mirror::skew ? 2e5 : 1e9;
  return norm.is_number() && Wide(most) < norm;
}

// Return exp(time A); elementwise if A is diagonal.
std::optional<WideMatrix> reference_of(const Array& A, const Value& time, Type type) {
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      if (i != j && A.at(i, j) != 0.0) return exponential_truth(A, type, time).E;
    }
  }
  Wide::bits = 512;
  WideMatrix E(A.rows, A.columns);
  for (Index i = 0; i < A.rows; ++i) {
    const WideComplex x = WideComplex(A.at(i, i)) * WideComplex(time);
    const Wide growth = x.re.exponential();
    Wide sine;
    Wide cosine;
    Wide::sine_cosine(x.im, sine, cosine);
    E.at(i, i) = {growth * cosine, growth * sine};
  }
  return E;
}

// Return the largest ||found - expected||_2 / ||found||_2 of the columns with all numbers in the middle of the range.
template <Scalar T> std::optional<double> column_error(const HostMatrix<T>& found, const WideMatrix& expected) {
  std::optional<double> largest;
  Wide::bits = 512;
  const double tiny =
      std::ldexp(static_cast<double>(std::numeric_limits<Real<T>>::min()), std::numeric_limits<Real<T>>::digits);
  for (Index c = 0; c < expected.columns; ++c) {
    Wide error;
    Wide size;
    for (Index i = 0; i < expected.rows; ++i) {
      const WideComplex x(test::widen(found(i, c)));
      error += (x - expected.at(i, c)).square();
      size += x.square();
    }
    if (!(Wide(tiny) < size.root())) {
      if (!error.is_zero()) continue;  // underflow
      largest = std::max(largest.value_or(0.0), 0.0);
      continue;
    }
    largest = std::max(largest.value_or(0.0), (error.root() / size.root()).to_double());
  }
  return largest;
}

template <Scalar T> void judge_refusal(Verdict& verdict, const Thrown& thrown, const WideMatrix& expected, bool large) {
  ExponentialTruth truth;
  truth.E = expected;
  verdict.holds("refuses what overflows, or has no digit, alone", large || overflows<T>(truth, 0.99), thrown.message);
  verdict.holds("refuses as a computation", thrown.kind == ErrorKind::computation, thrown.message);
}

template <Scalar T>
void judge_error(Verdict& verdict, const HostMatrix<T>& found, const WideMatrix& expected,
                 const ExpmActionReport& report) {
  ExponentialTruth truth;
  truth.E = expected;
  verdict.holds("finite", !overflows<T>(truth, 1.01), "a result that overflows was returned");
  const auto error = column_error<T>(found, expected);
  if (!error) return verdict.skip();
  const std::string by = std::string(to_string(report.method));
  verdict.within((report.error_is_bound ? "error within the bound, " : "error within the estimate, ") + by, *error,
                 report.error);
  verdict.observe("reported error, " + by, report.error);
}

void draw_action(Random& random, Case& one, bool known) {
  const Index n = random.one_in(12) ? random.between(9, 14) : random.one_in(20) ? 0 : random.between(1, 7);
  Array& A = one.add("A", 'n', n, 'n', n);
  known ? fill_spectrum(random, one.type, A) : fill_non_normal(random, one.type, A);
  fill_mood(random, one.type, one.add("B", 'n', n, 'm', random.between(1, 3)),
            random.any_of(Mood::units, Mood::integers, Mood::sparse));
  draw_time(random, one);
  one.add_knob("method", random.below(4));
  one.add_knob("dimension", random.any_of(40L, 10L, 2L, 3L, 5L), 40);
  one.add_knob("structure", known ? 1 : static_cast<long>(random.below(2)));
  one.add_knob("digits", random.one_in(4) ? random.between(3, 6) : 0);
  one.add_knob("place A", random.below(100));
}

template <Scalar T> void run_action(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const Array& block = one.array("B");
  const Value time = one.array("time").values[0];
  const ExpmActionOptions options = action_options_of(one);
  if (!is_finite(given) || !is_finite(block)) return verdict.skip();
  if (takes_long(one, options)) return verdict.skip();
  ExpmActionReport report;
  const auto compute = [&](const Communicator& comm, HostMatrix<T>& found) {
    const auto A = distributed<T>(comm, given, one.knob("place A"));
    const auto B = distributed<T>(comm, block, one.knob("place A") + 1);
    const auto R = distributed<T>(comm, block.rows, block.columns, one.knob("place A") + 2);
    const Thrown thrown = thrown_by([&] { report = expm_action(comm, time, A, B, R, options); });
    if (!thrown.any) found = gather(R, 0);
    return thrown;
  };
  HostMatrix<T> alone;
  HostMatrix<T> found;
  const Thrown thrown_alone = compute(world.alone, alone);
  const Thrown thrown = compute(world.all, found);
  verdict.holds("throws on any number of ranks alike", thrown.any == thrown_alone.any,
                thrown.message + thrown_alone.message);
  if (!world.root()) return;
  const auto E = reference_of(given, time, one.type);
  if (!E) return verdict.skip();
  Wide::bits = 512;
  const WideMatrix expected = *E * WideMatrix(block);
  if (thrown.any) {
    const Wide norm = norm1(WideMatrix(given)) * Wide(std::abs(time));
    const double u = static_cast<double>(unit_roundoff<T>);
    // Errors are relative to exp(time A), which may overflow even if the columns do not excite its largest part.
    ExponentialTruth whole;
    whole.E = E;
    return judge_refusal<T>(verdict, thrown, expected, Wide(0.05 / u) < norm || overflows<T>(whole, 0.99));
  }
  verdict.holds("the same bits on one rank", difference(found, alone).empty(), difference(found, alone));
  judge_error<T>(verdict, found, expected, report);
}

// Return a larger matrix whose exponential has phi_0 ... phi_p of A as its first blocks.
Array beside_ones(const Array& A, Index p) {
  Array whole;
  const Index n = A.rows;
  whole.rows = whole.columns = n * (p + 1);
  whole.values.assign(static_cast<std::size_t>(whole.rows * whole.columns), 0.0);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) whole.at(i, j) = A.at(i, j);
  }
  for (Index i = 0; i < n * p; ++i) whole.at(i, i + n) = 1.0;
  return whole;
}

template <Scalar T> void run_phi_functions(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const Index n = given.rows;
  const auto p = static_cast<Index>(std::clamp(one.knob("p"), 0L, 8L));
  if (!is_finite(given)) return verdict.skip();
  PhiOptions options;
  options.gemm.tile = 3;
  if (one.knob("emulated") != 0) options.gemm.arithmetic = Arithmetic::emulated;
  PhiReport report;
  const auto compute = [&](const Communicator& comm, std::vector<HostMatrix<T>>& found) {
    const auto A = distributed<T>(comm, given, one.knob("place A"));
    std::vector<DistributedMatrix<T>> phis;
    for (Index k = 0; k <= p; ++k) phis.push_back(distributed<T>(comm, n, n, one.knob("place A") + k));
    const Thrown thrown = thrown_by([&] { report = phi<T>(comm, A, phis, options); });
    for (const auto& one_phi : phis) found.push_back(gather(one_phi, 0));
    return thrown;
  };
  std::vector<HostMatrix<T>> alone;
  std::vector<HostMatrix<T>> found;
  const Thrown thrown_alone = compute(world.alone, alone);
  const Thrown thrown = compute(world.all, found);
  verdict.holds("throws on any number of ranks alike", thrown.any == thrown_alone.any,
                thrown.message + thrown_alone.message);
  if (!world.root()) return;
  const ExponentialTruth truth = exponential_truth(beside_ones(given, p), one.type);
  if (!truth.E) return verdict.skip();
  if (thrown.any) {
    verdict.holds("refuses what overflows alone", overflows<T>(truth, 0.99), thrown.message);
    return;
  }
  const double u = static_cast<double>(unit_roundoff<T>);
  Wide::bits = 512;
  const double size = norm1(*truth.E).to_double();
  for (Index k = 0; k <= p; ++k) {
    const auto at = static_cast<std::size_t>(k);
    verdict.holds("the same bits on one rank", difference(found[at], alone[at]).empty(),
                  difference(found[at], alone[at]));
    WideMatrix expected(n, n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) expected.at(i, j) = truth.E->at(i, j + k * n);
    }
    if (!(size < std::numeric_limits<double>::infinity()) || truth.tiny) return verdict.skip();
    // Judged as exp(A) itself: no header promises a number for the roundings.
    const double allowed =
        1e4 * static_cast<double>(std::max<Index>(n, 1)) * u * std::max({1.0, truth.condition, truth.norm}) * size;
    verdict.within("error of a function", distance1(WideMatrix(found[at]), expected).to_double(), allowed);
  }
}

// Return [A W; 0 J]; the last column of its exponential has the sum of time^k phi_k(time A) b_k for b_0 = 0.
Array beside_vectors(const Array& A, const Array& B) {
  const Index n = A.rows;
  const Index p = B.columns - 1;
  Array whole;
  whole.rows = whole.columns = n + p;
  whole.values.assign(static_cast<std::size_t>(whole.rows * whole.columns), 0.0);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) whole.at(i, j) = A.at(i, j);
    for (Index k = 1; k <= p; ++k) whole.at(i, n + p - k) = B.at(i, k);
  }
  for (Index i = 0; i + 1 < p; ++i) whole.at(n + i, n + i + 1) = 1.0;
  return whole;
}

template <Scalar T> LocalMatrix<T> on_device(const HostMatrix<T>& X) {
  const LocalMatrix<T> copy("heddle::hunt::block", X.extent(0), X.extent(1));
  const auto mirror = Kokkos::create_mirror_view(copy);
  for (std::size_t j = 0; j < X.extent(1); ++j) {
    for (std::size_t i = 0; i < X.extent(0); ++i) mirror(i, j) = X(i, j);
  }
  Kokkos::deep_copy(copy, mirror);
  return copy;
}

template <Scalar T> void run_phi_sums(const World& world, const Case& one, Verdict& verdict) {
  const Array& given = one.array("A");
  const Array& block = one.array("B");
  const Value time = one.array("time").values[0];
  ExpmActionOptions options = action_options_of(one);
  options.structure = ExpmActionStructure::general;
  if (options.method == ExpmActionMethod::chebyshev) options.method = ExpmActionMethod::automatic;
  if (!is_finite(given) || !is_finite(block) || block.columns < 1 || block.columns > 9) return verdict.skip();
  if (takes_long(one, options)) return verdict.skip();
  const auto A = distributed<T>(world.all, given, one.knob("place A"));
  const LocalMatrix<T> B = on_device<T>(host_of<T>(block));
  const LocalMatrix<T> R("heddle::hunt::R", static_cast<std::size_t>(block.rows), 1);
  ExpmActionReport report;
  const Thrown thrown = thrown_by(
      [&] { report = phi_action<T, T>(world.all, time, A, MatrixView<const T>(B), MatrixView<T>(R), options); });
  if (!world.root()) return;
  const auto E = exponential_truth(beside_vectors(given, block), one.type, time).E;
  if (!E) return verdict.skip();
  Wide::bits = 512;
  WideMatrix start(E->rows, 1);
  for (Index i = 0; i < block.rows; ++i) start.at(i, 0) = WideComplex(block.at(i, 0));
  if (block.columns > 1) start.at(E->rows - 1, 0) = WideComplex(Value(1.0));
  const WideMatrix whole = *E * start;
  WideMatrix expected(block.rows, 1);
  for (Index i = 0; i < block.rows; ++i) expected.at(i, 0) = whole.at(i, 0);
  if (thrown.any) return judge_refusal<T>(verdict, thrown, whole, false);
  const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), R);
  judge_error<T>(
      verdict,
      test::host_matrix<T>(block.rows, 1, [&](Index i, Index) { return mirror(static_cast<std::size_t>(i), 0); }),
      expected, report);
}

}  // namespace

void draw_expm_action_spectra(Random& random, Case& one) {
  draw_action(random, one, true);
}
HEDDLE_HUNT_RUN(expm_action_spectra, run_action)
void draw_expm_action_non_normal(Random& random, Case& one) {
  draw_action(random, one, false);
}
HEDDLE_HUNT_RUN(expm_action_non_normal, run_action)
void draw_phi(Random& random, Case& one) {
  const Index n = random.one_in(20) ? 0 : random.between(1, 5);
  Array& A = one.add("A", 'n', n, 'n', n);
  fill_general(random, one.type, A, range_of(one.type).digits == 24 ? 30.0 : 200.0);
  one.add_knob("p", random.between(0, 4));
  one.add_knob("emulated", random.one_in(4) ? 1 : 0);
  one.add_knob("place A", random.below(100));
}
HEDDLE_HUNT_RUN(phi, run_phi_functions)
void draw_phi_action(Random& random, Case& one) {
  const Index n = random.one_in(20) ? 0 : random.between(1, 6);
  Array& A = one.add("A", 'n', n, 'n', n);
  random.one_in(2) ? fill_spectrum(random, one.type, A) : fill_non_normal(random, one.type, A);
  fill_mood(random, one.type, one.add("B", 'n', n, 'm', random.between(1, 5)),
            random.any_of(Mood::units, Mood::integers, Mood::sparse));
  draw_time(random, one);
  one.add_knob("method", random.below(4));
  one.add_knob("dimension", random.any_of(40L, 10L, 2L, 3L, 5L), 40);
  one.add_knob("structure", 0);
  one.add_knob("digits", 0);
  one.add_knob("place A", random.below(100));
}
HEDDLE_HUNT_RUN(phi_action, run_phi_sums)

}  // namespace heddle::hunt
