// LAPACK's singular value decompositions by their names.
#include "interpose/eigen/singular.hpp"
#include "interpose/names/lapack_arguments.hpp"

#include <vector>

using namespace heddle::impl::interpose;
using heddle::Index;

namespace {

// The least workspace that any version of LAPACK takes on any of its ways, and what it asks for on its own, blocks
// apart.
struct SingularWorkspace {
  Index least;
  Index asked;
};
template <heddle::Scalar T> SingularWorkspace of_gesdd(char job, Index m, Index n) {
  const Index less = std::min(m, n);
  const Index more = std::max(m, n);
  if (less == 0) return {1, 1};
  if (heddle::is_complex<T>) return {3 * less, job == 'N' ? 2 * less + more : 2 * less * less + 3 * less + more};
  if (job == 'N') return {8 * less, 3 * less + std::max(more, 7 * less)};
  const Index least = 3 * less * less + 7 * less;
  if (job == 'O') return {least, 5 * less * less + 7 * less + more};
  // Much longer one way, it goes by QR.
  const bool long_one = 6 * more >= 11 * less;
  return {least, long_one ? 4 * less * less + 7 * less + more : std::max(least, 3 * less + more)};
}
template <heddle::Scalar T> SingularWorkspace of_gesvd(Index m, Index n) {
  const Index less = std::min(m, n);
  const Index more = std::max(m, n);
  if (less == 0) return {1, 1};
  if (heddle::is_complex<T>) return {3 * less, std::max(2 * less + more, 3 * less)};
  return {5 * less, std::max(3 * less + more, 5 * less)};
}

Vectors vectors_for(char job) {
  return job == 'A' ? Vectors::all : job == 'N' ? Vectors::none : Vectors::some;
}
bool is_singular_job(char job) {
  return job == 'A' || job == 'S' || job == 'O' || job == 'N';
}

// U, `columns` of m numbers, where it goes; and V^H, a row for each of V's columns of n numbers.
template <heddle::Scalar T> void put_left(Index m, const std::vector<T>& U, T* to, Index leading) {
  for (Index j = 0; m > 0 && j < static_cast<Index>(U.size()) / m; ++j)
    std::copy_n(U.data() + j * m, m, to + j * leading);
}
template <heddle::Scalar T> void put_right(Index n, const std::vector<T>& V, T* to, Index leading) {
  for (Index j = 0; n > 0 && j < static_cast<Index>(V.size()) / n; ++j) {
    for (Index i = 0; i < n; ++i) to[j + i * leading] = heddle::conjugate(V[static_cast<std::size_t>(i + j * n)]);
  }
}

// Arguments are those of LAPACK, in order; `left` and `right` say where U and V^H go.
template <heddle::Scalar T> struct Target {
  T* data;
  Index leading;
};
template <heddle::Scalar T>
Svd<T> decompose(char left, char right, Index m, Index n, T* A, Index leading, heddle::Real<T>* s, Target<T> U,
                 Target<T> V) {
  Svd<T> svd(m, n, A, leading, vectors_for(left), vectors_for(right));
  std::copy(svd.values.begin(), svd.values.end(), s);
  if (left == 'O') U = {A, leading};
  if (right == 'O') V = {A, leading};
  put_left(m, svd.U, U.data, U.leading);
  put_right(n, svd.V, V.data, V.leading);
  return svd;
}

template <heddle::Scalar T, class I>
void gesdd(const char* name, const char* argument, I m, I n, T* A, I leading, heddle::Real<T>* s, T* U, I leading_u,
           T* V, I leading_v, T* work, I length, I* info) {
  const char job = capital(argument);
  const bool over = job == 'O';
  const I less = std::min(m, n);
  const bool asked = length == -1;
  const I rows_of_u = job == 'A' || job == 'S' || (over && m < n) ? m : 1;
  const I rows_of_v = job == 'A' || (over && m >= n) ? n : job == 'S' ? less : 1;
  const SingularWorkspace needed = of_gesdd<T>(job, m, n);
  if (!accepted(name, info,
                {{!is_singular_job(job), 1},
                 {m < 0, 2},
                 {n < 0, 3},
                 {below(leading, m), 5},
                 {below(leading_u, rows_of_u), 8},
                 {below(leading_v, rows_of_v), 10},
                 {!asked && length < needed.least, 12}})) {
    return;
  }
  work[0] = held<T>(needed.asked);
  if (asked || less == 0) return;
  // Over A goes the one of U and V^H that is as large.
  const char left = over && m < n ? 'S' : job;
  const char right = over && m >= n ? 'S' : job;
  const Svd<T> svd = decompose<T>(left, right, m, n, A, leading, s, {U, leading_u}, {V, leading_v});
  *info = !svd.number ? -4 : svd.missing > 0 ? 1 : 0;
}

template <heddle::Scalar T, class I>
void gesvd(const char* name, const char* left, const char* right, I m, I n, T* A, I leading, heddle::Real<T>* s, T* U,
           I leading_u, T* V, I leading_v, T* work, I length, I* info) {
  const char of_u = capital(left);
  const char of_v = capital(right);
  const I less = std::min(m, n);
  const bool asked = length == -1;
  const SingularWorkspace needed = of_gesvd<T>(m, n);
  if (!accepted(name, info,
                {{!is_singular_job(of_u), 1},
                 {!is_singular_job(of_v) || (of_u == 'O' && of_v == 'O'), 2},
                 {m < 0, 3},
                 {n < 0, 4},
                 {below(leading, m), 6},
                 {below(leading_u, of_u == 'A' || of_u == 'S' ? m : 1), 9},
                 {below(leading_v, of_v == 'A'   ? n
                                   : of_v == 'S' ? less
                                                 : 1),
                  11},
                 {!asked && length < needed.least, 13}})) {
    return;
  }
  work[0] = held<T>(needed.asked);
  if (asked || less == 0) return;
  *info = static_cast<I>(decompose<T>(of_u, of_v, m, n, A, leading, s, {U, leading_u}, {V, leading_v}).missing);
}

}  // namespace

// Complex matrices have an array of real numbers besides, which is not used.
#define HEDDLE_GESDD(symbol, NAME, T, I)                                                                             \
  HEDDLE_EXPORT void symbol(const char* job, const I* m, const I* n, T* A, const I* leading, T* s, T* U,             \
                            const I* leading_u, T* V, const I* leading_v, T* work, const I* length, I* /*integers*/, \
                            I* info) {                                                                               \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                      \
    gesdd<T, I>(NAME, job, *m, *n, A, *leading, s, U, *leading_u, V, *leading_v, work, *length, info);               \
  }
#define HEDDLE_COMPLEX_GESDD(symbol, NAME, T, I)                                                                       \
  HEDDLE_EXPORT void symbol(const char* job, const I* m, const I* n, T* A, const I* leading, heddle::Real<T>* s, T* U, \
                            const I* leading_u, T* V, const I* leading_v, T* work, const I* length,                    \
                            heddle::Real<T>* /*reals*/, I* /*integers*/, I* info) {                                    \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                        \
    gesdd<T, I>(NAME, job, *m, *n, A, *leading, s, U, *leading_u, V, *leading_v, work, *length, info);                 \
  }
#define HEDDLE_GESVD(symbol, NAME, T, I)                                                                               \
  HEDDLE_EXPORT void symbol(const char* left, const char* right, const I* m, const I* n, T* A, const I* leading, T* s, \
                            T* U, const I* leading_u, T* V, const I* leading_v, T* work, const I* length, I* info) {   \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                        \
    gesvd<T, I>(NAME, left, right, *m, *n, A, *leading, s, U, *leading_u, V, *leading_v, work, *length, info);         \
  }
#define HEDDLE_COMPLEX_GESVD(symbol, NAME, T, I)                                                                 \
  HEDDLE_EXPORT void symbol(const char* left, const char* right, const I* m, const I* n, T* A, const I* leading, \
                            heddle::Real<T>* s, T* U, const I* leading_u, T* V, const I* leading_v, T* work,     \
                            const I* length, heddle::Real<T>* /*reals*/, I* info) {                              \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                  \
    gesvd<T, I>(NAME, left, right, *m, *n, A, *leading, s, U, *leading_u, V, *leading_v, work, *length, info);   \
  }
HEDDLE_PAIRS(GESDD, gesdd, "GESDD", COMPLEX_GESDD, gesdd, "GESDD");
HEDDLE_PAIRS(GESVD, gesvd, "GESVD", COMPLEX_GESVD, gesvd, "GESVD");
