// C = alpha op(A) op(B) + beta C of matrices in host memory.
#include "interpose/blas/product.hpp"

#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/outcome.hpp"
#include "interpose/blas/threads.hpp"
#include "interpose/device/device.hpp"
#include "interpose/names/runtime.hpp"
#include "interpose/placed/placed_product.hpp"
#include <heddle/emulation/emulation.hpp>

#include <limits>
#include <vector>

namespace heddle::impl::interpose {
namespace {

template <class T> using Matrix = Kokkos::View<T**, Kokkos::LayoutStride, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

template <class T> Matrix<T> matrix(T* data, Index rows, Index columns, Index leading) {
  return Matrix<T>(data, Kokkos::LayoutStride(static_cast<std::size_t>(rows), 1, static_cast<std::size_t>(columns),
                                              static_cast<std::size_t>(leading)));
}
// X whose op(X) is rows x columns.
template <Scalar T> Matrix<const T> factor(Operation op, const T* data, Index rows, Index columns, Index leading) {
  return op == Operation::none ? matrix(data, rows, columns, leading) : matrix(data, columns, rows, leading);
}

template <Scalar T> void scale(const Product<T>& product) {
  for (Index j = 0; j < product.n; ++j) {
    T* const c = product.C + j * product.leading_c;
    for (Index i = 0; i < product.m; ++i) {
      c[i] = product.beta == T{0} ? T{0} : multiply_add(product.beta, c[i], T{0});
    }
  }
}

// A copy of a factor that shares elements with C.
template <Scalar T>
void copy_if_shared(const Matrix<T>& C, Operation op, Index rows, Index columns, const T*& X, Index& leading,
                    std::vector<T>& copy) {
  const Matrix<const T> given = factor(op, X, rows, columns, leading);
  if (X + given.span() <= C.data() || C.data() + C.span() <= X) return;
  if (!share_storage(given, C)) return;
  const auto height = static_cast<Index>(given.extent(0));
  const auto width = static_cast<Index>(given.extent(1));
  copy.resize(static_cast<std::size_t>(height * width));
  for (Index j = 0; j < width; ++j) {
    for (Index i = 0; i < height; ++i) copy[static_cast<std::size_t>(i + j * height)] = X[i + j * leading];
  }
  X = copy.data();
  leading = height;
}

// Up to so many products of two numbers the calling thread alone is faster.
template <Scalar T> constexpr double most_directly = 0x1p18;

// Up to so many sums in doubles are faster than products of 8-bit integers.
double most_placed() {
#if defined(__x86_64__)
  // VNNI units are that fast.
  if (__builtin_cpu_supports("avx512vnni")) return 0x1p28;
#endif
  return std::numeric_limits<double>::infinity();
}

template <Scalar T> double area_of_units(const Product<T>& product) {
  const auto whole = [](Index extent, Index unit) { return static_cast<double>((extent + unit - 1) / unit * unit); };
  return whole(product.m, 16) * whole(product.n, 16) * whole(product.k, 64);
}

// On whichever path is faster.
template <Scalar T> [[gnu::noinline]] void multiply_somehow(const Product<T>& product) {
  const double products =
      static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
  if (products <= most_directly<T> && multiply_directly(product)) return;
  if (multiply_on_device(product)) return;
  if (products <= most_placed() && multiply_placed(product, usual_threads())) return;
  // Units of integers multiply vectors of 64 elements, 16 at a time, whatever there are of both.
  if (area_of_units(product) > 8.0 * products) {
    multiply_on_host(product, usual_threads());
    return;
  }
#ifdef HEDDLE_BLAS_ENGINE
  // Kokkos is the engine's alone.
  multiply_on_host(product, products <= most_directly<T> ? 1 : usual_threads());
#else
  multiply_emulated(product);
#endif
}

// Computes the product with alpha and without it, and corrects elements that alpha multiplied after they had overflowed
// or lost bits.
template <Scalar T> [[gnu::noinline]] void multiply_twice(const Product<T>& product, Outcome<T>& outcome) {
  std::vector<T> rounded(static_cast<std::size_t>(product.m * product.n));
  Product<T> alone = product;
  alone.alpha = T{1};
  alone.beta = T{0};
  alone.C = rounded.data();
  alone.leading_c = product.m;
  multiply_somehow(alone);
  const std::vector<T> before = outcome.copy_of_c();
  multiply_somehow(product);
  outcome.correct(rounded.data(), before.data());
}

}  // namespace

template <Scalar T> void multiply(const Product<T>& given) {
  if (given.m == 0 || given.n == 0) return;
  const Arithmetic arithmetic;
  if (given.k == 0 || given.alpha == T{0}) {
    if (given.beta != T{1}) scale(given);
    return;
  }
  Product<T> product = given;
  std::vector<T> A;
  std::vector<T> B;
  const Matrix<T> C = matrix(product.C, product.m, product.n, product.leading_c);
  copy_if_shared(C, product.op_a, product.m, product.k, product.A, product.leading_a, A);
  copy_if_shared(C, product.op_b, product.k, product.n, product.B, product.leading_b, B);
  Outcome<T> outcome(product);
  if (outcome.may_be_rounded_first()) {
    multiply_somehow(product);
  } else {
    multiply_twice(product, outcome);
  }
  outcome.raise();
}

#ifndef HEDDLE_BLAS_ENGINE
template <Scalar T> void multiply_emulated(const Product<T>& product) {
  with_kokkos([&](const blas::Context& context) {
    const ExecutionSpace& space = context.space();
    EmulatedGemm<T> gemm(context, product.m, product.n, product.k, {.look = product.look});
    const MatrixView<const T> A = factor(product.op_a, product.A, product.m, product.k, product.leading_a);
    const MatrixView<const T> B = factor(product.op_b, product.B, product.k, product.n, product.leading_b);
    const MatrixView<T> C = matrix(product.C, product.m, product.n, product.leading_c);
    gemm(product.op_a, product.op_b, product.alpha, A, B, product.beta, C);
    space.fence("heddle::interpose::multiply");
  });
}
#define HEDDLE_INSTANTIATE(T) template void multiply_emulated<T>(const Product<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE
#endif

#define HEDDLE_INSTANTIATE(T) template void multiply<T>(const Product<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
