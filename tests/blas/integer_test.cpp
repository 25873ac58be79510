#include "blas/integer.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::impl {
namespace {

// The largest sums of 32 bits, on top of what is there, in every plane.
TEST(IntegerGemm, IsExactUpToTheLastBit) {
  constexpr Index m = 16, n = 5, k = 131008;
  constexpr int count = 2;
  const Kokkos::View<std::int8_t*, MemorySpace> A("A", m * k * count);
  const Kokkos::View<std::int8_t*, MemorySpace> B("B", n * k * count);
  const Kokkos::View<std::int32_t*, MemorySpace> C("C", m * n * count);
  const auto a = Kokkos::create_mirror_view(A);
  const auto b = Kokkos::create_mirror_view(B);
  const auto entry = [](Index number, Index vector, Index plane) {
    return plane == 0 ? -128 : static_cast<int>((number * 37 + vector * 11) % 256) - 128;
  };
  for (Index plane = 0; plane < count; ++plane) {
    for (Index i = 0; i < m; ++i) {
      for (Index l = 0; l < k; ++l) a((plane * m + i) * k + l) = static_cast<std::int8_t>(entry(l, i, plane));
    }
    for (Index j = 0; j < n; ++j) {
      for (Index l = 0; l < k; ++l) b((plane * n + j) * k + l) = static_cast<std::int8_t>(entry(l, j + 3, plane));
    }
  }
  Kokkos::deep_copy(A, a);
  Kokkos::deep_copy(B, b);
  Kokkos::deep_copy(C, 255);
  const ExecutionSpace space;
  const blas::Context context(space);
  for (const bool add : {true, false}) {
    integer_gemm(context, {m, n, k, count, A.data(), k, m * k, B.data(), k, n * k, C.data(), m, m * n, add});
    space.fence();
    const auto c = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), C);
    for (Index plane = 0; plane < count; ++plane) {
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < m; ++i) {
          std::int64_t sum = add ? 255 : 0;
          for (Index l = 0; l < k; ++l) sum += entry(l, i, plane) * entry(l, j + 3, plane);
          ASSERT_EQ(c(plane * m * n + i + j * m), sum) << plane << " " << i << " " << j << " " << add;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::impl
