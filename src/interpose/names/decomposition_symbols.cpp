// LAPACK's QR factorizations and eigenproblems by their names.
#include "interpose/eigen/spectrum.hpp"
#include "interpose/lapack/reflectors.hpp"
#include "interpose/names/eigen_arguments.hpp"

using namespace heddle::impl::interpose;
using heddle::Index;

namespace {

template <heddle::Scalar T, class I>
void syevr(const Wanted& wanted, bool vectors, bool lower, Index n, T* A, Index leading, I* found, heddle::Real<T>* w,
           T* Z, Index leading_z, I* support, I* info) {
  std::vector<heddle::Real<T>> all(static_cast<std::size_t>(n));
  *found = 0;
  *info = static_cast<I>(heev<T>(vectors, lower, n, A, leading, all.data()));
  if (*info != 0) return;
  *found = static_cast<I>(choose<T>(wanted, vectors, n, A, leading, all, w, Z, leading_z));
  // Callers have no room for it where they want a part.
  if (!vectors || !(wanted.range == 'A' || (wanted.range == 'I' && wanted.last - wanted.first + 1 == n))) return;
  for (I j = 0; j < *found; ++j) {
    support[2 * j] = 1;
    support[2 * j + 1] = static_cast<I>(n);
  }
}

}  // namespace

#define HEDDLE_GEQRF(symbol, NAME, T, I)                                                                      \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, T* A, const I* leading, T* tau, T* work, const I* length, \
                            I* info) {                                                                        \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                               \
    const bool asked = *length == -1;                                                                         \
    if (!accepted(NAME, info,                                                                                 \
                  {{*m < 0, 1}, {*n < 0, 2}, {below(*leading, *m), 4}, {!asked && below(*length, *n), 7}})) { \
      return;                                                                                                 \
    }                                                                                                         \
    work[0] = held<T>(std::max<Index>(1, *n));                                                                \
    if (!asked) geqrf<T>(*m, *n, A, *leading, tau);                                                           \
  }
#define HEDDLE_ORGQR(symbol, NAME, T, I)                                                                       \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, const I* k, T* A, const I* leading, const T* tau, T* work, \
                            const I* length, I* info) {                                                        \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                \
    const bool asked = *length == -1;                                                                          \
    if (!accepted(NAME, info,                                                                                  \
                  {{*m < 0, 1},                                                                                \
                   {*n < 0 || *n > *m, 2},                                                                     \
                   {*k < 0 || *k > *n, 3},                                                                     \
                   {below(*leading, *m), 5},                                                                   \
                   {!asked && below(*length, *n), 8}})) {                                                      \
      return;                                                                                                  \
    }                                                                                                          \
    work[0] = held<T>(std::max<Index>(1, *n));                                                                 \
    if (!asked) orgqr<T>(*m, *n, *k, A, *leading, tau);                                                        \
  }
#define HEDDLE_ORMQR(symbol, NAME, T, I)                                                                        \
  HEDDLE_EXPORT void symbol(const char* side, const char* op, const I* m, const I* n, const I* k, const T* A,   \
                            const I* leading, const T* tau, T* C, const I* leading_c, T* work, const I* length, \
                            I* info) {                                                                          \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                 \
    const bool asked = *length == -1;                                                                           \
    const bool left = is(side, 'L');                                                                            \
    const bool adjoint = is(op, heddle::is_complex<T> ? 'C' : 'T');                                             \
    const I order = left ? *m : *n;                                                                             \
    const I others = left ? *n : *m;                                                                            \
    if (!accepted(NAME, info,                                                                                   \
                  {{!left && !is(side, 'R'), 1},                                                                \
                   {!adjoint && !is(op, 'N'), 2},                                                               \
                   {*m < 0, 3},                                                                                 \
                   {*n < 0, 4},                                                                                 \
                   {*k < 0 || *k > order, 5},                                                                   \
                   {below(*leading, order), 7},                                                                 \
                   {below(*leading_c, *m), 10},                                                                 \
                   {!asked && below(*length, others), 12}})) {                                                  \
      return;                                                                                                   \
    }                                                                                                           \
    work[0] = held<T>(std::max<Index>(1, others));                                                              \
    if (!asked && *m > 0 && *n > 0) ormqr<T>(left, adjoint, *m, *n, *k, A, *leading, tau, C, *leading_c);       \
  }
// Eigenproblems, with the further checks and the workspace of each; `asked` says whether only the workspace is wanted.
// Real matrices have no array of real numbers besides.
#define HEDDLE_SYEV_BODY(NAME, T, I, NEEDED, ...)         \
  HEDDLE_COUNT_QUIETLY(NAME);                             \
  const Workspace needed = NEEDED;                        \
  if (!accepted(NAME, info,                               \
                {{!is_job(capital(job)), 1},              \
                 {!is_triangle(capital(triangle)), 2},    \
                 {*n < 0, 3},                             \
                 {below(*leading, *n), 5},                \
                 {!asked && *length < needed.numbers, 8}, \
                 __VA_ARGS__})) {                         \
    return;                                               \
  }                                                       \
  work[0] = held<T>(needed.numbers);                      \
  if (!asked) *info = static_cast<I>(heev<T>(is(job, 'V'), is(triangle, 'L'), *n, A, *leading, w))
#define HEDDLE_SYEV(symbol, NAME, T, I)                                                                \
  HEDDLE_EXPORT void symbol(const char* job, const char* triangle, const I* n, T* A, const I* leading, \
                            heddle::Real<T>* w, T* work, const I* length, I* info) {                   \
    const bool asked = *length == -1;                                                                  \
    HEDDLE_SYEV_BODY(NAME, T, I, of_syev<T>(*n));                                                      \
  }
#define HEDDLE_HEEV(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(const char* job, const char* triangle, const I* n, T* A, const I* leading,           \
                            heddle::Real<T>* w, T* work, const I* length, heddle::Real<T>* /*reals*/, I* info) { \
    const bool asked = *length == -1;                                                                            \
    HEDDLE_SYEV_BODY(NAME, T, I, of_syev<T>(*n));                                                                \
  }
#define HEDDLE_SYEVD(symbol, NAME, T, I)                                                                            \
  HEDDLE_EXPORT void symbol(const char* job, const char* triangle, const I* n, T* A, const I* leading,              \
                            heddle::Real<T>* w, T* work, const I* length, I* integers, const I* integer_length,     \
                            I* info) {                                                                              \
    const bool asked = *length == -1 || *integer_length == -1;                                                      \
    HEDDLE_SYEV_BODY(NAME, T, I, of_syevd<T>(is(job, 'V'), *n), {!asked && *integer_length < needed.integers, 10}); \
    integers[0] = static_cast<I>(needed.integers);                                                                  \
  }
#define HEDDLE_HEEVD(symbol, NAME, T, I)                                                                     \
  HEDDLE_EXPORT void symbol(const char* job, const char* triangle, const I* n, T* A, const I* leading,       \
                            heddle::Real<T>* w, T* work, const I* length, heddle::Real<T>* reals,            \
                            const I* real_length, I* integers, const I* integer_length, I* info) {           \
    const bool asked = *length == -1 || *real_length == -1 || *integer_length == -1;                         \
    HEDDLE_SYEV_BODY(NAME, T, I, of_syevd<T>(is(job, 'V'), *n), {!asked && *real_length < needed.reals, 10}, \
                     {!asked && *integer_length < needed.integers, 12});                                     \
    reals[0] = held<heddle::Real<T>>(needed.reals);                                                          \
    integers[0] = static_cast<I>(needed.integers);                                                           \
  }
#define HEDDLE_SYEVR_BODY(NAME, T, I, ...)                                                                         \
  HEDDLE_COUNT_QUIETLY(NAME);                                                                                      \
  const Workspace needed = of_syevr<T>(*n);                                                                        \
  const Wanted wanted = wanted_from(range, least, most, first, last);                                              \
  if (!accepted(NAME, info,                                                                                        \
                {{!is_job(capital(job)), 1},                                                                       \
                 {!is_range(wanted), 2},                                                                           \
                 {!is_triangle(capital(triangle)), 3},                                                             \
                 {*n < 0, 4},                                                                                      \
                 {below(*leading, *n), 6},                                                                         \
                 {is_empty_interval(wanted, *n), 8},                                                               \
                 {is_wrong_first(wanted, *n), 9},                                                                  \
                 {is_wrong_last(wanted, *n), 10},                                                                  \
                 {*leading_z < 1 || (is(job, 'V') && *leading_z < *n), 15},                                        \
                 {!asked && *length < needed.numbers, 18},                                                         \
                 __VA_ARGS__})) {                                                                                  \
    return;                                                                                                        \
  }                                                                                                                \
  work[0] = held<T>(needed.numbers);                                                                               \
  integers[0] = static_cast<I>(needed.integers);                                                                   \
  if (!asked) {                                                                                                    \
    syevr<T, I>(wanted, is(job, 'V'), is(triangle, 'L'), *n, A, *leading, found, w, Z, *leading_z, support, info); \
  }
#define HEDDLE_SYEVR(symbol, NAME, T, I)                                                                           \
  HEDDLE_EXPORT void symbol(const char* job, const char* range, const char* triangle, const I* n, T* A,            \
                            const I* leading, const T* least, const T* most, const I* first, const I* last,        \
                            const T* /*tolerance*/, I* found, T* w, T* Z, const I* leading_z, I* support, T* work, \
                            const I* length, I* integers, const I* integer_length, I* info) {                      \
    const bool asked = *length == -1 || *integer_length == -1;                                                     \
    HEDDLE_SYEVR_BODY(NAME, T, I, {!asked && *integer_length < needed.integers, 20});                              \
  }
#define HEDDLE_HEEVR(symbol, NAME, T, I)                                                                        \
  HEDDLE_EXPORT void symbol(const char* job, const char* range, const char* triangle, const I* n, T* A,         \
                            const I* leading, const heddle::Real<T>* least, const heddle::Real<T>* most,        \
                            const I* first, const I* last, const heddle::Real<T>* /*tolerance*/, I* found,      \
                            heddle::Real<T>* w, T* Z, const I* leading_z, I* support, T* work, const I* length, \
                            heddle::Real<T>* reals, const I* real_length, I* integers, const I* integer_length, \
                            I* info) {                                                                          \
    const bool asked = *length == -1 || *real_length == -1 || *integer_length == -1;                            \
    HEDDLE_SYEVR_BODY(NAME, T, I, {!asked && *real_length < needed.reals, 20},                                  \
                      {!asked && *integer_length < needed.integers, 22});                                       \
    reals[0] = held<heddle::Real<T>>(needed.reals);                                                             \
  }

HEDDLE_PAIRS(GEQRF, geqrf, "GEQRF", GEQRF, geqrf, "GEQRF");
HEDDLE_PAIRS(ORGQR, orgqr, "ORGQR", ORGQR, ungqr, "UNGQR");
HEDDLE_PAIRS(ORMQR, ormqr, "ORMQR", ORMQR, unmqr, "UNMQR");
HEDDLE_PAIRS(SYEV, syev, "SYEV", HEEV, heev, "HEEV");
HEDDLE_PAIRS(SYEVD, syevd, "SYEVD", HEEVD, heevd, "HEEVD");
HEDDLE_PAIRS(SYEVR, syevr, "SYEVR", HEEVR, heevr, "HEEVR");
