#include "product_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>

namespace heddle::driver {

namespace {

// y = op(M) x, and size = |M| |x| for the same op, on every rank.
template <Scalar T, class Number>
void multiply(Operation op, const DistributedMatrix<T>& M, const std::vector<Number>& x,
              const std::vector<double>& x_size, std::vector<Number>& y, std::vector<double>& y_size) {
  const auto local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), M.local());
  const bool transposed = op != Operation::none;
  const auto length = static_cast<std::size_t>(transposed ? M.columns() : M.rows());
  y.assign(length, Number(0));
  y_size.assign(length, 0.0);
  for (Index j = 0; j < static_cast<Index>(local.extent(1)); ++j) {
    const auto column = static_cast<std::size_t>(M.global_column(j));
    for (Index i = 0; i < static_cast<Index>(local.extent(0)); ++i) {
      const auto row = static_cast<std::size_t>(M.global_row(i));
      Number element;
      if constexpr (is_complex<T>) {
        element = Number(local(i, j).real(), local(i, j).imag());
        if (op == Operation::conjugate_transpose) element = std::conj(element);
      } else {
        element = static_cast<double>(local(i, j));
      }
      const std::size_t to = transposed ? column : row;
      const std::size_t from = transposed ? row : column;
      y[to] += element * x[from];
      y_size[to] += std::abs(element) * x_size[from];
    }
  }
  const Communicator& comm = M.communicator();
  // A complex number is two doubles, by the standard.
  comm.all_reduce(std::span(reinterpret_cast<double*>(y.data()), length * sizeof(Number) / sizeof(double)),
                  Reduction::sum);
  comm.all_reduce(std::span(y_size), Reduction::sum);
}

template <class Number, Scalar T> Number number_of(const T& value) {
  if constexpr (is_complex<T>) {
    return Number(value.real(), value.imag());
  } else {
    return static_cast<double>(value);
  }
}

}  // namespace

template <Scalar T>
ProductCheck<T>::ProductCheck(Operation op_a, T alpha, const DistributedMatrix<T>& A, Operation op_b,
                              const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C0)
    : x_(static_cast<std::size_t>(C0.columns())) {
  std::mt19937_64 bits(20231);
  for (auto& sign : x_) sign = (bits() & 1U) == 0 ? 1.0 : -1.0;
  const std::vector<double> ones(x_.size(), 1.0);
  expected_.assign(static_cast<std::size_t>(C0.rows()), Number(0));
  size_.assign(expected_.size(), 0.0);

  std::vector<Number> inner;
  std::vector<Number> product;
  std::vector<double> inner_size;
  std::vector<double> product_size;
  const auto accumulate = [&](const T& factor) {
    const auto scaled = number_of<Number>(factor);
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      expected_[i] += scaled * product[i];
      size_[i] += std::abs(scaled) * product_size[i];
    }
  };
  if (alpha != T(0)) {
    multiply(op_b, B, x_, ones, inner, inner_size);
    multiply(op_a, A, inner, inner_size, product, product_size);
    accumulate(alpha);
  }
  if (beta != T(0)) {
    multiply(Operation::none, C0, x_, ones, product, product_size);
    accumulate(beta);
  }
  const auto inner_length = static_cast<double>(op_a == Operation::none ? A.columns() : A.rows());
  const auto columns = static_cast<double>(C0.columns());
  bound_ = (is_complex<T> ? 2 * std::sqrt(2.0) : 1.0) * ((inner_length + 8) * static_cast<double>(unit_roundoff<T>) +
                                                         2 * (inner_length + columns + 8) * unit_roundoff<double>);
}

template <Scalar T> double ProductCheck<T>::value(const DistributedMatrix<T>& C) const {
  const std::vector<double> ones(x_.size(), 1.0);
  std::vector<Number> found;
  std::vector<double> unused;
  multiply(Operation::none, C, x_, ones, found, unused);
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = std::abs(found[i] - expected_[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::quiet_NaN();
    if (difference > 0) largest = std::max(largest, difference / size_[i]);
  }
  return largest;
}

template class ProductCheck<float>;
template class ProductCheck<double>;
template class ProductCheck<Kokkos::complex<float>>;
template class ProductCheck<Kokkos::complex<double>>;

}  // namespace heddle::driver
