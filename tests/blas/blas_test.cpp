// Tests of GEMM by the BLAS.
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <limits>

namespace heddle::blas_test {
namespace {

using Wide = std::complex<long double>;

template <Scalar T> Wide wide(const T& value) {
  if constexpr (is_complex<T>) {
    return {value.real(), value.imag()};
  } else {
    return {value, 0.0L};
  }
}

template <Scalar T> Wide element(const HostMatrix<T>& matrix, Operation op, std::size_t i, std::size_t j) {
  if (op == Operation::none) {
    return wide(matrix(i, j));
  }
  return op == Operation::transpose ? wide(matrix(j, i)) : std::conj(wide(matrix(j, i)));
}

template <class T> class Blas : public ::testing::Test {};
TYPED_TEST_SUITE(Blas, test::AllScalars);

constexpr Operation operations[] = {Operation::none, Operation::transpose, Operation::conjugate_transpose};

TYPED_TEST(Blas, GemmAgainstLongDouble) {
  using T = TypeParam;
  for (const auto& [m, n, k] : {std::array<Index, 3>{1, 1, 1},
                                {7, 5, 3},
                                {33, 17, 29},
                                {64, 1, 40},
                                {1, 50, 8},
                                {0, 3, 2},
                                {3, 0, 2},
                                {4, 6, 0}}) {
    for (const Operation op_a : operations) {
      for (const Operation op_b : operations) {
        const bool plain_a = op_a == Operation::none;
        const bool plain_b = op_b == Operation::none;
        const auto A = test::host_random<T>(plain_a ? m : k, plain_a ? k : m, 1);
        const auto B = test::host_random<T>(plain_b ? k : n, plain_b ? n : k, 2);
        const auto C = test::host_random<T>(m, n, 3);
        for (const auto& [alpha, beta] :
             {std::pair<T, T>{T(1), T(0)}, {T(2), T(1)}, {T(-1), T(0.5)}, {T(0), T(3)}, {T(0), T(0)}}) {
          const auto c = test::padded_on_device(C);
          blas::gemm<T>(ExecutionSpace{}, op_a, op_b, alpha, test::padded_on_device(A), test::padded_on_device(B), beta,
                        c);
          Kokkos::fence();
          const auto found = test::to_host<T>(c);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < m; ++i) {
              Wide sum = wide(beta) * wide(C(i, j));
              long double size = std::abs(sum);
              for (Index l = 0; l < k; ++l) {
                const Wide term = wide(alpha) * element(A, op_a, i, l) * element(B, op_b, l, j);
                sum += term;
                size += std::abs(term);
              }
              // (k + 2) u sum |a||b|, with sqrt(8) more for complex products (Higham, ASNA, 3.6).
              const long double bound = 3.0L * static_cast<long double>(k + 3) * unit_roundoff<T> * size;
              ASSERT_LE(std::abs(wide(found(i, j)) - sum), bound) << m << ' ' << n << ' ' << k;
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(Blas, WhatIsNotReadMayBeNaN) {
  using T = TypeParam;
  const T poison(std::numeric_limits<Real<T>>::quiet_NaN());
  const auto A = test::padded_on_device(test::host_random<T>(20, 20, 1));
  const LocalMatrix<T> bad("heddle::test::bad", 20, 20);
  const LocalMatrix<T> C("heddle::test::c", 20, 20);
  Kokkos::deep_copy(bad, poison);
  Kokkos::deep_copy(C, poison);
  const auto has_nan = [](const LocalMatrix<T>& matrix) {
    const auto host = test::to_host<T>(matrix);
    for (std::size_t e = 0; e < host.size(); ++e) {
      if (std::isnan(Kokkos::abs(host.data()[e]))) {
        return true;
      }
    }
    return false;
  };
  const ExecutionSpace space;
  blas::gemm<T>(space, Operation::none, Operation::none, T(1), A, A, T(0), C);
  EXPECT_FALSE(has_nan(C)) << "beta == 0 read C";
  blas::gemm<T>(space, Operation::none, Operation::none, T(0), bad, bad, T(1), C);
  EXPECT_FALSE(has_nan(C)) << "alpha == 0 read A or B";
  blas::gemm<T>(space, Operation::none, Operation::none, T(1), A, bad, T(0), C);
  EXPECT_TRUE(has_nan(C)) << "NaN in B was lost";
}

TYPED_TEST(Blas, TheBitsDoNotFollowTheLeadingDimension) {
  using T = TypeParam;
  const auto A = test::host_random<T>(97, 203, 1);
  const auto B = test::host_random<T>(203, 61, 2);
  const auto C = test::host_random<T>(97, 61, 3);
  const LocalMatrix<T> a("heddle::test::a", 97, 203);
  const LocalMatrix<T> b("heddle::test::b", 203, 61);
  const LocalMatrix<T> c("heddle::test::c", 97, 61);
  Kokkos::deep_copy(a, A);
  Kokkos::deep_copy(b, B);
  const auto padded = test::padded_on_device(C);
  const ExecutionSpace space;
  blas::gemm<T>(space, Operation::none, Operation::none, T(1), a, b, T(0), c);
  blas::gemm<T>(space, Operation::none, Operation::none, T(1), test::padded_on_device(A), test::padded_on_device(B),
                T(0), padded);
  Kokkos::fence();
  EXPECT_TRUE(test::same_bits(test::to_host<T>(c), test::to_host<T>(padded)));
}

// A matrix inside a larger one: `lead` more rows than it has, `offset` elements behind the beginning of memory.
template <Scalar T> struct Placed {
  Kokkos::View<T*, MemorySpace> memory;
  MatrixView<T> view;

  Placed(const HostMatrix<T>& host, std::size_t lead, std::size_t offset)
      : memory("heddle::test::memory", (host.extent(0) + lead) * host.extent(1) + offset),
        view(memory.data() + offset, Kokkos::LayoutStride(host.extent(0), 1, host.extent(1), host.extent(0) + lead)) {
    const auto mirror = Kokkos::create_mirror_view(memory);
    for (std::size_t j = 0; j < host.extent(1); ++j) {
      for (std::size_t i = 0; i < host.extent(0); ++i) {
        mirror(offset + i + j * (host.extent(0) + lead)) = host(i, j);
      }
    }
    Kokkos::deep_copy(memory, mirror);
  }
};

// Products of one row or column, of odd extents, and of extents that a BLAS tends to cut along the inner dimension: a
// tile has the same bits at any addresses and leading dimensions of its factors.
TYPED_TEST(Blas, TheBitsDoNotFollowTheLayout) {
  using T = TypeParam;
  struct Layout {
    std::array<std::size_t, 3> lead;
    std::array<std::size_t, 3> offset;
  };
  const ExecutionSpace space;
  const blas::Context context(space);
  for (const auto& [m, n, k] : {std::array<Index, 3>{1, 1, 300},
                                {1, 32, 19},
                                {16, 1, 19},
                                {1, 33, 1000},
                                {129, 1, 257},
                                {2, 32, 1000},
                                {7, 3, 129},
                                {64, 37, 1000},
                                {64, 64, 2048},
                                {96, 65, 511},
                                {256, 257, 1000}}) {
    for (const Operation op_a : {Operation::none, Operation::transpose}) {
      for (const Operation op_b : {Operation::none, Operation::transpose}) {
        const bool plain_a = op_a == Operation::none;
        const bool plain_b = op_b == Operation::none;
        const auto A = test::host_random<T>(plain_a ? m : k, plain_a ? k : m, 1);
        const auto B = test::host_random<T>(plain_b ? k : n, plain_b ? n : k, 2);
        const auto C = test::host_random<T>(m, n, 3);
        for (const T beta : {T(0), T(0.5)}) {
          HostMatrix<T> first;
          for (const auto& [lead, offset] :
               {Layout{{0, 0, 0}, {0, 0, 0}}, Layout{{64, 64, 64}, {0, 0, 0}}, Layout{{1, 0, 0}, {0, 0, 0}},
                Layout{{0, 1, 0}, {0, 0, 0}}, Layout{{0, 0, 1}, {0, 0, 0}}, Layout{{2, 6, 10}, {0, 0, 0}},
                Layout{{0, 0, 0}, {1, 0, 0}}, Layout{{0, 0, 0}, {0, 3, 0}}, Layout{{0, 0, 0}, {0, 0, 1}},
                Layout{{1, 3, 5}, {1, 3, 5}}, Layout{{63, 31, 95}, {2, 2, 2}}}) {
            const Placed<T> a(A, lead[0], offset[0]);
            const Placed<T> b(B, lead[1], offset[1]);
            const Placed<T> c(C, lead[2], offset[2]);
            blas::gemm(context, op_a, op_b, T(1.25), a.view, b.view, beta, c.view);
            Kokkos::fence();
            const auto found = test::to_host<T>(c.view);
            if (first.size() == 0) first = found;
            EXPECT_TRUE(test::same_bits(found, first))
                << m << " x " << n << ", inner " << k << ", " << to_string(op_a) << to_string(op_b) << ", beta " << beta
                << ", rows more: " << lead[0] << ' ' << lead[1] << ' ' << lead[2] << ", from element " << offset[0]
                << ' ' << offset[1] << ' ' << offset[2] << " on";
          }
        }
      }
    }
  }
}

// Long dot products into a small C are what a BLAS likes to split among threads that add up in any order.
TYPED_TEST(Blas, TheSameProductHasTheSameBitsEveryTime) {
  using T = TypeParam;
  const auto A = test::padded_on_device(test::host_random<T>(30011, 8, 1));
  const auto B = test::padded_on_device(test::host_random<T>(30011, 7, 2));
  const LocalMatrix<T> C("heddle::test::c", 8, 7);
  const ExecutionSpace space;
  HostMatrix<T> first;
  for (int repeat = 0; repeat < 8; ++repeat) {
    blas::gemm<T>(space, Operation::transpose, Operation::none, T(1), A, B, T(0), C);
    Kokkos::fence();
    const auto found = test::to_host<T>(C);
    if (repeat == 0) {
      first = found;
    }
    EXPECT_TRUE(test::same_bits(found, first)) << "repeat " << repeat;
  }
}

TYPED_TEST(Blas, RefusesWrongShapesAndStrides) {
  using T = TypeParam;
  const LocalMatrix<T> A("heddle::test::a", 3, 4);
  const ExecutionSpace space;
  test::expect_refusal(ErrorKind::argument, "blas::gemm: op(A) is 3 x 4, op(B) is 3 x 4, C is 3 x 4",
                       [&] { blas::gemm<T>(space, Operation::none, Operation::none, T(1), A, A, T(0), A); });
  const LocalMatrix<T> C("heddle::test::c", 3, 3);
  EXPECT_NO_THROW(blas::gemm<T>(space, Operation::none, Operation::transpose, T(1), A, A, T(0), C));
  const Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace> rows("heddle::test::rows", 3, 4);
  test::expect_refusal(ErrorKind::argument, "blas::gemm: A has strides 4, 1 for 3 x 4 elements; expected",
                       [&] { blas::gemm<T>(space, Operation::none, Operation::transpose, T(1), rows, rows, T(0), C); });
}

TEST(BlasDescription, SaysWhoDoesTheWork) {
  EXPECT_FALSE(blas::description().empty());
}

}  // namespace
}  // namespace heddle::blas_test
