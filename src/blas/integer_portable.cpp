// Products of 8-bit integers for any backend.
#include "blas/integer_portable.hpp"

namespace heddle::impl {

void portable_integer_gemm(const ExecutionSpace& space, const IntegerProducts& products) {
  // A square of C to a thread: each number that is loaded serves `width` of its dot products.
  constexpr Index width = 4;
  const Index row_blocks = (products.m + width - 1) / width;
  const Index column_blocks = (products.n + width - 1) / width;
  Kokkos::parallel_for(
      "heddle::blas::integer_gemm",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0,
                                                                    row_blocks * column_blocks * products.count),
      KOKKOS_LAMBDA(Index number) {
        const Index plane = number / (row_blocks * column_blocks);
        const Index block = number % (row_blocks * column_blocks);
        const Index row = block % row_blocks * width;
        const Index column = block / row_blocks * width;
        const std::int8_t* const a = products.A + plane * products.stride_a;
        const std::int8_t* const b = products.B + plane * products.stride_b;
        std::int32_t* const c = products.C + plane * products.stride_c;
        for (Index j = column; j < column + width && j < products.n; ++j) {
          for (Index i = row; i < row + width && i < products.m; ++i) {
            std::int32_t sum = products.add ? c[i + j * products.leading_c] : 0;
            for (Index k = 0; k < products.k; ++k) {
              sum += std::int32_t{a[k + i * products.leading_a]} * std::int32_t{b[k + j * products.leading_b]};
            }
            c[i + j * products.leading_c] = sum;
          }
        }
      });
}

}  // namespace heddle::impl
