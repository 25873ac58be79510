// LAPACK's eigenproblems of general matrices by their names.
#include "interpose/eigen/general.hpp"
#include "interpose/eigen/hessenberg.hpp"
#include "interpose/names/beneath.hpp"
#include "interpose/names/lapack_arguments.hpp"

#include <vector>

using namespace heddle::impl::interpose;
using heddle::Index;

namespace {

template <class I>
bool accepted_geev(const char* name, I* info, const char* left, const char* right, I n, I leading, I leading_l,
                   I leading_r, bool enough, int position) {
  const auto is_job = [](const char* job) { return is(job, 'N') || is(job, 'V'); };
  return accepted(name, info,
                  {{!is_job(left), 1},
                   {!is_job(right), 2},
                   {n < 0, 3},
                   {below(leading, n), 5},
                   {leading_l < 1 || (is(left, 'V') && leading_l < n), position - 4},
                   {leading_r < 1 || (is(right, 'V') && leading_r < n), position - 2},
                   {!enough, position}});
}
template <class I>
bool accepted_gees(const char* name, I* info, const char* job, const char* sort, I n, I leading, I leading_s,
                   bool enough, int position) {
  return accepted(name, info,
                  {{!is(job, 'N') && !is(job, 'V'), 1},
                   {!is(sort, 'N'), 2},
                   {n < 0, 4},
                   {below(leading, n), 6},
                   {leading_s < 1 || (is(job, 'V') && leading_s < n), position - 2},
                   {!enough, position}});
}
// Real matrices' eigenvalues are given by their parts.
template <class R> void part(const std::vector<Kokkos::complex<R>>& w, R* re, R* im) {
  for (const Kokkos::complex<R>& one : w) {
    *re++ = one.real();
    *im++ = one.imag();
  }
}
// Minimal workspace of real matrices.
Index of_geev(bool vectors, Index n) {
  return std::max<Index>(1, (vectors ? 4 : 3) * n);
}

}  // namespace

#define HEDDLE_GEEV_REAL(symbol, NAME, T, I)                                                                           \
  HEDDLE_EXPORT void symbol(const char* left, const char* right, const I* n, T* A, const I* leading, T* re, T* im,     \
                            T* VL, const I* leading_l, T* VR, const I* leading_r, T* work, const I* length, I* info) { \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                        \
    const bool asked = *length == -1;                                                                                  \
    const Index needed = of_geev(is(left, 'V') || is(right, 'V'), *n);                                                 \
    if (!accepted_geev(NAME, info, left, right, *n, *leading, *leading_l, *leading_r, asked || *length >= needed,      \
                       13)) {                                                                                          \
      return;                                                                                                          \
    }                                                                                                                  \
    work[0] = held<T>(needed);                                                                                         \
    if (asked) return;                                                                                                 \
    std::vector<Kokkos::complex<T>> w(static_cast<std::size_t>(*n));                                                   \
    *info = static_cast<I>(geev<T>(*n, A, *leading, w.data(), is(left, 'V') ? VL : nullptr, *leading_l,                \
                                   is(right, 'V') ? VR : nullptr, *leading_r));                                        \
    part(w, re, im);                                                                                                   \
  }
#define HEDDLE_GEEV(symbol, NAME, T, I)                                                                           \
  HEDDLE_EXPORT void symbol(const char* left, const char* right, const I* n, T* A, const I* leading, T* w, T* VL, \
                            const I* leading_l, T* VR, const I* leading_r, T* work, const I* length,              \
                            heddle::Real<T>* /*reals*/, I* info) {                                                \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                   \
    const bool asked = *length == -1;                                                                             \
    const Index needed = std::max<Index>(1, 2 * Index{*n});                                                       \
    if (!accepted_geev(NAME, info, left, right, *n, *leading, *leading_l, *leading_r, asked || *length >= needed, \
                       12)) {                                                                                     \
      return;                                                                                                     \
    }                                                                                                             \
    work[0] = held<T>(needed);                                                                                    \
    if (asked) return;                                                                                            \
    *info = static_cast<I>(geev<T>(*n, A, *leading, w, is(left, 'V') ? VL : nullptr, *leading_l,                  \
                                   is(right, 'V') ? VR : nullptr, *leading_r));                                   \
  }
// With an order, for which functions of the caller's are asked, they are the library's beneath.
#define HEDDLE_GEES_REAL(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(const char* job, const char* sort, void* select, const I* n, T* A, const I* leading,      \
                            I* sorted, T* re, T* im, T* VS, const I* leading_s, T* work, const I* length, I* logical, \
                            I* info) {                                                                                \
    if (is(sort, 'S')) {                                                                                              \
      static auto* const beneath = reinterpret_cast<decltype(&symbol)>(routine_beneath(#symbol));                     \
      beneath(job, sort, select, n, A, leading, sorted, re, im, VS, leading_s, work, length, logical, info);          \
      return;                                                                                                         \
    }                                                                                                                 \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                       \
    const bool asked = *length == -1;                                                                                 \
    const Index needed = of_geev(false, *n);                                                                          \
    if (!accepted_gees(NAME, info, job, sort, *n, *leading, *leading_s, asked || *length >= needed, 13)) return;      \
    work[0] = held<T>(needed);                                                                                        \
    *sorted = 0;                                                                                                      \
    if (asked) return;                                                                                                \
    std::vector<Kokkos::complex<T>> w(static_cast<std::size_t>(*n));                                                  \
    *info = static_cast<I>(gees<T>(*n, A, *leading, w.data(), is(job, 'V') ? VS : nullptr, *leading_s));              \
    part(w, re, im);                                                                                                  \
  }
#define HEDDLE_GEES(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(const char* job, const char* sort, void* select, const I* n, T* A, const I* leading, \
                            I* sorted, T* w, T* VS, const I* leading_s, T* work, const I* length,                \
                            heddle::Real<T>* reals, I* logical, I* info) {                                       \
    if (is(sort, 'S')) {                                                                                         \
      static auto* const beneath = reinterpret_cast<decltype(&symbol)>(routine_beneath(#symbol));                \
      beneath(job, sort, select, n, A, leading, sorted, w, VS, leading_s, work, length, reals, logical, info);   \
      return;                                                                                                    \
    }                                                                                                            \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                  \
    const bool asked = *length == -1;                                                                            \
    const Index needed = std::max<Index>(1, 2 * Index{*n});                                                      \
    if (!accepted_gees(NAME, info, job, sort, *n, *leading, *leading_s, asked || *length >= needed, 12)) return; \
    work[0] = held<T>(needed);                                                                                   \
    *sorted = 0;                                                                                                 \
    if (!asked) *info = static_cast<I>(gees<T>(*n, A, *leading, w, is(job, 'V') ? VS : nullptr, *leading_s));    \
  }
#define HEDDLE_GEHRD(symbol, NAME, T, I)                                                                      \
  HEDDLE_EXPORT void symbol(const I* n, const I* low, const I* high, T* A, const I* leading, T* tau, T* work, \
                            const I* length, I* info) {                                                       \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                               \
    const bool asked = *length == -1;                                                                         \
    if (!accepted(NAME, info,                                                                                 \
                  {{*n < 0, 1},                                                                               \
                   {*low < 1 || *low > std::max<I>(1, *n), 2},                                                \
                   {*high < std::min(*low, *n) || *high > *n, 3},                                             \
                   {below(*leading, *n), 5},                                                                  \
                   {!asked && below(*length, *n), 8}})) {                                                     \
      return;                                                                                                 \
    }                                                                                                         \
    work[0] = held<T>(std::max<Index>(1, *n));                                                                \
    if (!asked && *n > 0) gehrd<T>(*n, *low - 1, *high, A, *leading, tau);                                    \
  }
#define HEDDLE_ORGHR(symbol, NAME, T, I)                                                                            \
  HEDDLE_EXPORT void symbol(const I* n, const I* low, const I* high, T* A, const I* leading, const T* tau, T* work, \
                            const I* length, I* info) {                                                             \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                     \
    const bool asked = *length == -1;                                                                               \
    const Index needed = std::max<Index>(1, Index{*high} - *low);                                                   \
    if (!accepted(NAME, info,                                                                                       \
                  {{*n < 0, 1},                                                                                     \
                   {*low < 1 || *low > std::max<I>(1, *n), 2},                                                      \
                   {*high < std::min(*low, *n) || *high > *n, 3},                                                   \
                   {below(*leading, *n), 5},                                                                        \
                   {!asked && *length < needed, 8}})) {                                                             \
      return;                                                                                                       \
    }                                                                                                               \
    work[0] = held<T>(needed);                                                                                      \
    if (asked || *n == 0) return;                                                                                   \
    const std::vector<T> Q = orghr<T>(*n, *low - 1, *high, A, *leading, tau);                                       \
    for (Index j = 0; j < *n; ++j) std::copy_n(Q.data() + j * *n, *n, A + j * *leading);                            \
  }

HEDDLE_PAIRS(GEEV_REAL, geev, "GEEV", GEEV, geev, "GEEV");
HEDDLE_PAIRS(GEES_REAL, gees, "GEES", GEES, gees, "GEES");
HEDDLE_PAIRS(GEHRD, gehrd, "GEHRD", GEHRD, gehrd, "GEHRD");
HEDDLE_PAIRS(ORGHR, orghr, "ORGHR", ORGHR, unghr, "UNGHR");
