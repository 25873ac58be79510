// Checks of eigenvalues alone, by sums that the matrix has without them.
#include "drivers/eig/spectrum.hpp"

#include "drivers/eig/matrices.hpp"
#include "drivers/support/options/scalars.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace heddle::driver {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

// Compensated sum, as accurate as if in twice the precision (A. Neumaier, ZAMM 54, 39 (1974)).
class Sum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    rest_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double get() const { return sum_ + rest_; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

// Multiply x by 2^-exponent in two steps, neither of which is out of range.
struct Scale {
  double first;
  double second;
  explicit Scale(int exponent)
      : first(std::ldexp(1.0, -(exponent / 2))), second(std::ldexp(1.0, -(exponent - exponent / 2))) {}
  double operator()(double x) const { return x * first * second; }
};

template <Scalar T> using Wide = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;

// Cholesky factor L of S = L L^H, with the determinant and norms that follow from it.
template <Scalar W> class Factor {
 public:
  template <Scalar T> explicit Factor(const HostMatrix<T>& A) : n_(static_cast<Index>(A.extent(0))) {
    const std::size_t n = A.extent(0);
    L_ = HostMatrix<W>("heddle::driver::L", n, n);
    std::vector<int> exponents(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double corner = real_of<double>(A(i, i));
      exists_ = exists_ && corner > 0;
      const int exponent = exists_ ? std::ilogb(corner) : 0;
      exponents[i] = (exponent - (exponent % 2 != 0 ? 1 : 0)) / 2;
      exponent_ += 2 * static_cast<long long>(exponents[i]);
    }
    std::vector<double> rows(n);
    for (std::size_t j = 0; j < n && exists_; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        const int by = -exponents[i] - exponents[j];
        const double re = std::ldexp(real_of<double>(A(i, j)), by);
        const double im = i == j ? 0 : std::ldexp(imaginary_of<double>(A(i, j)), by);
        rows[i] += std::hypot(re, im);
        if constexpr (is_complex<W>) {
          L_(i, j) = i >= j ? W(re, im) : W(0);
        } else {
          L_(i, j) = i >= j ? re : 0;
        }
      }
    }
    norm_ = n == 0 ? 0 : *std::max_element(rows.begin(), rows.end());
    factorise();
  }

  [[nodiscard]] bool exists() const { return exists_; }
  // ln det A = exponent ln 2 + logarithm.
  [[nodiscard]] long long exponent() const { return exponent_; }
  [[nodiscard]] double logarithm() const {
    Sum sum;
    for (Index j = 0; j < n_; ++j) {
      sum.add(2 * std::log(real_of<double>(L_(j, j))));
    }
    return sum.get();
  }
  // |S|_oo, an upper bound of |S|_2.
  [[nodiscard]] double norm() const { return norm_; }
  // |L^-1|_1 |L^-1|_oo, an upper bound of |S^-1|_2.
  [[nodiscard]] double inverse_norm() const {
    const HostMatrix<W> X("heddle::driver::inverse", L_.extent(0), L_.extent(0));
    const HostMatrix<W> L = L_;
    const Index n = n_;
    Kokkos::parallel_for("heddle::driver::inverse",
                         Kokkos::RangePolicy<Host, Kokkos::IndexType<Index>>(Host(), 0, n, Kokkos::ChunkSize(1)),
                         [=](Index j) {
                           X(j, j) = W(1);
                           for (Index k = j; k < n; ++k) {
                             X(k, j) = X(k, j) / L(k, k);
                             const W by = -X(k, j);
                             for (Index i = k + 1; i < n; ++i) {
                               X(i, j) += by * L(i, k);
                             }
                           }
                         });
    Host().fence("heddle::driver::inverse");
    std::vector<double> rows(L_.extent(0));
    double columns = 0;
    for (Index j = 0; j < n; ++j) {
      double column = 0;
      for (Index i = j; i < n; ++i) {
        const double size = std::hypot(real_of<double>(X(i, j)), imaginary_of<double>(X(i, j)));
        column += size;
        rows[static_cast<std::size_t>(i)] += size;
      }
      columns = std::max(columns, column);
    }
    return columns * *std::max_element(rows.begin(), rows.end());
  }

 private:
  void factorise() {
    const HostMatrix<W> L = L_;
    for (Index j = 0; j < n_ && exists_; ++j) {
      const double pivot = real_of<double>(L(j, j));
      exists_ = pivot > 0 && std::isfinite(pivot);
      const double root = std::sqrt(pivot);
      for (Index i = j; exists_ && i < n_; ++i) {
        L(i, j) = i == j ? W(root) : L(i, j) / root;
      }
      const Index n = n_;
      Kokkos::parallel_for("heddle::driver::factor",
                           Kokkos::RangePolicy<Host, Kokkos::IndexType<Index>>(Host(), j + 1, exists_ ? n : j + 1),
                           [=](Index k) {
                             const W by = -conjugate(L(k, j));
                             for (Index i = k; i < n; ++i) {
                               L(i, k) += L(i, j) * by;
                             }
                           });
      Host().fence("heddle::driver::factor");
    }
  }

  Index n_;
  bool exists_ = true;
  long long exponent_ = 0;
  double norm_ = 0;
  HostMatrix<W> L_;
};

template <Scalar T>
std::optional<Compared> compared_determinants(const HostMatrix<T>& A, const std::vector<double>& w, double factor) {
  const Factor<Wide<T>> L(A);
  if (!L.exists() || w.empty()) return {};
  const auto n = static_cast<double>(w.size());
  const double inverse_norm = L.inverse_norm();
  const double condition = L.norm() * inverse_norm;
  constexpr double wide_unit = unit_roundoff<double>;
  // A complex product has about three roundings, a real one has one.
  constexpr double per_product = is_complex<T> ? 3 : 1;
  Compared compared;
  compared.bound = 10 * factor * n * n * static_cast<double>(unit_roundoff<T>) * condition +
                   per_product * std::pow(n, 1.5) * (n + 1) * wide_unit * inverse_norm;
  // Every eigenvalue of A is at least A's least diagonal element over the condition.
  constexpr auto least_normal = static_cast<double>(std::numeric_limits<Real<T>>::min());
  double corner = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < w.size(); ++i) corner = std::min(corner, real_of<double>(A(i, i)));
  const double least = *std::min_element(w.begin(), w.end());
  if (!(least >= least_normal)) {
    if (corner / condition < 2 * least_normal) return {};
    compared.value = std::numeric_limits<double>::infinity();
    return compared;
  }
  long long exponent = 0;
  Sum logarithm;
  for (const double value : w) {
    int power = 0;
    logarithm.add(std::log(std::frexp(value, &power)));
    exponent += power;
  }
  logarithm.add(-L.logarithm());
  compared.value = std::abs(static_cast<double>(exponent - L.exponent()) * std::log(2.0) + logarithm.get());
  return compared;
}

}  // namespace

template <Scalar T>
SpectrumErrors spectrum_errors(const HostMatrix<T>& A, const std::vector<double>& w, bool relative, double factor) {
  SpectrumErrors errors;
  errors.trace.bound = errors.frobenius.bound = 10 * factor;
  const std::size_t n = w.size();
  double most = 0;
  for (std::size_t at = 0; at < A.size(); ++at) {
    most = std::max({most, std::abs(real_of<double>(A.data()[at])), std::abs(imaginary_of<double>(A.data()[at]))});
  }
  if (most == 0) {
    const bool zeros = std::all_of(w.begin(), w.end(), [](double value) { return value == 0; });
    errors.frobenius.value = zeros ? 0 : std::numeric_limits<double>::infinity();
    return errors;
  }
  const Scale scaled(std::ilogb(most) + 1);
  Sum trace;
  Sum squares;
  Sum values;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const double re = scaled(real_of<double>(A(i, j)));
      const double im = i == j ? 0 : scaled(imaginary_of<double>(A(i, j)));
      squares.add(re * re + im * im);
    }
    trace.add(-scaled(real_of<double>(A(j, j))));
    trace.add(scaled(w[j]));
    values.add(scaled(w[j]) * scaled(w[j]));
  }
  const double norm = std::sqrt(squares.get());
  const double unit = static_cast<double>(n) * static_cast<double>(unit_roundoff<T>) * norm;
  const double root = std::sqrt(static_cast<double>(n));
  const double storage = storage_error<Real<T>>(std::ilogb(most) + 1);
  errors.trace.value = beyond_storage(std::abs(trace.get()), static_cast<double>(n) * storage) / (unit * root);
  errors.frobenius.value = beyond_storage(std::abs(std::sqrt(values.get()) - norm), root * storage) / unit;
  if (relative) errors.determinant = compared_determinants<T>(A, w, factor);
  return errors;
}

#define HEDDLE_INSTANTIATE(T) \
  template SpectrumErrors spectrum_errors<T>(const HostMatrix<T>&, const std::vector<double>&, bool, double)
HEDDLE_FOR_EACH_DRIVER_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::driver
