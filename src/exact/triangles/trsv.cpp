// Reproducible solution of triangular systems with iterative refinement.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "exact/products/columns.hpp"
#include "exact/products/row_products.hpp"
#include "exact/sums/chunks.hpp"
#include "exact/triangles/device_trsv.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <vector>

#ifdef __FAST_MATH__
#error "exact/triangles/trsv.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
namespace {

using heddle::impl::on_host;

// Solves op(A) x = b on the host, forwards if it is lower, else backwards. `as_it_is`: sums in twice the precision are
// rounded directly. `block_refinements`: number of corrections of each block of rows before others use it.
template <Scalar T> class HostSolve {
 public:
  HostSolve(const ExecutionSpace& space, const Operand<T>& A, bool lower, bool unit, bool as_it_is,
            int block_refinements)
      : space_(space),
        A_(A),
        n_(A.rows),
        lower_(lower),
        unit_(unit),
        as_it_is_(as_it_is),
        block_refinements_(block_refinements) {}

  [[nodiscard]] std::vector<T> solve(const std::vector<T>& b) const {
    std::vector<T> x(b.size());
    std::vector<T> minus(b.size());
    const RowSums<T> rows(A_, minus.data());
    const bool by_columns = A_.row_stride == 1 && n_ >= fewest_rows;
    Rows<T> sums(by_columns ? n_ : 0);
    for (Index i = 0; i < n_ && by_columns; ++i) {
      sums.set(i, b[static_cast<std::size_t>(i)]);
    }
    for (Index done = 0; done < n_; done += block) {
      // Rows [begin, end) are this block's, [rest_begin, rest_end) depend on it.
      const Index count = std::min(block, n_ - done);
      const Index begin = lower_ ? done : n_ - done - count;
      const Index end = begin + count;
      for (Index step = 0; step < count; ++step) {
        const Index i = lower_ ? begin + step : end - 1 - step;
        const auto at = static_cast<std::size_t>(i);
        const Index known_begin = lower_ ? 0 : i + 1;
        const Index known_end = lower_ ? i : n_;
        InnerSum<T> sum;
        if (by_columns) {
          sum = sums.get(i);
        } else {
          sum = rows.compensated(i, known_begin, known_end);
          sum.add(b[at]);
        }
        x[at] = divided(i, rounded(sum, rows, i, known_begin, known_end, b[at], T(0)));
        minus[at] = -x[at];
        if (by_columns) {
          const T factor = minus[at];
          const Index from = lower_ ? i + 1 : begin;
          const Index to = lower_ ? end : i;
          sums.add(from, to, A_.block(0, i, n_, 1), [=](Index) { return factor; });
        }
      }
      for (int round = 0; round < block_refinements_; ++round) {
        refine_block(rows, begin, end, b, x, minus);
      }
      if (by_columns) {
        const T* const factors = minus.data() + begin;
        const Index from = lower_ ? end : 0;
        const Index to = lower_ ? n_ : begin;
        for_each_part(from, to, [&](Index first, Index last) {
          sums.add(first, last, A_.block(0, begin, n_, count), [=](Index k) { return factors[k]; });
        });
      }
    }
    return x;
  }

  // Returns b - op(A) x, each element correctly rounded.
  [[nodiscard]] std::vector<T> residual(const std::vector<T>& b, const std::vector<T>& x) const {
    std::vector<T> minus(x.size());
    std::transform(x.begin(), x.end(), minus.begin(), [](const T& value) { return -value; });
    const RowSums<T> rows(A_, minus.data());
    std::vector<T> result(b.size());
    for_each_part(0, n_, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const auto at = static_cast<std::size_t>(i);
        result[at] = residual_of(rows, i, b[at], minus[at]);
      }
    });
    return result;
  }

 private:
  static constexpr Index block = trsv_block;

  [[nodiscard]] T divided(Index i, const T& sum) const { return unit_ ? sum : quotient(sum, A_(i, i)); }
  // Returns `sum`, which has the products of row i in [begin, end) and two terms, rounded once.
  [[nodiscard]] T rounded(const InnerSum<T>& sum, const RowSums<T>& rows, Index i, Index begin, Index end,
                          const T& term, const T& other) const {
    T value = sum.value();
    if (!as_it_is_ && !sum.rounds_to(n_, value)) {
      ExactSum<T> exact = rows.exact(i, begin, end);
      exact.add(term);
      exact.add(other);
      value = exact.value();
    }
    return value;
  }
  // Returns element i of b - op(A) x, rounded once; `rows` holds the products with -x.
  [[nodiscard]] T residual_of(const RowSums<T>& rows, Index i, const T& b, const T& minus) const {
    const Index begin = lower_ ? 0 : unit_ ? i + 1 : i;
    const Index end = !lower_ ? n_ : unit_ ? i : i + 1;
    const T other = unit_ ? minus : T(0);
    InnerSum<T> sum = rows.compensated(i, begin, end);
    sum.add(b);
    sum.add(other);
    return rounded(sum, rows, i, begin, end, b, other);
  }
  // Corrects the x of rows [begin, end), whose predecessors are final, by the solution for their residual. `rows` holds
  // the products with -x.
  void refine_block(const RowSums<T>& rows, Index begin, Index end, const std::vector<T>& b, std::vector<T>& x,
                    std::vector<T>& minus) const {
    std::vector<T> correction(b.size());
    const RowSums<T> corrected_rows(A_, correction.data());
    for (Index step = 0; step < end - begin; ++step) {
      const Index i = lower_ ? begin + step : end - 1 - step;
      const auto at = static_cast<std::size_t>(i);
      const T rest = residual_of(rows, i, b[at], minus[at]);
      const Index known_begin = lower_ ? begin : i + 1;
      const Index known_end = lower_ ? i : end;
      InnerSum<T> sum = corrected_rows.compensated(i, known_begin, known_end);
      sum.add(rest);
      correction[at] = -divided(i, rounded(sum, corrected_rows, i, known_begin, known_end, rest, T(0)));
    }
    for (Index i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      x[at] -= correction[at];
      minus[at] = -x[at];
    }
  }

  template <class Body> void for_each_part(Index begin, Index end, const Body& body) const {
    constexpr Index chunk = 256;
    for_each_chunk(space_, "heddle::exact::trsv", begin, end, chunk, end - begin > 2 * chunk, body);
  }

  ExecutionSpace space_;
  Operand<T> A_;
  Index n_;
  bool lower_;
  bool unit_;
  bool as_it_is_;
  int block_refinements_;
};

// The same by another algorithm, row by row.
template <Scalar T> class HostSolveBy {
 public:
  HostSolveBy(Algorithm algorithm, const ExecutionSpace& space, const Operand<T>& A, bool lower, bool unit)
      : by_columns_(algorithm == Algorithm::plain && A.row_stride == 1),
        rows_(by_columns_ ? DenseRows<T>{{}, A} : dense_rows(space, A)),
        n_(A.rows),
        row_product_(row_product<T>(algorithm)),
        lower_(lower),
        unit_(unit),
        minus_(static_cast<std::size_t>(A.rows)) {}

  [[nodiscard]] std::vector<T> solve(const std::vector<T>& b) {
    if (by_columns_) {
      return solve_plainly(b);
    }
    std::vector<T> x(b.size());
    for (Index step = 0; step < n_; ++step) {
      const Index i = lower_ ? step : n_ - 1 - step;
      const auto at = static_cast<std::size_t>(i);
      const T rounded = sum(i, lower_ ? 0 : i + 1, lower_ ? i : n_, b[at], T(0));
      x[at] = unit_ ? rounded : quotient(rounded, rows_.A(i, i));
      minus_[at] = -x[at];
    }
    return x;
  }
  [[nodiscard]] std::vector<T> residual(const std::vector<T>& b, const std::vector<T>& x) {
    std::transform(x.begin(), x.end(), minus_.begin(), [](const T& value) { return -value; });
    std::vector<T> result(b.size());
    for (Index i = 0; i < n_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Index begin = lower_ ? 0 : unit_ ? i + 1 : i;
      const Index end = !lower_ ? n_ : unit_ ? i : i + 1;
      result[at] = sum(i, begin, end, b[at], unit_ ? minus_[at] : T(0));
    }
    return result;
  }

 private:
  // Solves column by column, rounded at every step.
  [[nodiscard]] std::vector<T> solve_plainly(std::vector<T> x) const {
    for (Index step = 0; step < n_; ++step) {
      const Index j = lower_ ? step : n_ - 1 - step;
      T& known = x[static_cast<std::size_t>(j)];
      known = unit_ ? known : quotient(known, rows_.A(j, j));
      const T by = known;
      const T* const column = rows_.A.data + j * rows_.A.column_stride;
      for (Index i = lower_ ? j + 1 : 0; i < (lower_ ? n_ : j); ++i) {
        x[static_cast<std::size_t>(i)] -= (rows_.A.conjugated ? conjugate(column[i]) : column[i]) * by;
      }
    }
    return x;
  }
  // Returns the products of row i with -x in [begin, end), plus two terms.
  [[nodiscard]] T sum(Index i, Index begin, Index end, const T& term, const T& other) const {
    if (by_columns_) {
      T all = term + other;
      for (Index k = begin; k < end; ++k) {
        all += rows_.A(i, k) * minus_[static_cast<std::size_t>(k)];
      }
      return all;
    }
    const T* const row = rows_.A.data + i * rows_.A.row_stride;
    return row_product_({row + begin, minus_.data() + begin, end - begin, rows_.A.conjugated, term, other},
                        {T(1), T(0)}, T(0));
  }

  bool by_columns_;
  DenseRows<T> rows_;
  Index n_;
  RowProduct<T> row_product_;
  bool lower_;
  bool unit_;
  std::vector<T> minus_;
};

template <Scalar T, class Solver> void host_solve(Solver&& solver, const StridedVector<T>& x, int refinements) {
  const DefaultArithmetic arithmetic;
  std::vector<T> b(x.extent(0));
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = x(i);
  }
  std::vector<T> found = solver.solve(b);
  for (int round = 0; round < refinements; ++round) {
    const std::vector<T> correction = solver.solve(solver.residual(b, found));
    for (std::size_t i = 0; i < b.size(); ++i) {
      found[i] += correction[i];
    }
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    x(i) = found[i];
  }
}

}  // namespace

template <Scalar T>
void trsv(const ExecutionSpace& space, Triangle triangle, Operation op, Diagonal diagonal,
          const StridedMatrix<const T>& A, const StridedVector<T>& x, int refinements, Algorithm algorithm,
          int block_refinements) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::trsv");
  require(A.extent(0) == A.extent(1) && A.extent(0) == x.extent(0), "exact::trsv: A is ", A.extent(0), " x ",
          A.extent(1), ", x has ", x.extent(0), " elements");
  require(refinements >= 0 && block_refinements >= 0, "exact::trsv: ", std::min(refinements, block_refinements),
          " refinements");
  const bool refines_blocks = on_host && (algorithm == Algorithm::automatic || algorithm == Algorithm::twice);
  require(block_refinements == 0 || refines_blocks,
          "exact::trsv: blocks are refined by the algorithms auto and twice, ",
          "on CPUs; expected no such refinement, got ", block_refinements);
  const Operand<T> operand(op, A);
  const bool lower = (triangle == Triangle::lower) == (op == Operation::none);
  const bool unit = diagonal == Diagonal::unit;
  space.fence("heddle::exact::trsv");
  if constexpr (on_host) {
    if (algorithm == Algorithm::automatic || algorithm == Algorithm::twice) {
      host_solve<T>(HostSolve<T>(space, operand, lower, unit, algorithm == Algorithm::twice, block_refinements), x,
                    refinements);
    } else {
      host_solve<T>(HostSolveBy<T>(algorithm, space, operand, lower, unit), x, refinements);
    }
  } else {
    device_solve(algorithm, space, operand, lower, unit, x, refinements);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                                \
  template void trsv<T>(const ExecutionSpace&, Triangle, Operation, Diagonal, const StridedMatrix<const T>&, \
                        const StridedVector<T>&, int, Algorithm, int)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled
