// Products with triangles and triangular systems of many right sides.
#include "core/instantiate.hpp"
#include "interpose/blas/arithmetic.hpp"
#include "interpose/blas/exceptions.hpp"
#include "interpose/blas/level3.hpp"
#include "interpose/blas/off_stack.hpp"
#include "interpose/blas/product.hpp"
#include "interpose/blas/range.hpp"
#include "interpose/blas/stored.hpp"
#include "interpose/blas/threads.hpp"
#include "interpose/lapack/reduced.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace heddle::impl::interpose {
namespace {

template <Scalar T> Operation operation_of(char op) {
  return op == 'N'                    ? Operation::none
         : op == 'C' && is_complex<T> ? Operation::conjugate_transpose
                                      : Operation::transpose;
}
constexpr Index solved_at_once = 64;

// Element (i, j) of op(A), A triangular or not.
template <Scalar T> struct Element {
  const T* A;
  Index leading;
  Operation op;
  T operator()(Index i, Index j) const {
    const T x = op == Operation::none ? A[i + j * leading] : A[j + i * leading];
    return op == Operation::conjugate_transpose ? conjugate(x) : x;
  }
  // A of op(A) from (i, j) on.
  [[nodiscard]] const T* from(Index i, Index j) const {
    return op == Operation::none ? A + i + j * leading : A + j + i * leading;
  }
};

int wrong_triangular(char side, char triangle, char op, char diagonal, Index m, Index n, Index leading_a,
                     Index leading_b) {
  if (side != 'L' && side != 'R') return 1;
  if (triangle != 'L' && triangle != 'U') return 2;
  if (op != 'N' && op != 'T' && op != 'C') return 3;
  if (diagonal != 'U' && diagonal != 'N') return 4;
  if (m < 0) return 5;
  if (n < 0) return 6;
  if (leading_a < std::max<Index>(1, side == 'L' ? m : n)) return 9;
  if (leading_b < std::max<Index>(1, m)) return 11;
  return 0;
}

// A with zeros and, where the diagonal is not stored, ones; whether all that is stored is finite.
template <Scalar T>
bool unfold(char triangle, char diagonal, Index order, const T* A, Index leading, std::vector<T>& all) {
  bool finite = true;
  all.assign(static_cast<std::size_t>(order * order), T{0});
  for (Index j = 0; j < order; ++j) {
    const TriangleRows rows(triangle, order, j);
    for (Index i = rows.begin; i < rows.end; ++i) {
      T& a = all[static_cast<std::size_t>(i + j * order)];
      a = i == j && diagonal == 'U' ? T{1} : A[i + j * leading];
      finite = finite && is_finite(a);
    }
  }
  return finite;
}

// X(i, j) of the system op(A) X = B within a block of `order` rows, X by strides: columns begin ... end.
template <Scalar T>
[[gnu::noinline]] void substitute_one_by_one(bool forward, bool unit, const Element<T>& A, Index order, T* X,
                                             Index along, Index across, Index columns) {
  for (Index j = 0; j < columns; ++j) {
    T* const x = X + j * across;
    for (Index step = 0; step < order; ++step) {
      const Index i = forward ? step : order - 1 - step;
      const Index begin = forward ? 0 : i + 1;
      T& value = x[i * along];
      if (step > 0) {
        const T start = value;
        value = inner_product<T>(
            step, [&](Index k) { return A(i, begin + k); }, [&](Index k) { return x[(begin + k) * along]; }, &start,
            true);
      }
      if (!unit) value = divided(value, A(i, i));
    }
  }
}
// The same of real numbers, LaneSums::lanes columns side by side.
template <RealScalar T>
[[gnu::noinline]] void substitute_abreast(bool forward, bool unit, const Element<T>& A, Index order, T* X, Index along,
                                          Index across, Index columns) {
  constexpr Index lanes = LaneSums::lanes;
  // Unknowns in the order in which they are found, and rows of A in that order.
  struct Work {
    double rows[solved_at_once][solved_at_once];
    double largest_factor[solved_at_once];
    double x[solved_at_once][lanes];
    double start[lanes];
    double largest[lanes];
  };
  const OffStack<Work> work;
  auto& rows = work->rows;
  auto& largest_factor = work->largest_factor;
  auto& x = work->x;
  auto& start = work->start;
  auto& largest = work->largest;
  const auto number = [&](Index step) { return forward ? step : order - 1 - step; };
  {
    const Quiet quiet;
    for (Index step = 0; step < order; ++step) {
      largest_factor[step] = 0.0;
      for (Index k = 0; k < step; ++k) {
        rows[step][k] = static_cast<double>(A(number(step), number(k)));
        largest_factor[step] = std::max(largest_factor[step], std::abs(rows[step][k]));
      }
    }
  }
  for (Index first = 0; first < columns; first += lanes) {
    const Index wanted = std::min(lanes, columns - first);
    std::fill_n(largest, lanes, 0.0);
    for (Index step = 0; step < order; ++step) {
      T* const own = X + number(step) * along + first * across;
      std::fill_n(start, lanes, 0.0);
      for (Index l = 0; l < wanted; ++l) start[l] = static_cast<double>(own[l * across]);
      reduce_abreast<T>({x[0], lanes, rows[step], step, start, largest, largest_factor[step], false}, wanted, x[step]);
      const T diagonal = unit ? T{1} : A(number(step), number(step));
      for (Index l = 0; l < wanted; ++l) {
        auto value = static_cast<T>(x[step][l]);
        if (!unit) value = value / diagonal;
        x[step][l] = static_cast<double>(value);
        own[l * across] = value;
      }
      {
        // Vectors' comparisons raise FE_INVALID where one is NaN.
        const Quiet quiet;
        for (Index l = 0; l < wanted; ++l) largest[l] = std::max(largest[l], std::abs(x[step][l]));
        Quiet::settle(largest);
      }
      for (Index l = wanted; l < lanes; ++l) x[step][l] = 0.0;
    }
  }
}
template <Scalar T>
void substitute(bool forward, bool unit, const Element<T>& A, Index order, T* X, Index along, Index across,
                Index columns) {
  constexpr Index worth = 500000;
  const auto threads = std::min<Index>(usual_threads(), order * order * columns / worth + 1);
  in_parts(columns, static_cast<int>(threads), [&](Index begin, Index end) {
    if constexpr (!is_complex<T>) {
      substitute_abreast(forward, unit, A, order, X + begin * across, along, across, end - begin);
    } else {
      substitute_one_by_one(forward, unit, A, order, X + begin * across, along, across, end - begin);
    }
  });
}

// A triangular system, its unknowns along columns (left) or rows, and where they are.
template <Scalar T> struct System {
  bool left;
  bool forward;
  bool unit;
  Element<T> A;
  T* B;
  Index leading;
  Index others;  // Right sides.
};

// One block of solved_at_once unknowns, by substitution.
template <Scalar T> [[gnu::noinline]] void solve_one(const System<T>& system, Index begin, Index size) {
  const Element<T>& A = system.A;
  if (system.left) {
    const Element<T> block{A.from(begin, begin), A.leading, A.op};
    substitute(system.forward, system.unit, block, size, system.B + begin, Index{1}, system.leading, system.others);
    return;
  }
  // X op(A) = B is op(A)^T X^T = B^T.
  std::vector<T> turned(static_cast<std::size_t>(size * size));
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i < size; ++i) turned[static_cast<std::size_t>(i + j * size)] = A(begin + j, begin + i);
  }
  const Element<T> block{turned.data(), size, Operation::none};
  substitute(system.forward, system.unit, block, size, system.B + begin * system.leading, system.leading, Index{1},
             system.others);
}

// Subtracts the products of `near_size` solved unknowns, from `near` on, from the `far_size` right sides from `far` on.
template <Scalar T>
[[gnu::noinline]] void take_off(const System<T>& system, Index near, Index near_size, Index far, Index far_size) {
  const Element<T>& A = system.A;
  const Index leading = system.leading;
  if (system.left) {
    multiply<T>({A.op, Operation::none, far_size, system.others, near_size, T{-1}, A.from(far, near), A.leading,
                 system.B + near, leading, T{1}, system.B + far, leading});
  } else {
    multiply<T>({Operation::none, A.op, system.others, far_size, near_size, T{-1}, system.B + near * leading, leading,
                 A.from(near, far), A.leading, T{1}, system.B + far * leading, leading});
  }
}

// Unknowns begin ... begin + size: half of the blocks, what they take from the others, and those. The frame is small:
// there is one for each halving.
template <Scalar T> [[gnu::noinline]] void solve_blocks(const System<T>& system, Index begin, Index size) {
  if (size <= solved_at_once) {
    solve_one(system, begin, size);
    return;
  }
  const Index half = (size / solved_at_once + 1) / 2 * solved_at_once;
  const Index near = system.forward ? begin : begin + half;
  const Index near_size = system.forward ? half : size - half;
  const Index far = system.forward ? begin + half : begin;
  const Index far_size = size - near_size;
  solve_blocks(system, near, near_size);
  take_off(system, near, near_size, far, far_size);
  solve_blocks(system, far, far_size);
}

// B = alpha B. Right sides of which that would overflow or underflow, though their unknowns may not, are scaled
// besides.
template <Scalar T> class ScaledSides {
 public:
  ScaledSides(bool left, Index m, Index n, const T& alpha, T* B, Index leading)
      : number_(left ? n : m), size_(left ? m : n), along_(left ? 1 : leading), across_(left ? leading : 1), B_(B) {
    const Real<T> size = largest_part(alpha);
    const bool usual = size == Real<T>{0} || !is_finite(alpha);
    for (Index s = 0; s < number_; ++s) {
      const int exponent = usual ? 0 : exponent_for(alpha, std::ilogb(size), Range(size_, 1, B_ + s * across_, along_));
      if (exponent != 0 && exponents_.empty()) exponents_.assign(static_cast<std::size_t>(number_), 0);
      const int of_alpha = exponent != 0 ? std::ilogb(size) : 0;
      const T factor = scaled(alpha, -of_alpha);
      if (exponent != 0) exponents_[static_cast<std::size_t>(s)] = exponent;
      for_each(s, [&](T& b) {
        b = factor == T{0} ? T{0} : multiply_add(factor, exponent == 0 ? b : scaled(b, of_alpha - exponent), T{0});
      });
    }
  }
  // Undo the additional scaling.
  void finish() const {
    for (std::size_t s = 0; s < exponents_.size(); ++s) {
      const int exponent = exponents_[s];
      if (exponent != 0) for_each(static_cast<Index>(s), [&](T& b) { b = scaled(b, exponent); });
    }
  }

 private:
  static int exponent_for(const T& alpha, int of_alpha, const Range& side) {
    constexpr int most = std::numeric_limits<Real<T>>::max_exponent - 2;
    const bool lost = side.last_bit + last_bit(alpha) < least_bit<T>;
    const bool scaled = side.finite && side.largest > Range::none && (of_alpha + side.largest > most || lost);
    return scaled ? of_alpha + side.largest : 0;
  }
  template <class Body> void for_each(Index s, const Body& body) const {
    for (Index k = 0; k < size_; ++k) body(B_[s * across_ + k * along_]);
  }

  Index number_;
  Index size_;
  Index along_;
  Index across_;
  T* B_;
  std::vector<int> exponents_;  // By right side; empty where none was scaled.
};

}  // namespace

template <Scalar T>
int trmm(char side, char triangle, char op, char diagonal, Index m, Index n, T alpha, const T* A, Index leading_a, T* B,
         Index leading_b) {
  if (const int wrong = wrong_triangular(side, triangle, op, diagonal, m, n, leading_a, leading_b)) return wrong;
  if (m == 0 || n == 0) return 0;
  const Arithmetic arithmetic;
  const Index order = side == 'L' ? m : n;
  std::vector<T> copy(static_cast<std::size_t>(m * n));
  bool finite = true;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      T& b = B[i + j * leading_b];
      if (alpha == T{0}) b = T{0};
      copy[static_cast<std::size_t>(i + j * m)] = b;
      finite = finite && is_finite(b);
    }
  }
  if (alpha == T{0}) return 0;
  std::vector<T> all;
  finite = unfold(triangle, diagonal, order, A, leading_a, all) && finite;
  const Operation operation = operation_of<T>(op);
  if (finite) {
    if (side == 'L') {
      multiply<T>({operation, Operation::none, m, n, m, alpha, all.data(), m, copy.data(), m, T{0}, B, leading_b});
    } else {
      multiply<T>({Operation::none, operation, m, n, n, alpha, copy.data(), m, all.data(), n, T{0}, B, leading_b});
    }
    return 0;
  }
  const Element<T> element{all.data(), order, operation};
  const bool lower = (triangle == 'L') == (operation == Operation::none);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < m; ++i) {
      const Index own = side == 'L' ? i : j;
      const bool up_to_own = lower == (side == 'L');
      const Index begin = up_to_own ? 0 : own;
      const Index end = up_to_own ? own + 1 : order;
      T& b = B[i + j * leading_b];
      if (side == 'L') {
        const T* const column = copy.data() + begin + j * m;
        multiply_and_finish<T>(
            alpha, end - begin, [&](Index k) { return element(i, begin + k); }, [&](Index k) { return column[k]; },
            T{0}, b);
      } else {
        const T* const row = copy.data() + i + begin * m;
        multiply_and_finish<T>(
            alpha, end - begin, [&](Index k) { return row[k * m]; }, [&](Index k) { return element(begin + k, j); },
            T{0}, b);
      }
    }
  }
  return 0;
}

template <Scalar T>
int trsm(char side, char triangle, char op, char diagonal, Index m, Index n, T alpha, const T* A, Index leading_a, T* B,
         Index leading_b) {
  if (const int wrong = wrong_triangular(side, triangle, op, diagonal, m, n, leading_a, leading_b)) return wrong;
  if (m == 0 || n == 0) return 0;
  const Arithmetic arithmetic;
  const bool left = side == 'L';
  std::optional<ScaledSides<T>> sides;
  if (alpha != T{1}) sides.emplace(left, m, n, alpha, B, leading_b);
  if (alpha == T{0}) return 0;
  const Operation operation = operation_of<T>(op);
  const Element<T> element{A, leading_a, operation};
  const Index order = left ? m : n;
  // X op(A) = B is op(A)^T X^T = B^T.
  const bool forward = ((triangle == 'L') == (operation == Operation::none)) == left;
  solve_blocks(System<T>{left, forward, diagonal == 'U', element, B, leading_b, left ? n : m}, 0, order);
  if (sides) sides->finish();
  return 0;
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template int trmm<T>(char, char, char, char, Index, Index, T, const T*, Index, T*, Index); \
  template int trsm<T>(char, char, char, char, Index, Index, T, const T*, Index, T*, Index)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
