// GEMM by its names.
#include "interpose/blas/product.hpp"
#include "interpose/names/symbols.hpp"

#include <algorithm>

namespace heddle::impl::interpose {
namespace {

template <Scalar T, class I>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void gemm(const char* name, const char* op_a, const char* op_b, I m, I n, I k, const T* alpha, const T* A, I leading_a,
          const T* B, I leading_b, const T* beta, T* C, I leading_c) {
  Operation a{};
  Operation b{};
  int wrong = 0;
  if (!operation_from<T>(op_a, a)) {
    wrong = 1;
  } else if (!operation_from<T>(op_b, b)) {
    wrong = 2;
  } else if (m < 0) {
    wrong = 3;
  } else if (n < 0) {
    wrong = 4;
  } else if (k < 0) {
    wrong = 5;
  } else if (leading_a < std::max<I>(1, a == Operation::none ? m : k)) {
    wrong = 8;
  } else if (leading_b < std::max<I>(1, b == Operation::none ? k : n)) {
    wrong = 10;
  } else if (leading_c < std::max<I>(1, m)) {
    wrong = 13;
  }
  if (wrong != 0) {
    refuse(name, wrong, sizeof(I) == 8);
    return;
  }
  multiply<T>({a, b, m, n, k, *alpha, A, leading_a, B, leading_b, *beta, C, leading_c});
}

// By rows, C^T = alpha op(B)^T op(A)^T + beta C^T.
template <Scalar T, class I>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void cblas_gemm(const char* name, int order, int op_a, int op_b, I m, I n, I k, const T& alpha, const T* A, I leading_a,
                const T* B, I leading_b, const T& beta, T* C, I leading_c) {
  Operation a{};
  Operation b{};
  const bool by_rows = order == row_major;
  int wrong = 0;
  if (order != row_major && order != column_major) {
    wrong = 1;
  } else if (!operation_from<T>(op_a, a)) {
    wrong = 2;
  } else if (!operation_from<T>(op_b, b)) {
    wrong = 3;
  } else if (m < 0) {
    wrong = 4;
  } else if (n < 0) {
    wrong = 5;
  } else if (k < 0) {
    wrong = 6;
  } else if (leading_a < std::max<I>(1, (a == Operation::none) != by_rows ? m : k)) {
    wrong = 9;
  } else if (leading_b < std::max<I>(1, (b == Operation::none) != by_rows ? k : n)) {
    wrong = 11;
  } else if (leading_c < std::max<I>(1, by_rows ? n : m)) {
    wrong = 14;
  }
  if (wrong != 0) {
    refuse_cblas(name, wrong, sizeof(I) == 8);
  } else if (by_rows) {
    multiply<T>({b, a, n, m, k, alpha, B, leading_b, A, leading_a, beta, C, leading_c});
  } else {
    multiply<T>({a, b, m, n, k, alpha, A, leading_a, B, leading_b, beta, C, leading_c});
  }
}

}  // namespace
}  // namespace heddle::impl::interpose

using namespace heddle::impl::interpose;

#define HEDDLE_GEMM(symbol, NAME, T, I)                                                                             \
  HEDDLE_EXPORT void symbol(const char* op_a, const char* op_b, const I* m, const I* n, const I* k, const T* alpha, \
                            const T* A, const I* leading_a, const T* B, const I* leading_b, const T* beta, T* C,    \
                            const I* leading_c) {                                                                   \
    HEDDLE_COUNT(NAME);                                                                                             \
    gemm<T, I>(NAME, op_a, op_b, *m, *n, *k, alpha, A, *leading_a, B, *leading_b, beta, C, *leading_c);             \
  }

#define HEDDLE_CBLAS_GEMM(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(int order, int op_a, int op_b, I m, I n, I k, Argument<T> alpha, const Array<T>* A,        \
                            I leading_a, const Array<T>* B, I leading_b, Argument<T> beta, Array<T>* C, I leading_c) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    cblas_gemm<T, I>(NAME, order, op_a, op_b, m, n, k, scalar<T>(alpha), array<T>(A), leading_a, array<T>(B),          \
                     leading_b, scalar<T>(beta), array<T>(C), leading_c);                                              \
  }
HEDDLE_FOUR(GEMM, gemm, "GEMM");
