// BLAS 1 and 2: correctly rounded sums of products, and updates in a fixed order.
#include "interpose/blas/vectors.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/sums.hpp"
#include "interpose/blas/threads.hpp"
#include "interpose/blas/vector_parts.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace heddle::impl::interpose {

template <Scalar T> T dot(bool conjugated, Index n, const T* x, Index step_x, const T* y, Index step_y) {
  if (n <= 0) return T{0};
  const Arithmetic arithmetic;
  if constexpr (!is_complex<T>) {
    T result{};
    const Quiet quiet;
    if (step_x == 1 && step_y == 1 && contiguous_product(n, x, y, result, threads_for_products(n))) return result;
  }
  const Strided<const T> left(x, n, step_x);
  const Strided<const T> right(y, n, step_y);
  return inner_product<T>(
      n, [&](Index k) { return conjugated_if(conjugated, left(k)); }, right);
}

double double_dot(Index n, const float* x, Index step_x, const float* y, Index step_y) {
  if (n <= 0) return 0.0;
  const Arithmetic arithmetic;
  const Strided<const float> left(x, n, step_x);
  const Strided<const float> right(y, n, step_y);
  return inner_product<double>(
      n, [&](Index k) { return static_cast<double>(left(k)); }, [&](Index k) { return static_cast<double>(right(k)); });
}

float started_dot(Index n, float start, const float* x, Index step_x, const float* y, Index step_y) {
  if (n <= 0) return start;
  const Arithmetic arithmetic;
  return inner_product<float>(n, Strided<const float>(x, n, step_x), Strided<const float>(y, n, step_y), &start);
}

template <Scalar T> Real<T> norm(Index n, const T* x, Index step) {
  using R = Real<T>;
  if (n <= 0) return R{0};
  const Arithmetic arithmetic;
  Quiet quiet;
  const Strided<const T> all(x, n, step);
  const Index numbers = n * parts_of<T>;
  R largest{0};
  for (Index k = 0; k < numbers; ++k) {
    const R size = std::abs(part(all, k));
    if (std::isnan(size)) return size;
    largest = std::max(largest, size);
  }
  if (largest == R{0} || std::isinf(largest)) return largest;
  const int exponent = std::ilogb(largest);
  const R sum = sum_of_products<R>(numbers, [&](Index first, Index count, double* a, double* b) {
    for (Index k = 0; k < count; ++k) a[k] = b[k] = static_cast<double>(std::scalbn(part(all, first + k), -exponent));
  });
  R result = std::scalbn(std::sqrt(sum), exponent);
  quiet.settle(result);
  quiet.raise(exceptions_of(result, {}));
  return result;
}

template <Scalar T> Real<T> absolute_sum(Index n, const T* x, Index step) {
  using R = Real<T>;
  if (n <= 0 || step <= 0) return R{0};
  const Arithmetic arithmetic;
  const Strided<const T> all(x, n, step);
  Quiet quiet;
  R sum = sum_of_products<R>(n * parts_of<T>, [&](Index first, Index count, double* a, double* b) {
    for (Index k = 0; k < count; ++k) {
      a[k] = static_cast<double>(std::abs(part(all, first + k)));
      b[k] = 1.0;
    }
  });
  quiet.settle(sum);
  if (!std::isfinite(sum))
    quiet.raise(exceptions_of_sum<T>(
        T(sum), n, all, [](Index) { return T{1}; }, nullptr));
  return sum;
}

template <Scalar T> void axpy(Index n, T alpha, const T* x, Index step_x, T* y, Index step_y) {
  if (n <= 0 || alpha == T{0}) return;
  const Arithmetic arithmetic;
  const Strided<const T> from(x, n, step_x);
  const Strided<T> to(y, n, step_y);
  if (step_x == 1 && step_y == 1) {
    for (Index k = 0; k < n; ++k) y[k] = multiply_add(alpha, x[k], y[k]);
  } else {
    for (Index k = 0; k < n; ++k) to(k) = multiply_add(alpha, from(k), to(k));
  }
}

template <Scalar T, class Factor> void scal(Index n, Factor alpha, T* x, Index step) {
  if (n <= 0 || step <= 0) return;
  const Arithmetic arithmetic;
  for (Index k = 0; k < n; ++k) {
    T& value = x[k * step];
    if constexpr (is_complex<T> && !is_complex<Factor>) {
      value = T(alpha * value.real(), alpha * value.imag());
    } else if constexpr (is_complex<T>) {
      value = multiply_add(alpha, value, T{0});
    } else {
      value = alpha * value;
    }
  }
}

template <Scalar T>
void ger(bool conjugated_x, bool conjugated_y, Index m, Index n, T alpha, const T* x, Index step_x, const T* y,
         Index step_y, T* A, Index leading) {
  if (m == 0 || n == 0 || alpha == T{0}) return;
  const Arithmetic arithmetic;
  const Strided<const T> left(x, m, step_x);
  const Strided<const T> right(y, n, step_y);
  const Real<T> largest = largest_part_of(m, left);
  for (Index j = 0; j < n; ++j) {
    if (right(j) == T{0}) continue;
    const Factor<T> factor = Factor<T>(alpha, conjugated_if(conjugated_y, right(j))).for_up_to(largest);
    T* const column = A + j * leading;
    for (Index i = 0; i < m; ++i) column[i] = factor.add_product(conjugated_if(conjugated_x, left(i)), column[i]);
  }
}

#define HEDDLE_INSTANTIATE(T)                                       \
  template T dot<T>(bool, Index, const T*, Index, const T*, Index); \
  template Real<T> norm<T>(Index, const T*, Index);                 \
  template Real<T> absolute_sum<T>(Index, const T*, Index);         \
  template void axpy<T>(Index, T, const T*, Index, T*, Index);      \
  template void scal<T, T>(Index, T, T*, Index);                    \
  template void ger<T>(bool, bool, Index, Index, T, const T*, Index, const T*, Index, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
template void scal<Kokkos::complex<float>, float>(Index, float, Kokkos::complex<float>*, Index);
template void scal<Kokkos::complex<double>, double>(Index, double, Kokkos::complex<double>*, Index);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
