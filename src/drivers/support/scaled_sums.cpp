#include "drivers/support/scaled_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace heddle::driver {

namespace {

double scaled(double value, int exponent) {
  return std::ldexp(value, exponent);
}
std::complex<double> scaled(const std::complex<double>& value, int exponent) {
  return {std::ldexp(value.real(), exponent), std::ldexp(value.imag(), exponent)};
}

double largest_part(double value) {
  return std::abs(value);
}
double largest_part(const std::complex<double>& value) {
  return std::max(std::abs(value.real()), std::abs(value.imag()));
}

// e of 2^(e - 1) <= |value| < 2^e, of the larger part.
template <class Number> int exponent_of(const Number& value) {
  int exponent = 0;
  static_cast<void>(std::frexp(largest_part(value), &exponent));
  return exponent;
}

template <class Number> void sum_over_ranks(const Communicator& comm, std::vector<Number>& values) {
  // A complex number is two doubles, by the standard.
  comm.all_reduce(std::span(reinterpret_cast<double*>(values.data()), values.size() * sizeof(Number) / sizeof(double)),
                  Reduction::sum);
}

// Products of numbers within these bounds, and sums of them, are far from the ends of double's range.
constexpr int tame = 450;

template <class Number> bool all_tame(const ScaledSums<Number>& x) {
  for (std::size_t k = 0; k < x.size.size(); ++k) {
    if (x.size[k] != 0 && std::abs(x.exponent[k]) > tame) return false;
  }
  return true;
}

}  // namespace

bool is_finite(double value) {
  return std::isfinite(value);
}
bool is_finite(const std::complex<double>& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

template <class Number> void ScaledSums<Number>::normalise() {
  for (std::size_t i = 0; i < size.size(); ++i) {
    int more = 0;
    size[i] = std::frexp(size[i], &more);
    number[i] = scaled(number[i], -more);
    exponent[i] = size[i] == 0 ? nothing : exponent[i] + more;
  }
}

template <class Number> void ScaledSums<Number>::add(const Number& factor, const ScaledSums& other) {
  if (factor == Number(0)) return;
  const int raised = exponent_of(factor);
  const Number f = scaled(factor, -raised);
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (other.size[i] == 0) continue;
    const int theirs = other.exponent[i] + raised;
    const int common = std::max(exponent[i], theirs);
    number[i] = scaled(number[i], exponent[i] - common) + scaled(f * other.number[i], theirs - common);
    size[i] = std::ldexp(size[i], exponent[i] - common) + std::ldexp(std::abs(f) * other.size[i], theirs - common);
    exponent[i] = common;
  }
}

template <Scalar T>
HostParts<T>::HostParts(const DistributedMatrix<T>& M)
    : matrix_(M), local_(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), M.local())) {
  const double most = std::ldexp(1.0, tame);
  const double least = std::ldexp(1.0, -tame);
  std::array<int, 2> found{1, 1};
  for_each(Operation::none, [&](std::size_t, std::size_t, const Number& element) {
    const double size = largest_part(element);
    if (!is_finite(element)) {
      found[0] = 0;
    } else if (size != 0 && (size > most || size < least)) {
      found[1] = 0;
    }
  });
  M.communicator().all_reduce(std::span<int>(found), Reduction::minimum);
  finite_ = found[0] == 1;
  tame_ = found[1] == 1;
}

template <Scalar T> auto HostParts<T>::multiply(Operation op, const ScaledSums<Number>& x) const -> ScaledSums<Number> {
  const Communicator& comm = matrix_.communicator();
  ScaledSums<Number> y(rows_of(op));
  if (tame_ && all_tame(x)) {
    std::vector<Number> plain(x.number.size());
    std::vector<double> plain_size(x.number.size());
    for (std::size_t k = 0; k < plain.size(); ++k) {
      plain[k] = scaled(x.number[k], x.exponent[k]);
      plain_size[k] = std::ldexp(x.size[k], x.exponent[k]);
    }
    for_each(op, [&](std::size_t i, std::size_t k, const Number& element) {
      if (!finite_ && !is_finite(element)) return;
      y.number[i] += element * plain[k];
      y.size[i] += std::abs(element) * plain_size[k];
    });
    std::fill(y.exponent.begin(), y.exponent.end(), 0);
  } else {
    // Every term is then at most 2^exponent[i], and what underflows is nothing beside the largest.
    const auto counts = [&](std::size_t k, const Number& element) {
      return is_finite(element) && element != Number(0) && x.size[k] != 0;
    };
    for_each(op, [&](std::size_t i, std::size_t k, const Number& element) {
      if (counts(k, element)) y.exponent[i] = std::max(y.exponent[i], exponent_of(element) + x.exponent[k]);
    });
    comm.all_reduce(std::span(y.exponent), Reduction::maximum);
    for_each(op, [&](std::size_t i, std::size_t k, const Number& element) {
      if (!counts(k, element)) return;
      const Number term = scaled(element, x.exponent[k] - y.exponent[i]);
      y.number[i] += term * x.number[k];
      y.size[i] += std::abs(term) * x.size[k];
    });
  }
  sum_over_ranks(comm, y.number);
  sum_over_ranks(comm, y.size);
  y.normalise();
  return y;
}

template <Scalar T> auto HostParts<T>::norms_of_rows(Operation op) const -> ScaledSums<Number> {
  ScaledSums<Number> norms(rows_of(op));
  for_each(op, [&](std::size_t i, std::size_t, const Number& element) {
    if (is_finite(element) && element != Number(0)) {
      norms.exponent[i] = std::max(norms.exponent[i], exponent_of(element));
    }
  });
  matrix_.communicator().all_reduce(std::span(norms.exponent), Reduction::maximum);
  for_each(op, [&](std::size_t i, std::size_t, const Number& element) {
    if (is_finite(element)) norms.size[i] += std::norm(scaled(element, -norms.exponent[i]));
  });
  sum_over_ranks(matrix_.communicator(), norms.size);
  for (double& size : norms.size) size = std::sqrt(size);
  norms.normalise();
  return norms;
}

template <Scalar T> std::vector<int> HostParts<T>::rows_not_finite(Operation op) const {
  std::vector<int> found(rows_of(op), 0);
  if (finite_) return found;
  for_each(op, [&](std::size_t i, std::size_t, const Number& element) {
    if (!is_finite(element)) found[i] = 1;
  });
  matrix_.communicator().all_reduce(std::span(found), Reduction::maximum);
  return found;
}

template struct ScaledSums<double>;
template struct ScaledSums<std::complex<double>>;
template class HostParts<float>;
template class HostParts<double>;
template class HostParts<Kokkos::complex<float>>;
template class HostParts<Kokkos::complex<double>>;

}  // namespace heddle::driver
