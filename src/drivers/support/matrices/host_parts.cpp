// Sums over rows and columns of distributed matrices, by each rank's host in double precision.
#include "drivers/support/matrices/host_parts.hpp"

#include "drivers/support/matrices/plain_sums.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace heddle::driver {
namespace {

template <class Number> void sum_over_ranks(const Communicator& comm, std::vector<Number>& values) {
  // A complex number is two doubles, by the standard.
  comm.all_reduce(std::span(reinterpret_cast<double*>(values.data()), values.size() * sizeof(Number) / sizeof(double)),
                  Reduction::sum);
}

template <Scalar T> std::size_t rows_of(const DistributedMatrix<T>& M, Operation op) {
  return static_cast<std::size_t>(op == Operation::none ? M.rows() : M.columns());
}

// The number in op(M) of a row, or column, of op(M) here.
template <Scalar T> std::size_t global_row(const DistributedMatrix<T>& M, Operation op, Index local) {
  return static_cast<std::size_t>(op == Operation::none ? M.global_row(local) : M.global_column(local));
}
template <Scalar T> std::size_t global_column(const DistributedMatrix<T>& M, Operation op, Index local) {
  return static_cast<std::size_t>(op == Operation::none ? M.global_column(local) : M.global_row(local));
}

// Sums of all ranks for all rows of op(M), of exponent 0.
template <Scalar T, class Kernel>
ScaledSums<SumOf<T>> summed(const DistributedMatrix<T>& M, Operation op, const Kernel& kernel) {
  ScaledSums<SumOf<T>> all(rows_of(M, op));
  const auto here = over_rows<Sum<SumOf<T>>>(M, op, kernel);
  for (std::size_t k = 0; k < here.size(); ++k) {
    const std::size_t row = global_row(M, op, static_cast<Index>(k));
    all.number[row] = here[k].number;
    all.size[row] = here[k].size;
  }
  sum_over_ranks(M.communicator(), all.number);
  sum_over_ranks(M.communicator(), all.size);
  std::fill(all.exponent.begin(), all.exponent.end(), 0);
  return all;
}

// The largest values of all ranks for all rows of op(M).
template <Scalar T, class Kernel>
std::vector<int> largest(const DistributedMatrix<T>& M, Operation op, int least, const Kernel& kernel) {
  std::vector<int> all(rows_of(M, op), least);
  const auto here = over_rows<Largest>(M, op, kernel);
  for (std::size_t k = 0; k < here.size(); ++k) {
    all[global_row(M, op, static_cast<Index>(k))] = std::max(least, here[k].value);
  }
  M.communicator().all_reduce(std::span(all), Reduction::maximum);
  return all;
}

// Whether no sum left double's range on the way, nor lost anything that counts to underflow: all are at least 2^-400 of
// what elements about 1 would give, whereas squares underflow below 2^-511. NaN is not within.
constexpr int tame = 450;
bool within(const std::vector<double>& sizes, double unit) {
  const double least = std::ldexp(unit, -400);
  const double most = std::ldexp(1.0, 2 * tame);
  return std::all_of(sizes.begin(), sizes.end(), [&](double size) { return size >= least && size <= most; });
}

}  // namespace

template <Scalar T> bool HostParts<T>::finite() {
  if (finite_) return *finite_;
  std::atomic<bool> found = false;
  // An infinity or NaN has all bits of the exponent set in one of its parts.
  const auto look = [&](const HostBlock<T>& tile, Largest*) {
    using Bits = std::conditional_t<sizeof(Real<T>) == 4, std::uint32_t, std::uint64_t>;
    const Bits exponent = std::bit_cast<Bits>(std::numeric_limits<Real<T>>::infinity());
    Bits any = 0;
    for (Index j = 0; j < tile.columns; ++j) {
      const auto* const parts = reinterpret_cast<const Real<T>*>(tile.column(j));
      for (Index i = 0; i < tile.rows * (is_complex<T> ? 2 : 1); ++i) {
        any |= static_cast<Bits>((std::bit_cast<Bits>(parts[i]) & exponent) == exponent);
      }
    }
    if (any != 0) found = true;
  };
  static_cast<void>(over_rows<Largest>(matrix_, Operation::none, look));
  finite_ = matrix_.communicator().all_reduce(found ? 0 : 1, Reduction::minimum) == 1;
  return *finite_;
}

template <Scalar T>
auto HostParts<T>::multiply_tame(Operation op, const ScaledSums<Number>& x) const -> std::optional<ScaledSums<Number>> {
  double unit = 0;
  for (std::size_t k = 0; k < x.size.size(); ++k) {
    if (x.size[k] != 0 && std::abs(x.exponent[k]) > tame) return std::nullopt;
    unit = std::max(unit, std::ldexp(x.size[k], x.exponent[k]));
  }
  Numbers factors(matrix_.local().extent(op == Operation::none ? 1 : 0));
  for (std::size_t k = 0; k < factors.size.size(); ++k) {
    const std::size_t column = global_column(matrix_, op, static_cast<Index>(k));
    const Number number = scaled(x.number[column], x.exponent[column]);
    factors.real[k] = std::real(number);
    factors.imaginary[k] = std::imag(number);
    factors.size[k] = std::ldexp(x.size[column], x.exponent[column]);
  }
  ScaledSums<Number> y = summed(matrix_, op, plain_sums<Term::product, T>(op, factors));
  if (!within(y.size, unit)) return std::nullopt;
  return y;
}

// Every term is then at most 2^exponent[i], and what underflows is nothing beside the largest.
template <Scalar T>
auto HostParts<T>::multiply_any(Operation op, const ScaledSums<Number>& x) const -> ScaledSums<Number> {
  std::vector<std::size_t> places(matrix_.local().extent(op == Operation::none ? 1 : 0));
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = global_column(matrix_, op, static_cast<Index>(k));
  const auto counts = [&](std::size_t k, const Number& element) {
    return is_finite(element) && element != Number(0) && x.size[k] != 0;
  };
  std::vector<int> exponents =
      largest(matrix_, op, ScaledSums<Number>::nothing,
              each_element<T>(op, [&](Largest& row, Index, Index column, const Number& element) {
                const std::size_t k = places[column];
                if (counts(k, element)) row.value = std::max(row.value, exponent_of(element) + x.exponent[k]);
              }));
  ScaledSums<Number> y =
      summed(matrix_, op, each_element<T>(op, [&](Sum<Number>& row, Index i, Index column, const Number& element) {
               const std::size_t k = places[column];
               if (!counts(k, element)) return;
               const Number term = scaled(element, x.exponent[k] - exponents[global_row(matrix_, op, i)]);
               row.number += term * x.number[k];
               row.size += std::abs(term) * x.size[k];
             }));
  y.exponent = std::move(exponents);
  return y;
}

template <Scalar T> auto HostParts<T>::multiply(Operation op, const ScaledSums<Number>& x) -> ScaledSums<Number> {
  std::optional<ScaledSums<Number>> y;
  if (tame_.value_or(true)) {
    y = multiply_tame(op, x);
    tame_ = y.has_value();
    if (y) finite_ = true;
  }
  if (!y) y = multiply_any(op, x);
  y->normalise();
  return std::move(*y);
}

template <Scalar T> auto HostParts<T>::norms_of_rows(Operation op) const -> ScaledSums<Number> {
  const Numbers none(matrix_.local().extent(op == Operation::none ? 1 : 0));
  ScaledSums<Number> norms = summed(matrix_, op, plain_sums<Term::square, T>(op, none));
  if (!within(norms.size, 1.0)) {
    std::vector<int> exponents = largest(matrix_, op, ScaledSums<Number>::nothing,
                                         each_element<T>(op, [](Largest& row, Index, Index, const Number& element) {
                                           if (is_finite(element) && element != Number(0))
                                             row.value = std::max(row.value, exponent_of(element));
                                         }));
    norms = summed(matrix_, op, each_element<T>(op, [&](Sum<Number>& row, Index i, Index, const Number& element) {
                     const int exponent = exponents[global_row(matrix_, op, i)];
                     if (is_finite(element)) row.size += std::norm(scaled(element, -exponent));
                   }));
    norms.exponent = std::move(exponents);
  }
  for (double& size : norms.size) size = std::sqrt(size);
  norms.normalise();
  return norms;
}

template <Scalar T> std::vector<int> HostParts<T>::rows_not_finite(Operation op) {
  if (finite()) return std::vector<int>(rows_of(matrix_, op), 0);
  return largest(matrix_, op, 0, each_element<T>(op, [](Largest& row, Index, Index, const Number& element) {
                   if (!is_finite(element)) row.value = 1;
                 }));
}

template class HostParts<float>;
template class HostParts<double>;
template class HostParts<Kokkos::complex<float>>;
template class HostParts<Kokkos::complex<double>>;

}  // namespace heddle::driver
