// BLAS 3 but for GEMM, by its names.
#include "interpose/level3.hpp"
#include "interpose/symbols.hpp"

using namespace heddle::impl::interpose;

namespace {

// CBLAS calls with a wrong order do nothing.
bool is_order(int order) {
  return order == row_major || order == column_major;
}
// The transpose of a rank-k update by rows.
char turned(char op, char adjoint) {
  return op == 'N' ? adjoint : op == adjoint || op == 'T' || op == 'C' ? 'N' : '?';
}

}  // namespace

#define HEDDLE_REFUSE(NAME, I, wrong) refuse_if(NAME, wrong, sizeof(I) == 8)
// Scalars that are real in the updates of Hermitian matrices.
#define HEDDLE_SAME(T) T
#define HEDDLE_REAL(T) heddle::Real<T>

#define HEDDLE_SYMM(symbol, NAME, T, I)                                                                           \
  HEDDLE_EXPORT void symbol(const char* side, const char* triangle, const I* m, const I* n, const T* alpha,       \
                            const T* A, const I* leading_a, const T* B, const I* leading_b, const T* beta, T* C,  \
                            const I* leading_c) {                                                                 \
    HEDDLE_COUNT(NAME);                                                                                           \
    HEDDLE_REFUSE(NAME, I,                                                                                        \
                  (symm<T, false>(capital(side), capital(triangle), *m, *n, *alpha, A, *leading_a, B, *leading_b, \
                                  *beta, C, *leading_c)));                                                        \
  }
#define HEDDLE_CBLAS_SYMM(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(int order, int side, int triangle, I m, I n, Argument<T> alpha, const Array<T>* A,         \
                            I leading_a, const Array<T>* B, I leading_b, Argument<T> beta, Array<T>* C, I leading_c) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    const bool by_rows = order == row_major;                                                                           \
    const int wrong = !is_order(order)                                                                                 \
                          ? 0                                                                                          \
                          : symm<T, false>(letter_of_side(side, by_rows), letter_of_triangle(triangle, by_rows),       \
                                           by_rows ? n : m, by_rows ? m : n, scalar<T>(alpha), array<T>(A), leading_a, \
                                           array<T>(B), leading_b, scalar<T>(beta), array<T>(C), leading_c);           \
    refuse_cblas(NAME, order, wrong, 3, sizeof(I) == 8);                                                               \
  }
HEDDLE_FORTRAN(HEDDLE_SYMM, ssymm, "SSYMM", float);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYMM, ssymm, "SSYMM", float);
HEDDLE_FORTRAN(HEDDLE_SYMM, dsymm, "DSYMM", double);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYMM, dsymm, "DSYMM", double);
HEDDLE_FORTRAN(HEDDLE_SYMM, csymm, "CSYMM", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYMM, csymm, "CSYMM", Complex32);
HEDDLE_FORTRAN(HEDDLE_SYMM, zsymm, "ZSYMM", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYMM, zsymm, "ZSYMM", Complex64);
#define HEDDLE_HEMM(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(const char* side, const char* triangle, const I* m, const I* n, const T* alpha,      \
                            const T* A, const I* leading_a, const T* B, const I* leading_b, const T* beta, T* C, \
                            const I* leading_c) {                                                                \
    HEDDLE_COUNT(NAME);                                                                                          \
    HEDDLE_REFUSE(NAME, I,                                                                                       \
                  (symm<T, true>(capital(side), capital(triangle), *m, *n, *alpha, A, *leading_a, B, *leading_b, \
                                 *beta, C, *leading_c)));                                                        \
  }
#define HEDDLE_CBLAS_HEMM(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(int order, int side, int triangle, I m, I n, Argument<T> alpha, const Array<T>* A,         \
                            I leading_a, const Array<T>* B, I leading_b, Argument<T> beta, Array<T>* C, I leading_c) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    const bool by_rows = order == row_major;                                                                           \
    const int wrong = !is_order(order)                                                                                 \
                          ? 0                                                                                          \
                          : symm<T, true>(letter_of_side(side, by_rows), letter_of_triangle(triangle, by_rows),        \
                                          by_rows ? n : m, by_rows ? m : n, scalar<T>(alpha), array<T>(A), leading_a,  \
                                          array<T>(B), leading_b, scalar<T>(beta), array<T>(C), leading_c);            \
    refuse_cblas(NAME, order, wrong, 3, sizeof(I) == 8);                                                               \
  }
HEDDLE_FORTRAN(HEDDLE_HEMM, chemm, "CHEMM", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_HEMM, chemm, "CHEMM", Complex32);
HEDDLE_FORTRAN(HEDDLE_HEMM, zhemm, "ZHEMM", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_HEMM, zhemm, "ZHEMM", Complex64);
#define HEDDLE_SYRK(symbol, NAME, T, I)                                                                                \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const I* n, const I* k,                              \
                            const HEDDLE_SAME(T) * alpha, const T* A, const I* leading_a, const HEDDLE_SAME(T) * beta, \
                            T * C, const I* leading_c) {                                                               \
    HEDDLE_COUNT(NAME);                                                                                                \
    HEDDLE_REFUSE(                                                                                                     \
        NAME, I,                                                                                                       \
        (syrk<T, false>(capital(triangle), capital(op), *n, *k, *alpha, A, *leading_a, *beta, C, *leading_c)));        \
  }
#define HEDDLE_CBLAS_SYRK(symbol, NAME, T, I)                                                                    \
  HEDDLE_EXPORT void symbol(int order, int triangle, int op, I n, I k, Argument<T> alpha, const Array<T>* A,     \
                            I leading_a, Argument<T> beta, Array<T>* C, I leading_c) {                           \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                 \
    const bool by_rows = order == row_major;                                                                     \
    const char given = letter_of_operation(op);                                                                  \
    const int wrong =                                                                                            \
        !is_order(order)                                                                                         \
            ? 0                                                                                                  \
            : syrk<T, false>(letter_of_triangle(triangle, by_rows), by_rows ? turned(given, 'T') : given, n, k,  \
                             scalar<T>(alpha), array<T>(A), leading_a, scalar<T>(beta), array<T>(C), leading_c); \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                         \
  }
HEDDLE_FORTRAN(HEDDLE_SYRK, ssyrk, "SSYRK", float);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYRK, ssyrk, "SSYRK", float);
HEDDLE_FORTRAN(HEDDLE_SYRK, dsyrk, "DSYRK", double);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYRK, dsyrk, "DSYRK", double);
HEDDLE_FORTRAN(HEDDLE_SYRK, csyrk, "CSYRK", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYRK, csyrk, "CSYRK", Complex32);
HEDDLE_FORTRAN(HEDDLE_SYRK, zsyrk, "ZSYRK", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYRK, zsyrk, "ZSYRK", Complex64);
#define HEDDLE_HERK(symbol, NAME, T, I)                                                                                \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const I* n, const I* k,                              \
                            const HEDDLE_REAL(T) * alpha, const T* A, const I* leading_a, const HEDDLE_REAL(T) * beta, \
                            T * C, const I* leading_c) {                                                               \
    HEDDLE_COUNT(NAME);                                                                                                \
    HEDDLE_REFUSE(                                                                                                     \
        NAME, I,                                                                                                       \
        (syrk<T, true>(capital(triangle), capital(op), *n, *k, *alpha, A, *leading_a, *beta, C, *leading_c)));         \
  }
#define HEDDLE_CBLAS_HERK(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(int order, int triangle, int op, I n, I k, heddle::Real<T> alpha, const Array<T>* A,       \
                            I leading_a, heddle::Real<T> beta, Array<T>* C, I leading_c) {                             \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    const bool by_rows = order == row_major;                                                                           \
    const char given = letter_of_operation(op);                                                                        \
    const int wrong = !is_order(order)                                                                                 \
                          ? 0                                                                                          \
                          : syrk<T, true>(letter_of_triangle(triangle, by_rows), by_rows ? turned(given, 'C') : given, \
                                          n, k, alpha, array<T>(A), leading_a, beta, array<T>(C), leading_c);          \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                               \
  }
HEDDLE_FORTRAN(HEDDLE_HERK, cherk, "CHERK", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_HERK, cherk, "CHERK", Complex32);
HEDDLE_FORTRAN(HEDDLE_HERK, zherk, "ZHERK", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_HERK, zherk, "ZHERK", Complex64);
#define HEDDLE_SYR2K(symbol, NAME, T, I)                                                                              \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const I* n, const I* k, const T* alpha, const T* A, \
                            const I* leading_a, const T* B, const I* leading_b, const HEDDLE_SAME(T) * beta, T * C,   \
                            const I* leading_c) {                                                                     \
    HEDDLE_COUNT(NAME);                                                                                               \
    HEDDLE_REFUSE(NAME, I,                                                                                            \
                  (syr2k<T, false>(capital(triangle), capital(op), *n, *k, *alpha, A, *leading_a, B, *leading_b,      \
                                   *beta, C, *leading_c)));                                                           \
  }
#define HEDDLE_CBLAS_SYR2K(symbol, NAME, T, I)                                                                         \
  HEDDLE_EXPORT void symbol(int order, int triangle, int op, I n, I k, Argument<T> alpha, const Array<T>* A,           \
                            I leading_a, const Array<T>* B, I leading_b, Argument<T> beta, Array<T>* C, I leading_c) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    const bool by_rows = order == row_major;                                                                           \
    const char given = letter_of_operation(op);                                                                        \
    const int wrong = !is_order(order) ? 0                                                                             \
                                       : syr2k<T, false>(letter_of_triangle(triangle, by_rows),                        \
                                                         by_rows ? turned(given, 'T') : given, n, k, scalar<T>(alpha), \
                                                         array<T>(A), leading_a, array<T>(B), leading_b,               \
                                                         scalar<T>(beta), array<T>(C), leading_c);                     \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                               \
  }
HEDDLE_FORTRAN(HEDDLE_SYR2K, ssyr2k, "SSYR2K", float);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYR2K, ssyr2k, "SSYR2K", float);
HEDDLE_FORTRAN(HEDDLE_SYR2K, dsyr2k, "DSYR2K", double);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYR2K, dsyr2k, "DSYR2K", double);
HEDDLE_FORTRAN(HEDDLE_SYR2K, csyr2k, "CSYR2K", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYR2K, csyr2k, "CSYR2K", Complex32);
HEDDLE_FORTRAN(HEDDLE_SYR2K, zsyr2k, "ZSYR2K", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_SYR2K, zsyr2k, "ZSYR2K", Complex64);
#define HEDDLE_HER2K(symbol, NAME, T, I)                                                                               \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const I* n, const I* k, const T* alpha, const T* A,  \
                            const I* leading_a, const T* B, const I* leading_b, const HEDDLE_REAL(T) * beta, T * C,    \
                            const I* leading_c) {                                                                      \
    HEDDLE_COUNT(NAME);                                                                                                \
    HEDDLE_REFUSE(NAME, I,                                                                                             \
                  (syr2k<T, true>(capital(triangle), capital(op), *n, *k, *alpha, A, *leading_a, B, *leading_b, *beta, \
                                  C, *leading_c)));                                                                    \
  }
#define HEDDLE_CBLAS_HER2K(symbol, NAME, T, I)                                                                         \
  HEDDLE_EXPORT void symbol(int order, int triangle, int op, I n, I k, Argument<T> alpha, const Array<T>* A,           \
                            I leading_a, const Array<T>* B, I leading_b, heddle::Real<T> beta, Array<T>* C,            \
                            I leading_c) {                                                                             \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    const bool by_rows = order == row_major;                                                                           \
    const char given = letter_of_operation(op);                                                                        \
    const int wrong =                                                                                                  \
        !is_order(order)                                                                                               \
            ? 0                                                                                                        \
            : syr2k<T, true>(letter_of_triangle(triangle, by_rows), by_rows ? turned(given, 'C') : given, n, k,        \
                             by_rows ? heddle::conjugate(scalar<T>(alpha)) : scalar<T>(alpha), array<T>(A), leading_a, \
                             array<T>(B), leading_b, beta, array<T>(C), leading_c);                                    \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                               \
  }
HEDDLE_FORTRAN(HEDDLE_HER2K, cher2k, "CHER2K", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_HER2K, cher2k, "CHER2K", Complex32);
HEDDLE_FORTRAN(HEDDLE_HER2K, zher2k, "ZHER2K", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_HER2K, zher2k, "ZHER2K", Complex64);

#define HEDDLE_TRIANGULAR(symbol, NAME, T, I, operation)                                                              \
  HEDDLE_EXPORT void symbol(const char* side, const char* triangle, const char* op, const char* diagonal, const I* m, \
                            const I* n, const T* alpha, const T* A, const I* leading_a, T* B, const I* leading_b) {   \
    HEDDLE_COUNT(NAME);                                                                                               \
    HEDDLE_REFUSE(NAME, I,                                                                                            \
                  (operation<T>(capital(side), capital(triangle), capital(op), capital(diagonal), *m, *n, *alpha, A,  \
                                *leading_a, B, *leading_b)));                                                         \
  }
#define HEDDLE_CBLAS_TRIANGULAR(symbol, NAME, T, I, operation)                                                      \
  HEDDLE_EXPORT void symbol(int order, int side, int triangle, int op, int diagonal, I m, I n, Argument<T> alpha,   \
                            const Array<T>* A, I leading_a, Array<T>* B, I leading_b) {                             \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                    \
    const bool by_rows = order == row_major;                                                                        \
    const int wrong =                                                                                               \
        !is_order(order)                                                                                            \
            ? 0                                                                                                     \
            : operation<T>(letter_of_side(side, by_rows), letter_of_triangle(triangle, by_rows),                    \
                           letter_of_operation(op), letter_of_diagonal(diagonal), by_rows ? n : m, by_rows ? m : n, \
                           scalar<T>(alpha), array<T>(A), leading_a, array<T>(B), leading_b);                       \
    refuse_cblas(NAME, order, wrong, 5, sizeof(I) == 8);                                                            \
  }
#define HEDDLE_TRMM(symbol, NAME, T, I) HEDDLE_TRIANGULAR(symbol, NAME, T, I, trmm)
#define HEDDLE_TRSM(symbol, NAME, T, I) HEDDLE_TRIANGULAR(symbol, NAME, T, I, trsm)
#define HEDDLE_CBLAS_TRMM(symbol, NAME, T, I) HEDDLE_CBLAS_TRIANGULAR(symbol, NAME, T, I, trmm)
#define HEDDLE_CBLAS_TRSM(symbol, NAME, T, I) HEDDLE_CBLAS_TRIANGULAR(symbol, NAME, T, I, trsm)
HEDDLE_FORTRAN(HEDDLE_TRMM, strmm, "STRMM", float);
HEDDLE_CBLAS(HEDDLE_CBLAS_TRMM, strmm, "STRMM", float);
HEDDLE_FORTRAN(HEDDLE_TRMM, dtrmm, "DTRMM", double);
HEDDLE_CBLAS(HEDDLE_CBLAS_TRMM, dtrmm, "DTRMM", double);
HEDDLE_FORTRAN(HEDDLE_TRMM, ctrmm, "CTRMM", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_TRMM, ctrmm, "CTRMM", Complex32);
HEDDLE_FORTRAN(HEDDLE_TRMM, ztrmm, "ZTRMM", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_TRMM, ztrmm, "ZTRMM", Complex64);
HEDDLE_FORTRAN(HEDDLE_TRSM, strsm, "STRSM", float);
HEDDLE_CBLAS(HEDDLE_CBLAS_TRSM, strsm, "STRSM", float);
HEDDLE_FORTRAN(HEDDLE_TRSM, dtrsm, "DTRSM", double);
HEDDLE_CBLAS(HEDDLE_CBLAS_TRSM, dtrsm, "DTRSM", double);
HEDDLE_FORTRAN(HEDDLE_TRSM, ctrsm, "CTRSM", Complex32);
HEDDLE_CBLAS(HEDDLE_CBLAS_TRSM, ctrsm, "CTRSM", Complex32);
HEDDLE_FORTRAN(HEDDLE_TRSM, ztrsm, "ZTRSM", Complex64);
HEDDLE_CBLAS(HEDDLE_CBLAS_TRSM, ztrsm, "ZTRSM", Complex64);
