// BLAS 1 by its names: what moves numbers, and rotations.
#include "interpose/blas/rotations.hpp"
#include "interpose/names/symbols.hpp"

#include <cstddef>

using namespace heddle::impl::interpose;
using heddle::Index;

#define HEDDLE_COPY(symbol, NAME, T, I)                                                       \
  HEDDLE_EXPORT void symbol(const I* n, const T* x, const I* step_x, T* y, const I* step_y) { \
    HEDDLE_COUNT(NAME);                                                                       \
    copy<T>(*n, x, *step_x, y, *step_y);                                                      \
  }
#define HEDDLE_CBLAS_COPY(symbol, NAME, T, I)                                          \
  HEDDLE_EXPORT void symbol(I n, const Array<T>* x, I step_x, Array<T>* y, I step_y) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                       \
    copy<T>(n, array<T>(x), step_x, array<T>(y), step_y);                              \
  }
#define HEDDLE_SWAP(symbol, NAME, T, I)                                                 \
  HEDDLE_EXPORT void symbol(const I* n, T* x, const I* step_x, T* y, const I* step_y) { \
    HEDDLE_COUNT(NAME);                                                                 \
    swap<T>(*n, x, *step_x, y, *step_y);                                                \
  }
#define HEDDLE_CBLAS_SWAP(symbol, NAME, T, I)                                    \
  HEDDLE_EXPORT void symbol(I n, Array<T>* x, I step_x, Array<T>* y, I step_y) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                 \
    swap<T>(n, array<T>(x), step_x, array<T>(y), step_y);                        \
  }
// From 1, and from 0.
#define HEDDLE_AMAX(symbol, NAME, T, I)                           \
  HEDDLE_EXPORT I symbol(const I* n, const T* x, const I* step) { \
    HEDDLE_COUNT(NAME);                                           \
    return static_cast<I>(largest_of<T>(*n, x, *step) + 1);       \
  }
#define HEDDLE_CBLAS_AMAX(symbol, NAME, T, I)                        \
  HEDDLE_EXPORT std::size_t symbol(I n, const Array<T>* x, I step) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                     \
    const Index at = largest_of<T>(n, array<T>(x), step);            \
    return at < 0 ? 0 : static_cast<std::size_t>(at);                \
  }
#define HEDDLE_ROT(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(const I* n, T* x, const I* step_x, T* y, const I* step_y, const heddle::Real<T>* c, \
                            const heddle::Real<T>* s) {                                                         \
    HEDDLE_COUNT(NAME);                                                                                         \
    rotate<T, heddle::Real<T>>(*n, x, *step_x, y, *step_y, *c, *s);                                             \
  }
#define HEDDLE_CBLAS_ROT(symbol, NAME, T, I)                                                                           \
  HEDDLE_EXPORT void symbol(I n, Array<T>* x, I step_x, Array<T>* y, I step_y, heddle::Real<T> c, heddle::Real<T> s) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                                                       \
    rotate<T, heddle::Real<T>>(n, array<T>(x), step_x, array<T>(y), step_y, c, s);                                     \
  }
// LAPACK's, with a complex sine.
#define HEDDLE_COMPLEX_ROT(symbol, NAME, T, I)                                                                  \
  HEDDLE_EXPORT void symbol(const I* n, T* x, const I* step_x, T* y, const I* step_y, const heddle::Real<T>* c, \
                            const T* s) {                                                                       \
    HEDDLE_COUNT(NAME);                                                                                         \
    rotate<T, T>(*n, x, *step_x, y, *step_y, *c, *s);                                                           \
  }
#define HEDDLE_ROTG(symbol, NAME, T, I)                             \
  HEDDLE_EXPORT void symbol(T* a, T* b, heddle::Real<T>* c, T* s) { \
    HEDDLE_COUNT(NAME);                                             \
    make_rotation<T>(*a, *b, *c, *s);                               \
  }
#define HEDDLE_CBLAS_ROTG(symbol, NAME, T, I)                                            \
  HEDDLE_EXPORT void symbol(Array<T>* a, Array<T>* b, heddle::Real<T>* c, Array<T>* s) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                         \
    make_rotation<T>(*array<T>(a), *array<T>(b), *c, *array<T>(s));                      \
  }
#define HEDDLE_ROTM(symbol, NAME, T, I)                                                                      \
  HEDDLE_EXPORT void symbol(const I* n, T* x, const I* step_x, T* y, const I* step_y, const T* parameters) { \
    HEDDLE_COUNT(NAME);                                                                                      \
    rotate_modified<T>(*n, x, *step_x, y, *step_y, parameters);                                              \
  }
#define HEDDLE_CBLAS_ROTM(symbol, NAME, T, I)                                           \
  HEDDLE_EXPORT void symbol(I n, T* x, I step_x, T* y, I step_y, const T* parameters) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                                        \
    rotate_modified<T>(n, x, step_x, y, step_y, parameters);                            \
  }
#define HEDDLE_ROTMG(symbol, NAME, T, I)                                       \
  HEDDLE_EXPORT void symbol(T* d1, T* d2, T* x1, const T* y1, T* parameters) { \
    HEDDLE_COUNT(NAME);                                                        \
    make_modified_rotation<T>(*d1, *d2, *x1, *y1, parameters);                 \
  }
#define HEDDLE_CBLAS_ROTMG(symbol, NAME, T, I)                          \
  HEDDLE_EXPORT void symbol(T* d1, T* d2, T* x1, T y1, T* parameters) { \
    HEDDLE_COUNT("CBLAS_" NAME);                                        \
    make_modified_rotation<T>(*d1, *d2, *x1, y1, parameters);           \
  }
#define HEDDLE_REAL(FAMILY, stem, STEM)          \
  HEDDLE_BOTH(FAMILY, s##stem, "S" STEM, float); \
  HEDDLE_BOTH(FAMILY, d##stem, "D" STEM, double)

HEDDLE_FOUR(COPY, copy, "COPY");
HEDDLE_FOUR(SWAP, swap, "SWAP");
HEDDLE_BOTH(AMAX, isamax, "ISAMAX", float);
HEDDLE_BOTH(AMAX, idamax, "IDAMAX", double);
HEDDLE_BOTH(AMAX, icamax, "ICAMAX", Complex32);
HEDDLE_BOTH(AMAX, izamax, "IZAMAX", Complex64);
HEDDLE_REAL(ROT, rot, "ROT");
HEDDLE_BOTH(ROT, csrot, "CSROT", Complex32);
HEDDLE_BOTH(ROT, zdrot, "ZDROT", Complex64);
HEDDLE_FORTRAN(HEDDLE_COMPLEX_ROT, crot, "CROT", Complex32);
HEDDLE_FORTRAN(HEDDLE_COMPLEX_ROT, zrot, "ZROT", Complex64);
HEDDLE_FOUR(ROTG, rotg, "ROTG");
HEDDLE_REAL(ROTM, rotm, "ROTM");
HEDDLE_REAL(ROTMG, rotmg, "ROTMG");
