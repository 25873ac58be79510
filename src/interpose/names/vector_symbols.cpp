// BLAS 1 and 2 by their names: dense matrices, whole or triangles of them.
#include "interpose/names/vector_arguments.hpp"

#include <complex>

using namespace heddle::impl::interpose;
using heddle::Index;

namespace {

template <class T> struct ReturnedType { using Type = T; };
template <class R> struct ReturnedType<Kokkos::complex<R>> { using Type = std::complex<R>; };
// Complex results are in registers, as gfortran and C have them.
template <class T> using Returned = typename ReturnedType<T>::Type;
template <class T> Returned<T> returned(const T& x) {
  if constexpr (heddle::is_complex<T>) {
    return {x.real(), x.imag()};
  } else {
    return x;
  }
}

// Each returns 0 or the position of the first of Fortran's arguments that is wrong.
template <heddle::Scalar T>
int checked_gemv(char op, bool by_rows, Index m, Index n, T alpha, const T* A, Index leading, const T* x, Index step_x,
                 T beta, T* y, Index step_y) {
  const int wrong = first_wrong({{!is_operation(op), 1},
                                 {m < 0, 2},
                                 {n < 0, 3},
                                 {leading < std::max<Index>(1, by_rows ? n : m), 6},
                                 {step_x == 0, 8},
                                 {step_y == 0, 11}});
  if (wrong == 0) {
    gemv<T>(taken_as(op, by_rows), by_rows ? n : m, by_rows ? m : n, alpha, A, leading, x, step_x, beta, y, step_y);
  }
  return wrong;
}
template <heddle::Scalar T>
int checked_symv(char triangle, bool hermitian, bool by_rows, Index n, T alpha, const T* A, Index leading, const T* x,
                 Index step_x, T beta, T* y, Index step_y) {
  const int wrong = first_wrong({{!is_triangle(triangle), 1},
                                 {n < 0, 2},
                                 {leading < std::max<Index>(1, n), 5},
                                 {step_x == 0, 7},
                                 {step_y == 0, 10}});
  if (wrong == 0) {
    symv<T>(Dense{leading, n, triangle == 'L'}, hermitian, hermitian && by_rows, n, alpha, A, x, step_x, beta, y,
            step_y);
  }
  return wrong;
}
template <heddle::Scalar T>
int checked_ger(bool conjugated, bool by_rows, Index m, Index n, T alpha, const T* x, Index step_x, const T* y,
                Index step_y, T* A, Index leading) {
  const int wrong = first_wrong(
      {{m < 0, 1}, {n < 0, 2}, {step_x == 0, 5}, {step_y == 0, 7}, {leading < std::max<Index>(1, by_rows ? n : m), 9}});
  if (wrong == 0 && by_rows) {
    ger<T>(conjugated, false, n, m, alpha, y, step_y, x, step_x, A, leading);
  } else if (wrong == 0) {
    ger<T>(false, conjugated, m, n, alpha, x, step_x, y, step_y, A, leading);
  }
  return wrong;
}
template <heddle::Scalar T>
int checked_syr(char triangle, bool hermitian, bool by_rows, Index n, T alpha, const T* x, Index step, T* A,
                Index leading) {
  const int wrong =
      first_wrong({{!is_triangle(triangle), 1}, {n < 0, 2}, {step == 0, 5}, {leading < std::max<Index>(1, n), 7}});
  if (wrong == 0) syr<T>(Dense{leading, n, triangle == 'L'}, hermitian, hermitian && by_rows, n, alpha, x, step, A);
  return wrong;
}
template <heddle::Scalar T>
int checked_triangular(bool solved, char triangle, char op, char diagonal, bool by_rows, Index n, const T* A,
                       Index leading, T* x, Index step) {
  const int wrong = first_wrong({{!is_triangle(triangle), 1},
                                 {!is_operation(op), 2},
                                 {diagonal != 'U' && diagonal != 'N', 3},
                                 {n < 0, 4},
                                 {leading < std::max<Index>(1, n), 6},
                                 {step == 0, 8}});
  if (wrong == 0) {
    (solved ? trsv<T, Dense> : trmv<T, Dense>)(Dense{leading, n, triangle == 'L'}, taken_as(op, by_rows),
                                               diagonal == 'U', n, A, x, step);
  }
  return wrong;
}

}  // namespace

#define HEDDLE_DOT(symbol, NAME, T, I, conjugated)                                                         \
  HEDDLE_EXPORT Returned<T> symbol(const I* n, const T* x, const I* step_x, const T* y, const I* step_y) { \
    HEDDLE_COUNT(NAME);                                                                                    \
    return returned(dot<T>(conjugated, *n, x, *step_x, y, *step_y));                                       \
  }
#define HEDDLE_DOT_PLAIN(symbol, NAME, T, I) HEDDLE_DOT(symbol, NAME, T, I, false)
#define HEDDLE_DOT_CONJUGATED(symbol, NAME, T, I) HEDDLE_DOT(symbol, NAME, T, I, true)
#define HEDDLE_CBLAS_DOT(symbol, NAME, T, I)                                \
  HEDDLE_EXPORT T symbol(I n, const T* x, I step_x, const T* y, I step_y) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                            \
    return dot<T>(false, n, x, step_x, y, step_y);                          \
  }
// Complex results of CBLAS are written.
#define HEDDLE_CBLAS_DOT_SUB(symbol, NAME, T, I, conjugated)                                       \
  HEDDLE_EXPORT void symbol(I n, const void* x, I step_x, const void* y, I step_y, void* result) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                   \
    *static_cast<T*>(result) =                                                                     \
        dot<T>(conjugated, n, static_cast<const T*>(x), step_x, static_cast<const T*>(y), step_y); \
  }
#define HEDDLE_CBLAS_DOTU(symbol, NAME, T, I) HEDDLE_CBLAS_DOT_SUB(symbol, NAME, T, I, false)
#define HEDDLE_CBLAS_DOTC(symbol, NAME, T, I) HEDDLE_CBLAS_DOT_SUB(symbol, NAME, T, I, true)
#define HEDDLE_DSDOT(symbol, NAME, T, I)                                                                      \
  HEDDLE_EXPORT double symbol(const I* n, const float* x, const I* step_x, const float* y, const I* step_y) { \
    HEDDLE_COUNT(NAME);                                                                                       \
    return double_dot(*n, x, *step_x, y, *step_y);                                                            \
  }
#define HEDDLE_CBLAS_DSDOT(symbol, NAME, T, I)                                           \
  HEDDLE_EXPORT double symbol(I n, const float* x, I step_x, const float* y, I step_y) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                         \
    return double_dot(n, x, step_x, y, step_y);                                          \
  }
#define HEDDLE_SDSDOT(symbol, NAME, T, I)                                                                     \
  HEDDLE_EXPORT float symbol(const I* n, const float* start, const float* x, const I* step_x, const float* y, \
                             const I* step_y) {                                                               \
    HEDDLE_COUNT(NAME);                                                                                       \
    return started_dot(*n, *start, x, *step_x, y, *step_y);                                                   \
  }
#define HEDDLE_CBLAS_SDSDOT(symbol, NAME, T, I)                                                      \
  HEDDLE_EXPORT float symbol(I n, float start, const float* x, I step_x, const float* y, I step_y) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                     \
    return started_dot(n, start, x, step_x, y, step_y);                                              \
  }
#define HEDDLE_REDUCTION(symbol, NAME, T, I, reduce)                            \
  HEDDLE_EXPORT heddle::Real<T> symbol(const I* n, const T* x, const I* step) { \
    HEDDLE_COUNT(NAME);                                                         \
    return reduce<T>(*n, x, *step);                                             \
  }
#define HEDDLE_CBLAS_REDUCTION(symbol, NAME, T, I, reduce)               \
  HEDDLE_EXPORT heddle::Real<T> symbol(I n, const Array<T>* x, I step) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                         \
    return reduce<T>(n, array<T>(x), step);                              \
  }
#define HEDDLE_NRM2(symbol, NAME, T, I) HEDDLE_REDUCTION(symbol, NAME, T, I, norm)
#define HEDDLE_ASUM(symbol, NAME, T, I) HEDDLE_REDUCTION(symbol, NAME, T, I, absolute_sum)
#define HEDDLE_CBLAS_NRM2(symbol, NAME, T, I) HEDDLE_CBLAS_REDUCTION(symbol, NAME, T, I, norm)
#define HEDDLE_CBLAS_ASUM(symbol, NAME, T, I) HEDDLE_CBLAS_REDUCTION(symbol, NAME, T, I, absolute_sum)
#define HEDDLE_AXPY(symbol, NAME, T, I)                                                                       \
  HEDDLE_EXPORT void symbol(const I* n, const T* alpha, const T* x, const I* step_x, T* y, const I* step_y) { \
    HEDDLE_COUNT(NAME);                                                                                       \
    axpy<T>(*n, *alpha, x, *step_x, y, *step_y);                                                              \
  }
#define HEDDLE_CBLAS_AXPY(symbol, NAME, T, I)                                                             \
  HEDDLE_EXPORT void symbol(I n, Argument<T> alpha, const Array<T>* x, I step_x, Array<T>* y, I step_y) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                          \
    axpy<T>(n, scalar<T>(alpha), array<T>(x), step_x, array<T>(y), step_y);                               \
  }
#define HEDDLE_SCAL(symbol, NAME, T, I)                                        \
  HEDDLE_EXPORT void symbol(const I* n, const T* alpha, T* x, const I* step) { \
    HEDDLE_COUNT(NAME);                                                        \
    scal<T, T>(*n, *alpha, x, *step);                                          \
  }
#define HEDDLE_CBLAS_SCAL(symbol, NAME, T, I)                              \
  HEDDLE_EXPORT void symbol(I n, Argument<T> alpha, Array<T>* x, I step) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                           \
    scal<T, T>(n, scalar<T>(alpha), array<T>(x), step);                    \
  }
#define HEDDLE_REAL_SCAL(symbol, NAME, T, I)                                                 \
  HEDDLE_EXPORT void symbol(const I* n, const heddle::Real<T>* alpha, T* x, const I* step) { \
    HEDDLE_COUNT(NAME);                                                                      \
    scal<T, heddle::Real<T>>(*n, *alpha, x, *step);                                          \
  }
#define HEDDLE_CBLAS_REAL_SCAL(symbol, NAME, T, I)                             \
  HEDDLE_EXPORT void symbol(I n, heddle::Real<T> alpha, Array<T>* x, I step) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                               \
    scal<T, heddle::Real<T>>(n, alpha, array<T>(x), step);                     \
  }
#define HEDDLE_GEMV(symbol, NAME, T, I)                                                                              \
  HEDDLE_EXPORT void symbol(const char* op, const I* m, const I* n, const T* alpha, const T* A, const I* leading,    \
                            const T* x, const I* step_x, const T* beta, T* y, const I* step_y) {                     \
    HEDDLE_COUNT(NAME);                                                                                              \
    refuse_if(NAME, checked_gemv<T>(capital(op), false, *m, *n, *alpha, A, *leading, x, *step_x, *beta, y, *step_y), \
              sizeof(I) == 8);                                                                                       \
  }
#define HEDDLE_CBLAS_GEMV(symbol, NAME, T, I)                                                                         \
  HEDDLE_EXPORT void symbol(int order, int op, I m, I n, Argument<T> alpha, const Array<T>* A, I leading,             \
                            const Array<T>* x, I step_x, Argument<T> beta, Array<T>* y, I step_y) {                   \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                      \
    const int wrong = !is_order(order) ? 0                                                                            \
                                       : checked_gemv<T>(letter_of_operation(op), order == row_major, m, n,           \
                                                         scalar<T>(alpha), array<T>(A), leading, array<T>(x), step_x, \
                                                         scalar<T>(beta), array<T>(y), step_y);                       \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                              \
  }
#define HEDDLE_SYMMETRIC_MV(symbol, NAME, T, I, hermitian)                                                            \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, const T* alpha, const T* A, const I* leading,           \
                            const T* x, const I* step_x, const T* beta, T* y, const I* step_y) {                      \
    HEDDLE_COUNT(NAME);                                                                                               \
    refuse_if(                                                                                                        \
        NAME,                                                                                                         \
        checked_symv<T>(capital(triangle), hermitian, false, *n, *alpha, A, *leading, x, *step_x, *beta, y, *step_y), \
        sizeof(I) == 8);                                                                                              \
  }
#define HEDDLE_CBLAS_SYMMETRIC_MV(symbol, NAME, T, I, hermitian)                                                       \
  HEDDLE_EXPORT void symbol(int order, int triangle, I n, Argument<T> alpha, const Array<T>* A, I leading,             \
                            const Array<T>* x, I step_x, Argument<T> beta, Array<T>* y, I step_y) {                    \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    const bool by_rows = order == row_major;                                                                           \
    const int wrong = !is_order(order) ? 0                                                                             \
                                       : checked_symv<T>(letter_of_triangle(triangle, by_rows), hermitian, by_rows, n, \
                                                         scalar<T>(alpha), array<T>(A), leading, array<T>(x), step_x,  \
                                                         scalar<T>(beta), array<T>(y), step_y);                        \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                               \
  }
#define HEDDLE_SYMV(symbol, NAME, T, I) HEDDLE_SYMMETRIC_MV(symbol, NAME, T, I, false)
#define HEDDLE_HEMV(symbol, NAME, T, I) HEDDLE_SYMMETRIC_MV(symbol, NAME, T, I, true)
#define HEDDLE_CBLAS_SYMV(symbol, NAME, T, I) HEDDLE_CBLAS_SYMMETRIC_MV(symbol, NAME, T, I, false)
#define HEDDLE_CBLAS_HEMV(symbol, NAME, T, I) HEDDLE_CBLAS_SYMMETRIC_MV(symbol, NAME, T, I, true)
#define HEDDLE_OUTER(symbol, NAME, T, I, conjugated)                                                         \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, const T* alpha, const T* x, const I* step_x, const T* y, \
                            const I* step_y, T* A, const I* leading) {                                       \
    HEDDLE_COUNT(NAME);                                                                                      \
    refuse_if(NAME, checked_ger<T>(conjugated, false, *m, *n, *alpha, x, *step_x, y, *step_y, A, *leading),  \
              sizeof(I) == 8);                                                                               \
  }
#define HEDDLE_CBLAS_OUTER(symbol, NAME, T, I, conjugated)                                                          \
  HEDDLE_EXPORT void symbol(int order, I m, I n, Argument<T> alpha, const Array<T>* x, I step_x, const Array<T>* y, \
                            I step_y, Array<T>* A, I leading) {                                                     \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                    \
    const int wrong = !is_order(order)                                                                              \
                          ? 0                                                                                       \
                          : checked_ger<T>(conjugated, order == row_major, m, n, scalar<T>(alpha), array<T>(x),     \
                                           step_x, array<T>(y), step_y, array<T>(A), leading);                      \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                            \
  }
#define HEDDLE_GER(symbol, NAME, T, I) HEDDLE_OUTER(symbol, NAME, T, I, false)
#define HEDDLE_GERC(symbol, NAME, T, I) HEDDLE_OUTER(symbol, NAME, T, I, true)
#define HEDDLE_CBLAS_GER(symbol, NAME, T, I) HEDDLE_CBLAS_OUTER(symbol, NAME, T, I, false)
#define HEDDLE_CBLAS_GERC(symbol, NAME, T, I) HEDDLE_CBLAS_OUTER(symbol, NAME, T, I, true)
// The scalar of both is real: symmetric updates of complex matrices are LAPACK's.
#define HEDDLE_SYR(symbol, NAME, T, I)                                                                                 \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, const heddle::Real<T>* alpha, const T* x, const I* step, \
                            T* A, const I* leading) {                                                                  \
    HEDDLE_COUNT(NAME);                                                                                                \
    refuse_if(NAME,                                                                                                    \
              checked_syr<T>(capital(triangle), heddle::is_complex<T>, false, *n, *alpha, x, *step, A, *leading),      \
              sizeof(I) == 8);                                                                                         \
  }
#define HEDDLE_CBLAS_SYR(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(int order, int triangle, I n, heddle::Real<T> alpha, const Array<T>* x, I step,           \
                            Array<T>* A, I leading) {                                                                 \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                      \
    const bool by_rows = order == row_major;                                                                          \
    const int wrong = !is_order(order) ? 0                                                                            \
                                       : checked_syr<T>(letter_of_triangle(triangle, by_rows), heddle::is_complex<T>, \
                                                        by_rows, n, alpha, array<T>(x), step, array<T>(A), leading);  \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                              \
  }
#define HEDDLE_TRIANGULAR_MV(symbol, NAME, T, I, solved)                                                               \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const char* diagonal, const I* n, const T* A,        \
                            const I* leading, T* x, const I* step) {                                                   \
    HEDDLE_COUNT(NAME);                                                                                                \
    refuse_if(NAME,                                                                                                    \
              checked_triangular<T>(solved, capital(triangle), capital(op), capital(diagonal), false, *n, A, *leading, \
                                    x, *step),                                                                         \
              sizeof(I) == 8);                                                                                         \
  }
#define HEDDLE_CBLAS_TRIANGULAR_MV(symbol, NAME, T, I, solved)                                                        \
  HEDDLE_EXPORT void symbol(int order, int triangle, int op, int diagonal, I n, const Array<T>* A, I leading,         \
                            Array<T>* x, I step) {                                                                    \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                      \
    const bool by_rows = order == row_major;                                                                          \
    const int wrong = !is_order(order) ? 0                                                                            \
                                       : checked_triangular<T>(solved, letter_of_triangle(triangle, by_rows),         \
                                                               letter_of_operation(op), letter_of_diagonal(diagonal), \
                                                               by_rows, n, array<T>(A), leading, array<T>(x), step);  \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                              \
  }
#define HEDDLE_TRMV(symbol, NAME, T, I) HEDDLE_TRIANGULAR_MV(symbol, NAME, T, I, false)
#define HEDDLE_TRSV(symbol, NAME, T, I) HEDDLE_TRIANGULAR_MV(symbol, NAME, T, I, true)
#define HEDDLE_CBLAS_TRMV(symbol, NAME, T, I) HEDDLE_CBLAS_TRIANGULAR_MV(symbol, NAME, T, I, false)
#define HEDDLE_CBLAS_TRSV(symbol, NAME, T, I) HEDDLE_CBLAS_TRIANGULAR_MV(symbol, NAME, T, I, true)

HEDDLE_FORTRAN(HEDDLE_DOT_PLAIN, sdot, "SDOT", float);
HEDDLE_FORTRAN(HEDDLE_DOT_PLAIN, ddot, "DDOT", double);
HEDDLE_FORTRAN(HEDDLE_DOT_PLAIN, cdotu, "CDOTU", Complex32);
HEDDLE_FORTRAN(HEDDLE_DOT_PLAIN, zdotu, "ZDOTU", Complex64);
HEDDLE_FORTRAN(HEDDLE_DOT_CONJUGATED, cdotc, "CDOTC", Complex32);
HEDDLE_FORTRAN(HEDDLE_DOT_CONJUGATED, zdotc, "ZDOTC", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_DOT, sdot, "SDOT", float);
HEDDLE_CBLAS(HEDDLE_CBLAS_DOT, ddot, "DDOT", double);
HEDDLE_CBLAS(HEDDLE_CBLAS_DOTU, cdotu_sub, "CDOTU", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_DOTU, zdotu_sub, "ZDOTU", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_DOTC, cdotc_sub, "CDOTC", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_DOTC, zdotc_sub, "ZDOTC", Complex64);
HEDDLE_BOTH(DSDOT, dsdot, "DSDOT", double);
HEDDLE_BOTH(SDSDOT, sdsdot, "SDSDOT", float);
HEDDLE_BOTH(NRM2, snrm2, "SNRM2", float);
HEDDLE_BOTH(NRM2, dnrm2, "DNRM2", double);
HEDDLE_BOTH(NRM2, scnrm2, "SCNRM2", Complex32);
HEDDLE_BOTH(NRM2, dznrm2, "DZNRM2", Complex64);
HEDDLE_BOTH(ASUM, sasum, "SASUM", float);
HEDDLE_BOTH(ASUM, dasum, "DASUM", double);
HEDDLE_BOTH(ASUM, scasum, "SCASUM", Complex32);
HEDDLE_BOTH(ASUM, dzasum, "DZASUM", Complex64);
HEDDLE_BOTH(REAL_SCAL, csscal, "CSSCAL", Complex32);
HEDDLE_BOTH(REAL_SCAL, zdscal, "ZDSCAL", Complex64);
HEDDLE_BOTH(GER, sger, "SGER", float);
HEDDLE_BOTH(GER, dger, "DGER", double);
HEDDLE_BOTH(GER, cgeru, "CGERU", Complex32);
HEDDLE_BOTH(GER, zgeru, "ZGERU", Complex64);
HEDDLE_BOTH(GERC, cgerc, "CGERC", Complex32);
HEDDLE_BOTH(GERC, zgerc, "ZGERC", Complex64);
HEDDLE_BOTH(SYMV, ssymv, "SSYMV", float);
HEDDLE_BOTH(SYMV, dsymv, "DSYMV", double);
HEDDLE_BOTH(HEMV, chemv, "CHEMV", Complex32);
HEDDLE_BOTH(HEMV, zhemv, "ZHEMV", Complex64);
HEDDLE_BOTH(SYR, ssyr, "SSYR", float);
HEDDLE_BOTH(SYR, dsyr, "DSYR", double);
HEDDLE_BOTH(SYR, cher, "CHER", Complex32);
HEDDLE_BOTH(SYR, zher, "ZHER", Complex64);
HEDDLE_FOUR(AXPY, axpy, "AXPY");
HEDDLE_FOUR(SCAL, scal, "SCAL");
HEDDLE_FOUR(GEMV, gemv, "GEMV");
HEDDLE_FOUR(TRMV, trmv, "TRMV");
HEDDLE_FOUR(TRSV, trsv, "TRSV");
