// Inner products of one row by each algorithm, and contiguous copies of rows.
#include "exact/products/row_products.hpp"

#include "core/instantiate.hpp"
#include "exact/sums/algorithms.hpp"
#include "exact/sums/chunks.hpp"

#ifdef __FAST_MATH__
#error "exact/products/row_products.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::impl {
namespace {

template <int levels, Scalar T> T in_full(const Row<T>& row, const Update<T>& update, const T& y) {
  ExactSum<T> sum;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    with_dense_products(row.a, row.x, p, row.conjugated, [&](const auto& terms) {
      add_range<levels>(terms, 0, row.n * terms_per_product<T>, sum.part[p]);
    });
  }
  sum.add(row.term);
  sum.add(row.other);
  return update.exactly(sum, y);
}

template <Scalar T> T in_twice_the_precision(const Row<T>& row, const Update<T>& update, const T& y) {
  InnerSum<T> sum;
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    sum.part[p] = with_dense_products(row.a, row.x, p, row.conjugated, [&](const auto& terms) {
      return compensated_range(terms, 0, row.n * terms_per_product<T>);
    });
  }
  sum.add(row.term);
  sum.add(row.other);
  return update.nearly(sum, y).value();
}

template <Scalar T> T plainly(const Row<T>& row, const Update<T>& update, const T& y) {
  Real<T> parts[parts_of_scalar<T>];
  for (int p = 0; p < parts_of_scalar<T>; ++p) {
    parts[p] = with_dense_products(row.a, row.x, p, row.conjugated, [&](const auto& terms) {
      return plain_range(terms, 0, row.n * terms_per_product<T>);
    });
  }
  T sum;
  if constexpr (is_complex<T>) {
    sum = T(parts[0], parts[1]);
  } else {
    sum = parts[0];
  }
  return update.plainly(sum + row.term + row.other, y);
}

}  // namespace

template <Scalar T> RowProduct<T> row_product(Algorithm algorithm) {
  if (algorithm == Algorithm::plain) {
    return plainly<T>;
  }
  if (algorithm == Algorithm::twice) {
    return in_twice_the_precision<T>;
  }
  return with_levels(algorithm, [](auto levels) -> RowProduct<T> { return in_full<decltype(levels)::value, T>; });
}

template <Scalar T> DenseRows<T> dense_rows(const ExecutionSpace& space, const Operand<T>& A) {
  if (A.column_stride == 1 || A.columns <= 1) {
    return {{}, A};
  }
  DenseRows<T> dense{
      Kokkos::View<T*, MemorySpace>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::rows"),
                                    static_cast<std::size_t>(A.rows * A.columns)),
      A};
  T* const to = dense.copy.data();
  // Squares of which both sides stay in the first-level cache.
  constexpr Index side = 32;
  for_each_chunk(space, "heddle::exact::rows", 0, A.rows, side, true, [&](Index begin, Index end) {
    for (Index first = 0; first < A.columns; first += side) {
      const Index last = std::min(first + side, A.columns);
      for (Index i = begin; i < end; ++i) {
        for (Index j = first; j < last; ++j) {
          to[i * A.columns + j] = A.data[i * A.row_stride + j * A.column_stride];
        }
      }
    }
  });
  dense.A.data = to;
  dense.A.row_stride = A.columns;
  dense.A.column_stride = 1;
  return dense;
}

#define HEDDLE_INSTANTIATE(T)                       \
  template RowProduct<T> row_product<T>(Algorithm); \
  template DenseRows<T> dense_rows<T>(const ExecutionSpace&, const Operand<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::impl
