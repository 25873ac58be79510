// Random-vector check (Freivalds) of a matrix product.
#include "drivers/support/matrices/product_check.hpp"

#include "drivers/support/matrices/host_parts.hpp"
#include "drivers/support/matrices/host_threads.hpp"
#include "drivers/support/report.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <span>

namespace heddle::driver {

namespace {

// Return the operation whose rows are op(M)'s columns, but for conjugation.
Operation across(Operation op) {
  return op == Operation::none ? Operation::transpose : Operation::none;
}

template <Scalar T> constexpr double roundings = is_complex<T> ? 2.8284271247461903 : 1.0;

// Devices check faster, except for a complex element whose parts are finite and whose size is not.
template <Scalar T> bool all_finite(const DistributedMatrix<T>& M) {
  if constexpr (!host_reads_matrices) {
    if (std::isfinite(norm(M, Norm::maximum))) return true;
  }
  return HostParts<T>(M).finite();
}

// Set a mark that several threads may set at once.
void set(int& mark) {
  std::atomic_ref(mark).store(1, std::memory_order_relaxed);
}

}  // namespace

template <Scalar T>
std::string operand_not_finite(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                               const DistributedMatrix<T>& C0) {
  if (alpha != T(0)) {
    if (!all_finite(A)) return "A";
    if (!all_finite(B)) return "B";
  }
  return beta != T(0) && !all_finite(C0) ? "C's old value" : "";
}

template <Scalar T>
ProductCheck<T>::ProductCheck(Operation op_a, T alpha, const DistributedMatrix<T>& A, Operation op_b,
                              const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C0)
    : op_a_(op_a), op_b_(op_b), alpha_(alpha), beta_(beta), A_(A), B_(B), C0_(C0) {
  const auto rows = static_cast<std::size_t>(C0.rows());
  const auto columns = static_cast<std::size_t>(C0.columns());
  inner_ = static_cast<double>(op_a == Operation::none ? A.columns() : A.rows());
  multiplies_ = alpha != T(0) && inner_ > 0;
  x_ = ScaledSums<Number>(columns);
  std::mt19937_64 bits(20231);
  for (std::size_t j = 0; j < columns; ++j) {
    x_.number[j] = (bits() & 1U) == 0 ? 1.0 : -1.0;
    x_.size[j] = 1.0;
    x_.exponent[j] = 0;
  }
  expected_ = ScaledSums<Number>(rows);
  if (multiplies_) {
    HostParts<T> host_a(A);
    HostParts<T> host_b(B);
    ScaledSums<Number> Bx = host_b.multiply(op_b, x_);
    columns_ = host_b.rows_not_finite(across(op_b));
    if (!host_b.finite()) {
      for (std::size_t j = 0; j < columns; ++j) {
        if (columns_[j] != 0) x_.leave_out(j);
      }
      Bx = host_b.multiply(op_b, x_);
    }
    ScaledSums<Number> ABx = host_a.multiply(op_a, Bx);
    rows_ = host_a.rows_not_finite(op_a);
    if (is_finite(sum_of(alpha))) expected_.add(sum_of(alpha), ABx);
    finite_ = host_a.finite() && host_b.finite() && is_finite(sum_of(alpha));
  }
  if (beta != T(0)) {
    HostParts<T> host_c(C0);
    const ScaledSums<Number> Cx = host_c.multiply(Operation::none, x_);
    if (is_finite(sum_of(beta))) expected_.add(sum_of(beta), Cx);
    finite_ = finite_ && host_c.finite() && is_finite(sum_of(beta));
  }
  bound_ = roundings<T> * ((inner_ + 8) * static_cast<double>(unit_roundoff<T>) +
                           2 * (inner_ + static_cast<double>(columns) + 8) * unit_roundoff<double>);
}

template <Scalar T> bool ProductCheck<T>::poisoned(std::size_t i, std::size_t j) const {
  return (multiplies_ && (rows_[i] != 0 || columns_[j] != 0 || !is_finite(sum_of(alpha_)))) ||
         !is_finite(sum_of(beta_));
}

template <Scalar T>
std::vector<double> ProductCheck<T>::allowance(double emulation_error, const std::vector<int>& exponent) const {
  // Numbers times powers of two, as alpha may be anything.
  int raised = 0;
  const double factor = std::frexp(std::max(1.0, std::abs(sum_of(alpha_))), &raised);
  const double terms = roundings<T> * (inner_ / 2 + 8) * static_cast<double>(x_.number.size());
  constexpr int least = std::numeric_limits<Real<T>>::min_exponent - std::numeric_limits<Real<T>>::digits;
  std::vector<double> allowed(exponent.size());
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    allowed[i] = std::ldexp(factor * terms, raised + least - exponent[i]);
  }
  const bool scales = multiplies_ && std::abs(sum_of(alpha_)) != 1;
  if (scales || (emulation_error > 0 && multiplies_)) {
    const double of_alpha = std::frexp(std::abs(sum_of(alpha_)), &raised);
    if (!norms_) norms_ = {HostParts<T>(A_).norms_of_rows(op_a_), HostParts<T>(B_).norms_of_rows(across(op_b_))};
    const auto& [of_rows, of_columns] = *norms_;
    int most = ScaledSums<Number>::nothing;
    for (const int e : of_columns.exponent) most = std::max(most, e);
    double sum = 0;
    for (std::size_t j = 0; j < of_columns.size.size(); ++j) {
      sum += std::ldexp(of_columns.size[j], of_columns.exponent[j] - most);
    }
    // A BLAS may multiply alpha by a factor first, whose elements then underflow by `least` each; |a|_1 is at most
    // sqrt(inner) |a|_2.
    const double underflow = scales ? roundings<T> * std::sqrt(inner_) : 0.0;
    const auto columns = static_cast<double>(of_columns.size.size());
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      allowed[i] += std::ldexp(emulation_error * of_alpha * sum * of_rows.size[i],
                               raised + most + of_rows.exponent[i] - exponent[i]);
      allowed[i] += std::ldexp(underflow * columns * of_rows.size[i], least + of_rows.exponent[i] - exponent[i]) +
                    std::ldexp(underflow * sum, least + most - exponent[i]);
    }
  }
  return allowed;
}

template <Scalar T> bool ProductCheck<T>::examine(const DistributedMatrix<T>& C, std::vector<int>& left_out) const {
  const auto local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), C.local());
  const bool reads = beta_ != T(0);
  const auto before = reads ? Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), C0_.local()) : local;
  int wrong = 0;
  on_host_threads(C.communicator(), static_cast<Index>(local.extent(1)), [&](Index j) {
    const auto column = static_cast<std::size_t>(C.global_column(j));
    for (Index i = 0; i < static_cast<Index>(local.extent(0)); ++i) {
      const auto row = static_cast<std::size_t>(C.global_row(i));
      const bool spoilt = reads && !is_finite(sum_of(before(i, j)));
      const bool expected = !spoilt && !poisoned(row, column);
      if (is_finite(sum_of(local(i, j))) != expected) set(wrong);
      // x leaves out the columns of op(B) that are not finite; of what else is not, it can't tell anything.
      if (spoilt || (!expected && (!multiplies_ || columns_[column] == 0))) set(left_out[row]);
    }
  });
  C.communicator().all_reduce(std::span(left_out), Reduction::maximum);
  return C.communicator().all_reduce(wrong, Reduction::maximum) == 0;
}

template <Scalar T> double ProductCheck<T>::value(const DistributedMatrix<T>& C, double emulation_error) const {
  HostParts<T> parts(C);
  ScaledSums<Number> difference = parts.multiply(Operation::none, x_);
  std::vector<int> left_out(expected_.number.size(), 0);
  const bool all_are_finite = parts.finite() && finite_;
  if (!all_are_finite && !examine(C, left_out)) return std::numeric_limits<double>::quiet_NaN();
  // The sizes are those of the terms summed for C, not of C.
  std::fill(difference.size.begin(), difference.size.end(), 0.0);
  difference.add(Number(-1), expected_);
  const std::vector<double> allowed = allowance(emulation_error, difference.exponent);
  double largest = 0;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    const double distance = std::abs(difference.number[i]);
    if (left_out[i] != 0 || distance == 0) continue;
    largest = larger(largest, distance / (difference.size[i] + allowed[i] / bound_));
  }
  return largest;
}

#define HEDDLE_INSTANTIATE(T)                                                                             \
  template std::string operand_not_finite(T, const DistributedMatrix<T>&, const DistributedMatrix<T>&, T, \
                                          const DistributedMatrix<T>&);                                   \
  template class ProductCheck<T>
HEDDLE_INSTANTIATE(float);
HEDDLE_INSTANTIATE(double);
HEDDLE_INSTANTIATE(Kokkos::complex<float>);
HEDDLE_INSTANTIATE(Kokkos::complex<double>);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::driver
