// Bounds of the errors of solutions, proven by an approximate inverse.
#include "solve/proof/certificate.hpp"

#include "core/instantiate.hpp"
#include "solve/grid/host_copy.hpp"
#include "solve/system/equilibration.hpp"
#include "solve/system/memory.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/exact/distributed.hpp>
#include <heddle/exact/matrix.hpp>
#include <heddle/gemm/gemm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace heddle::impl {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

// 1 in a thread that rounds other than to nearest, or takes denormal numbers for zero.
struct OtherArithmetic {
  KOKKOS_INLINE_FUNCTION void operator()(Index, int& others) const {
    volatile double one = 1.0;
    volatile double little = 0x1p-60;
    volatile double denormal = std::numeric_limits<double>::denorm_min();
    const double up = one + little;
    const double down = one - little;
    const double kept = denormal * one;
    const bool other = up != 1.0 || down != 1.0 || !(kept > 0.0);
    others = others > 0 || other ? 1 : 0;
  }
};
// Whether all threads of this rank have the arithmetic that IEEE 754 has by default.
bool has_default_arithmetic_here(const ExecutionSpace& space) {
  int others = 0;
  OtherArithmetic{}(0, others);
  if constexpr (on_host) {
    int of_threads = 0;
    Kokkos::parallel_reduce(
        "heddle::solve::arithmetic",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<Index>>(
            space, 0, Index{space.concurrency()}),
        OtherArithmetic{}, Kokkos::Max<int>(of_threads));
    others = std::max(others, of_threads);
  }
  return others == 0;
}

// Upper bounds of the elements of |V r|, times 2^-power.
struct Errors {
  std::vector<double> sizes;
  Index power = 0;
};
// Errors from residuals r, each element rounded once, whose rows are multiplied by powers of two.
template <Scalar T> Errors errors_by(const ApproximateInverse<T>& V, const std::vector<T>& residuals) {
  using Limits = std::numeric_limits<Real<T>>;
  const auto unit = static_cast<double>(unit_roundoff<T>);
  const auto smallest = static_cast<double>(Limits::denorm_min());
  const std::size_t n = residuals.size();
  const std::vector<Index>& rows = V.rows();
  // A denormal number is off by less than the smallest number.
  constexpr Index least = Limits::min_exponent - Limits::digits + 2;
  Errors errors;
  errors.power = std::numeric_limits<Index>::min();
  for (std::size_t i = 0; i < n; ++i) {
    const double size = part_size(residuals[i]);
    const Index exponent = size > 0 && std::isfinite(size) ? std::max<Index>(std::ilogb(size) + 1, least) : least;
    errors.power = std::max(errors.power, exponent + rows[i]);
  }
  std::vector<T> scaled(n);
  std::vector<double> off(n);
  for (std::size_t i = 0; i < n; ++i) {
    scaled[i] = times_power_of_two(residuals[i], rows[i] - errors.power);
    off[i] = 4.0 * unit * magnitude(scaled[i]) + 4.0 * smallest + times_power(4.0, least + rows[i] - errors.power);
  }
  const std::vector<T> product = V.times(scaled);
  errors.sizes = sizes_of_rows(V.inverse(), off);
  for (std::size_t i = 0; i < n; ++i) {
    const double size = magnitude(product[i]) * (1.0 + 4.0 * unit) + 2.0 * smallest;
    errors.sizes[i] = enlarged(size + errors.sizes[i], V.inverse().rows());
  }
  return errors;
}

}  // namespace

bool has_default_arithmetic(const OptionalRanks& ranks) {
  return ranks.all_reduce(has_default_arithmetic_here(ranks.space()) ? 1.0 : 0.0, Reduction::minimum) > 0.0;
}

template <Scalar T> void multiply(const PlacedMatrix<T>& A, const PlacedMatrix<T>& B, const PlacedMatrix<T>& C) {
  if (B.ranks().comm() != nullptr) {
    const Communicator& comm = *B.ranks().comm();
    GemmOptions options;
    options.tile = certificate_tile(B.rows(), comm.size());
    options.workspace_bytes = sizeof(T) * static_cast<std::size_t>(options.tile * B.rows());
    gemm(comm, Operation::none, Operation::none, T(1), A.distributed(), B.distributed(), T(0), C.distributed(),
         options);
  } else {
    blas::gemm<T>(B.space(), Operation::none, Operation::none, T(1), A.local(), B.local(), T(0), C.local());
  }
}

template <Scalar T> double rounding_of_products(Index order) {
  const auto n = static_cast<double>(order);
  // Complex products have sums of 2 n terms in each part, and an absolute value is at most sqrt(2) of the larger part.
  const double roundings = (is_complex<T> ? 2.0 * n + 4.0 : n + 2.0) * static_cast<double>(unit_roundoff<T>);
  if (roundings >= 0.5) return infinity;
  // (GPUs' libraries may multiply complex matrices by three real products, with half of that again.)
  return (is_complex<T> ? 2.5 : 1.0) * roundings / (1.0 - roundings);
}

double largest_of(const std::vector<double>& sizes) {
  double most = 0;
  for (const double size : sizes) most = std::isnan(size) ? infinity : std::max(most, size);
  return most;
}

ScaledSizes::ScaledSizes(const std::vector<double>& given) : sizes(given) {
  const double most = largest_of(given);
  if (most == 0 || !std::isfinite(most)) return;
  power = std::ilogb(most);
  for (double& size : sizes) {
    if (size > 0) size = std::max(times_power(size, -power), std::numeric_limits<double>::denorm_min());
  }
}

double ScaledSizes::scaled_back(double size) const {
  return size == 0 ? 0.0 : times_power(size, power) + 2.0 * std::numeric_limits<double>::denorm_min();
}

double enlarged(double sum, Index terms) {
  const auto n = static_cast<double>(terms);
  return sum * (1.0 + (4.0 * n + 64.0) * epsilon) +
         8.0 * (n + 1.0) * (n + 1.0) * std::numeric_limits<double>::denorm_min();
}

template <Scalar T>
ApproximateInverse<T>::ApproximateInverse(const PlacedMatrix<T>& S, const PlacedMatrix<T>& V, std::vector<Index> rows,
                                          std::vector<Index> columns)
    : system_(S),
      inverse_(V),
      rows_(std::move(rows)),
      columns_(std::move(columns)),
      product_(S.ranks(), V.placement(), "heddle::solve::identity") {
  has_default_arithmetic_ = has_default_arithmetic(S.ranks());
  multiply(V, S, product_);
  subtract_identity(product_);
  distances_ = distances(std::vector<double>(static_cast<std::size_t>(S.rows()), 1.0));
  largest_ = largest_of(distances_);
}

template <Scalar T> std::vector<double> ApproximateInverse<T>::distances(const std::vector<double>& given) const {
  const Index n = system_.rows();
  const auto order = static_cast<double>(n);
  const auto unit = static_cast<double>(unit_roundoff<T>);
  const auto smallest = static_cast<double>(std::numeric_limits<Real<T>>::denorm_min());
  const ScaledSizes of(given);
  std::vector<double> sums = sizes_of_rows(product_, of.sizes);
  const double relative = rounding_of_products<T>(n);
  if (!has_default_arithmetic_ || !std::isfinite(relative)) return std::vector<double>(sums.size(), infinity);
  double all = 0.0;
  for (const double size : of.sizes) all += size;
  // Add the roundings of the product, and the error of each element of S, below the smallest number.
  std::vector<double> of_system = sizes_of_rows(system_, of.sizes);
  for (double& sum : of_system) sum = relative * sum + 2.0 * all * smallest;
  const std::vector<double> of_product = sizes_of_rows(inverse_, of_system);
  // Products below the smallest normal number are off by less than the smallest one.
  const double underflow = 4.0 * order * all * smallest;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = of.scaled_back(enlarged(sums[i] * (1.0 + 4.0 * unit) + of_product[i] + underflow, n));
  }
  // Sums over ranks may differ between these, which decide by them.
  system_.ranks().broadcast(std::span<double>(sums), 0);
  return sums;
}

template <Scalar T> std::vector<T> ApproximateInverse<T>::times(const std::vector<T>& right) const {
  std::vector<T> product(right.size(), T(0));
  if (inverse_.ranks().comm() != nullptr) {
    exact::gemv<T>(*inverse_.ranks().comm(), Operation::none, T(1), inverse_.distributed(), right, T(0), product);
  } else {
    const auto x = device_copy(inverse_.space(), right, "heddle::solve::residual");
    const Kokkos::View<T*, MemorySpace> y(Kokkos::view_alloc(inverse_.space(), "heddle::solve::product"), right.size());
    exact::gemv(inverse_.space(), Operation::none, T(1), inverse_.local(), x, T(0), y);
    const auto host = host_copy(inverse_.space(), y);
    std::copy(host.data(), host.data() + right.size(), product.begin());
  }
  return product;
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): a scaled system, its solution and residuals
double proven_error(const ApproximateInverse<T>& inverse, const PlacedMatrix<T>& X, const PlacedMatrix<T>& residuals,
                    const std::vector<Index>& powers) {
  if (X.rows() == 0) return 0.0;
  const std::vector<double>& distances = inverse.distances();
  const std::vector<Index>& columns = inverse.columns();
  const double off = inverse.distance();
  double worst = 0;
  for (Index j = 0; j < X.columns(); ++j) {
    const std::vector<T> x = column_of(X, j);
    const std::vector<T> r = column_of(residuals, j);
    const Index power = powers[static_cast<std::size_t>(j)];
    Size of_x;
    for (const T& e : x) of_x = larger_of(size_of(e), of_x);
    const bool exact = std::all_of(r.begin(), r.end(), [](const T& e) { return e == T(0); });
    // b is zero then, and so is the solution: if x is zero, the residual is b, without a rounding.
    if (of_x.number == 0 && exact && off < 1.0) continue;
    // Return on all ranks alike, before the collective errors_by().
    if (!(off < 1.0) || !(of_x.number > 0) || !std::isfinite(of_x.number)) return infinity;
    const Errors errors = errors_by(inverse, r);
    const double most = largest_of(errors.sizes);
    if (!std::isfinite(most)) return infinity;
    Size error;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double here = enlarged(errors.sizes[i] + distances[i] * most / (1.0 - off) * (1.0 + 8.0 * epsilon), 1);
      error = larger_of(Size::of(here, errors.power + columns[i] - power), error);
    }
    const double relative = error / of_x * (1.0 + 16.0 * epsilon);
    if (std::isnan(relative)) return infinity;
    // Denormal quotients and powers may have lost all digits.
    worst = std::max({worst, relative, 0x1p-1000});
  }
  return worst;
}

#define HEDDLE_INSTANTIATE(T)                                                                                   \
  template void multiply<T>(const PlacedMatrix<T>&, const PlacedMatrix<T>&, const PlacedMatrix<T>&);            \
  template double rounding_of_products<T>(Index);                                                               \
  template class ApproximateInverse<T>;                                                                         \
  template double proven_error<T>(const ApproximateInverse<T>&, const PlacedMatrix<T>&, const PlacedMatrix<T>&, \
                                  const std::vector<Index>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
