// Reproducible LU factorization with partial pivoting, of one matrix or a batch.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "dist/copies.hpp"
#include "exact/lu/device_lu.hpp"
#include "exact/products/row_products.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <limits>
#include <vector>

#ifdef __FAST_MATH__
#error "exact/lu/lu.cpp needs sums in the order written: no -ffast-math, please"
#endif

namespace heddle::exact::compiled {

using namespace impl;
namespace {

using heddle::impl::on_host;

// Number of columns factored together by default.
constexpr Index default_block = on_host ? 48 : most_device_columns;

template <Scalar T> bool is_column_major(const StridedMatrix<T>& A) {
  return A.extent(1) <= 1 ? A.extent(0) <= 1 || A.stride(0) == 1 : A.stride(0) == 1 && A.stride(1) >= A.extent(0);
}
template <Scalar T> using Columns = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;

template <Scalar T> Columns<T> column_major(const ExecutionSpace& space, std::size_t rows, std::size_t columns) {
  return Columns<T>(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::columns"), rows, columns);
}

template <Scalar T>
LuResult host_lu(const ExecutionSpace& space, const StridedMatrix<T>& A, Index block, bool threads) {
  return HostLu<T>(space, A.data(), static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)),
                   static_cast<Index>(A.stride(1)), block, threads)
      .factor();
}

// Factors by another algorithm, one column after the other. LU: m x n, row-major.
template <Scalar T> LuResult host_lu_by(Algorithm algorithm, const ExecutionSpace& space, T* LU, Index m, Index n) {
  const RowProduct<T> row_product = impl::row_product<T>(algorithm);
  const Update<T> update{T(1), T(0)};
  const auto row = [&](Index i) { return LU + i * n; };
  LuResult result;
  std::vector<T> minus(static_cast<std::size_t>(m));  // Negated column of U.
  for (Index j = 0; j < n; ++j) {
    const Index known = std::min(m, j);
    for (Index i = 0; i < known; ++i) {
      row(i)[j] = row_product({row(i), minus.data(), i, false, row(i)[j]}, update, T(0));
      minus[static_cast<std::size_t>(i)] = -row(i)[j];
    }
    if (j >= m) {
      continue;
    }
    for_each_chunk(space, "heddle::exact::lu", j, m, 16, (m - j) * j > 40000, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        row(i)[j] = row_product({row(i), minus.data(), j, false, row(i)[j]}, update, T(0));
      }
    });
    const Index pivot = first_of_largest(j, m, [&](Index i) -> const T& { return row(i)[j]; });
    result.pivots.push_back(pivot);
    if (pivot_rank(row(pivot)[j]) == pivot_rank_of_zero && result.info == 0) {
      result.info = j + 1;
    }
    if (pivot != j) {
      std::swap_ranges(row(j), row(j) + n, row(pivot));
    }
    for (Index i = j + 1; i < m && row(j)[j] != T(0); ++i) {
      row(i)[j] = quotient(row(i)[j], row(j)[j]);
    }
  }
  return result;
}

template <Scalar T> LuResult host_lu_by(Algorithm algorithm, const ExecutionSpace& space, const StridedMatrix<T>& A) {
  const Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace> rows(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::exact::rows"), A.extent(0), A.extent(1));
  heddle::impl::copy_matrix<T>(space, A, strided(rows));
  space.fence("heddle::exact::lu");
  LuResult result =
      host_lu_by(algorithm, space, rows.data(), static_cast<Index>(A.extent(0)), static_cast<Index>(A.extent(1)));
  heddle::impl::copy_matrix<T>(space, strided(rows), A);
  space.fence("heddle::exact::lu");
  return result;
}

}  // namespace

template <Scalar T> LuResult lu(const ExecutionSpace& space, const StridedMatrix<T>& A, const LuOptions& options) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::lu");
  require(options.block >= 0, "exact::lu: blocks of ", options.block, " columns");
  if (A.extent(0) == 0 || A.extent(1) == 0) {
    return {};
  }
  const Index block = options.block > 0 ? options.block : default_block;
  space.fence("heddle::exact::lu");
  const DefaultArithmetic arithmetic;
  if constexpr (on_host) {
    if (options.algorithm != Algorithm::automatic) {
      return host_lu_by(options.algorithm, space, A);
    }
    if (is_column_major(A)) {
      return host_lu(space, A, block, true);
    }
    const Columns<T> copy = column_major<T>(space, A.extent(0), A.extent(1));
    heddle::impl::copy_matrix<T>(space, A, strided(copy));
    space.fence("heddle::exact::lu");
    LuResult result = host_lu(space, strided(copy), block, true);
    heddle::impl::copy_matrix<T>(space, strided(copy), A);
    space.fence("heddle::exact::lu");
    return result;
  } else {
    require(lu_takes(options.algorithm), "exact::lu: the algorithm ", to_string(options.algorithm),
            " is there on CPUs alone; GPUs take ", to_string(Algorithm::automatic));
    return device_lu(space, A, block);
  }
}

template <Scalar T> std::vector<LuResult> lu_batched(const ExecutionSpace& space, const StridedBatch<T>& A) {
  const Kokkos::Profiling::ScopedRegion region("heddle::exact::lu");
  const auto count = static_cast<Index>(A.extent(0));
  const auto rows = static_cast<Index>(A.extent(1));
  const auto columns = static_cast<Index>(A.extent(2));
  std::vector<LuResult> results(static_cast<std::size_t>(count));
  if (rows == 0 || columns == 0 || count == 0) {
    return results;
  }
  space.fence("heddle::exact::lu");
  if constexpr (on_host) {
    // One matrix a thread, in memory of its own.
    for_each_chunk(space, "heddle::exact::lu", 0, count, 1, true, [&](Index b, Index /*end*/) {
      const StridedMatrix<T> matrix = Kokkos::subview(A, b, Kokkos::ALL, Kokkos::ALL);
      std::vector<T> copy(static_cast<std::size_t>(rows * columns));
      for (Index at = 0; at < rows * columns; ++at) {
        copy[static_cast<std::size_t>(at)] = matrix(at % rows, at / rows);
      }
      results[static_cast<std::size_t>(b)] =
          HostLu<T>(space, copy.data(), rows, columns, rows, default_block, false).factor();
      for (Index at = 0; at < rows * columns; ++at) {
        matrix(at % rows, at / rows) = copy[static_cast<std::size_t>(at)];
      }
    });
    return results;
  } else {
    return device_lu_batched(space, A);
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template LuResult lu<T>(const ExecutionSpace&, const StridedMatrix<T>&, const LuOptions&); \
  template std::vector<LuResult> lu_batched<T>(const ExecutionSpace&, const StridedBatch<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::exact::compiled
