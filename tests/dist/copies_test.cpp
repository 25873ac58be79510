// Tests of copies of matrices and vectors of any strides.
#include "dist/copies.hpp"

#include "support/matrices.hpp"
#include <heddle/dist/matrix.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace heddle::copies_test {
namespace {

template <class T> class Copies : public ::testing::Test {};
TYPED_TEST_SUITE(Copies, test::AllScalars);

// Memory for elements at any strides, with what lies between them.
template <Scalar T> struct Spread {
  std::size_t rows, columns, row_stride, column_stride;
  Kokkos::View<T*, MemorySpace> memory;

  Spread(std::size_t m, std::size_t n, std::pair<std::size_t, std::size_t> strides)
      : rows(m),
        columns(n),
        row_stride(strides.first),
        column_stride(strides.second),
        memory("heddle::test::memory", m * strides.first + n * strides.second + 1) {}
  [[nodiscard]] StridedMatrix<T> view() const {
    return StridedMatrix<T>(memory.data(), Kokkos::LayoutStride(rows, row_stride, columns, column_stride));
  }
  [[nodiscard]] std::size_t place(std::size_t i, std::size_t j) const { return i * row_stride + j * column_stride; }
};

TYPED_TEST(Copies, OfAnyStridesWriteTheElementsAlone) {
  using T = TypeParam;
  using R = Real<T>;
  const ExecutionSpace space;
  for (const auto& [m, n] : {std::pair<std::size_t, std::size_t>{37, 29}, {1, 5}, {5, 1}, {2100, 3}, {0, 4}, {3, 0}}) {
    const std::vector<std::pair<std::size_t, std::size_t>> layouts = {{1, m + 1}, {1, m + 8},     {n + 1, 1},
                                                                      {n + 3, 1}, {2, 2 * m + 5}, {2 * n + 7, 2}};
    for (const auto& from_strides : layouts) {
      for (const auto& to_strides : layouts) {
        const Spread<T> from(m, n, from_strides);
        const Spread<T> to(m, n, to_strides);
        const auto source = Kokkos::create_mirror_view(from.memory);
        for (std::size_t k = 0; k < source.size(); ++k) source(k) = T(static_cast<R>(k + 1));
        Kokkos::deep_copy(from.memory, source);
        Kokkos::deep_copy(to.memory, T(-1));
        impl::copy_matrix<T>(space, from.view(), to.view());
        space.fence();
        const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to.memory);
        std::vector<T> expected(found.size(), T(-1));
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t i = 0; i < m; ++i) expected[to.place(i, j)] = source(from.place(i, j));
        }
        std::size_t wrong = 0;
        for (std::size_t k = 0; k < expected.size(); ++k) wrong += found(k) == expected[k] ? 0 : 1;
        EXPECT_EQ(wrong, 0U) << m << " x " << n << ", strides " << from_strides.first << ", " << from_strides.second
                             << " to " << to_strides.first << ", " << to_strides.second;
      }
    }
  }
}

TYPED_TEST(Copies, OfVectorsOfAnyStride) {
  using T = TypeParam;
  using R = Real<T>;
  const ExecutionSpace space;
  for (const std::size_t n : {0U, 1U, 2U, 1500U}) {
    for (const auto& [from_stride, to_stride] : {std::pair<std::size_t, std::size_t>{1, 1}, {3, 1}, {1, 4}, {2, 5}}) {
      const Kokkos::View<T*, MemorySpace> from("heddle::test::from", n * from_stride + 1);
      const Kokkos::View<T*, MemorySpace> to("heddle::test::to", n * to_stride + 1);
      const auto source = Kokkos::create_mirror_view(from);
      for (std::size_t k = 0; k < source.size(); ++k) source(k) = T(static_cast<R>(k + 1));
      Kokkos::deep_copy(from, source);
      Kokkos::deep_copy(to, T(-1));
      const auto vector = [n = n](const auto& memory, std::size_t stride) {
        return StridedVector<T>(memory.data(), Kokkos::LayoutStride(n, stride));
      };
      impl::copy_vector<T>(space, vector(from, from_stride), vector(to, to_stride));
      space.fence();
      const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
      for (std::size_t k = 0; k < found.size(); ++k) {
        const bool is_element = k % to_stride == 0 && k / to_stride < n;
        ASSERT_EQ(found(k), is_element ? source(k / to_stride * from_stride) : T(-1)) << k;
      }
    }
  }
}

// The columns of a caller's matrix may lie apart though its layout is LayoutLeft: rows of a larger one.
TYPED_TEST(Copies, ScatterTakesRowsOfALargerMatrix) {
  using T = TypeParam;
  using R = Real<T>;
  const Communicator comm = test::world();
  const HostMatrix<T> larger("heddle::test::larger", 9, 5);
  for (std::size_t j = 0; j < 5; ++j) {
    for (std::size_t i = 0; i < 9; ++i) larger(i, j) = T(static_cast<R>(10 * i + j));
  }
  const HostMatrix<T> rows = Kokkos::subview(larger, std::pair<int, int>(2, 6), Kokkos::ALL);
  const DistributedMatrix<T> A(comm, Placement::row_bands(4, 5, comm.size()));
  scatter(rows, 0, A);
  const HostMatrix<T> back = gather(A, 0);
  if (comm.rank() != 0) return;
  for (std::size_t j = 0; j < 5; ++j) {
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(back(i, j), rows(i, j)) << i << ", " << j;
  }
}

}  // namespace
}  // namespace heddle::copies_test
