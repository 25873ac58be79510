// Certificates: an enclosure of exp(A) in fixed-point arithmetic, and bounds of the distance from E.
#include "expm/certificate/certificate.hpp"

#include "core/elementwise.hpp"
#include "expm/certificate/fixed_point.hpp"
#include "expm/dense/balance.hpp"
#include "libm/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::impl {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Factor of all results of double precision in bounds; each has so few operations that it rounds by less.
constexpr double up = 1.0 + 0x1p-40;
// Exponent of the matrices of the Taylor polynomial, which are at most e^(1/2) + 1/4 in size.
constexpr int series_exponent = 2;
constexpr double largest_angle = 0.5;
constexpr int most_powers = 5;

// Return a matrix in row bands and double precision; empty if it is zero.
template <RealScalar T>
SharedMatrix<double> widened(const Communicator& comm, const std::optional<DistributedMatrix<T>>& part) {
  if (!part || !(norm(*part, Norm::maximum) > 0)) return {};
  const Placement rows = Placement::row_bands(part->rows(), part->columns(), comm.size());
  if constexpr (std::is_same_v<T, double>) {
    if (part->placement() == rows) return *part;
  }
  DistributedMatrix<T> there = *part;
  if (part->placement() != rows) {
    there = DistributedMatrix<T>(comm, rows, "heddle::expm::certified");
    redistribute(*part, there);
  }
  const DistributedMatrix<double> wide(comm, rows, "heddle::expm::certified_wide");
  const Elements<T> from(there.local());
  const Elements<double> to(wide.local());
  for_each_element(
      comm.space(), "heddle::expm::widen", static_cast<Index>(there.local().extent(0)),
      static_cast<Index>(there.local().extent(1)),
      KOKKOS_LAMBDA(Index i, Index j) { to(i, j) = static_cast<double>(from(i, j)); });
  // `there` is destroyed at the return.
  comm.space().fence("heddle::expm::widen");
  return wide;
}

template <RealScalar T> Parts<double> widened(const Communicator& comm, const SplitMatrix<T>& A) {
  return {widened<T>(comm, A.real), widened<T>(comm, A.imaginary)};
}

// The problem to certify: A as it is exponentiated, and its properties.
struct Problem {
  Parts<double> A;           // A, balanced.
  std::vector<int> balance;  // exp of the given matrix is D exp(A) D^-1, D = diag(2^balance); empty: D = I.
  double norm = 0.0;         // Bound of the 1- and the infinity-norm.
  LogarithmicNorm logarithmic;
};

double norm_of(const Communicator& comm, const Parts<double>& A) {
  double one = 0.0;
  for (const SharedMatrix<double>* part : {&A.real, &A.imaginary}) {
    if (!*part) continue;
    ColumnNorms<double> norms(comm, (*part)->placement());
    one += norms.reproducible_bound(**part, norms.measure(**part).largest);
  }
  return std::max(one * up, infinity_norm_bound(comm, A));
}

Problem problem_of(const Communicator& comm, const Parts<double>& A, bool balanced) {
  Problem problem;
  problem.A = A;
  problem.norm = norm_of(comm, A);
  if (balanced) {
    Balance found = balance(comm, A);
    if (found.needed) {
      const auto copy_of = [&](const SharedMatrix<double>& part) -> WorkMatrix<double> {
        if (!part) return {};
        WorkMatrix<double> result(
            DistributedMatrix<double>(comm, part->placement(), "heddle::expm::certified_balanced"));
        copy(*part, result.write());
        return result;
      };
      WorkParts<double> B{copy_of(A.real), copy_of(A.imaginary)};
      apply_balance(comm, found.exponents, B);
      problem.A = std::move(B);
      problem.balance = std::move(found.exponents);
      problem.norm = norm_of(comm, problem.A);
    }
  }
  problem.logarithmic = logarithmic_norm(comm, problem.A);
  return problem;
}

// The series sum_(k <= m) X^k / k!, m = powers (blocks + 1), X = A / 2^squarings, evaluated with q = `powers` powers.
struct Series {
  int squarings = 0;
  int powers = 1;
  int blocks = 0;
  double angle = 0.0;  // Bound of ||X||.
};

double remainder_of(double angle, int degree) {
  double term = 1.0;
  for (int k = 1; k <= degree + 1; ++k) term *= angle / k * (1.0 + 0x1p-50);
  return term / (1.0 - angle / (degree + 2)) * up;
}

// Choose the series with the fewest products whose remainder is below 2^-bits.
Series choose_series(double norm, int bits, bool real, bool imaginary) {
  // Products of real matrices for a product of two powers, of the sum of a series and a power, and of two such sums.
  const double power = real && imaginary ? 4 : 1;
  const double sum = imaginary ? (real ? 4 : 2) : 1;
  const double square = imaginary ? 4 : 1;
  int least = 0;
  if (norm > largest_angle) {
    std::frexp(norm / largest_angle, &least);
  }
  Series best;
  double best_cost = infinity;
  for (int squarings = least; squarings <= least + 12; ++squarings) {
    const double angle = std::ldexp(norm, -squarings);
    for (int powers = 1; powers <= most_powers; ++powers) {
      for (int blocks = 0; blocks <= 40; ++blocks) {
        const double remainder = remainder_of(angle, powers * (blocks + 1));
        if (!(remainder <= std::ldexp(1.0, -bits))) continue;
        const double cost = power * (powers - 1) + sum * blocks + square * squarings;
        if (cost < best_cost) {
          best_cost = cost;
          best = {squarings, powers, blocks, angle};
        }
        break;
      }
    }
  }
  return best;
}

// F_k as computed, all in units of 2^exponent.
struct Level {
  int exponent = 0;
  FixedPointNorms norms;
  double rounding = 0.0;  // Error of the product that made it, in 1- and 2-norm.
};

// Bounds of D_s in both norms, in units of F_s.
struct Bounds {
  double one = 0.0;
  double two = 0.0;
};

// Return at least 2^power, for a real power.
double exp2_bound(double power) {
  if (std::isnan(power) || power > 1000.0) return infinity;
  return libm::exp2(std::max(power, -1000.0)) * (1.0 + 0x1p-30);
}

// Bound the errors of F_s. `slope`: log2 of ||exp(A / 2^(s-k))||_2 is at most slope 2^(k-s).
Bounds bounds_of(const std::vector<Level>& levels, double first, double n, double slope) {
  const double root = std::sqrt(n) * up;
  const int squarings = static_cast<int>(levels.size()) - 1;
  Bounds off{first, first};
  for (int k = 0; k < squarings; ++k) {
    const Level& from = levels[static_cast<std::size_t>(k)];
    const Level& to = levels[static_cast<std::size_t>(k) + 1];
    const double measured = std::sqrt(from.norms.one * from.norms.infinity) * up + off.two;
    const double power = std::ldexp(slope, k - squarings);
    const double known = exp2_bound(power + std::abs(power) * 0x1p-40 - from.exponent);
    const double two = std::min(measured, known);
    const int shift = 2 * from.exponent - to.exponent;
    const Bounds before = off;
    // F D + D F - D^2 = X D + D X + D^2 with X = F - D.
    off.one = (std::ldexp((2.0 * from.norms.one + before.one) * before.one, shift) + to.rounding) * up;
    off.two = (std::ldexp((2.0 * two + before.two) * before.two, shift) + to.rounding) * up;
    off.one = std::min(off.one, root * off.two);
    off.two = std::min(off.two, root * off.one);
    if (std::isnan(off.one) || std::isnan(off.two)) return {infinity, infinity};
  }
  return off;
}

// An enclosure of exp(A) in a given number of limbs: the result and a bound of its error.
struct Enclosure {
  FixedPoint F;
  double off = 0.0;  // Bound of the error in the 1-norm, in units of 2^F.exponent.
  int squarings = 0;
};

Enclosure enclose(FixedPointArithmetic& arithmetic, const Problem& problem, double n) {
  const bool real = static_cast<bool>(problem.A.real);
  const bool imaginary = static_cast<bool>(problem.A.imaginary);
  const Series series =
      choose_series(problem.norm, arithmetic.bits() - static_cast<int>(libm::log2(n)), real, imaginary);
  // Absolute units from here on, except in the members of `arithmetic`.
  const double scale = std::ldexp(1.0, series_exponent);
  const double unit = arithmetic.unit_norm() * scale;
  const double rounding = arithmetic.product_error(series_exponent) * scale;
  const double angle = (series.angle + unit) * up;  // With the rounding of A.

  std::vector<FixedPoint> powers;
  powers.push_back(arithmetic.quantised(problem.A, -series.squarings, series_exponent));
  double off_power = 0.0;  // Error of the last power.
  double off_powers = 0.0;
  for (int k = 2; k <= series.powers; ++k) {
    powers.push_back(arithmetic.multiply(powers.back(), powers.front(), series_exponent));
    off_power = (off_power * angle + rounding) * up;
    off_powers += off_power;
  }
  const double last = libm::pow(angle, series.powers) * up + off_power;
  // Each step divides by at least 1 and adds; sums are below e^(1/2), and below 2 with their errors.
  const double off_terms = (off_powers + series.powers * unit) * up;
  FixedPoint F = arithmetic.horner(powers.back(), powers, series.powers, series.powers * series.blocks);
  double off = off_terms;
  for (int block = series.blocks - 1; block >= 0; --block) {
    F = arithmetic.multiply(F, powers.back(), series_exponent);
    off = (off * last + 2.0 * off_power + rounding) * up;
    F = arithmetic.horner(F, powers, series.powers, series.powers * block);
    off = (off + off_terms) * up;
  }
  // A was rounded to units; balancing may have rounded denormal numbers.
  off = (off + remainder_of(angle, series.powers * (series.blocks + 1)) + 2.0 * (unit + n * 0x1p-1060)) * up;
  powers.clear();
  // Sums with larger errors may exceed 2.
  if (!(off < 0.125)) off = infinity;

  std::vector<Level> levels;
  levels.push_back({F.exponent, {}, 0.0});
  for (int k = 0; k < series.squarings; ++k) {
    levels.back().norms = arithmetic.norms(F);
    const int before = F.exponent;
    F = arithmetic.multiply(F, F);
    levels.push_back({F.exponent, {}, arithmetic.product_error(2 * before - F.exponent)});
  }
  const double first = off / scale * up;
  double slope = problem.logarithmic.bound * 1.4426950408889634;
  slope += std::abs(slope) * 0x1p-40;
  Bounds bounds = bounds_of(levels, first, n, slope);
  if (problem.logarithmic.hermitian && series.squarings > 0) {
    // ||exp(A)||_2 is known here, and so are those of its roots.
    levels.back().norms = arithmetic.norms(F);
    const FixedPointNorms& last_norms = levels.back().norms;
    const double two = (std::sqrt(last_norms.one * last_norms.infinity) + bounds.two) * up;
    slope = std::min(slope, libm::log2(two) + F.exponent + 0x1p-20);
    const Bounds again = bounds_of(levels, first, n, slope);
    bounds = {std::min(bounds.one, again.one), std::min(bounds.two, again.two)};
  }
  return {F, std::min(bounds.one, std::sqrt(n) * up * bounds.two), series.squarings};
}

int limbs_for(Index n, double bits) {
  int limbs = 2;
  while (limbs < FixedPointArithmetic::most_limbs && limbs * FixedPointArithmetic::width_of(n, limbs) < bits) ++limbs;
  return limbs;
}

// Return the largest number of limbs: large matrices take too much memory and too many products with more.
int most_limbs(Index n) {
  return n <= 512 ? FixedPointArithmetic::most_limbs : n <= 2048 ? 20 : 12;
}

// Certify in more and more limbs; return whether the bound is as near the distance as required.
bool certify_problem(FixedPointArithmetic& arithmetic, const Problem& problem, const Parts<double>& E, Index order,
                     double roundoff, Certificate& result) {
  const auto n = static_cast<double>(order);
  const double target = 4.0 * n * roundoff;
  const auto [lowest, highest] = [&] {
    if (problem.balance.empty()) return std::pair<int, int>{0, 0};
    const auto [low, high] = std::minmax_element(problem.balance.begin(), problem.balance.end());
    return std::pair<int, int>{*low, *high};
  }();
  const double doublings = problem.norm > largest_angle ? libm::log2(problem.norm / largest_angle) : 0.0;
  // Errors double with each squaring, and products of limbs leave out all below the last limb. If no bound of the
  // 2-norm is known, bounds of norms of powers exceed them by as much as experiments with random matrices showed.
  const double unknown = problem.logarithmic.bound <= 1.0 ? 0.0 : std::min(1.5 * doublings, 2.0 * libm::log2(n));
  const double wanted = 4.0 + std::max(unknown, 4.0) - libm::log2(n * roundoff) + doublings + libm::log2(n * (n + 1.0));
  int limbs = std::min(limbs_for(order, wanted), most_limbs(order));
  for (;;) {
    arithmetic.set_limbs(limbs);
    const Enclosure found = enclose(arithmetic, problem, n);
    ++result.attempts;
    result.limbs = limbs;
    result.width = arithmetic.width();
    result.squarings = found.squarings;
    const auto distance = arithmetic.distance(found.F, problem.balance, E);
    // ||D X D^-1|| <= ||D|| ||D^-1|| ||X||, in units of 2^top.
    const double off = std::ldexp(found.off, found.F.exponent + highest - lowest - distance.top) * up;
    double bound = (distance.difference + off) / (distance.norm - off) * up;
    if (!(distance.norm > off) || std::isnan(bound)) bound = infinity;
    result.bound = std::min(result.bound, bound);
    const bool good = distance.norm > off && off <= std::max(target * distance.norm, 0.1 * distance.difference);
    if (good || limbs == most_limbs(order)) return good;
    const double missing = libm::log2(off / (target * distance.norm));
    const int more =
        std::isfinite(missing) && missing > 0 ? limbs_for(order, arithmetic.bits() + missing + 4.0) : 2 * limbs;
    limbs = std::min({std::max(more, limbs + 1), 2 * limbs, most_limbs(order)});
  }
}

// Certify A and E in row bands over `comm`.
Certificate certify_wide(const Communicator& comm, Index order, const Parts<double>& A, const Parts<double>& E,
                         double roundoff, Index tile) {
  Certificate result;
  result.bound = infinity;
  Problem problem = problem_of(comm, A, true);
  if (!std::isfinite(problem.norm) && !problem.balance.empty()) problem = problem_of(comm, A, false);
  if (!std::isfinite(problem.norm)) return result;
  FixedPointArithmetic arithmetic(comm, order, tile);
  const bool good = certify_problem(arithmetic, problem, E, order, roundoff, result);
  // Balancing may worsen the bound by more than it saves.
  if (!good && !problem.balance.empty()) {
    problem = problem_of(comm, A, false);
    if (std::isfinite(problem.norm)) certify_problem(arithmetic, problem, E, order, roundoff, result);
  }
  result.products = arithmetic.products();
  return result;
}

// Gather a matrix on rank 0 alone.
Parts<double> gathered(const Communicator& comm, const Communicator& self, const Parts<double>& A) {
  const auto gathered_part = [&](const SharedMatrix<double>& part) -> SharedMatrix<double> {
    if (!part) return {};
    const HostMatrix<double> whole = gather(*part, 0);
    if (comm.rank() != 0) return {};
    const DistributedMatrix<double> mine(self, Placement::row_bands(part->rows(), part->columns(), 1),
                                         "heddle::expm::certified_whole");
    scatter(whole, 0, mine);
    return mine;
  };
  return {gathered_part(A.real), gathered_part(A.imaginary)};
}

}  // namespace

template <RealScalar T>
Certificate certify(const Communicator& comm, const SplitMatrix<T>& A, const SplitMatrix<T>& E, double roundoff,
                    Index tile, Index alone) {
  const Index order = (A.real ? *A.real : *A.imaginary).rows();
  if (order == 0) return {};
  const Parts<double> wide = widened<T>(comm, A);
  const Parts<double> result = widened<T>(comm, E);
  if (comm.size() == 1 || order > alone) return certify_wide(comm, order, wide, result, roundoff, tile);
  const Communicator self(MPI_COMM_SELF, comm.space());
  const Parts<double> whole = gathered(comm, self, wide);
  const Parts<double> whole_result = gathered(comm, self, result);
  Certificate found;
  comm.on_rank(0, [&] { found = certify_wide(self, order, whole, whole_result, roundoff, tile); });
  comm.broadcast(std::span<Certificate>(&found, 1), 0);
  return found;
}

#define HEDDLE_INSTANTIATE(T)                                                                                       \
  template Certificate certify<T>(const Communicator&, const SplitMatrix<T>&, const SplitMatrix<T>&, double, Index, \
                                  Index)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
