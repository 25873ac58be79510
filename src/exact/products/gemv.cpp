// Correctly rounded matrix-vector and matrix-matrix products.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "exact/products/columns.hpp"
#include "exact/products/device_sums.hpp"
#include "exact/products/row_products.hpp"
#include "exact/sums/chunks.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <vector>

#ifdef __FAST_MATH__
#error "exact/products/gemv.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
namespace {

using heddle::impl::on_host;

// Computes y(i) = update(sum, y(i)), from the exact sum if twice the precision leaves it open, unless `as_it_is`.
template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the caller's variables
void finish(const Update<T>& update, bool as_it_is, const InnerSum<T>& sum, const RowSums<T>& rows, Index i, Index n,
            T& y) {
  T result;
  if (as_it_is) {
    y = update.nearly(sum, y).value();
    return;
  }
  if (!update.rounds_to(sum, n, y, result)) {
    ExactSum<T> exact = rows.exact(i, 0, n);
    result = update.exactly(exact, y);
  }
  y = result;
}

// Computes y = alpha A x + beta y for some columns of x and y, x packed, on the host. `as_it_is`: sums in twice the
// precision are rounded directly.
template <Scalar T>
void host_product(const ExecutionSpace& space, const Update<T>& update, bool as_it_is, const Operand<T>& A, const T* x,
                  const StridedMatrix<T>& Y) {
  const Index m = A.rows;
  const Index n = A.columns;
  const auto columns = static_cast<Index>(Y.extent(1));
  // Rows whose sums stay in the first-level cache.
  constexpr Index chunk = 256;
  const bool by_columns = A.row_stride == 1 && m >= fewest_rows;
  const Index height = by_columns ? chunk : std::max<Index>(1, chunk / (n / 16 + 1));
  for_each_chunk(space, "heddle::exact::gemv", 0, m, height, true, [&](Index begin, Index end) {
    Rows<T> sums(by_columns ? end - begin : 0);
    for (Index j = 0; j < columns; ++j) {
      const T* const column = x + j * n;
      const RowSums<T> rows(A, column);
      if (by_columns) {
        sums.clear(end - begin);
        sums.add(0, end - begin, A.block(begin, 0, end - begin, n), [=](Index k) { return column[k]; });
      }
      for (Index i = begin; i < end; ++i) {
        finish(update, as_it_is, by_columns ? sums.get(i - begin) : rows.compensated(i, 0, n), rows, i, n, Y(i, j));
      }
    }
  });
}

// Adds A(i, k) x[0] + A(i, k + 1) x[1] + ... to sums[i - begin], rounded at every step.
template <int many, Scalar T>
// NOLINTNEXTLINE(readability-function-size): the caller's variables
void add_columns(const Operand<T>& A, Index k, const T* x, Index begin, Index end, T* sums) {
  T factors[many];
  std::copy_n(x, many, factors);
  const T* const a = A.data + k * A.column_stride;
  const Index stride = A.column_stride;
  const bool conjugated = A.conjugated;
#pragma GCC ivdep
  for (Index i = begin; i < end; ++i) {
    T sum = sums[i - begin];
    for (int q = 0; q < many; ++q) {
      const T value = a[i + q * stride];
      sum += (conjugated ? conjugate(value) : value) * factors[q];
    }
    sums[i - begin] = sum;
  }
}

// Product rounded at every step, for several columns of A at a time, each contiguous.
template <Scalar T>
void plain_product(const ExecutionSpace& space, const Update<T>& update, const Operand<T>& A, const T* x,
                   const StridedMatrix<T>& Y) {
  constexpr Index chunk = 256;
  constexpr int at_once = 8;
  const Index n = A.columns;
  for_each_chunk(space, "heddle::exact::gemv", 0, A.rows, chunk, true, [&](Index begin, Index end) {
    T sums[chunk];
    for (Index j = 0; j < static_cast<Index>(Y.extent(1)); ++j) {
      std::fill_n(sums, chunk, T(0));
      Index k = 0;
      for (; k + at_once <= n; k += at_once) {
        add_columns<at_once>(A, k, x + j * n + k, begin, end, sums);
      }
      for (; k < n; ++k) {
        add_columns<1>(A, k, x + j * n + k, begin, end, sums);
      }
      for (Index i = begin; i < end; ++i) {
        Y(i, j) = update.plainly(sums[i - begin], Y(i, j));
      }
    }
  });
}

// The same by another algorithm.
template <Scalar T>
void host_product_by(Algorithm algorithm, const ExecutionSpace& space, const Update<T>& update, const Operand<T>& A,
                     const T* x, const StridedMatrix<T>& Y) {
  if (algorithm == Algorithm::plain && A.row_stride == 1 && A.rows >= fewest_rows) {
    plain_product(space, update, A, x, Y);
    return;
  }
  const DenseRows<T> rows = dense_rows(space, A);
  const RowProduct<T> row_product = impl::row_product<T>(algorithm);
  const auto columns = static_cast<Index>(Y.extent(1));
  const Index n = A.columns;
  for_each_chunk(space, "heddle::exact::gemv", 0, A.rows, std::max<Index>(1, 4096 / (n + 1)), true,
                 [&](Index begin, Index end) {
                   for (Index j = 0; j < columns; ++j) {
                     for (Index i = begin; i < end; ++i) {
                       const T* const row = rows.A.data + i * rows.A.row_stride;
                       Y(i, j) = row_product({row, x + j * n, n, A.conjugated}, update, Y(i, j));
                     }
                   }
                 });
}

// Computes Y = alpha op(A) X + beta Y.
template <Scalar T>
void product(const ExecutionSpace& space, T alpha, const Operand<T>& A, const Operand<T>& X, T beta,
             const StridedMatrix<T>& Y, Algorithm algorithm) {
  const auto m = static_cast<Index>(Y.extent(0));
  const auto columns = static_cast<Index>(Y.extent(1));
  if (m == 0 || columns == 0) {
    return;
  }
  const bool nothing = alpha == T(0) || A.columns == 0;
  if constexpr (on_host) {
    std::vector<T> packed(nothing ? 0 : static_cast<std::size_t>(A.columns * columns));
    for (Index j = 0; j < columns && !nothing; ++j) {
      for (Index k = 0; k < A.columns; ++k) {
        packed[static_cast<std::size_t>(j * A.columns + k)] = X(k, j);
      }
    }
    const Update<T> update{nothing ? T(1) : alpha, beta};
    const Operand<T> factors = nothing ? A.block(0, 0, m, 0) : A;
    if (algorithm == Algorithm::automatic || algorithm == Algorithm::twice) {
      host_product(space, update, algorithm == Algorithm::twice, factors, packed.data(), Y);
    } else {
      host_product_by(algorithm, space, update, factors, packed.data(), Y);
    }
  } else {
    const Update<T> update{nothing ? T(1) : alpha, beta};
    const Operand<T> factors = nothing ? A.block(0, 0, m, 0) : A;
    if (algorithm == Algorithm::automatic) {
      device_product(space, update, factors, X, Y);
    } else {
      device_product_by(algorithm, space, update, factors, X, Y);
    }
  }
  space.fence("heddle::exact::gemv");
}

template <class T> StridedMatrix<T> as_column(const StridedVector<T>& x) {
  return StridedMatrix<T>(x.data(),
                          Kokkos::LayoutStride(x.extent(0), x.stride(0), 1, std::max<std::size_t>(1, x.extent(0))));
}

}  // namespace

template <Scalar T>
void gemv(const ExecutionSpace& space, Operation op, T alpha, const StridedMatrix<const T>& A,
          const StridedVector<const T>& x, T beta, const StridedVector<T>& y, Algorithm algorithm) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::gemv");
  const Operand<T> operand(op, A);
  require(operand.columns == static_cast<Index>(x.extent(0)) && operand.rows == static_cast<Index>(y.extent(0)),
          "exact::gemv: op(A) is ", operand.rows, " x ", operand.columns, ", x has ", x.extent(0), " elements, y has ",
          y.extent(0));
  heddle::impl::require_apart("exact::gemv", "A", A, "y", y);
  heddle::impl::require_apart("exact::gemv", "x", x, "y", y);
  product(space, alpha, operand, Operand<T>(Operation::none, as_column(x)), beta, as_column(y), algorithm);
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
void gemm(const ExecutionSpace& space, Operation op_a, Operation op_b, T alpha, const StridedMatrix<const T>& A,
          const StridedMatrix<const T>& B, T beta, const StridedMatrix<T>& C, Algorithm algorithm) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::gemm");
  const Operand<T> left(op_a, A);
  const Operand<T> right(op_b, B);
  require(left.columns == right.rows && left.rows == static_cast<Index>(C.extent(0)) &&
              right.columns == static_cast<Index>(C.extent(1)),
          "exact::gemm: op(A) is ", left.rows, " x ", left.columns, ", op(B) is ", right.rows, " x ", right.columns,
          ", C is ", C.extent(0), " x ", C.extent(1));
  heddle::impl::require_apart("exact::gemm", "A", A, "C", C);
  heddle::impl::require_apart("exact::gemm", "B", B, "C", C);
  product(space, alpha, left, right, beta, C, algorithm);
}

#define HEDDLE_INSTANTIATE(T)                                                                          \
  template void gemv<T>(const ExecutionSpace&, Operation, T, const StridedMatrix<const T>&,            \
                        const StridedVector<const T>&, T, const StridedVector<T>&, Algorithm);         \
  template void gemm<T>(const ExecutionSpace&, Operation, Operation, T, const StridedMatrix<const T>&, \
                        const StridedMatrix<const T>&, T, const StridedMatrix<T>&, Algorithm)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled
