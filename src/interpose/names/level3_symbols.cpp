// BLAS 3 but for GEMM, by its names.
#include "interpose/blas/level3.hpp"
#include "interpose/names/symbols.hpp"

using namespace heddle::impl::interpose;

namespace {

// The transpose of a rank-k update by rows.
char turned(char op, char adjoint) {
  return op == 'N' ? adjoint : op == adjoint || op == 'T' || op == 'C' ? 'N' : '?';
}

}  // namespace

#define HEDDLE_REFUSE(NAME, I, wrong) refuse_if(NAME, wrong, sizeof(I) == 8)
#define HEDDLE_SYMMETRIC_PRODUCT(symbol, NAME, T, I, hermitian)                                                       \
  HEDDLE_EXPORT void symbol(const char* side, const char* triangle, const I* m, const I* n, const T* alpha,           \
                            const T* A, const I* leading_a, const T* B, const I* leading_b, const T* beta, T* C,      \
                            const I* leading_c) {                                                                     \
    HEDDLE_COUNT(NAME);                                                                                               \
    HEDDLE_REFUSE(NAME, I,                                                                                            \
                  (symm<T, hermitian>(capital(side), capital(triangle), *m, *n, *alpha, A, *leading_a, B, *leading_b, \
                                      *beta, C, *leading_c)));                                                        \
  }
#define HEDDLE_CBLAS_SYMMETRIC(symbol, NAME, T, I, hermitian)                                                          \
  HEDDLE_EXPORT void symbol(int order, int side, int triangle, I m, I n, Argument<T> alpha, const Array<T>* A,         \
                            I leading_a, const Array<T>* B, I leading_b, Argument<T> beta, Array<T>* C, I leading_c) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    const bool by_rows = order == row_major;                                                                           \
    const int wrong =                                                                                                  \
        !is_order(order)                                                                                               \
            ? 0                                                                                                        \
            : symm<T, hermitian>(letter_of_side(side, by_rows), letter_of_triangle(triangle, by_rows),                 \
                                 by_rows ? n : m, by_rows ? m : n, scalar<T>(alpha), array<T>(A), leading_a,           \
                                 array<T>(B), leading_b, scalar<T>(beta), array<T>(C), leading_c);                     \
    refuse_cblas(NAME, order, wrong, 3, sizeof(I) == 8);                                                               \
  }
// S is the type of what is real in updates of Hermitian matrices.
#define HEDDLE_RANK_K(symbol, NAME, T, I, hermitian, S)                                                               \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const I* n, const I* k, const S* alpha, const T* A, \
                            const I* leading_a, const S* beta, T* C, const I* leading_c) {                            \
    HEDDLE_COUNT(NAME);                                                                                               \
    HEDDLE_REFUSE(                                                                                                    \
        NAME, I,                                                                                                      \
        (syrk<T, hermitian>(capital(triangle), capital(op), *n, *k, *alpha, A, *leading_a, *beta, C, *leading_c)));   \
  }
#define HEDDLE_CBLAS_RANK_K(symbol, NAME, T, I, hermitian, S)                                                          \
  HEDDLE_EXPORT void symbol(int order, int triangle, int op, I n, I k, Argument<S> alpha, const Array<T>* A,           \
                            I leading_a, Argument<S> beta, Array<T>* C, I leading_c) {                                 \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    const bool by_rows = order == row_major;                                                                           \
    const char given = letter_of_operation(op);                                                                        \
    const int wrong = !is_order(order) ? 0                                                                             \
                                       : syrk<T, hermitian>(letter_of_triangle(triangle, by_rows),                     \
                                                            by_rows ? turned(given, hermitian ? 'C' : 'T') : given, n, \
                                                            k, scalar<S>(alpha), array<T>(A), leading_a,               \
                                                            scalar<S>(beta), array<T>(C), leading_c);                  \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                               \
  }
#define HEDDLE_RANK_2K(symbol, NAME, T, I, hermitian, S)                                                              \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const I* n, const I* k, const T* alpha, const T* A, \
                            const I* leading_a, const T* B, const I* leading_b, const S* beta, T* C,                  \
                            const I* leading_c) {                                                                     \
    HEDDLE_COUNT(NAME);                                                                                               \
    HEDDLE_REFUSE(NAME, I,                                                                                            \
                  (syr2k<T, hermitian>(capital(triangle), capital(op), *n, *k, *alpha, A, *leading_a, B, *leading_b,  \
                                       *beta, C, *leading_c)));                                                       \
  }
#define HEDDLE_CBLAS_RANK_2K(symbol, NAME, T, I, hermitian, S)                                                         \
  HEDDLE_EXPORT void symbol(int order, int triangle, int op, I n, I k, Argument<T> alpha, const Array<T>* A,           \
                            I leading_a, const Array<T>* B, I leading_b, Argument<S> beta, Array<T>* C, I leading_c) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    const bool by_rows = order == row_major;                                                                           \
    const char given = letter_of_operation(op);                                                                        \
    const T factor = hermitian && by_rows ? heddle::conjugate(scalar<T>(alpha)) : scalar<T>(alpha);                    \
    const int wrong = !is_order(order) ? 0                                                                             \
                                       : syr2k<T, hermitian>(letter_of_triangle(triangle, by_rows),                    \
                                                             by_rows ? turned(given, hermitian ? 'C' : 'T') : given,   \
                                                             n, k, factor, array<T>(A), leading_a, array<T>(B),        \
                                                             leading_b, scalar<S>(beta), array<T>(C), leading_c);      \
    refuse_cblas(NAME, order, wrong, 0, sizeof(I) == 8);                                                               \
  }
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
#define HEDDLE_SYMM(symbol, NAME, T, I) HEDDLE_SYMMETRIC_PRODUCT(symbol, NAME, T, I, false)
#define HEDDLE_HEMM(symbol, NAME, T, I) HEDDLE_SYMMETRIC_PRODUCT(symbol, NAME, T, I, true)
#define HEDDLE_CBLAS_SYMM(symbol, NAME, T, I) HEDDLE_CBLAS_SYMMETRIC(symbol, NAME, T, I, false)
#define HEDDLE_CBLAS_HEMM(symbol, NAME, T, I) HEDDLE_CBLAS_SYMMETRIC(symbol, NAME, T, I, true)
#define HEDDLE_SYRK(symbol, NAME, T, I) HEDDLE_RANK_K(symbol, NAME, T, I, false, T)
#define HEDDLE_HERK(symbol, NAME, T, I) HEDDLE_RANK_K(symbol, NAME, T, I, true, heddle::Real<T>)
#define HEDDLE_CBLAS_SYRK(symbol, NAME, T, I) HEDDLE_CBLAS_RANK_K(symbol, NAME, T, I, false, T)
#define HEDDLE_CBLAS_HERK(symbol, NAME, T, I) HEDDLE_CBLAS_RANK_K(symbol, NAME, T, I, true, heddle::Real<T>)
#define HEDDLE_SYR2K(symbol, NAME, T, I) HEDDLE_RANK_2K(symbol, NAME, T, I, false, T)
#define HEDDLE_HER2K(symbol, NAME, T, I) HEDDLE_RANK_2K(symbol, NAME, T, I, true, heddle::Real<T>)
#define HEDDLE_CBLAS_SYR2K(symbol, NAME, T, I) HEDDLE_CBLAS_RANK_2K(symbol, NAME, T, I, false, T)
#define HEDDLE_CBLAS_HER2K(symbol, NAME, T, I) HEDDLE_CBLAS_RANK_2K(symbol, NAME, T, I, true, heddle::Real<T>)

HEDDLE_FOUR(SYMM, symm, "SYMM");
HEDDLE_COMPLEX(HEMM, hemm, "HEMM");
HEDDLE_FOUR(SYRK, syrk, "SYRK");
HEDDLE_COMPLEX(HERK, herk, "HERK");
HEDDLE_FOUR(SYR2K, syr2k, "SYR2K");
HEDDLE_COMPLEX(HER2K, her2k, "HER2K");
HEDDLE_FOUR(TRMM, trmm, "TRMM");
HEDDLE_FOUR(TRSM, trsm, "TRSM");
