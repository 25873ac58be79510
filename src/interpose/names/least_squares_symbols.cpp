// LAPACK's least squares by their names.
#include "interpose/lapack/least_squares.hpp"
#include "interpose/names/lapack_arguments.hpp"

#include <vector>

using namespace heddle::impl::interpose;
using heddle::Index;

namespace {

// Workspaces as LAPACK asks for them; fewer numbers than any of its ways takes are refused.
struct LeastSquaresWorkspace {
  Index least;
  Index asked;
  Index reals;
  Index integers;
};
template <heddle::Scalar T> LeastSquaresWorkspace of_gelsd(Index m, Index n, Index columns) {
  // Blocks of divide and conquer, and their levels.
  constexpr Index block = 25;
  const Index less = std::min(m, n);
  if (less == 0) return {1, 1, 1, 1};
  Index levels = 0;
  for (Index size = less; size >= block + 1; size /= 2) ++levels;
  levels += 1;
  const Index shared = 2 * less * block + 8 * less * levels;
  const Index squares = (block + 1) * (block + 1);
  const Index reals = 10 * less + shared + 3 * block * columns + std::max(squares, n * (1 + columns) + 2 * columns);
  const Index integers = 3 * less * levels + 11 * less;
  const Index ends = std::max(m, n) + columns;
  if (heddle::is_complex<T>) return {2 * less, 3 * less + less * columns + ends, reals, integers};
  return {3 * less, 12 * less + shared + less * columns + squares + ends, 1, integers};
}
template <heddle::Scalar T> LeastSquaresWorkspace of_gelss(Index m, Index n, Index columns) {
  const Index less = std::min(m, n);
  if (less == 0) return {1, 1, 1, 1};
  const Index own = heddle::is_complex<T> ? 2 : 3;
  return {own * less, 5 * less + std::max(std::max(m, n), columns), 5 * less, 1};
}
LeastSquaresWorkspace of_gels(Index m, Index n, Index columns) {
  const Index needed = std::max<Index>(1, std::min(m, n) + std::max(std::min(m, n), columns));
  return {needed, needed, 1, 1};
}

template <class I> struct Shape {
  I m;
  I n;
  I columns;
  I leading;
  I leading_b;
  [[nodiscard]] bool empty() const { return m == 0 || n == 0; }
};
template <class I>
bool accepted_system(const char* name, I* info, const Shape<I>& shape, bool asked, I length, Index least) {
  return accepted(name, info,
                  {{shape.m < 0, 1},
                   {shape.n < 0, 2},
                   {shape.columns < 0, 3},
                   {below(shape.leading, shape.m), 5},
                   {below(shape.leading_b, std::max(shape.m, shape.n)), 7},
                   {!asked && length < least, 12}});
}

template <heddle::Scalar T, class I>
void solve(const Shape<I>& shape, T* A, T* B, heddle::Real<T>* s, heddle::Real<T> relative, I* rank, bool vectors,
           I* info) {
  Index found = 0;
  std::vector<heddle::Real<T>> values;
  std::vector<T> V;
  *info = static_cast<I>(solve_by_svd<T>(shape.m, shape.n, shape.columns, A, shape.leading, B, shape.leading_b,
                                         relative, values, found, vectors ? &V : nullptr));
  *rank = static_cast<I>(found);
  if (*info != 0) return;
  std::copy(values.begin(), values.end(), s);
  // gelss has V^H in A's rows.
  for (Index k = 0; vectors && k < static_cast<Index>(values.size()); ++k) {
    for (Index j = 0; j < shape.n; ++j) {
      A[k + j * shape.leading] = heddle::conjugate(V[static_cast<std::size_t>(j + k * shape.n)]);
    }
  }
}

template <heddle::Scalar T, class I>
void gelsd(const char* name, const Shape<I>& shape, T* A, T* B, heddle::Real<T>* s, const heddle::Real<T>* relative,
           I* rank, T* work, I length, heddle::Real<T>* reals, I* integers, I* info) {
  using R = heddle::Real<T>;
  const bool asked = length == -1;
  const LeastSquaresWorkspace needed = of_gelsd<T>(shape.m, shape.n, shape.columns);
  if (!accepted_system(name, info, shape, asked, length, needed.least)) return;
  work[0] = held<T>(needed.asked);
  if (reals != nullptr) reals[0] = held<R>(needed.reals);
  integers[0] = static_cast<I>(needed.integers);
  if (asked) return;
  *rank = 0;
  if (shape.empty()) return;
  // As LAPACK takes what is no part of 1. NumPy's question for the workspace comes with a pointer to nowhere.
  const R part = *relative > R{0} && *relative < R{1} ? *relative : heddle::unit_roundoff<R>;
  solve(shape, A, B, s, part, rank, false, info);
}
template <heddle::Scalar T, class I>
void gelss(const char* name, const Shape<I>& shape, T* A, T* B, heddle::Real<T>* s, const heddle::Real<T>* relative,
           I* rank, T* work, I length, I* info) {
  using R = heddle::Real<T>;
  const bool asked = length == -1;
  const LeastSquaresWorkspace needed = of_gelss<T>(shape.m, shape.n, shape.columns);
  if (!accepted_system(name, info, shape, asked, length, needed.least)) return;
  work[0] = held<T>(needed.asked);
  if (asked) return;
  *rank = 0;
  if (shape.empty()) return;
  solve(shape, A, B, s, *relative < R{0} ? heddle::unit_roundoff<R> : *relative, rank, true, info);
}

template <heddle::Scalar T, class I>
void gels(const char* name, const char* op, const Shape<I>& shape, T* A, T* B, T* work, I length, I* info) {
  const bool asked = length == -1;
  const bool adjoint = is(op, heddle::is_complex<T> ? 'C' : 'T');
  const LeastSquaresWorkspace needed = of_gels(shape.m, shape.n, shape.columns);
  if (!accepted(name, info,
                {{!adjoint && !is(op, 'N'), 1},
                 {shape.m < 0, 2},
                 {shape.n < 0, 3},
                 {shape.columns < 0, 4},
                 {below(shape.leading, shape.m), 6},
                 {below(shape.leading_b, std::max(shape.m, shape.n)), 8},
                 {!asked && length < needed.least, 10}})) {
    return;
  }
  work[0] = held<T>(needed.asked);
  if (asked) return;
  bool zeros = shape.empty() || shape.columns == 0;
  if (!zeros) {
    zeros = true;
    for (Index j = 0; j < shape.n; ++j) {
      const T* const column = A + j * shape.leading;
      zeros = zeros && std::all_of(column, column + shape.m, [](const T& a) { return a == T{0}; });
    }
  }
  if (zeros) {
    for (Index j = 0; j < shape.columns; ++j) std::fill_n(B + j * shape.leading_b, std::max(shape.m, shape.n), T{0});
    return;
  }
  *info =
      static_cast<I>(solve_by_qr<T>(adjoint, shape.m, shape.n, shape.columns, A, shape.leading, B, shape.leading_b));
}

}  // namespace

#define HEDDLE_GELSD(symbol, NAME, T, I)                                                                         \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, const I* columns, T* A, const I* leading, T* B,              \
                            const I* leading_b, T* s, const T* relative, I* rank, T* work, const I* length,      \
                            I* integers, I* info) {                                                              \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                  \
    gelsd<T, I>(NAME, {*m, *n, *columns, *leading, *leading_b}, A, B, s, relative, rank, work, *length, nullptr, \
                integers, info);                                                                                 \
  }
#define HEDDLE_COMPLEX_GELSD(symbol, NAME, T, I)                                                                       \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, const I* columns, T* A, const I* leading, T* B,                    \
                            const I* leading_b, heddle::Real<T>* s, const heddle::Real<T>* relative, I* rank, T* work, \
                            const I* length, heddle::Real<T>* reals, I* integers, I* info) {                           \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                        \
    gelsd<T, I>(NAME, {*m, *n, *columns, *leading, *leading_b}, A, B, s, relative, rank, work, *length, reals,         \
                integers, info);                                                                                       \
  }
#define HEDDLE_GELSS(symbol, NAME, T, I)                                                                               \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, const I* columns, T* A, const I* leading, T* B,                    \
                            const I* leading_b, T* s, const T* relative, I* rank, T* work, const I* length, I* info) { \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                        \
    gelss<T, I>(NAME, {*m, *n, *columns, *leading, *leading_b}, A, B, s, relative, rank, work, *length, info);         \
  }
#define HEDDLE_COMPLEX_GELSS(symbol, NAME, T, I)                                                                       \
  HEDDLE_EXPORT void symbol(const I* m, const I* n, const I* columns, T* A, const I* leading, T* B,                    \
                            const I* leading_b, heddle::Real<T>* s, const heddle::Real<T>* relative, I* rank, T* work, \
                            const I* length, heddle::Real<T>* /*reals*/, I* info) {                                    \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                        \
    gelss<T, I>(NAME, {*m, *n, *columns, *leading, *leading_b}, A, B, s, relative, rank, work, *length, info);         \
  }
#define HEDDLE_GELS(symbol, NAME, T, I)                                                                             \
  HEDDLE_EXPORT void symbol(const char* op, const I* m, const I* n, const I* columns, T* A, const I* leading, T* B, \
                            const I* leading_b, T* work, const I* length, I* info) {                                \
    HEDDLE_COUNT_QUIETLY(NAME);                                                                                     \
    gels<T, I>(NAME, op, {*m, *n, *columns, *leading, *leading_b}, A, B, work, *length, info);                      \
  }
HEDDLE_PAIRS(GELSD, gelsd, "GELSD", COMPLEX_GELSD, gelsd, "GELSD");
HEDDLE_PAIRS(GELSS, gelss, "GELSS", COMPLEX_GELSS, gelss, "GELSS");
HEDDLE_PAIRS(GELS, gels, "GELS", GELS, gels, "GELS");
