// LAPACK's eigenproblems of pairs of matrices, and those of which a part is wanted, by their names.
#include "interpose/eigen/generalised.hpp"
#include "interpose/eigen/spectrum.hpp"
#include "interpose/names/eigen_arguments.hpp"

using namespace heddle::impl::interpose;
using heddle::Index;

namespace {

// Set the wanted ones of all; none has failed.
template <heddle::Scalar T, class I>
void give(const Wanted& wanted, bool vectors, Index n, const T* A, Index leading,
          const std::vector<heddle::Real<T>>& all, I* found, heddle::Real<T>* w, T* Z, Index leading_z, I* failed) {
  *found = static_cast<I>(choose<T>(wanted, vectors, n, A, leading, all, w, Z, leading_z));
  if (vectors) std::fill_n(failed, *found, I{0});
}
template <heddle::Scalar T, class I>
void syevx(const Wanted& wanted, bool vectors, bool lower, Index n, T* A, Index leading, I* found, heddle::Real<T>* w,
           T* Z, Index leading_z, I* failed, I* info) {
  std::vector<heddle::Real<T>> all(static_cast<std::size_t>(n));
  *found = 0;
  *info = static_cast<I>(heev<T>(vectors, lower, n, A, leading, all.data()));
  if (*info == 0) give<T>(wanted, vectors, n, A, leading, all, found, w, Z, leading_z, failed);
}
template <heddle::Scalar T, class I>
void sygvx(int type, const Wanted& wanted, bool vectors, bool lower, Index n, T* A, Index leading_a, T* B,
           Index leading_b, I* found, heddle::Real<T>* w, T* Z, Index leading_z, I* failed, I* info) {
  std::vector<heddle::Real<T>> all(static_cast<std::size_t>(n));
  *found = 0;
  *info = static_cast<I>(hegv<T>(type, vectors, lower, n, A, leading_a, B, leading_b, all.data()));
  if (*info == 0) give<T>(wanted, vectors, n, A, leading_a, all, found, w, Z, leading_z, failed);
}

template <class I> bool is_type(I type) {
  return type >= 1 && type <= 3;
}

}  // namespace

#define HEDDLE_SYGST(symbol, NAME, T, I)                                                                           \
  HEDDLE_EXPORT void symbol(const I* type, const char* triangle, const I* n, T* A, const I* leading_a, const T* B, \
                            const I* leading_b, I* info) {                                                         \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                    \
    if (!accepted(NAME, info,                                                                                      \
                  {{!is_type(*type), 1},                                                                           \
                   {!is_triangle(capital(triangle)), 2},                                                           \
                   {*n < 0, 3},                                                                                    \
                   {below(*leading_a, *n), 5},                                                                     \
                   {below(*leading_b, *n), 7}})) {                                                                 \
      return;                                                                                                      \
    }                                                                                                              \
    hegst<T>(static_cast<int>(*type), is(triangle, 'L'), *n, A, *leading_a, B, *leading_b);                        \
  }

#define HEDDLE_SYGV_BODY(NAME, T, I, NEEDED, ...)                                                                \
  HEDDLE_COUNT_QUIETLY(NAME);                                                                                    \
  const Workspace needed = NEEDED;                                                                               \
  if (!accepted(NAME, info,                                                                                      \
                {{!is_type(*type), 1},                                                                           \
                 {!is_job(capital(job)), 2},                                                                     \
                 {!is_triangle(capital(triangle)), 3},                                                           \
                 {*n < 0, 4},                                                                                    \
                 {below(*leading_a, *n), 6},                                                                     \
                 {below(*leading_b, *n), 8},                                                                     \
                 {!asked && *length < needed.numbers, 11},                                                       \
                 __VA_ARGS__})) {                                                                                \
    return;                                                                                                      \
  }                                                                                                              \
  work[0] = held<T>(needed.numbers);                                                                             \
  if (!asked) {                                                                                                  \
    *info = static_cast<I>(                                                                                      \
        hegv<T>(static_cast<int>(*type), is(job, 'V'), is(triangle, 'L'), *n, A, *leading_a, B, *leading_b, w)); \
  }
// Symbols for real matrices, which have no additional array of real numbers.
#define HEDDLE_SYGV(symbol, NAME, T, I)                                                                \
  HEDDLE_EXPORT void symbol(const I* type, const char* job, const char* triangle, const I* n, T* A,    \
                            const I* leading_a, T* B, const I* leading_b, heddle::Real<T>* w, T* work, \
                            const I* length, I* info) {                                                \
    const bool asked = *length == -1;                                                                  \
    HEDDLE_SYGV_BODY(NAME, T, I, of_syev<T>(*n));                                                      \
  }
#define HEDDLE_HEGV(symbol, NAME, T, I)                                                                \
  HEDDLE_EXPORT void symbol(const I* type, const char* job, const char* triangle, const I* n, T* A,    \
                            const I* leading_a, T* B, const I* leading_b, heddle::Real<T>* w, T* work, \
                            const I* length, heddle::Real<T>* /*reals*/, I* info) {                    \
    const bool asked = *length == -1;                                                                  \
    HEDDLE_SYGV_BODY(NAME, T, I, of_syev<T>(*n));                                                      \
  }
#define HEDDLE_SYGVD(symbol, NAME, T, I)                                                                            \
  HEDDLE_EXPORT void symbol(const I* type, const char* job, const char* triangle, const I* n, T* A,                 \
                            const I* leading_a, T* B, const I* leading_b, heddle::Real<T>* w, T* work,              \
                            const I* length, I* integers, const I* integer_length, I* info) {                       \
    const bool asked = *length == -1 || *integer_length == -1;                                                      \
    HEDDLE_SYGV_BODY(NAME, T, I, of_syevd<T>(is(job, 'V'), *n), {!asked && *integer_length < needed.integers, 13}); \
    integers[0] = static_cast<I>(needed.integers);                                                                  \
  }
#define HEDDLE_HEGVD(symbol, NAME, T, I)                                                                     \
  HEDDLE_EXPORT void symbol(const I* type, const char* job, const char* triangle, const I* n, T* A,          \
                            const I* leading_a, T* B, const I* leading_b, heddle::Real<T>* w, T* work,       \
                            const I* length, heddle::Real<T>* reals, const I* real_length, I* integers,      \
                            const I* integer_length, I* info) {                                              \
    const bool asked = *length == -1 || *real_length == -1 || *integer_length == -1;                         \
    HEDDLE_SYGV_BODY(NAME, T, I, of_syevd<T>(is(job, 'V'), *n), {!asked && *real_length < needed.reals, 13}, \
                     {!asked && *integer_length < needed.integers, 15});                                     \
    reals[0] = held<heddle::Real<T>>(needed.reals);                                                          \
    integers[0] = static_cast<I>(needed.integers);                                                           \
  }

// REALS: the array of real numbers that complex matrices have besides, with its comma.
#define HEDDLE_SYEVX_BESIDE(symbol, NAME, T, I, REALS)                                                            \
  HEDDLE_EXPORT void symbol(const char* job, const char* range, const char* triangle, const I* n, T* A,           \
                            const I* leading, const heddle::Real<T>* least, const heddle::Real<T>* most,          \
                            const I* first, const I* last, const heddle::Real<T>* /*tolerance*/, I* found,        \
                            heddle::Real<T>* w, T* Z, const I* leading_z, T* work,                                \
                            const I* length REALS(heddle::Real<T>), I* /*integers*/, I* failed, I* info) {        \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                   \
    const bool asked = *length == -1;                                                                             \
    const Workspace needed = of_syevx<T>(*n);                                                                     \
    const Wanted wanted = wanted_from(range, least, most, first, last);                                           \
    if (!accepted(NAME, info,                                                                                     \
                  {{!is_job(capital(job)), 1},                                                                    \
                   {!is_range(wanted), 2},                                                                        \
                   {!is_triangle(capital(triangle)), 3},                                                          \
                   {*n < 0, 4},                                                                                   \
                   {below(*leading, *n), 6},                                                                      \
                   {is_empty_interval(wanted, *n), 8},                                                            \
                   {is_wrong_first(wanted, *n), 9},                                                               \
                   {is_wrong_last(wanted, *n), 10},                                                               \
                   {*leading_z < 1 || (is(job, 'V') && *leading_z < *n), 15},                                     \
                   {!asked && *length < needed.numbers, 17}})) {                                                  \
      return;                                                                                                     \
    }                                                                                                             \
    work[0] = held<T>(needed.numbers);                                                                            \
    if (asked) return;                                                                                            \
    syevx<T, I>(wanted, is(job, 'V'), is(triangle, 'L'), *n, A, *leading, found, w, Z, *leading_z, failed, info); \
  }
#define HEDDLE_SYGVX_BESIDE(symbol, NAME, T, I, REALS)                                                               \
  HEDDLE_EXPORT void symbol(                                                                                         \
      const I* type, const char* job, const char* range, const char* triangle, const I* n, T* A, const I* leading_a, \
      T* B, const I* leading_b, const heddle::Real<T>* least, const heddle::Real<T>* most, const I* first,           \
      const I* last, const heddle::Real<T>* /*tolerance*/, I* found, heddle::Real<T>* w, T* Z, const I* leading_z,   \
      T* work, const I* length REALS(heddle::Real<T>), I* /*integers*/, I* failed, I* info) {                        \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                      \
    const bool asked = *length == -1;                                                                                \
    const Index numbers = std::max<Index>(1, (heddle::is_complex<T> ? 2 : 8) * Index{*n});                           \
    const Wanted wanted = wanted_from(range, least, most, first, last);                                              \
    if (!accepted(NAME, info,                                                                                        \
                  {{!is_type(*type), 1},                                                                             \
                   {!is_job(capital(job)), 2},                                                                       \
                   {!is_range(wanted), 3},                                                                           \
                   {!is_triangle(capital(triangle)), 4},                                                             \
                   {*n < 0, 5},                                                                                      \
                   {below(*leading_a, *n), 7},                                                                       \
                   {below(*leading_b, *n), 9},                                                                       \
                   {is_empty_interval(wanted, *n), 11},                                                              \
                   {is_wrong_first(wanted, *n), 12},                                                                 \
                   {is_wrong_last(wanted, *n), 13},                                                                  \
                   {*leading_z < 1 || (is(job, 'V') && *leading_z < *n), 18},                                        \
                   {!asked && *length < numbers, 20}})) {                                                            \
      return;                                                                                                        \
    }                                                                                                                \
    work[0] = held<T>(numbers);                                                                                      \
    if (asked) return;                                                                                               \
    sygvx<T, I>(static_cast<int>(*type), wanted, is(job, 'V'), is(triangle, 'L'), *n, A, *leading_a, B, *leading_b,  \
                found, w, Z, *leading_z, failed, info);                                                              \
  }
#define HEDDLE_NO_REALS(R)
#define HEDDLE_REALS(R) , R* /*reals*/
#define HEDDLE_SYEVX(symbol, NAME, T, I) HEDDLE_SYEVX_BESIDE(symbol, NAME, T, I, HEDDLE_NO_REALS)
#define HEDDLE_HEEVX(symbol, NAME, T, I) HEDDLE_SYEVX_BESIDE(symbol, NAME, T, I, HEDDLE_REALS)
#define HEDDLE_SYGVX(symbol, NAME, T, I) HEDDLE_SYGVX_BESIDE(symbol, NAME, T, I, HEDDLE_NO_REALS)
#define HEDDLE_HEGVX(symbol, NAME, T, I) HEDDLE_SYGVX_BESIDE(symbol, NAME, T, I, HEDDLE_REALS)

HEDDLE_PAIRS(SYGST, sygst, "SYGST", SYGST, hegst, "HEGST");
HEDDLE_PAIRS(SYGV, sygv, "SYGV", HEGV, hegv, "HEGV");
HEDDLE_PAIRS(SYGVD, sygvd, "SYGVD", HEGVD, hegvd, "HEGVD");
HEDDLE_PAIRS(SYEVX, syevx, "SYEVX", HEEVX, heevx, "HEEVX");
HEDDLE_PAIRS(SYGVX, sygvx, "SYGVX", HEGVX, hegvx, "HEGVX");
