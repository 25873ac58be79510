// Derivatives of the exponential: all methods, directions, arithmetics and structures, on any ranks.
#include "hunt/exponentials.hpp"
#include "hunt/matrices.hpp"
#include "hunt/operations.hpp"
#include <heddle/expm/frechet.hpp>

#include <limits>

namespace heddle::hunt {
namespace {

template <Scalar T> struct Derivative {
  Thrown thrown;
  ExpmFrechetReport report;
  HostMatrix<T> E, L;
};
template <Scalar T>
Derivative<T> derivative(const Communicator& comm, const Case& one, const ExpmFrechetOptions& options) {
  Derivative<T> result;
  const Index n = one.array("A").rows;
  const auto A = distributed<T>(comm, one.array("A"), one.knob("place A"));
  const auto D = distributed<T>(comm, one.array("D"), one.knob("place D"));
  const auto E = distributed<T>(comm, n, n, one.knob("place D"));
  const auto L = distributed<T>(comm, n, n, one.knob("place A"));
  result.thrown = thrown_by([&] { result.report = expm_frechet(comm, A, D, E, L, options); });
  if (!result.thrown.any) result.E = gather(E, 0), result.L = gather(L, 0);
  return result;
}

ExpmFrechetOptions frechet_options_of(const Case& one) {
  ExpmFrechetOptions options;
  const long method = one.knob("method");
  options.method = method == 1   ? ExpmMethod::paterson_stockmeyer
                   : method == 2 ? ExpmMethod::few_products
                                 : ExpmMethod::automatic;
  options.complex_products = one.knob("products of complex") == 4 ? 4 : 3;
  options.adjoint = one.knob("adjoint") != 0;
  options.gemm.arithmetic = static_cast<Arithmetic>(one.knob("arithmetic"));
  options.gemm.tile = one.knob("tile");
  options.gemm.rates = some_rates(one.knob("place A") % 2 == 0);
  return options;
}

template <Scalar T> double error_of(const HostMatrix<T>& found, const WideMatrix& truth) {
  Wide::bits = 3000;
  const Wide norm = norm1(truth);
  return norm.is_zero() ? norm1(WideMatrix(found)).to_double()
                        : (distance1(WideMatrix(found), truth) / norm).to_double();
}

template <Scalar T> bool in_range(const WideMatrix& X) {
  const double largest = static_cast<double>(std::numeric_limits<Real<T>>::max());
  const double least = std::ldexp(static_cast<double>(std::numeric_limits<Real<T>>::min()), 60);
  const double norm = norm1(X).to_double();
  return norm <= std::sqrt(largest) && (norm == 0 || norm >= least);
}

template <Scalar T> void run_derivative(const World& world, const Case& one, Verdict& verdict) {
  const ExpmFrechetOptions options = frechet_options_of(one);
  Array A = one.array("A");
  const Array& D = one.array("D");
  const auto found = derivative<T>(world.all, one, options);
  if (!is_finite(A) || !is_finite(D)) {
    verdict.holds("refuses NaN and infinity", found.thrown.any && found.thrown.kind == ErrorKind::computation,
                  found.thrown.message);
    return;
  }
  if (world.root()) {
    const Array given = A;
    for (Index j = 0; options.adjoint && j < A.columns; ++j) {
      for (Index i = 0; i < A.rows; ++i) A.at(i, j) = std::conj(given.at(j, i));
    }
    const DerivativeTruth truth = derivative_truth(A, D, one.type);
    const ExponentialTruth exponential = exponential_truth(given, one.type);
    if (!truth.E || !exponential.E) {
      verdict.skip();
    } else if (found.thrown.any) {
      verdict.holds("refuses as a computation", found.thrown.kind == ErrorKind::computation, found.thrown.message);
      verdict.holds("refuses nothing of moderate size", !(exponential.norm < 50 && in_range<T>(*truth.L)),
                    found.thrown.message);
    } else {
      const double nu = static_cast<double>(std::max<Index>(A.rows, 1)) * static_cast<double>(unit_roundoff<T>);
      // Larger errors are suspicious, as in op_expm.cpp.
      if (in_range<T>(*exponential.E) && in_range<T>(*truth.L)) {
        // For the adjoint the exponential of A^H is computed and returned as that of A.
        verdict.within("error of the exponential", error_of<T>(found.E, *exponential.E),
                       1e4 * nu * std::max({1.0, exponential.condition, exponential.norm}));
        verdict.within("error of the derivative", error_of<T>(found.L, *truth.L),
                       1e4 * nu * std::max({1.0, truth.condition, exponential.norm}));
      }
      const std::vector<bool> filled = reached(given);
      for (Index j = 0; j < A.columns; ++j) {
        for (Index i = 0; i < A.rows; ++i) {
          if (!filled[static_cast<std::size_t>(i + j * A.rows)]) {
            verdict.holds("zeros stay zeros", found.E(i, j) == T(0), told<T>(i, j, found.E(i, j), T(0)));
          }
        }
      }
    }
  }
  if (options.gemm.tile == 0 || options.gemm.arithmetic == Arithmetic::automatic) return;
  const auto alone = derivative<T>(world.alone, one, options);
  verdict.holds("throws on any number of ranks alike", alone.thrown.any == found.thrown.any,
                alone.thrown.message + found.thrown.message);
  if (!world.root() || alone.thrown.any || found.thrown.any) return;
  verdict.holds("the same bits on one rank",
                difference(found.E, alone.E).empty() && difference(found.L, alone.L).empty(),
                difference(found.L, alone.L));
}

}  // namespace

void draw_expm_frechet(Random& random, Case& one) {
  const Index n = random.one_in(20) ? 0 : random.between(1, 6);
  const double largest =
      range_of(one.type).digits == 24 ? random.any_of(10.0, 80.0) : random.any_of(10.0, 100.0, 600.0);
  fill_with_structure(random, one.type, one.add("A", 'n', n, 'n', n), largest);
  fill_general(random, one.type, one.add("D", 'n', n, 'n', n), largest);
  one.add_knob("method", random.below(3));
  one.add_knob("adjoint", random.one_in(3) ? 1 : 0);
  one.add_knob("products of complex", random.any_of(3L, 4L), 3);
  one.add_knob("arithmetic", random.below(3));
  one.add_knob("tile", random.any_of(0L, 1L, 3L, 16L));
  one.add_knob("place A", random.below(100));
  one.add_knob("place D", random.below(100));
}
HEDDLE_HUNT_RUN(expm_frechet, run_derivative)

}  // namespace heddle::hunt
