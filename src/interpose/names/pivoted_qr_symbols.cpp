// LAPACK's QR with pivoting, and least squares by it, by their names.
#include "interpose/lapack/pivoted_qr.hpp"
#include "interpose/names/lapack_arguments.hpp"

using namespace heddle::impl::interpose;
using heddle::Index;

namespace {

template <heddle::Scalar T, class I>
void factor(const char* name, I m, I n, T* A, I leading, I* pivots, T* tau, T* work, I length, I* info) {
  const bool asked = length == -1;
  const Index needed = std::min(m, n) <= 0 ? 1 : heddle::is_complex<T> ? Index{n} + 1 : 3 * Index{n} + 1;
  if (!accepted(name, info, {{m < 0, 1}, {n < 0, 2}, {below(leading, m), 4}, {!asked && length < needed, 8}})) {
    return;
  }
  work[0] = held<T>(needed);
  if (!asked) geqp3<T, I>(m, n, A, leading, pivots, tau);
}

template <heddle::Scalar T, class I>
void solve(const char* name, I m, I n, I columns, T* A, I leading, T* B, I leading_b, I* pivots,
           const heddle::Real<T>* relative, I* rank, T* work, I length, I* info) {
  const bool asked = length == -1;
  const Index less = std::min(m, n);
  // LAPACK requires the same workspace of complex numbers if nothing is to be done.
  const bool nothing = !heddle::is_complex<T> && (less <= 0 || columns <= 0);
  const Index needed = nothing ? 1 : less + std::max({2 * less, Index{n} + 1, less + Index{columns}});
  if (!accepted(name, info,
                {{m < 0, 1},
                 {n < 0, 2},
                 {columns < 0, 3},
                 {below(leading, m), 5},
                 {below(leading_b, std::max(m, n)), 7},
                 {!asked && length < needed, 12}})) {
    return;
  }
  // As much as documented: wrappers hold a query's answer against that.
  work[0] = held<T>(std::max(needed, less + 3 * Index{n} + 1));
  if (asked) return;
  *rank = 0;
  if (less == 0 || columns == 0) return;
  *rank = static_cast<I>(solve_by_geqp3<T, I>(m, n, columns, A, leading, B, leading_b, pivots, *relative));
}

}  // namespace

// Complex matrices have an array of real numbers besides, which is not used.
#define HEDDLE_GEQP3(symbol, NAME, T, I)                                                                \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, T* A, const I* leading, I* pivots, T* tau, T* work, \
                            const I* length, I* info) {                                                 \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                         \
    factor<T, I>(NAME, *m, *n, A, *leading, pivots, tau, work, *length, info);                          \
  }
#define HEDDLE_COMPLEX_GEQP3(symbol, NAME, T, I)                                                        \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, T* A, const I* leading, I* pivots, T* tau, T* work, \
                            const I* length, heddle::Real<T>* /*reals*/, I* info) {                     \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                         \
    factor<T, I>(NAME, *m, *n, A, *leading, pivots, tau, work, *length, info);                          \
  }
#define HEDDLE_GELSY(symbol, NAME, T, I)                                                                          \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, const I* columns, T* A, const I* leading, T* B,               \
                            const I* leading_b, I* pivots, const T* relative, I* rank, T* work, const I* length,  \
                            I* info) {                                                                            \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                   \
    solve<T, I>(NAME, *m, *n, *columns, A, *leading, B, *leading_b, pivots, relative, rank, work, *length, info); \
  }
#define HEDDLE_COMPLEX_GELSY(symbol, NAME, T, I)                                                                  \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, const I* columns, T* A, const I* leading, T* B,               \
                            const I* leading_b, I* pivots, const heddle::Real<T>* relative, I* rank, T* work,     \
                            const I* length, heddle::Real<T>* /*reals*/, I* info) {                               \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                   \
    solve<T, I>(NAME, *m, *n, *columns, A, *leading, B, *leading_b, pivots, relative, rank, work, *length, info); \
  }
HEDDLE_PAIRS(GEQP3, geqp3, "GEQP3", COMPLEX_GEQP3, geqp3, "GEQP3");
HEDDLE_PAIRS(GELSY, gelsy, "GELSY", COMPLEX_GELSY, gelsy, "GELSY");
