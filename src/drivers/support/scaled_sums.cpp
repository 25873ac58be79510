#include "scaled_sums.hpp"

#include <algorithm>
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

// body(row, column, element) for this rank's elements of op(M).
template <Scalar T, class Body> void for_each(Operation op, const DistributedMatrix<T>& M, const Body& body) {
  const auto local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), M.local());
  const bool transposed = op != Operation::none;
  for (Index j = 0; j < static_cast<Index>(local.extent(1)); ++j) {
    const auto column = static_cast<std::size_t>(M.global_column(j));
    for (Index i = 0; i < static_cast<Index>(local.extent(0)); ++i) {
      const auto row = static_cast<std::size_t>(M.global_row(i));
      SumOf<T> element = sum_of(local(i, j));
      if constexpr (is_complex<T>) {
        if (op == Operation::conjugate_transpose) element = std::conj(element);
      }
      body(transposed ? column : row, transposed ? row : column, element);
    }
  }
}

template <Scalar T> std::size_t rows_of(Operation op, const DistributedMatrix<T>& M) {
  return static_cast<std::size_t>(op == Operation::none ? M.rows() : M.columns());
}

template <class Number> void sum_over_ranks(const Communicator& comm, std::vector<Number>& values) {
  // A complex number is two doubles, by the standard.
  comm.all_reduce(std::span(reinterpret_cast<double*>(values.data()), values.size() * sizeof(Number) / sizeof(double)),
                  Reduction::sum);
}

// Products of numbers within these bounds, and sums of them, are far from the ends of double's range.
constexpr int tame = 450;

template <Scalar T, class Number> bool all_tame(const DistributedMatrix<T>& M, const ScaledSums<Number>& x) {
  bool found = true;
  for (std::size_t k = 0; k < x.size.size(); ++k) found = found && (x.size[k] == 0 || std::abs(x.exponent[k]) <= tame);
  const double most = std::ldexp(1.0, tame);
  const double least = std::ldexp(1.0, -tame);
  for_each(Operation::none, M, [&](std::size_t, std::size_t, const Number& element) {
    const double size = largest_part(element);
    if (is_finite(element) && size != 0) found = found && size <= most && size >= least;
  });
  return M.communicator().all_reduce(found ? 1 : 0, Reduction::minimum) == 1;
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
ScaledSums<SumOf<T>> multiply(Operation op, const DistributedMatrix<T>& M, const ScaledSums<SumOf<T>>& x) {
  using Number = SumOf<T>;
  const Communicator& comm = M.communicator();
  ScaledSums<Number> y(rows_of(op, M));
  if (all_tame(M, x)) {
    std::vector<Number> plain(x.number.size());
    std::vector<double> plain_size(x.number.size());
    for (std::size_t k = 0; k < plain.size(); ++k) {
      plain[k] = scaled(x.number[k], x.exponent[k]);
      plain_size[k] = std::ldexp(x.size[k], x.exponent[k]);
    }
    for_each(op, M, [&](std::size_t i, std::size_t k, const Number& element) {
      if (!is_finite(element)) return;
      y.number[i] += element * plain[k];
      y.size[i] += std::abs(element) * plain_size[k];
    });
    std::fill(y.exponent.begin(), y.exponent.end(), 0);
  } else {
    // Every term is then at most 2^exponent[i], and what underflows is nothing beside the largest.
    const auto counts = [&](std::size_t k, const Number& element) {
      return is_finite(element) && element != Number(0) && x.size[k] != 0;
    };
    for_each(op, M, [&](std::size_t i, std::size_t k, const Number& element) {
      if (counts(k, element)) y.exponent[i] = std::max(y.exponent[i], exponent_of(element) + x.exponent[k]);
    });
    comm.all_reduce(std::span(y.exponent), Reduction::maximum);
    for_each(op, M, [&](std::size_t i, std::size_t k, const Number& element) {
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

template <Scalar T> ScaledSums<SumOf<T>> norms_of_rows(Operation op, const DistributedMatrix<T>& M) {
  using Number = SumOf<T>;
  ScaledSums<Number> norms(rows_of(op, M));
  for_each(op, M, [&](std::size_t i, std::size_t, const Number& element) {
    if (is_finite(element) && element != Number(0)) {
      norms.exponent[i] = std::max(norms.exponent[i], exponent_of(element));
    }
  });
  M.communicator().all_reduce(std::span(norms.exponent), Reduction::maximum);
  for_each(op, M, [&](std::size_t i, std::size_t, const Number& element) {
    if (is_finite(element)) norms.size[i] += std::norm(scaled(element, -norms.exponent[i]));
  });
  sum_over_ranks(M.communicator(), norms.size);
  for (double& size : norms.size) size = std::sqrt(size);
  norms.normalise();
  return norms;
}

template <Scalar T> std::vector<int> rows_not_finite(Operation op, const DistributedMatrix<T>& M) {
  std::vector<int> found(rows_of(op, M), 0);
  for_each(op, M, [&](std::size_t i, std::size_t, const SumOf<T>& element) {
    if (!is_finite(element)) found[i] = 1;
  });
  M.communicator().all_reduce(std::span(found), Reduction::maximum);
  return found;
}

template struct ScaledSums<double>;
template struct ScaledSums<std::complex<double>>;
#define HEDDLE_INSTANTIATE(T)                                                                                     \
  template ScaledSums<SumOf<T>> multiply<T>(Operation, const DistributedMatrix<T>&, const ScaledSums<SumOf<T>>&); \
  template ScaledSums<SumOf<T>> norms_of_rows<T>(Operation, const DistributedMatrix<T>&);                         \
  template std::vector<int> rows_not_finite<T>(Operation, const DistributedMatrix<T>&)
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
HEDDLE_INSTANTIATE(Kokkos::complex<float>);
HEDDLE_INSTANTIATE(Kokkos::complex<double>);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::driver
