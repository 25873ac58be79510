// Routines of LAPACK by their names.
#include "interpose/lapack/factors.hpp"
#include "interpose/names/lapack_arguments.hpp"

using namespace heddle::impl::interpose;
using heddle::Index;

namespace {

// Arguments of systems with Hermitian positive definite matrices.
template <class I>
bool accepted_definite(const char* name, I* info, const char* triangle, I n, I columns, I leading, I leading_b) {
  return accepted(name, info,
                  {{!is_triangle(capital(triangle)), 1},
                   {n < 0, 2},
                   {columns < 0, 3},
                   {below(leading, n), 5},
                   {below(leading_b, n), 7}});
}

}  // namespace

#define HEDDLE_GETRF(symbol, NAME, T, I)                                                          \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, T* A, const I* leading, I* pivots, I* info) { \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                   \
    if (!accepted(NAME, info, {{*m < 0, 1}, {*n < 0, 2}, {below(*leading, *m), 4}})) return;      \
    *info = static_cast<I>(getrf<T, I>(*m, *n, A, *leading, pivots));                             \
  }
#define HEDDLE_GETRS(symbol, NAME, T, I)                                                                \
  HEDDLE_EXPORT void symbol(const char* op, const I* n, const I* columns, const T* A, const I* leading, \
                            const I* pivots, T* B, const I* leading_b, I* info) {                       \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                         \
    const char letter = capital(op);                                                                    \
    if (!accepted(NAME, info,                                                                           \
                  {{letter != 'N' && letter != 'T' && letter != 'C', 1},                                \
                   {*n < 0, 2},                                                                         \
                   {*columns < 0, 3},                                                                   \
                   {below(*leading, *n), 5},                                                            \
                   {below(*leading_b, *n), 8}})) {                                                      \
      return;                                                                                           \
    }                                                                                                   \
    getrs<T, I>(letter, *n, *columns, A, *leading, pivots, B, *leading_b);                              \
  }
#define HEDDLE_GESV(symbol, NAME, T, I)                                                                                \
  HEDDLE_EXPORT void symbol(const I* n, const I* columns, T* A, const I* leading, I* pivots, T* B, const I* leading_b, \
                            I* info) {                                                                                 \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                        \
    if (!accepted(NAME, info,                                                                                          \
                  {{*n < 0, 1}, {*columns < 0, 2}, {below(*leading, *n), 4}, {below(*leading_b, *n), 7}})) {           \
      return;                                                                                                          \
    }                                                                                                                  \
    *info = static_cast<I>(getrf<T, I>(*n, *n, A, *leading, pivots));                                                  \
    if (*info == 0) getrs<T, I>('N', *n, *columns, A, *leading, pivots, B, *leading_b);                                \
  }
#define HEDDLE_GETRI(symbol, NAME, T, I)                                                                              \
  HEDDLE_EXPORT void symbol(const I* n, T* A, const I* leading, const I* pivots, T* work, const I* length, I* info) { \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                       \
    const bool asked = *length == -1;                                                                                 \
    if (!accepted(NAME, info, {{*n < 0, 1}, {below(*leading, *n), 3}, {!asked && below(*length, *n), 6}})) return;    \
    work[0] = T(static_cast<heddle::Real<T>>(std::max<I>(1, *n)));                                                    \
    if (!asked) *info = static_cast<I>(getri<T, I>(*n, A, *leading, pivots));                                         \
  }
#define HEDDLE_POTRF(symbol, NAME, T, I)                                                                        \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, T* A, const I* leading, I* info) {                \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                 \
    if (!accepted(NAME, info, {{!is_triangle(capital(triangle)), 1}, {*n < 0, 2}, {below(*leading, *n), 4}})) { \
      return;                                                                                                   \
    }                                                                                                           \
    *info = static_cast<I>(potrf<T>(capital(triangle) == 'L', *n, A, *leading));                                \
  }
#define HEDDLE_POTRS(symbol, NAME, T, I)                                                                            \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, const I* columns, const T* A, const I* leading, T* B, \
                            const I* leading_b, I* info) {                                                          \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                     \
    if (!accepted_definite(NAME, info, triangle, *n, *columns, *leading, *leading_b)) return;                       \
    potrs<T>(capital(triangle) == 'L', *n, *columns, A, *leading, B, *leading_b);                                   \
  }
#define HEDDLE_POSV(symbol, NAME, T, I)                                                                       \
  HEDDLE_EXPORT void symbol(const char* triangle, const I* n, const I* columns, T* A, const I* leading, T* B, \
                            const I* leading_b, I* info) {                                                    \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                               \
    if (!accepted_definite(NAME, info, triangle, *n, *columns, *leading, *leading_b)) return;                 \
    const bool lower = capital(triangle) == 'L';                                                              \
    *info = static_cast<I>(potrf<T>(lower, *n, A, *leading));                                                 \
    if (*info == 0) potrs<T>(lower, *n, *columns, A, *leading, B, *leading_b);                                \
  }
#define HEDDLE_TRTRI(symbol, NAME, T, I)                                                                               \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* diagonal, const I* n, T* A, const I* leading, I* info) { \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                        \
    if (!accepted(NAME, info,                                                                                          \
                  {{!is_triangle(capital(triangle)), 1},                                                               \
                   {capital(diagonal) != 'U' && capital(diagonal) != 'N', 2},                                          \
                   {*n < 0, 3},                                                                                        \
                   {below(*leading, *n), 5}})) {                                                                       \
      return;                                                                                                          \
    }                                                                                                                  \
    *info = static_cast<I>(trtri<T>(capital(triangle) == 'L', capital(diagonal) == 'U', *n, A, *leading));             \
  }
#define HEDDLE_TRTRS(symbol, NAME, T, I)                                                                              \
  HEDDLE_EXPORT void symbol(const char* triangle, const char* op, const char* diagonal, const I* n, const I* columns, \
                            const T* A, const I* leading, T* B, const I* leading_b, I* info) {                        \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                       \
    const char letter = capital(op);                                                                                  \
    if (!accepted(NAME, info,                                                                                         \
                  {{!is_triangle(capital(triangle)), 1},                                                              \
                   {letter != 'N' && letter != 'T' && letter != 'C', 2},                                              \
                   {capital(diagonal) != 'U' && capital(diagonal) != 'N', 3},                                         \
                   {*n < 0, 4},                                                                                       \
                   {*columns < 0, 5},                                                                                 \
                   {below(*leading, *n), 7},                                                                          \
                   {below(*leading_b, *n), 9}})) {                                                                    \
      return;                                                                                                         \
    }                                                                                                                 \
    *info = static_cast<I>(trtrs<T>(capital(triangle) == 'L', letter, capital(diagonal) == 'U', *n, *columns, A,      \
                                    *leading, B, *leading_b));                                                        \
  }
#define HEDDLE_BY_FORTRAN(FAMILY, stem, STEM)                    \
  HEDDLE_FORTRAN(HEDDLE_##FAMILY, s##stem, "S" STEM, float);     \
  HEDDLE_FORTRAN(HEDDLE_##FAMILY, d##stem, "D" STEM, double);    \
  HEDDLE_FORTRAN(HEDDLE_##FAMILY, c##stem, "C" STEM, Complex32); \
  HEDDLE_FORTRAN(HEDDLE_##FAMILY, z##stem, "Z" STEM, Complex64)
HEDDLE_BY_FORTRAN(GETRF, getrf, "GETRF");
HEDDLE_BY_FORTRAN(GETRS, getrs, "GETRS");
HEDDLE_BY_FORTRAN(GESV, gesv, "GESV");
HEDDLE_BY_FORTRAN(GETRI, getri, "GETRI");
HEDDLE_BY_FORTRAN(POTRF, potrf, "POTRF");
HEDDLE_BY_FORTRAN(POTRS, potrs, "POTRS");
HEDDLE_BY_FORTRAN(POSV, posv, "POSV");
HEDDLE_BY_FORTRAN(TRTRI, trtri, "TRTRI");
HEDDLE_BY_FORTRAN(TRTRS, trtrs, "TRTRS");
