// BLAS 2 by its names: banded and packed matrices, and updates of rank 2.
#include "interpose/names/vector_arguments.hpp"

using namespace heddle::impl::interpose;
using heddle::Index;

namespace {

// Each returns 0 or the position of the first of Fortran's arguments that is wrong.
template <heddle::Scalar T>
int checked_gbmv(char op, bool by_rows, Index m, Index n, Index lower, Index upper, T alpha, const T* A, Index leading,
                 const T* x, Index step_x, T beta, T* y, Index step_y) {
  const int wrong = first_wrong({{!is_operation(op), 1},
                                 {m < 0, 2},
                                 {n < 0, 3},
                                 {lower < 0, 4},
                                 {upper < 0, 5},
                                 {leading < lower + upper + 1, 8},
                                 {step_x == 0, 10},
                                 {step_y == 0, 13}});
  if (wrong == 0 && by_rows) {
    gbmv<T>(taken_as(op, true), n, m, upper, lower, alpha, A, leading, x, step_x, beta, y, step_y);
  } else if (wrong == 0) {
    gbmv<T>(taken_as(op, false), m, n, lower, upper, alpha, A, leading, x, step_x, beta, y, step_y);
  }
  return wrong;
}
// `first`: the position of x's step; of y's it is three more.
template <heddle::Scalar T, class Stored>
int checked_mv(int wrong, int first, const Stored& stored, bool hermitian, bool by_rows, Index n, T alpha, const T* A,
               const T* x, Index step_x, T beta, T* y, Index step_y) {
  if (wrong == 0) wrong = first_wrong({{step_x == 0, first}, {step_y == 0, first + 3}});
  if (wrong == 0) symv<T>(stored, hermitian, hermitian && by_rows, n, alpha, A, x, step_x, beta, y, step_y);
  return wrong;
}
template <heddle::Scalar T>
int checked_sbmv(char triangle, bool hermitian, bool by_rows, Index n, Index width, T alpha, const T* A, Index leading,
                 const T* x, Index step_x, T beta, T* y, Index step_y) {
  const int wrong = first_wrong({{!is_triangle(triangle), 1}, {n < 0, 2}, {width < 0, 3}, {leading < width + 1, 6}});
  return checked_mv<T>(wrong, 8, Banded{leading, width, triangle == 'L'}, hermitian, by_rows, n, alpha, A, x, step_x,
                       beta, y, step_y);
}
template <heddle::Scalar T>
int checked_spmv(char triangle, bool hermitian, bool by_rows, Index n, T alpha, const T* A, const T* x, Index step_x,
                 T beta, T* y, Index step_y) {
  const int wrong = first_wrong({{!is_triangle(triangle), 1}, {n < 0, 2}});
  return checked_mv<T>(wrong, 6, Packed{n, triangle == 'L'}, hermitian, by_rows, n, alpha, A, x, step_x, beta, y,
                       step_y);
}
template <heddle::Scalar T, class Stored>
int checked_triangle(int later, const Stored& stored, bool solved, char triangle, char op, char diagonal, bool by_rows,
                     Index n, const T* A, T* x, Index step) {
  const int wrong = first_wrong({{!is_triangle(triangle), 1},
                                 {!is_operation(op), 2},
                                 {diagonal != 'U' && diagonal != 'N', 3},
                                 {n < 0, 4},
                                 {later != 0, later}});
  if (wrong == 0) {
    (solved ? trsv<T, Stored> : trmv<T, Stored>)(stored, taken_as(op, by_rows), diagonal == 'U', n, A, x, step);
  }
  return wrong;
}
template <heddle::Scalar T>
int checked_tb(bool solved, char triangle, char op, char diagonal, bool by_rows, Index n, Index width, const T* A,
               Index leading, T* x, Index step) {
  const int later = first_wrong({{width < 0, 5}, {leading < width + 1, 7}, {step == 0, 9}});
  return checked_triangle<T>(later, Banded{leading, width, triangle == 'L'}, solved, triangle, op, diagonal, by_rows, n,
                             A, x, step);
}
template <heddle::Scalar T>
int checked_tp(bool solved, char triangle, char op, char diagonal, bool by_rows, Index n, const T* A, T* x,
               Index step) {
  return checked_triangle<T>(step == 0 ? 7 : 0, Packed{n, triangle == 'L'}, solved, triangle, op, diagonal, by_rows, n,
                             A, x, step);
}
template <heddle::Scalar T>
int checked_spr(char triangle, bool by_rows, Index n, heddle::Real<T> alpha, const T* x, Index step, T* A) {
  const int wrong = first_wrong({{!is_triangle(triangle), 1}, {n < 0, 2}, {step == 0, 5}});
  constexpr bool hermitian = heddle::is_complex<T>;
  if (wrong == 0) syr<T>(Packed{n, triangle == 'L'}, hermitian, hermitian && by_rows, n, T(alpha), x, step, A);
  return wrong;
}
// By rows the conjugate is updated in the other triangle, with the conjugate of alpha: the two terms change places.
template <heddle::Scalar T, class Stored>
int checked_2(int later, const Stored& stored, char triangle, bool by_rows, Index n, T alpha, const T* x, Index step_x,
              const T* y, Index step_y, T* A) {
  const int wrong =
      first_wrong({{!is_triangle(triangle), 1}, {n < 0, 2}, {step_x == 0, 5}, {step_y == 0, 7}, {later != 0, later}});
  constexpr bool hermitian = heddle::is_complex<T>;
  if (wrong == 0 && hermitian && by_rows) {
    syr2<T>(stored, true, true, n, alpha, y, step_y, x, step_x, A);
  } else if (wrong == 0) {
    syr2<T>(stored, hermitian, false, n, alpha, x, step_x, y, step_y, A);
  }
  return wrong;
}
template <heddle::Scalar T>
int checked_syr2(char triangle, bool by_rows, Index n, T alpha, const T* x, Index step_x, const T* y, Index step_y,
                 T* A, Index leading) {
  return checked_2<T>(leading < std::max<Index>(1, n) ? 9 : 0, Dense{leading, n, triangle == 'L'}, triangle, by_rows, n,
                      alpha, x, step_x, y, step_y, A);
}
template <heddle::Scalar T>
int checked_spr2(char triangle, bool by_rows, Index n, T alpha, const T* x, Index step_x, const T* y, Index step_y,
                 T* A) {
  return checked_2<T>(0, Packed{n, triangle == 'L'}, triangle, by_rows, n, alpha, x, step_x, y, step_y, A);
}

}  // namespace

// Check a call by CBLAS: nothing is done for an order that is not valid.
#define HEDDLE_REFUSE_CBLAS(NAME, one, CALL)       \
  const bool by_rows = order == row_major;         \
  const int wrong = !is_order(order) ? 0 : (CALL); \
  refuse_cblas(NAME, order, wrong, one, sizeof(I) == 8)

#define HEDDLE_GBMV(symbol, NAME, T, I)                                                                              \
  HEDDLE_EXPORT void symbol(const char* op, const I* m, const I* n, const I* lower, const I* upper, const T* alpha,  \
                            const T* A, const I* leading, const T* x, const I* step_x, const T* beta, T* y,          \
                            const I* step_y) {                                                                       \
    HEDDLE_COUNT(NAME);                                                                                              \
    refuse_if(NAME,                                                                                                  \
              checked_gbmv<T>(capital(op), false, *m, *n, *lower, *upper, *alpha, A, *leading, x, *step_x, *beta, y, \
                              *step_y),                                                                              \
              sizeof(I) == 8);                                                                                       \
  }
#define HEDDLE_CBLAS_GBMV(symbol, NAME, T, IntegerType)                                                               \
  HEDDLE_EXPORT void symbol(int order, int op, IntegerType m, IntegerType n, IntegerType lower, IntegerType upper,    \
                            Argument<T> alpha, const Array<T>* A, IntegerType leading, const Array<T>* x,             \
                            IntegerType step_x, Argument<T> beta, Array<T>* y, IntegerType step_y) {                  \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                      \
    using I = IntegerType;                                                                                            \
    HEDDLE_REFUSE_CBLAS(                                                                                              \
        NAME, 0,                                                                                                      \
        checked_gbmv<T>(letter_of_operation(op), by_rows, m, n, lower, upper, scalar<T>(alpha), array<T>(A), leading, \
                        array<T>(x), step_x, scalar<T>(beta), array<T>(y), step_y));                                  \
  }
#define HEDDLE_BAND_MV(symbol, NAME, T, I)                                                                         \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, const I* width, const T* alpha, const T* A,          \
                            const I* leading, const T* x, const I* step_x, const T* beta, T* y, const I* step_y) { \
    HEDDLE_COUNT(NAME);                                                                                            \
    refuse_if(NAME,                                                                                                \
              checked_sbmv<T>(capital(triangle), heddle::is_complex<T>, false, *n, *width, *alpha, A, *leading, x, \
                              *step_x, *beta, y, *step_y),                                                         \
              sizeof(I) == 8);                                                                                     \
  }
#define HEDDLE_CBLAS_BAND_MV(symbol, NAME, T, IntegerType)                                                        \
  HEDDLE_EXPORT void symbol(int order, int triangle, IntegerType n, IntegerType width, Argument<T> alpha,         \
                            const Array<T>* A, IntegerType leading, const Array<T>* x, IntegerType step_x,        \
                            Argument<T> beta, Array<T>* y, IntegerType step_y) {                                  \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                  \
    using I = IntegerType;                                                                                        \
    HEDDLE_REFUSE_CBLAS(NAME, 0,                                                                                  \
                        checked_sbmv<T>(letter_of_triangle(triangle, by_rows), heddle::is_complex<T>, by_rows, n, \
                                        width, scalar<T>(alpha), array<T>(A), leading, array<T>(x), step_x,       \
                                        scalar<T>(beta), array<T>(y), step_y));                                   \
  }
#define HEDDLE_PACKED_MV(symbol, NAME, T, I)                                                                           \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, const T* alpha, const T* A, const T* x, const I* step_x, \
                            const T* beta, T* y, const I* step_y) {                                                    \
    HEDDLE_COUNT(NAME);                                                                                                \
    refuse_if(NAME,                                                                                                    \
              checked_spmv<T>(capital(triangle), heddle::is_complex<T>, false, *n, *alpha, A, x, *step_x, *beta, y,    \
                              *step_y),                                                                                \
              sizeof(I) == 8);                                                                                         \
  }
#define HEDDLE_CBLAS_PACKED_MV(symbol, NAME, T, IntegerType)                                                        \
  HEDDLE_EXPORT void symbol(int order, int triangle, IntegerType n, Argument<T> alpha, const Array<T>* A,           \
                            const Array<T>* x, IntegerType step_x, Argument<T> beta, Array<T>* y,                   \
                            IntegerType step_y) {                                                                   \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                    \
    using I = IntegerType;                                                                                          \
    HEDDLE_REFUSE_CBLAS(                                                                                            \
        NAME, 0,                                                                                                    \
        checked_spmv<T>(letter_of_triangle(triangle, by_rows), heddle::is_complex<T>, by_rows, n, scalar<T>(alpha), \
                        array<T>(A), array<T>(x), step_x, scalar<T>(beta), array<T>(y), step_y));                   \
  }
#define HEDDLE_BAND_TRIANGLE(symbol, NAME, T, I, solved)                                                               \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const char* diagonal, const I* n, const I* width,    \
                            const T* A, const I* leading, T* x, const I* step) {                                       \
    HEDDLE_COUNT(NAME);                                                                                                \
    refuse_if(NAME,                                                                                                    \
              checked_tb<T>(solved, capital(triangle), capital(op), capital(diagonal), false, *n, *width, A, *leading, \
                            x, *step),                                                                                 \
              sizeof(I) == 8);                                                                                         \
  }
#define HEDDLE_CBLAS_BAND_TRIANGLE(symbol, NAME, T, IntegerType, solved)                                          \
  HEDDLE_EXPORT void symbol(int order, int triangle, int op, int diagonal, IntegerType n, IntegerType width,      \
                            const Array<T>* A, IntegerType leading, Array<T>* x, IntegerType step) {              \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                  \
    using I = IntegerType;                                                                                        \
    HEDDLE_REFUSE_CBLAS(                                                                                          \
        NAME, 0,                                                                                                  \
        checked_tb<T>(solved, letter_of_triangle(triangle, by_rows), letter_of_operation(op),                     \
                      letter_of_diagonal(diagonal), by_rows, n, width, array<T>(A), leading, array<T>(x), step)); \
  }
#define HEDDLE_PACKED_TRIANGLE(symbol, NAME, T, I, solved)                                                            \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const char* diagonal, const I* n, const T* A, T* x, \
                            const I* step) {                                                                          \
    HEDDLE_COUNT(NAME);                                                                                               \
    refuse_if(NAME, checked_tp<T>(solved, capital(triangle), capital(op), capital(diagonal), false, *n, A, x, *step), \
              sizeof(I) == 8);                                                                                        \
  }
#define HEDDLE_CBLAS_PACKED_TRIANGLE(symbol, NAME, T, IntegerType, solved)                                        \
  HEDDLE_EXPORT void symbol(int order, int triangle, int op, int diagonal, IntegerType n, const Array<T>* A,      \
                            Array<T>* x, IntegerType step) {                                                      \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                  \
    using I = IntegerType;                                                                                        \
    HEDDLE_REFUSE_CBLAS(NAME, 0,                                                                                  \
                        checked_tp<T>(solved, letter_of_triangle(triangle, by_rows), letter_of_operation(op),     \
                                      letter_of_diagonal(diagonal), by_rows, n, array<T>(A), array<T>(x), step)); \
  }
#define HEDDLE_PACKED_UPDATE(symbol, NAME, T, I)                                                                       \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, const heddle::Real<T>* alpha, const T* x, const I* step, \
                            T* A) {                                                                                    \
    HEDDLE_COUNT(NAME);                                                                                                \
    refuse_if(NAME, checked_spr<T>(capital(triangle), false, *n, *alpha, x, *step, A), sizeof(I) == 8);                \
  }
#define HEDDLE_CBLAS_PACKED_UPDATE(symbol, NAME, T, IntegerType)                                                   \
  HEDDLE_EXPORT void symbol(int order, int triangle, IntegerType n, heddle::Real<T> alpha, const Array<T>* x,      \
                            IntegerType step, Array<T>* A) {                                                       \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                   \
    using I = IntegerType;                                                                                         \
    HEDDLE_REFUSE_CBLAS(                                                                                           \
        NAME, 0,                                                                                                   \
        checked_spr<T>(letter_of_triangle(triangle, by_rows), by_rows, n, alpha, array<T>(x), step, array<T>(A))); \
  }
#define HEDDLE_UPDATE_2(symbol, NAME, T, I)                                                                            \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, const T* alpha, const T* x, const I* step_x, const T* y, \
                            const I* step_y, T* A, const I* leading) {                                                 \
    HEDDLE_COUNT(NAME);                                                                                                \
    refuse_if(NAME, checked_syr2<T>(capital(triangle), false, *n, *alpha, x, *step_x, y, *step_y, A, *leading),        \
              sizeof(I) == 8);                                                                                         \
  }
#define HEDDLE_CBLAS_UPDATE_2(symbol, NAME, T, IntegerType)                                                  \
  HEDDLE_EXPORT void symbol(int order, int triangle, IntegerType n, Argument<T> alpha, const Array<T>* x,    \
                            IntegerType step_x, const Array<T>* y, IntegerType step_y, Array<T>* A,          \
                            IntegerType leading) {                                                           \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                             \
    using I = IntegerType;                                                                                   \
    HEDDLE_REFUSE_CBLAS(NAME, 0,                                                                             \
                        checked_syr2<T>(letter_of_triangle(triangle, by_rows), by_rows, n, scalar<T>(alpha), \
                                        array<T>(x), step_x, array<T>(y), step_y, array<T>(A), leading));    \
  }
#define HEDDLE_PACKED_UPDATE_2(symbol, NAME, T, I)                                                                     \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, const T* alpha, const T* x, const I* step_x, const T* y, \
                            const I* step_y, T* A) {                                                                   \
    HEDDLE_COUNT(NAME);                                                                                                \
    refuse_if(NAME, checked_spr2<T>(capital(triangle), false, *n, *alpha, x, *step_x, y, *step_y, A), sizeof(I) == 8); \
  }
#define HEDDLE_CBLAS_PACKED_UPDATE_2(symbol, NAME, T, IntegerType)                                           \
  HEDDLE_EXPORT void symbol(int order, int triangle, IntegerType n, Argument<T> alpha, const Array<T>* x,    \
                            IntegerType step_x, const Array<T>* y, IntegerType step_y, Array<T>* A) {        \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                             \
    using I = IntegerType;                                                                                   \
    HEDDLE_REFUSE_CBLAS(NAME, 0,                                                                             \
                        checked_spr2<T>(letter_of_triangle(triangle, by_rows), by_rows, n, scalar<T>(alpha), \
                                        array<T>(x), step_x, array<T>(y), step_y, array<T>(A)));             \
  }
#define HEDDLE_TBMV(symbol, NAME, T, I) HEDDLE_BAND_TRIANGLE(symbol, NAME, T, I, false)
#define HEDDLE_TBSV(symbol, NAME, T, I) HEDDLE_BAND_TRIANGLE(symbol, NAME, T, I, true)
#define HEDDLE_TPMV(symbol, NAME, T, I) HEDDLE_PACKED_TRIANGLE(symbol, NAME, T, I, false)
#define HEDDLE_TPSV(symbol, NAME, T, I) HEDDLE_PACKED_TRIANGLE(symbol, NAME, T, I, true)
#define HEDDLE_CBLAS_TBMV(symbol, NAME, T, I) HEDDLE_CBLAS_BAND_TRIANGLE(symbol, NAME, T, I, false)
#define HEDDLE_CBLAS_TBSV(symbol, NAME, T, I) HEDDLE_CBLAS_BAND_TRIANGLE(symbol, NAME, T, I, true)
#define HEDDLE_CBLAS_TPMV(symbol, NAME, T, I) HEDDLE_CBLAS_PACKED_TRIANGLE(symbol, NAME, T, I, false)
#define HEDDLE_CBLAS_TPSV(symbol, NAME, T, I) HEDDLE_CBLAS_PACKED_TRIANGLE(symbol, NAME, T, I, true)

// A family's names: of real numbers they begin with S and D, of complex ones, which are Hermitian, with C and Z.
#define HEDDLE_SYMMETRIC(FAMILY, real, REAL, hermitian, HERMITIAN) \
  HEDDLE_BOTH(FAMILY, s##real, "S" REAL, float);                   \
  HEDDLE_BOTH(FAMILY, d##real, "D" REAL, double);                  \
  HEDDLE_COMPLEX(FAMILY, hermitian, HERMITIAN)
HEDDLE_FOUR(GBMV, gbmv, "GBMV");
HEDDLE_FOUR(TBMV, tbmv, "TBMV");
HEDDLE_FOUR(TBSV, tbsv, "TBSV");
HEDDLE_FOUR(TPMV, tpmv, "TPMV");
HEDDLE_FOUR(TPSV, tpsv, "TPSV");
HEDDLE_SYMMETRIC(BAND_MV, sbmv, "SBMV", hbmv, "HBMV");
HEDDLE_SYMMETRIC(PACKED_MV, spmv, "SPMV", hpmv, "HPMV");
HEDDLE_SYMMETRIC(PACKED_UPDATE, spr, "SPR", hpr, "HPR");
HEDDLE_SYMMETRIC(UPDATE_2, syr2, "SYR2", her2, "HER2");
HEDDLE_SYMMETRIC(PACKED_UPDATE_2, spr2, "SPR2", hpr2, "HPR2");
